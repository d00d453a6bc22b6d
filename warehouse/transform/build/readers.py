"""What a model reads, made ready in a build's session just before it is read: landing tables, views over files, and
incremental tables in one piece. What no model of this build reads is never opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.landing.parse.batches import REJECTED_TABLE, LandingFile, check_landing_file
from warehouse.transform.build.material import Material
from warehouse.transform.build.state import TableState
from warehouse.transform.incremental.changed_keys import FILE_COLUMN
from warehouse.transform.incremental.incremental import Leaf, delta_name
from warehouse.transform.incremental.row_order import GROWN, PARTS, PATCHED, WHOLE, OrderedRows, analyze, order_of, rewrite
from warehouse.transform.inputs.landing_tables import FILE_ORDER, landing_order, landing_rows, open_landing_table
from warehouse.transform.inputs.sources import check_as_engine_finds, engine_path, open_remote
from warehouse.transform.sql.duck import execute, quote, quoted, text_literal
from warehouse.transform.testing.rejected_rows import open_rejected_rows

if TYPE_CHECKING:
    import duckdb


class Readers:
    """The readable side of one build's session."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", material: Material, on_landing: Callable[[str], None]) -> None:
        """`on_landing` is told of each landing table that is made."""
        self._con, self._on_landing = con, on_landing
        self._material = material
        self._checked = material.checked
        self._opened: set[str] = set()
        self._analyzed: set[str] = set()
        self._intact: set[Path] = set()  # landing files whose digests this session has checked

    def forget(self) -> None:
        """After a rollback nothing is open."""
        self._opened.clear()
        self._analyzed.clear()

    def tables(self, name: str, by_key: Collection[str] = ()) -> set[str]:
        """The tables of models that a model reads, through views too, but for those that it reads only by key."""
        models = self._checked.models
        read = {
            # What a view reads is read in the order it lies in.
            other for found in self._checked.with_views(name)
            for other in self._checked.graph.models[found] - (set(by_key) if found == name else set())
        }
        return {other for other in read if models[other].materialized != "view"}

    def landing(self, name: str) -> set[str]:
        """The landing tables that a model reads, through views too."""
        return {table for found in self._checked.with_views(name) for table in self._checked.graph.landing[found]}

    def open(self, name: str, states: Mapping[str, TableState], by_key: Collection[str] = ()) -> dict[str, TableState]:
        """Make everything readable that a model reads; what it reads only by key may lie as it lies. Returns the states of
        the tables that were written again."""
        rewritten = self._bring_in_order(name, states, by_key)
        graph, models = self._checked.graph, self._checked.models
        for found in sorted(self._checked.with_views(name), key=self._checked.place_of):
            for read in graph.files[found]:
                if read.call not in self._opened:
                    open_remote(self._con, read.patterns)
                    check_as_engine_finds(self._con, self._material.inputs.files[read.call], self._material.root)
                    self._opened.add(read.call)
            self._open_landing(table for table in graph.landing[found] if table not in by_key or not self._has_rows(table))
            if found != name and not self._checked.is_stored(found) and found not in self._opened:
                execute(self._con, models[found], f"create or replace view {quoted(models[found].qualified)} as ")
                self._opened.add(found)
        return rewritten

    def _bring_in_order(
        self, name: str, states: Mapping[str, TableState], by_key: Collection[str]
    ) -> dict[str, TableState]:
        rewritten: dict[str, TableState] = {}
        for other in sorted(self.tables(name)):
            if states[other].layout == PARTS:  # a build by tasks left it so, and something else reads it now
                rewrite(self._con, self._checked.models[other], self._checked.columns[other], PARTS)
                rewritten[other] = replace(states[other], kind="table", layout=WHOLE)
        for other in sorted(self.tables(name, by_key) & self._checked.key_plans.keys()):
            model, state = self._checked.models[other], rewritten.get(other, states[other])
            if state.layout != WHOLE and (state.layout != GROWN or self._checked.sees_layout(name)):
                rewrite(self._con, model, self._checked.columns[other], state.layout)
                rewritten[other] = replace(state, layout=WHOLE)
                self._analyzed.discard(other)
        return rewritten

    def analyze(self, tables: set[str]) -> None:
        """Take statistics of those of the tables that may have been updated, which are committed: a commit changes what was taken before."""
        for other in sorted(self._checked.key_plans.keys() & tables - self._analyzed):
            analyze(self._con, self._checked.models[other])
            self._analyzed.add(other)

    def _open_landing(self, tables: Iterable[str]) -> None:
        for table in sorted(set(tables) - self._opened):
            if table == REJECTED_TABLE:
                open_rejected_rows(self._con)
            else:
                found = self._material.landing.tables[table]
                open_landing_table(self._con, table, found.types, found.files)
                self._intact.update(file.path for file in found.files)
            self._opened.add(table)
            self._on_landing(table)

    def last_reads(self, order: Iterable[str]) -> dict[str, list[str]]:
        """By model, the landing tables that none after it in `order` reads."""
        found: dict[str, list[str]] = {}
        for table, name in {table: reader for reader in order for table in self.landing(reader)}.items():
            found.setdefault(name, []).append(table)
        return found

    def close_landing(self, tables: Iterable[str]) -> None:
        """Free the memory of landing tables that are open."""
        for table in sorted(self._opened.intersection(tables) - {REJECTED_TABLE}):
            self._con.execute(f"drop table {quote(table)}")
            self._opened.discard(table)

    def _has_rows(self, table: str) -> bool:
        return bool(self._material.inputs.landing[table])

    def rows_in_order(
        self, name: str, by_key: Collection[str], states: Mapping[str, TableState]
    ) -> dict[str, OrderedRows]:
        """How to read in order what a model reads by key and what lies in no order now: landing tables (those without
        any rows left out) and tables that were patched."""
        found: dict[str, OrderedRows] = {}
        for table in self._checked.graph.landing[name] & set(by_key):
            landing = self._material.landing.tables[table]
            if landing.files:
                found[table] = OrderedRows(self._landing_rows(landing.files), landing_order(landing.types), (FILE_ORDER,))
        for table in self._checked.graph.models[name] & set(by_key):
            if table in states and states[table].layout == PATCHED:
                model = self._checked.models[table]
                order = order_of(model, self._checked.columns[table])
                found[table] = OrderedRows(f"select * from {quoted(model.qualified)}", tuple(order))
        return found

    def _landing_rows(self, files: Sequence[LandingFile], *more: str) -> str:
        for file in files:
            if file.path not in self._intact:
                check_landing_file(file)
                self._intact.add(file.path)
        return landing_rows(files, *more)

    def leaf(self, leaf: str, before: TableState | None) -> Leaf:
        """The rows of a landing table or of files that changed since `before` (all, without it)."""
        now = self._material.inputs.by_file(leaf)
        then = dict(before.files.get(leaf, {})) if before else {}
        come = [path for path in now if then.get(path) != now[path]]
        gone = tuple(path for path in then if now.get(path) != then[path])
        if leaf in self._material.inputs.landing:
            if not come:
                self._open_landing([leaf])
            files = [file for file in self._material.landing.tables[leaf].files if file.path.name in set(come)]
            if not files:
                return Leaf(f"select *, '' as {quote(FILE_COLUMN)} from {quote(leaf)} limit 0", gone)
            return Leaf(self._landing_rows(files, f"parse_filename(filename) as {quote(FILE_COLUMN)}"), gone)
        root = self._material.root
        inside = f"{root}{os.sep}"
        path = f"regexp_replace(replace(filename, {text_literal(inside)}, ''), '^\\./', '')"
        # A path that a pattern found is reported without `..`, one that is written out as it is written.
        gone = tuple({name for path in gone for name in (path, engine_path(path, root).removeprefix(inside))})
        rows = f"select *, {path} as {quote(FILE_COLUMN)} from {leaf}"
        if then:
            # The whole call with a filter, not a call on fewer files: what all files are read as is found from all.
            # A path that no pattern found is reported as it is written.
            written = sorted({name for path in come for name in (path, f"./{path}", engine_path(path, root))})
            names = ", ".join(map(text_literal, written)) or "null"
            rows += f" where filename in ({names})"
        return Leaf(rows, gone)

    def every_row(self, leaf: str) -> Leaf:
        """All rows of a landing table, of files or of a table."""
        if leaf not in self._checked.models:
            return self.leaf(leaf, None)
        return Leaf(f"select *, '' as {quote(FILE_COLUMN)} from {quoted(self._checked.models[leaf].qualified)}", has_files=False)

    def delta(self, name: str) -> Leaf:
        """The rows of a table that changed in this build."""
        rows = delta_name(self._checked.models[name].qualified)
        return Leaf(f"select *, '' as {quote(FILE_COLUMN)} from {rows}", has_files=False)
