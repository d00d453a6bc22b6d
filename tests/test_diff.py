"""`wh diff`: two numbers side by side, and why numbers moved between two builds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import WhOn
from samples import values
from samples.recording import write_recording
from samples.values import value_files, values_project
from standard import standard_project

from warehouse.analysis.diff import diff_builds, diff_numbers
from warehouse.claims.numbers.deciding import retract
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

FIRST, SECOND = "01KG8Q3V5T2M4N6P8R0S1W3X5Y", "01KG8Q3V5T2M4N6P8R0S1W3X5Z"
MEDIAN, MAXIMUM = "indicator_results[result_key=elapsed_ms].median", "indicator_results[result_key=elapsed_ms].maximum"
TOTAL = "claim[key=a].total"
# The median as it is, with a harmless change of its SQL.
CHANGED = "median(value) + 1 as median"


def take_in(project: Project, name: str, recording: str, seconds: tuple[float, ...]) -> str:
    folder = write_recording(project.root / "in" / name, recording, seconds)
    assert not ingest(plan_ingest(folder, load_ingestors(project).values()), open_store(project), name).problems
    return built(project)


def built(project: Project) -> str:
    build(project)
    return current_build(project).digest


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[str]]:
    """Builds of one recording, of two, without a run that was retracted, and of other SQL."""
    project = standard_project(tmp_path_factory.mktemp("diff") / "project")
    settings = project.root / "warehouse.toml"
    settings.write_text(re.sub(r"(?m)^keep = \d+", "keep = 9", settings.read_text()))
    project = read_project(project.root)
    builds = [take_in(project, "first", FIRST, (1.31, 1.28, 1.35)), take_in(project, "second", SECOND, (1.5, 1.6))]
    retract(project, f"recorded_run/{SECOND}/run-01", "throttled")
    builds.append(built(project))
    standard = Path(__file__).parents[1] / "queries" / "indicator_results.sql"
    (project.root / "queries" / "indicator_results.sql").write_text(standard.read_text().replace("median(value) as median", CHANGED))
    builds.append(built(project))
    return project, builds


def reasons(project: Project, a: str, b: str) -> tuple[str, ...]:
    found = diff_builds(project, a, b)
    (cell,) = (each for each in found.moved if each.column == "median" and each.b is not None and each.a is not None)
    assert cell.is_traced and cell.key.startswith("indicator_results[indicator=GroupBy,component=duckdb")
    return cell.reasons


def test_a_number_that_moved_has_its_reason(moved: tuple[Project, list[str]]) -> None:
    project, (first, second, third, fourth) = moved
    assert reasons(project, first, second) == (f"new evidence: recorded_run/{SECOND}/run-01, recorded_run/{SECOND}/run-02",)
    assert reasons(project, second, third) == (f"a decision: recorded_run/{SECOND}/run-01 retracted: throttled",)
    assert reasons(project, third, fourth) == ("new SQL: rollup.indicator_results",)
    nothing = diff_builds(project, first, first)
    assert nothing.moved == () and nothing.unmoved > 0 and nothing.bundles == ((), ())


@pytest.mark.exhaustive
def test_a_number_that_moved_twice_has_both_reasons(moved: tuple[Project, list[str]]) -> None:
    project, (first, *_, fourth) = moved
    assert reasons(project, first, fourth) == (f"new evidence: recorded_run/{SECOND}/run-02", "new SQL: rollup.indicator_results")


def test_builds_are_told_from_numbers(moved: tuple[Project, list[str]], wh_on: WhOn) -> None:
    project, (first, second, *_) = moved
    status, out, err = wh_on(project, "diff", first[:12], second[:12])
    assert status == 0 and "].median: 1310.0 -> " in out and "  new evidence: " in out and " moved, " in err and "only the second build has 1 bundle" in err
    assert json.loads(wh_on(project, "diff", first[:12], second[:12], "--json")[1])["bundles"][0] == []
    assert "WH214" in wh_on(project, "diff", first[:12], "0badc0de")[2]
    assert "WH304" in wh_on(project, "diff", "nothing", MEDIAN)[2]


def test_two_numbers_stand_side_by_side(moved: tuple[Project, list[str]], wh_on: WhOn) -> None:
    project, _ = moved
    found = diff_numbers(project, MEDIAN, MAXIMUM)
    aspects = {each.name: each for each in found.aspects}
    assert aspects["value"].is_different and not aspects["query_spec_digest"].is_different and aspects["column"].b == "maximum"
    assert (found.sql, found.only_a, found.differences) == ("", found.only_b, ())
    status, out, _ = wh_on(project, "diff", MEDIAN, MAXIMUM)
    assert status == 0 and "differs" in out
    assert json.loads(wh_on(project, "diff", MEDIAN, MAXIMUM, "--json")[1])["a"]["key"] == found.a.key


def test_a_number_of_earlier_sql_differs_in_its_text(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) + 1 as total from reading group by key")
    values.take_in(project, value_files(tmp_path / "in", "a=1\n"))
    build(project)
    publish(project, "claim")
    published = diff_numbers(project, TOTAL, TOTAL).a.number_id
    own = project.root / "queries" / "claim.sql"
    own.write_text(own.read_text().replace("+ 1 as total", "+ 2 as total"))
    build(project)
    with pytest.raises(WarehouseError, match="WH304"):
        diff_numbers(project, str(published), "n-aaaaaaaaaaaa")
    publish(project, "claim")
    found = diff_numbers(project, str(published), TOTAL)
    assert "+ 1 as total" in found.sql and "+ 2 as total" in found.sql
    assert {each.name for each in found.aspects if each.is_different} >= {"value", "number", "query_spec_digest", "published"}
