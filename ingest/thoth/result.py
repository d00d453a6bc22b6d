"""One result of an inspection: how the script ended, what it used, on what machine, and what it printed."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from warehouse.landing.readers.json_text import Element
from warehouse.landing.rows import RowBuffer

from .indicator import Indicator, Pair, add_values, indicator_of, landed_key, pairs_of_output
from .reading import Stated

_USAGE = {
    "ru_minflt": "minor_page_faults", "ru_majflt": "major_page_faults", "ru_nvcsw": "voluntary_context_switches",
    "ru_nivcsw": "involuntary_context_switches", "ru_maxrss": "max_rss_kib",  # getrusage(2) on Linux: KiB
}
_CPU_SECONDS = {"ru_utime": "user_cpu_s", "ru_stime": "system_cpu_s"}
_CACHES = {
    "l1_data_cache_size": "l1_data_cache_bytes", "l1_instruction_cache_size": "l1_instruction_cache_bytes",
    "l2_cache_size": "l2_cache_bytes", "l3_cache_size": "l3_cache_bytes",
}
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Of the machine's description what may tell two machines apart and is not the pod's name, the time or a list of what it is not.
_CONDITION = re.compile(
    r"usage/ru_\w+|hwinfo/cpu_features/(?:flags|hz_\w+|l[123]_\w+)|hwinfo/cpu_info/(?:arch|bits|brand_raw|count|family|model|stepping|vendor_id_raw|l\d\w+)"
    r"|hwinfo/platform/(?:machine|platform|release|version)"
)


@dataclass(frozen=True)
class Result:
    """A result as read. `hwinfo` is the machine's description where the result has none, from the file beside it, `hwinfo_path`."""

    raw_path: str
    run_id: str
    number: int
    stated: Stated
    hwinfo: Stated | None
    hwinfo_path: str | None

    @property
    def script_sha256(self) -> str | None:
        text = self.stated.value("script_sha256")
        return text if isinstance(text, str) and _SHA256.fullmatch(text) else None

    def report_identity(self, inspection_id: str) -> None:
        """The folder's name is the inspection's id; a pod of another one is reported."""
        hostname = self.stated.text("hostname")
        if hostname and inspection_id.startswith("inspection-") and not hostname.startswith(inspection_id):
            message = f"the pod is {hostname[:120]!r}, the inspection {inspection_id[:120]!r}; the folder is taken"
            self.stated.report.at("identity-mismatch", message, self.stated.elements["hostname"])

    def add_indicator(self, buffer: RowBuffer) -> Indicator | None:
        """Add the values that the script printed, and the conditions it ran under; returns what it is."""
        report = self.stated.report
        printed = pairs_of_output(self.stated.elements, report)
        indicator = indicator_of(printed, report)
        if indicator is None and self.stated.value("exit_code") == 0 and not report.has("no-indicator"):
            report("no-indicator", "the script succeeded and printed no performance indicator")
        # Its own number comes first: a script may print a usage or hwinfo, too.
        taken = {landed_key(pair.key) for pair in printed if pair.kind == "other"}
        add_values(buffer, self.raw_path, self.run_id, indicator, printed + self._conditions(self.stated, taken), report)
        if self.hwinfo is not None and self.hwinfo_path is not None:
            add_values(buffer, self.hwinfo_path, self.run_id, indicator, self._conditions(self.hwinfo, taken), self.hwinfo.report)
        return indicator

    def _conditions(self, stated: Stated, taken: set[str]) -> list[Pair]:
        return [Pair("other", key, each) for key, each in stated.elements.items() if _CONDITION.fullmatch(key) and landed_key(key) not in taken]

    def add(self, buffer: RowBuffer, inspection_id: str, indicator: Indicator | None, workload: dict[str, Any]) -> None:
        """Add the run's row."""
        stated = self.stated
        exit_code = stated.record.count("exit_code")
        if exit_code is None and "exit_code" not in stated.elements:
            stated.report("no-exit-code", "the result states no exit code, so it is not known how it ended")
        is_known = exit_code is not None
        started, start_assumed = stated.moment("start_datetime")
        # Before 2020-08-20 Amun wrote one time, when the script had ended.
        ended, end_assumed = stated.moment("end_datetime" if "end_datetime" in stated.elements else "datetime")
        if started and ended and ended < started:
            stated.report.at("impossible-time", f"it ended {ended}, before it started {started}", stated.elements["start_datetime"], "error")
        length = stated.data and len(stated.data) or 0
        buffer.add(
            "thoth_run", self.raw_path, 0, length, run_id=self.run_id, inspection_id=inspection_id, result_number=self.number,
            status="unknown" if not is_known else "succeeded" if exit_code == 0 else "failed",
            status_reason=f"exit code {exit_code}" if exit_code else None, exit_code=exit_code, started_at=started, ended_at=ended,
            is_zone_assumed=start_assumed if started else end_assumed,
            hostname=stated.text("hostname"), script_sha256=self.script_sha256,
            indicator_name=indicator.name if indicator else None, component=indicator.component if indicator else None,
            **{column: self._possible(stated, f"usage/{key}") for key, column in _USAGE.items()},
            **{column: self._seconds(f"usage/{key}") for key, column in _CPU_SECONDS.items()},
            **self._machine(), **self._software(), **workload,
        )

    def _possible(self, stated: Stated, key: str) -> int | None:
        count = stated.record.count(key)
        if count is not None and count < 0:
            stated.report.at("impossible-count", f"{key}: {count}", stated.elements[key], "error")
            return None
        return count

    def _seconds(self, key: str) -> float | None:
        number = self.stated.record.number(key)
        if number is not None and number < 0:
            self.stated.report.at("negative-measurement", f"{key}: {number}", self.stated.elements[key], "error")
            return None
        return number

    def _machine(self) -> dict[str, Any]:
        stated = self.hwinfo if self.hwinfo is not None else self.stated
        if not any(key.startswith("hwinfo/") for key in stated.elements):
            return {}
        flags = stated.value("hwinfo/cpu_features/flags")
        names = sorted(flag for flag in flags if isinstance(flag, str)) if isinstance(flags, list) else []
        return {
            "cpu_model": stated.text("hwinfo/cpu_info/brand_raw"),
            "cpu_count": self._possible(stated, "hwinfo/cpu_info/count"),  # of the host, not the pod's limit
            "cpu_hz_actual": _hertz(stated, "hwinfo/cpu_features/hz_actual"),
            "cpu_hz_advertised": _hertz(stated, "hwinfo/cpu_features/hz_advertised"),
            "cpu_flag_count": len(names) or None,
            "cpu_flags_digest": hashlib.sha256("\n".join(names).encode("utf-8", "replace")).hexdigest() if names else None,
            "kernel_version": stated.text("hwinfo/platform/release"),
            **{column: self._possible(stated, f"hwinfo/cpu_features/{key}") for key, column in _CACHES.items()},
        }

    def _software(self) -> dict[str, Any]:
        stated = self.stated
        return {
            "os_name": stated.text("os_release/id") or stated.text("runtime_environment/operating_system/name"),
            "os_version": stated.text("os_release/version_id") or stated.text("runtime_environment/operating_system/version"),
            "python_version": stated.record.text("runtime_environment/python_version"),
            "cuda_version": stated.record.text("runtime_environment/cuda_version"),
        }


def _hertz(stated: Stated, key: str) -> int | None:
    """py-cpuinfo writes hertz as a list: whole hertz, and the digits behind the point."""
    element: Element | None = stated.elements.get(key)
    if element is None or element.value is None:
        return None
    value = element.value[0] if isinstance(element.value, list) and element.value else element.value
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53:
        return value
    stated.report.at("not-a-frequency", f"{key}: a list of whole hertz and their fraction is expected", element, "error")
    return None
