"""Where files lie in a submission, `<submitter>/results/<platform>/<benchmark>/result_N.txt`, read from path parts alone.

The owner's tools (mlcommons/logging) read `result_*.txt` of a benchmark's folder, no folder below it but `power`, and an HPC round's
`strong` and `weak` between platform and benchmark.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ROUND = re.compile(r"(?:^|[^A-Za-z0-9])v(\d+\.\d+)(?!\d)", re.IGNORECASE)
_GLOB = re.compile(r"result_.*\.txt", re.DOTALL)
_NUMBERED = re.compile(r"result_?\d[\d_-]*\.(?:txt|log|out)", re.IGNORECASE)
_HPC_BENCHMARKS = frozenset({"cosmoflow", "deepcam", "oc20", "openfold"})  # mlcommons/logging, benchmark_meta.py
TRAINING, HPC = "training", "hpc"  # usages: rounds of both have the same names
_LOG_SUFFIXES = frozenset({"txt", "log", "out"})
_SCALINGS = frozenset({"strong", "weak"})  # HPC rounds have them between platform and benchmark


class Place(NamedTuple):
    """What a result file's folder tells. All is None where it does not lie in a submission's layout."""

    usage: str = TRAINING
    round: str | None = None
    submitter: str | None = None
    platform: str | None = None
    benchmark: str | None = None
    folders: tuple[str, ...] = ()  # from the submitter down: what raw paths keep
    systems: tuple[str, ...] | None = None  # the full path of the folder of system descriptions


def place_of(folder: tuple[str, ...]) -> Place:
    """The place of a folder of result files, given as its full path's parts."""
    for levels in (2, 3):
        start = len(folder) - levels - 2  # of the submitter
        if start < 0 or folder[start + 1].casefold() != "results":
            continue
        submitter, _, platform, *between, benchmark = folder[start:]
        if all(name.casefold() in _SCALINGS for name in between):
            systems = (*folder[: start + 1], "systems")
            usage = HPC if between else usage_of(benchmark)
            return Place(usage, _round_of(folder[:start]), submitter, platform, benchmark, folder[start:], systems)
    return Place()


def is_below_a_set(folder: tuple[str, ...]) -> bool:
    """Whether a folder lies below a benchmark's folder of a round, or of an HPC round's scaling: what was put aside there is no result."""
    if place_of(folder).submitter is not None:
        return False
    places = (place_of(folder[:length]) for length in range(len(folder) - 1, 3, -1))
    return any(place.round is not None or scaling_mode_of(place.folders) is not None for place in places)


def usage_of(benchmark: str | None) -> str:
    """Whose rules hold for a benchmark."""
    return HPC if benchmark is not None and benchmark.casefold() in _HPC_BENCHMARKS else TRAINING


def scaling_mode_of(folders: tuple[str, ...]) -> str | None:
    """Whether one model was trained on the whole system (strong) or many at once on parts of it (weak), as the folders from
    the submitter down say; None outside of HPC rounds."""
    return next((name.casefold() for name in folders[3:-1] if name.casefold() in _SCALINGS), None)


def _round_of(above: tuple[str, ...]) -> str | None:
    return next((f"v{match[1]}" for folder in reversed(above) if (match := _ROUND.search(folder))), None)


def may_be_log(name: str) -> bool:
    return name.rpartition(".")[2].casefold() in _LOG_SUFFIXES


def is_result_name(name: str) -> bool:
    """Whether the owner's tools, or those of old rounds, would read a file of this name."""
    return _GLOB.fullmatch(name) is not None or is_numbered(name)


def is_numbered(name: str) -> bool:
    """Whether a name is that of a run, whatever is in the file: an empty one is a run that left nothing."""
    return _NUMBERED.fullmatch(name) is not None


def order_of(name: str) -> tuple[tuple[int, ...], str]:
    """Files sort by their numbers, then by name: result_2 before result_10."""
    numbers = re.findall(r"\d{1,40}", stem_of(name)) if is_result_name(name) else ()
    return tuple(map(int, numbers)), name


def stem_of(name: str) -> str:
    return name.rpartition(".")[0]
