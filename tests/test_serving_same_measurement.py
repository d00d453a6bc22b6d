"""One measurement is one run: lists that repeat records, AIPerf exports that are also a record of InferenceX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from landed import drafts, landed, load
from samples import bench_serving, genai_perf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import Plan, ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.transform.build.build import build

SERVING = load("bench_serving")
AGENTIC = "tp2_conc16_mi355x"


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=4))


def records(count: int) -> list[dict[str, Any]]:
    return [genai_perf.inferencex_of(genai_perf.measured(20 + number, number)) for number in range(count)]


def planned(tree: Path, project: Path) -> Plan:
    return plan_ingest(tree, load_ingestors(init_project(project)).values())


def roles(plan: Plan) -> list[tuple[str, list[tuple[str | None, str]]]]:
    """Of each recognised bundle the family, and the roles and paths of its files."""
    return [(family, sorted((file.role, file.file.path) for file in draft.files)) for family, draft in plan.recognised]


class TestLists:
    @pytest.mark.parametrize("name", ["agg_bmk.json", "summary.json", "all results.json"])
    def test_a_list_that_repeats_the_records_of_files_beside_it_has_no_runs_for_them(self, tmp_path: Path, name: str) -> None:
        one, two, three = records(3)
        write(tmp_path / "tree/bmk_a/a.json", one)
        write(tmp_path / "tree/bmk_b/b.json", two)
        write(tmp_path / "tree/results" / name, [two, three, one])
        found = drafts(SERVING, tmp_path / "tree")
        assert [[(file.role, file.records, file.is_restatement) for file in draft.files] for draft in found] == [
            [("result", (0,), False), ("restatement", (2,), True)], [("result", (0,), False), ("restatement", (0,), True)],
            [("result", (1,), False)],
        ]
        runs = landed(SERVING, tmp_path / "tree", tmp_path / "store")["bench_serving_run"]
        assert [run["max_concurrency"] for run in runs] == [16] * 3 and len({run["run_id"] for run in runs}) == 3
        assert [run["raw_path"].rpartition("/")[2] for run in runs] == ["a.json", "b.json", name]

    def test_a_list_within_an_object_is_a_list(self, tmp_path: Path) -> None:
        one, two = records(2)
        write(tmp_path / "tree/bmk_a/a.json", one)
        write(tmp_path / "tree/all.json", {"results": [two, one]})
        found = drafts(SERVING, tmp_path / "tree")
        assert [[(file.role, file.records) for file in draft.files] for draft in found] == [
            [("result", (0,))], [("result", (0,)), ("restatement", (1,))],
        ]
        assert len(landed(SERVING, tmp_path / "tree", tmp_path / "store")["bench_serving_run"]) == 2

    def test_a_list_that_adds_to_the_records_repeats_them(self, tmp_path: Path) -> None:
        vllm = bench_serving.vllm_record(bench_serving.requests(9), False)
        write(tmp_path / "a.json", vllm)
        write(tmp_path / "all.json", [{"experiment": "x", **vllm}])
        (draft,) = drafts(SERVING, tmp_path)
        assert sorted(file.role or "" for file in draft.files) == ["restatement", "result"]

    def test_a_copy_that_was_appended_to_repeats_what_it_was_copied_with(self, tmp_path: Path) -> None:
        lines = [json.dumps(bench_serving.sglang_record(bench_serving.requests(9, seed))) for seed in range(3)]
        (tmp_path / "first.jsonl").write_text("\n".join(lines[:2]))
        (tmp_path / "later.jsonl").write_text("\n".join(lines))
        assert [draft.identity for draft in drafts(SERVING, tmp_path)] == [{}, {"records": {"later.jsonl": [2]}}]

    @pytest.mark.parametrize("key", ["mean_ttft", "conc", "p95_e2el"])
    def test_a_record_that_differs_is_a_run_of_its_own(self, tmp_path: Path, key: str) -> None:
        (one,) = records(1)
        write(tmp_path / "a.json", one)
        write(tmp_path / "all.json", [one | {key: one[key] * 2}])
        assert [[file.role for file in draft.files] for draft in drafts(SERVING, tmp_path)] == [["result"], ["result"]]


class TestAiperf:
    @pytest.mark.parametrize("how", [{}, {"nested": True}, {"digits": 6}])
    def test_an_export_that_is_also_an_inferencex_record_is_one_run(self, tmp_path: Path, how: dict[str, Any]) -> None:
        values = genai_perf.measured(57)
        write(tmp_path / "tree" / f"agentic_{AGENTIC}/aiperf_artifacts/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        write(tmp_path / "tree" / f"bmk_agentic_{AGENTIC}/x.json", genai_perf.inferencex_of(values, **how))
        assert roles(planned(tmp_path / "tree", tmp_path / "p")) == [
            ("genai_perf", [
                ("inferencex", f"bmk_agentic_{AGENTIC}/x.json"), ("summary", f"agentic_{AGENTIC}/aiperf_artifacts/profile_export_aiperf.json"),
            ])
        ]

    @pytest.mark.parametrize("is_within_an_object", [False, True])
    def test_so_is_one_that_only_a_list_repeats_and_the_rest_of_the_list_stays(self, tmp_path: Path, is_within_an_object: bool) -> None:
        values = genai_perf.measured(57)
        write(tmp_path / "tree/aiperf_artifacts/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        listed = [*records(2), genai_perf.inferencex_of(values)]
        write(tmp_path / "tree/results_bmk/agg_bmk.json", {"results": listed} if is_within_an_object else listed)
        plan = planned(tmp_path / "tree", tmp_path / "p")
        (serving,) = [draft for family, draft in plan.recognised if family == "bench_serving"]
        assert serving.identity == {"records": {"agg_bmk.json": [0, 1]}} and serving.runs == ("agg_bmk", "agg_bmk/2")
        runs = [run for family, draft in plan.recognised for run in draft.runs]
        assert len(runs) == 3 and not plan.leftovers
        [deployment] = landed(load("genai_perf"), tmp_path / "tree", tmp_path / "store")["genai_perf_deployment"]
        assert (deployment["system_name"], deployment["tensor_parallel"]) == ("mi355x", 2)

    @pytest.mark.parametrize(("key", "value"), [("num_requests_successful", 56), ("p95_ttft", 0.5), ("mean_e2el", 6.0)])
    def test_one_figure_that_differs_is_no_proof(self, tmp_path: Path, key: str, value: float) -> None:
        values = genai_perf.measured(57)
        write(tmp_path / "tree/a/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        write(tmp_path / "tree/b/x.json", genai_perf.inferencex_of(values) | {key: value})
        assert sorted(family for family, _ in roles(planned(tmp_path / "tree", tmp_path / "p"))) == ["bench_serving", "genai_perf"]

    def test_few_digits_are_no_proof(self, tmp_path: Path) -> None:
        values = genai_perf.measured(57)
        write(tmp_path / "tree/a/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        write(tmp_path / "tree/b/x.json", genai_perf.inferencex_of(values, digits=1))
        assert sorted(family for family, _ in roles(planned(tmp_path / "tree", tmp_path / "p"))) == ["bench_serving", "genai_perf"]


def add(warehouse: Warehouse, *trees: Path) -> None:
    ingestors = load_ingestors(warehouse.project).values()
    for tree in trees:
        ingest(plan_ingest(tree, ingestors), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged


def test_what_was_taken_in_apart_is_flagged_where_the_rollup_shows_it(tmp_path: Path) -> None:
    """And once it lies together, the run has the record's configuration, each value from the bytes that state it."""
    warehouse = Warehouse(standard_project(tmp_path / "p"))
    values, other = genai_perf.measured(57), genai_perf.measured(31, 9)
    write(tmp_path / "t/aiperf/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
    write(tmp_path / "t/bmk/x.json", genai_perf.inferencex_of(values))
    write(tmp_path / "t/bmk/y.json", genai_perf.inferencex_of(other))
    add(warehouse, tmp_path / "t/aiperf", tmp_path / "t/bmk")
    rows = {row["run_id"].split("/")[0] + str(row["completed_count"]): row for row in warehouse.sql("from serving_results").to_pylist()}
    assert rows["genai-perf57"]["same_figures_as"] == rows["inferencex57"]["run_id"]
    assert rows["inferencex57"]["same_figures_as"] == rows["genai-perf57"]["run_id"]
    assert rows["inferencex31"]["same_figures_as"] is None and len(rows) == 3
    assert rows["genai-perf57"]["accelerator"] is None

    add(warehouse, tmp_path / "t")
    (row,) = warehouse.sql("from serving_results where family = 'genai_perf'").to_pylist()
    assert (row["run_id"], row["accelerator"], row["accelerator_count"]) == (rows["genai-perf57"]["run_id"], "mi355x", 2)
    assert (row["framework"], row["framework_version"], row["precision"]) == ("sglang", "0.5.12.post1", "fp4")
    assert (row["deployment_model"], row["failed_count"], row["error_rate"]) == ("TP2 EP1", 0, 0)
    (run,) = warehouse.sql(f"from benchmark_run_fact where run_id = '{row['run_id']}'").to_pylist()
    assert not run["has_conflict"]


def test_a_run_has_the_power_and_the_flags_that_its_record_states(tmp_path: Path) -> None:
    power = {"power_valid": 1, "avg_power_w": 500.0, "avg_total_gpu_power_w": 1000.0, "joules_per_output_token": 0.4}
    stated = {
        21: power | {"spec_decoding": "mtp", "dp_attention": "true"}, 22: power | {"power_valid": 0}, 23: power | {"avg_total_gpu_power_w": -1.0},
        24: {"avg_total_gpu_power_w": 1000.0},
    }
    for count, changes in stated.items():
        values = genai_perf.measured(count, count)
        write(tmp_path / f"t/{count}/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
        write(tmp_path / f"t/{count}/record.json", genai_perf.inferencex_of(values) | changes)
    warehouse = Warehouse(standard_project(tmp_path / "p"))
    add(warehouse, tmp_path / "t")
    rows = warehouse.sql(
        "select completed_count as n, accelerator_power_w as w, accelerator_energy_per_output_token_j as j, server_flags as flags"
        " from serving_outcome_fact inner join serving_configuration_fact using (run_id) order by n"
    ).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (21, 1000.0, 0.4, "--dp-attention=true --kv-offloading=hicache --spec-decoding=mtp"), (22, None, None, "--kv-offloading=hicache"),
        (23, None, 0.4, "--kv-offloading=hicache"), (24, None, None, "--kv-offloading=hicache"),
    ]


def test_a_list_that_has_grown_since_is_no_conflict(tmp_path: Path) -> None:
    warehouse = Warehouse(standard_project(tmp_path / "p"))
    one, two = records(2)
    write(tmp_path / "t/a.json", one)
    write(tmp_path / "t/agg.json", [one])
    add(warehouse, tmp_path / "t")
    write(tmp_path / "t/b.json", two)
    write(tmp_path / "t/agg.json", [one, two])
    add(warehouse, tmp_path / "t")
    assert warehouse.sql("select has_conflict, count(*) as n from benchmark_run_fact group by 1").to_pylist() == [
        {"has_conflict": False, "n": 2}
    ]

