"""`wh export mlflow`: what MLflow's own client reads back of a run is what the warehouse has of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from built import built_copy, sql_of
from conftest import WhOn
from samples import thoth

from warehouse.errors import ExitCode
from warehouse.project.project import Project

RUN_ID = f"thoth/{thoth.FAST}/0"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return built_copy("thoth", thoth.write_all, tmp_path_factory.mktemp("thoth"))


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """MLflow's client of the store in `tmp_path / "mlruns"`; without the extra, the test is skipped."""
    pytest.importorskip("mlflow", reason="the extra mlflow is not installed")
    from mlflow.tracking import MlflowClient

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return MlflowClient(tracking_uri=(tmp_path / "mlruns").as_uri())


def test_a_run_is_read_back_by_mlflow(project: Project, client: Any, tmp_path: Path, wh_on: WhOn) -> None:
    status, out, err = wh_on(project, "export", "mlflow", RUN_ID, "--to", str(tmp_path / "mlruns"))
    assert status == 0, err
    run = client.get_run(out.strip())
    sql = sql_of(project)
    assert client.get_experiment(run.info.experiment_id).name == "tensorflow/PiConv2D"
    assert (run.info.status, run.info.run_name) == ("FINISHED", RUN_ID)
    [(started, ended, digest, workload)] = sql(
        f"select epoch_ms(started_at), epoch_ms(ended_at), artifact_manifest_digest, workload_spec_digest from benchmark_run_fact where run_id = '{RUN_ID}'"
    )
    assert (run.info.start_time, run.info.end_time) == (started, ended)
    metrics = run.data.metrics
    assert (metrics["PiConv2D.elapsed.tensorflow"], metrics["PiConv2D.rate.tensorflow"]) == (4.0, 1.0)
    assert metrics["host.involuntary_context_switches"] == 900
    assert {key: value for key, value in run.data.params.items() if key.startswith("parameter.")} == {
        f"parameter.{key}": str(value) for key, value in (thoth.CONV2D | {"run__requests__cpu": 2}).items()
    }
    assert run.data.params["package.numpy"] == "1.19.1" and run.data.params["hardware.cpu_model"] == "Made Processor 7"
    tags = run.data.tags
    assert (tags["wh.run_id"], tags["wh.artifact_manifest_digest"], tags["wh.workload_spec_digest"]) == (RUN_ID, digest, workload)
    assert tags["wh.unit.PiConv2D.elapsed.tensorflow"] == "ms"
    folder = Path(tags["wh.evidence"].removeprefix("file://"))
    assert json.loads((folder / "manifest.json").read_text())["files"]
    evidence = json.loads(Path(client.download_artifacts(run.info.run_id, "evidence.json", str(tmp_path))).read_text())
    assert evidence["raw_folder"] == "results/0/"
    for file in evidence["files"]:
        assert Path(file["url"].removeprefix("file://")).stat().st_size == file["bytes"]


def test_a_run_is_written_once_a_build(project: Project, client: Any, tmp_path: Path, wh_on: WhOn) -> None:
    to = ("--to", str(tmp_path / "mlruns"), "--experiment", "mine")
    first, again = (wh_on(project, "export", "mlflow", RUN_ID, *to) for _ in range(2))
    assert first[:2] == again[:2] and "it was there already" in again[2] and "it was there already" not in first[2]
    failed = wh_on(project, "export", "mlflow", f"thoth/{thoth.SLOW}/1", *to)
    assert client.get_run(failed[1].strip()).info.status == "FAILED"
    assert len(client.search_runs([client.get_experiment_by_name("mine").experiment_id])) == 2


def test_a_store_that_takes_nothing_is_an_error(project: Project, client: Any, tmp_path: Path, wh_on: WhOn) -> None:
    (tmp_path / "file").write_text("no folder")
    status, out, err = wh_on(project, "export", "mlflow", RUN_ID, "--to", str(tmp_path / "file"))
    assert (status, out) == (ExitCode.FAILED, "") and "WH551" in err


def test_without_mlflow_the_error_says_how_to_get_it(project: Project, tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "mlflow.exceptions", None)
    status, _, err = wh_on(project, "export", "mlflow", RUN_ID, "--to", str(tmp_path / "mlruns"))
    assert status != 0 and "WH006" in err and "pip install 'perf-warehouse[mlflow]'" in err


def test_what_would_be_written_is_printed_without_mlflow(project: Project, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    status, out, _ = wh_on(project, "export", "mlflow", RUN_ID, "--dry-run")
    found = json.loads(out)
    assert status == 0 and found["metrics"]["PiConv2D.elapsed.tensorflow"] == 4.0 and found["left_out"] == []
    assert wh_on(project, "export", "mlflow", "thoth/no/0", "--dry-run")[0] == ExitCode.NOT_FOUND
    assert wh_on(project, "export", "mlflow", RUN_ID)[0] == ExitCode.USAGE
