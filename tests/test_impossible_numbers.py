"""Numbers that none can be - requests below zero or in parts, moments beyond all calendars: told with their place, NULL in the
facts, and no reason to build nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from exhaustive import few
from landed import Subject, place
from samples import bench_serving, fabric_check, genai_perf, guidellm, inference_perf, llm_d_report, llmperf
from samples.families import FAMILIES
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.contract import ISSUE_TABLE
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.readers.statistics import mean, standard_deviation
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

_NUMBER = re.compile(rb"(?<![\w.+:/\"-])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.:/\"-])")
_ABSURD = (
    b"-1", b"0.5", b"-7.25", b"1e300", b"-1e300", b"9223372036854775807", b"9223372036854775808", b"9007199254740993",
    b"99999999999999999999999", b"-0.0", b"0",
)
Write = Callable[[Path], object]
_COUNTS: dict[str, tuple[str, Write, str]] = {
    "vLLM": ("bench_serving", bench_serving.write_results, r'("completed": )\d+'),
    "LLMPerf": ("llmperf", llmperf.write, r'("results_num_completed_requests": )\d+'),
    "inference-perf": ("inference_perf", inference_perf.write, r'("failures": \{\s*"count": )\d+'),
    "GuideLLM": ("guidellm", guidellm.write, r'("errored": )\d+'),
    "AIPerf": ("genai_perf", genai_perf.write_aiperf, r'("request_count": \{\s*"unit": "requests",\s*"avg": )\d+'),
    "llm-d": ("llm_d_report", lambda top: llm_d_report.write(top, llm_d_report.new(), "json"), r'("failures": )\d+'),
    "nccl-tests": ("fabric_check", fabric_check.write_logs, r"(# Out of bounds values : )\d+"),
}


def _change(folder: Path, pattern: str, instead: str) -> None:
    """Put `instead` in the place of the first number that a file of the folder has there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and re.search(pattern, text := path.read_text(errors="replace")):
            path.write_text(re.sub(pattern, rf"\g<1>{instead}", text, count=1))
            return
    raise AssertionError(f"no sample has {pattern}")


@pytest.mark.parametrize("instead", ["-3", "2.875", "1e300"])
@pytest.mark.parametrize("tool", _COUNTS)
def test_what_cannot_be_counted_is_told_and_kept_as_written(tmp_path: Path, tool: str, instead: str) -> None:
    family, write, pattern = _COUNTS[tool]
    write(tmp_path / "results")
    _change(tmp_path / "results", pattern, instead)
    subject = Subject(family)
    issues, entries = [], []
    for number, draft in enumerate(subject.drafts(tmp_path / "results")):
        folder = tmp_path / str(number)
        rows = subject.parsed(subject.stored(draft, folder))
        issues += [(row["severity"], place(row, folder)) for row in rows[ISSUE_TABLE] if row["code"] == "impossible-count"]
        some = (row for table in rows if table.endswith("_entry") for row in rows[table])
        entries += [row["value_number"] for row in some if row["value"] == instead]
    [(severity, text)] = issues
    assert severity == "error" and instead.encode() in text
    assert entries == [None]


@pytest.mark.parametrize(
    ("family", "write", "pattern"),
    [
        ("llmperf", llmperf.write, r'("timestamp": )\d+'),
        ("guidellm", guidellm.write, r'("start_time": )[\d.]+'),
        ("llm_d_report", lambda top: llm_d_report.write(top, llm_d_report.old(), "json"), r'("start": )[\d.]+'),
    ],
)
def test_a_moment_beyond_all_calendars_is_told(tmp_path: Path, family: str, write: Write, pattern: str) -> None:
    write(tmp_path / "results")
    _change(tmp_path / "results", pattern, "1e18")
    subject = Subject(family)
    rows = subject.rows(tmp_path / "results", tmp_path / "stored")
    [issue] = [row for row in rows[ISSUE_TABLE] if row["code"] == "impossible-time"]
    assert b"1e18" in place(issue, tmp_path / "stored")


def test_more_failed_requests_than_requests_leave_the_completed_ones_unknown(tmp_path: Path) -> None:
    llm_d_report.write(tmp_path / "results", llm_d_report.new(), "json")
    _change(tmp_path / "results", r'("failures": )\d+', "900")
    facts = _facts(tmp_path, "results")
    assert facts.sql("select completed_count, failed_count, error_rate from main.serving_outcome_fact").fetchall() == [(None, 900, None)]
    [(message,)] = facts.sql("select message from main.ingest_issue where code = 'impossible-count'").fetchall()
    assert message == "failures is 900, but total is 500"


def _write_asked_for(folder: Path) -> None:
    """AIPerf's summary of seven requests, which were asked for; that number is in no fact."""
    summary = genai_perf.aiperf_summary(genai_perf.measured(7))
    summary["input_config"]["loadgen"]["request_count"] = 7
    bench_serving.write(folder / "profile_export_aiperf.json", summary)


_TOTALS: dict[str, tuple[str, Write, str, str]] = {
    "vLLM": ("bench_serving", bench_serving.write_results, r'("num_prompts": )\d+', "error"),
    "speech": ("bench_serving", lambda top: bench_serving.write(top / "a.json", bench_serving.stt_record()), r'("total": )\d+', "error"),
    "InferenceX": (
        "bench_serving", lambda top: bench_serving.write(top / "a.json", bench_serving.inferencex_agentic_record()),
        r'("num_requests_total": )\d+', "error",
    ),
    "LLMPerf": ("llmperf", llmperf.write, r'("results_num_requests_started": )\d+', "error"),
    "inference-perf": ("inference_perf", inference_perf.write, r'("load_summary": \{\s*"count": )\d+', "error"),
    "GuideLLM": ("guidellm", guidellm.write, r'("incomplete": 1,\s*"total": )\d+', "error"),
    "GuideLLM 0.2": ("guidellm", lambda top: guidellm.write(top, 0), r'("incomplete": 1,\s*"total": )\d+', "error"),
    "AIPerf": ("genai_perf", _write_asked_for, r'("loadgen": \{[^}]*"request_count": )\d+', "warning"),
    "llm-d 0.1": ("llm_d_report", lambda top: llm_d_report.write(top, llm_d_report.old(), "json"), r'("total": )\d+', "error"),
}


@pytest.mark.parametrize("tool", _TOTALS)
def test_requests_that_are_more_than_all_are_reported(tmp_path: Path, tool: str) -> None:
    """Clients count a request as completed or as failed, never as both."""
    family, write, pattern, severity = _TOTALS[tool]
    write(tmp_path / "results")
    assert not _issues(tmp_path, family, "impossible-count")
    _change(tmp_path / "results", pattern, "1")
    [(found, text)] = _issues(tmp_path, family, "impossible-count")
    assert found == severity and text.endswith(b": 1")


_STATISTICS: dict[str, tuple[str, Write, str]] = {
    "vLLM": ("bench_serving", bench_serving.write_results, r'("mean_ttft_ms": )[\d.]+'),
    "LLMPerf": ("llmperf", llmperf.write, r'("results_ttft_s_mean": )[\d.]+'),
    "inference-perf": ("inference_perf", inference_perf.write, r'("time_to_first_token": \{\s*"mean": )[\d.]+'),
    "inference-perf YAML": ("inference_perf", inference_perf.write_all, r"(count: )2(?=\nfailures)"),
    "GuideLLM": ("guidellm", guidellm.write, r'("time_to_first_token_ms": \{\s*"successful": \{\s*"mean": )[\d.]+'),
    "AIPerf": ("genai_perf", genai_perf.write_aiperf, r'("request_latency": \{\s*"unit": "ms",\s*"avg": )[\d.]+'),
    "llm-d": ("llm_d_report", lambda top: llm_d_report.write(top, llm_d_report.new(), "json"), r'("mean": )0\.25'),
    "llm-d 0.1": ("llm_d_report", lambda top: llm_d_report.write(top, llm_d_report.old(), "json"), r'("requests_per_sec": )[\d.]+'),
}


@pytest.mark.parametrize(
    ("instead", "code"),
    [
        ("NaN", "non-finite-number"), ("-Infinity", "non-finite-number"), ('"NaN"', "non-finite-number"), ("1e999", "non-finite-number"),
        ('"soon"', "not-a-number"), ("[1]", "not-a-number"), ("true", "not-a-number"), ("null", None), ('"N/A"', None),
    ],
)
@pytest.mark.parametrize("tool", _STATISTICS)
def test_a_statistic_that_cannot_be_read_is_an_error(tmp_path: Path, tool: str, instead: str, code: str | None) -> None:
    family, write, pattern = _STATISTICS[tool]
    write(tmp_path / "results")
    _change(tmp_path / "results", pattern, instead)
    found = _issues(tmp_path, family, "non-finite-number", "not-a-number")
    assert [severity for severity, _ in found] == ["error"] * (code is not None)
    assert not code or _issues(tmp_path, family, code) == found and instead.strip('"').encode() in found[0][1]


def test_a_load_without_limit_is_no_lost_number(tmp_path: Path) -> None:
    """As llm-d's own example states a closed loop of all sessions at once: `concurrency: .inf`."""
    report = llm_d_report.new()
    report["scenario"]["load"]["standardized"]["concurrency"] = float("inf")
    llm_d_report.write(tmp_path / "results", report, "yaml")
    assert not _issues(tmp_path, "llm_d_report", "non-finite-number", "not-a-number")


def _issues(tmp_path: Path, family: str, *codes: str) -> list[tuple[str, bytes]]:
    """Severity and place of the issues of these codes."""
    subject, found = Subject(family), []
    for number, draft in enumerate(subject.drafts(tmp_path / "results")):
        folder = tmp_path / "stored" / str(number)
        rows = subject.parsed(subject.stored(draft, folder))
        found += [(row["severity"], place(row, folder)) for row in rows[ISSUE_TABLE] if row["code"] in codes]
    return found


@pytest.mark.parametrize("share", few([0.05, 0.3, 1.0], 1))
def test_no_number_of_any_evidence_stops_a_build(tmp_path: Path, share: float) -> None:
    """In the place of a share of all numbers of every family's sample stands an absurd one."""
    chance = random.Random(share)

    def absurd(match: re.Match[bytes]) -> bytes:
        return chance.choice(_ABSURD) if chance.random() < share else match[0]

    for name, family in FAMILIES.items():
        folder = tmp_path / "results" / name
        family.write(folder)
        if name == "recorded_run":  # its files name each other by their bytes
            continue
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                path.write_bytes(_NUMBER.sub(absurd, path.read_bytes()))
    facts = _facts(tmp_path, "results")
    [(families, told)] = facts.sql(
        "select (select count(distinct family) from main.benchmark_run_fact), "
        "(select count(distinct family) from main.ingest_issue)"
    ).fetchall()
    assert families >= 6 and told >= 6


def _facts(tmp_path: Path, folder: str) -> duckdb.DuckDBPyConnection:
    """The tables of a build of what lies in a folder."""
    project = standard_project(tmp_path / "project")
    plan = plan_ingest(tmp_path / folder, load_ingestors(project).values(), project.store_root)
    assert not plan.problems
    ingest(plan, open_store(project), folder)
    build(project)
    built = current_build(project)
    assert built is not None
    return duckdb.connect(str(built.path), read_only=True)


def test_times_whose_sum_is_beyond_a_double_have_a_mean(tmp_path: Path) -> None:
    assert mean([1.5e308, 1.5e308, 0.0]) == pytest.approx(1e308, rel=1e-15)
    assert standard_deviation([1.5e308, 0.0], 1) == float("inf")
    assert standard_deviation([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0], 0) == 2.0
    llmperf.write(tmp_path / "results")
    for path in (tmp_path / "results").rglob("*"):
        if path.is_file():
            path.write_text(re.sub(r'("(?:ttft_s|end_to_end_latency_s)": )[\d.]+', r"\g<1>1.7e308", path.read_text()))
    rows = Subject("llmperf").rows(tmp_path / "results", tmp_path / "stored")
    assert {row["ttft_s"] for row in rows["llmperf_request"]} >= {1.7e308} and rows[ISSUE_TABLE]
