"""What the command belongs to: the job, pod and container that it runs in, and the settings that it inherits from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.landing.readers.settings import is_setting
from warehouse.record.kernel import text
from warehouse.record.redaction import redacted

# Variables by name or prefix. Who started the command and where: schedulers, orchestrators, launchers.
_PLACE = re.compile(
    r"(?:SLURM|PBS|LSB|POD|KUBERNETES|JOBSET|PET|RAY|OMPI_COMM_WORLD|PMI|PMIX|OCI)_\w+|(?:LOCAL_|GROUP_|NODE_|)RANK|(?:LOCAL_|)WORLD_SIZE|"
    r"MASTER_(?:ADDR|PORT)|NODE_NAME|HOSTNAME|JOB_COMPLETION_INDEX"
)
_CONTAINER = re.compile(r"(?:^|[/:-])([0-9a-f]{64})(?:[/.]|$)", re.MULTILINE)  # as Docker, containerd, CRI-O and Podman number them
_POD = re.compile(r"pod([0-9a-f]{8}[-_](?:[0-9a-f]{4}[-_]){3}[0-9a-f]{12})")
_PODS_FOLDER = re.compile(r"/kubelet/pods/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/")
_CONTAINERENV = re.compile(r'^(image|imageid)="(.*)"$', re.MULTILINE)


def describe_membership(
    redact: Sequence[str] = (), environment: Mapping[str, str] = os.environ, root: Path = Path("/")
) -> dict[str, Any]:
    """`environment`: the variables that say where the command belongs or how fast it can be, without secrets and matches of `redact`. `pod_uid`,
    `container_id`, `image` and `image_id`: those of its container, None where nothing tells."""
    of_cgroup = text(root / "proc/self/cgroup") or ""
    mounts = text(root / "proc/self/mountinfo") or ""
    image = dict(_CONTAINERENV.findall(text(root / "run/.containerenv") or ""))  # written by Podman
    pod = _POD.search(of_cgroup) or _PODS_FOLDER.search(mounts)
    container = _CONTAINER.search(of_cgroup) or re.search(r"/containers/(?:\S*/)?([0-9a-f]{64})/", mounts)
    return {
        "environment": _shown(environment, redact),
        "pod_uid": pod[1].replace("_", "-") if pod else None,
        "container_id": container[1] if container else None,
        "image": image.get("image") or None,
        "image_id": image.get("imageid") or None,
    }


def _shown(environment: Mapping[str, str], redact: Sequence[str]) -> dict[str, str]:
    """The inherited variables, as `NAME=value` on a command line would be shown; one that would be hidden is left out."""
    chosen = [f"{name}={value}" for name, value in sorted(environment.items()) if _PLACE.fullmatch(name) or is_setting(name)]
    shown = (redacted([each], redact)[0][0] for each in chosen)
    return dict(told.split("=", 1) for told, whole in zip(shown, chosen, strict=True) if told == whole)
