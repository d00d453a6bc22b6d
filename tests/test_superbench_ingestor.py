"""SuperBench: a node's results are a run whose metrics are indicators, a monitor's samples are slices."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from built import built, sql_of
from samples import fabric_check, superbench
from standard import standard_project


def test_each_node_is_a_run_and_each_metric_an_indicator(tmp_path: Path) -> None:
    fabric_check.write(tmp_path / "tree/results-summary.jsonl", superbench.RESULTS)
    project = built(tmp_path / "tree", standard_project(tmp_path / "project"))
    sql = sql_of(project)
    assert sql("select node_name, status, status_reason, intent from benchmark_run_fact order by all") == [
        ("gpu-01", "succeeded", None, "validation"), ("gpu-02", "failed", "nccl-bw/return_code:0: 28", "validation"),
    ]
    assert sql("select node_name, indicator, value_number from performance_indicator_fact inner join benchmark_run_fact using (run_id) "
               "where key = 'nccl-bw/allreduce_8388608_busbw:0' order by all") == [("gpu-01", "nccl-bw", 89.51), ("gpu-02", "nccl-bw", None)]
    assert sql("select indicator, kind, count(*) from performance_indicator_fact group by all order by all") == [
        ("bert_models/pytorch-bert-base", "result", 2), ("kernel-launch", "other", 2), ("kernel-launch", "result", 2),
        ("nccl-bw", "other", 2), ("nccl-bw", "result", 4),
    ]
    assert sql("select * from ingest_issue") == []


def test_a_metric_leads_to_its_bytes_and_a_bad_one_is_told(tmp_path: Path) -> None:
    text = superbench.RESULTS.replace("89.51", '"fast"')
    fabric_check.write(tmp_path / "tree/any-name.jsonl", text)
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    ((code, offset, length),) = sql("select code, raw_offset, raw_length from ingest_issue")
    assert code == "not-a-number" and text[offset : offset + length] == '"nccl-bw/allreduce_8388608_busbw:0": "fast"'
    assert sql("select value_text, value_number from performance_indicator_fact where value_text = 'fast'") == [("fast", None)]


def test_a_nodes_own_summary_is_not_counted_beside_that_of_all_nodes(tmp_path: Path) -> None:
    outputs = tmp_path / "tree/outputs"
    fabric_check.write(outputs / "results-summary.jsonl", superbench.RESULTS)
    for node, metrics in superbench.NODES.items():
        fabric_check.write(outputs / f"nodes/{node}/results-summary.json", json.dumps(metrics))
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select count(*) from benchmark_run_fact") == [(2,)]
    (outputs / "results-summary.jsonl").unlink()
    alone = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "alone")))
    assert alone("select node_name, status from benchmark_run_fact order by all") == [("gpu-01", "succeeded"), ("gpu-02", "failed")]


def test_a_monitors_samples_are_slices_of_gpus_and_a_node_list_of_another_tool_is_not_ours(tmp_path: Path) -> None:
    fabric_check.write(tmp_path / "tree/nodes/gpu-01/monitor.jsonl", superbench.MONITOR)
    for name, text in (("nodes.jsonl", '{"node": "a", "state": "idle"}\n'), ("hosts.json", '{"node": "a", "path": "/x"}'), ("cpu.jsonl", '{"cpu_usage": 5}\n')):
        fabric_check.write(tmp_path / "tree/other" / name, text)
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select scope, node_name, window_start, metric, unit, value_mean from telemetry_slice_fact where scope_name = 'gpu 1' "
               "order by window_start, metric limit 3") == [
        ("gpu", "gpu-01", datetime(2021, 12, 6, 4, 19, 35, tzinfo=UTC), *values)
        for values in (("gpu_memory_used_bytes", "bytes", 267517952), ("gpu_temperature_c", "°C", 27.0), ("gpu_util_pct", "%", 57.0))
    ]
    assert sql("select count(*), count(distinct (scope_name, window_start)) from telemetry_slice_fact") == [(12, 4)]
    assert sql("select is_zone_assumed, duration_s from benchmark_run_fact") == [(True, 11.0)]
    assert sql("select family, count(*) from raw_artifact group by all order by all") == [("superbench", 1), ("unrecognised", 3)]


@pytest.mark.exhaustive
def test_the_real_results_and_samples(missed_evidence: Path, tmp_path: Path) -> None:
    tree = missed_evidence / "microsoft__superbenchmark/tests"
    sql = sql_of(built(tree, standard_project(tmp_path / "project")))
    truth = {}
    for line in (tree / "analyzer/test_results.jsonl").read_text().splitlines():
        stated = json.loads(line)
        node = stated.pop("node")
        truth |= {(node, key): float(value) for key, value in stated.items()}
    found = sql("select node_name, key, value_number from performance_indicator_fact inner join benchmark_run_fact using (run_id)")
    assert {(node, key): value for node, key, value in found} == truth
    samples = [json.loads(line) for line in (tree / "data/monitor/monitor.jsonl").read_text().splitlines()]
    assert sorted(sql("select value_mean from telemetry_slice_fact where metric = 'gpu_util_pct'")) == sorted(
        (float(value),) for stated in samples for key, value in stated.items() if key.startswith("gpu_usage:")
    )
