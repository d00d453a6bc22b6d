"""MLPerf Inference results by the submission checker's rules on scenarios: what is inferred from the log of another scenario, what
older load generators write, and that no VALID row is without a result and without a word.

Expectations are the checker's formulas, worked out here on the values that the logs are written with.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import landed
import pytest
from conftest import unpacked_evidence
from samples import mlperf_inference as sample
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

P90_NS, P99_NS, MULTI_P99_NS = 13349740, 13997474, 1482812  # early-stopping estimates
MEAN_NS = 7752921835  # these three in every summary of the samples
STATED_P90_NS, STATED_P99_NS = 1000000001, 1000000004
ESTIMATES = {"early_stopping_ns": P90_NS, "early_stopping_p99_ns": P99_NS}
SINGLE = sample.summary_log("SingleStream", ESTIMATES)
MULTI = sample.summary_log("MultiStream", {"early_stopping_ns": MULTI_P99_NS})
OFFLINE = sample.summary_log("Offline", {"samples_per_s": 700.25})
SERVER = sample.summary_log("Server", {"samples_per_s": 83.5})

Row = dict[str, Any]


def older(text: str) -> str:
    """As load generators wrote up to v5.0."""
    return text.replace("90.0th", "90th").replace("99.0th", "99th")


def oldest(text: str) -> str:
    """As they wrote before early stopping."""
    lines = [line for line in text.splitlines(keepends=True) if "arly " not in line and not line.startswith(" *")]
    return "".join(lines).replace("90.0th", "90th").replace("99.0th percentile latency (ns) :", "Samples per query :").replace(
        "SingleStream", "Single Stream"
    )


def too_few(text: str) -> str:
    """Of a run with too few queries for an estimate of p99."""
    line = f" * Early stopping 99.0th percentile estimate: {P99_NS}\n"
    told = " * Not enough queries processed for 99.0th percentile\n early stopping estimate (would need to process at\n"
    assert line in text
    return text.replace(line, told + " least 662 total queries).\n")


def on_tokens(text: str) -> str:
    return text.replace("Early Stopping Result:", "TTFT Early Stopping Result:")


def own(text: str) -> str:
    """A summary that is no other run's byte for byte: with those, its detail log would be shared."""
    return text.replace("PySUT", "OwnSUT")


def detail(scenario: str, **stated: Any) -> str:
    """A detail log that states these keys."""
    entries = {"effective_scenario": scenario, "result_validity": "VALID", "early_stopping_met": True, **stated}
    return "".join(sample.detail_line(key, value) for key, value in entries.items())


# Name of the platform: round, the system's suite, the scenario's folder, its logs; then performance and unit, and whether it is
# inferred, or the code of the error that says why there is no performance.
CASES: dict[str, tuple[str, str, str, tuple[str, ...], tuple[float, str, bool] | str]] = {
    "multi": ("v5.1", "edge", "multistream", (SINGLE,), (8 * P99_NS / 1e6, "Latency (ms)", True)),
    "multi-capital": ("v5.1", "Edge", "MultiStream", (SINGLE,), (8 * P99_NS / 1e6, "Latency (ms)", True)),
    "multi-both": ("v5.1", "datacenter,edge", "MultiStream", (SINGLE,), (8 * P99_NS / 1e6, "Latency (ms)", True)),
    "multi-older": ("v4.0", "edge", "MultiStream", (older(SINGLE),), (8 * P99_NS / 1e6, "Latency (ms)", True)),
    "multi-oldest": ("v1.1", "edge", "MultiStream", (oldest(SINGLE),), (8 * STATED_P99_NS / 1e6, "Latency (ms)", True)),
    # The samples per query that the log says play no part.
    "multi-detail": (
        "v5.1", "edge", "MultiStream",
        (own(SINGLE), detail("SingleStream", early_stopping_latency_ms=P99_NS + 8, effective_samples_per_query=1)),
        (8 * (P99_NS + 8) / 1e6, "Latency (ms)", True),
    ),
    "multi-too-few": ("v5.1", "edge", "MultiStream", (too_few(SINGLE),), "no-result"),
    "multi-too-few-detail": (
        "v5.1", "edge", "MultiStream", (own(too_few(SINGLE)), detail("SingleStream", early_stopping_latency_ms=0)), "no-result"
    ),
    "multi-datacenter": ("v5.1", "datacenter", "MultiStream", (SINGLE,), "scenario-mismatch"),
    "multi-undescribed": ("v5.1", "", "MultiStream", (SINGLE,), "scenario-mismatch"),
    "multi-tokens": ("v5.1", "edge", "MultiStream", (on_tokens(SINGLE),), "no-result"),
    "multi-server": ("v5.1", "edge", "MultiStream", (SERVER,), "scenario-mismatch"),
    "offline-single": ("v5.1", "edge", "Offline", (SINGLE,), (1e9 / MEAN_NS, "Samples/s", True)),
    "offline-single-detail": (
        "v5.1", "edge", "Offline", (own(SINGLE), detail("SingleStream", result_qps_without_loadgen_overhead=76.4817)),
        (76.4817, "Samples/s", True),
    ),
    "offline-oldest": ("v0.7", "edge", "Offline", (oldest(SINGLE),), (1e9 / MEAN_NS, "Samples/s", True)),
    "offline-multi": ("v5.1", "edge", "Offline", (MULTI,), (8 * 1e9 / MEAN_NS, "Samples/s", True)),
    # Of a query, not of one of its samples.
    "offline-multi-detail": (
        "v5.1", "edge", "Offline",
        (own(MULTI), detail(
            "MultiStream", result_mean_latency_ns=900, result_mean_query_latency_ns=4000000, effective_samples_per_query=8,
        )),
        (8 * 1e3 / 4, "Samples/s", True),
    ),
    "offline-multi-oldest": ("v0.7", "edge", "Offline", (oldest(MULTI),), "scenario-mismatch"),
    "offline-server": ("v5.1", "edge", "Offline", (SERVER,), "scenario-mismatch"),
    "single-multi": ("v5.1", "edge", "SingleStream", (MULTI,), "scenario-mismatch"),
    "server-offline": ("v5.1", "edge", "Server", (OFFLINE,), "scenario-mismatch"),
    "interactive-offline": ("v5.1", "datacenter", "Interactive", (OFFLINE,), "scenario-mismatch"),
    "interactive": ("v5.1", "datacenter", "interactive", (SERVER,), (83.5, "Queries/s", False)),
    "older-single": ("v5.0", "edge", "singlestream", (older(SINGLE),), (P90_NS / 1e6, "Latency (ms)", False)),
    "older-multi": ("v5.0", "edge", "multistream", (older(MULTI),), (MULTI_P99_NS / 1e6, "Latency (ms)", False)),
    "oldest-single": ("v1.0", "edge", "SingleStream", (oldest(SINGLE),), (STATED_P90_NS / 1e6, "Latency (ms)", False)),
    "oldest-multi": ("v0.7", "edge", "MultiStream", (oldest(MULTI),), (8, "Streams", False)),
    "v4.0-server": (
        "v4.0", "datacenter", "Server", (SERVER,), (84.5, "Queries/s", False)  # scheduled: one more a second than completed
    ),
    "unknown-spelling": (
        "v5.1", "edge", "SingleStream", (SINGLE.replace("90.0th", "ninetieth").replace("99.0th", "last"),), "no-result"
    ),
    "unreadable": ("v5.1", "edge", "Offline", (OFFLINE.replace("700.25", "seven hundred"),), "not-a-number"),
    "not-stated": ("v5.1", "edge", "Offline", (OFFLINE.replace("Samples per second: 700.25\n", ""),), "no-result"),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The published row of each case, with the severities of its run's issues by code."""
    root = tmp_path_factory.mktemp("scenarios")
    for platform, (*submitted, _) in CASES.items():
        submit(root / "evidence", platform, *submitted)
    return published(root / "evidence", root / "project")


def submit(evidence: Path, platform: str, round_name: str, suite: str, scenario: str, logs: tuple[str, ...]) -> None:
    """Writes a performance run of resnet50 with its summary, and its detail log if `logs` has one."""
    home = evidence / f"inference_results_{round_name}" / "closed" / "Acme"
    if suite:
        sample.write(home / "systems" / f"{platform}.json", f'{{"system_type": "{suite}"}}')
    run = home / "results" / platform / "resnet50" / scenario / "performance" / "run_1"
    for name, log in zip(("summary", "detail"), logs, strict=False):
        sample.write(run / f"mlperf_log_{name}.txt", log)


def published(evidence: Path, folder: Path) -> dict[str, Row]:
    """The rows of the scenarios that have a folder, with the issues of their runs, by platform (of other submitters by location)."""
    project = standard_project(folder)
    ingest(plan_ingest(evidence, load_ingestors(project).values()), open_store(project), "test")
    build(project)
    sql = """
        select result.*, list({
            'code': issue.code, 'severity': issue.severity, 'message': issue.message, 'line_number': issue.line_number,
            'name': parse_filename(issue.raw_path)
        }) filter (where issue.code is not null) as issues
        from mlperf_inference_results as result
        left join ingest_issue as issue using (run_id)
        where lower(parse_filename(result.location)) = lower(result.scenario)
        group by all
    """
    with run_query(current_build(project).path, sql) as result:
        names = [column[0] for column in result.description]
        found = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    return {f"{row['platform']}" if row["submitter"] == "Acme" else row["location"]: row for row in found}


def severities(row: Row) -> dict[str, str]:
    return {issue["code"]: issue["severity"] for issue in row["issues"] or ()}


@pytest.mark.parametrize("case", [case for case, found in CASES.items() if not isinstance(found[-1], str)])
def test_a_result_is_that_of_the_checker(case: str, rows: dict[str, Row]) -> None:
    performance, unit, is_inferred = CASES[case][-1]
    row = rows[case]
    stated = performance if unit == "Latency (ms)" else float(f"{performance:.6g}")
    assert row["performance_result"] == pytest.approx(stated, rel=1e-12)
    assert (row["performance_unit"], row["is_inferred"], row["validity"]) == (unit, is_inferred, "VALID")
    assert severities(row) == ({"scenario-inferred": "note"} if is_inferred else {})


@pytest.mark.parametrize("case", [case for case, found in CASES.items() if isinstance(found[-1], str)])
def test_what_the_checker_refuses_or_nobody_can_read_is_an_error_and_no_number(case: str, rows: dict[str, Row]) -> None:
    row = rows[case]
    stated = ("performance_result", "performance_unit", "validity", "is_inferred")
    assert [row[name] for name in stated] == [None, None, "VALID", False]
    errors = {code for code, severity in severities(row).items() if severity == "error"}
    assert CASES[case][-1] in errors


def test_no_valid_row_is_without_a_result_and_without_an_error(rows: dict[str, Row]) -> None:
    assert set(rows) == set(CASES)
    silent = [
        case for case, row in rows.items()
        if row["validity"] == "VALID" and row["performance_result"] is None and "error" not in severities(row).values()
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("case", "cause"),
    [
        ("multi-datacenter", "only an edge system may infer a result, and the system_type of this one is 'datacenter'"),
        ("multi-undescribed", "only an edge system may infer a result, and this one states no system_type"),
        ("multi-server", "the rules do not let one be inferred from the other"),
    ],
)
def test_a_refusal_names_its_cause(case: str, cause: str, rows: dict[str, Row]) -> None:
    (message,) = [issue["message"] for issue in rows[case]["issues"] if issue["code"] == "scenario-mismatch"]
    assert cause in message


@pytest.mark.parametrize("spelling", ["90th", "90.0th", "90.00", "90.000th", "90"])
def test_every_spelling_of_a_percentile_is_one_key(spelling: str, uniform: Callable[[str], str]) -> None:
    assert uniform(f"Early stopping {spelling} percentile estimate") == "Early stopping 90 percentile estimate"
    assert uniform(f"{spelling.replace('90', '99.9', 1)} percentile latency (ns)").endswith("percentile latency (ns)")


def test_a_percentile_with_a_fraction_stays_another_one(uniform: Callable[[str], str]) -> None:
    assert {uniform(f"{text} percentile latency (ns)") for text in ("99.90", "99.9th", "99.9")} == {"99.9 percentile latency (ns)"}
    assert uniform("100th percentile latency (ns)") == "100 percentile latency (ns)"


@pytest.fixture(scope="module")
def uniform() -> Callable[[str], str]:
    landed.load("mlperf_inference")
    return import_module("landed_mlperf_inference.results").uniform


@pytest.mark.exhaustive
def test_official_figures_of_real_logs(tmp_path: Path) -> None:
    """From the round's tables: GATEOverflow's MultiStream is inferred, MLCommons' logs are of an older load generator."""
    missed = unpacked_evidence("missed")
    for folder in missed.glob("mlcommons__*inference*"):
        shutil.copytree(folder, tmp_path / "evidence" / folder.name)
    rows = published(tmp_path / "evidence", tmp_path / "project")
    found = {(row["submitter"], row["scenario"]): (row["performance_result"], row["is_inferred"]) for row in rows.values()}
    assert found["GATEOverflow", "MultiStream"] == (111.979792, True)
    assert found["GATEOverflow", "SingleStream"] == (13.34974, False)
    assert found["MLCommons", "MultiStream"] == (0.505097, False)
    assert found["MLCommons", "SingleStream"] == (0.304853, False)
