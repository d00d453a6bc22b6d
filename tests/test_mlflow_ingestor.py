"""MLflow's file store and reports of perf.py: runs with parameters, tags and metrics, and the use of each node over time."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from built import built, sql_of
from conftest import WhOn, unpacked_evidence
from landed import Subject, codes, landed, place
from samples import mlflow
from standard import standard_project

from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Unclaimed
from warehouse.project.project import Project

MLFLOW = Subject("mlflow")
RUN_ID = f"mlflow/{mlflow.RUN}"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Project:
    tree = tmp_path_factory.mktemp("tree")
    mlflow.write_all(tree)
    return built(tree, standard_project(tmp_path_factory.mktemp("project")))


def land_run(folder: Path, series: dict[str, Any] = mlflow.SERIES, files: dict[str, str] | None = None, **meta: Any) -> dict[str, list[dict[str, Any]]]:
    run = mlflow.write_run(folder / "tree", series, **meta)
    for path, text in (files or {}).items():
        mlflow.put(run / path, text)
    return landed(MLFLOW.ingestor, folder / "tree", folder / "store")


def test_a_run_has_its_times_status_parameters_and_metrics(sample: Project) -> None:
    sql = sql_of(sample)
    assert sql(f"select benchmark_case_id, status, started_at, duration_s, is_zone_assumed from benchmark_run_fact where run_id = '{RUN_ID}'") == [
        ("lightgbm-benchmark/train/made_framework", "succeeded", datetime(2026, 11, 20, 22, 13, 39, 934000, tzinfo=UTC), 15.225, False)
    ]
    assert sql("select indicator, component, kind, key, value_text, value_number from performance_indicator_fact where kind <> 'other' order by all") == [
        ("lightgbm-benchmark", "made_framework", "parameter", "learning_rate", "0.1", 0.1),
        ("lightgbm-benchmark", "made_framework", "parameter", "num_trees", "100", 100.0),
        ("lightgbm-benchmark", "made_framework", "parameter", "random_seed", "7", 7.0),
        ("lightgbm-benchmark", "made_framework", "result", "node_0/valid.auc", "0.75", 0.75),
        ("lightgbm-benchmark", "made_framework", "result", "prediction_latency_p99_usecs", "4145.5", 4145.5),
        ("lightgbm-benchmark", "made_framework", "result", "time_training", "12.25", 12.25),
    ]
    assert sql("select metric, unit, better from measurement order by all") == [
        ("node_0/valid.auc", None, "neither"), ("prediction_latency_p99_usecs", "us", "lower"), ("time_training", "s", "lower"),
    ]
    [(document,)] = sql("select workload_document from workload_dim")
    assert json.loads(document) == {
        "params": {"learning_rate": "0.1", "num_trees": "100"}, "tags": {"framework": "made_framework", "task": "train"}, "tool": "mlflow",
    }


def test_what_is_reported_of_a_node_is_no_result_of_the_run(sample: Project) -> None:
    stated = sql_of(sample)("select key, value_number from performance_indicator_fact where kind = 'other' and key like 'node%__total_disk_io_write_mb' order by all")
    assert stated == [("node_0__total_disk_io_write_mb", 1003.5), ("node_1__total_disk_io_write_mb", 60.0)]


def test_a_nodes_use_is_over_time_and_its_traffic_what_happened(sample: Project) -> None:
    columns = (
        "node_rank, sample_count, duration_s, longest_interval_s, incomplete_counter_count, cpu_count, cpu_avg_utilization_pct, "
        "cpu_avg_utilization_pct_as_reported, cpu_avg_utilization_over80_pct, cpu_avg_utilization_over80_pct_as_reported, node_cpu_hours * 3600, "
        "node_cpu_hours_as_reported * 3600, total_disk_io_write_mb, total_disk_io_write_mb_as_reported, total_net_io_ext_recv_mb"
    )
    assert sql_of(sample)(f"select {columns} from node_performance where run_id = '{RUN_ID}' order by node_rank") == [
        (0, 4, 4.0, 1.0, 0, 4, 75.0, 75.0, 50.0, 75.0, 16.0, 80.0, 3.5, 1003.5, 3.0),
        # 1 s at 20 %, 1 s at 20 %, 1 s at 20 %, 3 s at 90 %, 3 s at 100 %; the disk's counter fell from 60 to 5.
        (1, 5, 9.0, 3.0, 1, None, 70.0, 50.0, pytest.approx(200 / 3), 40.0, None, 80.0, None, 60.0, 8.0),
    ]
    slices = sql_of(sample)(
        "select scope_name, metric, unit, coalesce(value_mean, value_delta) from telemetry_slice_fact "
        f"where run_id = '{RUN_ID}' and metric in ('cpu_util_pct', 'disk_write_bytes') order by all"
    )
    assert slices == [("node 0", "cpu_util_pct", "%", 75.0), ("node 0", "disk_write_bytes", "bytes", 3670016.0), ("node 1", "cpu_util_pct", "%", 70.0)]


def test_a_report_alone_is_a_run(sample: Project) -> None:
    query = (
        "select status, total_disk_io_write_mb, total_disk_io_write_mb_as_reported, cpu_avg_utilization_pct, cpu_avg_utilization_pct_as_reported, "
        "node_cpu_hours_as_reported from node_performance where run_id like 'perf-report/%'"
    )
    assert sql_of(sample)(query) == [("unknown", 2.0, 9.0, 55.0, 55.0, None)]


def test_a_copy_of_an_artifact_is_no_run_of_its_own(tmp_path: Path) -> None:
    run = mlflow.write_run(tmp_path / "mlruns")
    [artifact] = (run / "artifacts").iterdir()
    (tmp_path / "copy.json").write_bytes(artifact.read_bytes())
    found = list(MLFLOW.ingestor.bundles(list_tree(tmp_path)))
    assert len(found) == 2 and Unclaimed("copy.json", f"a copy of an artifact of a run: {artifact.relative_to(tmp_path)}") in found


def test_samples_and_metrics_lead_to_their_bytes(tmp_path: Path) -> None:
    rows = land_run(tmp_path)
    [store] = (tmp_path / "store").iterdir()
    for row in rows["perf_report_sample"]:
        stated = mlflow.SERIES[str(row["node_rank"])][row["sample_index"]]
        assert json.loads(place(row, store)) == stated and {key: row[key] for key in stated} == stated
    [line] = (row for row in rows["mlflow_metric"] if row["key"] == "node_0/valid.auc" and row["step"] == 2)
    assert place(line, store) == b"1795212823000 0.75 2" and line["logged_at"] == datetime(2026, 11, 20, 22, 13, 43, tzinfo=UTC)


@pytest.mark.parametrize(
    ("samples", "code"),
    [
        ([mlflow.sample(0, 50, 9), mlflow.sample(1, 50, 8)], "counter-reset"), ([mlflow.sample(0, 50, 9), mlflow.sample(-1, 50, 9)], "time-not-increasing"),
        ([mlflow.sample(0, 50, 9), mlflow.sample(1, 50, 9), mlflow.sample(3, 50, 9)], "uneven-samples"), ([], "no-samples"), ([5], "not-an-object"),
        ([mlflow.sample(0, 150, 9)], "impossible-measurement"), ([mlflow.sample(0, 50, -9)], "impossible-measurement"), ({}, "not-a-list"),
        ([{"cpu_pct_per_cpu_avg": 5, "timestamp": mlflow.START_S}], "missing-key"), ([mlflow.sample(0, 50, 9, timestamp=-5)], "impossible-time"),
        ([mlflow.sample(0, 50, 9, timestamp=1.6e9)], "ambiguous-unit"),
    ],
)
def test_an_odd_series_is_reported(samples: Any, code: str, tmp_path: Path) -> None:
    mlflow.put(tmp_path / "tree/report.json", json.dumps({"0": [mlflow.sample(0, 1, 1)], "3": samples}))
    assert code in codes(landed(MLFLOW.ingestor, tmp_path / "tree", tmp_path / "store"))


@pytest.mark.parametrize(
    ("files", "meta", "code"),
    [
        ({"metrics/m": "1795212835135 nan 0\n"}, {}, "non-finite-number"), ({"metrics/m": "1795212835135 fast 0\n"}, {}, "not-a-number"),
        ({"metrics/m": "1795212835135 1 0"}, {}, "unfinished-line"), ({"metrics/m": "1 2 3 4\n"}, {}, "not-a-metric"), ({"metrics/m": ""}, {}, "empty-document"),
        ({"metrics/m": "then 1 0\n"}, {}, "impossible-time"), ({}, {"status": 9}, "unknown-status"), ({}, {"run_id": "ff" * 16}, "identity-mismatch"),
        ({}, {"end_time": 1}, "impossible-time"), ({}, {"start_time": "soon"}, "impossible-time"),
    ],
)
def test_what_cannot_be_read_is_reported(files: dict[str, str], meta: dict[str, Any], code: str, tmp_path: Path) -> None:
    rows = land_run(tmp_path, files=files, **meta)
    assert codes(rows)[code] == 1 and len(rows["mlflow_run"]) == 1


@pytest.mark.parametrize(("status", "landed_as", "reason"), [(1, "unknown", "RUNNING"), (3, "succeeded", None), (4, "failed", "FAILED"), ("KILLED", "interrupted", "KILLED")])
def test_the_status_is_a_number_or_a_name(status: Any, landed_as: str, reason: str | None, tmp_path: Path) -> None:
    [run] = land_run(tmp_path, status=status, end_time="null")["mlflow_run"]
    assert (run["status"], run["status_reason"], run["ended_at"]) == (landed_as, reason, None)


def test_of_two_reports_of_a_node_the_first_counts(tmp_path: Path) -> None:
    rows = land_run(tmp_path, files={"artifacts/tmpzzz.json": json.dumps({"0": [mlflow.sample(0, 1, 1)], "2": [mlflow.sample(0, 1, 1)]})})
    assert [row["node_rank"] for row in rows["perf_report_sample"]] == [0] * 4 + [1] * 5 + [2] and codes(rows)["node-twice"] == 1


def test_a_metric_may_name_its_data_set(tmp_path: Path) -> None:
    rows = land_run(tmp_path, files={"metrics/m": "1795212835135 2.5 3 valid 0a1b2c3d\n"})
    assert [(row["value"], row["step"]) for row in rows["mlflow_metric"] if row["key"] == "m"] == [(2.5, 3)] and not codes(rows)["not-a-metric"]


def test_a_metric_without_steps_is_of_the_first_node(tmp_path: Path) -> None:
    mlflow.write_run(tmp_path / "tree", {"0": mlflow.SERIES["0"]})
    mlflow.put(tmp_path / "tree" / mlflow.EXPERIMENT / mlflow.RUN / "metrics/node_cpu_hours", "1795212835135 7.5\n")
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select node_rank, node_cpu_hours_as_reported from node_performance") == [(0, 7.5)]


@pytest.mark.exhaustive
def test_the_use_of_a_node_is_published_and_verified_also_from_a_recording(tmp_path: Path, wh_on: WhOn) -> None:
    mlflow.write_run(tmp_path / "tree")
    project = built(tmp_path / "tree", standard_project(tmp_path / "project"))
    # Long enough for the recorder to sample the host while the command runs.
    assert wh_on(project, "record", "--", sys.executable, "-c", "import time; time.sleep(0.3)")[0] == 0
    assert wh_on(project, "build")[0] == 0
    sql = sql_of(project)
    [row] = sql(
        "select node.duration_s > 0.2, node.cpu_avg_utilization_pct = slice.value_mean, max_t_mem_percent between 0 and 100, "
        "node_cpu_hours = node.duration_s * cpu_count / 3600, total_disk_io_write_mb_as_reported from node_performance as node "
        "inner join telemetry_slice_fact as slice using (run_id) where node.family = 'recorded_run' and slice.metric = 'cpu_util_pct'"
    )
    assert row == (True, True, True, True, None)
    status, out, err = wh_on(project, "publish", "node_performance", "--as", "provisional")
    assert status == 0, out + err
    cell = f"node_performance[run_id={RUN_ID}, node_rank=0].total_disk_io_write_mb"
    status, out, err = wh_on(project, "verify", cell)
    assert status == 0 and "  3.5  " in out, out + err
    assert "artifacts/tmpabc123.json" in wh_on(project, "lineage", cell)[1]


# -- the real evidence ---------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_the_run_of_the_archive(tmp_path: Path) -> None:
    evidence = unpacked_evidence("perf-mlflow") / "generated_by_running_it"
    sql = sql_of(built(evidence, standard_project(tmp_path / "project")))
    [run] = (evidence / "mlruns/0").glob("*/meta.yaml")
    stated = {path.name: float(path.read_text().split()[1]) for path in (run.parent / "metrics").iterdir()}
    series = json.loads((evidence / "perf_report_artifact.json").read_text())["0"]
    assert sql("select count(*) from benchmark_run_fact") == [(1,)]
    assert sql("select count(*) from ingest_issue where family = 'mlflow' and severity <> 'note'") == [(0,)]
    found = dict(sql("select split_part(key, '__', -1), value_number from performance_indicator_fact where kind = 'result' or key like 'node_0__%'"))
    assert found == stated
    [columns] = sql("select columns(* exclude (number_ids)) from node_performance")
    names = [name for (name,) in sql("select column_name from (describe from node_performance) where column_name <> 'number_ids'")]
    node = dict(zip(names, columns, strict=True))
    for key in ("cpu_pct_per_cpu_avg", "cpu_pct_per_cpu_min", "cpu_pct_per_cpu_max", "mem_percent"):
        assert node[f"max_t_{key}"] == stated[f"max_t_{key}"] == max(each[key] for each in series)
    for key in (key for key in series[0] if key.endswith("_mb")):
        assert node[f"total_{key}"] == pytest.approx(series[-1][key] - series[0][key], abs=1e-9)
        assert node[f"total_{key}_as_reported"] == stated[f"total_{key}"] == max(each[key] for each in series)
    moments = [each["timestamp"] for each in series]
    weights = [1.0, *(after - before for before, after in zip(moments, moments[1:], strict=False))]
    mean = sum(weight * each["cpu_pct_per_cpu_avg"] for weight, each in zip(weights, series, strict=True)) / sum(weights)
    assert node["cpu_avg_utilization_pct"] == pytest.approx(mean, rel=1e-12)
    assert node["cpu_avg_utilization_pct_as_reported"] == stated["cpu_avg_utilization_pct"]
    assert node["node_cpu_hours"] == pytest.approx(sum(weights) * 2 / 3600) and node["node_cpu_hours_as_reported"] == stated["node_cpu_hours"]
