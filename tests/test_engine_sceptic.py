"""Ways in which a sceptic made the engine keep, update or explain what it should not have."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from built import sql_of

from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.testing.equivalence import check_equivalence

HEADER = "/*\nmaterialized: incremental\nkey: [k]\n*/\n"
TWENTY = "select i as k, i * 10 as v from range(20) as r (i)"
LATE = "select 3::bigint as k, 1000::bigint as v"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = init_project(tmp_path / "project", bare=True)
    (made.root / "data").mkdir()
    return made


def put(project: Project, name: str, sql: str) -> None:
    duckdb.sql(f"copy ({sql}) to '{project.root / 'data' / name}.parquet' (format parquet)")


def write(project: Project, **models: str) -> None:
    for name, text in models.items():
        (project.root / "models" / f"{name}.sql").write_text(text)


def actions(project: Project) -> dict[str, str]:
    return {model.name: model.action for model in build(project).models}


def value(project: Project, sql: str) -> object:
    ((found,),) = sql_of(project)(sql)
    return found


def assert_as_from_nothing(project: Project) -> None:
    assert [found for found in check_equivalence(project) if found.difference] == []


READS = {
    "a column of the data named filename": ("select k, sum(v) as t from read_parquet('data/*.parquet') group by k", ", 'x' as filename"),
    "an option that takes the name": (
        "select k, sum(v) as t, max(src) is null as s from read_parquet('data/*.parquet', filename = 'src') group by k", ""),
    "the engine's own filename": (
        "select k, sum(v) as t, max(parse_filename(filename)) as f from read_parquet('data/*.parquet') group by k", ""),
    "the place in the file": (
        "select k, sum(v) as t, min(file_row_number) as n from read_parquet('data/*.parquet') group by k", ""),
}


@pytest.mark.parametrize("case", READS)
def test_a_new_file_reaches_its_keys(case: str, project: Project) -> None:
    sql, more = READS[case]
    put(project, "b", TWENTY.replace(" from", f"{more} from"))
    write(project, m=HEADER + sql)
    build(project)
    put(project, "c", LATE + more)
    build(project)
    assert value(project, "select t from m where k = 3") == 1030
    assert_as_from_nothing(project)


def test_an_input_named_by_its_schema_is_read_whole(project: Project) -> None:
    put(project, "b", TWENTY)
    write(
        project, m=HEADER + "select k, v from read_parquet('data/*.parquet')",
        v=HEADER + "select main.m.k, main.m.v as mv from main.m",
    )
    build(project)
    put(project, "c", LATE)
    assert actions(project) == {"main.m": "update", "main.v": "build"}
    assert value(project, "select count(*) from v where k = 3") == 2


@pytest.mark.parametrize("is_first", [True, False], ids=["built", "updated"])
def test_what_fails_in_an_incremental_model_is_told(is_first: bool, project: Project) -> None:
    put(project, "b", TWENTY)
    write(project, m=HEADER + "select k, sum(v)::utinyint as t from read_parquet('data/*.parquet') group by k")
    if not is_first:
        build(project)
    put(project, "c", LATE)
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH209", "models/m.sql:5:1")
    assert "value 1030" in caught.value.message and "out of range" in caught.value.message


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("interval", "30 days", "1 month"), ("double", "0.0", "-0.0"), ("time with time zone", "12:00:00+00", "13:00:00+01")],
)
@pytest.mark.parametrize("shape", ["[v::{}]", "{{'x': v::{}}}", "v::{}"])
def test_values_that_are_equal_and_not_the_same(shape: str, kind: str, before: str, after: str, project: Project) -> None:
    texts = "select i as k, case when i = 3 then '{}' else '{}' end as v from range(9) as r (i)"
    put(project, "b", texts.format(before, before))
    listed = f"select k, {shape.format(kind)} as l from read_parquet('data/*.parquet')"
    write(project, a=listed, b="select k, l::varchar as t from a", c=HEADER + listed, d="select k, l::varchar as t from c")
    build(project)
    old = value(project, "select t from b where k = 3")
    put(project, "b", texts.format(after, before))
    build(project)
    new = value(project, "select t from b where k = 3")
    assert new != old
    assert value(project, "select t from d where k = 3") == new
    assert_as_from_nothing(project)


def test_an_altered_build_is_not_called_absent(project: Project) -> None:
    write(project, m="select 1 as a")
    path = build(project).build.path
    with open(path, "ab") as stream:
        stream.write(b"more")
    with pytest.raises(WarehouseError) as caught:
        current_build(project)
    assert caught.value.code == "WH218"
    assert build(project).is_new
    assert value(project, "select a from m") == 1
