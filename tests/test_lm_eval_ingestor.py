"""Results of lm-evaluation-harness: recognition, what lands and where, what cannot be, and the facts with the deployment that served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import lm_eval as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Unclaimed
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

LM_EVAL = Subject("lm_eval")


def test_results_are_recognised_by_their_sections(tmp_path: Path) -> None:
    sample.write(tmp_path / "a/any name.json", sample.results())
    sample.write(tmp_path / "a/meta_env.json", sample.meta_env())
    sample.write(tmp_path / "b/meta_env.json", sample.meta_env())
    sample.write(tmp_path / "other.json", {"results": {"gsm8k": {"exact_match,strict-match": 1.0}}})
    sample.write(tmp_path / "older.json", {"results": {"gsm8k": {"acc": 1.0}}, "configs": {}, "versions": {}, "n-shot": {}})
    assert [[file.raw_path for file in draft.files] for draft in LM_EVAL.drafts(tmp_path)] == [["any name.json", "meta_env.json"]]
    unclaimed = [found.path for found in LM_EVAL.ingestor.bundles(list_tree(tmp_path)) if isinstance(found, Unclaimed)]
    assert unclaimed == ["b/meta_env.json"]


def test_rows_are_what_the_file_states(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/r.json", sample.results())
    rows = LM_EVAL.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {}
    found = {(row["kind"], row["key"]): row for row in rows["lm_eval_metric"]}
    metric = found["result", "gsm8k/exact_match_stderr,strict-match"]
    assert (metric["task"], metric["value_number"]) == ("gsm8k", 0.007740058563)
    assert place(metric, tmp_path / "stored") == b'"exact_match_stderr,strict-match": 0.007740058563'
    unknown = found["result", "mmlu/acc_stderr,none"]
    assert (unknown["value_type"], unknown["value_text"], unknown["value_number"]) == ("string", "N/A", None)
    assert found["parameter", "n-shot/gsm8k"]["value_number"] == 5 and found["parameter", "n-samples/mmlu/effective"]["value_number"] == 16
    (run,) = rows["lm_eval_run"]
    assert (run["model"], run["backend"], run["duration_s"], run["is_measured"]) == ("acme/7b", "local-chat-completions", 100.5, True)
    assert run["started_at"].timestamp() == 1777622400.25
    document = json.loads(run["workload_document"])
    assert document["tasks"] == {"gsm8k": {"n_shot": 5, "version": 3}, "mmlu": {"n_shot": 0, "version": 2}}
    assert document["config/gen_kwargs/max_tokens"] == 4096 and "node7" not in run["workload_document"]


def test_the_model_of_results_that_do_not_name_it(tmp_path: Path) -> None:
    old = {key: value for key, value in sample.results().items() if not key.startswith("model_")}
    for number, (arguments, model) in enumerate({"dtype=auto,pretrained=acme/1b": "acme/1b", "dtype=auto": None}.items()):
        sample.write(tmp_path / f"{number}/r.json", old | {"config": {"model": "hf", "model_args": arguments}})
        assert LM_EVAL.rows(tmp_path / str(number), tmp_path / f"stored{number}")["lm_eval_run"][0]["model"] == model
    sample.write(tmp_path / "2/r.json", old | {"config": {"model": "hf", "model_args": {"pretrained": "acme/2b"}}})
    assert LM_EVAL.rows(tmp_path / "2", tmp_path / "stored2")["lm_eval_run"][0]["model"] == "acme/2b"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"results": {"gsm8k": {"exact_match,strict-match": "high", "acc,none": 0.5}}}, "not-a-number"),
        ({"results": {"gsm8k": {"exact_match,strict-match": float("nan"), "acc,none": 0.5}}}, "non-finite-number"),
        ({"results": {"gsm8k": {"exact_match,strict-match": None}}}, "no-results"),
        ({"date": "yesterday"}, "impossible-time"),
        ({"date": -5.0}, "impossible-time"),
        ({"total_evaluation_time_seconds": "-100.5"}, "impossible-duration"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    sample.write(tmp_path / "tree/r.json", sample.results(**changes))
    assert codes(LM_EVAL.rows(tmp_path / "tree", tmp_path / "stored")) == {code: 1}


def test_results_that_break_off_keep_what_they_state(tmp_path: Path) -> None:
    path = sample.write(tmp_path / "tree/r.json", sample.results())
    path.write_text(path.read_text().partition('"git_hash"')[0])
    rows = LM_EVAL.rows(tmp_path / "tree", tmp_path / "stored")
    assert {row["severity"] for row in rows[ISSUE_TABLE]} == {"error"}
    assert (rows["lm_eval_run"][0]["is_measured"], rows["lm_eval_run"][0]["started_at"]) == (True, None)


def test_facts_of_a_served_model_and_of_one_alone(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "evidence")
    sample.write(tmp_path / "evidence/served/results_2026-05-01T09-00-00_conc16.json", sample.results(date=1777626000.0))
    project = standard_project(tmp_path / "p")
    ingest(plan_ingest(tmp_path / "evidence", load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
    assert not build(project).damaged
    warehouse = Warehouse(project)
    runs = warehouse.sql(
        "select run.mode, run.status, is_zone_assumed as assumed, model, concurrency_point as load, served.precision, software.framework,"
        " framework_version, gpu_model, gpu_count, tensor_parallel_size as tp, server_flags, strict.value_number as strict"
        " from benchmark_run_fact as run inner join workload_dim as workload using (workload_spec_digest)"
        " inner join software_version_dim as software using (software_version_key)"
        " left join hardware_topology_dim as hardware using (hardware_topology_key) left join serving_configuration_fact as served using (run_id)"
        " inner join performance_indicator_fact as strict on strict.run_id = run.run_id and strict.key = 'gsm8k/exact_match,strict-match'"
        " order by model, load"
    ).to_pylist()
    served = ("fp8", "vllm", "0.11.0", "h200", 8, 8, "--spec-decoding=mtp", 0.9135708870356331)
    assert [tuple(row.values()) for row in runs] == [
        ("accuracy", "succeeded", False, "acme/1b", None, *[None] * 7, 0.9135708870356331),
        ("accuracy", "succeeded", False, "acme/7b", 16, *served), ("accuracy", "succeeded", False, "acme/7b", 64, *served),
    ]
    assert warehouse.sql("select run_id from serving_results").to_pylist() == []
    assert warehouse.sql("select message from ingest_issue where severity = 'error'").to_pylist() == []
