"""A model's SQL with the views it reads written out, for a view has no rows of its own to stop at; and of every character
of it, in which file it stands.

The analysts' own text is spliced, never generated anew: what a refusal quotes is what they wrote, and its place is theirs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from warehouse.claims.catalog import BuiltModel, Catalog
from warehouse.claims.provenance import Refusal
from warehouse.errors import WarehouseError
from warehouse.transform.duck import quote
from warehouse.transform.feeds import FEED_SCHEMA
from warehouse.transform.sql_text import body, fault_at, first_token


@dataclass(frozen=True)
class _Piece:
    """A stretch of text, and the model whose file has it at `offset`."""

    text: str
    model: BuiltModel
    offset: int


@dataclass(frozen=True)
class Expansion:
    """SQL in which only tables with rows are named, made of pieces of several files."""

    text: str
    pieces: tuple[_Piece, ...]

    def fault(self, refusal: Refusal) -> WarehouseError:
        """The refusal at its place in the file that has the clause: the line itself and a caret. A clause that stands in
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
    pieces = tuple(_pieces(model, catalog))
    return Expansion("".join(piece.text for piece in pieces), pieces)


def _pieces(model: BuiltModel, catalog: Catalog) -> Iterator[_Piece]:
    text, start = body(model.sql), first_token(model.sql)
    views = {name for name in model.reads if name in catalog.models and not catalog.models[name].has_rows}
    written = 0
    for begin, end, name, alias in _references(text, catalog) if views else ():
        if name not in views:
            continue
        yield _Piece(f"{text[written:begin]}(", model, start + written)
        yield from _pieces(catalog.models[name], catalog)
        yield _Piece(f"){alias}", model, start + begin)
        written = end
    yield _Piece(text[written:], model, start + written)


def _references(text: str, catalog: Catalog) -> list[tuple[int, int, str, str]]:
    """Where each table's name begins and ends, the table, and the alias that a query in its place needs."""
    import sqlglot
    from sqlglot import exp

    found = []
    for table in sqlglot.parse_one(text, dialect="duckdb").find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        has_name = table.args.get("alias") is not None or table.args.get("pivots")
        places = [part.meta for part in table.parts]
        name = catalog.resolve(".".join(filter(None, (table.db, table.name))))
        begin, end = min(place["start"] for place in places), max(place["end"] for place in places) + 1
        found.append((begin, end, name, "" if has_name else f" as {quote(table.name)}"))
    return sorted(found)
