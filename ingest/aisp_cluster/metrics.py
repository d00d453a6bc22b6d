"""What a value of a test is, by its path: a parameter, a result or neither; and its metric, with the unit at the end.

Units are those of the suite's scripts. `_gbps` is GB/s of collectives, copies and memory, and Gbit/s of perftest and iperf3; where a script
is not known, the key stays as it is and has no unit. `mb_s` divides bytes by 2^20.
"""

from __future__ import annotations

import re

from .documents import AXES

PARAMETER, RESULT, OTHER = "parameter", "result", "other"

_STATISTIC = re.compile(r"mean|median|min|max|std|stdev|avg|p\d{1,3}")
_RATE = re.compile(r"(?:(?P<name>\w*?)_?)(?P<unit>gbps|mb_s|tflops|seconds|sec)(?P<tail>_mean|_at_best)?")
_BITS = re.compile(r"avg|(?:oob_tcp_)?(?:fwd|rev)")  # of iperf3 and perftest --report_gbits
_BYTES = re.compile(r"\w*(?:busbw|algbw)\w*|(?:\w+_)?bandwidth|peak_sum|numa_local_bw")
_NAMES = {"mb_s": "mib_per_s", "tflops": "tflop_per_s", "seconds": "s", "sec": "s"}
_MEASURED = re.compile(
    r"(?:^|_)(?:gbps|mb_s|mb_s_mean|iops|ms|us|seconds|sec|s|pct|ratio|ratios|speedup|throughput|diff|count|gb_per_s|mib_per_s)$"
    r"|_(?:ms|us|s|gbps)_(?:mean|median|min|max|p\d+)$|_over_|tflops|speedup|busbw|algbw|latency|throughput|_vs_|p99_p50|max_min"
)
# Names, places and settings that are no measurement, whatever they end in.
_SETTINGS = re.compile(r"theoretical|threshold|timeout|runtime_s$|target|clock|_mhz|requested|expected|observed|port$|attempt")
_CONDITIONS = frozenset({"app_clocks", "clocks", "clock_lock", "artifacts", "inputs", "raw", "notes", "versions", "image"})
_WHERE = re.compile(
    r"run_id|label|labels|host|hosts|hostname|node|nodes|node_labels|status|reason|timestamp\w*|\w+_at_utc|\w*path\w*|\w*dir|\w*json|raw_log|command"
    r"|\w*log|failure_reason|failures|errors|device_name|gpu_name|test|jitter_assessment"
)


def kind_of(key: str, value: object, number: float | None) -> str:
    """Parameters are what is stated at the top and was not measured; numbers under the name of a measurement are results, and so are missing ones."""
    parts = key.split("/")
    if parts[0] in _CONDITIONS or any(part in _CONDITIONS for part in parts[:-1]) or (len(parts) > 2 and parts[-1] in AXES):
        return OTHER
    if (value is None or number is not None) and not _SETTINGS.search(parts[-1]) and any(_MEASURED.search(part) for part in parts):
        return RESULT
    is_setting = len(parts) == 1 or parts[0] in ("config", "shape", "quantization", "best_shape")
    return PARAMETER if is_setting and not isinstance(value, (dict, list)) and not _WHERE.fullmatch(parts[-1]) else OTHER


def metric_of(key: str, test: str) -> str:
    """`results/avg_tflops` is results__avg_tflop_per_s, `latency_ms/mean` is latency_mean_ms."""
    *before, last = key.split("/")
    if before and _STATISTIC.fullmatch(last):
        unit = re.search(r"_(gbps|mb_s|ms|us|s|pct|tflops)$", before[-1])
        if unit:
            last = f"{before.pop().removesuffix(unit[0])}_{last}{unit[0]}"
    return "__".join([*before, _with_unit(last, test)])


def _with_unit(name: str, test: str) -> str:
    found = _RATE.fullmatch(name)
    if found is None:
        return name
    stem = found["name"] or ""
    if found["unit"] != "gbps":
        unit = _NAMES[found["unit"]]
    elif _BITS.fullmatch(stem):
        unit = "gbit_per_s"
    elif _BYTES.fullmatch(stem) or (test.endswith("numa_mem_bw") and stem == "bw"):
        unit = "gb_per_s"
    else:
        return name
    stem = stem or {"s": "duration", "mib_per_s": "bandwidth"}.get(unit, "")
    return "_".join(filter(None, (stem, (found["tail"] or "").strip("_"), unit)))
