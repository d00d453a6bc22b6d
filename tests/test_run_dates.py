"""The dates of a run that no standard format states: a project's own feeder fills them, and nothing stands in for them."""

from __future__ import annotations

from pathlib import Path

from samples import superbench
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
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
