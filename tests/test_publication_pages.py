"""The pages of publications and of numbers that are sought: every number leads to its own page, and what was corrected or damaged says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from serving import client
from stored import folder_of
from test_gate import COLUMNS, add, header, made, runs

from warehouse.claims.publish.corrections import supersede, withdraw
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.project.project import Project

# Two series of ten runs and one of one; the middle of each, and how many.
A = (8700.1, 8700.2, 8702.7, 8703.1, 8704.5, 8706.3, 8705.2, 8701.9, 8703.8, 8702.2)
B = tuple(value / 2 for value in A)
COUNT = '  n: {type: bigint, description: "Runs"}\n'
QUERY = f"""{header(columns=COLUMNS + COUNT)}select
    series,
    median(value) as v,
    count(*) as n
from run
where status = 'succeeded'
group by series
"""
MEDIANS = {"a": (8702.7 + 8703.1) / 2, "b": (8702.7 / 2 + 8703.1 / 2) / 2, "c": 5.0}


def new_project(root: Path) -> Project:
    return made(root, {"claim": QUERY}, runs(A) | runs(B, "b") | {"c01": 5.0})


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = new_project(tmp_path_factory.mktemp("publications"))
    publish(project, "claim", as_provisional=True)
    return project


def part(document: dict[str, Any], name: str) -> Any:
    return next(each for each in document["parts"] if each["name"] == name)


def rows(project: Project, path: str, name: str) -> list[dict[str, Any]]:
    response = client(project).get(f"/api{path}")
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = part(response.json(), name)["rows"]
    return found


def test_the_list_says_what_its_numbers_are_worth(published: Project) -> None:
    (row,) = rows(published, "/publications", "publications")
    assert (row["query"], row["state"], row["rows"], row["numbers"]) == ("claim", "counts", 3, 6)
    assert "1 unsupported" in row["verdicts"] or "1 provisional" in row["verdicts"]  # the one of one run
    assert row["verdicts"].endswith("published as provisional")
    page = client(published).get("/publications").text
    assert f'href="/publications/{row["publication"]}"' in page


def test_every_number_of_a_publication_leads_to_its_page(published: Project) -> None:
    (publication,) = publications(published)
    found = {row["series"]: row for row in rows(published, f"/publications/{publication.digest}", "rows")}
    assert {series: row["v"] for series, row in found.items()} == pytest.approx(MEDIANS)
    assert {series: row["n"] for series, row in found.items()} == {"a": 10, "b": 10, "c": 1}
    page = client(published).get(f"/publications/{publication.digest[:12]}").text  # its beginning names it too
    for row in found.values():
        for column in ("v", "n"):
            number_id = row[f"{column}__number"]
            assert f'href="/numbers/{number_id}"' in page
            shown = client(published).get(f"/api/numbers/{number_id}").json()["parts"][0]
            assert shown["value"] == row[column]


def test_a_row_has_all_of_its_numbers(published: Project) -> None:
    (publication,) = publications(published)
    listed = rows(published, f"/publications/{publication.digest}", "rows")
    place = next(row["row"] for row in listed if row["series"] == "b")
    numbers = {row["column"]: row for row in rows(published, f"/publications/{publication.digest}?row={place}", "numbers")}
    assert numbers["v"]["value"] == pytest.approx(MEDIANS["b"]) and numbers["v"]["unit"] == "tokens/s" and numbers["v"]["runs"] == 10
    assert numbers["n"]["verdict"] == "not claimed" and numbers["n"]["unit"] is None
    second = rows(published, f"/publications/{publication.digest}?offset=2", "rows")
    assert [row["row"] for row in second] == [2]


@pytest.mark.parametrize(("question", "series"), [
    ("8702.9", {"a"}), ("8.7k tok/s", {"a"}), ("8,703", {"a"}), ("4351.45 tokens/s", {"b"}), ("claim[series=c].v", {"c"}), ("10", {"a", "b"}),
])
def test_a_number_is_found_as_it_is_printed(published: Project, question: str, series: set[str]) -> None:
    response = client(published).get("/api/numbers", params={"q": question})
    found = part(response.json(), "numbers")["rows"]
    assert {row["grain"] for row in found} == series and {row["state"] for row in found} == {"counts"}
    for row in found:
        assert client(published).get(f"/numbers/{row['number']}").status_code == 200


def test_a_number_is_found_by_its_id(published: Project) -> None:
    (publication,) = publications(published)
    number_id = next(row["v__number"] for row in rows(published, f"/publications/{publication.digest}", "rows") if row["series"] == "a")
    (row,) = rows(published, f"/numbers?q={number_id}", "numbers")
    assert (row["number"], row["column"], row["unit"]) == (number_id, "v", "tokens/s") and row["value"] == pytest.approx(MEDIANS["a"])


def test_what_no_number_is(published: Project) -> None:
    asked = client(published)
    document = asked.get("/api/numbers", params={"q": "123456789"}).json()
    assert part(document, "numbers")["rows"] == [] and document["notices"][0] == "no published or built cell holds it"
    assert any("8702.9" in notice for notice in document["notices"])  # the nearest are told
    assert asked.get("/api/numbers", params={"q": "tokens"}).status_code == 400
    assert "&lt;script&gt;" in asked.get("/numbers", params={"q": "claim[series=<script>].v"}).text


def test_without_a_question_the_last_published_numbers_are_listed(published: Project) -> None:
    found = rows(published, "/numbers", "numbers")
    assert {row["column"] for row in found} >= {"v"} and {row["query"] for row in found} == {"claim"} and len(found) <= 6
    assert found[0]["column"] == "v"  # what the query claims comes first


def test_a_correction_is_wherever_its_numbers_are(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    (first,) = publications(project)
    add(project, {"c02": 7.0}, "later")
    publish(project, "claim", as_provisional=True)
    second = publications(project)[0]
    supersede(project, first.digest, second.digest, "one run was not there yet")
    withdraw(project, second.digest, "the clock was wrong")
    listed = {row["publication"]: row for row in rows(project, "/publications", "publications")}
    assert (listed[first.digest]["state"], listed[second.digest]["state"]) == ("superseded", "withdrawn")
    assert "one run was not there yet" in listed[first.digest]["reason"] and "the clock was wrong" in listed[second.digest]["reason"]
    document = client(project).get(f"/api/publications/{second.digest}").json()
    assert "withdrawn" in document["states"] and "the clock was wrong" in document["notices"][0]
    assert part(document, "rows")["total"] == 3  # what was published stays where it is
    assert rows(project, "/numbers", "numbers") == []  # none counts any more
    assert {row["state"] for row in rows(project, "/numbers?q=claim[series=c].v", "numbers")} == {"withdrawn"}


def test_a_damaged_publication_says_so_and_shows_no_number(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    publish(project, "claim", as_provisional=True)
    (publication,) = publications(project)
    path = folder_of(publication) / "rows.jsonl"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b'"number_id"', b'"number_jd"'))
    document = client(project).get(f"/api/publications/{publication.digest}").json()
    assert "damaged" in document["states"] and "rows.jsonl differs from its digest" in document["notices"][0]
    assert [each["name"] for each in document["parts"]] == ["about"]
    record = folder_of(publication) / "publication.json"
    record.chmod(0o644)
    record.write_bytes(record.read_bytes() + b" ")
    (row,) = rows(project, "/publications", "publications")
    assert row["state"] == "damaged" and row["query"] == "claim" and row["numbers"] is None


def test_a_statistic_has_the_unit_that_its_row_states(tmp_path: Path) -> None:
    """Rows of several metrics: the columns declare no unit, and each row has its own in `unit`."""
    sql = QUERY.replace(COLUMNS + COUNT, "").replace("select\n    series,", "select\n    series,\n    case series when 'a' then 'W' else 'ms' end as unit,")
    sql = sql.replace("as v,", "as v,\n    max(value) as maximum,")
    project = made(tmp_path, {"mixed": sql}, runs(A) | runs(B, "b"))
    built = {row["series"]: row for row in rows(project, "/results/mixed", "rows")}
    assert {series: row["unit"] for series, row in built.items()} == {"a": "W", "b": "ms"}
    publish(project, "mixed", as_provisional=True)
    (publication,) = publications(project)
    listed = {row["series"]: row for row in rows(project, f"/publications/{publication.digest}", "rows")}
    assert [(row["v__unit"], row["maximum__unit"], row.get("n__unit")) for row in listed.values()] == [("W", "W", None), ("ms", "ms", None)]
    numbers = {row["column"]: row["unit"] for row in rows(project, f"/publications/{publication.digest}?row={listed['a']['row']}", "numbers")}
    assert numbers == {"v": "W", "maximum": "W", "n": None, "unit": None}
    assert rows(project, "/results/mixed?where=series=a", "rows")[0]["unit"] == "W"
    assert [row["unit"] for row in rows(project, "/numbers?q=8702.9 W", "numbers")] == ["W"]
    assert rows(project, "/numbers?q=8702.9 ms", "numbers") == []
    (found,) = rows(project, f"/numbers?q={listed['b']['v__number']}", "numbers")
    assert found["unit"] == "ms"
    columns = part(client(project).get("/api/results/mixed?where=series=a").json(), "rows")["columns"]
    assert {column["name"]: column["unit"] for column in columns}["v"] == "W"


@pytest.mark.parametrize(("path", "status"), [
    ("/publications/ffffffffffff", 404), ("/publications/..", 404), ("/publications?offset=-1", 400), ("/publications?offset=x", 400),
    ("/publications?query=nothing", 200),
])
def test_what_no_publication_is(published: Project, path: str, status: int) -> None:
    assert client(published).get(f"/api{path}").status_code == status
