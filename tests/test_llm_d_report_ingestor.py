"""llm-d benchmark reports: both versions in YAML and JSON, units as stated, the engines of the stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from samples.ingestors import ISSUE_TABLE, Subject, codes, place

LLM_D = Subject("llm_d_report")


def _old(**latency: Any) -> dict[str, Any]:
    return {
        "version": "0.1",
        "scenario": {
            "host": {"type": ["prefill", "decode"], "accelerator": [
                {"model": "H100", "memory": 80, "count": 1, "parallelism": {"tp": 1}},
                {"model": "H100", "memory": 80, "count": 8, "parallelism": {"tp": 8, "dp": 1, "pp": 1, "ep": 8}},
            ]},
            "platform": {"engine": [{"name": "vllm", "version": "0.9.0.1"}, {"name": "vllm", "version": "0.9.0.1"}]},
            "model": {"name": "acme/7b"},
            "load": {"name": "inference-perf", "type": "long-input", "args": {"qps_values": 1.34}},
        },
        "metrics": {
            "time": {"duration": 16.5, "start": 1749570583.5},
            "requests": {"total": 32, "failures": 2, "incomplete": 1},
            "latency": {"request_latency": {"units": "ms", "mean": 3.5, "p90": 5.25}, **latency},
            "throughput": {"requests_per_sec": 1.25},
        },
    }


def _new(**latency: Any) -> dict[str, Any]:
    engine = {
        "kind": "inference_engine", "tool": "llm-d", "tool_version": "ghcr.io/llm-d/llm-d-cuda:0.3.1", "role": "decode",
        "replicas": 2, "model": {"name": "acme/7b"},
        "accelerator": {"model": "H200", "count": 8, "parallelism": {"tp": 8, "dp": 1, "pp": 1, "ep": 1}},
    }
    return {
        "results": {"request_performance": {"aggregate": {
            "requests": {"total": 500, "failures": 0},
            "latency": {"time_to_first_token": {"units": "s", "mean": 0.25, "p99": 0.5}, **latency},
            "throughput": {"request_rate": {"units": "queries/s", "mean": 4.5}},
        }}},
        "run": {"uid": "38b1f169ca178b756f7483523b17de61", "time": {"duration": "PT49.5S", "start": "2025-11-05T18:00:42Z"}},
        "scenario": {
            "load": {"standardized": {"tool": "inference-perf", "tool_version": "0.3.0", "stage": 3, "rate_qps": 10.0}},
            "stack": [{"metadata": {"label": "a"}, "standardized": engine}, {"standardized": {"kind": "generic", "tool": "router"}}],
        },
        "version": "0.2.1",
    }


def _write(top: Path, report: dict[str, Any], suffix: str) -> Path:
    top.mkdir(parents=True)
    text = json.dumps(report) if suffix == "json" else yaml.safe_dump(report)
    (top / f"report.{suffix}").write_text(text)
    return top


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_both_versions_in_both_notations(tmp_path: Path, suffix: str) -> None:
    old = LLM_D.rows(_write(tmp_path / "old", _old(), suffix), tmp_path / "a")
    new = LLM_D.rows(_write(tmp_path / "new", _new(), suffix), tmp_path / "b")
    assert codes(old) == codes(new) == {}
    stated = {row["key"]: row for row in old["llm_d_report_entry"]}
    assert stated["metrics/latency/request_latency/p90"]["value_number"] == 5.25
    assert b"5.25" in place(stated["metrics/latency/request_latency/p90"], tmp_path / "a")
    assert stated["metrics/latency/request_latency/units"]["value"] == "ms"
    keys = ("role", "tool", "tool_version", "model", "accelerator", "accelerator_count", "replicas", "tensor_parallel", "expert_parallel")
    assert [tuple(row[key] for key in keys) for row in old["llm_d_report_engine"]] == [
        ("prefill", "vllm", "0.9.0.1", "acme/7b", "H100", 1, 1, 1, None), ("decode", "vllm", "0.9.0.1", "acme/7b", "H100", 8, 1, 8, 8),
    ]
    assert [tuple(row[key] for key in keys) for row in new["llm_d_report_engine"]] == [
        ("decode", "llm-d", "ghcr.io/llm-d/llm-d-cuda:0.3.1", "acme/7b", "H200", 8, 2, 8, 1),
    ]
    assert new["llm_d_report_run"][0]["run_id"] == "llm-d/38b1f169ca178b756f7483523b17de61"
    assert (new["llm_d_report_run"][0]["workload_point"], old["llm_d_report_run"][0]["workload_point"]) == ("stage_3", "long-input")
    assert json.loads(new["llm_d_report_run"][0]["workload_document"]) == {
        "tool": "llm-d-benchmark", "model": "acme/7b", "load": {"standardized/tool": "inference-perf", "standardized/rate_qps": 10},
    }


def test_notation_is_no_part_of_the_workload(tmp_path: Path) -> None:
    digests = {
        LLM_D.rows(_write(tmp_path / suffix, _new(), suffix), tmp_path / f"s-{suffix}")["llm_d_report_run"][0]["workload_spec_digest"]
        for suffix in ("yaml", "json")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("statistic", [{"units": "jiffies", "mean": 1.0}, {"mean": 1.0}])
def test_a_unit_that_is_not_known_is_told(tmp_path: Path, statistic: dict[str, Any]) -> None:
    for name, report in (("old", _old(inter_token_latency=statistic)), ("new", _new(inter_token_latency=statistic))):
        rows = LLM_D.rows(_write(tmp_path / name, report, "yaml"), tmp_path / f"{name}-stored")
        assert codes(rows) == {"unknown-unit": 1} and "inter_token_latency" in rows[ISSUE_TABLE][0]["message"]


def test_other_yaml_and_json_is_left(tmp_path: Path) -> None:
    tree = _write(tmp_path / "tree", _old(), "yaml")
    (tree / "values.yaml").write_text("version: 1\nscenario: x\n")
    (tree / "x.json").write_text('{"version": 1, "results": []}')
    assert [file.raw_path for draft in LLM_D.drafts(tree) for file in draft.files] == ["report.yaml"]


def test_a_later_version_says_so(tmp_path: Path) -> None:
    rows = LLM_D.rows(_write(tmp_path / "tree", _new() | {"version": "0.9"}, "yaml"), tmp_path / "stored")
    assert codes(rows) == {"unknown-version": 1} and rows["llm_d_report_entry"]


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_damage_of_any_kind_raises_nothing(tmp_path: Path, suffix: str) -> None:
    LLM_D.fuzz(_write(tmp_path / "old", _old(), suffix), tmp_path / "a", 40)
    LLM_D.fuzz(_write(tmp_path / "new", _new(), suffix), tmp_path / "b", 40)
