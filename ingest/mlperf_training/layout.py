"""Where files lie in a submission, `<submitter>/results/<platform>/<benchmark>/result_N.txt`, read from path parts alone."""

from __future__ import annotations

import re
from typing import NamedTuple

_ROUND = re.compile(r"(?:^|[^A-Za-z0-9])v(\d+\.\d+)(?!\d)", re.IGNORECASE)
_RESULT = re.compile(r"result_?(\d+)\.(?:txt|log|out)", re.IGNORECASE)
_LOG_SUFFIXES = frozenset({"txt", "log", "out"})
_SCALINGS = frozenset({"strong", "weak"})  # HPC rounds have them between platform and benchmark


class Place(NamedTuple):
    """What a result file's folder tells. All is None where it does not lie in a submission's layout."""

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
            return Place(_round_of(folder[:start]), submitter, platform, benchmark, folder[start:], systems)
    return Place()


def scaling_mode_of(folders: tuple[str, ...]) -> str | None:
    """Whether one model was trained on the whole system (strong) or many at once on parts of it (weak), as the folders from
    the submitter down say; None outside of HPC rounds."""
    return next((name.casefold() for name in folders[3:-1] if name.casefold() in _SCALINGS), None)


def _round_of(above: tuple[str, ...]) -> str | None:
    return next((f"v{match[1]}" for folder in reversed(above) if (match := _ROUND.search(folder))), None)


def may_be_log(name: str) -> bool:
    return name.rpartition(".")[2].casefold() in _LOG_SUFFIXES


def is_result_name(name: str) -> bool:
    return _RESULT.fullmatch(name) is not None


def order_of(name: str) -> tuple[int, str]:
    """Files sort by their number, then by name: result_2 before result_10."""
    match = _RESULT.fullmatch(name)
    return (int(match[1]) if match else -1, name)


def stem_of(name: str) -> str:
    return name.rpartition(".")[0]
