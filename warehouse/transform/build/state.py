"""What a build knows of each of its tables: from what it was made and what it holds. Kept inside the build's database.

A state is true or absent: it is written in the transaction that writes its table.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from warehouse.digest import memo_digest
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.digests import Envelope
from warehouse.transform.check.project_check import SCHEMAS
from warehouse.transform.finished.builds import FORM
from warehouse.transform.incremental.row_order import WHOLE
from warehouse.transform.inputs.content import Content
from warehouse.transform.inputs.sources import FileSet
from warehouse.transform.project.data_tests import DataTest
from warehouse.transform.sql.duck import PINNED_SETTINGS, engine_version, quote

if TYPE_CHECKING:
    import duckdb

@dataclass(frozen=True)
class Logic:
    """What a table is made by: digests of its SQL, of all that is its own, and of every view between it and
    stored tables."""

    sql: str
    own: str
    views: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TableState:
    """One table or view of a build, under its qualified name. `inputs` are content ids by name (model, landing table, or
    call that reads files), at the time it was made; `files` the files that an incremental table's keys were taken
    from, content by path, by source; `layout` how its rows lie (`row_order`)."""

    qualified: str
    kind: str  # table or view, as the engine calls it
    logic: Logic
    inputs: Mapping[str, str]
    content_id: str
    content: Content | None = None  # of a view: none
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    layout: str = WHOLE
    parts: tuple[str, ...] = ()  # the digests of the parts that its rows were taken from (`made_elsewhere`)


@dataclass(frozen=True)
class Inputs:
    """What a build reads: landing tables (sha256 by file), files by the call that reads them, and what each detail table is
    made without (content id by `warm_tier.age_of`)."""

    landing: Mapping[str, Mapping[str, str]]
    files: Mapping[str, FileSet]
    ages: Mapping[str, str] = field(default_factory=dict)

    def content_ids(self) -> dict[str, str]:
        landing = {table: memo_digest("wh/landing/1", dict(files)) for table, files in self.landing.items()}
        return landing | {call: found.content for call, found in self.files.items()} | dict(self.ages)

    def by_file(self, leaf: str) -> dict[str, str]:
        """Content by path of one landing table or call."""
        if leaf in self.files:
            return {file.path: file.content for file in self.files[leaf].files}
        return dict(self.landing.get(leaf, {}))


def logics(checked: CheckedProject, made: Mapping[str, Envelope]) -> dict[str, Logic]:
    """The logic of every model, keyed as the graph is."""
    found: dict[str, Logic] = {}
    for name in checked.graph.order:
        model, document = checked.models[name], dict(made[name].document)
        if model.schema != "rollup":  # a rollup carries its query_spec_digest, which covers everything under it
            del document["parents"]
        if model.materialized == "view":  # its text in the build names them with their schemas (`other_clients`)
            document["reads"] = sorted(checked.models[parent].qualified for parent in checked.graph.models[name])
        if model.key:  # its rows lie by it, which no header may say
            document["key"] = list(model.key)
        if model.retention_tier:  # no part of what the model is: its rows here, which are not all
            document["retention_tier"] = model.retention_tier
        document["files"] = [[read.call, [*checked.file_columns[read.call].items()]] for read in checked.graph.files[name]]
        views: dict[str, str] = {}
        for parent in sorted(checked.graph.models[name]):
            if checked.models[parent].materialized == "view":
                views |= {parent: found[parent].own, **found[parent].views}
        found[name] = Logic(
            memo_digest("wh/sql/1", document["sql"]), memo_digest("wh/table/1", document), views
        )
    return found


def view_content(logic: Logic, inputs: Mapping[str, str]) -> str:
    """The content id of a view: what it says and what it reads."""
    return memo_digest("wh/view/1", [logic.own, dict(inputs)])


def create_state_table(con: "duckdb.DuckDBPyConnection") -> None:
    con.execute("create schema if not exists state")
    con.execute("create table if not exists state.made (engine varchar)")
    con.execute("create table if not exists state.tables (name varchar, state varchar)")
    con.execute("create table if not exists state.passed (test varchar, key varchar)")
    con.execute("create table if not exists state.described (project varchar)")
    con.execute("delete from state.made")
    con.execute("delete from state.described")  # until the build is whole
    con.execute("insert into state.made values (?)", [_engine()])


def read_states(con: "duckdb.DuckDBPyConnection") -> dict[str, TableState]:
    """The states in a session's database; empty where it has none, or another engine made it."""
    import duckdb

    try:
        made_by = con.execute("select engine from state.made").fetchall()
    except duckdb.CatalogException:
        return {}
    if made_by != [(_engine(),)]:
        return {}
    return {name: _read(json.loads(text)) for name, text in con.execute("select name, state from state.tables").fetchall()}


def drop_unfinished(con: "duckdb.DuckDBPyConnection", states: Mapping[str, TableState]) -> None:
    """Drop the tables of models that have no state: a build that was killed had not finished them."""
    stated = {state.qualified for state in states.values()}
    for schema, table in con.execute("select schema_name, table_name from duckdb_tables() where not temporary").fetchall():
        if schema in (*SCHEMAS, "main") and f"{schema}.{table}" not in stated:
            con.execute(f"drop table {quote(schema)}.{quote(table)}")


def read_described(con: "duckdb.DuckDBPyConnection") -> str:
    """The key of the project that the catalog and the comments describe; empty where a build has changed tables since."""
    return "".join(key for (key,) in con.execute("select project from state.described").fetchall())


def record_described(con: "duckdb.DuckDBPyConnection", project_key: str) -> None:
    """Record what `read_described` gives."""
    con.execute("insert into state.described values (?)", [project_key])


def write_states(con: "duckdb.DuckDBPyConnection", states: Mapping[str, TableState], former: Collection[str]) -> None:
    """Record tables made, and forget what is recorded of the `former` ones."""
    if former:
        con.execute("delete from state.tables where name in (select unnest(?::varchar[]))", [list(former)])
    if states:
        texts = [json.dumps(state, default=vars) for state in states.values()]
        con.execute("insert into state.tables select unnest(?::varchar[]), unnest(?::varchar[])", [list(states), texts])


def read_passed(con: "duckdb.DuckDBPyConnection") -> dict[str, str]:
    """The tests that are recorded to hold, and for which rows."""
    return dict(con.execute("select test, key from state.passed").fetchall())


def tests_to_run(
    passed: Mapping[str, str], tests: Iterable[DataTest], contents: Mapping[str, str], unique: Collection[str] = (),
    without_rows: Collection[str] = (),
) -> list[DataTest]:
    """The tests that did not pass on just these rows before, and are not known to hold: the grain of the tables `unique`
    does, and what is promised of each row of the tables `without_rows`. `passed` is what `read_passed` gives."""
    return [
        test for test in tests
        if not (test.is_grain and test.model in unique or test.is_of_rows and test.model in without_rows)
        and passed.get(test.name) != _test_key(test, contents)
    ]


def has_passed(con: "duckdb.DuckDBPyConnection", test: DataTest, contents: Mapping[str, str]) -> bool:
    """Whether a test is recorded to hold for rows of these contents."""
    return read_passed(con).get(test.name) == _test_key(test, contents)


def record_passed(con: "duckdb.DuckDBPyConnection", tests: Iterable[DataTest], contents: Mapping[str, str]) -> None:
    """Record that all of `tests`, and no other, hold for the rows there are."""
    keys = {test.name: _test_key(test, contents) for test in tests}
    con.execute("delete from state.passed")
    con.execute(
        "insert into state.passed select unnest(?::varchar[]), unnest(?::varchar[])", [list(keys), list(keys.values())]
    )


def _test_key(test: DataTest, contents: Mapping[str, str]) -> str:
    return memo_digest("wh/test/1", [test.sql, {name: contents[name] for name in test.reads}])


def _engine() -> str:
    return memo_digest("wh/engine/1", [FORM, engine_version(), dict(PINNED_SETTINGS)])


def _read(document: dict[str, Any]) -> TableState:
    logic, content = Logic(**document.pop("logic")), document.pop("content")
    state = TableState(logic=logic, **document)
    return replace(state, content=Content(**content)) if content else state
