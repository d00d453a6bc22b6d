"""Models that a build makes side by side, and in shares, are what one core makes: the same rows, in the same order, in the same layout."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from bare_project import project, write
from conftest import Wh
from exhaustive import few
from from_nothing import tables_unlike_from_nothing
from processes import killed_after
from samples.families import FAMILIES
from samples.values import take_in, value_files, values_project
from standard import standard_project
from test_equal_bits import contents

from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.transform.build.build import bring_up_to_date, build, gather_material
from warehouse.transform.build.lanes import side_by_side
from warehouse.transform.finished.builds import current_build
from warehouse.transform.incremental.shares import Share, SharedWork

__all__ = ["project"]


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(side_by_side, "LONG_ROWS", 0)
    monkeypatch.setattr(side_by_side, "LARGE_ROWS", 0)
    yield


def built_with(monkeypatch: pytest.MonkeyPatch, project: Project, cores: int) -> Path:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    path = project.root / f"{cores}.duckdb"
    bring_up_to_date(path, gather_material(project))
    return path


def layout(database: Path) -> dict[str, list[tuple[object, ...]]]:
    """How each table lies: its row groups, with how many values of each column are in one, and how they are compressed."""
    with duckdb.connect(str(database), read_only=True) as con:
        tables = con.execute("select schema_name || '.' || table_name from duckdb_tables() where schema_name in ('main', 'staging', 'mart', 'rollup') order by all").fetchall()
        sql = "select row_group_id, column_name, segment_type, start, count, compression from pragma_storage_info('{}') order by all"
        return {name: con.execute(sql.format(name)).fetchall() for (name,) in tables}


MODELS = {
    "models/sample.sql": "/*\nmaterialized: view\n*/\nselect run_id, i, metric, watts from read_parquet('samples/*.parquet')",
    "models/fact.sql": "select s.run_id, s.i, s.watts * m.sign as watts, m.name from sample as s join metric as m using (metric)",
    "models/staging/metric.sql": "select i as metric, 'm' || i as name, i - 3.5 as sign from range(7) as r (i)",
    # In shares: grouped by its key; with floats that are added, and with rows whose key is NULL.
    "models/energy.sql": "select run_id, name, sum(watts) as total, avg(watts) as mean, median(watts) as middle, count(*) as n from fact group by all",
    "models/once.sql": "select distinct run_id, name, i % 11 as phase from fact",
    # Not local: they wait for tables to be compressed.
    "models/marts/by_name.sql": "select name, sum(total) as total, avg(mean) as mean from energy group by name",
    "models/ranked.sql": "select run_id, total, row_number() over (order by total, run_id) as place from energy",
    "models/placed.sql": "select r.run_id, r.place, o.phase from ranked as r join once as o using (run_id)",
    # Late: they read what the others leave out.
    "models/left_out.sql": "select table_name, count(*) as n from rejected_row group by all",
    "models/left_out_in_all.sql": "select sum(n) as n from left_out",
    "queries/claim.sql": (
        "/*\ngrain: [name]\ncolumns:\n  name: {type: varchar}\n  total: {type: double, unit: none}\n*/\nselect name, total from by_name"
    ),
}
SAMPLES = """
    select case when i % 97 = 0 then null else 'run ' || hash(i // 40) % 3000 end as run_id, i, i % 7 as metric,
        (hash(i) % 1000000) / 997.0 as watts from range({}, {}) as r (i)"""


def sample(project: Project, number: int, rows: int = 150_000) -> None:
    (project.root / "samples").mkdir(exist_ok=True)
    duckdb.sql(f"copy ({SAMPLES.format(number * rows, (number + 1) * rows)}) to '{project.root}/samples/{number}.parquet'")


def test_several_cores_make_what_one_makes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, MODELS)
    sample(project, 0)
    sample(project, 1)
    shared: list[int] = []
    monkeypatch.setattr(SharedWork, "__init__", lambda self, shares, made=SharedWork.__init__: (shared.append(len(shares)), made(self, shares))[1])
    one, two, three = (built_with(monkeypatch, project, cores) for cores in (1, 2, 3))
    assert contents(one) == contents(two) == contents(three)
    assert layout(one) == layout(two) == layout(three)
    assert sorted(shared) == [6, 6, 9, 9]


def test_what_they_made_is_updated(project: Project, wh: Wh, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    write(project, MODELS)
    sample(project, 0, 20_000)
    assert wh("build")[0] == 0
    sample(project, 1, 20_000)
    assert wh("build")[0] == 0
    assert tables_unlike_from_nothing(project, tmp_path) == []


def test_landing_tables_are_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, files = [], value_files(tmp_path / "in", *("".join(f"k{i % 7}={i * 0.1}\n" for i in range(n, n + 50)) for n in range(20)))
    for cores in (1, 3):
        monkeypatch.setattr(os, "sched_getaffinity", lambda process, cores=cores: set(range(cores)))
        made = values_project(tmp_path / f"{cores}", "select key, total from summed", "total")
        write(made, {
            "models/summed.sql": "select artifact_manifest_digest, key, sum(value) as total from reading group by all",
            "models/counted.sql": "select artifact_manifest_digest, count(distinct key) as keys from reading group by all",
            "queries/claim.sql": "/*\ngrain: [key]\ncolumns:\n  key: {type: varchar}\n  total: {type: double, unit: none}\n*/\nselect key, sum(total) as total from summed group by key",
        })
        take_in(made, files)
        build(made)
        found.append(contents(current_build(made).path))
    assert found[0] == found[1]


@pytest.mark.exhaustive
def test_standard_models_on_two_cores_are_as_on_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = standard_project(tmp_path / "project")
    for name, family in FAMILIES.items():
        family.write(tmp_path / "in" / name)
    ingest(plan_ingest(tmp_path / "in", load_ingestors(made).values(), made.store_root), open_store(made), "test")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    build(made)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    assert tables_unlike_from_nothing(made, tmp_path) == []


@pytest.mark.parametrize("broken", [("a", "c"), ("c",), ("energy",)])
def test_the_first_fault_in_build_order_is_raised_and_what_is_before_it_is_kept(
    broken: tuple[str, ...], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {**MODELS, **{f"models/{name}.sql": "select run_id, count(*) as n, max(watts) as total from fact group by all" for name in "abcd"}}
    faults = {f"models/{name}.sql": models[f"models/{name}.sql"].replace("as total", "+ error('no')::double as total") for name in broken}
    write(project, {**models, **faults})
    sample(project, 0, 20_000)
    kept = []
    for cores in (1, 3):
        with pytest.raises(WarehouseError) as raised:
            built_with(monkeypatch, project, cores)
        kept.append((raised.value.code, raised.value.place, raised.value.message))
    assert kept[0] == kept[1]
    one, several = (contents(project.root / f"{cores}.duckdb") for cores in (1, 3))
    assert one.items() <= several.items()
    write(project, models)
    built_with(monkeypatch, project, 3)  # goes on from what is there
    assert contents(project.root / "3.duckdb") == contents(built_with(monkeypatch, project, 2))


def test_shares_hold_every_key_once() -> None:
    shares = [Share(None, "3"), Share("3", "7"), Share("7", None)]
    keys = [*range(10), None]
    con = duckdb.connect()
    for key in keys:
        literal = "null::int" if key is None else str(key)
        assert sum(con.execute(f"select coalesce({share.holds(literal)}, false)").fetchall()[0][0] for share in shares) == 1


BUILD = """
import os, sys
os.sched_getaffinity = lambda process: {0, 1}
from warehouse.project.project import find_project
from warehouse.transform.build.build import build
from warehouse.transform.build.lanes import side_by_side
side_by_side.LONG_ROWS = side_by_side.LARGE_ROWS = 0
print("begins", flush=True)
build(find_project())
"""


@pytest.mark.parametrize("point", few(range(30), 1))
def test_a_build_on_several_cores_that_is_killed_is_made_good_by_the_next(
    point: int, project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(project, MODELS)
    sample(project, 0, 60_000)
    process = subprocess.Popen([sys.executable, "-c", BUILD], cwd=project.root, stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "begins\n"
    killed_after(process, random.Random(point).random() * 2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    build(project, is_retry=point % 2 == 0)
    assert tables_unlike_from_nothing(project, tmp_path) == []
