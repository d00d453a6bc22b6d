"""The inference engines that a report describes, as either version lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.landing.deployments import count_disagreement, size_of
from warehouse.landing.readers.json_text import Element, json_number, json_text
from warehouse.landing.readers.records import Flag, Record, shown
from warehouse.landing.readers.text import Report, clean, landed_text


def engines(found: Mapping[str, Element], report: Report) -> Iterator[tuple[Element, dict[str, Any]]]:
    """The columns of each engine, and the element that states it. A report without engines is reported."""
    stated = next((found[key] for key in ("scenario/stack", "scenario/host/accelerator") if key in found), None)
    if stated is None:
        report("no-engine", "the report describes no inference engine", severity="note")
        return
    flag = report.flag(stated)
    warn = report.flag(stated, "warning")
    yield from _of_stack(stated, flag, warn) if stated.key == "scenario/stack" else _of_host(stated, found, flag, warn)


def _of_stack(stack: Element, flag: Flag, warn: Flag) -> Iterator[tuple[Element, dict[str, Any]]]:
    """0.2: components of several kinds; an engine says so, or has accelerators."""
    for component in _objects(stack.value, flag):
        standard = Record(component, flag).within("standardized")
        if not standard.values:
            warn("unreadable-component", "a component of the stack has no standardized part")
        accelerator = standard.within("accelerator")
        if accelerator.values or standard.text("kind") == "inference_engine":
            yield stack, {
                "role": standard.text("role"),
                "tool": standard.text("tool"),
                "tool_version": standard.text("tool_version"),
                "model": standard.within("model").text("name"),
                "arguments": _arguments(Record(component, flag).within("native").values.get("args")),
                "quantization": standard.within("model").text("quantization"),
                **_accelerator(accelerator, standard, warn),
            }


def _of_host(accelerators: Element, found: Mapping[str, Element], flag: Flag, warn: Flag) -> Iterator[tuple[Element, dict[str, Any]]]:
    """0.1: lists that correlate one to one."""
    roles = _values(found.get("scenario/host/type"))
    tools = _values(found.get("scenario/platform/engine"))
    model, quantization = (found.get(f"scenario/model/{key}") for key in ("name", "quantization"))
    for index, item in enumerate(_objects(accelerators.value, flag)):
        tool = tools[index] if index < len(tools) and isinstance(tools[index], dict) else {}
        yield accelerators, {
            "role": Record({"role": roles[index] if index < len(roles) else None}, flag).text("role"),
            "tool": Record(tool, flag).text("name"),
            "tool_version": Record(tool, flag).text("version"),
            "model": Record({"model": model.value if model else None}, flag).text("model"),
            "arguments": _arguments(tool.get("args")),
            "quantization": Record({"name": quantization.value if quantization else None}, flag).text("name"),
            **_accelerator(Record(item, flag), Record({}, flag), warn),
        }


def _accelerator(accelerator: Record, component: Record, warn: Flag) -> dict[str, Any]:
    """The accelerators of each replica, whose number is unknown if the sizes contradict it; a component is one replica unless it says otherwise."""
    parallelism = accelerator.within("parallelism")
    count = None if _is_zero(accelerator.values.get("count")) else size_of(accelerator, "count")
    tensor, pipeline, data = (size_of(parallelism, size) for size in ("tp", "pp", "dp"))
    if size_of(parallelism, "workers") in (None, 1) and (message := count_disagreement(count, (tensor, pipeline, data))):
        warn("accelerator-count-disagrees", message)
        count = None
    return {
        "accelerator": accelerator.text("model"),
        "accelerator_memory": accelerator.text("memory"),
        "accelerator_count": count,
        "replicas": 1 if component.values.get("replicas") is None else size_of(component, "replicas"),
        "tensor_parallel": tensor,
        "pipeline_parallel": pipeline,
        "data_parallel": data,
        "expert_parallel": size_of(parallelism, "ep"),
    }


def _arguments(stated: Any) -> str | None:
    """A server's arguments as its command line has them; a flag without a value is there or not."""
    if not isinstance(stated, dict):
        return None
    words = []
    for name, value in stated.items():
        written = (json_text(value) or "").strip()
        if written.casefold() in ("", "true", "null"):
            words.append(clean(str(name)))
        elif written.casefold() != "false":
            words.append(clean(f"{name}={written}"))
    return landed_text(" ".join(words)) or None


def _values(element: Element | None) -> list[Any]:
    return element.value if element is not None and isinstance(element.value, list) else []


def _objects(value: Any, flag: Flag) -> Iterator[dict[str, Any]]:
    """The objects that a list holds; anything else is reported."""
    items = value if isinstance(value, list) else [value]
    for item in items:
        if isinstance(item, dict):
            yield item
        else:
            flag("not-an-object", shown(item))


def _is_zero(count: Any) -> bool:
    """What converters write that do not know the number."""
    return json_number(count) == 0
