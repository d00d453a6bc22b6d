"""Akamas studies: what lands, units by the query, and window means that are those of the study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from landed import Subject, codes, place
from samples import akamas as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

AKAMAS = Subject("akamas")


def built(tree: Path, root: Path) -> Warehouse:
    warehouse = Warehouse(standard_project(root))
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    return warehouse


def test_trials_parameters_and_points_land(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    rows = AKAMAS.rows(tmp_path / "tree", tmp_path / "stored")
    assert codes(rows) == {}
    first, second = rows["akamas_trial"]
    assert (first["run_id"], first["state"], first["score"], first["is_baseline"]) == (f"akamas/{sample.STUDY}/1/1", "FINISHED", 590.5, True)
    assert (second["state"], second["score"], second["window_start"], second["is_baseline"]) == ("ERROR", None, None, False)
    values = {(row["run_id"][-3:], row["key"]): row for row in rows["akamas_value"]}
    assert values["2/1", "vLLM.dtype"]["value_text"] == "bfloat16" and values["1/1", "vLLM.max_num_seqs"]["value_number"] == 128
    aggregate = values["1/1", "gpu.gpu_sm_active/max"]
    assert place(aggregate, tmp_path / "stored").startswith(b'"gpu.gpu_sm_active": {')
    units = {row["metric"]: row["unit"] for row in rows["telemetry_series"]}
    assert units == {"gpu_sm_active": "ratio", "time_to_first_token_p95": "ms", "decode_token_throughput": "tokens/s", "own_metric": None}
    samples = [row for row in rows["telemetry_sample"] if row["raw_path"] == "metrics-gpu-gpu_sm_active.json"]
    assert len(samples) == 41 and samples[1]["previous_value"] == samples[0]["value"] == 0.5
    assert json.loads(place(samples[1], tmp_path / "stored"))["value"] == samples[1]["value"]


def test_labels_that_a_query_keeps_tell_series_apart(tmp_path: Path) -> None:
    """Two GPUs of one component are two series: 300 W and 100 W are not one that goes up and down."""
    points = [point | {"labels": point["labels"] | {"gpu": gpu}, "value": watts} for gpu, watts in (("0", 300), ("1", 100)) for point in sample.points("gpu_power_usage")]
    sample.write_all(tmp_path / "tree")
    (tmp_path / "tree/metrics-gpu-gpu_power_usage.json").write_text(json.dumps(points))
    rows = AKAMAS.rows(tmp_path / "tree", tmp_path / "stored")
    series = {row["series_number"]: json.loads(row["labels"])["gpu"] for row in rows["telemetry_series"] if row["metric"] == "gpu_power_usage"}
    found = {(series[row["series_number"]], row["value"]) for row in rows["telemetry_sample"] if row["series_number"] in series}
    assert found == {("0", 300), ("1", 100)} and codes(rows) == {}


def test_windows_have_the_means_of_the_study(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    warehouse = built(tmp_path / "tree", tmp_path / "project")
    (row,) = warehouse.sql(
        "from telemetry_slice_fact where window_name = 'measured' and metric = 'gpu_sm_active_pct'"
    ).to_pylist()
    aggregate = sample.study()["trials"][0]["aggregatedMetrics"]["gpu.gpu_sm_active"]
    assert row["value_sample_mean"] == pytest.approx(100 * aggregate["avg"]) and row["value_max"] == pytest.approx(100 * aggregate["max"])
    assert (row["sample_count"], row["coverage_pct"], row["is_supported"], row["join_method"], row["unit"]) == (21, 100, True, "run_id", "%")
    assert row["clock"] == "zone of the run assumed; times of samples: zone assumed"
    # The second trial has no samples, and a metric without a known unit is in no slice.
    assert warehouse.sql("select count(distinct run_id) as runs, count(*) filter (where source_metric = 'own_metric') as own from telemetry_slice_fact") \
        .to_pylist() == [{"runs": 1, "own": 0}]
    assert warehouse.sql("select status, status_reason from benchmark_run_fact order by all").to_pylist() == [
        {"status": "failed", "status_reason": "the pod did not start"}, {"status": "succeeded", "status_reason": "completed"},
    ]


def test_without_the_queries_no_unit_is_known(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    (tmp_path / "tree/telemetry-instance-prometheus.json").unlink()
    rows = AKAMAS.rows(tmp_path / "tree", tmp_path / "stored")
    assert {row["unit"] for row in rows["telemetry_series"]} == {None}


def test_every_window_mean_of_the_real_study(telemetry_evidence: Path, tmp_path: Path) -> None:
    tree = telemetry_evidence / "graz-dev__vllm-benchmark"
    warehouse = built(tree, tmp_path / "project")
    (path,) = tree.rglob("study.json")
    here = {each.stem.removeprefix("metrics-").partition("-")[2] for each in path.parent.glob("metrics-*.json")}
    scale = {"gpu_sm_active": 100}  # a ratio there
    expected = {
        (trial["experiment"], metric.partition(".")[2]): found["avg"] * scale.get(metric.partition(".")[2], 1)
        for trial in json.loads(path.read_text())["trials"]
        for metric, found in (trial.get("aggregatedMetrics") or {}).items() if metric.partition(".")[2] in here
    }
    found = warehouse.sql(
        "select split_part(run_id, '/', 3)::integer as experiment, source_metric, value_sample_mean from telemetry_slice_fact "
        "where window_name = 'measured'"
    ).to_pylist()
    means = {(row["experiment"], row["source_metric"]): row["value_sample_mean"] for row in found}
    assert len(expected) == 38 * 8 and means.keys() == expected.keys()
    assert means == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.exhaustive
def test_the_baseline_and_the_best_experiment_of_the_real_study(telemetry_evidence: Path, tmp_path: Path) -> None:
    """The study's report: the best is experiment 21 with 4096.2, 12.5 % above the baseline."""
    warehouse = built(telemetry_evidence / "graz-dev__vllm-benchmark", tmp_path / "project")
    rows = warehouse.sql("select experiment, score, gain_pct, score_rank from tuning_trials order by score_rank").to_pylist()
    best, baseline = rows[0], next(row for row in rows if row["experiment"] == 1)
    assert (best["experiment"], round(best["score"], 1), round(best["gain_pct"], 1)) == (21, 4096.2, 12.5)
    assert (baseline["score"], baseline["gain_pct"]) == (3640.942, 0)
    assert [row["experiment"] for row in rows[1:4]] == [4, 34, 32]  # of the places 2 to 5 those whose trials are here
    (study,) = warehouse.sql("select name, kind, count(member) as members from campaign_dim join campaign_member using (campaign_key) group by all").to_pylist()
    assert study == {"name": "0-Explorative", "kind": "akamas_study", "members": 40}
