"""Logs that MLPerf Inference's submission checker takes no result from: of two runs, with the load generator's errors, of accuracy
mode; and the scenarios that an edge system owes and that nothing can be inferred for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from samples import mlperf_inference as sample
from test_mlperf_inference_scenarios import OFFLINE, SINGLE, Row, own, published, severities, submit, too_few

from warehouse.project.project import find_project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

RESULTS = {"samples_per_s": 700.25, "tokens_per_s": 9000.25}
OTHER_RESULTS = {"samples_per_s": 650.5, "tokens_per_s": 8000.25}
SUMMARY = sample.summary_log("Offline", RESULTS)
DETAIL = sample.detail_log("Offline", RESULTS)
OTHER = sample.summary_log("Offline", {"samples_per_s": 650.5})
ERROR = sample.detail_line("error_invalid_config", "Multiple conf files are used. This is not valid for official submission.")
BAD_ESCAPE = ERROR.replace("Multiple conf files are used. This is not valid for official submission.", r"can't open D:\mlperf.conf")
COUNT = '"key": "num_errors", "value": 0'
WARNING = sample.detail_line("warning_generic_message", "Logging allocation detected")


def line_of(text: str, start: str, skip: int = 0) -> int:
    """The number of the line that begins so; of the one after `skip` others."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.startswith(start)][skip]


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def flagged(line: str, name: str) -> str:
    return changed(line, f'"{name}": false', f'"{name}": true')


TWICE = changed(OFFLINE, "Samples per second: 700.25\n", "Samples per second: 700.25\nSamples per second: 701.25\n")
VERDICTS = changed(OFFLINE, "Result is : VALID\n", "Result is : VALID\nResult is : INVALID\n")
ESTIMATE = " * Early stopping 90.0th percentile estimate: 13349740\n"
ESTIMATED = changed(SINGLE, ESTIMATE, ESTIMATE + ESTIMATE.replace("740", "741"))
TWO_DETAILS = DETAIL + sample.detail_log("Offline", OTHER_RESULTS)
SAMPLES = ':::MLLOG {"key": "result_samples_per_second"'
REPEATED_DETAIL = DETAIL + "".join(line + "\n" for line in DETAIL.splitlines() if "result_" in line)
FAILED = changed(OFFLINE, "No errors encountered during test.", "2 ERRORS encountered. See detailed log.")
WARNED = changed(OFFLINE, "No warnings encountered during test.", "2 warnings encountered. See detailed log.")
ACCURACY = changed(OFFLINE, "PerformanceOnly", "AccuracyOnly")
INFERRED = changed(OFFLINE, "Samples per second: 700.25\n", "Samples per second: 700.25\nTokens per second (inferred): 9966.79\n")
CUT = INFERRED[: INFERRED.index("6.79")]  # 996
COUNTED = changed(INFERRED, "9966.79\n", "9966.79\nCompleted tokens per second: 9000.25\n")
TOKENS = ':::MLLOG {"key": "result_tokens_per_second"'
NO_TOKENS = DETAIL[: DETAIL.index(TOKENS)]
NO_COUNT = DETAIL[: DETAIL.index(':::MLLOG {"key": "num_errors"')]
WITHOUT_NEWLINE = SUMMARY.rstrip("\n"), DETAIL.rstrip("\n")
NEGATIVE = changed(OFFLINE, "second: 700.25", "second: -700.25")
ZERO = changed(OFFLINE, "second: 700.25", "second: 0")
# 1,000 samples in 10 s are 100 a second.
OFFLINE_DETAIL = sample.detail_log("Offline", {"samples_per_s": 100.0, "tokens_per_s": 1000.0})
TIMED = [sample.detail_line(key, value) for key, value in (
    ("generated_query_count", 1), ("generated_samples_per_query", 1000), ("result_max_latency_ns", 10_000_000_000),
)]


def timed(seconds: float, **stated: float) -> tuple[str, str]:
    """The logs of an Offline run of 1,000 samples that lasted so long, at 100 samples per second as it says."""
    lines = "".join(TIMED).replace("10000000000", f"{round(seconds * 1e9)}")
    lines += "".join(sample.detail_line(key, value) for key, value in stated.items())
    return own(sample.summary_log("Offline", {"samples_per_s": 100.0})), lines + OFFLINE_DETAIL


OLD_DETAIL = '"pid": 4242, "tid": 4242, "ts": 5112ns : loadgen version : .5a1\n'

# Platform: round, scenario, logs; the error's code, file, line, and what its message says; the validity of the row.
Case = tuple[str, str, tuple[str, ...], tuple[str, str, int | None, str], str | None]
REFUSED: dict[str, Case] = {
    "two-runs": (
        "v5.1", "Offline", (OFFLINE + OTHER,),
        ("conflicting-results", "summary", line_of(OFFLINE + OTHER, "Samples per second", 1), "700.25 on line 7 and 650.50 here"), None,
    ),
    "two-runs-detail": (
        "v5.1", "Offline", (own(SUMMARY), TWO_DETAILS),
        ("conflicting-results", "detail", line_of(TWO_DETAILS, SAMPLES, 1), "700.25 on line"), None,
    ),
    "stated-twice": ("v5.1", "Offline", (TWICE,), ("conflicting-results", "summary", line_of(TWICE, "Samples", 1), "701.25"), None),
    "two-verdicts": (
        "v5.1", "Offline", (VERDICTS,), ("conflicting-results", "summary", line_of(VERDICTS, "Result is", 1), "INVALID"), None,
    ),
    "two-estimates": (
        "v5.1", "SingleStream", (ESTIMATED,), ("conflicting-results", "summary", line_of(ESTIMATED, " * Early", 1), "13349741"), None,
    ),
    "errors": (
        "v5.1", "Offline", (FAILED,),
        ("loadgen-errors", "summary", line_of(FAILED, "2 ERRORS"), "has loadgen errors, number of errors: 2"), "INVALID",
    ),
    "errors-v1.0": ("v1.0", "Offline", (FAILED,), ("loadgen-errors", "summary", line_of(FAILED, "2 ERRORS"), "2 errors"), "INVALID"),
    "error-in-detail": (
        "v5.1", "Offline", (own(SUMMARY), flagged(ERROR, "is_error") + DETAIL),
        ("loadgen-errors", "detail", 1, "Multiple conf files are used"), "INVALID",
    ),
    "error-with-a-bad-escape": (
        "v5.1", "Offline", (own(SUMMARY), flagged(BAD_ESCAPE, "is_error") + DETAIL), ("loadgen-errors", "detail", 1, r"can't open D:\\mlperf.conf"), "INVALID",
    ),
    "errors-that-are-only-counted": (
        "v5.1", "Offline", (own(SUMMARY), changed(DETAIL, COUNT, COUNT.replace(": 0", ": 3"))),
        ("loadgen-errors", "detail", line_of(DETAIL, ':::MLLOG {"key": "num_errors"'), "number of errors: 3"), "INVALID",
    ),
    "accuracy-mode": ("v5.1", "Offline", (ACCURACY,), ("mode-mismatch", "summary", None, "no performance in that mode"), "VALID"),
    "accuracy-mode-detail": (
        "v5.1", "Offline", (own(SUMMARY), changed(DETAIL, "PerformanceOnly", "AccuracyOnly")),
        ("mode-mismatch", "summary", None, "'AccuracyOnly'"), "VALID",
    ),
    "cut-in-a-number": ("v4.1", "Offline", (CUT,), ("truncated-log", "summary", None, "before its count of errors"), None),
    "cut-in-a-line": (
        "v5.1", "Offline", (own(SUMMARY), DETAIL[: DETAIL.index(TOKENS) + len(TOKENS) + 15] + "\n"),
        ("truncated-log-line|truncated-log", "detail", line_of(DETAIL, TOKENS), "result_tokens_per_second"), None,
    ),
    "cut-before-a-line": (
        "v5.1", "Offline", (own(SUMMARY), NO_TOKENS), ("truncated-log", "detail", None, "before result_tokens_per_second"), None,
    ),
    "cut-before-results": (
        "v5.1", "Offline", (own(SUMMARY), NO_TOKENS[: NO_TOKENS.index(':::MLLOG {"key": "result_validity"')]),
        ("truncated-log", "detail", None, "before its results"), None,
    ),
    "cut-to-nothing": ("v5.1", "Offline", (own(SUMMARY), ""), ("empty-log", "detail", None, "no bytes"), None),
    "two-throughputs": (
        "v5.1", "Offline", (COUNTED,),
        ("conflicting-results", "summary", line_of(COUNTED, "Completed tokens"), "Completed tokens per second 9000.25 here"), None,
    ),
    "two-throughputs-detail": (
        "v5.1", "Offline", (own(SUMMARY), DETAIL + sample.detail_line("result_inferred_tokens_per_second", 9001)),
        ("conflicting-results", "detail", DETAIL.count("\n") + 1, "result_inferred_tokens_per_second 9001 here"), None,
    ),
    "negative": ("v5.1", "Offline", (NEGATIVE,), ("no-result", "summary", None, "states no 'Samples per second'"), "VALID"),
    "negative-latency": (
        "v5.1", "SingleStream", (changed(SINGLE, ESTIMATE, ESTIMATE.replace(": ", ": -")),),
        ("no-result", "summary", None, "Early stopping 90 percentile estimate"), "VALID",
    ),
    "no-throughput": ("v5.1", "Offline", (ZERO,), ("no-result", "summary", None, "that can be read"), "VALID"),
}
# Platform: round, logs of an Offline run, result, severities of the issues by code.
TAKEN: dict[str, tuple[str, tuple[str, ...], float, dict[str, str]]] = {
    "same-run-twice": ("v5.1", (OFFLINE + OFFLINE,), 700.25, {}),
    "same-lines-in-detail": ("v5.1", (own(SUMMARY), REPEATED_DETAIL), 9000.25, {}),
    "without-newlines": ("v5.1", (own(WITHOUT_NEWLINE[0]), WITHOUT_NEWLINE[1]), 9000.25, {}),
    "older-load-generator": ("v5.1", (own(SUMMARY), NO_COUNT), 9000.25, {}),
    "one-throughput-by-two-names": ("v5.1", (changed(COUNTED, "9000.25", "9966.8"),), 9966.8, {}),
    "detail-log-that-is-not-json": ("v0.7", (OFFLINE, OLD_DETAIL), 700.25, {"unrecognised-line": "warning"}),
    "as-fast-as-its-latency": ("v5.1", timed(10.1), 1000.0, {}),
    "a-fifth-too-fast": ("v5.1", timed(12.5), 1000.0, {"throughput-contradicted": "warning"}),
    # What the checker does not compare takes no result away: 26 accepted results of v4.1 issued a query a sample.
    "ten-times-too-fast": ("v5.1", timed(100), 1000.0, {"throughput-contradicted": "warning"}),
    "a-query-a-sample": ("v4.1", timed(10, generated_query_count=1000, result_query_count=1), 1000.0, {}),
    "mean-that-overflowed": ("v5.1", timed(10, result_min_latency_ns=5, result_mean_latency_ns=4), 1000.0, {"mean-contradicted": "warning"}),
    "least-latency-below-zero": ("v3.0", timed(10, result_min_latency_ns=-5), 1000.0, {"impossible-value": "warning"}),
    "percentiles-out-of-order": (
        "v5.1", timed(10, **{"result_50.00_percentile_latency_ns": 9_000_000, "result_90.00_percentile_latency_ns": 8_000_000}), 1000.0,
        {"latencies-contradicted": "warning"},
    ),
    "cut-summary-beside-detail": ("v5.1", (own(SUMMARY)[:200], DETAIL), 9000.25, {"truncated-log": "error", "unrecognised-line": "warning"}),
    "two-runs-in-the-summary-beside-detail": ("v5.1", (own(SUMMARY + OTHER), DETAIL), 9000.25, {"conflicting-results": "error"}),
    "errors-that-only-the-summary-counts": ("v5.1", (own(changed(SUMMARY, "No errors", "2 ERRORS").replace("encountered during test.", "encountered. See detailed log.")), DETAIL), 9000.25, {"loadgen-errors": "warning"}),
    "note-behind-the-end": ("v5.1", (OFFLINE + "Operator : night shift\n",), 700.25, {}),
    "warnings": ("v5.1", (WARNED,), 700.25, {}),
    "warning-in-detail": ("v5.1", (own(SUMMARY), flagged(WARNING, "is_warning") * 2 + DETAIL), 9000.25, {}),
    # Their checker ignores some errors by a text that a summary does not have.
    "errors-v0.7": ("v0.7", (FAILED,), 700.25, {"loadgen-errors": "warning"}),
    # Accuracy mode and then performance mode.
    "submission-mode": ("v5.1", (changed(OFFLINE, "PerformanceOnly", "SubmissionRun"),), 700.25, {"mode-mismatch": "warning"}),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("refusals")
    for platform, (round_name, scenario, logs, _, _) in REFUSED.items():
        submit(root / "evidence", platform, round_name, "edge", scenario, logs)
    for platform, (round_name, logs, _, _) in TAKEN.items():
        submit(root / "evidence", platform, round_name, "edge", "Offline", logs)
    # Of one execution, whose detail log is filed under only one of the names.
    submit(root / "evidence", "borrower", "v5.1", "edge", "Offline", (own(SUMMARY).replace("OwnSUT", "BorrowedSUT"),))
    submit(root / "evidence", "lender", "v5.1", "edge", "Offline", (own(SUMMARY).replace("OwnSUT", "BorrowedSUT"), TWO_DETAILS))
    for platform, suite, log in (
        ("owes", "edge", too_few(SINGLE)), ("owes-nothing", "datacenter", own(too_few(SINGLE))), ("ran-enough", "edge", SINGLE),
    ):
        submit(root / "evidence", platform, "v5.1", suite, "SingleStream", (log,))
    return root


@pytest.fixture(scope="module")
def rows(home: Path) -> dict[str, Row]:
    return published(home / "evidence", home / "project")


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_log_gives_no_result_and_an_error_at_its_place(case: str, rows: dict[str, Row]) -> None:
    *_, (code, name, line_number, said), validity = REFUSED[case]
    row = rows[case]
    assert (row["performance_result"], row["performance_unit"], row["is_inferred"]) == (None, None, False)
    assert row["validity"] == validity
    found = [issue for issue in row["issues"] if issue["severity"] == "error"]
    assert {issue["code"] for issue in found} == set(code.split("|"))
    (issue,) = [issue for issue in found if issue["code"] == code.partition("|")[0]]
    assert (issue["name"], issue["line_number"]) == (f"mlperf_log_{name}.txt", line_number)
    assert said in issue["message"]


@pytest.mark.parametrize("case", TAKEN)
def test_what_the_checker_takes_is_a_result(case: str, rows: dict[str, Row]) -> None:
    _, _, performance, expected = TAKEN[case]
    assert (rows[case]["performance_result"], rows[case]["validity"]) == (performance, "VALID")
    assert severities(rows[case]) == expected


def test_a_mean_that_overflowed_is_no_latency(home: Path, rows: dict[str, Row]) -> None:
    sql = "select e2e_mean_ms from serving_outcome_fact where run_id like '%/mean-that-overflowed/%'"
    with run_query(current_build(find_project(home / "project")).path, sql) as result:
        assert result.fetchall() == [(7752.921835,)]  # the summary's, which states no least and no largest


def test_a_run_whose_detail_log_lies_with_another_is_refused_with_it(rows: dict[str, Row]) -> None:
    assert [rows[name]["performance_result"] for name in ("lender", "borrower")] == [None, None]
    assert rows["borrower"]["validity"] is None
    (issue,) = rows["borrower"]["issues"]
    lender = "mlperf-inference/v5.1/closed/Acme/lender/resnet50/Offline/performance/run_1"
    assert issue["message"] == f"no result is taken from the detail log of the same execution: see conflicting-results of {lender}"


def test_an_owed_scenario_that_cannot_be_inferred_is_a_row_and_an_error(home: Path, rows: dict[str, Row]) -> None:
    sql = """
        select platform, scenario, performance_result is not null, is_inferred, message
        from mlperf_inference_results
        left join ingest_issue on ingest_issue.run_id = mlperf_inference_results.run_id and code = 'no-result' and severity = 'error'
        where platform in ('owes', 'owes-nothing', 'ran-enough')
        order by all
    """
    with run_query(current_build(find_project(home / "project")).path, sql) as result:
        found: list[tuple[Any, ...]] = result.fetchall()
    owed = "the log is VALID, and no result of MultiStream can be taken from it by the rules of the round"
    assert found == [
        ("owes", "MultiStream", False, False, owed), ("owes", "Offline", True, True, owed), ("owes", "SingleStream", True, False, owed),
        ("owes-nothing", "SingleStream", True, False, None),
        ("ran-enough", "MultiStream", True, True, None), ("ran-enough", "Offline", True, True, None),
        ("ran-enough", "SingleStream", True, False, None),
    ]
