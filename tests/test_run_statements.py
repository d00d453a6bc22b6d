"""A record is the unit of conflict, not its file: what states a run again, what extends it, what only differs beside it, and what contradicts it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from built import Sql, sql_of
from samples import bench_serving, fabric_check, mlflow, superbench
from standard import standard_project

from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

NIGHTS = [json.dumps(bench_serving.sglang_record(bench_serving.requests(6, seed), detailed=False, duration=20.5 + seed)) + "\n" for seed in range(3)]
CHANGED = "c" * 32  # a run of MLflow whose metric was changed


def nccl(pid: int) -> str:
    return fabric_check.nccl_section().replace("Pid 7000", f"Pid {pid}")


def mlflow_run(folder: Path, run: str, lines: int, *, note: str = "", metric: str = "0.75", **meta: object) -> None:
    """A copy of a run whose metric has that many lines so far."""
    written = mlflow.write_run(folder, run_id=run, run_uuid=run, **meta)
    mlflow.put(written / "metrics/node_0/valid.auc", "".join([f"1795212822000 0.5 1\n1795212823000 {metric} 2\n".splitlines(keepends=True)[n] for n in range(lines)]))
    mlflow.put(written / "tags/mlflow.note.content", note)
    written.rename(folder / mlflow.EXPERIMENT / run)


def write(folder: Path, number: int) -> None:
    """What is copied on one of two days."""
    bench_serving.write(folder / "serving/nightly.jsonl", "".join(NIGHTS[: number + 1]))
    fabric_check.write(folder / "fabric/nccl.log", "".join(nccl(7000 + day) for day in range(number + 1)))
    fabric_check.write(folder / "nodes/gpu-01/monitor.jsonl", "".join(superbench.MONITOR.splitlines(keepends=True)[: number + 1]))
    running = {"status": 1, "end_time": "null"} if number == 0 else {}
    mlflow_run(folder / "mlflow/a", "a" * 32, number + 1, **running)
    mlflow_run(folder / "mlflow/b", "b" * 32, 2, note="looks noisy" if number else "")
    mlflow_run(folder / "mlflow/c", CHANGED, 2, metric="0.85" if number else "0.75")


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Sql:
    root = tmp_path_factory.mktemp("statements")
    project = standard_project(root / "project")
    for number in (1, 0):  # the order of arrival does not matter
        write(root / "tree", number)
        assert not ingest(plan_ingest(root / "tree", load_ingestors(project).values()), open_store(project), "evidence").problems
        shutil.rmtree(root / "tree")
    build(project)
    return sql_of(project)


def test_a_file_that_grows_by_appending_states_its_earlier_records_again(sql: Sql) -> None:
    assert sql("select run_id, bundle_count, has_conflict from benchmark_run_fact where family = 'bench_serving' order by run_id") == [
        ("sglang-bench/nightly/20.5", 2, False), ("sglang-bench/nightly/21.5", 1, False),
    ]


def test_a_log_and_a_monitor_that_grow_have_each_run_once(sql: Sql) -> None:
    assert sql("select family, bundle_count, has_conflict, count(*) from benchmark_run_fact where family in ('fabric_check', 'superbench') group by all order by all") == [
        ("fabric_check", 1, False, 1), ("fabric_check", 2, False, 1), ("superbench", 2, False, 1),
    ]


def test_a_run_that_has_finished_supersedes_its_running_state(sql: Sql) -> None:
    assert sql(f"select status, bundle_count, has_conflict from benchmark_run_fact where run_id = 'mlflow/{'a' * 32}'") == [("succeeded", 2, False)]
    assert sql(f"select value_number from performance_indicator_fact where run_id = 'mlflow/{'a' * 32}' and key = 'node_0/valid.auc'") == [(0.75,)]


def test_an_edited_note_is_no_conflict(sql: Sql) -> None:
    assert sql(f"select bundle_count, has_conflict from benchmark_run_fact where run_id = 'mlflow/{'b' * 32}'") == [(2, False)]


def test_a_true_conflict_names_the_values_that_differ(sql: Sql) -> None:
    ((message,),) = sql("select distinct message from ingest_issue where code = 'run-conflict'")
    assert sql("select run_id from benchmark_run_fact where has_conflict") == [(f"mlflow/{CHANGED}",)]
    stating = dict(sql(f"select value, artifact_manifest_digest from staging.run_statement where run_id = 'mlflow/{CHANGED}' and name = 'metric node_0/valid.auc, line 2'"))
    values = [f"{value} at step 2 at 1795212823000000" for value in ("0.75", "0.85")]
    shown = [f"{value} in bundle {stating[value][:12]}, metrics/node_0/valid.auc" for value in values]
    assert f"(metric node_0/valid.auc, line 2: {' or '.join(shown)})" in message
