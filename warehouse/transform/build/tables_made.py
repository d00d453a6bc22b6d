"""What a build's database holds at every moment of the build: the state of each table, and how much of that is committed.

No process reads the database before it is whole, so models are committed in groups: a kill costs a group's work at most.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from warehouse.transform.build.state import TableState, write_states

if TYPE_CHECKING:
    import duckdb

# Work that a kill may cost. A commit for each model would take as long again as a thousand small models do.
_GROUP_S = 0.5
_MUCH = 128 << 20  # bytes; to write all tables' metadata once more takes as long as a model
_WAITING, _READ = "IN_MEMORY_TABLE", "BASE_TABLE"  # what the engine calls tables that it has not written to the file, and blocks of the file


class TablesMade:
    """`before` are the tables' states when the build began, `now` as they are; `contents` are content ids, by name, of all that
    is up to date."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", before: Mapping[str, TableState], contents: dict[str, str]) -> None:
        self._con = con
        self.before = before
        self.now = dict(before)
        self.contents = contents
        self._saved = dict(before)  # of `now`, what is committed
        self._unsaved: list[str] = []
        self._opened: set[str] = set()  # landing tables that this transaction has made
        self._fresh: set[str] = set()  # tables made since the last checkpoint
        self._last_commit = time.process_time()
        self._held = 0  # bytes in memory that the last checkpoint left there: of temporary tables

    def made(self, name: str, state: TableState) -> None:
        """A table is up to date, in this state."""
        self.contents[name] = state.content_id
        self.rewritten(name, state)

    def rewritten(self, name: str, state: TableState) -> None:
        """A table's rows lie otherwise; whether it is up to date is another matter."""
        self.now[name] = state
        self._unsaved.append(name)
        self._fresh.add(name)

    def opened(self, landing: str) -> None:
        """A landing table is there now."""
        self._opened.add(landing)

    def dropped(self, name: str) -> None:
        """A table was removed."""
        del self.now[name], self._saved[name]
        write_states(self._con, {}, [name])

    def begin(self) -> None:
        self._con.execute("begin")

    def commit(self) -> None:
        """End the transaction, with the states of what was made in it."""
        states = {name: self.now[name] for name in self._unsaved}
        write_states(self._con, states, states.keys() & self._saved.keys())
        self._con.execute("commit")
        self._free_memory()
        self._saved.update(states)
        self._unsaved, self._last_commit = [], time.process_time()
        self._opened.clear()

    def _free_memory(self) -> None:
        """If the engine holds much, write waiting tables into the file, drop blocks of the file, and give back to the system what statements
        have freed: the engine does the last two when its limit is set."""
        import duckdb

        memory = self._memory()
        if memory[_WAITING] > self._held + _MUCH:
            self._con.execute("checkpoint")
            self._fresh.clear()
            memory = self._memory()
            self._held = memory[_WAITING]
        self._held = min(self._held, memory[_WAITING])
        if memory.total() > _MUCH:
            [(limit,)] = self._con.execute("select current_setting('memory_limit')").fetchall()
            if memory[_READ] > _MUCH:
                with suppress(duckdb.OutOfMemoryException):  # what cannot be dropped stays
                    self._con.execute(f"set memory_limit = '{(memory.total() - memory[_READ] // 2) >> 10} KiB'")
            self._con.execute(f"set memory_limit = '{limit}'")

    def _memory(self) -> "Counter[str]":
        """The engine's bytes by what they are for."""
        return Counter(dict(self._con.execute("select tag, memory_usage_bytes from duckdb_memory()").fetchall()))

    def commit_if_due(self) -> None:
        if time.process_time() - self._last_commit > _GROUP_S:
            self.commit_and_begin()

    def commit_and_begin(self) -> None:
        self.commit()
        self.begin()

    def save(self, tables: Collection[str]) -> None:
        """Make sure that these tables, of models and of landing, are committed: before, the engine has no statistics to plan by, and when a
        group ends is a matter of time."""
        if not self._opened.isdisjoint(tables) or not set(self._unsaved).isdisjoint(tables):
            self.commit()
            self.begin()

    def compress(self, tables: Collection[str]) -> None:
        """Make sure that these tables are kept as they will be. One just made is not compressed yet, and the same floats, if it has more
        than one, may add up to other last bits."""
        contents = [self.now[name].content for name in self._fresh.intersection(tables)]
        if any(content is None or content.rows > 1 for content in contents):
            self.commit()
            self._con.execute("checkpoint")
            self._fresh.clear()
            self.begin()

    def roll_back(self) -> list[str]:
        """After a statement has failed, and its transaction with it: begin another. The names of what was made in the old one,
        which is now what it was before: under another name, of another kind, in pieces."""
        self._con.execute("rollback")
        self.begin()
        again, self._unsaved = list(dict.fromkeys(self._unsaved)), []
        self._opened.clear()
        for name in again:
            self.now.pop(name)
            if name in self._saved:
                self.now[name] = self._saved[name]
        return again
