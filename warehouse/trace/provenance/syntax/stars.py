"""`*`, `t.*` and `COLUMNS(...)` written out, because the evidence columns beside a table must not leak through them.

A plain star is the columns of the FROM items. What EXCLUDE, REPLACE, RENAME, LIKE, a pattern or a lambda makes of it DuckDB
itself answers, on one row that holds the position of each column in place of its value: the analyst's data is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sqlglot import exp

from warehouse.trace.provenance.relations import Scope
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.values import column, copied, identifier, named
from warehouse.transform.sql.duck import asking

# Functions of which an argument can be `*COLUMNS(...)`: as they are parsed, their arguments are a list.
_VARIADIC = (exp.Coalesce, exp.Greatest, exp.Least, exp.Anonymous)
_MATCHES = (exp.Like, exp.ILike, exp.Glob, exp.SimilarTo)


def expand_stars(node: exp.Select, scope: Scope) -> None:
    """Write out every star of a SELECT's list, and every COLUMNS() of its list and its WHERE."""
    node.set("expressions", [part for item in node.expressions for part in _expanded(item, scope)])
    where = node.args.get("where")
    if where is not None and _selectors(where):
        conditions = [exp.Paren(this=part.unalias()) for part in _expanded(where.this, scope)]
        where.set("this", exp.and_(*conditions, copy=False))
    for left in _selectors(node):
        refuse("E_COLUMNS", left, "COLUMNS() outside the select list and WHERE")


def reads_unnamed(node: exp.Expr) -> bool:
    """Whether it reads columns that it does not name; a star in count(*) reads none."""
    return isinstance(node, exp.Columns) or (isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count))


def has_star(block: exp.Select) -> bool:
    """Whether how many columns a block selects is not written in it."""
    found = (part for item in block.expressions for part in item.walk(prune=lambda n: isinstance(n, exp.Query)))
    return any(reads_unnamed(part) for part in found)


def _expanded(item: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The items that one item of a select list expands to."""
    star = _star_of(item)
    if star is not None:
        is_plain = isinstance(item, (exp.Star, exp.Column)) and not any(star.args.values())
        return list(_read_by(item, scope)) if is_plain else _chosen(item, item, scope)
    for selector in _selectors(item):
        if selector.args.get("unpack"):
            _unpack(selector, scope)
    selectors = _selectors(item)
    if not selectors:
        return [item]
    first, *others = selectors
    if any(other != first for other in others):
        refuse("E_COLUMNS", item, "two COLUMNS() that differ, in one expression")
    written = exp.Alias(this=copied(first), alias=copied(item.args["alias"])) if item.alias else first
    return [_in_place(item, chosen) for chosen in _chosen(first, written, scope)]


def _star_of(item: exp.Expr) -> exp.Star | None:
    """The star that an item of a select list is: alone, behind its table, or before LIKE."""
    while isinstance(item, (exp.Not, *_MATCHES)):
        item = item.this
    inner = item.this if isinstance(item, exp.Column) else item
    return inner if isinstance(inner, exp.Star) else None


def _selectors(item: exp.Expr) -> list[exp.Columns]:
    return [part for part in item.walk(prune=lambda n: n is not item and isinstance(n, exp.Query)) if isinstance(part, exp.Columns)]


def _in_place(item: exp.Expr, chosen: exp.Expr) -> exp.Expr:
    """A copy of an item in which one of the columns it is written for replaces each COLUMNS()."""
    holder = exp.Paren(this=copied(item.unalias()))
    for selector in _selectors(holder):
        selector.replace(copied(chosen.unalias()))
    return named(holder.this, chosen.alias_or_name)


def _unpack(selector: exp.Columns, scope: Scope) -> None:
    """`coalesce(*COLUMNS(...), 0)` with the columns as arguments, in place."""
    around = selector.parent
    if not isinstance(around, _VARIADIC):
        refuse("E_COLUMNS", selector, "columns as arguments of other than coalesce(), greatest(), least() or a plain function")
    plain = copied(selector)
    plain.set("unpack", None)
    columns = [part.unalias() for part in _chosen(plain, plain, scope)]
    first = [around.this] if isinstance(around.this, exp.Expr) else []
    arguments = [new for old in [*first, *around.expressions] for new in (columns if old is selector else [old])]
    if first:
        around.set("this", arguments.pop(0))
    around.set("expressions", arguments)


# --- what the engine answers --------------------------------------------------------------------------------------


def _chosen(star: exp.Expr, written: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The columns, and the expressions of REPLACE, that a star expands to, under their names. `written` is the star, or with
    an alias, as the engine is asked for it."""
    asked = copied(written)
    replacements: list[exp.Expr] = []
    for part in list(asked.find_all(exp.Star)):
        for replaced in part.args.get("replace") or ():
            replacements.append(replaced.this.copy())
            replaced.set("this", exp.Neg(this=exp.Literal.number(len(replacements))))
    readable = _read_by(star, scope)
    _refuse_merged(star, scope)
    answer = _answer(asked.sql("duckdb"), _origin(star, readable, scope))
    if isinstance(answer, str):
        refuse("E_STAR", star, answer)
    parts = [(readable[place] if place >= 0 else replacements[-1 - place], name) for name, place in answer]
    # A column that is read twice is known by its name alone: a copy keeps the trees apart.
    return [copied(part) if _is_called(part, name) else named(copied(part), name) for part, name in parts]


def _is_called(part: exp.Expr, name: str) -> bool:
    return isinstance(part, exp.Column) and part.name == name


def _read_by(star: exp.Expr, scope: Scope) -> Sequence[exp.Column]:
    """All the columns that a star can expand to, in order: those of the FROM item that it names, or of all."""
    table = _table_of(star)
    if table is None:
        return scope.star_columns()
    source = scope.sources.get(table.lower())
    if source is None:
        refuse("E_RESOLVE", star, "no such FROM item")
    return [column(source.alias, name) for name in source.columns]


def _table_of(star: exp.Expr) -> str | None:
    tables = [part.table for part in star.find_all(exp.Column) if isinstance(part.this, exp.Star) and part.table]
    return tables[0] if tables else None


def _refuse_merged(star: exp.Expr, scope: Scope) -> None:
    """`* EXCLUDE (t.c)` of a column that USING merged leaves that of the other side, which has another value."""
    for part in star.find_all(exp.Star):
        renamed = [alias.this for alias in part.args.get("rename") or ()]
        for named_column in [*(part.args.get("except_") or ()), *renamed]:
            if named_column.text("table") and named_column.name.lower() in scope.merged:
                refuse("E_STAR", named_column, "a column that USING merged, of one table; write it without the table")


def _origin(star: exp.Expr, readable: Sequence[exp.Column], scope: Scope) -> str:
    """FROM, with one row: each column holds the place that it has among all that the star can expand to."""
    places = {(read.table.lower(), read.name.lower()): str(place) for place, read in enumerate(readable)}
    merged_from = scope.merged_from if _table_of(star) is None else {}
    text, before = "", set[str]()
    for alias in [readable[0].table.lower()] if merged_from is not scope.merged_from else scope.sources:
        names = scope.sources[alias].columns
        merged = {name for name, united in merged_from.items() if alias in united}
        values = [f"{places['' if name.lower() in merged else alias, name.lower()]} as {_quoted(name)}" for name in names]
        using = sorted(_quoted(name) for name in merged if before & merged_from[name])
        joined = " join " if using else " cross join "
        text += f"{joined if before else ''}(select {', '.join(values)}) as {_quoted(scope.sources[alias].alias)}"
        text += f" using ({', '.join(using)})" if using else ""
        before.add(alias)
    return text


def _quoted(name: str) -> str:
    return identifier(name).sql("duckdb")


@cache
def _answer(star: str, origin: str) -> tuple[tuple[str, int], ...] | str:
    """The name and the place of each column that a star expands to; DuckDB's message when it is not one."""
    import duckdb

    with asking() as connection:
        try:
            found = connection.execute(f"select {star} from {origin}")
            names = [name for name, *_ in found.description or ()]
            [places] = found.fetchall()
        except duckdb.Error as error:
            return str(error).splitlines()[0]
    return tuple(zip(names, places, strict=True))
