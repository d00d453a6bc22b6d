"""Views written out in the SQL that is traced: names that mean one thing in a view and another in its reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from exhaustive import few
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_publication
from warehouse.evidence.store import bundle_key
from warehouse.project.project import Project
from warehouse.transform.build.build import build

VIEW = "/*\nmaterialized: view\n*/\n"
# Over the lines a=1, b=5, b=7, a=9, a=9. Query, and for each key its number and the values of the lines it is counted from.
CASES = {
    # 3 lines of a with 2 of them above 2; 2 lines of b with 2.
    "a CTE of the reader has the name of a table of the view": (
        "with reading as (select * from seen where value > 2)\n"
        "select s.key, count(*) as total from seen s join reading r using (key) group by s.key",
        {"a": (6, ["1", "9", "9"]), "b": (4, ["5", "7"])},
    ),
    "a CTE of the reader has the name of a table under two views": (
        "with reading as (select * from seen where value > 6)\n"
        "select s.key, count(*) as total from twice s join reading r using (key) group by s.key",
        {"a": (6, ["1", "9", "9"]), "b": (2, ["5", "7"])},
    ),
    "a CTE has the name of the view that it reads": (
        "with seen as (select * from seen where value > 6) select key, count(*) as total from seen group by key",
        {"a": (2, ["9", "9"]), "b": (1, ["7"])},
    ),
    "a later CTE has the name of a view that an earlier one reads": (
        "with first as (select * from seen), seen as (select * from first where value < 6)\n"
        "select key, count(*) as total from seen group by key",
        {"a": (1, ["1"]), "b": (1, ["5"])},
    ),
    "a view has a CTE of its own": (
        "select key, count(*) as total from own group by key", {"a": (2, ["9", "9"]), "b": (2, ["5", "7"])},
    ),
}


def lines_of(project: Project, evidence: tuple[dict, ...]) -> list[str]:
    """The values of the lines that a cell was read from."""
    found = []
    for file in evidence:
        data = (project.store_root / bundle_key(file["artifact_manifest_digest"]) / "files" / file["raw_path"]).read_bytes()
        for offset, length in file["ranges"]:
            found += [line.partition("=")[2] for line in data[offset : offset + length].decode().split()]
    return sorted(found)


@pytest.mark.parametrize("name", few(CASES, 2))
def test_a_name_means_in_a_view_what_it_means_there(name: str, tmp_path: Path) -> None:
    sql, expected = CASES[name]
    project = values_project(tmp_path / "p", sql)
    models = {
        "seen": "select reading.key, value from reading",
        "twice": "select seen.key, seen.value from seen",
        "own": "with reading as (select * from main.reading where value > 2) select reading.key, value from reading",
    }
    for model, text in models.items():
        (project.root / "models" / f"{model}.sql").write_text(VIEW + text)
    take_in(project, value_files(tmp_path / "in", "a=1\nb=5\n", "b=7\n", "a=9\na=9\n"))
    build(project)
    publish(project, "claim")
    (publication,) = publications(project)
    rows = {row.grain["key"]: row.cells["total"] for row in publication.rows()}
    assert {key: (cell.value, lines_of(project, cell.evidence)) for key, cell in rows.items()} == expected
    assert {verdict.state for verdict in verify_publication(project, publication)} == {"verified"}
