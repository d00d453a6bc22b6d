"""Equal evidence gives equal tables, in equal order and to the last bit of every float: however it was cut into batches, in whatever order it
came, and however long a build takes."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import duckdb
import pytest
from bare_project import project, write
from conftest import Wh, unpacked_evidence
from from_nothing import tables_unlike_from_nothing
from samples.families import FAMILIES
from samples.values import take_in, value_files, values_project
from standard import standard_project
from test_whole_warehouse import OTHERS, WITH_RESULTS

from warehouse.claims.numbers.deciding import reinstate, retract
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import Plan, ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, read_project
from warehouse.trace.catalog import open_trace_session
from warehouse.transform.build import plan as build_plan
from warehouse.transform.build import tables_made
from warehouse.transform.build.build import bring_up_to_date, build, gather_material
from warehouse.transform.build.state import read_states
from warehouse.transform.finished.builds import current_build
from warehouse.transform.incremental import incremental
from warehouse.transform.incremental.row_order import put_in_order
from warehouse.transform.project.model import Model

__all__ = ["project"]


def contents(database: Path) -> dict[str, str]:
    """The id of what each table holds."""
    with duckdb.connect(str(database), read_only=True) as con:
        return {name: state.content_id for name, state in read_states(con).items() if state.kind == "table"}


# A join of three tables, of which the engine begins with another one once it has statistics.
JOINED = {
    "models/a.sql": "select (hash(i) % 1000)::int as k, (hash(i + 1) % 400)::int as b, i, (hash(i) % 100000) / 997.0 as v from range(300) as r (i)",
    "models/d.sql": "select (hash(i) % 1000)::int as k, 0.1 * i as w from range(300) as r (i)",
    "models/e.sql": "select (i % 400)::int as b, i % 7 as h from range(400) as r (i)",
    "models/joined.sql": "select a.i, e.h, a.v * d.w as x from a join e using (b) join d using (k)",
    "models/summed.sql": "select h, sum(x) as x from joined group by h",
}


def test_when_a_build_commits_shows_in_no_table(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that are not committed have no statistics, and a slow machine commits more often."""
    write(project, JOINED)
    found = []
    for seconds in (-1.0, 1e9):
        monkeypatch.setattr(tables_made, "_GROUP_S", seconds)
        path = project.root / f"{seconds}.duckdb"
        bring_up_to_date(path, gather_material(project))
        found.append(contents(path))
    assert found[0] == found[1]


def test_one_batch_of_evidence_is_joined_as_several_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_made, "_GROUP_S", -1.0)
    lines = [f"{number * 7919 % 50}={number * 104729 % 400}\n" for number in range(3000)]
    halves = value_files(tmp_path / "in", "".join(lines[:1500]), "".join(lines[1500:]))
    found = []
    for batches in ([halves], sorted(halves.iterdir())):
        made = values_project(tmp_path / f"{len(batches)}", "select h, sum(x) as x from joined group by h", "h")
        write(made, {
            "models/d.sql": "select (hash(i) % 50)::varchar as k, 0.1 * i as w from range(1500) as r (i)",
            "models/e.sql": "select (i % 400)::double as b, i % 7 as h from range(50) as r (i)",
            "models/joined.sql": "select e.h, a.value * d.w as x from value as a join e on e.b = a.value join d on d.k = a.key",
        })
        for batch in batches:
            take_in(made, batch)
            gather_material(made)
        build(made)
        found.append(contents(current_build(made).path))
    assert found[0]["joined"] == found[1]["joined"] and found[0] == found[1]


def test_sql_that_is_run_again_gives_the_bits_of_its_table(project: Project) -> None:
    """A trace, and a publication that compares, run it in a session of their own."""
    write(project, {
        "models/f.sql": "select (hash(i) % 1000)::int as a, (hash(i) % 100000) / 997.0 as v from range(200000) as r (i)",
        "models/g.sql": "select (hash(i) % 1000)::int as a from range(3000) as r (i)",
        "models/summed.sql": "select g.a, sum(f.v) as v from f join g using (a) group by g.a order by g.a",
    })
    build(project)
    con, catalog = open_trace_session(current_build(project), project.store_root)
    with con:
        assert con.execute(catalog.models["main.summed"].sql).fetchall() == con.execute("select * from main.summed").fetchall()


def test_many_rows_at_once_are_joined_as_a_full_build_joins_them(project: Project, wh: Wh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin a row group of their own, in the middle of a vector of a full build."""
    monkeypatch.setattr(build_plan, "LEAST_ROWS", 1)

    def sample(run: int, rows: int) -> None:
        path = project.root / "samples" / f"{run}.parquet"
        path.parent.mkdir(exist_ok=True)
        duckdb.sql(f"copy (select 'run-{run}' as run_id, i, 0.1 * (hash(i) % 977) as watts from range({rows}) as r (i)) to '{path}'")

    write(project, {
        "models/fact.sql": "select run_id, i, watts from read_parquet('samples/*.parquet')",
        "models/part.sql": "select r::int as place, r % 3 as half from range(7) as t (r)",
        "models/joined.sql": "select half, watts from fact join part on place < i % 4 + 2",
        "models/total.sql": "select half, sum(watts) as watts from joined group by half",
    })
    for run in range(1, 7):
        sample(run, 1000)
    assert wh("build")[0] == 0
    sample(7, 125_000)
    sample(8, 10)
    assert "updated 1 (2 keys)" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


def test_a_table_built_in_shares_is_the_one_built_at_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a kill, too, between two shares: nothing is left of those that were written."""
    (project.root / "samples").mkdir()
    rows = "select hash(i) % 37 as run_id, i, 0.1 * (hash(i) % 977) as watts from range(3000) as r (i)"
    duckdb.sql(f"copy ({rows}) to '{project.root / 'samples' / 'all.parquet'}'")
    write(project, {
        "models/sample.sql": "select run_id::varchar as run_id, i, watts from read_parquet('samples/*.parquet')",
        "models/total.sql": "select run_id, count(*) as n, sum(watts) as watts from sample group by run_id",
    })

    def tables(name: str) -> dict[str, list[tuple[object, ...]]]:
        bring_up_to_date(project.root / name, gather_material(project))
        with duckdb.connect(str(project.root / name), read_only=True) as con:
            names = con.execute("select table_name from duckdb_tables() where schema_name = 'main' order by all").fetchall()
            return {table: con.execute(f'from main."{table}"').fetchall() for table, in names}

    at_once = tables("at_once.duckdb")
    monkeypatch.setattr(incremental, "_SHARE_ROWS", 1000)
    assert tables("in_shares.duckdb") == at_once

    def kill(con: duckdb.DuckDBPyConnection, model: Model, types: Mapping[str, str]) -> bool:
        if model.name == "total":
            raise KeyboardInterrupt
        return put_in_order(con, model, types)

    with monkeypatch.context() as killed:
        killed.setattr(incremental, "put_in_order", kill)
        with pytest.raises(KeyboardInterrupt):
            tables("killed.duckdb")
    assert tables("killed.duckdb") == at_once


@pytest.mark.exhaustive
def test_shares_of_many_rows_lie_as_rows_that_are_written_at_once(project: Project, wh: Wh, tmp_path: Path) -> None:
    """A sum of floats follows how a table is cut: here by an update, which writes it again, and by a build in four shares."""
    (project.root / "samples").mkdir()

    def sample(name: int, rows: str) -> None:
        made = f"select 'run-' || i % 97 || '-{name}' as run_id, i, 0.1e0 * (i % 97) as watts from {rows} as r (i)"
        duckdb.sql(f"copy ({made}) to '{project.root / 'samples' / f'{name}.parquet'}'")

    write(project, {
        "models/sample.sql": "select run_id, i, watts from read_parquet('samples/*.parquet')",
        "models/total.sql": "select sum(watts) as total, avg(watts) as mean, stddev(watts) as spread from sample",
    })
    for name in range(4):
        sample(name, f"range({name * 700_000}, {(name + 1) * 700_000})")
    assert wh("build")[0] == 0
    sample(5, "range(5_000_000, 5_000_300)")
    assert "updated 1" in wh("build")[2]
    assert tables_unlike_from_nothing(project, tmp_path) == []


# --- the standard models ------------------------------------------------------------------------------------------

_FRACTION = re.compile(rb"(?<![\w.+:/-])[1-9]\d*\.\d+(?![\w.:/-])")
_ARRIVED = frozenset({"artifact_lineage_dim"})  # says when a bundle arrived
_COPIES = 8  # of each family's sample, each with other numbers: of a few rows most plans join alike


def write_evidence(folder: Path) -> None:
    for name, family in FAMILIES.items():
        family.write(folder / name)
        for number in range(1, _COPIES if name != "recorded_run" else 1):
            copy = folder / f"{name}{number}"
            shutil.copytree(folder / name, copy)
            for path in copy.rglob("*"):
                if path.is_file():
                    changed = _FRACTION.sub(lambda found, more=number: found[0][:-1] + str((found[0][-1] + more) % 10).encode(), path.read_bytes())
                    path.write_bytes(changed)


def arrived(
    folder: Path, evidence: Sequence[Path], batches: int, seed: int | None, after: Callable[[Project], None] = lambda made: None
) -> Project:
    """A project with evidence that came in so many batches, shuffled by a seed, and was built after each; then `after` is called."""
    made = standard_project(folder)
    ingestors = load_ingestors(made).values()
    drafts = [draft for place in evidence for draft in plan_ingest(place, ingestors).drafts]
    if seed is not None:
        random.Random(seed).shuffle(drafts)
    size = -(-len(drafts) // batches)
    for start in range(0, len(drafts), size):
        ingest(Plan(tuple(drafts[start : start + size]), (), ()), open_store(made), "evidence")
        build(made)
        after(made)
    return read_project(made.root)


def unlike(folder: Path, evidence: Sequence[Path], ways: Iterable[tuple[int | None, int]]) -> list[set[str]]:
    """For each way in which evidence came, a seed and how many batches, which tables are other than those of the first way, if they are
    updated, and if they are built from nothing."""
    found = []
    for seed, batches in ways:
        made = arrived(folder / f"{seed} {batches}", evidence, batches, seed)
        bring_up_to_date(folder / "nothing.duckdb", gather_material(made))
        found += [contents(current_build(made).path), contents(folder / "nothing.duckdb")]
        (folder / "nothing.duckdb").unlink()
    return [{name for name in each.keys() | found[0].keys() if each.get(name) != found[0].get(name)} - _ARRIVED for each in found]


@pytest.mark.exhaustive
def test_no_standard_table_depends_on_how_evidence_came(tmp_path: Path) -> None:
    """Neither of the builds that were updated batch by batch, nor of builds from nothing."""
    write_evidence(tmp_path / "in")
    assert unlike(tmp_path, [tmp_path / "in"], [(None, 1), (None, 5), (1, 4)]) == [set()] * 6


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(5))
def test_no_standard_table_depends_on_the_order_of_archives(seed: int, tmp_path: Path) -> None:
    archives = [unpacked_evidence(name) for name in WITH_RESULTS + OTHERS]
    assert unlike(tmp_path, archives, [(None, 1), (seed, 5)]) == [set()] * 4


@pytest.mark.exhaustive
def test_no_standard_table_depends_on_shares_or_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_evidence(tmp_path / "in")
    made = arrived(tmp_path / "project", [tmp_path / "in"], 1, None)
    monkeypatch.setattr(incremental, "_SHARE_ROWS", 100)
    monkeypatch.setattr(tables_made, "_MUCH", 1 << 20)
    assert tables_unlike_from_nothing(made, tmp_path) == []


@pytest.mark.exhaustive
def test_standard_tables_that_are_updated_are_those_of_a_full_build(tmp_path: Path) -> None:
    """While runs are retracted and reinstated, too."""
    rng, gone = random.Random(7), list[str]()

    def decided(made: Project) -> None:
        with duckdb.connect(str(current_build(made).path), read_only=True) as con:
            runs = sorted(run for run, in con.execute("select distinct run_id from main.benchmark_run_fact").fetchall())
        if gone:
            reinstate(made, gone.pop(0), "it was right")
        for run in rng.sample([run for run in runs if run not in gone], 3):
            retract(made, run, "the clock was wrong")
            gone.append(run)
        build(made)
        assert tables_unlike_from_nothing(made, tmp_path) == []

    write_evidence(tmp_path / "in")
    arrived(tmp_path / "project", [tmp_path / "in"], 6, 3, decided)
