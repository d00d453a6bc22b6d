"""A model's SQL with the views it reads written out, for a view has no rows of its own to stop at; and of every character
of it, in which file it is.

The analysts' own text is spliced, never generated anew: what a refusal quotes is what they wrote, and its place is theirs.
Only before the tables that a view names their schema is written, for a CTE of its reader may have such a name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.parse_cache import parsed
from warehouse.trace.provenance.syntax.admission import admit
from warehouse.trace.provenance.syntax.refusals import Refusal
from warehouse.transform.project.feeds import FEED_SCHEMA
from warehouse.transform.sql.duck import quote
from warehouse.transform.sql.text import body, fault_at, first_token

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class _Piece:
    """A stretch of text, and the model whose file has it at `offset`."""

    text: str
    model: BuiltModel
    offset: int


@dataclass(frozen=True)
class Expansion:
    """SQL in which only tables with rows are named, made of pieces of several files, and these tables by their qualified names."""

    text: str
    pieces: tuple[_Piece, ...]
    tables: frozenset[str]

    def fault(self, refusal: Refusal) -> WarehouseError:
        """The refusal at its place in the file that has the clause: the line itself and a caret. A clause that is in
        no file, as in a feed's union, has the place of its model alone."""
        if refusal.offset is None:
            return _placed(refusal, self.pieces[0].model)
        starts = [0]
        for piece in self.pieces[:-1]:
            starts.append(starts[-1] + len(piece.text))
        number = bisect_right(starts, refusal.offset) - 1
        found = self.pieces[number]
        if found.model.schema == FEED_SCHEMA:
            return _placed(refusal, found.model)
        offset = found.offset + refusal.offset - starts[number]
        return fault_at(refusal.code, refusal.message, found.model.sql, found.model.place, offset, refusal.hint)


def _placed(refusal: Refusal, model: BuiltModel) -> WarehouseError:
    return WarehouseError(refusal.code, refusal.message, model.place, refusal.hint)


def expanded(model: BuiltModel, catalog: Catalog) -> Expansion:
    """A model's SQL, from its first token to its last, with every view under it in place of its name."""
    pieces = tuple(_pieces(model, catalog, is_view=False))
    read = frozenset().union(*(piece.model.reads for piece in pieces))
    tables = frozenset(name for name in read if name not in catalog.models or catalog.models[name].has_rows)
    return Expansion("".join(piece.text for piece in pieces), pieces, tables)


def _pieces(model: BuiltModel, catalog: Catalog, *, is_view: bool) -> Iterator[_Piece]:
    text, start = body(model.sql), first_token(model.sql)
    views = {name for name in model.reads if name in catalog.models and not catalog.models[name].has_rows}
    written = 0
    for found in _references(text, model, catalog) if views or is_view else ():
        if found.name in views:
            yield _Piece(f"{text[written : found.begin]}(", model, start + written)
            yield from _pieces(catalog.models[found.name], catalog, is_view=True)
            yield _Piece(f"){found.alias}", model, start + found.begin)
            written = found.end
        elif is_view and found.is_bare and found.name in catalog.models:
            schema = quote(catalog.models[found.name].schema)
            yield _Piece(f"{text[written : found.begin]}{schema}.", model, start + written)
            written = found.begin
    yield _Piece(text[written:], model, start + written)


@dataclass(frozen=True)
class _Reference:
    """Where a table's name begins and ends in a text, the table, whether it is named without its schema, and the alias that
    a query in its place needs."""

    begin: int
    end: int
    name: str
    is_bare: bool
    alias: str


def _tree(text: str, model: BuiltModel) -> "exp.Expr":
    """A model's SQL, parsed. Raises WH306 where the parser stops at what the engine takes."""
    from sqlglot.errors import SqlglotError

    try:
        return parsed(text)
    except SqlglotError:
        try:
            return admit(text)
        except Refusal as refusal:
            raise Expansion(text, (_Piece(text, model, first_token(model.sql)),), frozenset()).fault(refusal) from refusal


def _references(text: str, model: BuiltModel, catalog: Catalog) -> list[_Reference]:
    from sqlglot import exp

    found = []
    for table in _tree(text, model).find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or is_cte(table):
            continue
        has_name = table.args.get("alias") is not None or table.args.get("pivots")
        places = [part.meta for part in table.parts]
        name = catalog.resolve(".".join(filter(None, (table.db, table.name))))
        begin, end = min(place["start"] for place in places), max(place["end"] for place in places) + 1
        found.append(_Reference(begin, end, name, not table.db, "" if has_name else f" as {quote(table.name)}"))
    return sorted(found, key=lambda reference: reference.begin)


def is_cte(table: "exp.Table") -> bool:
    """Whether a table's name is that of a CTE in sight: of the queries around it, and of its own WITH those before
    its own, which it sees only when they are recursive."""
    from sqlglot import exp

    name = table.name.lower()
    within: exp.Expr = table
    above = table.parent
    while above is not None and not table.db:
        if isinstance(above, exp.With):
            own = next(place for place, cte in enumerate(above.expressions) if cte is within)
            seen = above.expressions[: own + bool(above.args.get("recursive"))]
        else:
            written = above.args.get("with_")
            seen = written.expressions if written is not None and written is not within else []
        if any(cte.alias.lower() == name for cte in seen):
            return True
        within, above = above, above.parent
    return False
