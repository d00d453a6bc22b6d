"""Rows that break a test of their table: a build leaves them out, records why, and goes on.

So it is in the models that say so (`Model.rejects`), those of the standard project: one odd bundle costs its rows, never the build. Of
rows that differ though they should be one, none stays: to choose would be to guess. A row that is there again, from another place of
the evidence, is no contradiction, and its first copy stays. What is left out follows from the rows alone, never from their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.digest import memo_digest
from warehouse.errors import counted, printable
from warehouse.landing.parse.batches import REJECTED_TABLE
from warehouse.transform.incremental.incremental import AFFECTED
from warehouse.transform.inputs.landing_tables import no_evidence
from warehouse.transform.project.data_tests import DataTest
from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_COLUMN, Model
from warehouse.transform.sql.duck import quote, text_literal

if TYPE_CHECKING:
    import duckdb

STATE = f"state.{REJECTED_TABLE}"
CODE, COPY_CODE = "row-left-out", "row-repeated"
_COLUMNS: Mapping[str, str] = {name: kind for name, _, kind in no_evidence().tables[REJECTED_TABLE].columns}
_PLACE = ("raw_path", "raw_offset", "raw_length", "line_number")  # where a row was read, which is no part of what it states
_BROKEN, _COPY = '"wh broken"', "wh copy"
_SHOWN_VALUES, _SHOWN_TEXT = 4, 60
_EXPLAINED = 100  # records of one table whose values are shown: each costs a query


@dataclass(frozen=True)
class Rejected:
    """What a build left out of one table: the rows, and the bundles that they are of, as far as the table names them."""

    table: str
    rows: int
    bundles: int


def create_rejected_table(con: "duckdb.DuckDBPyConnection") -> None:
    columns = ", ".join(f"{quote(name)} {kind}" for name, kind in _COLUMNS.items())
    con.execute(f"create table if not exists {STATE} ({columns}, key varchar, is_late boolean, is_contradiction boolean)")


def open_rejected_rows(con: "duckdb.DuckDBPyConnection") -> None:
    """Give a session the landing table of rejected rows, as they are now, but for those of the models that read it."""
    listed = ", ".join(map(quote, _COLUMNS))
    con.execute(f"create or replace temp view {REJECTED_TABLE} as select {listed} from {STATE} where not is_late order by all")


def content_of_rejected(con: "duckdb.DuckDBPyConnection") -> str | None:
    """A content id of all that is recorded; None where that is nothing."""
    rows = con.execute(f"select * from {STATE} where not is_late order by all").fetchall()
    return memo_digest("wh/rejected/1", [list(row) for row in rows]) if rows else None


def rejected(con: "duckdb.DuckDBPyConnection") -> list[Rejected]:
    """What is left out of each table, by its name; copies of rows that are there do not count."""
    return [
        Rejected(*row)
        for row in con.execute(
            f"select table_name, sum(row_count)::bigint, count(distinct {BUNDLE_COLUMN}) from {STATE} where code = '{CODE}'"
            " group by all order by all"
        ).fetchall()
    ]


def rejected_under(
    con: "duckdb.DuckDBPyConnection", tables: Iterable[str], runs: Iterable[str], bundles: Iterable[str]
) -> tuple[list[str], bool]:
    """What is left out of some tables and concerns some runs and bundles: a line a table and test. And whether any of it contradicted
    another row: then it is there again where the evidence of that one is not."""
    found = con.execute(
        f"select table_name, test, sum(row_count)::bigint, bool_or(is_contradiction), list(distinct {RUN_COLUMN} order by {RUN_COLUMN})"
        f" from {STATE} where table_name in (select unnest(?::varchar[])) and ({RUN_COLUMN} in (select unnest(?::varchar[]))"
        f" or {BUNDLE_COLUMN} in (select unnest(?::varchar[])) and {RUN_COLUMN} is null or is_contradiction) group by all order by all",
        [sorted(tables), sorted(runs), sorted(bundles)],
    ).fetchall()
    lines = []
    for table, test, rows, _, of_runs in found:
        named = [run for run in of_runs if run is not None]
        whose = f" of {named[0]}{f' and {len(named) - 1} more' * (len(named) > 1)}" if named else ""
        lines.append(f"{table}: {counted(rows, 'row')}{whose} left out by {test or 'a copy that is kept'}")
    return lines, any(row[3] for row in found)


def forget_rejected(con: "duckdb.DuckDBPyConnection", qualified: str, where: str = "true") -> None:
    """Forget what is recorded of a table, or of those rows of it that meet a condition on their bundle and run."""
    con.execute(f"delete from {STATE} where table_name = {text_literal(qualified)} and ({where})")


def forget_affected(con: "duckdb.DuckDBPyConnection", model: Model) -> None:
    """Forget what is recorded of the keys that an update computes anew."""
    con.execute(f"delete from {STATE} where table_name = ? and key in (select {_key(model)} from {AFFECTED})", [model.qualified])


class Rejection:
    """Leaves rows of one model out, by the tests that the build keeps (`DataTest.is_kept`). A model `is_late` that reads the table of
    rejected rows: its own are not among them."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str], tests: Iterable[DataTest], *, is_late: bool
    ) -> None:
        self._con = con
        self._is_late = is_late
        self._model = model
        self._types = types
        self._of_row = [test for test in tests if test.breaks]
        # Often the grain is one column that is also called unique: that is one promise.
        self._of_rows = list({test.apart: test for test in reversed([test for test in tests if test.apart])}.values())[::-1]

    def reject(self, rows: str, *, is_unique: bool = False) -> bool:
        """Take rows out of a table (`rows`, quoted), and record them. With `is_unique` its grain is known to tell them apart. Returns
        whether there were any."""
        broken = self._broken(rows, is_unique)
        if not broken:
            return False
        self._find(rows, broken)
        self._record(broken)
        self._con.execute(f"delete from {rows} where rowid in (select rid from {_BROKEN})")
        self._con.execute(f"drop table {_BROKEN}")
        return True

    def _broken(self, rows: str, is_unique: bool) -> list[DataTest]:
        """The tests that some row breaks."""
        found: list[DataTest] = []
        if self._of_row:
            asked = ", ".join(f"coalesce(bool_or({test.breaks}), false)" for test in self._of_row)
            [answers] = self._con.execute(f"select {asked} from {rows}").fetchall()
            found = [test for test, answer in zip(self._of_row, answers, strict=True) if answer]
        for test in self._of_rows:
            if not (is_unique and test.is_grain):
                keys = _listed(test.apart)
                sql = f"select 1 from {rows} where {_is_told(test)} group by {keys} having count(*) > 1 limit 1"
                found += [test] if self._con.execute(sql).fetchall() else []
        return found

    def _find(self, rows: str, broken: Sequence[DataTest]) -> None:
        """Make the table of the rows to leave out, each with the first test that it breaks, and for a copy with none."""
        place = [name for name in _PLACE if name in self._types]
        stated = _listed(name for name in self._types if name not in place)
        given = ", ".join(self._given(name) for name in (BUNDLE_COLUMN, RUN_COLUMN, "raw_path", "raw_offset", "raw_length"))
        about = f"rowid as rid, {given}, {_key(self._model)} as key, to_json(r)::varchar as text"
        self._con.execute(
            f"create or replace temp table {_BROKEN} as select null::integer as test, null::varchar as alike, {about} from {rows} r limit 0"
        )
        left = f"rowid not in (select rid from {_BROKEN})"
        for number, test in enumerate(broken):
            if test.breaks:
                self._con.execute(f"insert into {_BROKEN} select {number}, null, {about} from {rows} r where {left} and {test.breaks}")
                continue
            keys, alike = _listed(test.apart), f"to_json([{', '.join(f'{quote(name)}::varchar' for name in test.apart)}])::varchar"
            within = f"{rows} where {left} and {_is_told(test)}"
            repeated = f"select {keys} from {within} group by {keys} having count(*) > 1"
            copies = (
                f"select r.rowid as rid, row_number() over (partition by {stated} order by {_listed([*place, 'rowid'])}) as {quote(_COPY)}"
                f" from {rows} r semi join ({repeated}) k on {_same(test.apart)} where {left}"
            )
            self._con.execute(f"create or replace temp table {quote(_COPY)} as {copies}")
            first = f"rowid not in (select rid from {quote(_COPY)} where {quote(_COPY)} > 1)"
            differing = f"select {keys} from {within} and {first} group by {keys} having count(*) > 1"
            self._con.execute(
                f"insert into {_BROKEN} select {number}, {alike}, {about} from {rows} r semi join ({differing}) k on {_same(test.apart)}"
                f" where {left}"
            )
            self._con.execute(
                f"insert into {_BROKEN} select null, {alike}, {about} from {rows} r where {left} and not ({first})"
            )
            self._con.execute(f"drop table {quote(_COPY)}")

    def _given(self, name: str) -> str:
        kind = _COLUMNS[name]
        return f"r.{quote(name)}::{kind} as {name}" if name in self._types else f"null::{kind} as {name}"

    def _record(self, broken: Sequence[DataTest]) -> None:
        found = self._con.execute(
            f"select test, key, {BUNDLE_COLUMN}, {RUN_COLUMN}, count(*), min({{'path': raw_path, 'start': raw_offset, 'length': raw_length,"
            f" 'text': text, 'alike': alike}}) from {_BROKEN} group by all order by all"
        ).fetchall()
        for number, (test, key, bundle, run, rows, first) in enumerate(found):
            broke = None if test is None else broken[test]
            values = self._values(broke, first) if broke and number < _EXPLAINED else ""
            record: dict[str, Any] = {
                "table_name": self._model.qualified,
                "test": broke.name if broke else "",
                "row_count": rows,
                "severity": "error" if broke else "note",
                "code": CODE if broke else COPY_CODE,
                "message": _message(self._model, broke, rows, values),
                RUN_COLUMN: run,
                BUNDLE_COLUMN: bundle,
                "raw_path": first["path"] or "manifest.json",
                "raw_offset": first["start"] or 0,
                "raw_length": first["length"] or 0,
                "key": key,
                "is_late": self._is_late,
                "is_contradiction": not (broke and broke.breaks),
            }
            names = ", ".join(map(quote, record))
            self._con.execute(f"insert into {STATE} ({names}) values ({', '.join('?' * len(record))})", list(record.values()))

    def _values(self, test: DataTest, first: Mapping[str, Any]) -> str:
        """The values because of which a row breaks a test; of rows that should be one, those that differ."""
        if not test.is_grain:
            return _shown(dict(_columns(first["text"])).get(test.telling[-1])) if test.telling else ""
        texts = self._con.execute(
            f"select distinct text from {_BROKEN} where alike = ? order by text limit {_SHOWN_VALUES}", [first["alike"]]
        ).fetchall()
        rows = [dict(_columns(text)) for (text,) in texts]
        differing = [
            f"{name} is {' and '.join(dict.fromkeys(_shown(row.get(name)) for row in rows))}"
            for name in self._types
            if name not in _PLACE and len({json.dumps(row.get(name)) for row in rows}) > 1
        ]
        return ", ".join(differing[:_SHOWN_VALUES])


def _message(model: Model, test: DataTest | None, rows: int, values: str) -> str:
    left = f"{counted(rows, 'row')} of {model.qualified} {'is' if rows == 1 else 'are'}"
    if test is None:
        return f"{left} stated again with the same values: one of each is kept"
    because = (
        f"there must be {test.promise}{f', but {values}' if values else ''}" if test.is_grain
        else f"test {test.promise}{f': the value is {values}' if values else ''}"
    )
    return f"{left} left out: {because}; correct the file and ingest it again, or report a fault of its ingestor where the file is right"


def _columns(text: str) -> Iterator[tuple[str, Any]]:
    try:
        yield from json.loads(text).items()
    except ValueError:  # a float that JSON does not have
        return


def _shown(value: Any) -> str:
    text = printable(value if isinstance(value, str) else json.dumps(value))
    text = text if len(text) <= _SHOWN_TEXT else text[: _SHOWN_TEXT - 1] + "…"
    return f'"{text}"' if isinstance(value, str) else "NULL" if value is None else text


def _is_told(test: DataTest) -> str:
    """In a grain NULL is a value like any other; a column's `unique` is silent about it."""
    return "true" if test.is_grain else f"{quote(test.apart[0])} is not null"


def _key(model: Model) -> str:
    """SQL for the key by which an incremental table is brought up to date, as text."""
    return f"to_json([{', '.join(f'{quote(name)}::varchar' for name in model.key)}])::varchar" if model.key else "null::varchar"


def _same(columns: Iterable[str]) -> str:
    return " and ".join(f"r.{quote(name)} is not distinct from k.{quote(name)}" for name in columns)


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(map(quote, columns))
