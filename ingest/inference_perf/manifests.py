"""What Kubernetes manifests say of the server: image, arguments, accelerators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.deployments import size_of
from warehouse.landing.readers.json_text import json_number
from warehouse.landing.readers.records import Flag, Record
from warehouse.landing.readers.text import landed_text

_ACCELERATOR_SELECTORS = (
    "cloud.google.com/gke-accelerator", "nvidia.com/gpu.product", "amd.com/gpu.product-name",
    "cloud.google.com/gke-tpu-accelerator", "gpu.nvidia.com/class", "accelerator",
)
_ACCELERATOR_RESOURCE = re.compile(r"(?:nvidia\.com|amd\.com|gpu\.intel\.com|google\.com|habana\.ai|aws\.amazon\.com)/.+")
_PART = re.compile(r"/mig-|\.shared$")  # NVIDIA's device plugin: the node's own label may still name the whole GPU
_VARIABLE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


def servers(documents: list[Any], flag: Flag) -> Iterator[dict[str, Any]]:
    """The columns of each container that asks for accelerators; `flag` is called with counts that are not valid."""
    for document in documents:
        if not isinstance(document, dict):
            continue
        for pod in _pods(document):
            for container in pod["containers"]:
                asked = _accelerators(container) if isinstance(container, dict) else None
                if asked is not None:
                    count = _count(*asked, flag)
                    if count != 0:
                        yield _server(document, pod, container, asked[0], count, flag)


def _pods(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pod specs within a document: the mappings that list containers."""
    pending: list[Any] = [document]
    while pending:
        found = pending.pop()
        if isinstance(found, dict):
            if isinstance(found.get("containers"), list):
                yield found
            pending += found.values()
        elif isinstance(found, list):
            pending += found


def _server(
    document: dict[str, Any], pod: dict[str, Any], container: dict[str, Any], resource: str, count: int | None, flag: Flag
) -> dict[str, Any]:
    arguments = _arguments(container)
    selector = pod.get("nodeSelector")
    selector = selector if isinstance(selector, dict) else {}
    accelerator = next((_text(selector[key]) for key in _ACCELERATOR_SELECTORS if selector.get(key)), None)
    if _PART.search(resource):
        accelerator = landed_text(", ".join(filter(None, (accelerator, resource))))
    return {
        "kind": _text(document.get("kind")),
        "image": _text(container.get("image")),
        "arguments": landed_text(" ".join(arguments)) or None,
        "model": _model(arguments),
        "accelerator": accelerator,
        "accelerators_per_replica": count,
        "replicas": _replicas(document, flag),
    }


def _accelerators(container: dict[str, Any]) -> tuple[str, Any] | None:
    """The name of the accelerators that a container asks for, and how many as stated."""
    resources = container.get("resources")
    for part in ("limits", "requests"):
        asked = resources.get(part) if isinstance(resources, dict) else None
        for name, count in asked.items() if isinstance(asked, dict) else ():
            if _ACCELERATOR_RESOURCE.fullmatch(str(name)):
                return str(name), count
    return None


def _replicas(document: dict[str, Any], flag: Flag) -> int | None:
    """As the spec says; a workload that does not say has one, a pod is one."""
    spec = document.get("spec")
    stated = spec.get("replicas") if isinstance(spec, dict) else None
    return 1 if stated is None else _count("replicas", stated, flag)


def _count(name: str, stated: Any, flag: Flag) -> int | None:
    """How many; 0 is a number too: none are asked for, or a workload is scaled down."""
    return 0 if json_number(stated) == 0 else size_of(Record({name: stated}, flag), name)


def _arguments(container: dict[str, Any]) -> list[str]:
    """Command and arguments with the container's own variables put in, as Kubernetes does."""
    stated = container.get("env")
    variables = {
        item["name"]: item["value"]
        for item in (stated if isinstance(stated, list) else [])
        if isinstance(item, dict) and isinstance(item.get("name"), str) and isinstance(item.get("value"), str)
    }
    parts = [part for part in (container.get("command"), container.get("args")) if isinstance(part, list)]
    words = [word for part in parts for word in part if isinstance(word, str)]
    return [_VARIABLE.sub(lambda match: variables.get(match[1], match[0]), word) for word in words]


def _model(arguments: list[str]) -> str | None:
    text = " ".join(arguments)
    match = re.search(r"--(?:model|model-path|model-id)(?:=|\s+)(\S+)", text)
    return _text(match[1]) if match else None


def _text(value: Any) -> str | None:
    return landed_text(value) if isinstance(value, str) and value else None
