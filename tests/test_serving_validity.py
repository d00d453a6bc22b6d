"""Whether a run can be trusted: each rule on evidence that keeps it and on evidence that breaks it, in the formats of the clients.

The runs are simulated here, request by request, and what a figure must be is computed from the same requests by numpy.
"""

from __future__ import annotations

import heapq
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import WhOn
from samples import bench_serving, guidellm, lm_eval
from samples.bench_serving import Request
from standard import standard_project

from warehouse.analysis.serving.validity import PointValidity, validity
from warehouse.api import Warehouse
from warehouse.claims.publish.publish import judge_query, publish
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

TOKENS = 16  # of each answer
RNG = np.random.default_rng(24)


def request(start: float, latency: float, tokens: int = TOKENS) -> Request:
    """A fifth of the latency until the first token, the rest in equal gaps."""
    return Request(latency / 5, (latency * 0.8 / (tokens - 1),) * (tokens - 1), 64, 1000 + start)


def closed_loop(latencies: list[float], in_flight: int) -> list[Request]:
    """A client that sends the next request as soon as an answer is there."""
    free = [0.0] * in_flight
    found = []
    for latency in latencies:
        start = heapq.heappop(free)
        heapq.heappush(free, start + latency)
        found.append(request(start, latency))
    return found


def in_batches(latencies: list[float], in_flight: int) -> list[Request]:
    """A client that waits for all answers before it sends the next requests."""
    found, start = [], 0.0
    for place in range(0, len(latencies), in_flight):
        batch = latencies[place : place + in_flight]
        found += [request(start, latency) for latency in batch]
        start += max(batch)
    return found


def at_rate(latencies: list[float], gaps: list[float], limit: int | None = None) -> list[tuple[float, Request]]:
    """When each request was meant to be sent, and it as it was sent: later if `limit` requests are in flight."""
    free = [0.0] * (limit or len(latencies))
    found, meant = [], 0.0
    for latency, gap in zip(latencies, gaps, strict=True):
        start = max(meant, heapq.heappop(free))
        heapq.heappush(free, start + latency)
        found.append((meant, request(start, latency)))
        meant += gap
    return found


def vllm(of: list[Request], **changes: Any) -> dict[str, Any]:
    duration = max(each.start + each.latency for each in of) - of[0].start
    inputs, outputs = sum(each.input_length for each in of), sum(each.output_length for each in of)
    return bench_serving.vllm_record(of) | {
        "duration": duration, "request_throughput": len(of) / duration, "output_throughput": outputs / duration,
        "total_token_throughput": (inputs + outputs) / duration,
    } | changes


def guide(of: list[tuple[float, Request]], name: str, rate: float, cut_off: int = 0) -> dict[str, Any]:
    """GuideLLM's report of one benchmark with an arrival rate. The last `cut_off` requests have no end."""
    def stated(meant: float, each: Request) -> dict[str, Any]:
        return {
            "info": {"timings": {"targeted_start": 1700001000.0 + meant}}, "request_start_time": 1700000000.0 + each.start,
            "request_latency": each.latency, "prompt_tokens": 64, "output_tokens": each.output_length,
            "time_to_first_token_ms": each.ttft * 1e3, "inter_token_latency_ms": each.gaps[0] * 1e3,
            "output_tokens_per_second": each.output_length / each.latency,
        }

    def distribution(values: list[float]) -> dict[str, Any]:
        of_all = {"mean": float(np.mean(values)), "min": min(values), "max": max(values), "count": len(values)}
        return {"successful": of_all | {"percentiles": {f"p{rank}": float(np.percentile(values, rank)) for rank in (50, 90, 95, 99)}}}

    report = guidellm.report(2)
    benchmark = report["benchmarks"][0]
    done = of[: len(of) - cut_off]
    requests = [each for _, each in done]
    span = max(each.start + each.latency for each in requests) - requests[0].start
    benchmark |= {"start_time": 1700000000.0 + requests[0].start, "end_time": 1700000000.0 + requests[0].start + span}
    benchmark["metrics"] |= {
        "request_latency": distribution([each.latency for each in requests]),
        "time_to_first_token_ms": distribution([each.ttft * 1e3 for each in requests]),
        "inter_token_latency_ms": distribution([each.gaps[0] * 1e3 for each in requests]),
        "requests_per_second": distribution([len(requests) / span]),
        "output_tokens_per_second": distribution([sum(each.output_length for each in requests) / span]),
    }
    benchmark["config"] |= {"run_id": name, "strategy": {"type_": "poisson", "rate": rate}}
    benchmark["metrics"]["request_totals"] = {"successful": len(done), "errored": 0, "incomplete": cut_off, "total": len(of)}
    benchmark["requests"] = {
        "successful": [stated(*each) for each in done], "errored": [], "incomplete": [stated(*each) for each in of[len(done) :]],
    }
    return report | {"benchmarks": [benchmark]}


def lognormal(count: int, median: float = 0.5, spread: float = 0.3) -> list[float]:
    return list(median * RNG.lognormal(0, spread, count))


STEADY = closed_loop(lognormal(2000), 8)
GROWING = closed_loop([latency * (1 + place / 250) for place, latency in enumerate(lognormal(1000))], 8)
WARMING = closed_loop([latency + (3.0 if place < 120 else 0.0) for place, latency in enumerate(lognormal(1000))], 8)
BATCHED = in_batches(lognormal(1000, spread=0.8), 16)
CALM = at_rate(lognormal(1200), list(RNG.exponential(1 / 5, 1200)))
STALLED_LATENCIES = [latency + (20.0 if place == 400 else 0.0) for place, latency in enumerate(lognormal(1200, 0.15))]
STALLED = at_rate(STALLED_LATENCIES, list(RNG.exponential(1 / 5, 1200)), limit=1)
SLOW_CLIENT = [each for _, each in at_rate(lognormal(600), list(RNG.exponential(1 / 3.5, 600)))]
PAUSING = [each for _, each in at_rate(lognormal(600), [*RNG.exponential(1 / 5, 300), 60.0, *RNG.exponential(1 / 5, 299)])]
FLOOD = [each for _, each in at_rate(lognormal(600), list(RNG.exponential(1 / 500, 600)))]
ENDLESS = [replace(each, start=1e300 * place) for place, each in enumerate(STEADY)]
AT_ONCE = [replace(each, start=1000.0) for each in STEADY]
BROKEN = [replace(each, gaps=(0.01,) * 2) for each in STEADY[:400]]

RUNS: dict[str, dict[str, Any]] = {
    "steady": vllm(STEADY, max_concurrency=8),
    "growing": vllm(GROWING, max_concurrency=8),
    "warming": vllm(WARMING, max_concurrency=8),
    "batched": vllm(BATCHED, max_concurrency=16),
    "calm": vllm([each for _, each in CALM], max_concurrency=None, request_rate=5.0),
    "slow_client": vllm(SLOW_CLIENT, max_concurrency=None, request_rate=5.0),
    "short_in64_out16": vllm(BROKEN, max_concurrency=8),
    "long_in64_out10": vllm(STEADY[:400], max_concurrency=8),
    "asked_h100_tp2_fp8_in64_out16": vllm(STEADY, max_concurrency=8),
    "cut": vllm(STEADY, max_concurrency=8) | {"output_lens": [0 if place % 100 == 7 else TOKENS for place in range(2000)]},
    "pausing": vllm(PAUSING, max_concurrency=None, request_rate=5.0),
    "flood": vllm(FLOOD, max_concurrency=None, request_rate=5.0),
    "refused": vllm([*STEADY[:1900], *([bench_serving.FAILED] * 100)], max_concurrency=8),
    "lying": vllm(STEADY, max_concurrency=8) | {"p99_ttft_ms": 1.0},
    "loadless": vllm(STEADY, max_concurrency=None, request_rate="abc"),
    "vanished": vllm(STEADY, max_concurrency=8) | {"num_prompts": 4000},
    "endless": vllm(STEADY, max_concurrency=8) | {"start_times": [each.start for each in ENDLESS]},
    "at_once": vllm(STEADY, max_concurrency=8) | {"start_times": [each.start for each in AT_ONCE]},
    "summary": {key: value for key, value in vllm(STEADY, max_concurrency=8).items() if not isinstance(value, list)},
    "contradicting": {
        key: value * 3 if key == "request_throughput" else value
        for key, value in vllm(STEADY, max_concurrency=8).items() if not isinstance(value, list)
    },
}
EIGHT = {"is_multinode": False, "disagg": False, "hw": "b200-dgxc_1", "tp": 8, "ep": 1, "num_prefill_gpu": None, "num_decode_gpu": None, "output_tput_per_gpu": None}
CACHE = {"prefix_cache_queries": 1000, "cached_tokens_by_source": {}}


def agentic(**changes: Any) -> dict[str, Any]:
    """InferenceX's record of eight accelerators, which serve 9,300 tokens each second together."""
    record = bench_serving.inferencex_agentic_record(False, **(EIGHT | {"tput_per_gpu": 9300.0 / 8} | changes))
    return {key: value for key, value in record.items() if value is not None and not key.startswith(("prefill_", "decode_"))}


RECORDS = {
    "eight_of_eight": agentic(),
    "eight_of_four": agentic(tput_per_gpu=9300.0 / 4),
    "cold": agentic(enable_prefix_caching="false", server_metrics={"cache": {"overall_cache_hit_rate": 0.0} | CACHE}),
    "warm": agentic(enable_prefix_caching="false", server_metrics={"cache": {"overall_cache_hit_rate": 0.5} | CACHE}),
    "joules": bench_serving.inferencex_split_record(),
    "millijoules": bench_serving.inferencex_split_record(joules_per_output_token=2500.0),
}
REPORTS = {
    "calm_schedule": guide(CALM, "c" * 8, 5.0),
    "stalled_schedule": guide(STALLED, "d" * 8, 5.0),
    "cut_off": guide(CALM, "e" * 8, 5.0, cut_off=30),
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("evidence")
    for name, record in RUNS.items():
        bench_serving.write(tree / f"vllm/{name}.json", record)
    for name, record in RECORDS.items():
        bench_serving.write(tree / f"ix/{name}.json", record)
    for name, report in REPORTS.items():
        (tree / name).mkdir()
        (tree / name / "benchmarks.json").write_text(json.dumps(report))
    stack = "asked_h100_tp2_fp8_in64_out16"
    (tree / f"vllm/{stack}.txt").write_text("INFO Initializing a V1 LLM engine (v0.11.0) with config: model='Qwen/Qwen3-8B', tensor_parallel_size=2\n")
    lm_eval.write(tree / "accuracy/results_2026-05-01.json", lm_eval.results(model_name="Qwen/Qwen3-8B"))
    lm_eval.write(tree / "accuracy/meta_env.json", lm_eval.meta_env(model="Qwen/Qwen3-8B", hw="h100", tp=2))
    project = standard_project(tmp_path_factory.mktemp("project") / "p")
    plan = plan_ingest(tree, load_ingestors(project).values(), project.store_root)
    assert not plan.problems
    ingest(plan, open_store(project), "evidence")
    build(project)
    return Warehouse(project)


NAMES = {**{name: name for name in (*RUNS, *RECORDS)}, "calm_schedule": "c" * 8, "stalled_schedule": "d" * 8, "cut_off": "e" * 8}


@pytest.fixture(scope="module")
def figures(warehouse: Warehouse) -> dict[str, dict[str, Any]]:
    found = warehouse.sql("from mart.serving_validity").to_pylist()
    return {name: one_of(found, part) for name, part in NAMES.items()}


def one_of(rows: list[dict[str, Any]], part: str) -> dict[str, Any]:
    (row,) = [row for row in rows if re.search(rf"(^|[/_.-]){part}([/_.-]|$)", row["run_id"])]
    return row


@pytest.fixture(scope="module")
def judged(warehouse: Warehouse) -> dict[str, PointValidity]:
    found = {point.run_id: point for point in validity(warehouse.project).points}
    return {name: found[one_of([{"run_id": run} for run in found], part)["run_id"]] for name, part in NAMES.items()}


def findings(point: PointValidity) -> dict[str, str]:
    """The rules with a figure that the run does not keep."""
    return {each.rule.id: each.verdict for each in point.against}


def latencies(of: list[Request]) -> np.ndarray:
    return np.array([each.latency * 1e3 for each in sorted(of, key=lambda each: each.start)])


def test_the_steady_window_leaves_out_the_warm_up(figures: dict[str, dict[str, Any]]) -> None:
    row = figures["warming"]
    assert row["is_steady"]
    assert 110 <= 1000 - row["steady_request_count"] <= 135  # 120 requests were slow
    sent = sorted(each.start - WARMING[0].start for each in WARMING)
    assert row["steady_from_s"] == pytest.approx(sent[1000 - row["steady_request_count"]])
    assert row["steady_to_s"] == pytest.approx(sent[-1])
    inside = [each for each in WARMING if each.start - WARMING[0].start >= row["steady_from_s"] - 1e-9]
    assert row["steady_e2e_p99_ms"] == pytest.approx(np.percentile(latencies(inside), 99))
    assert row["steady_ttft_p99_ms"] == pytest.approx(np.percentile(latencies(inside) / 5, 99))
    ended = [each.start - WARMING[0].start + each.latency for each in WARMING]
    within = sum(row["steady_from_s"] <= end <= row["steady_to_s"] for end in ended) * TOKENS
    assert row["steady_output_token_throughput_per_s"] == pytest.approx(within / (row["steady_to_s"] - row["steady_from_s"]))


def test_a_run_whose_latencies_grow_all_the_time_is_not_steady(
    figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]
) -> None:
    assert figures["growing"]["is_steady"] is False
    assert figures["growing"]["steady_e2e_p99_ms"] is None
    assert findings(judged["growing"])["steady"] == "provisional"
    assert figures["steady"]["is_steady"] is True
    assert "steady" not in findings(judged["steady"])


def test_effective_requests_are_those_of_batch_means(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    def expected(values: np.ndarray) -> float:
        size = int(np.sqrt(len(values)))
        means = values[: len(values) // size * size].reshape(-1, size).mean(axis=1)
        return min(len(values), len(values) * values.var(ddof=1) / (size * means.var(ddof=1)))

    for name, of in (("growing", GROWING), ("steady", STEADY)):
        row, values = figures[name], latencies(of)
        used = values[-row["steady_request_count"] :] if row["is_steady"] else values
        assert row["effective_request_count"] == pytest.approx(expected(used))
    assert figures["growing"]["effective_request_count"] < 100  # one after another much alike
    assert findings(judged["growing"])["effective-requests"] == "provisional"
    assert "effective-requests" not in findings(judged["steady"])


def test_littles_law_shows_a_client_that_waits_for_batches(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    record = RUNS["batched"]
    expected = record["request_throughput"] * latencies(BATCHED).mean() / 1e3 / 16 - 1
    assert figures["batched"]["littles_law_residual"] == pytest.approx(expected)
    assert expected < -0.5 and findings(judged["batched"])["in-flight"] == "not representative"
    assert judged["batched"].verdict == "invalid"
    assert abs(figures["steady"]["littles_law_residual"]) < 0.01
    assert not {"in-flight", "littles-law"} & findings(judged["steady"]).keys()


def test_figures_that_contradict_each_other_break_littles_law(judged: dict[str, PointValidity]) -> None:
    assert findings(judged["contradicting"])["littles-law"] == "not representative"
    assert judged["contradicting"].verdict == "invalid"


def test_coordinated_omission_is_measured_against_the_schedule(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    sent = np.array([each.start - 1000 for _, each in STALLED])
    meant = np.array([moment for moment, _ in STALLED])
    served = np.array([each.latency for _, each in STALLED])
    of_ttft = np.percentile(served / 5 + sent - meant, 99) / np.percentile(served / 5, 99) - 1
    omitted = max(of_ttft, np.percentile(served + sent - meant, 99) / np.percentile(served, 99) - 1)
    row = figures["stalled_schedule"]
    assert omitted > 1  # the client hid more than half of the p99
    assert row["coordinated_omission"] == pytest.approx(omitted, rel=1e-6)
    assert row["send_lag_p99_ms"] == pytest.approx(np.percentile(sent - meant, 99) * 1e3, rel=1e-6)
    assert findings(judged["stalled_schedule"])["coordinated-omission"] == "not representative"
    assert judged["stalled_schedule"].verdict == "invalid"
    assert figures["calm_schedule"]["coordinated_omission"] == pytest.approx(0, abs=1e-6)
    assert "coordinated-omission" not in findings(judged["calm_schedule"])


def rate_error(of: list[Request], asked: float) -> float:
    gaps = np.diff(sorted(each.start for each in of))
    chance = 3 * min(gaps.std(ddof=1), 2 / asked) / np.sqrt(len(gaps))
    slow, fast = gaps.mean() - chance, gaps.mean() + chance
    return 1 / (asked * slow) - 1 if asked * slow > 1 else 1 / (asked * fast) - 1 if asked * fast < 1 else 0.0


def test_requests_are_sent_at_the_rate_that_was_asked_for(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert -0.35 < rate_error(SLOW_CLIENT, 5.0) < -0.15
    assert figures["slow_client"]["send_rate_error"] == pytest.approx(rate_error(SLOW_CLIENT, 5.0))
    assert findings(judged["slow_client"])["send-rate-slow"] == "not representative"
    # One long pause makes the gaps vary much, and is a fault of the client all the same.
    assert figures["pausing"]["send_rate_error"] == pytest.approx(rate_error(PAUSING, 5.0))
    assert rate_error(PAUSING, 5.0) < -0.15
    assert findings(judged["pausing"])["send-rate-slow"] == "not representative"
    assert figures["flood"]["send_rate_error"] == pytest.approx(rate_error(FLOOD, 5.0))
    assert rate_error(FLOOD, 5.0) > 50
    assert findings(judged["flood"])["send-rate-fast"] == "not representative"
    assert figures["calm"]["send_rate_error"] == 0.0
    assert not {"send-rate-slow", "send-rate-fast"} & findings(judged["calm"]).keys()
    assert figures["steady"]["send_rate_error"] is None  # no rate was asked for
    silent = {each.rule.id for each in judged["calm"].silent}
    assert "coordinated-omission" in silent  # vLLM's record does not say when requests were meant to be sent


def test_the_warm_up_is_not_in_the_figures_unsaid(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert figures["warming"]["window_effect"] > 1
    assert findings(judged["warming"])["window"] == "provisional"
    assert figures["steady"]["window_effect"] < 0.1
    assert "window" not in findings(judged["steady"])


def test_a_summary_that_its_requests_contradict_is_invalid(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert figures["lying"]["contradiction_count"] >= 1
    assert findings(judged["lying"])["contradictions"] == "not representative"
    assert judged["lying"].verdict == "invalid"
    assert figures["steady"]["contradiction_count"] == 0


def test_a_load_that_is_not_stated_and_requests_that_are_nowhere(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert findings(judged["loadless"])["load"] == "provisional"
    assert figures["loadless"]["littles_law_residual"] is None
    assert figures["vanished"]["unfinished_share"] == pytest.approx(0.5)
    assert findings(judged["vanished"])["unfinished"] == "not representative"


def test_impossible_send_times_make_no_window(figures: dict[str, dict[str, Any]]) -> None:
    for name in ("endless", "at_once"):
        assert not figures[name]["is_steady"]
        assert figures[name]["steady_output_token_throughput_per_s"] is None


def test_requests_that_the_end_cut_off_make_the_p99_unknown(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert figures["cut_off"]["unfinished_share"] == pytest.approx(30 / 1200)
    assert findings(judged["cut_off"])["unfinished"] == "provisional"
    assert figures["calm_schedule"]["unfinished_share"] == 0.0
    assert "unfinished" not in findings(judged["calm_schedule"])


def test_answers_have_the_length_that_was_asked_for(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert figures["short_in64_out16"]["output_length_error"] == pytest.approx(3 / 16 - 1)
    assert findings(judged["short_in64_out16"])["output-length-short"] == "not representative"
    assert figures["long_in64_out10"]["output_length_error"] == pytest.approx(16 / 10 - 1)
    assert findings(judged["long_in64_out10"])["output-length-long"] == "not representative"
    assert figures["asked_h100_tp2_fp8_in64_out16"]["output_length_error"] == pytest.approx(0)
    assert figures["steady"]["output_length_error"] is None
    for name in ("asked_h100_tp2_fp8_in64_out16", "steady"):
        assert not {"output-length-short", "output-length-long"} & findings(judged[name]).keys()


def test_an_answer_without_a_token_is_a_broken_stream(figures: dict[str, dict[str, Any]], judged: dict[str, PointValidity]) -> None:
    assert figures["cut"]["cut_stream_share"] == pytest.approx(20 / 2000)
    assert findings(judged["cut"])["cut-streams"] == "provisional"
    assert figures["steady"]["cut_stream_share"] == 0.0
    assert "cut-streams" not in findings(judged["steady"])


@pytest.mark.parametrize(("rule", "kept_by", "broken_by", "column", "figure"), [
    ("errors", "steady", "refused", "error_rate", 0.05),
    ("accelerator-count", "eight_of_eight", "eight_of_four", "accelerator_count_error", 1.0),
    ("prefix-cache", "cold", "warm", "prefix_cache_hit_rate", 0.5),
    ("energy", "joules", "millijoules", "energy_error", 999.0),
])
def test_a_rule_on_what_the_evidence_states(
    rule: str, kept_by: str, broken_by: str, column: str, figure: float, warehouse: Warehouse, judged: dict[str, PointValidity]
) -> None:
    rows = warehouse.sql("from mart.serving_curve").to_pylist()
    assert one_of(rows, kept_by)[column] == pytest.approx(0, abs=1e-9)
    assert one_of(rows, broken_by)[column] == pytest.approx(figure)
    assert rule in {each.rule.id for each in judged[kept_by].rules} and rule not in findings(judged[kept_by])
    assert rule in findings(judged[broken_by])


def test_a_summary_proves_little(judged: dict[str, PointValidity]) -> None:
    point = judged["summary"]
    assert point.verdict == "not proven"
    assert {each.rule.id for each in point.silent} >= {"steady", "window", "cut-streams"}
    assert findings(point) == {}


def test_a_run_that_keeps_every_rule_is_valid(judged: dict[str, PointValidity]) -> None:
    assert judged["asked_h100_tp2_fp8_in64_out16"].verdict == "valid"


def test_accuracy_counts_for_its_own_stack_alone(judged: dict[str, PointValidity]) -> None:
    assert judged["asked_h100_tp2_fp8_in64_out16"].beside == []
    assert {each.rule.id for each in judged["steady"].beside} == {"accuracy"}
    assert (judged["steady"].silent, judged["steady"].verdict) == ([], "valid"), "how fast it was does not depend on it"


def test_the_p99_of_an_invalid_run_is_not_publishable(tmp_path: Path) -> None:
    """Five calm runs at one rate, and at another rate four such runs and one whose client hid its queue."""
    for number in range(5):
        calm = at_rate(lognormal(600), list(RNG.exponential(1 / 5, 600)))
        latencies_with_a_stall = [latency + (20.0 if place == 300 else 0.0) for place, latency in enumerate(lognormal(600, 0.15))]
        other = at_rate(latencies_with_a_stall, list(RNG.exponential(1 / 4, 600)), limit=1 if number == 3 else None)
        for rate, of in ((5.0, calm), (4.0, other)):
            name = f"{number}{int(rate)}" * 4
            (tmp_path / "tree" / name).mkdir(parents=True)
            (tmp_path / "tree" / name / "benchmarks.json").write_text(json.dumps(guide(of, name, rate)))
    project = standard_project(tmp_path / "p")
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
    build(project)
    (judged,) = judge_query(project, "serving_points")
    found = {each.grain["load"]: each.judgement for each in judged.numbers if each.column == "e2e_p99_ms"}
    broken = {load: {rule.rule.id for rule in each.against if rule.verdict == "not representative"} for load, each in found.items()}
    assert broken == {5.0: set(), 4.0: {"coordinated-omission"}}
    assert found[4.0].verdict == "not representative"
    with pytest.raises(WarehouseError) as caught:
        publish(project, "serving_points")
    assert caught.value.code == "WH315" and "counted from when requests were meant to be sent" in str(caught.value)


def test_the_command_names_the_rule_and_its_figure(warehouse: Warehouse, wh_on: WhOn) -> None:
    status, out, err = wh_on(warehouse.project, "validity")
    assert status == 0
    lines = out.splitlines()
    (place,) = [place for place, line in enumerate(lines) if "dddddddd" in line]
    assert lines[place].startswith("invalid") and "coordinated-omission" in lines[place + 1] and "asked: at most 0.05" in lines[place + 1]
    assert "not proven: no evidence for" in out and "by policy serving 3" in err
    _, out, _ = wh_on(warehouse.project, "validity", "--json")
    assert {point["verdict"] for point in json.loads(out)["points"]} == {"valid", "flagged", "invalid", "not proven"}
    _, out, _ = wh_on(warehouse.project, "validity", "--where", "run_id=*steady*", "--rules")
    assert "runs without a steady-state window" in out
    without = [line for line in out.splitlines() if "no run states its" in line]
    assert any(" not checked " in line for line in without) and not [line for line in without if " publishable " in line]


@pytest.mark.parametrize(("where", "policy", "code"), [
    ("model=nobody*", "serving", "WH522"), ("modle=x", "serving", "WH522"), (None, "nobodys", "WH316"), (None, "exploratory", "WH522"),
])
def test_what_cannot_be_judged_is_an_error(warehouse: Warehouse, where: str | None, policy: str, code: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        validity(warehouse.project, where, policy)
    assert caught.value.code == code
