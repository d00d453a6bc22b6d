"""The dates of the attempt and of the export of a run: from a recording in CI and from own feeders, and nothing stands in for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples import superbench
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.record.command import record
from warehouse.transform.build.build import build

_MOMENTS = "select distinct epoch(attempted_at) as attempted, epoch(snapshot_at) as snapshot from benchmark_run_fact where family = 'superbench'"


def test_an_own_feeder_fills_the_dates_of_the_attempt_and_of_the_export(tmp_path: Path) -> None:
    project = standard_project(tmp_path / "p")
    superbench.write_all(tmp_path / "evidence")
    ingest(plan_ingest(tmp_path / "evidence", load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
    assert not build(project).damaged
    assert Warehouse(project).sql(_MOMENTS).to_pylist() == [{"attempted": None, "snapshot": None}]

    standard = Path(__file__).parents[1] / "models/staging/superbench/superbench_benchmark_run.sql"
    stated = "timestamptz '2026-05-01 10:00:00+02' as attempted_at, timestamptz '2026-05-03 00:00:00Z' as snapshot_at,\n    status,\n"
    (project.root / "models" / standard.name).write_text(standard.read_text().replace("status,\n", stated, 1))
    assert not build(project).damaged
    attempted, snapshot = 1_777_622_400.0, 1_777_766_400.0
    assert Warehouse(project).sql(_MOMENTS).to_pylist() == [{"attempted": attempted, "snapshot": snapshot}]


def test_a_recording_in_a_job_of_gitlab_states_its_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its zone: a time without one is no moment."""
    monkeypatch.delenv("CI_JOB_STARTED_AT", raising=False)
    record(["true"], tmp_path / "recordings/none")
    for name, stated in (("zoned", "2026-05-01T10:00:00+02:00"), ("bare", "2026-05-02T10:00:00")):
        monkeypatch.setenv("CI_JOB_STARTED_AT", stated)
        record(["true"], tmp_path / "recordings" / name)
    project = standard_project(tmp_path / "p")
    ingest(plan_ingest(tmp_path / "recordings", load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
    assert not build(project).damaged
    sql = "select epoch(attempted_at) as attempted, count(*) as runs from benchmark_run_fact group by all order by all"
    assert Warehouse(project).sql(sql).to_pylist() == [{"attempted": 1_777_622_400.0, "runs": 1}, {"attempted": None, "runs": 2}]
