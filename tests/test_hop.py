"""One hop of a trace: it gives back every row that it is asked about, as it is, or refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bare_project import write
from samples.values import take_in, value_files, values_project

from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.trace import trace_step
from warehouse.trace.catalog import Catalog, trace_in_memory
from warehouse.trace.tracing import RowTrace, trace
from warehouse.transform.build.build import build, gather_material
from warehouse.transform.check.text_facts import TextFacts


def built(root: Path, sql: str, **models: str) -> Project:
    project = values_project(root / "project", sql)
    write(project, {f"models/{name}.sql": text for name, text in models.items()})
    take_in(project, value_files(root / "in", "a=1\nb=5\n", "b=7\nc=2\n"))
    build(project)
    return project


@pytest.mark.parametrize("join", ["left join big", "full join big"])
def test_the_row_of_a_null_key_that_an_outer_join_makes(join: str, tmp_path: Path) -> None:
    """Nothing of `big` says that its key is NULL: what it is joined with must not be asked for such a key."""
    read = "(select key, max(value) as value from reading group by key)"
    sql = f"select big.key, max(q.value) as v from {read} q {join} on big.key = q.key group by big.key"
    project = built(tmp_path, sql, big="select distinct key from reading where value > 4")
    publish(project, "claim")
    found = lineage(project, "claim[key=NULL].v")
    assert [(file.raw_path, file.ranges) for file in found.raw_files] == [("r0.nv", ((0, 3),)), ("r1.nv", ((4, 3),))]  # a=1 and c=2


@pytest.mark.parametrize("change", ["total = total + 1", "top = 100", "top = null"])
def test_a_row_whose_value_is_not_what_its_sql_gives_is_not_traced(change: str, tmp_path: Path) -> None:
    project = built(tmp_path, "select key, count(*) as total, max(value) as top from reading group by key")
    with trace_in_memory(gather_material(project)) as (con, catalog):
        trace(con, catalog, "claim", ["total"])
        con.execute(f"update rollup.claim set {change} where key = 'b'")
        with pytest.raises(WarehouseError, match="1 rows are not the same when the SQL runs again"):
            trace(con, catalog, "claim", ["total"])


def test_what_was_annotated_is_remembered_while_the_same_tables_have_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = built(tmp_path, "select key, max(value) as top from reading group by key")

    def traced(catalog: Catalog) -> list[RowTrace]:
        facts = TextFacts(project)
        found = trace(con, catalog, "claim", ["top"], facts=facts)
        facts.write()
        return [row for part in found.parts() for row in part.values()]

    with trace_in_memory(gather_material(project)) as (con, catalog):
        names = catalog.empty.union(*((model.name, model.qualified) for model in catalog.models.values()))
        assert not any(row.runs or row.evidence for row in traced(replace(catalog, empty=names | catalog.landing_types.keys())))
        plainly = [row for part in trace(con, catalog, "claim", ["top"]).parts() for row in part.values()]
        assert traced(catalog) == plainly and all(row.evidence for row in plainly)
        monkeypatch.setattr(trace_step, "annotate", lambda *_, **__: pytest.fail("it was annotated again"))
        assert traced(catalog) == plainly
