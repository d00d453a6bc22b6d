"""`wh diff`: two numbers side by side, and why numbers moved between two builds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import WhOn
from samples import values
from samples.values import value_files, values_project

from warehouse.analysis.diff import diff_builds, diff_numbers
from warehouse.claims.numbers.deciding import retract
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

# Runs are lines `<series><number>=value`; those that are retracted count no more.
RUN = """select value.key as run_id, left(value.key, 1) as series, value.value, coalesce(run_decision.state, 'admitted') as state
from value
left join run_decision on run_decision.run_id = value.key
"""
SQL = "select series, sum(value) as total, max(value) as highest from run where state = 'admitted' group by series"
SERIES_A, HIGHEST = "claim[series=a].total", "claim[series=a].highest"
TOTAL = "claim[key=a].total"


def built(project: Project) -> str:
    build(project)
    return current_build(project).digest


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, list[str]]:
    """Builds of one bundle, of two, without a run that was retracted, and of other SQL."""
    root = tmp_path_factory.mktemp("diff")
    project = values_project(root / "project", SQL, grain="series")
    (project.root / "models" / "run.sql").write_text(RUN)
    settings = project.root / "warehouse.toml"
    settings.write_text(re.sub(r"(?m)^keep = \d+", "keep = 9", settings.read_text()))
    project = read_project(project.root)
    builds = []
    for number, text in enumerate(("a1=1\na2=2\nb1=64\n", "a3=4\na4=8\n")):
        values.take_in(project, value_files(root / f"in{number}", text))
        builds.append(built(project))
    retract(project, "a3", "throttled")
    builds.append(built(project))
    query = project.root / "queries" / "claim.sql"
    query.write_text(query.read_text().replace("sum(value) as total", "sum(value) + 1 as total"))
    builds.append(built(project))
    return project, builds


def reasons(project: Project, a: str, b: str) -> tuple[str, ...]:
    found = diff_builds(project, a, b)
    (cell,) = (each for each in found.moved if each.key == SERIES_A)
    assert cell.is_traced
    return cell.reasons


def test_a_number_that_moved_has_its_reason(moved: tuple[Project, list[str]]) -> None:
    project, (first, second, third, fourth) = moved
    assert reasons(project, first, second) == ("new evidence: a3, a4",)
    assert reasons(project, second, third) == ("a decision: a3 retracted: throttled",)
    assert reasons(project, third, fourth) == ("new SQL: rollup.claim",)
    assert diff_builds(project, first, second).unmoved == 2  # both numbers of b
    nothing = diff_builds(project, first, first)
    assert nothing.moved == () and nothing.unmoved > 0 and nothing.bundles == ((), ())


def test_a_number_that_moved_twice_has_both_reasons(moved: tuple[Project, list[str]]) -> None:
    project, (first, *_, fourth) = moved
    assert reasons(project, first, fourth) == ("new evidence: a4", "new SQL: rollup.claim")


def test_builds_are_told_from_numbers(moved: tuple[Project, list[str]], wh_on: WhOn) -> None:
    project, (first, second, *_) = moved
    status, out, err = wh_on(project, "diff", first[:12], second[:12])
    assert status == 0 and f"{SERIES_A}: 3.0 -> 15.0" in out and "  new evidence: " in out and " moved, " in err and "only the second build has 1 bundle" in err
    assert json.loads(wh_on(project, "diff", first[:12], second[:12], "--json")[1])["bundles"][0] == []
    assert "WH214" in wh_on(project, "diff", first[:12], "0badc0de")[2]
    assert "WH304" in wh_on(project, "diff", "nothing", SERIES_A)[2]


def test_two_numbers_stand_side_by_side(moved: tuple[Project, list[str]], wh_on: WhOn) -> None:
    project, _ = moved
    found = diff_numbers(project, SERIES_A, HIGHEST)
    aspects = {each.name: each for each in found.aspects}
    assert aspects["value"].is_different and not aspects["query_spec_digest"].is_different and aspects["column"].b == "highest"
    assert (found.sql, found.only_a, found.differences) == ("", found.only_b, ())
    status, out, _ = wh_on(project, "diff", SERIES_A, HIGHEST)
    assert status == 0 and "differs" in out
    assert json.loads(wh_on(project, "diff", SERIES_A, HIGHEST, "--json")[1])["a"]["key"] == found.a.key


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
