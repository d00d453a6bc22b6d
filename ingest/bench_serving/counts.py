"""Counts that a record states twice, and zeros that it contradicts. Where two statements cannot both be true, neither is a number, and
nothing that the client computes of them is one.

A figure is taken away only where the record refutes it: a tokenizer counts a text's tokens again a few per cent off, and counts too few where
the text lacks special tokens or reasoning. More than twice as many as were counted it never finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pyarrow.compute as pc

from warehouse.landing.readers.text import Entry, Report
from warehouse.landing.severity import ERROR, WARNING, disagreement

from .requests import Detail

_COMPLETED, _INPUT, _OUTPUT, _RETOKENIZED = "completed", "total_input_tokens", "total_output_tokens", "total_output_tokens_retokenized"
_OF_ALL_TOKENS = ("total_token_throughput", "total_throughput")
# What the clients compute of each count.
_COMPUTED: Mapping[str, re.Pattern[str]] = {
    _COMPLETED: re.compile(r"request_(?:in)?throughput"),
    _INPUT: re.compile("|".join(("input_throughput", *_OF_ALL_TOKENS))),
    _OUTPUT: re.compile("|".join(("output_throughput", *_OF_ALL_TOKENS, r"(?:mean|median|std|p[0-9.]+)_tpot(?:_[a-z]+)?"))),
}
_RATES = {_COMPLETED: "request_throughput", _INPUT: "input_throughput", _OUTPUT: "output_throughput"}
_BETWEEN_TOKENS = re.compile(r"(?:mean|median)_(?:itl|tpot)(?:_[a-z]+)?")
_LATENCY = re.compile(r"mean_(?:ttft|itl|tpot|e2el|e2e_latency)(?:_[a-z]+)?")
_ASKED = ("random_input_len", "input_len")


class _Wrong(NamedTuple):
    """A count or rate that cannot be, why, and what is not a number therefore."""

    entry: Entry
    message: str
    code: str
    of: str  # the count that it is, or that it is computed of
    is_rate_alone: bool = False


def without_contradictions(stated: Sequence[Entry], detail: Detail | None, report: Report) -> list[Entry]:
    """The entries, without the numbers of counts that contradict each other, of zeros that other entries contradict, and of what the client
    computes of them; each is reported with both statements."""
    by_key = {entry.key: entry for entry in stated}
    lost: set[str] = set()
    for wrong in (*_stated_twice(by_key, detail, report), *_zeros(by_key)):
        if wrong.entry.key in lost:
            continue
        computed = [] if wrong.is_rate_alone else [key for key in by_key if _COMPUTED[wrong.of].fullmatch(key)]
        report.at(wrong.code, f"{wrong.message}; it is not taken"[:300], wrong.entry, ERROR)
        lost |= {wrong.entry.key, *computed}
    return [entry._replace(number=None) if entry.key in lost else entry for entry in stated]


def _stated_twice(by_key: Mapping[str, Entry], detail: Detail | None, report: Report) -> Iterator[_Wrong]:
    counted, again = _number(by_key, _OUTPUT), _number(by_key, _RETOKENIZED)
    if counted is not None and again is not None:
        severity, apart = disagreement(counted, again)
        message = f"{_OUTPUT} is {by_key[_OUTPUT].value}, but {_RETOKENIZED} is {by_key[_RETOKENIZED].value}: {apart}"
        if severity == ERROR and again > counted:
            yield _Wrong(by_key[_OUTPUT], message, "count-stated-twice", _OUTPUT)
        elif severity == ERROR:
            report.at("count-stated-twice", f"{message}; the text may lack special tokens or reasoning"[:300], by_key[_RETOKENIZED], WARNING)
    for key, column in ((_INPUT, "input_token_count"), (_OUTPUT, "output_token_count")):
        counted = _number(by_key, key)
        if detail and counted is not None and detail.columns[column].null_count < detail.requests:
            of_requests = pc.sum(detail.of_succeeded(column)).as_py() or 0
            severity, apart = disagreement(counted, of_requests)
            if severity == ERROR:
                message = f"{key} is {by_key[key].value}, but its requests have {of_requests}: {apart}"
                yield _Wrong(by_key[key], message, "count-stated-twice", key)


def _zeros(by_key: Mapping[str, Entry]) -> Iterator[_Wrong]:
    """Zeros that the record itself shows to be none."""
    completed = _number(by_key, _COMPLETED)
    if completed == 0 and not _number(by_key, "failed"):
        if witness := _positive(by_key, _LATENCY):
            yield _zero(by_key[_COMPLETED], witness, _COMPLETED)
    elif completed:
        if (counted := by_key.get(_OUTPUT)) and counted.number == 0 and (witness := _positive(by_key, _BETWEEN_TOKENS)):
            yield _zero(counted, witness, _OUTPUT)
        if (counted := by_key.get(_INPUT)) and counted.number == 0 and (witness := _positive(by_key, re.compile("|".join(_ASKED)))):
            yield _zero(counted, witness, _INPUT)
    for count, rate in _RATES.items():
        mine, its = by_key.get(count), by_key.get(rate)
        if mine is None or its is None or mine.number is None or its.number is None:
            continue
        if its.number == 0 < mine.number:
            yield _zero(its, mine, count)._replace(is_rate_alone=True)
        elif mine.number == 0 < its.number:
            yield _zero(mine, its, count)


def _zero(entry: Entry, witness: Entry, count: str) -> _Wrong:
    return _Wrong(entry, f"{entry.key} is {entry.value}, but {witness.key} is {witness.value}", "zero-contradicted", count)


def _positive(by_key: Mapping[str, Entry], keys: re.Pattern[str]) -> Entry | None:
    return next((entry for key, entry in by_key.items() if entry.number is not None and entry.number > 0 and keys.fullmatch(key)), None)


def _number(by_key: Mapping[str, Entry], key: str) -> float | None:
    return by_key[key].number if key in by_key else None
