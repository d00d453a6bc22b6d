"""llm-d benchmark reports: both versions in YAML and JSON, units as stated, the engines of the stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import llm_d_report as sample

LLM_D = Subject("llm_d_report")


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_both_versions_in_both_notations(tmp_path: Path, suffix: str) -> None:
    old = LLM_D.rows(sample.write(tmp_path / "old", sample.old(), suffix), tmp_path / "a")
    new = LLM_D.rows(sample.write(tmp_path / "new", sample.new(), suffix), tmp_path / "b")
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


@pytest.mark.parametrize(("sizes", "is_issue"), [({"tp": 4}, True), ({"tp": 4, "dp": 2}, False), ({"tp": 4, "workers": 2}, False), ({"tp": 4, "dp": None}, False)])
def test_a_count_of_accelerators_that_the_sizes_contradict(tmp_path: Path, sizes: dict[str, Any], is_issue: bool) -> None:
    report = sample.new()
    report["scenario"]["stack"][0]["standardized"]["accelerator"]["parallelism"] |= sizes
    rows = LLM_D.rows(sample.write(tmp_path / "tree", report, "json"), tmp_path / "store")
    assert codes(rows) == ({"accelerator-count-disagrees": 1} if is_issue else {})
    assert rows["llm_d_report_engine"][0]["accelerator_count"] == (None if is_issue else 8)


def test_notation_is_no_part_of_the_workload(tmp_path: Path) -> None:
    digests = {
        LLM_D.rows(sample.write(tmp_path / suffix, sample.new(), suffix), tmp_path / f"s-{suffix}")["llm_d_report_run"][0]["workload_spec_digest"]
        for suffix in ("yaml", "json")
    }
    assert len(digests) == 1


def test_a_report_in_both_notations_is_one_run(tmp_path: Path) -> None:
    for suffix in ("json", "yaml"):
        path = sample.write(tmp_path / suffix, sample.new(), suffix)
        for file in path.rglob("*.*"):
            (tmp_path / "tree").mkdir(exist_ok=True)
            (tmp_path / "tree" / f"report.{suffix}").write_bytes(file.read_bytes())
    (draft,) = LLM_D.drafts(tmp_path / "tree")
    assert [(file.raw_path, file.role) for file in draft.files] == [("report.json", "report"), ("report.yaml", "restatement")]
    (tmp_path / "tree/report.yaml").write_text((tmp_path / "tree/report.yaml").read_text().replace("10", "11"))
    assert len(LLM_D.drafts(tmp_path / "tree")) == 2


@pytest.mark.parametrize("statistic", [{"units": "jiffies", "mean": 1.0}, {"mean": 1.0}])
def test_a_unit_that_is_not_known_is_told(tmp_path: Path, statistic: dict[str, Any]) -> None:
    for name, report in (("old", sample.old(inter_token_latency=statistic)), ("new", sample.new(inter_token_latency=statistic))):
        rows = LLM_D.rows(sample.write(tmp_path / name, report, "yaml"), tmp_path / f"{name}-stored")
        assert codes(rows) == {"unknown-unit": 1} and "inter_token_latency" in rows[ISSUE_TABLE][0]["message"]


def test_other_yaml_and_json_is_left(tmp_path: Path) -> None:
    tree = sample.write(tmp_path / "tree", sample.old(), "yaml")
    (tree / "values.yaml").write_text("version: 1\nscenario: x\n")
    (tree / "x.json").write_text('{"version": 1, "results": []}')
    assert [file.raw_path for draft in LLM_D.drafts(tree) for file in draft.files] == ["report.yaml"]


def test_a_later_version_says_so(tmp_path: Path) -> None:
    rows = LLM_D.rows(sample.write(tmp_path / "tree", sample.new() | {"version": "0.9"}, "yaml"), tmp_path / "stored")
    assert codes(rows) == {"unknown-version": 1} and rows["llm_d_report_entry"]


@pytest.mark.parametrize(
    ("request_latency", "first_token", "unit"),
    [
        ({"units": "ms", "mean": 2.33}, {"units": "ms", "mean": 1006.2}, "s"),  # as older converters write it
        ({"units": "s", "mean": 2.33}, {"units": "ms", "mean": 1006.2}, "s"),  # as they do since
        ({"units": "ms", "mean": 2330.0}, {"units": "ms", "mean": 1006.2}, "ms"),  # as one may that converts
        ({"units": "ms", "mean": 2.33}, {"units": "ms", "mean": 0.0}, None),  # not streamed: nothing tells
        ({"units": "ms", "mean": 2.33}, None, None),
    ],
)
def test_guidellm_s_request_latency_is_in_seconds_whatever_a_converter_calls_it(
    tmp_path: Path, request_latency: dict[str, Any], first_token: dict[str, Any] | None, unit: str | None
) -> None:
    latency = {"request_latency": request_latency} | ({"time_to_first_token": first_token} if first_token else {})
    for name, report in (("old", sample.old(**latency)), ("new", sample.new(**latency))):
        load = report["scenario"]["load"]
        load.get("standardized", load)["tool" if name == "new" else "name"] = "guidellm"
        if not first_token and name == "new":
            del report["results"]["request_performance"]["aggregate"]["latency"]["time_to_first_token"]
        rows = LLM_D.rows(sample.write(tmp_path / name, report, "yaml"), tmp_path / f"{name}-stored")
        (run,) = rows["llm_d_report_run"]
        assert (run["load_tool"], run["request_latency_unit"]) == ("guidellm", unit)
        assert codes(rows) == ({} if unit == request_latency["units"] else {"unit-contradicted": 1})
