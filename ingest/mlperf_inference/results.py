"""What a run's two logs state as its result, and whether they agree: a contradiction is told, never settled here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Result = tuple[str | None, float | None]  # as written, and the number where it is one

# The same quantity in the summary and in the detail log.
_PAIRS = (
    ("Samples per second", "result_samples_per_second"),
    ("Completed samples per second", "result_completed_samples_per_sec"),
    ("Tokens per second", "result_tokens_per_second"),
    ("Completed tokens per second", "result_completed_tokens_per_second"),
    ("Tokens per second (inferred)", "result_inferred_tokens_per_second"),
    ("Completed tokens per second (inferred)", "result_inferred_completed_tokens_per_second"),
)
_VALIDITY = ("Result is", "result_validity")
RESULT_KEYS = frozenset(
    key for summary, detail in (*_PAIRS, _VALIDITY) for key in (("summary", summary), ("detail", detail))
)


def contradictions(results: Mapping[tuple[str, str], Result], has_detail_log: bool) -> Iterator[tuple[str, str]]:
    """(code, message) for each way in which the logs do not hold together. The summary has two decimals, the detail log
    six significant digits; they agree when either could be the other's rounding."""
    if has_detail_log and ("detail", _VALIDITY[1]) not in results and ("summary", _VALIDITY[0]) in results:
        yield "truncated-log", "the detail log ends before its results"
    for summary, detail in _PAIRS:
        a, b = results.get(("summary", summary)), results.get(("detail", detail))
        if a and b and a[1] is not None and b[1] is not None and abs(a[1] - b[1]) > 0.0051 + 5.1e-6 * abs(b[1]):
            yield "logs-disagree", f"{summary}: the summary says {a[0]}, the detail log {b[0]}"
    a, b = (results.get(name) for name in (("summary", _VALIDITY[0]), ("detail", _VALIDITY[1])))
    if a and b and a[0] != b[0]:
        yield "logs-disagree", f"{_VALIDITY[0]}: the summary says {a[0]}, the detail log {b[0]}"
