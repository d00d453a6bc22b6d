"""Where files lie in a submission, read from path parts alone: division, section, run folder, and a file's role.

Pure functions over names, shared by recognition and parsing, so that both see the same runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DIVISIONS = frozenset({"closed", "open", "network"})
_MINIMUM_PARTS = {"results": 3, "measurements": 2, "compliance": 3, "systems": 1}  # after the section
SCENARIOS = {name.casefold(): name for name in ("SingleStream", "MultiStream", "Offline", "Server", "Interactive", "ConstantStream")}
INFERENCE, AUTOMOTIVE = "inference", "automotive"  # suites of MLPerf that share this layout and the load generator, and no rules
_ROUND = re.compile(r"(?:^|[^A-Za-z0-9])v(\d+\.\d+)(?!\d)", re.IGNORECASE)
_TEST_FOLDER = re.compile(r"test\d+([-_].*)?", re.IGNORECASE)
_RUN_FOLDER = re.compile(r"run(_?\d+)?", re.IGNORECASE)

_ROLES_BY_NAME = {
    "mlperf_log_summary.txt": "summary_log",
    "mlperf_log_detail.txt": "detail_log",
    "spl.txt": "power_samples",
    "user.conf": "user_conf",
}
LOG_ROLES = frozenset({"summary_log", "detail_log"})
RUN_ROLES = LOG_ROLES | {"power_samples", "accuracy_report", "verification"}
_MEDIA_TYPES = {"txt": "text/plain", "conf": "text/plain", "log": "text/plain", "json": "application/json"}


@dataclass(frozen=True)
class Place:
    """A file's place: `above` the division, then division, submitter, section, and the parts `inside` the section."""

    above: tuple[str, ...]
    division: str
    submitter: str
    section: str
    inside: tuple[str, ...]

    @property
    def raw_path(self) -> str:
        """The path from the division on: it does not depend on where the user cut the tree."""
        return "/".join((self.division, self.submitter, self.section, *self.inside))

    @property
    def name(self) -> str:
        return self.inside[-1]

    @property
    def folders(self) -> tuple[str, ...]:
        return self.inside[:-1]

    @property
    def kind(self) -> str:
        return self.section.casefold()

    @property
    def role(self) -> str | None:
        return _role(self)


@dataclass(frozen=True)
class RunFolder:
    """A run: its `mode` and its path inside the scenario's folder, e.g. performance/run_1 or TEST01."""

    mode: str
    path: str

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


def place_of(parts: tuple[str, ...]) -> Place | None:
    """The place of a file in a submission, or None. The innermost division wins: folders above may have any name."""
    for index in range(len(parts) - 4, -1, -1):
        if parts[index].casefold() not in DIVISIONS:
            continue
        minimum = _MINIMUM_PARTS.get(parts[index + 2].casefold())
        inside = parts[index + 3 :]
        if minimum is not None and len(inside) >= minimum:
            return Place(parts[:index], parts[index], parts[index + 1], parts[index + 2], inside)
    return None


def round_of(above: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The round (`v5.1`) and the name of the nearest folder above the division that states it, else None twice."""
    for folder in reversed(above):
        if match := _ROUND.search(folder):
            return f"v{match[1]}", folder
    return None, None


def canonical_scenario(folder: str) -> str:
    """The scenario in loadgen's spelling; an unknown folder name as it is."""
    return SCENARIOS.get(folder.casefold(), folder)


def run_folder(folders: tuple[str, ...]) -> RunFolder | None:
    """The run that a file belongs to, from the folders between the scenario's folder and the file."""
    folded = [folder.casefold() for folder in folders]
    for index, folder in enumerate(folded):
        if _TEST_FOLDER.fullmatch(folder):
            return RunFolder("compliance", folders[index])
        if folder == "ranging":
            return RunFolder("ranging", "/".join(folders[: index + 1]))
    if not folded:
        return None
    if folded[0] == "accuracy":
        return RunFolder("accuracy", folders[0])
    if folded == ["performance"] or _RUN_FOLDER.fullmatch(folded[0]):
        return RunFolder("performance", folders[0])
    if folded[0] == "performance" and _RUN_FOLDER.fullmatch(folded[1]):
        return RunFolder("performance", "/".join(folders[:2]))
    return None


def media_type_of(name: str) -> str | None:
    return _MEDIA_TYPES.get(name.rpartition(".")[2].casefold())


def _role(place: Place) -> str | None:
    name = place.name.casefold()
    if place.kind == "systems":
        return "system" if name.endswith(".json") and len(place.inside) == 1 else None
    if name in _ROLES_BY_NAME:
        return _ROLES_BY_NAME[name]
    if name in ("client.json", "server.json"):
        in_power = any(folder.casefold() == "power" for folder in place.folders[3:])
        return f"power_{name.partition('.')[0]}" if in_power else _measurement_role(place, name)
    if name.startswith("verify_") and name.endswith(".txt"):
        return "verification"
    if name.endswith("accuracy.txt") and len(place.folders) > 3:
        return "accuracy_report"
    return _measurement_role(place, name)


def _measurement_role(place: Place, name: str) -> str | None:
    """From v6.0 on the document lies beside the results, before in a section of its own under any name."""
    if not name.endswith(".json") or name.startswith("mlperf_log_"):
        return None
    beside_the_runs = place.kind == "results" and len(place.folders) == 3
    return "measurement" if place.kind == "measurements" or name == "measurements.json" or beside_the_runs else None
