"""A sum of floats that differs in its last bits is the same number: nothing calls it stale, and no text of it is held to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.project.project import Project
from warehouse.trace.determinism import DEFAULT_TOLERANCE, EXACT, TOLERANT, UNDETERMINED, Determinism, equals
from warehouse.transform.build.build import build

# (0.1 + 0.2) + 0.3 is 0.6000000000000001, (0.3 + 0.2) + 0.1 is 0.6.
SQL = "select key, sum(value) as total, sum(value)::varchar as written from reading group by key"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = values_project(tmp_path / "project", SQL)
    take_in(project, value_files(tmp_path / "in", "a=0.1\na=0.2\na=0.3\n"))
    ordered(project, "asc")
    build(project)
    publish(project, "claim")
    return project


def ordered(project: Project, direction: str, factor: str = "1") -> None:
    model = f"select * replace (value * {factor} as value) from value order by value {direction}"
    (project.root / "models" / "reading.sql").write_text(model)


def states(project: Project) -> dict[str, str]:
    return {verdict.key: verdict.state for verdict in verify_all(project)}


def test_other_last_bits_are_not_stale(project: Project) -> None:
    published = [cell.value for row in publications(project)[0].rows() for cell in row.cells.values()]
    ordered(project, "desc")
    build(project)
    number = lineage(project, "claim[key=a].total")
    assert (published, number.value, number.now) == ([0.6000000000000001, "0.6000000000000001"], 0.6000000000000001, None)
    assert states(project) == {"claim[key=a].total": "verified", "claim[key=a].written": "verified"}
    assert verify_number(project, "claim[key=a].total").state == "verified"


def test_more_than_the_tolerance_is(project: Project) -> None:
    ordered(project, "asc", "1.00000001")
    build(project)
    assert states(project) == {"claim[key=a].total": "stale", "claim[key=a].written": "stale"}
    assert verify_number(project, "claim[key=a].total").state == "stale"


def test_text_of_a_float_sum_is_of_no_class_that_promises_its_digits(project: Project) -> None:
    columns = publications(project)[0].record["columns"]
    assert [columns[name]["determinism"] for name in ("total", "written")] == [TOLERANT, UNDETERMINED]


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        ("39981208.50955991", "39981208.509559666", True), ("39981208.50955991", "39981209", False), ("n/a", "nan", False),
        ("inf", "inf", True), ("inf", "1e400", False), ("39.9812085 GB", "39.9812086 GB", False),
    ],
)
def test_texts_are_compared_as_the_numbers_that_they_state(one: str, other: str, is_equal: bool) -> None:
    undetermined, exact = Determinism(UNDETERMINED, None, "sum in t"), Determinism(EXACT)
    assert (equals(["text", one], ["text", other], undetermined) is not None) == is_equal
    assert (equals(["text", one], ["text", other], exact) is not None) == (one == other)
    assert DEFAULT_TOLERANCE == 1e-9
