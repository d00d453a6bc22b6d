"""What the samples of a run's host, node and GPUs come to: how long each was sampled, and what counters rose by from the first sample to the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle

from .files import finite, parsed, typed_columns

_NODE = {  # by key of node.jsonl
    "cpu_pressure_some_s": "cpu_pressure_s", "cgroup_cpu_periods": "cgroup_cpu_periods", "cgroup_throttled_periods": "cgroup_throttled_periods",
}
COUNTER_FIELDS = tuple(
    (name, pa.float64())
    for name in ("host_sampled_s", "node_sampled_s", *_NODE.values(), "gpu_sampled_s", "gpu_slowdown_s", "gpu_error_count", "server_cpu_cores")
)
# Heat, and the power supply's brake. The power cap is none of them: under full load a GPU runs at its cap.
_SLOWDOWNS = ("throttle_thermal_ns", "throttle_software_thermal_ns", "throttle_hardware_thermal_ns", "throttle_power_brake_ns")
_ERRORS = ("ecc_uncorrected_count",)
_TIME, _SAMPLED = (("sampled_at", pa.timestamp("us", tz="UTC")),), "sampled_s"


def risen(bundle: Bundle, run: str) -> dict[str, Any]:
    """Columns of `recorded_run`; None for what no sample states, and for a counter that was set back. Of the GPUs, only those that a process of the
    run was on count, or the only one of the machine; of several, the one that was slowed down the most."""
    node = _risen(line for line in _lines(bundle, f"{run}/node.jsonl") if "device" not in line)
    gpus: dict[Any, list[Mapping[str, Any]]] = {}
    for line in _lines(bundle, f"{run}/gpu.jsonl"):
        gpus.setdefault(line.get("gpu_uuid"), []).append(line)
    own = {line.get("gpu_uuid") for line in _lines(bundle, f"{run}/gpu_processes.jsonl") if line.get("is_own") is True}
    used = [_risen(samples) for gpu, samples in gpus.items() if gpu in own or len(gpus) == 1]
    slowdowns = [(1e-9 * each[name], each.get(_SAMPLED)) for each in used for name in _SLOWDOWNS if name in each]
    slowed, sampled = max(slowdowns, key=lambda found: found[0], default=(None, None))
    servers: dict[Any, list[Mapping[str, Any]]] = {}
    for line in _lines(bundle, f"{run}/servers.jsonl"):
        servers.setdefault(line.get("port"), []).append(line)
    cores = [_cores(_risen(samples)) for samples in servers.values()]
    windows = [line.get("duration_s") for line in _lines(bundle, f"{run}/host.jsonl")]
    lengths = [each for each in windows if isinstance(each, float) and finite(each) is not None]
    return {
        "host_sampled_s": sum(lengths) if lengths else None,
        "node_sampled_s": node.get(_SAMPLED),
        **{column: node.get(key) for key, column in _NODE.items()},
        "gpu_sampled_s": sampled,
        "gpu_slowdown_s": slowed,
        "gpu_error_count": max((each[name] for each in used for name in _ERRORS if name in each), default=None),
        "server_cpu_cores": sum(filter(None, cores)) if cores and None not in cores else None,
        **({"is_server_on_host": True} if servers else {}),
    }


def _cores(server: Mapping[str, float]) -> float | None:
    """How many cores it used between its samples; None where its processes were not ours to look at, or were seen once."""
    if not server.get(_SAMPLED) or "user_cpu_s" not in server or "system_cpu_s" not in server:
        return None
    return (server["user_cpu_s"] + server["system_cpu_s"]) / server[_SAMPLED]


def _risen(samples: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    first, last, lost = dict[str, float](), dict[str, float](), set[str]()
    for sample in samples:
        at = typed_columns(_TIME, sample, lambda code, message: None)["sampled_at"]
        for name, value in {**sample, _SAMPLED: at.timestamp() if at else None}.items():
            if isinstance(value, int | float) and not isinstance(value, bool) and (number := finite(value)) is not None:
                if number < last.get(name, number):
                    lost.add(name)
                first.setdefault(name, number)
                last[name] = number
    return {name: last[name] - first[name] for name in first if name not in lost}


def _lines(bundle: Bundle, path: str) -> Iterator[Mapping[str, Any]]:
    """The objects of a file's lines. What is wrong with the others, `samples` reports."""
    if path in bundle.manifest.by_path:
        for line in bundle.read(path).splitlines():
            if (document := parsed(line, lambda code, message, offset: None)) is not None:
                yield document
