"""Whether a tie decides what is published: each query on the way is run with its ties broken in several ways, and the
answers are compared. Equal answers are the proof that no tie matters to them; unequal ones are refused (E_TIE).

The queries run on the build itself, read-only. Floats may differ by what another order of adding makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isclose
from typing import TYPE_CHECKING, Any

from warehouse.trace.catalog import Catalog
from warehouse.trace.determinism import DEFAULT_TOLERANCE
from warehouse.trace.inlined_views import expanded
from warehouse.trace.parse_cache import parsed
from warehouse.trace.provenance.syntax.admission import admit
from warehouse.trace.provenance.syntax.refusals import Refusal, offset_of, refuse
from warehouse.trace.provenance.ties.tie_points import POINT_WORDS, WAYS, broken, has_cut, tie_points, ways
from warehouse.trace.provenance.ties.tied_groups import is_ordered_by_value, tied_groups, tied_rows
from warehouse.trace.provenance.values import copied
from warehouse.trace.trace_step import OWN_PREFIX
from warehouse.transform.sql.duck import quote
from warehouse.transform.sql.engine_faults import message_of

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

# So many rows that differ are compared value by value; where there are more, it is no matter of last bits.
_COMPARED_ROWS = 10_000
_BROKEN, _OTHERWISE = (quote(OWN_PREFIX + name) for name in ("broken", "otherwise"))


def check_ties(con: "duckdb.DuckDBPyConnection", catalog: Catalog, query: str) -> dict[str, int]:
    """How many clauses of a query, and of every table under it, were tried and found to depend on no tie, by table.
    `con` is a session of `open_trace_session`. Raises WH306 at the first that does."""
    top = catalog.models[f"rollup.{query}"]
    tried = {}
    for model in [top, *catalog.under(top.qualified)]:
        if model.has_rows:
            written = expanded(model, catalog)
            try:
                # Of no rows none can tie.
                count = tie_count(written.text) if catalog.empty.issuperset(written.tables) else probe(con, written.text)
            except Refusal as refusal:
                raise written.fault(refusal) from refusal
            if count:
                tried[model.qualified] = count
    return tried


def tied_clauses(catalog: Catalog, query: str) -> dict[str, int]:
    """What `check_ties` answers where it does not refuse, without trying: that follows from the SQL."""
    top = catalog.models[f"rollup.{query}"]
    texts = {
        model.qualified: expanded(model, catalog).text
        for model in (top, *catalog.under(top.qualified)) if model.has_rows
    }
    counts = {name: tie_count(text) for name, text in texts.items()}
    return {name: count for name, count in counts.items() if count}


def tie_count(sql: str) -> int:
    """The number of clauses of one query at which rows may tie."""
    return len(_points(sql))


@lru_cache(maxsize=1024)  # queries share the models under them
def _points(sql: str) -> "tuple[exp.Expr, ...]":
    """The clauses of one query at which rows may tie. The tree is shared: it is only read."""
    from sqlglot import exp

    if not POINT_WORDS.search(sql):  # most models have none
        return ()
    tree = parsed(sql)
    names_windows = any(block.args.get("windows") for block in tree.find_all(exp.Select))
    return tuple(tie_points(copied(tree) if names_windows else tree))  # it writes named windows out where they are used


def probe(con: "duckdb.DuckDBPyConnection", sql: str) -> int:
    """The number of clauses of one query at which rows may tie. Raises WH306 (E_TIE) when a tie at one of them decides
    what the query answers, and when that cannot be tried."""
    with _refusing_the_untriable(sql):
        points = _points(sql)
        if not any(_may_have_ties(con, sql, number) for number in range(len(points))) or not _is_decided_by_ties(con, sql):
            return len(points)
        number = next((number for number in range(len(points)) if _is_decided_by_ties(con, sql, number)), 0)
    refuse("E_TIE", points[number], _told(con, sql, number))


def _may_have_ties(con: "duckdb.DuckDBPyConnection", sql: str, number: int) -> bool:
    """Whether rows may tie at one point so that it matters, as far as one look at the rows of its block tells. To break all ties in every way
    takes ten times as long."""
    import duckdb

    if is_ordered_by_value(_points(sql)[number]):
        return False
    rows = tied_rows(sql, number)
    try:
        return not rows or bool(con.execute(rows).fetchall())
    except duckdb.Error:  # the block depends on the row around it
        return True


def cuts(sql: str, grain: Sequence[str]) -> list[tuple[int | None, str]]:
    """The ORDER BYs of one query by which LIMIT or DISTINCT ON chooses rows, each with its place and as SQL. A LIMIT on the whole query
    after an order by its grain chooses among no rows that tie."""
    from sqlglot import exp

    tree = copied(parsed(sql))
    found = []
    for point in tie_points(tree):
        if isinstance(point, exp.Query) and has_cut(point):
            order, limit, offset, distinct = (point.args.get(name) for name in ("order", "limit", "offset", "distinct"))
            is_on = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None
            if is_on or point is not tree or not _orders_by(point, point.args["order"], grain):
                clauses = filter(None, (distinct, order) if is_on else (order, limit, offset))
                found.append((offset_of(point.args["order"]), " ".join(clause.sql("duckdb").strip() for clause in clauses)))
    return found


def _orders_by(query: "exp.Query", order: "exp.Order", grain: Sequence[str]) -> bool:
    """Whether all of the grain is among the keys of an ORDER BY."""
    from sqlglot import exp

    names, selected = set(), query.selects
    for key in (part.this for part in order.expressions):
        if isinstance(key, exp.Column):
            names.add(key.name.lower())
        elif isinstance(key, exp.Literal) and not key.is_string and 0 < int(key.name) <= len(selected):
            names.add(selected[int(key.name) - 1].alias_or_name.lower())
    return bool(grain) and {name.lower() for name in grain} <= names


def check_triable(con: "duckdb.DuckDBPyConnection", sql: str) -> None:
    """Bind one query with its ties broken, without running it. Raises WH306 (E_TIE) where `probe` could not try it."""
    with _refusing_the_untriable(sql):
        if _points(sql):
            for way in (WAYS[0], WAYS[-1]):  # by values, and shuffled
                con.execute(f"explain {broken(sql, way)}")


@contextmanager
def _refusing_the_untriable(sql: str) -> Iterator[None]:
    import duckdb
    from sqlglot.errors import SqlglotError

    try:
        yield
    except (SqlglotError, duckdb.Error) as error:
        tree = admit(sql)  # what is not traced at all is refused for that
        refuse("E_TIE", tree, f"whether a tie decides its answer cannot be tried ({message_of(error)})")


def _is_decided_by_ties(con: "duckdb.DuckDBPyConnection", sql: str, only: int | None = None) -> bool:
    """Whether the query's rows are others when its ties (or those at one point) are broken otherwise, or broken at all: a
    window that leaves out peers (EXCLUDE) has none then."""
    [(rows,)] = con.execute(f"create or replace temp table {_BROKEN} as {sql}").fetchall()
    for other in (broken(sql, way, only) for way in ways(_points(sql))):
        [(others,)] = con.execute(f"create or replace temp table {_OTHERWISE} as {other}").fetchall()
        gone = con.execute(f"from {_BROKEN} except all from {_OTHERWISE} limit {_COMPARED_ROWS}").fetchall()
        if not gone and rows == others:
            continue  # as many rows, and each of the one among those of the other
        come = con.execute(f"from {_OTHERWISE} except all from {_BROKEN} limit {_COMPARED_ROWS}").fetchall()
        if len(gone) != len(come) or not all(map(_is_near, sorted(gone, key=_exact_part), sorted(come, key=_exact_part))):
            return True
    con.execute(f"drop table {_BROKEN}; drop table {_OTHERWISE}")
    return False


def _exact_part(row: tuple[Any, ...]) -> tuple[list[str], list[str]]:
    """What rows are sorted by to be compared in pairs: floats last, for they may differ a little."""
    return [repr(value) for value in row if not isinstance(value, float)], [repr(v) for v in row if isinstance(v, float)]


def _is_near(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or isclose(one, other, rel_tol=DEFAULT_TOLERANCE) or (one != one and other != other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_is_near, one, other))
    return bool(one == other)


def _told(con: "duckdb.DuckDBPyConnection", sql: str, number: int) -> str:
    """How many groups of rows tie at one point, and the key of one; less where the block cannot be asked by itself."""
    import duckdb

    groups, keys = tied_groups(sql, number)
    try:
        found = con.execute(f"select count(*) over (), * from ({groups}) order by all limit 1").fetchall() if groups else []
    except duckdb.Error:  # it depends on the row around it
        found = []
    if not found:
        return "rows tie and decide the answer"
    count, *values = found[0]
    shown = ", ".join(f"{key} = {value!r}" for key, value in zip(keys, values, strict=True))
    what = "group of rows ties and decides" if count == 1 else "groups of rows tie and decide"
    return f"{count} {what} the answer{f', such as {shown}' if shown else ''}"
