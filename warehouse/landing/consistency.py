"""What the statistics of a serving run must obey, whichever tool states them: signs, magnitudes, the order of percentiles, and
output within all tokens. Tools write a statistic before or after what it is of: `p99_ttft_ms`, `time_to_first_token/p99`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from warehouse.landing.readers.text import Entry, Located, Report
from warehouse.landing.severity import ERROR, WARNING, disagreement, identity_issue

_STATISTIC = r"mean|avg|median|min|max|std|stddev|std_dev|p\d{1,3}(?:[p.]\d+)?"
_AFTER = re.compile(rf"(.+?)[/_](?:quantiles_|percentiles/)?({_STATISTIC})")
_BEFORE = re.compile(rf"((?:.*/)?)({_STATISTIC})_(.+)")
_RATE = re.compile(r"throughput|(?<![a-z])tput|goodput|per_sec|tokens_per_s|_rate(?=/|$)")
# A client's schedule delay is below zero where it is early.
_MEASURED = re.compile(rf"(?:^|[/_])(?:ttft|tpot|itl|e2el?)(?=[/_]|$)|latency|time_(?:to|per)_|{_RATE.pattern}")
# Interactivity is the reciprocal of a latency, and its percentiles are those of the latency.
_REVERSED = re.compile(r"(?:^|_)intvty")
_LEVELS = {"min": 0.0, "median": 50.0, "max": 100.0}
_MEANS = ("mean", "avg")
# In nanoseconds 11 days, in milliseconds 30,000 years; of tokens per second more than any machine makes.
_LARGEST = 1e15
_ROUNDING = 1e-3  # of the larger value: some statistics of a file may be rounded, and others not


class Statistic(NamedTuple):
    """`p99` of `ttft_ms`."""

    of: str
    name: str


def statistic_of(key: str) -> Statistic | None:
    """The statistic that a key states, if it states one."""
    if found := _AFTER.fullmatch(key):
        return Statistic(found[1], found[2])
    found = _BEFORE.fullmatch(key)
    return Statistic(found[1] + found[3], found[2]) if found else None


def impossible_measurement(key: str, number: float) -> str | None:
    """The code of the issue of a latency or a rate that nothing can have."""
    if 0 <= number <= _LARGEST or not _MEASURED.search(key):
        return None
    return "negative-measurement" if number < 0 else "implausible-value"


def check_identity(part: str, stated: str | None, folder: str, place: Located, report: Report) -> None:
    """Report a file that names another submitter, division or benchmark than its path, which counts (copied files, placeholders)."""
    if issue := identity_issue(part, stated, folder):
        code, message, severity = issue
        report.at(code, message, place, severity)


def check_statistics(entries: Mapping[str, Entry], report: Report) -> None:
    """Report the statistics of one run, or of one point, that contradict each other. Which of them is wrong nothing says, so
    all of them stand."""
    groups: dict[str, dict[str, Entry]] = defaultdict(dict)
    for key, entry in entries.items():
        if entry.number is None:
            continue
        if (statistic := statistic_of(key)) is not None and not _REVERSED.search(statistic.of):
            groups[statistic.of][statistic.name] = entry
        if "output" in key and "per_gpu" not in key and _RATE.search(key):
            _check_output(entries, key, entry, report)
    for of, stated in groups.items():
        _check_order(of, stated, report)


def _check_output(entries: Mapping[str, Entry], key: str, output: Entry, report: Report) -> None:
    """Output tokens are some of all tokens."""
    names = (key.replace("output", "total"), key.replace("output_", "total_token_"), key.replace("output_", ""))
    total = next((entries[name] for name in names if name in entries), None)
    if output.number is not None and total is not None and total.number is not None and _exceeds(output, total):
        apart = disagreement(output.number, total.number)[1]
        message = f"{key} is {output.value}, but {total.key} is {total.value}: {apart}"
        report.at("throughput-contradicted", message[:300], output, ERROR)


def _check_order(of: str, stated: Mapping[str, Entry], report: Report) -> None:
    """Percentiles ascend, and the mean lies between the least and the largest; above p99 it can lie, but rarely does."""
    levels = sorted((level, name) for name in stated if (level := _level(name)) is not None)
    for (_, below), (_, above) in zip(levels, levels[1:], strict=False):
        if _exceeds(stated[below], stated[above]):
            message = f"{below} of {of} is {stated[below].value}, but {above} is {stated[above].value}"
            report.at("percentiles-out-of-order", message[:300], stated[above], ERROR)
            return
    mean = next((stated[name] for name in _MEANS if name in stated), None)
    if mean is None or not levels:
        return
    (lowest, least), (highest, largest) = levels[0], levels[-1]
    if lowest == 0 and _exceeds(stated[least], mean):
        report.at("mean-contradicted", f"{mean.key} is {mean.value}, but {least} is {stated[least].value}"[:300], mean, ERROR)
    elif highest >= 99 and _exceeds(mean, stated[largest]):
        severity = ERROR if highest == 100 else WARNING
        report.at("mean-contradicted", f"{mean.key} is {mean.value}, but {largest} is {stated[largest].value}"[:300], mean, severity)


def _level(name: str) -> float | None:
    """The percentile that a statistic is; llm-d writes `p99p9`."""
    return float(name[1:].replace("p", ".")) if re.match(r"p\d", name) else _LEVELS.get(name)


def _exceeds(one: Entry, other: Entry) -> bool:
    """Whether a number is larger than another one beyond rounding."""
    return one.number is not None and other.number is not None and one.number - other.number > _ROUNDING * abs(one.number)
