"""A publication whose digests are all right, whose values are all right, and which lies about what they rest on."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
from bare_project import write
from exhaustive import few
from forgery import Forgery, forge_record
from samples.values import take_in, value_files, values_project

from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_all, verify_number
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.location import open_store
from warehouse.exact import exact
from warehouse.project.project import Project
from warehouse.trace.catalog import open_trace_session, trace_in_memory
from warehouse.transform.build.build import build, gather_material
from warehouse.transform.finished.builds import current_build
from warehouse.transform.project.model import RESERVED_COLUMNS

SQL = "select key, sum(value) as total, max(value) as top from reading group by key"
# A key's values lie in two files; with the runs that its SQL makes of them, the why-set of `a` is of r0.nv and r1.nv.
FILES = ("a=1\n", "a=2\n", "b=5\nb=5\n")
RUNS = "select *, raw_path as run_id from value"


def published(root: Path, sql: str = SQL, files: tuple[str, ...] = FILES) -> Project:
    project = values_project(root / "project", sql)
    write(project, {"models/reading.sql": RUNS})
    take_in(project, value_files(root / "in", *files))
    build(project)
    publish(project, "claim")
    return project


def fewer_runs(forgery: Forgery) -> None:
    cell = forgery.cell("a", "total")
    forgery.name_runs(cell, forgery.why_sets[cell["why_digest"]][:1])


def runs_of_another_row(forgery: Forgery) -> None:
    forgery.cell("a", "total")["why_digest"] = forgery.cell("b", "total")["why_digest"]


def invented_runs(forgery: Forgery) -> None:
    cell = forgery.cell("a", "total")
    forgery.name_runs(cell, [*forgery.why_sets[cell["why_digest"]], {"run_id": "a run that never was"}])


def other_ranges(forgery: Forgery) -> None:
    forgery.cell("a", "total")["evidence"][0]["ranges"] = [[0, 1]]


def another_file(forgery: Forgery) -> None:
    forgery.cell("a", "total")["evidence"] = forgery.cell("b", "total")["evidence"]


def another_sha256(forgery: Forgery) -> None:
    forgery.cell("a", "total")["evidence"][0]["sha256"] = "0" * 64


def a_tolerance(forgery: Forgery) -> None:
    forgery.record["columns"]["total"]["tolerance"] = 0.5


def no_exactness(forgery: Forgery) -> None:
    del forgery.record["columns"]


def a_sum_that_is_exact(forgery: Forgery) -> None:
    forgery.cell("a", "total")["is_exact"] = True


def a_guarantee(forgery: Forgery) -> None:
    forgery.record["guarantees"]["G4"]["established"] = "checked"


def another_query(forgery: Forgery) -> None:
    forgery.record["query"] = "audited"


def another_engine(forgery: Forgery) -> None:
    forgery.record["engine"]["settings"] = {}


def a_value_without_a_number(forgery: Forgery) -> None:
    forgery.cell("a", "total").update(value=["double", (8.0).hex()], number_id=None)


def ties_tried(forgery: Forgery) -> None:
    forgery.record["ties_tried"] = {"rollup.claim": 3}


LIES: dict[Callable[[Forgery], None], str] = {
    fewer_runs: "other runs than", runs_of_another_row: "other runs than", invented_runs: "other runs than",
    other_ranges: "other bytes than", another_file: "other bytes than", another_sha256: "other bytes than",
    a_tolerance: "other exactness than", no_exactness: "other exactness than", a_guarantee: "other guarantees than",
    a_sum_that_is_exact: "other exactness than",
    ties_tried: "other clauses tried for ties than",
    another_query: "it is of 'audited'", another_engine: "another engine", a_value_without_a_number: "does not commit",
}


@pytest.mark.parametrize("lie", few(LIES, 3), ids=lambda lie: lie.__name__)
def test_a_lie_about_what_a_right_value_rests_on(lie: Callable[[Forgery], None], tmp_path: Path) -> None:
    project = published(tmp_path)
    (publication,) = publications(project)
    forge_record(publication, lie)
    told = {verdict.key: verdict for verdict in verify_all(project)}
    verdict = told.get("claim[key=a].total") or next(iter(told.values()))  # of a damaged publication there is one
    assert verdict.state == "tampered" and LIES[lie] in verdict.reason


def a_row_of_other_evidence(forgery: Forgery) -> None:
    forgery.rows = [row for row in forgery.rows if row["grain"]["key"] != ["text", "b"]]


def a_row_of_the_same_evidence(forgery: Forgery) -> None:
    forgery.rows = [row for row in forgery.rows if row["grain"]["key"] != ["text", "c"]]


def every_row(forgery: Forgery) -> None:
    forgery.rows = []


def a_row_without_a_number(forgery: Forgery) -> None:
    row = deepcopy(forgery.rows[0])
    row["grain"]["key"] = ["text", "z"]
    for cell in row["cells"].values():
        cell |= {"value": exact(None), "number_id": None}
    forgery.rows.append(row)


OMISSIONS: dict[Callable[[Forgery], None], tuple[str, str]] = {
    # `c` stands in a file of `a`'s, so what is left names that; of `b` nothing left says that it ever was.
    a_row_of_the_same_evidence: ("tampered", "the evidence that it names gives 1 rows that it leaves out"),
    a_row_of_other_evidence: ("refused", "all the evidence that the store had when it was published gives 1 rows that it leaves out"),
    every_row: ("refused", "all the evidence that the store had when it was published gives 3 rows that it leaves out"),
    a_row_without_a_number: ("tampered", "the evidence that it names gives 1 rows fewer than it states"),
}


@pytest.mark.parametrize("omission", few(OMISSIONS, 2), ids=lambda omission: omission.__name__)
def test_rows_that_are_left_out_or_added(omission: Callable[[Forgery], None], tmp_path: Path) -> None:
    project = published(tmp_path, files=("a=1\nc=3\n", "a=2\n", "b=5\nb=5\n"))
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}
    (publication,) = publications(project)
    forged = forge_record(publication, omission)
    *numbers, verdict = verify_all(project)
    assert {verdict.state for verdict in numbers} <= {"verified"}
    assert (verdict.number_id, verdict.key, verdict.state, verdict.reason) == (None, forged.name, *OMISSIONS[omission])


def test_runs_that_are_left_out_of_a_row(tmp_path: Path) -> None:
    """Every number by itself is what its evidence gives, and states that evidence: of the first of two runs alone."""
    project = published(tmp_path / "whole")
    few = published(tmp_path / "few", files=(FILES[0], "", FILES[2]))
    (publication,), (other,) = publications(project), publications(few)

    def change(forgery: Forgery) -> None:
        theirs = Forgery(other)
        forgery.rows = theirs.rows
        forgery.why_sets = theirs.why_sets

    forge_record(publication, change)
    *numbers, verdict = verify_all(project)
    assert {verdict.number_id is None for verdict in numbers} == {False}
    assert (verdict.state, verdict.reason) == ("refused", "all the evidence that the store had when it was published gives 2 other values")


def test_evidence_that_came_later_is_not_left_out(tmp_path: Path) -> None:
    project = published(tmp_path)
    take_in(project, value_files(tmp_path / "later", "d=4\n", "a=7\n"))
    assert {verdict.state for verdict in verify_all(project)} == {"verified"}
    build(project)
    assert {verdict.state for verdict in verify_all(project)} <= {"verified", "stale"}


def test_evidence_that_arrived_again_was_there_before(tmp_path: Path) -> None:
    """What was left out of a publication between two arrivals of its evidence is still found."""
    project = published(tmp_path)
    (publication,) = publications(project)
    forged = forge_record(publication, every_row)
    store = open_store(project)
    ledger = Ledger(store.objects)
    ledger.published(forged.name, "claim", "a build")
    for digest in sorted(store.digests()):
        ledger.arrived(digest, "values", "again")
    (verdict,) = verify_all(project)
    assert (verdict.state, verdict.reason) == (
        "refused", "all the evidence that the store had when it was published gives 2 rows that it leaves out"
    )


def test_the_record_of_another_version_is_not_said_to_be_a_lie(tmp_path: Path) -> None:
    """Another version may trace otherwise; but what it recorded is not confirmed here."""

    def change(forgery: Forgery) -> None:
        forgery.record["wh"] = "0.0.1"
        other_ranges(forgery)

    project = published(tmp_path)
    forge_record(publications(project)[0], change)
    states = {verdict.key: (verdict.state, verdict.reason) for verdict in verify_all(project)}
    state, reason = states.pop("claim[key=a].total")
    assert state == "not reproduced" and "recorded with wh 0.0.1, replayed with" in reason and 'pip install "perf-warehouse==0.0.1"' in reason
    assert {state for state, _ in states.values()} == {"verified"}


def test_a_cell_without_a_value_is_no_damage(tmp_path: Path) -> None:
    """Also where no build holds it any more."""
    sql = "select key, max(value) filter (value > 4) as high, count(*) as n from reading group by key"
    project = published(tmp_path, sql)
    (project.builds / "current.duckdb").unlink()
    verdict = verify_number(project, "claim[key=a].high")
    assert (verdict.value, verdict.state) == (None, "stale")
    assert {verdict.state for verdict in verify_all(project)} == {"stale"}


def test_a_table_of_runs_that_rests_on_more_is_no_lie(tmp_path: Path) -> None:
    """What it says of the runs of `a` depends on the bundle of `b`, which the query does not read."""
    project = values_project(tmp_path / "project", f"{SQL.removesuffix('group by key')}where key = 'a' group by key")
    write(project, {
        "models/reading.sql": RUNS,
        "models/executed.sql": "/*\nrole: runs\n*/\nselect v.raw_path as run_id, md5(max(o.key)) as workload_spec_digest,"
        " min(v.artifact_manifest_digest) as artifact_manifest_digest from value v, value o group by v.raw_path",
    })  # fmt: skip
    take_in(project, value_files(tmp_path / "in", *FILES))
    build(project)
    publish(project, "claim")
    verdict = verify_number(project, "claim[key=a].total")
    assert verdict.state == "refused" and "what the table of runs is made of" in verdict.reason


def test_models_in_memory_are_those_of_a_build(tmp_path: Path) -> None:
    project = published(tmp_path)
    built, expected = open_trace_session(current_build(project), project.store_root)
    with trace_in_memory(replace(gather_material(project), root=tmp_path)) as (con, catalog):
        assert dict(catalog.models) == dict(expected.models) and catalog.landing_types == expected.landing_types
        for name, types in catalog.types.items():
            assert types == {column: kind for column, kind in expected.types[name].items() if column not in RESERVED_COLUMNS}
            rows, others = (each.execute(f"select * from {name}").fetchall() for each in (con, built))
            assert rows == others and rows
    built.close()
