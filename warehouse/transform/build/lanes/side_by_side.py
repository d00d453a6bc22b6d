"""A build's session that makes long models side by side, each in another session on the same database, and large ones in shares (`shares`).

Every statement has one thread, as ever, so a table holds what it would hold. What a model reads lies in the database, committed, before it
begins; landing tables and shares lie beside the database, in memory.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any

from warehouse.transform.build.lanes.schedule import Lanes, make_all
from warehouse.transform.build.plan import BUILD, ModelResult, rows_read
from warehouse.transform.build.readers import Readers, SharedLanding
from warehouse.transform.build.session import Session
from warehouse.transform.incremental import detail_rows, incremental
from warehouse.transform.incremental.shares import Share, SharedWork, find_shares
from warehouse.transform.inputs.landing_tables import landing_rows
from warehouse.transform.inputs.s3_sources import is_remote
from warehouse.transform.sql.duck import cursor, quote, quoted, text_literal

# What a model reads, at least, to have a session beside: of less, to commit what it reads takes as long. And to be made in shares.
LONG_ROWS, LARGE_ROWS = 100_000, 500_000
_BYTES_A_ROW = 10  # of files, which do not say how many rows they have
_SHARES_A_CORE = 3  # so that no session waits long for another one's last share
_LEAST_LARGER = 8
_BESIDE = "wh beside"  # the database in memory
_SETTINGS = ("search_path", "file_search_path", "parquet_metadata_cache")  # of a session, which a build sets


class SideBySide(Session):
    """A session with as many others as there are cores."""

    def __init__(self, *args: Any, cores: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._cores = cores
        self._landing = SharedLanding(_BESIDE)
        self._begun: dict[str, float] = {}  # when each model was

    def _make_all(self, order: Sequence[str]) -> list[ModelResult]:
        early = {name for name in order if name not in self._checked.late}

        def reads(name: str) -> Collection[str]:
            read = self._checked.graph.models[name]
            return read if name in early else read | early  # all that may leave rows out

        return make_all(order, reads, self, Lanes(self._cores, self._open_beside))

    # --- in the build's session ---------------------------------------------------------------------------------

    def is_long(self, name: str) -> bool:
        """Whether a model is made from so much that it is worth a thread, and may have one: what others learn from former rows, only the
        session has that made the new ones; and in another session the engine may plan otherwise (DuckDB 2.0.0)."""
        model = self._checked.models[name]
        if self._checked.follows_plan(name):
            return False
        if model.materialized == "view" or not self._reads(name, LONG_ROWS) or name in self._elsewhere.tables:
            return False
        if self._emptiness.of_table(name) or self._is_learnt_from(name) or any(is_remote(call) for call in self._calls(name)):
            return False
        return self._step(name).action == BUILD

    def _reads(self, name: str, rows: int) -> bool:
        """Whether a model reads a table, or files, of so many rows."""
        return max([rows_read(name, self._checked, self._material.landing, self._now), *map(self._size, self._calls(name))]) >= rows

    def _calls(self, name: str) -> set[str]:
        return {read.call for found in self._checked.with_views(name) for read in self._checked.graph.files[found]}

    def needs_quiet(self, name: str) -> bool:
        """Whether tables have to be compressed first, which takes that no other session writes."""
        return self._checked.sees_layout(name) and self._tables.are_fresh(self._readers.tables(name))

    def prepare(self, name: str) -> SharedWork | None:
        """Make ready what a model reads, and commit it. Returns the shares in which it is made, if it is large."""
        self._begun[name] = time.monotonic()
        self._count_rejected(name)
        self._share_inputs(name)
        if self._checked.keeps_keys(name):
            incremental.create_key_schema(self._con)
        found = self._shares(name) if self._reads(name, LARGE_ROWS) else []
        self._see()
        return SharedWork(found) if found else None

    def _shares(self, name: str) -> list[Share]:
        plan, model = self._checked.key_plans.get(name), self._checked.models[name]
        if not plan or not plan.is_gathered or model.schema == "rollup":
            return []  # to write rows takes as long as to make those that are not grouped, and one session writes them
        sizes = {leaf: self._size(leaf) for leaf in {path.leaf for path in plan.paths}}
        leaf = max(sorted(sizes), key=sizes.__getitem__)
        if sum(map(self._size, plan.whole)) * _LEAST_LARGER > sizes[leaf]:
            return []  # what is read whole is read for each share
        if leaf in self._checked.models:
            rows = f"select * from {quoted(self._checked.models[leaf].qualified)}"
        elif leaf in self._material.inputs.landing:
            rows = landing_rows(self._material.landing.tables[leaf].files)
        else:
            rows = f"select * from {leaf}"
        return find_shares(self._con, model, plan, self._checked.columns[name], leaf, rows, _SHARES_A_CORE * self._cores)

    def _size(self, source: str) -> int:
        """About how many rows a table, a landing table or a call has; a view none of its own."""
        if source in self._checked.models:
            state = self._now.get(source)
            return state.content.rows if state and state.content else 0
        if source in self._material.inputs.landing:
            return sum(file.rows for file in self._material.landing.tables[source].files)
        return sum(file.bytes for file in self._material.inputs.files[source].files) // _BYTES_A_ROW

    def ended(self, result: ModelResult) -> None:
        self._on_model(result)
        self._see()

    def _see(self) -> None:
        """Begin another transaction, which sees what is committed and shows what was made."""
        self._tables.commit()
        self._tables.begin()

    # --- in a session beside ------------------------------------------------------------------------------------

    def _open_beside(self) -> SideBySide:
        other = copy(self)
        other._con = con = cursor(self._con)
        for name in _SETTINGS:
            [(value,)] = self._con.execute("select current_setting(?)", [name]).fetchall()
            con.execute(f"set {name} = {text_literal(str(value))}")
        con.execute(f"attach if not exists ':memory:' as {quote(_BESIDE)}")
        other._tables = self._tables.beside(con)
        other._readers = Readers(con, self._material, other._tables.opened, self._landing)
        other._recorded = {}
        return other

    def make_shares(self, name: str, work: SharedWork) -> None:
        """Make shares of a model, beside the database, until all are begun."""
        model, types, plan = self._checked.models[name], self._checked.columns[name], self._checked.key_plans[name]
        self._readers.open_landing(name)
        left_out, sees_layout = detail_rows.left_out(self._con, name, self._material.tier), self._checked.sees_layout(name)
        try:
            while taken := work.take():
                number, share = taken
                # In a database of its own: a transaction sees another one as it was when it first looked there.
                database = quote(f"wh share {number} of {name}")
                self._con.execute(f"attach ':memory:' as {database}")
                prefix = f"create table {database}.main.share as "
                incremental.make_share(self._con, model, plan, types, share, prefix, sees_layout=sees_layout, left_out=left_out)
                work.made(number, f"{database}.main.share")
        except BaseException as fault:
            incremental.as_ever(self._con)
            work.give_up(fault)
            raise

    def make_beside(self, name: str, work: SharedWork | None) -> ModelResult:
        """Make a model from nothing in a transaction of its own, all that it reads being prepared; in shares where it is `work` for several."""
        step = self._step(name)
        try:
            self._readers.open_landing(name)
            with self._transaction():
                self._make_table(name, work)
        except BaseException as fault:
            if work:
                work.give_up(fault)
            raise
        finally:
            self._recorded.clear()
        if work:
            self._drop_shares(name)
        content = self._now[name].content
        result = ModelResult(self._checked.models[name].qualified, BUILD, step.reason, content.rows if content else None)
        result = replace(result, seconds=time.monotonic() - self._begun[name])
        return self._as_first(name, result) if self._is_first else result

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._tables.begin()
        try:
            yield
            self._tables.commit()
        except BaseException:
            self._tables.roll_back()
            self._con.execute("rollback")
            incremental.as_ever(self._con)
            raise

    def _drop_shares(self, name: str) -> None:
        found = self._con.execute("select database_name from duckdb_databases() where ends_with(database_name, ?)", [f" of {name}"])
        for (database,) in found.fetchall():
            self._con.execute(f"detach {quote(database)}")

    def interrupt(self) -> None:
        self._con.interrupt()

    def close(self) -> None:
        self._con.close()
