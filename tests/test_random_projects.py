"""Random projects that are updated in random batches: with late rows, files that change and files that go, each build is what a build from
nothing makes, to the last bit of every float.

Each project has a fixed seed; `WH_PROJECTS=400` makes more of them, `WH_ROWS="2000 300000 1700000"` larger ones, of up to 10 million rows of facts.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import duckdb
import pytest
from bare_project import project, write
from exhaustive import few
from from_nothing import tables_unlike_from_nothing
from provenance import generator

from warehouse.project.project import Project
from warehouse.transform.build import plan as build_plan
from warehouse.transform.build.build import build
from warehouse.transform.sql.duck import connect

__all__ = ["project"]

PROJECTS = int(os.environ.get("WH_PROJECTS", "40"))
ROWS = [int(rows) for rows in os.environ.get("WH_ROWS", "40 3000 20000").split()]  # of a file of facts
STEPS, LOCAL, DRAWN = 3, 6, 5
MEMORY = "4GB"  # of a build, which spills the rest

SMALL = {name: f"select * from read_parquet('{name}/*.parquet')" for name in generator.CATALOG}
SOURCES = (
    "fact", "fact", "fact join machine using (host)", "machine join fact using (host)", "fact as fact left join machine using (host)",
    "(select distinct run_id, kind, host, i, watts from fact) as fact", "(select * from fact where i % 3 = 0 or kind = 'b') as fact",
    "(select run_id, kind, host, i, w as watts from (select run_id, kind, host, i, watts as a, watts / 3 as b from fact) unpivot (w for part in (a, b))) as fact",
    "(select * from fact where host in (select host from machine where zone = 'x')) as fact",
    "(select f.run_id, f.kind, f.host, f.i, f.watts * m.factor as watts from fact as f join machine as m on m.host <= f.host) as fact",
)
GROUPS = ("run_id", "run_id", "run_id, kind", "kind", "fact.host")
VALUES = (
    "sum(watts)", "sum(watts)", "avg(watts)", "sum(watts * i)", "stddev(watts)", "sum(watts order by i, watts)", "list(watts order by i, watts)",
    "max(i)", "count(*)", "count(distinct kind)", "quantile_cont(watts, 0.9)", "arg_max(kind, i)", "first(watts)", "list(i)", "sum(i)",
    "corr(watts, i)", "kahan_sum(watts)",
)
WINDOWS = (
    "sum(watts) over (partition by run_id order by i, watts)", "rank() over (partition by run_id order by watts)",
    "avg(watts) over (partition by kind order by i rows between 9 preceding and current row)", "lag(watts) over (partition by run_id order by i)",
)


@dataclass
class Drawn:
    """A project of models that a seed draws, and files that a seed edits."""

    project: Project
    rng: Random
    made: int = 0
    told: list[str] = field(default_factory=list)

    def models(self) -> dict[str, str]:
        found = dict(SMALL)
        found["fact"] = "select run_id, i, host, kind, watts from read_parquet('facts/*.parquet')"
        found["machine"] = "select host, zone, factor from read_parquet('machines/*.parquet')"
        for number in range(LOCAL):
            found[f"local_{number}"] = self.aggregated()
            found[f"over_{number}"] = f"select count(*) as n, sum(v0) as v from local_{number}"
        found["windowed"] = f"select run_id, i, watts, {self.rng.choice(WINDOWS)} as w from fact"
        found["over_windowed"] = "select sum(w) as w from windowed"
        with connect() as con:
            for name in generator.CATALOG:
                con.execute(f"create table {name} ({generator._TYPES[name]})")
            for number in range(DRAWN):
                sql, _ = generator.query(self.rng.randrange(10**6))
                try:
                    con.execute(f"create table drawn_{number} as {sql}")
                except duckdb.Error:
                    continue
                found[f"drawn_{number}"] = sql
        return found

    def aggregated(self) -> str:
        group = self.rng.choice(GROUPS)
        values = ["sum(watts) as v0", *(f"{value} as v{number}" for number, value in enumerate(self.rng.sample(VALUES, 2), 1))]
        return f"select {group}, {', '.join(values)} from {self.rng.choice(SOURCES)} group by {group}"

    def copy(self, path: str, sql: str) -> None:
        target = self.project.root / path
        target.parent.mkdir(exist_ok=True)
        duckdb.sql(f"copy ({sql}) to '{target}'")

    def facts(self, path: str, first: int, runs: int) -> None:
        rows, seed = self.rng.choice(ROWS), self.rng.randrange(10**6)
        self.copy(path, f"""select 'run-' || ({first} + hash(i + {seed}) % {runs}) as run_id, i, (hash(i + {seed + 1}) % 9)::int as host,
            chr(97 + (hash(i + {seed + 2}) % 4)::int) as kind, (hash(i + {seed + 3}) % 1000000) / 997.0e0 as watts from range({rows}) as r (i)""")

    def machines(self, number: int) -> None:
        self.copy(f"machines/{number}.parquet", f"""select ({3 * number} + i)::int as host, chr(120 + (hash(i + {self.rng.randrange(99)}) % 3)::int) as zone,
            0.1e0 * (1 + hash(i) % 7) as factor from range(3) as r (i)""")

    def small(self, number: int) -> None:
        """A third of the tables that the generator's queries read."""
        drawn = generator.database(self.rng.randrange(10**6)).connection
        for name in generator.CATALOG:
            target = self.project.root / name / f"{number}.parquet"
            target.parent.mkdir(exist_ok=True)
            rows = "select * replace (tput / 7 as tput) from run" if name == "run" else f"from {name}"
            drawn.execute(f"copy ({rows}) to '{target}'")

    def begin(self) -> None:
        write(self.project, {f"models/{name}.sql": sql for name, sql in self.models().items()})
        for number in range(3):
            self.machines(number)
            self.small(number)
        for number in range(6):
            self.facts(f"facts/{number}.parquet", 10 * number, 10)

    def edit(self) -> None:
        self.made += 1
        known = sorted((self.project.root / "facts").iterdir())
        match self.rng.choice(("new", "new", "late", "late", "changed", "gone", "machines", "small")):
            case "new":
                self.facts(f"facts/n{self.made}.parquet", 100 * self.made, 5)
            case "late":
                self.facts(f"facts/l{self.made}.parquet", self.rng.randrange(50), 4)
            case "changed":
                self.facts(f"facts/{self.rng.choice(known).name}", self.rng.randrange(50), 6)
            case "gone" if len(known) > 2:
                self.rng.choice(known).unlink()
            case "machines":
                self.machines(self.rng.randrange(3))
            case _:
                self.small(self.rng.randrange(4))


@pytest.mark.parametrize("seed", few(range(PROJECTS), 1))
def test_an_updated_project_is_what_a_build_from_nothing_makes(
    seed: int, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_plan, "LEAST_ROWS", 1)
    project = replace(project, build_memory=MEMORY)
    drawn = Drawn(project, Random(seed))
    drawn.begin()
    build(project)
    for _ in range(STEPS):
        for _ in range(drawn.rng.choice([1, 1, 2])):
            drawn.edit()
        build(project)
        assert tables_unlike_from_nothing(project, tmp_path) == []
