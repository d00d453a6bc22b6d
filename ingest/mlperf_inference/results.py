"""What a run's two logs state as its result, whether they agree, and whether there is one.

The models choose the figure (`mlperf_inference_result`). What is checked here are the submission checker's rules on scenarios and
on the load generator's errors, and that a log that is VALID states what its result is taken from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from warehouse.landing.readers.text import Entry, number_in
from warehouse.landing.severity import ERROR, NOTE, WARNING, disagreement

Results = Mapping[tuple[str, str], Entry]  # by source and key

# The same quantity in the summary and in the detail log.
_PAIRS = (
    ("Samples per second", "result_samples_per_second"),
    ("Completed samples per second", "result_completed_samples_per_sec"),
    ("Tokens per second", "result_tokens_per_second"),
    ("Completed tokens per second", "result_completed_tokens_per_second"),
    ("Tokens per second (inferred)", "result_inferred_tokens_per_second"),
    ("Completed tokens per second (inferred)", "result_inferred_completed_tokens_per_second"),
)
# Two names of one quantity: a load generator counts tokens or infers them, and calls them completed in a Server run.
_QUANTITIES = {key: pairs[0][side] for pairs in (_PAIRS[:2], _PAIRS[2:]) for pair in pairs for side, key in enumerate(pair)}
_THROUGHPUTS = (
    *(key for pair in _PAIRS for key in pair), "Scheduled samples per second", "result_scheduled_samples_per_sec",
)
_VALIDITY = ("Result is", "result_validity")
# What a result is taken from or depends on. A load generator states each once, or again with the same value.
_DECIDING = {
    "summary": re.compile(
        r"Result is|Scenario|Mode|.* per second(?: \(inferred\))?|.*(?:latency|[Tt]oken) \(ns\)|.*arly stopping .*estimate"
        r"|[Ss]amples[ _]per[ _]query|target_qps|QPS w/o loadgen overhead"
    ),
    "detail": re.compile(r"(?:result|early_stopping|effective)_.*"),
}
_SETTING = re.compile(r"effective_.*|target_.*")
_LATENCY = re.compile(r"(?:result_)?(?P<level>[Mm]in|[Mm]ax|[Mm]ean|[0-9.]+[ _]percentile)[ _]latency(?: \(ns\)|_ns)")
_LEVELS = {"min": 0.0, "max": 100.0}
_NEVER_ZERO = re.compile(rf"{_LATENCY.pattern}|.* per second(?: \(inferred\))?|result_.*_per_sec(?:ond)?|QPS w/o loadgen overhead")
_COUNTS_ERRORS = (5, 0, 21)  # the load generators from this version on end a detail log with num_errors
_Issue = tuple[str, str, str]  # code, message, severity
_TAKEN = "the detail log is taken, as by the submission checker"
_PERCENTILE = re.compile(r"([0-9]+)([.][0-9]*[1-9])?[.]?0*(?:th)? percentile")
# A scenario of an edge system, and those of the runs that the checker lets it be inferred from.
_INFERRED_FROM = {"MultiStream": ("SingleStream",), "Offline": ("SingleStream", "MultiStream")}
_EARLY_STOPPING = ("Early stopping", "Early Stopping", "early_stopping")
_TOKEN_EARLY_STOPPING = ("TTFT Early", "TPOT Early", "early_stopping_ttft", "early_stopping_tpot")
_BEFORE_EARLY_STOPPING = frozenset({"v0.5", "v0.7", "v1.0", "v1.1"})
# Their checker passes over some errors by the text that only the detail log has, and those logs are not JSON.
_ERRORS_BY_TEXT = frozenset({"v0.5", "v0.7"})


class Question(NamedTuple):
    """What a performance run shall give: the scenario of its folder, from a run of the scenario that its log names."""

    scenario: str
    logged: str
    round: str | None
    suite: str | None
    is_automotive: bool = False

    @property
    def is_inferred(self) -> bool:
        return self.logged not in (self.scenario, logged_as(self.scenario))


def logged_as(scenario: str) -> str:
    """The scenario that loadgen writes for one: Interactive is a Server run with other limits."""
    return "Server" if scenario == "Interactive" else scenario


def uniform(key: str) -> str:
    """A key with its percentile in one spelling: loadgens write 90th, 90.0th and 90.00."""
    return _PERCENTILE.sub(r"\1\2 percentile", key)


def is_deciding(source: str, key: str) -> bool:
    """Whether two values of a key in one log are two results."""
    return _DECIDING[source].fullmatch(key) is not None


def quantity(key: str) -> str:
    """What a statement of a result is of: the first of the names that one log may give it."""
    return _QUANTITIES.get(key, key)


def is_same(before: Entry, entry: Entry) -> bool:
    """Whether two statements of one quantity in a log have the same value; under two names, but for rounding."""
    if before.number is None or entry.number is None:
        return before.value == entry.value
    return before.number == entry.number or before.key != entry.key and _is_rounded(before.number, entry.number)


def _is_rounded(one: float, other: float) -> bool:
    """Whether either could be the other's rounding: a summary has two decimals, a detail log six significant digits."""
    return abs(one - other) <= 0.0051 + 5.1e-6 * abs(other)


def is_impossible(entry: Entry) -> bool:
    """Whether a statement of a result is below zero, or a throughput or a latency of zero. Settings may be. Accepted results have logs whose
    least latency is negative: such a statement is no number, and nothing else of its log is wrong."""
    if entry.number is None or _SETTING.fullmatch(entry.key):
        return False
    return entry.number < 0 or entry.number == 0 and _NEVER_ZERO.fullmatch(entry.key) is not None


def impossible_latencies(results: Results) -> Iterator[_Issue]:
    """A warning for each log whose latencies do not ascend from the least over the percentiles to the largest, or whose mean does
    not lie between these: in a log of many samples the load generator's sum overflows, and nothing else of the log is wrong."""
    for of in ("summary", "detail"):
        stated: list[tuple[float, str, float]] = []
        mean: Entry | None = None
        for (source, key), entry in results.items():
            if source != of or entry.number is None or not (match := _LATENCY.fullmatch(key)):
                continue
            level = match["level"].casefold()
            if level == "mean":
                mean = entry
            elif (percentile := _LEVELS.get(level, number_in(re.split("[ _]", level)[0]))) is not None:
                stated.append((percentile, key, entry.number))
        stated.sort()
        disorder = next(((one, other) for one, other in pairwise(stated) if one[2] > other[2]), None)
        if disorder is not None:
            (_, key, latency), (_, other_key, other) = disorder
            message = f"the {of} log says that {key} is {latency:.0f} and {other_key} is {other:.0f}, which cannot be less"
            yield "latencies-contradicted", message, WARNING
        elif mean and mean.number and stated and (stated[0][0], stated[-1][0]) == (0, 100) and not stated[0][2] <= mean.number <= stated[-1][2]:
            message = f"the {of} log says that {mean.key} is {mean.value}, but the least is {stated[0][2]:.0f} and the largest {stated[-1][2]:.0f}"
            yield "mean-contradicted", f"{message}; the mean is not used", WARNING


def contradicted_throughput(results: Results, numbers: Mapping[str, float | None]) -> _Issue | None:
    """A warning of an Offline run whose throughput is not its samples over its largest latency: all of them are issued at once, so the
    last one ends when the run does. The submission checker does not compare them, so the result stays. What was generated is not what ran:
    `result_query_count` is, from v2.0 on."""
    rate, latency = (results.get(("detail", f"result_{key}")) for key in ("samples_per_second", "max_latency_ns"))
    samples, queries = numbers.get("generated_samples_per_query"), numbers.get("result_query_count") or numbers.get("generated_query_count")
    if rate is None or latency is None or not rate.number or not latency.number or not samples or not queries:
        return None
    found = samples * queries / (latency.number / 1e9)
    severity, apart = disagreement(rate.number, found)
    if severity == NOTE:
        return None
    message = f"{rate.key} is {rate.value}, but {samples * queries:.0f} samples in {latency.number / 1e9:.6g} s are {found:.6g} per second: {apart}"
    return "throughput-contradicted", message, WARNING


def lacking(results: Results, numbers: Mapping[str, float | None], version: str | None, is_performance: bool) -> str | None:
    """What a detail log lacks of that with which its load generator ends one; None where nothing proves that it was cut. `numbers`
    as for `judged`."""
    stated = {key for source, key in results if source == "detail"}
    summary = {key for source, key in results if source == "summary"}
    if _VALIDITY[1] not in stated:
        return "its results" if is_performance or _VALIDITY[0] in summary else None
    if _VALIDITY[0] in summary:
        quantities = {quantity(key) for key in stated}
        return next((detail for key, detail in _PAIRS if key in summary and quantity(detail) not in quantities), None)
    if version is not None and "num_errors" not in numbers and _release(version) >= _COUNTS_ERRORS:
        return "num_errors"
    return None


def _release(version: str) -> tuple[int, ...]:
    """The numbers of `5.1.0 @ b9ed3c7fec`."""
    return tuple(int(part) for part in re.findall(r"[0-9]{1,9}", version.partition("@")[0]))


def on_errors(count: int, text: str, round_name: str | None, is_result: bool) -> tuple[str, str]:
    """Message and severity of the errors that a log counts; an error: the checker takes no result from such a log."""
    message = f"the log has {count} {'error' if count == 1 else 'errors'}{text}"
    if not is_result:
        return message, WARNING
    if round_name in _ERRORS_BY_TEXT:
        return f"{message}; the submission checker of {round_name} refuses a result for some errors and not for others", WARNING
    refusal = f"has loadgen errors, number of errors: {count}"
    return f"{message}; the submission checker refuses the result ({refusal!r}), so it has no result", ERROR


def judged(asked_for: Question, results: Results, numbers: Mapping[str, float | None]) -> Iterator[_Issue]:
    """Whether a VALID performance run states what the result of its folder's scenario is taken from. `numbers` are both
    logs', by `uniform` key."""
    validity = results.get(("detail", _VALIDITY[1])) or results.get(("summary", _VALIDITY[0]))
    if validity and validity.value == "VALID" and not_inferable(asked_for) is None:
        keys = _keys_of_result(asked_for, numbers)
        if not any(numbers.get(key) for key in keys):
            message = f"the log is VALID and states no {' or '.join(repr(key) for key in keys[:2])} that can be read"
            yield "no-result", message, ERROR


def not_inferable(asked_for: Question) -> str | None:
    """Why the checker refuses a log of another scenario than its folder's; None where it does not, or they are the same."""
    if not asked_for.is_inferred:
        return None
    if asked_for.logged not in _INFERRED_FROM.get(asked_for.scenario, ()):
        return "the rules do not let one be inferred from the other"
    if "edge" not in (asked_for.suite or "").casefold():
        stated = f"the system_type of this one is {asked_for.suite[:80]!r}" if asked_for.suite else "this one states no system_type"
        return f"only an edge system may infer a result, and {stated}"
    if asked_for.round in _BEFORE_EARLY_STOPPING and asked_for.logged == "MultiStream":
        return f"MultiStream of {asked_for.round} counted streams"
    return None


def _keys_of_result(asked_for: Question, numbers: Mapping[str, float | None]) -> tuple[str, ...]:
    """The statements, by `uniform` key, of which one is enough."""
    if asked_for.is_automotive and asked_for.scenario == "ConstantStream":
        return "99.9 percentile latency (ns)", "result_99.90_percentile_latency_ns"
    if asked_for.is_automotive:
        return "Early stopping 99.9 percentile estimate", "early_stopping_latency_ss", "Early stopping 90 percentile estimate"
    has_estimates = asked_for.round not in _BEFORE_EARLY_STOPPING and any(key.startswith(_EARLY_STOPPING) for key in numbers)
    has_token_estimates = any(key.startswith(_TOKEN_EARLY_STOPPING) for key in numbers)
    if asked_for.scenario == "SingleStream" and has_estimates and not has_token_estimates:
        return "Early stopping 90 percentile estimate", "early_stopping_latency_ss"
    if asked_for.scenario == "SingleStream":
        return "90 percentile latency (ns)", "result_90.00_percentile_latency_ns"
    if asked_for.scenario == "MultiStream" and has_estimates:
        return "Early stopping 99 percentile estimate", "early_stopping_latency_ms"
    if asked_for.scenario == "MultiStream" and asked_for.is_inferred:
        return "99 percentile latency (ns)", "result_99.00_percentile_latency_ns"
    if asked_for.scenario == "MultiStream":
        return "Samples per query", "samples_per_query", "effective_samples_per_query"
    if asked_for.is_inferred:
        return "Mean latency (ns)", "result_mean_latency_ns", "result_mean_query_latency_ns"
    return _THROUGHPUTS


def contradictions(results: Results) -> Iterator[_Issue]:
    """An issue for each statement of the summary that the detail log contradicts; the submission checker reads the detail log."""
    for summary, detail in _PAIRS:
        a, b = results.get(("summary", summary)), results.get(("detail", detail))
        if not a or not b or a.number is None or b.number is None:
            continue
        if not _is_rounded(a.number, b.number):
            severity, apart = disagreement(a.number, b.number)
            message = f"{summary}: the summary says {a.value}, the detail log {b.value}: {apart}; {_TAKEN}"
            yield "logs-disagree", message, severity
    a, b = (results.get(name) for name in (("summary", _VALIDITY[0]), ("detail", _VALIDITY[1])))
    if a and b and a.value != b.value:
        yield "logs-disagree", f"{_VALIDITY[0]}: the summary says {a.value}, the detail log {b.value}; {_TAKEN}", ERROR
