"""The tables of Nsight Compute. In `details` a row is one metric of one launch; in `raw` a launch, with the units in the row below the header."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from warehouse.landing.readers.text import MAX_VALUE_CHARACTERS, Data, Line, Report, clean

from .tables import SECONDS, number, rows

_DURATION = "duration"
# What lands, by the metric's name in `details` (with its section, for two sections have a Memory Throughput) and in `raw`.
_DETAILS = {
    ("GPU Speed Of Light Throughput", "Duration"): _DURATION,
    ("GPU Speed Of Light Throughput", "Compute (SM) Throughput"): "sm_throughput_pct",
    ("GPU Speed Of Light Throughput", "Memory Throughput"): "memory_throughput_pct",
    ("GPU Speed Of Light Throughput", "DRAM Throughput"): "dram_throughput_pct",
    ("Occupancy", "Achieved Occupancy"): "achieved_occupancy_pct",
}
_RAW = {
    "gpu__time_duration.sum": _DURATION,
    "gpu__time_duration.avg": _DURATION,
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "sm_throughput_pct",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "memory_throughput_pct",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": "dram_throughput_pct",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved_occupancy_pct",
}
PERCENTAGES = ("sm_throughput_pct", "memory_throughput_pct", "dram_throughput_pct", "achieved_occupancy_pct")
_COLUMNS = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name")
_MOST_LAUNCHES = 1_000_000
Launch = tuple[str, str]  # process and ID


@dataclass
class Profile:
    """The launches of a file by kernel, each with what is known of it, and what the tool says of itself."""

    kernels: dict[str, dict[Launch, dict[str, float]]] = field(default_factory=lambda: defaultdict(dict))
    programs: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    error: str | None = None
    launches: int = 0

    def add(self, row: dict[str, str]) -> dict[str, float] | None:
        """What is known of the launch that a row is about."""
        kernel, launch = clean(row["Kernel Name"])[:MAX_VALUE_CHARACTERS], (row["Process ID"], row["ID"])
        if launch not in self.kernels[kernel]:
            if self.launches >= _MOST_LAUNCHES:
                return None
            self.launches += 1
            self.programs.add(clean(row["Process Name"])[:256])
            self.hosts.add(clean(row["Host Name"])[:256])
        return self.kernels[kernel].setdefault(launch, {})


def read(data: Data, report: Report) -> Profile:
    profile, header, units = Profile(), list[str](), list[str]()
    for line, cells, fault in rows(data, report):
        if cells[:1] == ["ID"] and set(_COLUMNS) <= set(cells):
            header, units = cells, []
        elif line.data.startswith(b"==ERROR=="):
            profile.error = profile.error or clean(line.data[9:400].decode(errors="replace")).strip()
        elif header and line.data.startswith(b'"'):
            if len(cells) != len(header) and not _is_short(header, cells):
                report.at("malformed-row", fault or f"{len(cells)} cells under {len(header)} columns", line, "error")
            elif "Metric Name" in header:
                _details(profile, dict(zip(header, cells, strict=False)), report, line)
            elif not cells[0]:
                units = cells
            elif not units:
                report.at("missing-units", "a raw page without the row of units", line, "error")
            else:
                _raw(profile, header, units, cells, report, line)
    if profile.launches >= _MOST_LAUNCHES:
        report("too-many-launches", f"launches beyond the first {_MOST_LAUNCHES} are left out", severity="error")
    return profile


def _is_short(header: list[str], cells: list[str]) -> bool:
    """A row of a metric has none of the cells for rules, or an empty one."""
    return "Metric Value" in header and header.index("Metric Value") < len(cells) < len(header)


def _details(profile: Profile, row: dict[str, str], report: Report, line: Line) -> None:
    launch = profile.add(row)
    name = _DETAILS.get((row.get("Section Name", ""), row["Metric Name"])) or _RAW.get(row["Metric Name"])  # the latter of ncu --metrics
    if launch is not None and name is not None:
        _set(launch, name, row.get("Metric Unit", ""), row.get("Metric Value", ""), report, line)


def _raw(profile: Profile, header: list[str], units: list[str], cells: list[str], report: Report, line: Line) -> None:
    launch = profile.add(dict(zip(header, cells, strict=True)))
    for metric, unit, text in zip(header, units, cells, strict=False):
        if launch is not None and metric in _RAW:
            _set(launch, _RAW[metric], unit, text, report, line)


def _set(launch: dict[str, float], name: str, unit: str, text: str, report: Report, line: Line) -> None:
    found = number(text, report, line)
    if found is None:
        return
    if name == _DURATION and unit in SECONDS:
        launch[name] = found * SECONDS[unit]
    elif name != _DURATION and unit == "%":
        launch[name] = found
    else:
        report.at("unknown-unit", f"{name} in {unit[:80] or 'no unit'}", line, "error")
