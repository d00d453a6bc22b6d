"""inference-perf: which files are one run, stages as points, requests given to their stages, servers of manifests."""

from __future__ import annotations

import json
from pathlib import Path

from landed import ISSUE_TABLE, Subject, codes, place
from samples.inference_perf import MANIFEST, REPORT, request, stage, write

INFERENCE_PERF = Subject("inference_perf")


def test_one_run_with_what_tells_of_it(tmp_path: Path) -> None:
    (draft,) = INFERENCE_PERF.drafts(write(tmp_path / "tree"))
    assert {file.raw_path: file.role for file in draft.files} == {
        "batch-size/manifests.yaml": "manifest",
        "batch-size/results/per_request_lifecycle_metrics.json": "requests",
        "batch-size/results/stage_0_lifecycle_metrics.json": "lifecycle",
        "batch-size/results/stage_0_prometheus_metrics.json": "prometheus",
        "batch-size/results/stage_1_lifecycle_metrics.json": "lifecycle",
        "batch-size/results/summary_lifecycle_metrics.json": "lifecycle",
    }
    assert draft.identity == {"experiment": "batch-size"}


def test_what_an_adapter_served_is_a_part_of_its_run_and_no_point(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree")
    results = tree / "batch-size" / "results"
    for name in ("adapter_sql-lora_stage_0", "adapter_sql-lora"):
        (results / f"{name}_lifecycle_metrics.json").write_text(json.dumps(stage(0.5, 1)))
    (tree / "mine").mkdir()  # a prefix of the user's own, in which the word stands
    (tree / "mine" / "big_adapter_run_stage_0_lifecycle_metrics.json").write_text(json.dumps(stage(0.5, 1)))
    draft, other = INFERENCE_PERF.drafts(tree)
    assert [file.role for file in other.files] == ["lifecycle"]
    assert [file.raw_path for file in draft.files if file.role == "adapter"] == [
        "batch-size/results/adapter_sql-lora_lifecycle_metrics.json", "batch-size/results/adapter_sql-lora_stage_0_lifecycle_metrics.json",
    ]
    rows = INFERENCE_PERF.rows(tree / "batch-size", tmp_path / "stored")
    assert codes(rows) == {}
    assert [row["point"] for row in rows["inference_perf_point"]] == ["stage_0", "stage_1"]
    counts = {row["point"]: row["value_number"] for row in rows["inference_perf_entry"] if row["key"] == "successes/count"}
    assert counts["adapter_sql-lora"] == counts["adapter_sql-lora_stage_0"] == 1 and counts["stage_0"] == 2


def test_the_cut_does_not_matter(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree")
    (whole,), (below,) = INFERENCE_PERF.drafts(tree), INFERENCE_PERF.drafts(tree / "batch-size")
    assert (whole.identity, [file.raw_path for file in whole.files]) == (below.identity, [file.raw_path for file in below.files])


def test_stages_are_points_and_requests_are_theirs(tmp_path: Path) -> None:
    rows = INFERENCE_PERF.rows(write(tmp_path / "tree"), tmp_path / "stored")
    assert codes(rows) == {}
    points = [(row["point"], row["stage"], row["requests_from_s"], row["requests_to_s"]) for row in rows["inference_perf_point"]]
    assert points == [("stage_0", 0, 100.0, 101.0), ("stage_1", 1, 102.0, 104.0)]
    whole = rows["inference_perf_request"][1]
    assert (whole["input_tokens"], whole["output_tokens"], whole["first_token_s"], whole["last_token_s"], whole["token_times"]) == (
        7, 3, 100.5, 101.0, 3,
    )
    assert json.loads(place(whole, tmp_path / "stored")) == request(100.0, False)
    assert rows["inference_perf_request"][0]["output_tokens"] == 3 and rows["inference_perf_request"][0]["first_token_s"] == 101.5
    assert (rows["inference_perf_request"][2]["error_type"], rows["inference_perf_request"][2]["error_msg"]) == (
        "TimeoutError", "too slow",
    )
    entries = {(row["point"], row["key"]): row for row in rows["inference_perf_entry"]}
    p90 = entries["stage_1", "successes/latency/request_latency/p90"]
    assert p90["value_number"] == 0.5 and place(p90, tmp_path / "stored") == b'"p90": 0.5'
    assert ("summary", "load_summary/count") in entries


def test_the_server_of_a_manifest(tmp_path: Path) -> None:
    rows = INFERENCE_PERF.rows(write(tmp_path / "tree"), tmp_path / "stored")
    (server,) = rows["inference_perf_server"]
    assert {key: server[key] for key in ("image", "arguments", "model", "accelerator", "accelerators_per_replica", "replicas")} == {
        "image": "vllm/vllm-openai:v0.11.0", "arguments": "--model=acme/7b --tensor-parallel-size=4", "model": "acme/7b",
        "accelerator": "nvidia-h100-80gb", "accelerators_per_replica": 4, "replicas": 2,
    }
    (run,) = rows["inference_perf_run"]
    assert json.loads(run["workload_document"]) == {
        "tool": "inference-perf", "model": "acme/7b", "stages": [{"requested_rate": 1}, {"requested_rate": 4.5}],
    }


def test_a_count_that_is_none_and_a_manifest_without_a_server(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree")
    manifest = tree / "batch-size" / "manifests.yaml"
    manifest.write_text(MANIFEST.replace("replicas: 2", "replicas: several").replace("nvidia.com/gpu: 4", "nvidia.com/gpu: null"))
    rows = INFERENCE_PERF.rows(tree, tmp_path / "stored")
    (server,) = rows["inference_perf_server"]
    assert (server["accelerators_per_replica"], server["replicas"]) == (None, None) and codes(rows) == {"not-a-number": 1}
    manifest.write_text(MANIFEST.replace("nvidia.com/gpu: 4", "cpu: 4"))
    rows = INFERENCE_PERF.rows(tree, tmp_path / "without")
    assert codes(rows) == {"no-server": 1} and not rows["inference_perf_server"]


def test_requests_whose_stage_cannot_be_told(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree")
    (tree / "batch-size/results/stage_1_lifecycle_metrics.json").unlink()
    rows = INFERENCE_PERF.rows(tree, tmp_path / "stored")
    assert codes(rows) == {"stage-unknown": 1} and rows["inference_perf_point"][0]["requests_from_s"] is None


def test_a_report_in_yaml_under_any_name(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mine.yaml").write_text(REPORT)
    rows = INFERENCE_PERF.rows(tmp_path / "tree", tmp_path / "stored")
    assert [row["point"] for row in rows["inference_perf_point"]] == ["lifecycle"] and not rows[ISSUE_TABLE]
    assert {row["key"]: row["value_number"] for row in rows["inference_perf_entry"]}["successes/count"] == 2
