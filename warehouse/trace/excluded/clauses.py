"""Clauses in the analyst's own words: where a part of a syntax tree is in a model's text, and what is written there.

A tree keeps the offsets of its names and numbers only; the words around them are found among the text's tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from sqlglot import exp

from warehouse.trace.catalog import BuiltModel
from warehouse.trace.excluded.tree import SOURCE
from warehouse.transform.sql.text import Token, line_and_column, tokens

_SIDES = frozenset("left right full inner cross natural asof semi anti outer positional".split())
_ENDS = frozenset("where group having window qualify order limit offset union intersect except select from".split())


@dataclass(frozen=True)
class Clause:
    """A part of a query that can leave rows out: its kind (`where`, `anti join`, ...), its text, its file and line, and where its first word is
    in the model's text: recorded SQL is one line."""

    kind: str
    text: str
    place: str
    offset: int | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Which clause it is of all in a project."""
        return self.text, self.place, self.offset


@dataclass(frozen=True)
class _Word:
    """A token and how many brackets are open around it; a bracket itself is outside."""

    token: Token
    depth: int

    @property
    def lower(self) -> str:
        return self.token.text.lower()

    @property
    def end(self) -> int:
        return self.token.offset + len(self.token.text)


@lru_cache(maxsize=32)
def _words(text: str) -> tuple[_Word, ...]:
    found, depth = [], 0
    for token in tokens(text):
        depth -= token.text in (")", "]", "}")
        found.append(_Word(token, depth))
        depth += token.text in ("(", "[", "{")
    return tuple(found)


def block_clause(block: exp.Expr) -> Clause:
    """A whole query block, to say where something is that no clause can be named for: its place, no text."""
    return Clause("block", "", _placed(block))


def clause_of(node: exp.Expr, kind: str, opening: str) -> Clause:
    """The clause that a node is, from its opening word (`where`, `having`, `limit`, ...) on."""
    return _clause(node, kind, _span(node, opening))


def join_clause(join: exp.Join, kind: str) -> Clause:
    """A join, from its first word: `left join b on ...`; of a comma only the item behind it."""
    found, extent = _span(join, "join"), _extent(join)
    if not found or extent is None or found[-1].token.offset < extent[0]:  # the word is of a join before it
        return Clause(kind, join.this.sql("duckdb"), _placed(join))
    words = _words(_model(join).sql)
    first = start = words.index(found[0])
    while start and words[start - 1].lower in _SIDES:
        start -= 1
    return _clause(join, kind, (*words[start:first], *found))


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that AND joins, in order."""
    if not isinstance(condition, exp.And):
        return [condition]
    return [*conjuncts(condition.left), *conjuncts(condition.right)]


def conjunct_clauses(where: exp.Where) -> list[Clause]:
    """Each conjunct of a WHERE by itself, in the order of `conjuncts`; the whole condition for all of them where the text does
    not part as the tree does."""
    condition, count = _span(where, "where")[1:], len(conjuncts(where.this))
    parts = _parted(condition)
    return [_clause(where, "where", part) for part in (parts if len(parts) == count else [condition] * count)]


def _parted(span: Sequence[_Word]) -> list[tuple[_Word, ...]]:
    """The words between the ANDs of one level; those of BETWEEN and within CASE are none."""
    parts: list[list[_Word]] = [[]]
    level = min((word.depth for word in span), default=0)
    betweens = cases = 0
    for word in span:
        if word.depth == level:
            cases += (word.lower == "case") - (word.lower == "end")
            betweens += word.lower == "between" and not cases
            if word.lower == "and" and not cases:
                if not betweens:
                    parts.append([])
                    continue
                betweens -= 1
        parts[-1].append(word)
    return [tuple(part) for part in parts]


def _span(node: exp.Expr, opening: str) -> tuple[_Word, ...]:
    """The words of a clause: from the last opening word before what is in it to where the next clause or bracket ends it. None
    where the tree knows no place in it."""
    found = _extent(node)
    if found is None:
        return ()
    low, high = found
    words = _words(_model(node).sql)
    before = [i for i, word in enumerate(words) if word.lower == opening and word.token.kind == "word" and word.token.offset < low]
    if not before:
        return ()
    start = before[-1]
    depth = words[start].depth
    for end in range(start + 1, len(words)):
        word, after = words[end], words[end + 1].lower if end + 1 < len(words) else ""
        is_join = opening == "join" and (word.lower in ("join", ",") or (word.lower in _SIDES and after != "("))
        if opening == "distinct" and word.token.offset > high:  # the bracket of its ON; the select list follows
            return words[start : end + 1]
        is_end = word.depth < depth or (word.depth == depth and (word.lower in _ENDS or word.lower == ";" or is_join))
        if word.token.offset > high and is_end:
            return words[start:end]
    return words[start:]


def _extent(node: exp.Expr) -> tuple[int, int] | None:
    """The first and last offset that the tree knows of a node; parts in another text are left out."""
    places = [
        part.meta["start"]
        for part in node.walk(prune=lambda n: n is not node and SOURCE in n.meta)
        if "start" in part.meta and (part is node or SOURCE not in part.meta)
    ]
    return (min(places), max(places)) if places else None


def _model(node: exp.Expr) -> BuiltModel:
    """The model whose text contains a node."""
    holder = next(above for above in (node, *_ancestors(node)) if SOURCE in above.meta)
    model: BuiltModel = holder.meta[SOURCE]
    return model


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _clause(node: exp.Expr, kind: str, words: Sequence[_Word]) -> Clause:
    if not words:
        written = node.this if isinstance(node, exp.Where) else node
        return Clause(kind, written.sql("duckdb"), _placed(node))
    text = words[0].token.text
    for before, word in pairwise(words):
        text += word.token.text if before.end == word.token.offset else f" {word.token.text}"
    first = words[0].token.offset
    return Clause(kind, text, _placed(node, first), first)


def _placed(node: exp.Expr, offset: int | None = None) -> str:
    """The file and line of an offset; without one of the first place that the tree knows of a node."""
    model, extent = _model(node), _extent(node)
    if offset is None and extent is None:
        return model.place
    first = extent[0] if offset is None and extent else offset or 0
    return f"{model.place}:{line_and_column(model.sql, first)[0]}"
