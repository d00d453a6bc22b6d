"""Shares of a table that is local to a key: its rows by ranges of the key, which several sessions make side by side.

A model that is local to its key gives the same rows of a key over the rows that carry it, whatever others there are (`locality`). A table
lies in the order of its key, so its shares one after another are the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Condition
from typing import TYPE_CHECKING

from warehouse.transform.incremental.changed_keys import FILE_COLUMN, KeyPlan
from warehouse.transform.incremental.locality import INPUT_ALIAS, KeyedInput
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import quote, text_literal

if TYPE_CHECKING:
    import duckdb

# Types of which = and < tell every two values apart.
_ORDERED = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|DATE|TIMESTAMP|UUID")
_SAMPLED = 64  # of so many keys one is looked at


@dataclass(frozen=True)
class Share:
    """The rows of which the first column of the key is above one value and up to another, both as SQL; NULL comes last. None: no bound."""

    above: str | None
    to: str | None

    def holds(self, key: str) -> str:
        """The condition on a key, which is SQL."""
        if self.to is None:
            return f"(({key}) > {self.above} or ({key}) is null)" if self.above else "true"
        return f"({key}) <= {self.to}" + (f" and ({key}) > {self.above}" if self.above else "")

    def of_input(self, model: Model, found: KeyedInput) -> str:
        """SQL for the rows of an input that carry its keys, in the order in which they lie."""
        return f"select {INPUT_ALIAS}.* from (select * from {model.text[found.start : found.end]}) as {INPUT_ALIAS} where {self.holds(found.key[0])}"


def find_shares(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, types: Mapping[str, str], leaf: str, rows: str, count: int
) -> list[Share]:
    """A table in at most `count` shares of about the same size; none where it cannot be told apart so. `rows` is SQL for the rows of one
    `leaf` of the plan."""
    key, kind = quote(model.key[0]), types[model.key[0]]
    path = next(path for path in plan.paths if path.leaf == leaf)
    if not plan.can_narrow or not _ORDERED.fullmatch(kind):
        return []
    keys = path.keys_of(f"select *, '' as {quote(FILE_COLUMN)} from ({rows})", is_distinct=False)
    [(found,)] = con.execute(
        f"select quantile_disc({key}, {[number / count for number in range(1, count)]})::varchar[] from ({keys}) where hash({key}) % {_SAMPLED} = 0"
    ).fetchall()
    bounds = [f"{text_literal(value)}::{kind}" for value in dict.fromkeys(found or ()) if value is not None and "\0" not in value]
    return [Share(above, to) for above, to in zip([None, *bounds], [*bounds, None], strict=True)] if bounds else []


class SharedWork:
    """A table in shares: whichever session is free makes one, and one session writes them, one after another."""

    def __init__(self, shares: Sequence[Share]) -> None:
        self._shares = shares
        self._begun = self._written = 0
        self._made: dict[int, str] = {}  # where those lie that are made and not written
        self._fault: BaseException | None = None
        self._changed = Condition()

    def take(self) -> tuple[int, Share] | None:
        """A share to make, with its number; None when all are begun."""
        with self._changed:
            if self._begun == len(self._shares):
                return None
            self._begun += 1
            return self._begun - 1, self._shares[self._begun - 1]

    def made(self, number: int, table: str) -> None:
        """A share lies in a table (quoted) that the session that writes can read."""
        with self._changed:
            self._made[number] = table
            self._changed.notify_all()

    def give_up(self, fault: BaseException) -> None:
        """Begin no more shares. The session that writes raises the fault."""
        with self._changed:
            self._begun, self._fault = len(self._shares), self._fault or fault
            self._changed.notify_all()

    def to_write(self) -> Iterator[str | Share | tuple[int, Share]]:
        """What the session that writes has to do, one after another: the table of the next share; the next share itself, which no other
        session makes; or to make another one, with its number, while they make the next."""
        while True:
            with self._changed:
                while not self._fault and self._written not in self._made and self._begun == len(self._shares) and self._written < self._begun:
                    self._changed.wait()
                if self._fault:
                    raise self._fault
                table, number = self._made.pop(self._written, ""), self._begun
                if not table and number == len(self._shares):
                    return
                is_next = number == self._written
                if table or is_next:
                    self._written += 1
                if not table:
                    self._begun += 1
            yield table or (self._shares[number] if is_next else (number, self._shares[number]))
