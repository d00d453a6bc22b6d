"""One check's session: every model bound as an empty table, those that nothing has touched since an earlier check taken as
they were found then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.check.bind_tests import bind_tests
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.contract import contract_faults, rollup_faults
from warehouse.transform.check.inherited import passed_columns, unstated, with_inherited
from warehouse.transform.check.inputs import check_files, stamp_of
from warehouse.transform.check.memory import CheckMemory, key_of
from warehouse.transform.inputs.content import OWN_PREFIX
from warehouse.transform.inputs.landing_tables import open_landing_table
from warehouse.transform.project.data_tests import DataTest
from warehouse.transform.project.feeds import feeder_faults
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import quote, quoted
from warehouse.transform.sql.engine_faults import translated

if TYPE_CHECKING:
    import duckdb

Types = Mapping[str, str]
# Binds as the plain statement does, and its errors have places.
_BIND = "describe "


class BindingSession:
    """`columns` are those of the models found sound so far, `keys` what each was bound under. Of `models`, what a header leaves to
    the source of a column is completed."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", models: dict[str, Model], graph: Graph, landing: Mapping[str, Types],
        root: Path, memory: CheckMemory,
    ) -> None:
        self._con = con
        self._models = models
        self._graph = graph
        self._landing = landing
        self._root = root
        self._memory = memory
        self._given: set[str] = set()
        self._refused: dict[str, WarehouseError] = {}
        self.columns: dict[str, Types] = {}
        self.keys: dict[str, str] = {}

    def bind(self, name: str, contract: Types, feed: Types | None) -> list[WarehouseError]:
        """Bind one model whose inputs are sound, and return its faults. `contract` are the types that its header promises,
        `feed` those of the feed that it feeds (None: of none, or of one that has a fault)."""
        model = self._models[name]
        try:
            check_files(self._con, model, self._graph.files[name], self._root, self._refused)
            key = self._key(name, contract, feed)
            bound = self._memory.recall("models", name, key)
            is_known = bound is not None
            if bound is None:
                self.give_inputs(name)
                bound = _bound(self._con, model)
        except WarehouseError as fault:
            return [fault]
        left = unstated(model, bound)
        inherited = self._inherit(name, bound, key) if left else {}
        faults = [] if is_known and len(inherited) == len(left) else _faults(model, bound, {**contract, **inherited}, feed, self._graph.landing[name])
        if not faults:
            self.columns[name], self.keys[name] = bound, key
            if not is_known:
                self._memory.keep("models", name, key, bound)
        return faults

    def _inherit(self, name: str, bound: Types, key: str) -> Types:
        """Complete what the model's header promises, and return the columns (name to type) that it takes from their sources."""
        model = self._models[name]
        read = {written: other for other in self._graph.models[name] for written in (other, self._models[other].qualified)}
        columns = {written: self.columns[other] for written, other in read.items()}
        passed = self._memory.recall("passed", name, key)
        if passed is None:
            passed = passed_columns(model, self._graph.trees[name], {**self._landing, **columns}.get)
            self._memory.keep("passed", name, key, passed)
        found = with_inherited(model, bound, passed, {written: self._models[other] for written, other in read.items()}, columns)
        self._models[name] = found
        return {column: bound[column] for column in unstated(model, bound) if column in found.columns and found.columns[column].type}

    def columns_of_calls(self) -> dict[str, Types]:
        """The columns (name to type) of every call that reads files."""
        found: dict[str, Types] = {}
        for read in sorted({read for files in self._graph.files.values() for read in files}, key=lambda read: read.call):
            stamp = stamp_of(read, self._root)
            columns = self._memory.recall("calls", read.call, stamp)
            if columns is None:
                rows = self._con.execute(f"describe select * from {read.call}").fetchall()
                columns = {row[0]: row[1] for row in rows}
                self._memory.keep("calls", read.call, stamp, columns)
            found[read.call] = columns
        return found

    def bind_tests(
        self, tests: Iterable[DataTest], checked: CheckedProject
    ) -> tuple[tuple[DataTest, ...], list[WarehouseError]]:
        """The tests, each with all that it reads, and the faults of those that do not bind."""
        bound: dict[str, DataTest] = {}
        new: dict[str, tuple[DataTest, str]] = {}
        faults: list[WarehouseError] = []
        tests = list(tests)
        all_columns = key_of({name: [*types.items()] for name, types in self.columns.items()})
        for test in tests:
            # What a SQL file reads is not known before it is bound, so it depends on all columns.
            rests_on: Any = self.columns[test.model] if test.model and test.stated is None else all_columns
            key = key_of(test.sql, test.source.text if test.model is None else "", repr(test.stated), rests_on)
            reads = self._memory.recall("tests", test.name, key)
            if reads is None:
                new[test.name] = test, key
            else:
                bound[test.name] = replace(test, reads=frozenset(reads))
        if new:
            self._give(self.columns, self._landing)
            made, faults = bind_tests(self._con, (test for test, _ in new.values()), checked, self._landing)
            for test in made:
                bound[test.name] = test
                self._memory.keep("tests", test.name, new[test.name][1], sorted(test.reads))
        return tuple(bound[test.name] for test in tests if test.name in bound), faults

    def _key(self, name: str, contract: Types, feed: Types | None) -> str:
        model, graph = self._models[name], self._graph
        stamps = [stamp_of(read, self._root) for read in graph.files[name]]
        if not all(stamps):
            return ""
        read = {
            other: [[*self.columns[other].items()], self.keys[other] if self._models[other].materialized == "view" else ""]
            for other in graph.models[name]
        }
        landing = {table: [*self._landing[table].items()] for table in graph.landing[name]}
        promised = [model.materialized, model.key, model.grain, [*contract.items()], model.feeds, [*(feed or {}).items()]]
        return key_of(model.qualified, model.text, promised, read, landing, stamps)

    def give_inputs(self, name: str) -> None:
        """Make sure that the session has what a model reads, as empty tables."""
        self._give(self._graph.models[name], self._graph.landing[name])

    def _give(self, models: Iterable[str], landing: Iterable[str]) -> None:
        """Make sure that the session has these, as empty tables."""
        for table in set(landing) - self._given:
            open_landing_table(self._con, table, self._landing[table], ())
            self._given.add(table)
        for name in set(models) - self._given:
            listed = ", ".join(f"{quote(column)} {kind}" for column, kind in self.columns[name].items())
            # A view too: a chain of views would be bound to its beginning at every step.
            self._con.execute(f"create table {quoted(self._models[name].qualified)} ({listed})")
            self._given.add(name)


def _faults(model: Model, bound: Types, contract: Types, feed: Types | None, landing: Iterable[str]) -> list[WarehouseError]:
    found = [] if feed is None else [*feeder_faults(model, bound, feed)]
    own = rollup_faults(model, bound) if model.schema == "rollup" else ()
    return [*found, *_output_faults(model, bound, landing), *contract_faults(model, bound, contract), *own]


def _bound(con: "duckdb.DuckDBPyConnection", model: Model) -> dict[str, str]:
    """The columns of a model, from binding its SQL, which runs nothing. Raises WH204."""
    import duckdb

    try:
        relation = con.sql(model.text)
    except duckdb.Error as plain:
        raise translated(_with_place(con, model) or plain, "WH204", model.text, model.place, _BIND) from plain
    names = relation.columns
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            hint = f"rename one with as, or leave it out: select * exclude ({name})"
            raise model.column_fault("WH204", f"two columns are named {name}", name, hint, occurrence=1)
        seen.add(name.lower())
    return dict(zip(names, map(str, relation.types), strict=True))


def _with_place(con: "duckdb.DuckDBPyConnection", model: Model) -> Exception | None:
    """The error of a text that does not bind, as the engine tells it with its place."""
    import duckdb

    try:
        con.execute(_BIND + model.text)
    except duckdb.Error as error:
        return error
    return None


def _output_faults(model: Model, found: Mapping[str, str], landing: Iterable[str]) -> Iterator[WarehouseError]:
    if model.materialized == "view" and landing:
        # A view is opened by readers who have no landing tables.
        yield model.header_fault(
            "WH204", f"a view cannot read a landing table, and {min(landing)} is one", "materialized",
            hint="remove `materialized: view` from the header, which makes it a table",
        )
    for name in found:
        if name.lower().startswith(OWN_PREFIX):
            yield model.column_fault(
                "WH207", f"names that begin with {OWN_PREFIX!r} are the warehouse's own", name, "rename the column"
            )
        if name.lower() == "rowid":
            yield model.column_fault(
                "WH207", "rowid is the engine's own name for a row's place", name, "rename the column: rowid as row_number"
            )
