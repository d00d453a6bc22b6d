"""Run ids and the row of a run."""

from __future__ import annotations

from typing import Any

from warehouse.landing.readers.text import clean
from warehouse.landing.rows import workload_columns

from .check import Check


def run_name(owner: str, index: int, test: str | None) -> str:
    """A run's id: the family, the path of its log (after the substitute for an unknown identity), its place there, its test."""
    return f"fabric-check/{clean(owner)}/{index}-{test or 'unknown'}"


def run_columns(check: Check) -> dict[str, Any]:
    """The columns of `fabric_check_run` that the check alone settles."""
    document = {"tool": check.tool, **check.parameters}
    if check.test is not None:
        document["test"] = check.test
    document = {key: value for key, value in document.items() if value is not None}
    return {
        "tool": check.tool, "tool_version": check.tool_version, "test": check.test,
        "status": check.status, "status_reason": check.status_reason,
        "nodes": ",".join(check.nodes) or None, "node_count": len(check.nodes) or check.node_count,
        "rank_count": check.rank_count,
        "gpu_model": " + ".join(check.gpu_models) or None,
        "gpu_count": sum(len(devices) for devices in check.gpus.values()) or None,
        "gpu_bus_ids": _bus_ids(check),
        "started_at_text": check.started_at_text, "started_at": check.started_at,
        "is_zone_assumed": check.is_zone_assumed, "ended_at": check.ended_at, "duration_s": check.duration_s,
        **workload_columns(document),
    }


def _bus_ids(check: Check) -> str | None:
    """The GPUs' places on the bus of one node, where it is the same on all."""
    layouts = {" ".join(bus for bus in devices.values() if bus) for devices in check.gpus.values()}
    return next(iter(layouts)) or None if len(layouts) == 1 else None
