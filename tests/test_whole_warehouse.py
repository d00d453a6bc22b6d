"""All archives of the shared evidence in one warehouse, and each that has results in one of its own: every standard rollup is
published and verified, cells lead back to bytes, and nothing is left to report. Exhaustive tests, skipped where the evidence is absent.
"""

from __future__ import annotations

import pytest
from conftest import WhOn, unpacked_evidence

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verdict import VERIFIED
from warehouse.claims.verify.verification import verify_number
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

# The archives whose evidence has results, and those that tell of runs elsewhere.
WITH_RESULTS = ("fabric", "aisp", "missed", "mlperf-inference", "mlperf-training", "perf-mlflow", "profiler", "serving", "telemetry", "thoth")
OTHERS = ("scheduler", "traces")
ROLLUPS = sorted(path.stem for path in (standard_folder() / "queries").glob("*.sql"))
# Links are not copied.
REPORTED = {"WH104"}
VERIFIED_CELLS = 3  # of each rollup; a cell of a rollup is replayed with all that is under it


def warehouse_of(archives: tuple[str, ...], folder: pytest.TempPathFactory) -> Project:
    project = init_project(folder.mktemp("warehouse") / "p")
    for archive in archives:
        report = ingest(plan_ingest(unpacked_evidence(archive), load_ingestors(project).values()), open_store(project), "test")
        assert {problem.code for problem in report.problems} <= REPORTED
    assert not build(project).damaged
    return project


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return warehouse_of(WITH_RESULTS + OTHERS, tmp_path_factory)


def rows_of(project: Project, rollup: str) -> int:
    with run_query(current_build(project).path, f"select count(*) from rollup.{rollup}") as result:
        return int(result.fetchall()[0][0])


def sample_of(project: Project, rollup: str, cells: int = VERIFIED_CELLS) -> list[str]:
    """Ids of some numbers of the rollup, spread by their hashes."""
    sql = (
        f"select id from (unpivot (select unnest(number_ids) from rollup.{rollup}) on columns(*) into name column_name value id)"
        f" order by md5(id) limit {cells}"
    )
    with run_query(current_build(project).path, sql) as result:
        return [row[0] for row in result.fetchall()]


def publish_and_verify(project: Project, rollup: str) -> None:
    rows = rows_of(project, rollup)
    if rows == 0:
        with pytest.raises(WarehouseError, match="WH319"):
            publish(project, rollup, as_provisional=True)
        return
    publication = publish(project, rollup, as_provisional=True)  # what each number is worth is the gate tests' concern
    assert publication.rows == rows
    cells = sample_of(project, rollup)
    assert {verify_number(project, cell).state for cell in cells} == {VERIFIED}
    found = [lineage(project, cell) for cell in cells]
    assert all(cell.publication and cell.runs for cell in found)
    # A rule's constant, such as the runs that MLPerf requires, has none.
    assert any(cell.raw_files for cell in found) or any(lineage(project, cell).raw_files for cell in sample_of(project, rollup, 40))


@pytest.mark.exhaustive
def test_check_of_the_whole_warehouse_is_clean(everything: Project, wh_on: WhOn) -> None:
    code, _, err = wh_on(everything, "check")
    assert code == 0 and err.startswith("ok: ")


@pytest.mark.exhaustive
@pytest.mark.parametrize("rollup", ROLLUPS)
def test_every_rollup_of_all_archives_is_published_and_verified(rollup: str, everything: Project) -> None:
    publish_and_verify(everything, rollup)


@pytest.mark.exhaustive
def test_store_of_the_whole_warehouse_is_sound(everything: Project) -> None:
    """With the publications of the tests before."""
    assert list(check_store(everything, Scope(None, 0, None)).findings) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("archive", WITH_RESULTS)
def test_every_rollup_of_one_archive_is_published_and_verified(archive: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    project = warehouse_of((archive,), tmp_path_factory)
    filled = [rollup for rollup in ROLLUPS if rows_of(project, rollup)]
    assert filled
    for rollup in filled:
        publish_and_verify(project, rollup)
