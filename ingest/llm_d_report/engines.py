"""The inference engines that a report describes, as either version lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.landing.json_text import Element
from warehouse.landing.records import Flag, Record


def engines(found: Mapping[str, Element], flag: Flag) -> Iterator[tuple[Element, dict[str, Any]]]:
    """The columns of each engine, and the element that states it."""
    if "scenario/stack" in found:
        yield from _of_stack(found["scenario/stack"], flag)
    elif "scenario/host/accelerator" in found:
        yield from _of_host(found, flag)


def _of_stack(stack: Element, flag: Flag) -> Iterator[tuple[Element, dict[str, Any]]]:
    """0.2: components of several kinds; an engine has accelerators."""
    for component in _list(stack.value):
        standard = Record(component, flag).within("standardized")
        accelerator = standard.within("accelerator")
        if accelerator.values:
            yield stack, {
                "role": standard.text("role"),
                "tool": standard.text("tool"),
                "tool_version": standard.text("tool_version"),
                "model": standard.within("model").text("name"),
                "replicas": standard.count("replicas"),
                **_accelerator(accelerator),
            }


def _of_host(found: Mapping[str, Element], flag: Flag) -> Iterator[tuple[Element, dict[str, Any]]]:
    """0.1: lists that correlate one to one."""
    accelerators = found["scenario/host/accelerator"]
    roles = _values(found.get("scenario/host/type"))
    tools = _values(found.get("scenario/platform/engine"))
    model = found.get("scenario/model/name")
    for index, item in enumerate(_list(accelerators.value)):
        tool = tools[index] if index < len(tools) and isinstance(tools[index], dict) else {}
        yield accelerators, {
            "role": Record({"role": roles[index] if index < len(roles) else None}, flag).text("role"),
            "tool": Record(tool, flag).text("name"),
            "tool_version": Record(tool, flag).text("version"),
            "model": Record({"model": model.value if model else None}, flag).text("model"),
            "replicas": 1,
            **_accelerator(Record(item, flag)),
        }


def _accelerator(accelerator: Record) -> dict[str, Any]:
    parallelism = accelerator.within("parallelism")
    return {
        "accelerator": accelerator.text("model"),
        "accelerator_memory": accelerator.text("memory"),
        "accelerator_count": accelerator.count("count"),
        "tensor_parallel": parallelism.count("tp"),
        "pipeline_parallel": parallelism.count("pp"),
        "data_parallel": parallelism.count("dp"),
        "expert_parallel": parallelism.count("ep"),
    }


def _values(element: Element | None) -> list[Any]:
    return element.value if element is not None and isinstance(element.value, list) else []


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
