"""A number that another version of the engine recorded: it is replayed all the same, and the verdict names both engines.

Here the installed engine goes by another version while it verifies; `make test-newest` has two engines (tests/test_two_engines.py).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from conftest import WhOn
from forgery import Forgery, forge_record
from test_number_page import number_page, page_of
from test_retrace import LIES, a_tolerance, another_sha256, fewer_runs, published
from test_verification import forged

from warehouse.claims.publish.publication import publications
from warehouse.claims.verify import replay
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verdict import Engines
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.project.project import Project, read_project
from warehouse.surfaces.parts import Fact, Facts, Page
from warehouse.transform.check import digests
from warehouse.transform.sql.duck import PINNED_SETTINGS

HERE = "99.0.1"
ENGINES = f"recorded with duckdb {duckdb.__version__}, replayed with duckdb {HERE}"
INSTALL = f'pip install "duckdb=={duckdb.__version__}"'
CELL = "claim[key=a].total"


@pytest.fixture(scope="module")
def of_then(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return published(tmp_path_factory.mktemp("then"), files=("a=1\nb=5\nb=5\n", "a=2\n"))


@pytest.fixture
def project(of_then: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a publication, on a machine that has another version of the engine now."""
    shutil.copytree(of_then.root, tmp_path / "project", symlinks=True)
    monkeypatch.setattr(digests, "engine_version", lambda: HERE)
    monkeypatch.setattr("warehouse.surfaces.views.claims.number.engine_version", lambda: HERE)
    return read_project(tmp_path / "project")


def test_what_another_engine_gives_alike_is_verified_and_says_so(project: Project, wh_on: WhOn, tmp_path: Path) -> None:
    write_packet(project, CELL, tmp_path / "a.whp")
    for verdict in (verify_number(project, CELL), *verify_all(project), verify_packet(tmp_path / "a.whp", project)):
        assert verdict.state == "verified" and verdict.engines == Engines(f"duckdb {duckdb.__version__}", f"duckdb {HERE}")
        assert f", by another engine: {ENGINES}" in verdict.reason and "pip" not in verdict.reason
    code, out, _ = wh_on(project, "verify", CELL, "--json", "--strict")
    engines = {"recorded": f"duckdb {duckdb.__version__}", "here": f"duckdb {HERE}", "later_settings": []}
    assert code == 0 and json.loads(out)["engine"] == engines
    code, out, err = wh_on(project, "verify", "--all", "--strict")
    assert (code, out) == (0, "") and f"4 verified (by another engine: {ENGINES})" in err


def fact(page: Page, name: str) -> Fact:
    return next(fact for part in page.parts if isinstance(part, Facts) for fact in part.items if fact.name == name)


def test_the_pages_of_a_number_name_both_engines(project: Project) -> None:
    number_id = str(verify_number(project, CELL).number_id)
    made = fact(number_page(project, number_id), "made_with_engine")
    assert (made.value, made.note) == (f"duckdb {duckdb.__version__}", f"verified here with duckdb {HERE}")
    checked = fact(page_of(project, "verify", number_id=number_id), "engine")
    assert (checked.value, checked.note) == (f"duckdb {duckdb.__version__}", ENGINES)


def test_what_another_engine_gives_otherwise_is_not_reproduced_here(project: Project, wh_on: WhOn) -> None:
    code, out, _ = wh_on(project, "verify", forged(project, "total", 8.0))
    assert code == 1 and f"  not reproduced: the replay gives 3.0; by another engine here: {ENGINES}; to replay it with the engine of then: {INSTALL}" in out


@pytest.mark.parametrize("lie", [fewer_runs, another_sha256, a_tolerance], ids=lambda lie: lie.__name__)
def test_another_engine_accuses_nobody(lie: Callable[[Forgery], None], project: Project) -> None:
    """What the same engine would call tampered, another version of it may simply trace otherwise: but it is not verified either."""
    [publication] = publications(project)
    forge_record(publication, lie)
    told = {verdict.key: verdict for verdict in verify_all(project)}[CELL]
    assert told.state == "not reproduced" and LIES[lie] in told.reason and INSTALL in told.reason


def test_a_publication_without_one_of_its_rows_is_not_whole_by_another_engine_either(project: Project) -> None:
    [publication] = publications(project)
    forge_record(publication, lambda forgery: forgery.rows.pop())
    *numbers, whole = verify_all(project)
    assert {verdict.state for verdict in numbers} == {"verified"}
    assert whole.state == "not reproduced" and "1 rows that it leaves out; by another engine here" in whole.reason and INSTALL in whole.reason


def test_other_settings_of_the_engine_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "PINNED_SETTINGS", {**PINNED_SETTINGS, "TimeZone": "Asia/Tokyo"})
    verdict = verify_number(project, CELL)
    assert verdict.state == "refused" and "settings that this wh, on duckdb, does not replay with" in verdict.reason


def test_a_record_of_before_a_setting_came_is_replayed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "PINNED_SETTINGS", {**PINNED_SETTINGS, "later": True})
    monkeypatch.setattr(replay, "LATER_SETTINGS", {"later"})
    monkeypatch.setattr(digests, "engine_version", lambda: duckdb.__version__)
    told = f"recorded with duckdb {duckdb.__version__} without the setting later, replayed with duckdb {duckdb.__version__}"
    found = verify_number(project, CELL)
    assert found.state == "verified" and f", by other settings of the engine: {told}" in found.reason
    found = verify_number(project, forged(project, "total", 8.0))
    assert found.reason == f"the replay gives 3.0; by other settings of the engine here: {told}"


def test_a_stranger_s_record_writes_no_command() -> None:
    for version in ("2.0.0\"; touch x", "2.0.0 --index-url x", "", "2.0.0\n"):
        assert "pip" not in Engines(f"duckdb {version}", "duckdb 2.0.1").way_back
    assert 'pip install "duckdb==2.1.0.dev12"' in Engines("duckdb 2.1.0.dev12", "duckdb 2.0.1").way_back
