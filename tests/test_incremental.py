"""Random edit histories: whatever happens to files and models, and wherever a build breaks off, what a build brings up to
date is what a build from nothing makes, row by row, and in order where a table has one.

Each history has a fixed seed; `WH_HISTORIES=2000` runs more of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest
from built import sql_of
from exhaustive import few
from from_nothing import tables_unlike_from_nothing

from warehouse.errors import WarehouseError
from warehouse.project.file import PROJECT_FILE
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build import plan as build_plan
from warehouse.transform.build.build import BuildReport, build
from warehouse.transform.sql.duck import text_literal

HISTORIES = int(os.environ.get("WH_HISTORIES", "100"))
STEPS = 3
RUNS = 40  # enough keys that a file's are a small part of them: else all is built anew
SOURCES = '\n[sources]\nsample = "samples/*.parquet"\nhost_note = "notes/*.csv"\n'


def incremental(key: str, sql: str, grain: str = "") -> str:
    stated = f"\ngrain: [{grain}]" if grain else ""
    return f"/*\nmaterialized: incremental\nkey: [{key}]{stated}\n*/\n{sql}"


def view(sql: str) -> str:
    return f"/*\nmaterialized: view\n*/\n{sql}"


# What every history begins with. Keys: text with NULL, two columns, a day; over views, sources and direct calls.
MODELS = {
    "staging/cleaned": view("select run_id, host, ts, value from sample where value is not null"),
    "facts/run_total": incremental(
        "run_id",
        "select run_id, count(*) as n, sum(value) as total, avg(value) as mean, stddev(value) as spread,\n"
        "    list(value) as listed, first(host) as first_host\nfrom cleaned group by run_id"),
    "facts/run_host": incremental(
        "run_id, host",
        "select run_id, host, sum(value) as total, last(value) as latest\n"
        "from read_parquet('samples/*.parquet') group by all", "run_id, host"),
    "facts/day_total": incremental(
        "day", "select date_trunc('day', ts) as day, sum(value) as total, list(run_id) as runs from sample group by all"),
    "facts/ranked": incremental(
        "run_id",
        "select run_id, ts, value, row_number() over (partition by run_id order by ts, value, host) as place,\n"
        "    sum(value) over (partition by run_id order by ts, value, host) as so_far\nfrom cleaned"),
    "facts/joined": incremental(
        "run_id",
        "with worst as (select run_id, max(value) as worst from sample group by 1)\n"
        "select s.run_id, s.value, w.worst, l.label\n"
        "from sample as s join worst as w on s.run_id = w.run_id\n"
        "left join read_parquet('labels/*.parquet') as l on s.run_id = l.run_id"),
    "facts/noted": incremental(
        "run_id", "select s.run_id, s.value, n.note from cleaned as s left join host_note as n on s.host = n.host"),
    "facts/united": incremental(
        "run_id", "select run_id, value from sample union all by name select label, run_id from read_parquet('labels/*.parquet')"),
    # Over other tables: incremental by the same key, by another, and a plain table whose order counts.
    "facts/run_rank": incremental("run_id", "select run_id, max(place) as places, sum(value) as total from ranked group by all"),
    "facts/host_total": incremental(
        "host", "select host, sum(total) as total, list(run_id) as runs from run_host group by host"),
    "facts/copied": "select run_id, host, value from sample",
    "facts/copied_total": incremental(
        "run_id", "select run_id, sum(value) as total, list(host) as hosts from copied group by run_id"),
    "marts/overall": "select sum(total) as total, list(run_id) as runs, first(n) as first_n from run_total",
    "marts/numbered": "select row_number() over () as place, run_id, value from united",
    "marts/hosts": "select distinct host from sample order by host",
    "marts/host_count": "select count(*) as hosts from hosts",
}
# A history has three of these, so that it is over soon.
GROUPS = (
    ("facts/run_total", "marts/overall"), ("facts/run_host", "facts/host_total"), ("facts/day_total",),
    ("facts/ranked", "facts/run_rank"), ("facts/joined",), ("facts/noted",), ("facts/united", "marts/numbered"),
    ("facts/copied", "facts/copied_total"), ("marts/hosts", "marts/host_count"),
)
# What an edit may put in a model's place, or beside the others, and what that needs.
EDITED = {
    "staging/cleaned": view("select run_id, host, ts, value * 2 as value from sample where value > 0.2"),
    "facts/run_total": "select run_id, count(*) as n, sum(value) as total from cleaned group by run_id",
    "facts/run_host": incremental(
        "run_id", "select run_id, host, sum(value) as total, last(value) as latest\nfrom sample group by all", "run_id, host"),
    "facts/ranked": view(
        "select run_id, ts, value, row_number() over (partition by run_id order by ts, value, host) as place from cleaned"),
    "facts/united": "select run_id, value from sample",
    "facts/copied": view("select run_id, host, value from sample"),
    "marts/hosts": "select host from sample group by host order by host desc",
    "marts/extra": "select run_id, total from run_total order by total desc, run_id",
    "facts/extra_total": incremental("day", "select day, count(*) as n from day_total group by all"),
}
NEEDED = {"marts/extra": "facts/run_total", "facts/extra_total": "facts/day_total"}
MOVED = {"marts/hosts": "facts/hosts", "facts/run_rank": "marts/run_rank"}

# Tables as a plain session gives them from the files: no engine of ours, whole lists of rows in an order of their own.
SAMPLES = "read_parquet('samples/*.parquet')"
ORACLE = {
    "run_host": f"select run_id, host, sum(value) as total, last(value) as latest from {SAMPLES} group by all",
    "day_total": f"select date_trunc('day', ts) as day, sum(value) as total, list(run_id) as runs from {SAMPLES} group by all",
    "noted": f"""select s.run_id, s.value, n.note from {SAMPLES} as s
        left join read_csv(['notes/*.csv']) as n on s.host = n.host where s.value is not null""",
}


@cache
def scratch() -> duckdb.DuckDBPyConnection:
    """Where files are made that a project reads: to open one for each took a tenth of all the histories' time."""
    con = duckdb.connect()
    con.execute("set enable_external_file_cache = false")  # a file is made anew under its name, within one tick of its time
    return con


@dataclass
class History:
    """A project that is edited at random."""

    project: Project
    rng: random.Random
    first: Mapping[str, str]  # the models it began with
    models: dict[str, str]
    made: int = 0
    told: list[str] = field(default_factory=list)

    def write_samples(self, path: Path, runs: Sequence[int]) -> None:
        rows = []
        for run in runs:
            for _ in range(self.rng.randrange(1, 4)):
                run_id = "null" if run == 0 else f"'run {run}'"
                value = "null" if self.rng.random() < 0.05 else f"{self.rng.random() * 10 ** self.rng.randrange(6)}::double"
                ts = f"timestamp '2025-01-{self.rng.randrange(1, 29):02} {self.rng.randrange(24):02}:00:00'"
                rows.append(f"({run_id}, 'host {self.rng.randrange(6)}', {ts}, {value})")
        self.rng.shuffle(rows)
        self.write_rows(path, "v (run_id, host, ts, value)", rows)

    def write_labels(self, path: Path) -> None:
        labels = [f"('run {run}', 'label {self.rng.randrange(3)}')" for run in self.rng.sample(range(1, RUNS), 2)]
        self.write_rows(path, "v (run_id, label)", labels)

    def write_rows(self, path: Path, names: str, rows: Sequence[str]) -> None:
        path.parent.mkdir(exist_ok=True)
        scratch().execute(f"copy (select * from (values {', '.join(rows)}) as {names}) to {text_literal(str(path))}")

    def write_models(self) -> None:
        for name, text in self.models.items():
            path = self.project.root / "models" / f"{name}.sql"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def begin(self) -> None:
        runs = list(range(RUNS))
        for number in range(8):
            self.write_samples(self.project.root / f"samples/{number}.parquet", runs[number * 5 : number * 5 + 5])
        for number in range(3):
            self.write_labels(self.project.root / f"labels/{number}.parquet")
        notes = self.project.root / "notes" / "all.csv"
        notes.parent.mkdir()
        notes.write_text("host,note\nhost 1,slow\nhost 2,fast\n")
        self.write_models()

    # --- edits -----------------------------------------------------------------------------------------------------

    def edit(self) -> None:
        edits = [
            self.add_file, self.late_data, self.change_file, self.remove_file, self.rename_file, self.reorder_file,
            self.touch_file, self.edit_labels, self.edit_notes, self.edit_model, self.mend_model, self.drop_model, self.move_model,
        ]
        chosen = self.rng.choices(edits, weights=[3, 3, 3, 3, 2, 3, 1, 2, 1, 3, 2, 1, 1])[0]
        self.told.append(chosen.__name__)
        chosen()

    def some_file(self) -> Path:
        return self.rng.choice(sorted((self.project.root / "samples").iterdir()))

    def new_file(self) -> Path:
        self.made += 1
        return self.project.root / "samples" / f"{self.rng.choice('0a5z')}-{self.made}.parquet"

    def add_file(self) -> None:
        self.write_samples(self.new_file(), [RUNS + self.made, RUNS + self.made + 1])

    def late_data(self) -> None:
        self.write_samples(self.new_file(), self.rng.sample(range(RUNS), 2))

    def change_file(self) -> None:
        self.write_samples(self.some_file(), self.rng.sample(range(RUNS), 3))

    def remove_file(self) -> None:
        if len(list((self.project.root / "samples").iterdir())) > 1:
            self.some_file().unlink()

    def rename_file(self) -> None:
        self.some_file().rename(self.new_file())

    def reorder_file(self) -> None:
        path, other = self.some_file(), self.project.root / "reordered.parquet"
        numbered = f"select *, row_number() over () as place from {text_literal(str(path))}"
        scratch().execute(
            f"copy (select * exclude (place) from ({numbered}) order by hash(place + {self.rng.randrange(1000)}))"
            f" to {text_literal(str(other))}"
        )
        other.replace(path)

    def touch_file(self) -> None:
        os.utime(self.some_file())

    def edit_labels(self) -> None:
        self.write_labels(self.project.root / f"labels/{self.rng.randrange(5)}.parquet")

    def edit_notes(self) -> None:
        (self.project.root / "notes" / f"{self.rng.choice(['all', 'more'])}.csv").write_text(
            f"host,note\nhost {self.rng.randrange(3, 6)},note {self.rng.randrange(3)}\n"
        )

    def edit_model(self) -> None:
        name = self.rng.choice([name for name in EDITED if NEEDED.get(name, name) in self.first])
        if MOVED.get(name) not in self.models:
            self.models[name] = EDITED[name]
        self.write_models()

    def mend_model(self) -> None:
        first, now = self.first, self.models
        changed = [name for name in first if now.get(name) != first[name] and MOVED.get(name) not in now]
        if changed:
            name = self.rng.choice(changed)
            now[name] = first[name]
        self.write_models()

    def drop_model(self) -> None:
        self.remove_model(self.rng.choice(["facts/noted", "marts/numbered", "facts/copied_total", "marts/extra"]))

    def move_model(self) -> None:
        name = self.rng.choice(sorted(MOVED))
        if name in self.models:
            self.models[MOVED[name]] = self.models[name]
            self.remove_model(name)
        self.write_models()

    def remove_model(self, name: str) -> None:
        self.models.pop(name, None)
        (self.project.root / "models" / f"{name}.sql").unlink(missing_ok=True)


def inferred(sql: str) -> str:
    """A model without the key in its header, and without the grain, which would be one of whole tables too."""
    return sql.partition("*/\n")[2] if sql.startswith("/*\nmaterialized: incremental") else sql


def begun(root: Path, seed: int, names: Sequence[str], *, is_inferred: bool = False) -> History:
    project = init_project(root, bare=True)
    file = project.root / PROJECT_FILE
    file.write_text(file.read_text() + SOURCES)
    models = {name: inferred(MODELS[name]) if is_inferred else MODELS[name] for name in ["staging/cleaned", *names]}
    history = History(read_project(project.root), random.Random(seed), models, dict(models))
    history.begin()
    return history


def assert_as_from_nothing(history: History, folder: Path) -> None:
    assert tables_unlike_from_nothing(history.project, folder) == [], history.told


def assert_as_oracle(history: History) -> None:
    with duckdb.connect() as con:
        con.execute("set threads = 1")
        con.execute(f"set file_search_path = {text_literal(str(history.project.root))}")
        for table, sql in ORACLE.items():
            name = next((name for name in history.models if name.endswith(f"/{table}")), None)
            as_first = all(history.models[name] == history.first[name] for name in (name, "staging/cleaned") if name)
            if name and as_first:
                found = sql_of(history.project)(f"select * from {table}")
                assert sorted(map(repr, found)) == sorted(map(repr, con.execute(sql).fetchall())), history.told


class Crash(Exception):
    pass


class CrashingConnection:
    """A connection that fails for good at its n-th statement, as when the process dies there."""

    def __init__(self, con: Any, statements: int) -> None:
        self._con, self._left = con, statements

    def execute(self, *arguments: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise Crash
        return self._con.execute(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)


def crash_then_build(history: History, monkeypatch: pytest.MonkeyPatch) -> BuildReport:
    """Build with a crash at a random statement, then to the end, as often as not from where it broke off."""
    import warehouse.transform.sql.duck as duck

    statements, plain = history.rng.randrange(1, 200), duck.connect

    def crashing(path: Path | None = None, **options: Any) -> Any:
        con = plain(path, **options)
        return CrashingConnection(con, statements) if path and path.name.startswith(".shadow") else con

    with monkeypatch.context() as patched:
        patched.setattr(duck, "connect", crashing)
        try:
            return build(history.project)
        except Crash:
            history.told.append(f"crash at statement {statements}")
    is_retry = history.rng.random() < 0.5 and (history.project.builds / ".shadow.duckdb").exists()
    history.told.append("retry" if is_retry else "anew")
    if history.rng.random() < 0.3:
        history.edit()
    return build(history.project, is_retry=is_retry)


@pytest.mark.parametrize("seed", few(range(HISTORIES), 2))
def test_a_build_equals_one_from_nothing_after_any_history(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = random.Random(seed).sample(GROUPS, 3)
    monkeypatch.setattr(build_plan, "LEAST_ROWS", 1)  # of tables whose locality is inferred, as in every other history
    history = begun(tmp_path / "project", seed, [name for group in groups for name in group], is_inferred=seed % 2 == 1)
    build(history.project)
    for _ in range(STEPS):
        for _ in range(history.rng.choice([1, 1, 2])):
            history.edit()
        if history.rng.random() < 0.35:
            crash_then_build(history, monkeypatch)
        else:
            build(history.project)
        history.told.append("built")
        assert_as_from_nothing(history, tmp_path)
        assert_as_oracle(history)


# --- that it really is incremental -----------------------------------------------------------------------------------


def done(report: BuildReport) -> dict[str, tuple[str, int | None]]:
    """Action and changed keys of every table."""
    return {model.name.partition(".")[2]: (model.action, model.keys) for model in report.models}


def test_only_the_keys_whose_rows_changed_are_touched(tmp_path: Path) -> None:
    history = begun(tmp_path / "project", 1, [name for name in MODELS if name != "staging/cleaned"])
    build(history.project)
    late, names = history.project.root / "samples" / "late.parquet", "v (run_id, host, ts, value)"
    history.write_rows(late, names, ["('run 7', 'host 1', timestamp '2025-02-01 10:00:00', 0.5::double)"])
    found = done(build(history.project))
    for table in ("run_host", "joined", "noted", "united", "run_rank"):
        assert found[table] == ("update", 1), table
    for table in ("run_total", "day_total", "copied_total", "host_total"):
        assert found[table] == ("build", None), f"{table} adds floats beside a list"
    assert found["ranked"] == ("build", None)  # its windows number ties and add floats: other keys may show in them
    for table in ("overall", "copied", "numbered", "hosts"):
        assert found[table] == ("build", None), table
    assert found["host_count"] == ("keep", None), "the hosts came out the same"
    assert_as_from_nothing(history, tmp_path)
    # One key loses its row as another gets it.
    history.write_rows(late, names, ["('run 8', 'host 2', timestamp '2025-02-01 10:00:00', 0.25::double)"])
    found = done(build(history.project))
    for table, keys in {"run_host": 2, "joined": 2}.items():
        assert found[table] == ("update", keys), table
    assert_as_from_nothing(history, tmp_path)


def test_a_file_that_is_only_touched_changes_nothing(tmp_path: Path) -> None:
    history = begun(tmp_path / "project", 1, ["facts/run_total"])
    build(history.project)
    history.touch_file()
    assert not build(history.project).is_new


@pytest.mark.parametrize("pattern", ["./samples/*.parquet", "samples/../samples/*.parquet", "../shared/*.parquet"])
def test_files_are_followed_however_their_pattern_is_written(pattern: str, tmp_path: Path) -> None:
    history = begun(tmp_path / "project", 5, [])
    (tmp_path / "shared").symlink_to(history.project.root / "samples")
    sql = f"select run_id, sum(value) as total from read_parquet('{pattern}') group by run_id"
    history.models["facts/a"] = incremental("run_id", sql)
    history.write_models()
    build(history.project)
    for edit in (history.late_data, (history.project.root / "samples" / "3.parquet").unlink):
        edit()
        assert done(build(history.project))["a"][0] == "update"
        assert_as_from_nothing(history, tmp_path)


def test_rows_of_a_patched_table_are_read_in_their_order(tmp_path: Path) -> None:
    """host_total adds, over the runs of a host, what run_host was patched with out of order."""
    history = begun(tmp_path / "project", 2, ["facts/run_host", "facts/host_total"])
    build(history.project)
    for run in (3, 11):
        history.write_samples(history.new_file(), [run])
        assert done(build(history.project))["run_host"][0] == "update"
        assert_as_from_nothing(history, tmp_path)


def test_rows_that_only_moved_in_a_plain_table_are_followed(tmp_path: Path) -> None:
    history = begun(tmp_path / "project", 3, ["facts/copied", "facts/copied_total"])
    build(history.project)
    names = sorted((history.project.root / "samples").iterdir())
    for name in names[::2]:
        name.rename(name.with_name(f"z{name.name}"))
    history.late_data()
    build(history.project)
    for _ in range(4):
        history.reorder_file()
    build(history.project)
    assert_as_from_nothing(history, tmp_path)


def test_what_a_failed_model_takes_with_it_is_made_again(tmp_path: Path) -> None:
    """A model that moved to another schema just before one failed leaves nothing under its former name."""
    history = begun(tmp_path / "project", 4, ["marts/hosts", "facts/copied"])
    build(history.project)
    history.models |= {"facts/hosts": history.models["marts/hosts"], "marts/z_failing": "select host::integer as h from hosts"}
    history.models["facts/copied"] = EDITED["facts/copied"]
    history.remove_model("marts/hosts")
    history.write_models()
    with pytest.raises(WarehouseError) as caught:
        build(history.project)
    assert caught.value.code == "WH209" and "z_failing" in str(caught.value.place)
    history.models["marts/z_failing"] = "select upper(host) as h from hosts"
    history.write_models()
    found = done(build(history.project, is_retry=True))
    assert (found["hosts"][0], found["z_failing"][0]) == ("keep", "build")
    assert_as_from_nothing(history, tmp_path)


def test_a_key_that_cannot_be_computed_of_rows_that_the_model_leaves_out(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models/counted.sql").write_text(incremental(
        "run_id", "select cast(run as int) as run_id, count(*) as n from read_parquet('data/*.parquet') where run ~ '^[0-9]+$' group by 1"
    ))
    (project.root / "data").mkdir()
    for number, runs in enumerate(["select i // 20 || '' as run from range(60_000) as r (i)", "select unnest(['4', 'x', '5000']) as run"]):
        duckdb.sql(f"copy ({runs}) to '{project.root}/data/{number}.parquet'")
        report = build(project)
    assert done(report)["counted"][0] == "update"
    assert tables_unlike_from_nothing(project, tmp_path) == []
