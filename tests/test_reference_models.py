"""What the standard models know of the world: ranks of the median's interval, and the rules of MLPerf Inference.

Expectations come from scipy and from the values that the submissions here were written with.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from samples import mlperf_inference
from scipy.stats import binom
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import standard_folder
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

# --- the median's interval ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def median_ranks() -> dict[int, tuple[int, int, float]]:
    sql = (standard_folder() / "models" / "reference" / "order_statistic_median.sql").read_text()
    rows = duckdb.connect().execute(f"select n, lower_rank, upper_rank, coverage from ({sql})").fetchall()
    assert len(rows) == len({row[0] for row in rows})
    return {n: (lower, upper, coverage) for n, lower, upper, coverage in rows}


def test_every_sample_size_has_ranks(median_ranks: dict[int, tuple[int, int, float]]) -> None:
    assert sorted(median_ranks) == list(range(6, 1001))
    # Five values reach 1 - 2 / 2**5 = 0.9375 at most.
    assert 1 - 2 * binom.cdf(0, 5, 0.5) < 0.95 <= 1 - 2 * binom.cdf(0, 6, 0.5)


def test_ranks_and_coverage_are_those_of_the_binomial(median_ranks: dict[int, tuple[int, int, float]]) -> None:
    for n, (lower, upper, coverage) in median_ranks.items():
        # [x(lower), x(upper)] misses the median when fewer than `lower` values lie on either side of it.
        assert upper == n + 1 - lower, n
        assert coverage == pytest.approx(1 - 2 * binom.cdf(lower - 1, n, 0.5), abs=1e-6), n
        assert 1 - 2 * binom.cdf(lower - 1, n, 0.5) >= 0.95, n
        assert 1 - 2 * binom.cdf(lower, n, 0.5) < 0.95, n


# --- MLPerf Inference's rules ------------------------------------------------------------------------------------

Results = dict[tuple[str, str, str, str], dict[str, Any]]

VALUES = mlperf_inference.Values()
MEAN_NS = 7752921835  # the mean latency that every sample log states
P90_NS = 1000000001  # and its p90
P99_ESTIMATE_NS = 612345
EDGE_OFFLINE_SAMPLES_PER_S = 700.25
VISION = mlperf_inference.VISION
LLM = mlperf_inference.LLM
EDGE_LLM = "llama3.1-8b-edge"

_P90_ESTIMATE = f" * Early stopping 90.0th percentile estimate: {VALUES.single_stream_ns}\n"
_TOKEN_ESTIMATES = """\
TTFT Early Stopping Result:
 * Processed at least 64 queries (5000).
 * Early stopping 90.0th percentile estimate: 272739682
 * Early stopping 99.0th percentile estimate: 333755801
TPOT Early Stopping Result:
 * Processed at least 64 queries (5000).
 * Early stopping 90.0th percentile estimate: 26493158
 * Early stopping 99.0th percentile estimate: 27141604
"""


def summary_of(home: Path, platform: str, benchmark: str, scenario: str) -> Path:
    return home / "results" / platform / benchmark / scenario / "performance" / "run_1" / "mlperf_log_summary.txt"


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{old!r} is not in {path}"
    path.write_text(text.replace(old, new))


def without(home: Path, platform: str, benchmark: str, *scenarios: str) -> None:
    """Takes scenarios out of a submission."""
    for section in ("results", "measurements"):
        for scenario in scenarios:
            shutil.rmtree(home / section / platform / benchmark / scenario)


def edge_with_only_single_stream(root: Path, platform: str) -> Path:
    """An edge system that ran SingleStream alone; its log has the estimate of p99 that the inference takes."""
    home = mlperf_inference.write_submission(root, edge_platform=platform) / "closed" / "Acme"
    without(home, platform, VISION, "MultiStream")
    estimates = _P90_ESTIMATE + f" * Early stopping 99.0th percentile estimate: {P99_ESTIMATE_NS}\n"
    edited(summary_of(home, platform, VISION, "SingleStream"), _P90_ESTIMATE, estimates)
    return home


def write_all(root: Path) -> None:
    """Submissions of three rounds, one edge platform a rule."""
    edge_with_only_single_stream(root, "EdgeInfers")

    home = edge_with_only_single_stream(root, "EdgeTokens")
    for section in ("results", "measurements"):
        (home / section / "EdgeTokens" / VISION).rename(home / section / "EdgeTokens" / EDGE_LLM)
    summary = summary_of(home, "EdgeTokens", EDGE_LLM, "SingleStream")
    text = summary.read_text()
    start, end = text.index("Early Stopping Result:"), text.index("\n\n", text.index("Early Stopping Result:"))
    summary.write_text(text[:start] + _TOKEN_ESTIMATES + text[end + 1 :])

    home = mlperf_inference.write_submission(root, edge_platform="EdgeRunsAll") / "closed" / "Acme"
    offline = mlperf_inference.summary_log("Offline", {"samples_per_s": EDGE_OFFLINE_SAMPLES_PER_S})
    mlperf_inference.write(summary_of(home, "EdgeRunsAll", VISION, "Offline"), offline)
    measured = home / "measurements" / "EdgeRunsAll" / VISION
    shutil.copytree(measured / "SingleStream", measured / "Offline")

    home = edge_with_only_single_stream(root, "Datacenter")
    edited(home / "systems" / "Datacenter.json", '"edge"', '"datacenter"')

    home = mlperf_inference.write_submission(root, "v4.1") / "closed" / "Acme"
    run = home / "results" / "8xA900_2xCPU" / LLM / "Server" / "performance" / "run_1"
    edited(run / "mlperf_log_summary.txt", "Completed tokens per second: ", "Completed tokens per second (inferred): ")
    text = (run / "mlperf_log_summary.txt").read_text()
    kept = [line for line in text.splitlines(keepends=True) if not line.startswith("Completed tokens per second  ")]
    (run / "mlperf_log_summary.txt").write_text("".join(kept))
    edited(run / "mlperf_log_detail.txt", "result_completed_tokens", "result_inferred_completed_tokens")

    mlperf_inference.write_submission(root, "v4.0")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Rows of the mart and what the facts say beside them, by (round, platform, benchmark, scenario)."""
    root = tmp_path_factory.mktemp("mlperf")
    write_all(root / "evidence")
    project = standard_project(root / "project")
    ingest(plan_ingest(root / "evidence", load_ingestors(project).values()), open_store(project), "test")
    build(project)
    sql = """
        select
            result.*, outcome.is_token_throughput_inferred,
            rollup.performance_result, rollup.official_label, rollup.validity
        from mlperf_inference_result as result
        left join serving_outcome_fact as outcome using (run_id)
        left join mlperf_inference_results as rollup
            using (round, division, submitter, platform, benchmark, scenario)
    """
    with run_query(current_build(project).path, sql) as result:
        names = [column[0] for column in result.description]
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    found = {(row["round"], row["platform"], row["benchmark"], row["scenario"]): row for row in rows}
    assert len(found) == len(rows)
    return found


GPU = "8xA900_2xCPU"
OFFLINE_INFERRED = 1e9 / MEAN_NS
# Row: performance as stated, its true unit, whether it is inferred.
RULES = {
    ("v5.1", GPU, LLM, "Server"): (VALUES.server_tokens_per_s, "Tokens/s", False),
    ("v5.1", GPU, LLM, "Offline"): (VALUES.offline_tokens_per_s, "Tokens/s", False),
    ("v5.1", GPU, LLM, "Interactive"): (round(VALUES.interactive_tokens_per_s, 2), "Tokens/s", False),
    ("v5.1", "EdgeInfers", VISION, "SingleStream"): (VALUES.single_stream_ns / 1e6, "Latency (ms)", False),
    ("v5.1", "EdgeInfers", VISION, "MultiStream"): (P99_ESTIMATE_NS * 8 / 1e6, "Latency (ms)", True),
    ("v5.1", "EdgeInfers", VISION, "Offline"): (OFFLINE_INFERRED, "Samples/s", True),
    ("v5.1", "EdgeTokens", EDGE_LLM, "SingleStream"): (P90_NS / 1e6, "Latency (ms)", False),
    ("v5.1", "EdgeTokens", EDGE_LLM, "Offline"): (OFFLINE_INFERRED, "Samples/s", True),
    ("v5.1", "EdgeRunsAll", VISION, "SingleStream"): (VALUES.single_stream_ns / 1e6, "Latency (ms)", False),
    ("v5.1", "EdgeRunsAll", VISION, "MultiStream"): (VALUES.multi_stream_ns / 1e6, "Latency (ms)", False),
    ("v5.1", "EdgeRunsAll", VISION, "Offline"): (EDGE_OFFLINE_SAMPLES_PER_S, "Samples/s", False),
    ("v5.1", "Datacenter", VISION, "SingleStream"): (VALUES.single_stream_ns / 1e6, "Latency (ms)", False),
    ("v4.1", GPU, LLM, "Server"): (VALUES.server_tokens_per_s, "Tokens/s", False),
    ("v4.1", GPU, LLM, "Offline"): (VALUES.offline_tokens_per_s, "Tokens/s", False),
    # It ran MultiStream, too: eight samples a query, whose mean latency gives the better figure.
    ("v4.1", "EdgeBox-1", VISION, "Offline"): (8 * OFFLINE_INFERRED, "Samples/s", True),
    ("v4.0", GPU, LLM, "Server"): (VALUES.server_samples_per_s, "Queries/s", False),
    ("v4.0", GPU, LLM, "Offline"): (VALUES.offline_tokens_per_s, "Tokens/s", False),
}


@pytest.mark.parametrize("row", RULES, ids=lambda row: " ".join(row))
def test_rules(row: tuple[str, str, str, str], results: Results) -> None:
    performance, unit, is_inferred = RULES[row]
    found = results[row]
    assert found["performance"] == pytest.approx(performance, rel=1e-12)
    assert (found["performance_unit"], found["is_inferred"]) == (unit, is_inferred)
    published = performance if unit == "Latency (ms)" else float(f"{performance:.6g}")
    assert found["performance_result"] == pytest.approx(published, rel=1e-12)


def test_only_what_is_owed_and_was_not_run_is_inferred(results: Results) -> None:
    inferred = {(row[0], row[1], row[3]) for row, found in results.items() if found["is_inferred"]}
    assert inferred == {
        ("v5.1", "EdgeInfers", "MultiStream"), ("v5.1", "EdgeInfers", "Offline"), ("v5.1", "EdgeTokens", "Offline"),
        ("v4.1", "EdgeBox-1", "Offline"), ("v4.0", "EdgeBox-1", "Offline"),
    }


def test_tokens_that_the_load_generator_inferred_say_so(results: Results) -> None:
    assert results["v4.1", GPU, LLM, "Server"]["is_token_throughput_inferred"] is True
    assert results["v5.1", GPU, LLM, "Server"]["is_token_throughput_inferred"] is False
    assert results["v5.1", "EdgeInfers", VISION, "SingleStream"]["is_token_throughput_inferred"] is None


def test_power_is_that_of_the_run_alone(results: Results) -> None:
    found = results["v5.1", GPU, LLM, "Offline"]
    assert (found["power_unit"], found["power_state"]) == ("Watts", "measured")
    assert found["power"] == pytest.approx(VALUES.watts, rel=1e-12)
    for row, other in results.items():
        if row[3] != "Offline" or other["is_inferred"] or row[1] != GPU:
            assert (other["power"], other["power_unit"], other["power_state"]) == (None, None, None), row


# Benchmark and scenario of v5.1: the label that the official table prints, whatever the unit truly is.
LABELS = {
    (GPU, LLM, "Server"): "Tokens/s",
    (GPU, LLM, "Interactive"): "Tokens/s",
    ("EdgeInfers", VISION, "Offline"): "Samples/s",
    ("EdgeInfers", VISION, "MultiStream"): "Latency (ms)",
    ("EdgeTokens", EDGE_LLM, "Offline"): "Tokens/s",
    ("EdgeTokens", EDGE_LLM, "SingleStream"): "Latency (ms)",
}


@pytest.mark.parametrize("row", LABELS, ids=lambda row: " ".join(row))
def test_official_labels(row: tuple[str, str, str], results: Results) -> None:
    assert results["v5.1", *row]["official_label"] == LABELS[row]


def test_a_round_whose_labels_are_not_known_has_none(results: Results) -> None:
    assert {found["official_label"] for row, found in results.items() if row[0] == "v4.0"} == {None}
    assert {found["validity"] for found in results.values()} == {"VALID"}
