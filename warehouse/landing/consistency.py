"""What the statistics of a serving run must obey, whichever tool states them: signs, magnitudes, the order of percentiles, and
output within all tokens. Tools write a statistic before or after what it is of: `p99_ttft_ms`, `time_to_first_token/p99`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
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
_FLOATS = 1e-6  # of the larger value: what orders of adding floats may differ by
_WITH_UNIT = re.compile(
    r"(?:.*[/_])?(?:ttft|tpot|itl|e2el?|time_to_first_token|inter_(?:token|chunk)_latency|time_per_output_token|(?:request|end_to_end|e2e)_latency)"
    r"_(ns|us|usec|ms|msec|s|secs?|seconds|min|minutes|hours)(?:/\w+)?"
)
_STATUSES = frozenset({"successful", "errored", "incomplete", "total"})  # of GuideLLM's requests
_BETWEEN_TOKENS = re.compile(r"inter_(?:token|chunk)_latency|time_per_output_token|(?:^|[/_])(?:itl|tpot)(?=[/_]|$)")
# A rate of output tokens, and of all tokens.
_OUTPUT_RATE = re.compile(
    r"(?:^|[/_])output_(?:token_throughput|tokens_per_sec(?:ond)?|token_rate|throughput_tok_s|throughput_token_per_s)(?=/|$)|^tps$"
)
_TOTAL_RATE = re.compile(r"(?:^|[/_])(?:total_(?:token_throughput|tokens_per_sec|token_rate|throughput_tok_s)|tokens_per_second)(?=/|$)")
_FIRST_TOKEN = re.compile(r"time_to_first_token|ttft")
_WHOLE_REQUEST = ("request_latency", "end_to_end_latency", "e2el", "e2e_latency")


class Statistic(NamedTuple):
    """`p99` of `ttft_ms`."""

    of: str
    name: str


@lru_cache(4096)  # files of one tool have the same keys
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
        if _FIRST_TOKEN.search(of):
            _check_first_token(of, stated, {name: groups.get(name, {}) for name in _of_whole_request(of, entries)}, report)


def check_units(entries: Mapping[str, Entry], units: Collection[str], report: Report) -> None:
    """Report latencies whose keys end in another unit than those that their producer writes: no column holds them."""
    seen = set()
    for key, entry in entries.items():
        statistic = statistic_of(key) if entry.number is not None else None
        named = _WITH_UNIT.fullmatch(statistic.of) if statistic else None
        if statistic and named and named[1] not in units and statistic.of not in seen:
            seen.add(statistic.of)
            report.at("unknown-metric", f"{key[:120]}: a latency in a unit that its producer does not write; no column holds it", entry)


def without_contradicted_zeros(stated: Iterable[Entry], report: Report) -> list[Entry]:
    """The entries, without the numbers of output rates that are 0 although times between tokens are stated, and of the rates of all tokens
    that are computed of them. Both are reported: a server that streams tokens which its client does not count (vllm 14673)."""
    entries = list(stated)
    witnesses = {
        _status(entry.key): entry for entry in entries
        if entry.number is not None and entry.number > 0 and _BETWEEN_TOKENS.search(entry.key) and _is_mean(entry.key)
    }
    refuted = {}
    for entry in entries:
        if entry.number == 0 and _OUTPUT_RATE.search(entry.key) and _is_mean(entry.key) and (witness := witnesses.get(_status(entry.key))):
            refuted[_status(entry.key)] = entry
            message = f"{entry.key} is {entry.value}, but {witness.key} is {witness.value}; it is not taken"
            report.at("zero-contradicted", message[:300], entry, ERROR)
    return [
        entry._replace(number=None)
        if _status(entry.key) in refuted and (_TOTAL_RATE.search(entry.key) or (entry.number == 0 and _OUTPUT_RATE.search(entry.key))) else entry
        for entry in entries
    ]


def _status(key: str) -> str | None:
    """Of which requests a statistic is, where a tool has several of each."""
    return next((part for part in key.split("/") if part in _STATUSES), None)


def _is_mean(key: str) -> bool:
    """Whether a key states a mean, or a rate of all."""
    statistic = statistic_of(key)
    return statistic is None or statistic.name in _MEANS


def check_rate(entries: Mapping[str, Entry], rate: str, counted: Sequence[str], duration: str, report: Report) -> None:
    """Report a rate that is not the sum of what is `counted` over the duration, in seconds, beyond the rounding of both. All of them stand."""
    parts, took = [entries.get(key) for key in counted], entries.get(duration)
    numbers = [part.number for part in parts if part is not None and part.number is not None]
    if rate not in entries or took is None or not took.number or len(numbers) < len(parts):
        return
    computed = sum(numbers) / took.number
    tolerance = computed * min(1.0, rounding(took.value or "") / took.number)
    check_agrees(entries[rate], computed, f"{' + '.join(counted)} over {duration}", report, tolerance)


def check_sum(entries: Mapping[str, Entry], total: str, parts: Sequence[str], report: Report) -> None:
    """Report a total that is not the sum of its parts, where all are stated."""
    found = [entries[part] for part in parts if part in entries and entries[part].number is not None]
    if total in entries and len(found) == len(parts):
        tolerance = sum(rounding(part.value or "") for part in found)
        check_agrees(entries[total], sum(part.number or 0 for part in found), " + ".join(parts), report, tolerance)


def check_agrees(entry: Entry, computed: float, of: str, report: Report, tolerance: float = 0.0) -> None:
    """Report a number that is not what other numbers of the same document give, beyond the rounding that it was written with."""
    if entry.number is None or abs(entry.number - computed) <= rounding(entry.value or "") + tolerance + _FLOATS * abs(computed):
        return
    severity, apart = disagreement(entry.number, computed)
    report.at("rate-disagrees", f"{entry.key} is {entry.value}, but {of} is {computed:.6g}: {apart}"[:300], entry, severity)


def rounding(written: str) -> float:
    """Half a unit of the last digit written."""
    decimals = re.search(r"\.(\d+)$", written)
    return 0.5 * 10.0 ** -len(decimals[1]) if decimals else 0.5 if re.fullmatch(r"-?\d+", written) else 0.0


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


def _check_first_token(of: str, stated: Mapping[str, Entry], groups: Mapping[str, Mapping[str, Entry]], report: Report) -> None:
    """A request ends after its first token: so do the least, the mean, the largest and each percentile of requests."""
    for whole in groups.values():
        for statistic in sorted(stated.keys() & whole.keys() - {"std", "stddev", "std_dev"}):
            # 0: nothing was measured.
            if whole[statistic].number and _exceeds(stated[statistic], whole[statistic]):
                first, last = stated[statistic], whole[statistic]
                message = f"{first.key} is {first.value}, but {last.key} is {last.value}: a request ends after its first token"
                report.at("latency-contradicted", message[:300], first, ERROR)
                return


def _of_whole_request(of: str, entries: Mapping[str, Entry]) -> list[str]:
    """The names of end-to-end latencies in the unit of a time to the first token."""
    names = [_FIRST_TOKEN.sub(name, of) for name in _WHOLE_REQUEST]
    return [name for name in names if _unit(name, entries) == _unit(of, entries)]


def _unit(of: str, entries: Mapping[str, Entry]) -> str | None:
    """The unit that is beside a statistic; None where it is in the key."""
    return next((entries[key].value for key in (f"{of}/unit", f"{of}/units") if key in entries), None)


def _level(name: str) -> float | None:
    """The percentile that a statistic is; llm-d writes `p99p9`."""
    return float(name[1:].replace("p", ".")) if re.match(r"p\d", name) else _LEVELS.get(name)


def _exceeds(one: Entry, other: Entry) -> bool:
    """Whether a number is larger than another one beyond rounding."""
    return one.number is not None and other.number is not None and one.number - other.number > _ROUNDING * abs(one.number)
