"""What a table holds, as a short id: equal ids, equal rows. Non-cryptographic and of one engine version; it decides whether to
rebuild, it proves nothing to an auditor (the build file's sha256 does that).

The id of a table that is built whole covers the order of its rows, since a reader may depend on it (a sum of floats does).
That of an incremental table does not: its order follows from its rows (`incremental`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.digest import memo_digest
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

# No column of a model may be called so (`OWN_PREFIX`).
OWN_PREFIX = "wh "
ROW, ROWS, HASH_SUM = '"wh row"', '"wh rows"', '"wh hash sum"'
# Types with values that hash alike and yet are others: intervals, times of a zone, floats inside lists and structs; and
# whatever is nested, of which NULL, nothing and nothing but NULL hash alike.
_EQUAL_BUT_NOT_ALIKE = re.compile(r"INTERVAL|TIME WITH TIME ZONE|\[|STRUCT|MAP|VARIANT|UNION|TUPLE")


@dataclass(frozen=True)
class Content:
    """How many rows a table holds and the sum of their hashes."""

    rows: int
    hash_sum: int

    def id(self, types: Mapping[str, str], order: Sequence[str] = ()) -> str:
        """A digest of rows, columns and types, and of the columns that the rows are ordered by where that is not in the sum."""
        return memo_digest("wh/content/1", [self.rows, str(self.hash_sum), [[*item] for item in types.items()], [*order]])


EMPTY = Content(0, 0)


def row_hash(types: Mapping[str, str], *first: str) -> str:
    """SQL for a 64-bit hash of a row called `ROW`, and of the SQL expressions `first`.

    DuckDB's hash() follows its =, for which -0.0 is 0.0 and a month is thirty days; what tells them apart is added: a sign,
    or for a nested value its text.
    """
    apart = [f"signbit({ROW}.{quote(name)})" for name, kind in types.items() if kind in ("FLOAT", "DOUBLE")]
    apart += [f"{ROW}.{quote(name)}::varchar" for name, kind in types.items() if _EQUAL_BUT_NOT_ALIKE.search(kind)]
    # Once more: of several values hash() makes a sum of their hashes that can come out the same when two rows swap them.
    return f"hash(hash({', '.join([*first, ROW, *apart])}))"


def content_of(con: "duckdb.DuckDBPyConnection", table: str, types: Mapping[str, str], *, is_ordered: bool) -> Content:
    """The content of a qualified table; with `is_ordered` the place of each row counts, which a new table has from 0."""
    hashed = row_hash(types, *(["rowid"] if is_ordered else []))
    rows, total = con.execute(f"select count(*), sum({hashed}) from {quoted(table)} as {ROW}").fetchall()[0]
    return Content(rows, int(total or 0))


def rows_of(con: "duckdb.DuckDBPyConnection", table: str, types: Mapping[str, str], *, is_ordered: bool) -> Content:
    """The same of a table that nothing is to be compared with: its rows counted."""
    [(rows,)] = con.execute(f"select count(*) from {quoted(table)}").fetchall()
    return Content(rows, 0)


def content_by_key(table: str, types: Mapping[str, str], key: Sequence[str], where: str = "") -> str:
    """SQL for the rows and hash sum of every key of a table (already quoted)."""
    names = ", ".join(f"{ROW}.{quote(name)}" for name in key)
    return f"select {names}, count(*) as {ROWS}, sum({row_hash(types)}) as {HASH_SUM} from {table} as {ROW} {where} group by {names}"
