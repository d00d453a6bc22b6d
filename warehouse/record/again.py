"""What it takes to record a run again: the command of its recording, where it ran, how often, its settings and its declaration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project.project import Project
from warehouse.record.redaction import HIDDEN

if TYPE_CHECKING:
    from warehouse.evidence.manifest import Manifest


LIMITS = ("cgroup_cpu_limit_cores", "allowed_cores", "niceness")  # of machine.json


@dataclass(frozen=True)
class Again:
    """A recording as it was asked for. `recording_id` is that of the first in a chain of recordings that repeat one another: their campaign.
    `settings` are variables of the environment, `limits` those of CPU time on the recorded machine. `declarations` are the texts of the declarations
    in its bundle, by file name."""

    recording_id: str
    argv: list[str]
    repeats: int
    sample_interval_s: float
    working_folder: str | None
    script_sha256: str | None
    settings: dict[str, str]
    limits: dict[str, Any]
    declarations: dict[str, str]


def recorded(project: Project, run_id: str) -> Again:
    """The recording that a run is of, as the store has it. Raises WH211 (nothing built), WH502 (no such run, or not a run of `wh record`) and WH401
    if its command cannot be repeated, because secrets were left out of it, or it is a
    campaign's, which runs in an environment of its own."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.declaration.placing import is_named_as_declaration
    from warehouse.landing.readers.settings import is_setting

    store = open_store(project)
    digest = _bundle_of(project, run_id)
    manifest = store.manifest(digest)
    if "slot.json" in manifest.by_path:
        hint = "wh matrix SPEC with more sessions runs it again"
        raise WarehouseError("WH401", "it is a run of a campaign, which needs the packages of its cell", printable(run_id), hint, ExitCode.USAGE)
    document = json.loads(_text(store, digest, manifest, "recording.json"))
    argv = [str(argument) for argument in document["argv"]]
    if any(HIDDEN in argument for argument in argv):
        raise WarehouseError(
            "WH401", "secrets were left out of its command, so it cannot be repeated", printable(run_id), "give the command after --", ExitCode.USAGE
        )
    machine = json.loads(_text(store, digest, manifest, "machine.json")) if "machine.json" in manifest.by_path else {}
    environment: Mapping[str, Any] = document.get("environment") or {}
    names = [path for path in manifest.by_path if "/" not in path and is_named_as_declaration(path)]
    return Again(
        document.get("campaign") or document["recording_id"], argv, int(document["repeats"]), float(document["sample_interval_s"]),
        document.get("working_folder"), document.get("script_sha256"), {name: value for name, value in environment.items() if is_setting(name)},
        {name: machine.get(name) for name in LIMITS},
        {name: _text(store, digest, manifest, name) for name in names},
    )


def _bundle_of(project: Project, run_id: str) -> str:
    from warehouse.transform.finished.builds import current_build
    from warehouse.transform.finished.query import open_build

    con = open_build(current_build(project).path)
    rows = con.execute("select artifact_manifest_digest from benchmark_run_fact where run_id = ? and family = 'recorded_run'", [run_id]).fetchall()
    if not rows:
        near = con.execute(
            "select run_id from benchmark_run_fact where family = 'recorded_run' order by levenshtein(run_id, ?), run_id limit 3", [run_id[:200]]
        ).fetchall()
        hint = did_you_mean(run_id, [name for (name,) in near])
        raise WarehouseError("WH502", "the build has no run of wh record with this id", printable(run_id), hint, ExitCode.NOT_FOUND)
    return str(rows[0][0])


def _text(store: Any, digest: str, manifest: "Manifest", path: str) -> str:
    file = manifest.by_path[path]
    store.check_file(digest, file)
    return Path(store.local_file(digest, file)).read_text(encoding="utf-8")


def main() -> int:
    """Print the recording of a run as JSON: by a process of its own, because what it needs in memory would show in the peak memory of the command."""
    import sys

    from warehouse.project.project import read_project

    try:
        print(json.dumps(asdict(recorded(read_project(Path(sys.argv[1])), sys.argv[2]))))
    except WarehouseError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
