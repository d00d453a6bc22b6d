"""serving_points, serving_frontier and serving_goodput say what `wh frontier` and `wh goodput` say, and their numbers are published, traced
and replayed from the records of vLLM."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from exhaustive import few
from once import once
from samples.bench_serving import FAILED, Request, requests, vllm_record, write
from samples.values import take_in
from standard import standard_project

from warehouse.analysis.serving.frontier import frontiers
from warehouse.analysis.serving.goodput import goodput
from warehouse.api import Warehouse
from warehouse.claims.publish.publish import publish
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

X, Y = "interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s"
CHAT = "ttft_ms<=600,itl_mean_ms<=60"
OUR_SLOS = """/*
feeds: serving_slo
*/
select 'chat' as slo, 600.0::double as ttft_ms, 60.0::double as itl_mean_ms, 0.4::double as target, 'our users' as source
"""


def record(of: list[Request], load: int, day: int, duration: float, **changes: Any) -> dict[str, Any]:
    found = vllm_record(of, model_id="acme/chat", max_concurrency=load, date=f"202601{day:02}-0200{load:02}", **changes)
    tokens_in, tokens_out = found["total_input_tokens"], found["total_output_tokens"]
    rates = {"request_throughput": found["completed"], "output_throughput": tokens_out, "total_token_throughput": tokens_in + tokens_out}
    return found | {"duration": duration} | {name: count / duration for name, count in rates.items()}


def write_curves(root: Path) -> Path:
    """Two accelerators, three loads, three days. The B200 at 16 is beaten by the H100 at 16. In one run requests fail, and some have a
    single token; one measurement is there twice; one run fails as a whole; one has no requests in its record."""
    seed = 0
    for accelerator, seconds in (("h100", {4: 14.0, 16: 6.0, 32: 4.0}), ("b200", {4: 10.0, 16: 9.0, 32: 5.0})):
        for load, duration in seconds.items():
            for day in (1, 2, 3):
                seed += 1
                slowness = 1 + load / 10
                of = [replace(each, gaps=tuple(gap * slowness for gap in each.gaps)) for each in requests(30 + 2 * day, seed)]
                if (load, day) == (16, 2):
                    of[:4] = [FAILED, FAILED, replace(of[2], gaps=()), replace(of[3], gaps=())]
                has_requests = (accelerator, load, day) != ("b200", 32, 3)
                made = record(of, load, day, duration, detailed=has_requests)
                write(root / f"{accelerator}_tp8_isl1024_osl128_conc{load}_day{day}.json", made)
                if (accelerator, load, day) == ("h100", 4, 1):
                    write(root / f"{accelerator}_tp8_isl1024_osl128_conc{load}_day{day}_again.json", made)
    write(root / "h100_tp8_isl1024_osl128_conc4_day4.json", record([FAILED] * 20, 4, 4, 14.0))
    return root


def make(folder: Path) -> None:
    project = standard_project(folder / "project")
    (project.root / "models" / "reference").mkdir(parents=True)
    (project.root / "models" / "reference" / "our_slo.sql").write_text(OUR_SLOS)
    take_in(project, write_curves(folder / "evidence"))
    build(project)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("curves")
    shutil.copytree(once("serving queries", make), root, symlinks=True, dirs_exist_ok=True)
    return read_project(root / "project")


def rows(project: Project, sql: str) -> list[dict[str, Any]]:
    return Warehouse(project).sql(sql).to_pylist()


def by_point(found: list[dict[str, Any]]) -> dict[tuple[str, float], dict[str, Any]]:
    return {(row["curve_key"], row["load"]): row for row in found}


def test_points_and_frontier_are_those_of_wh_frontier(project: Project) -> None:
    found = frontiers(project, X, Y)
    points = {(point.curve_key, point.load): point for each in found.frontiers for point in each.points}
    assert found.left_out == {"the same measurement as another run": 1, "failed": 1}
    for name, expected in (("points", points), ("frontier", {key: each for key, each in points.items() if each.is_on_frontier})):
        published = by_point(rows(project, f"from serving_{name}"))
        assert published.keys() == expected.keys()
        for key, row in published.items():
            point = expected[key]
            assert (row[X], row[Y]) == (pytest.approx(point.x, rel=1e-12), pytest.approx(point.y, rel=1e-12))
            assert row["run_count"] == len(point.run_ids) == 3
    assert len(points) == 6 and {point.is_on_frontier for point in points.values()} == {True, False}


def test_a_point_is_the_mean_of_what_its_records_state(project: Project) -> None:
    row = next(row for row in rows(project, "from serving_points where accelerator like 'B200%'") if row["load"] == 16)
    of = [[replace(each, gaps=tuple(gap * 2.6 for gap in each.gaps)) for each in requests(30 + 2 * day, 12 + day)] for day in (1, 2, 3)]
    of[1][:4] = [FAILED, FAILED, replace(of[1][2], gaps=()), replace(of[1][3], gaps=())]
    records = [vllm_record(each) for each in of]
    assert row["ttft_p99_ms"] == pytest.approx(sum(each["p99_ttft_ms"] for each in records) / 3, rel=1e-12)
    tokens = sum(each["total_output_tokens"] for each in records) / 3
    assert row[Y] == pytest.approx(tokens / 9.0 / 8, rel=1e-12)


@pytest.mark.parametrize("asked", ["chat", CHAT])
def test_goodput_is_that_of_wh_goodput(asked: str, project: Project) -> None:
    found = goodput(project, asked)
    loads = {(curve.curve_key, each.load): each for curve in found.curves for each in curve.loads}
    published = by_point(rows(project, "from serving_goodput where slo = 'chat'"))
    assert published.keys() == loads.keys() and len(loads) == 6
    for key, row in published.items():
        each = loads[key]
        assert row["run_count"] == len(each.run_ids) == 3
        assert row["reason"] == ("requests-missing" if each.reason else None)
        assert row["share"] == each.share and (row["goodput_per_s"] is None) == (each.goodput_per_s is None)
        if each.share is not None:
            assert row["goodput_per_s"] == pytest.approx(each.goodput_per_s, rel=1e-12)
            assert (row["met"], row["total"], row["is_target_met"]) == (each.met, each.total, each.share >= 0.4)
    assert found.target == (0.4 if asked == "chat" else 0.99)
    assert [key[1] for key, row in published.items() if row["reason"]] == [32] and any(row["is_target_met"] for row in published.values())


def test_a_share_counts_requests_as_they_were_written(project: Project) -> None:
    row = next(row for row in rows(project, "from serving_goodput where accelerator like 'H100%'") if row["load"] == 16)
    of = [replace(each, gaps=tuple(gap * 2.6 for gap in each.gaps)) for day in (1, 2, 3) for each in requests(30 + 2 * day, 3 + day)]
    of[32:36] = [FAILED, FAILED, replace(of[34], gaps=()), replace(of[35], gaps=())]
    met = [not each.error and each.ttft <= 0.6 and (not each.gaps or sum(each.gaps) / len(each.gaps) <= 0.06) for each in of]
    assert (row["total"], row["met"]) == (102, sum(met)) and 0 < sum(met) < 100


# Each takes 30 s. That the figures are those of `wh frontier` and `wh goodput` is tested above, that each query can be published by
# tests/test_publishable.py, and that serving results are published by tests/test_serving_honesty.py.
@pytest.mark.parametrize(("query", "column"), few([
    ("serving_goodput", "goodput_per_s"), ("serving_goodput", "share"), ("serving_points", "ttft_p99_ms"), ("serving_frontier", X),
], 0))
def test_a_number_is_traced_to_its_own_runs_and_replayed(query: str, column: str, project: Project) -> None:
    publish(project, query, as_provisional=True)
    warehouse = Warehouse(project)
    (row,) = rows(project, f"select curve_key, load, number_ids from {query} where accelerator like 'H100%' and load = 16")
    counted = "curve_key = '{curve_key}' and load = {load} and status = 'succeeded' and copy_of is null".format_map(row)
    runs = [each["run_id"] for each in rows(project, f"from mart.serving_curve where {counted} order by run_id")]
    lineage = warehouse.lineage(row["number_ids"][column])
    assert sorted(run["run_id"] for run in lineage.runs) == runs
    assert warehouse.verify(row["number_ids"][column]).state == "verified"
    # The failed run, the copy and the points that are beaten are accounted for; three runs are provisional.
    verdicts = {each.rule.id: each.verdict for each in lineage.worth.rules}
    assert {name: verdicts[name] for name in ("statistic", "method", "lineage", "accounted", "failures", "copies", "runs")} == {
        **dict.fromkeys(("statistic", "method", "lineage", "accounted", "failures", "copies"), "publishable"), "runs": "provisional",
    }


@pytest.mark.parametrize(("model", "benchmark"), [
    ("meta-llama/Llama-2-70b-chat-hf", "llama2-70b"), ("/models/Llama-2-70B-Chat-FP8", "llama2-70b"),
    ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"), ("nvidia/Llama-3.1-405B-Instruct-FP4", "llama3_1-405b"),
    ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama3_1-8b"), ("deepseek-ai/DeepSeek-R1", "deepseek-r1"), ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1"),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", None), ("meta-llama/Llama-2-7b-hf", None), ("meta-llama/Llama-3.1-80B", None),
])
def test_the_slos_of_mlperf_are_for_its_models(model: str, benchmark: str | None, project: Project) -> None:
    found = rows(project, f"select slo from serving_slo where regexp_full_match('{model}', model_pattern, 'i') order by slo")
    has_interactive = benchmark not in (None, "mixtral-8x7b")
    expected = [f"mlperf-{benchmark}"] * (benchmark is not None) + [f"mlperf-{benchmark}-interactive"] * has_interactive
    assert [row["slo"] for row in found] == expected


# --- one meaning of "met", in two places -------------------------------------------------------------------------

LIMITS: list[Mapping[str, float]] = [
    {"ttft_ms": 10, "itl_mean_ms": 5}, {"tpot_ms": 5}, {"e2e_ms": 20, "tpot_ms": 5}, {"ttft_ms": 3, "tpot_ms": 4, "itl_mean_ms": 6, "e2e_ms": 30},
]


def literal(value: Any) -> str:
    return "null" if value is None else f"'{value}'" if isinstance(value, str) else repr(value)


def table(header: str, types: Mapping[str, str], of: list[dict[str, Any]]) -> str:
    items = ", ".join(f"{name}::{kind} as {name}" for name, kind in types.items())
    values = ", ".join(f"({', '.join(literal(row.get(name)) for name in types)})" for row in of)
    columns = "\n".join(f"  {name}: {{type: {kind}}}" for name, kind in types.items())
    return f"/*\n{header}\nmaterialized: table\ncolumns:\n{columns}\n*/\nselect {items} from (values {values}) as v ({', '.join(types)})"


def test_a_named_slo_means_what_the_same_limits_mean(tmp_path: Path) -> None:
    chance = random.Random(5)
    times = ("ttft_ms", "tpot_ms", "itl_mean_ms", "e2e_ms")
    keys = {"run_id": "varchar", "workload_point": "varchar", "concurrency_point": "bigint", "request_rate_per_s": "double"}
    of = [
        {
            "run_id": f"r{number // 8}", "workload_point": "p", "status": chance.choice(["succeeded", "succeeded", "failed", None]),
            "output_token_count": chance.choice([0, 1, 2, 9, None]),
            **{name: chance.choice([None, 3.0, 4.0, 5.0, 5.5, 10.0, 20.0, 31.0]) for name in times},
        }
        for number in range(1600)
    ]
    slos = [{"slo": f"s{number}", "target": 0.5, **limits} for number, limits in enumerate(LIMITS)]
    points = [{"run_id": f"r{number}", "workload_point": "p", "curve_key": f"r{number}", "load_kind": "concurrency", "load": 1.0, "status": "succeeded"} for number in range(200)]
    models = {
        "serving_request": table("role: requests", {**keys, "status": "varchar", "output_token_count": "bigint", **dict.fromkeys(times, "double")}, of),
        "serving_slo": table("role: slos", {"slo": "varchar", **dict.fromkeys(times, "double"), "target": "double"}, slos),
        "point": table("role: load_points", {**keys, "curve_key": "varchar", "load_kind": "varchar", "load": "double", "status": "varchar"}, points),
        "serving_slo_count": (REPOSITORY / "models" / "marts" / "serving_slo_count.sql").read_text(),
    }
    project = init_project(tmp_path / "project", bare=True)
    for name, text in models.items():
        (project.root / "models" / f"{name}.sql").write_text(text)
    build(project)
    counts = {(row["slo"], row["run_id"]): row for row in rows(project, "from serving_slo_count")}
    assert len(counts) == 800
    opened = 0
    for number, limits in enumerate(LIMITS):
        named = goodput(project, f"s{number}")
        assert (named.limits, named.target) == (limits, 0.5)
        written = goodput(project, ",".join(f"{name}<={limit}" for name, limit in limits.items()))
        for curve, other in zip(named.curves, written.curves, strict=True):
            (load,), row = curve.loads, counts[f"s{number}", curve.curve_key]
            assert (load.met, load.total, load.share is None) == (row["met"], row["total"], row["open"] > 0)
            assert (curve.loads[0].met, curve.loads[0].share) == (other.loads[0].met, other.loads[0].share)
            opened += row["open"]
    assert opened > 100
