"""What a query block knows about the rows it reads and the rows it yields: sources, relations, witnesses.

Relations are built bottom-up and annotated top-down: a consumer demands the cells of a column, and only demanded
columns are written into the SQL. Nothing here reads syntax; `blocks` and `resolve` do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from warehouse.trace.provenance.values import (
    NUMBER,
    Evidence,
    Kind,
    Lookup,
    Occurrence,
    Term,
    as_list,
    cell_name,
    column,
    held,
    merge,
    row_cell,
    token_name,
    why_name,
)


class Readable(ABC):
    """What a reader of rows sees: their columns, and the occurrences of their why-sets."""

    columns: tuple[str, ...]
    whys: dict[int, Kind]

    def __init__(self) -> None:
        self._support: dict[int, tuple[int, ...]] = {}
        self.demanded: set[int] = set()
        self.lookups: dict[int, Lookup] = {}  # of occurrences whose evidence is a mark or numbers: where it is found
        self.cell_sets: set[tuple[int, int]] = set()  # column position, occurrence: lists known to repeat nothing

    def support(self, position: int) -> tuple[int, ...]:
        """The occurrences that a column's cells can come from. Found when it is asked for: most columns never are."""
        if position not in self._support:
            self._support[position] = tuple(self._find_support(position))
        return self._support[position]

    @abstractmethod
    def _find_support(self, position: int) -> Iterable[int]:
        """The same, worked out from what its rows are read from."""

    def rests_on(self, position: int) -> Iterable[tuple["Readable", int]]:
        """The columns of other relations that a column is computed from, as far as that is plain."""
        return ()

    def extras(self) -> list[tuple[str, int, int | None]]:
        """Name, occurrence and column position (None for why) of every extra output column, in order."""
        names: list[tuple[str, int, int | None]] = [(why_name(n), n, None) for n in self.whys]
        for position in sorted(self.demanded):
            names += [(cell_name(position, n), n, position) for n in self.support(position)]
        return names

    def why_terms(self, alias: str) -> Evidence:
        """The why-set of one row, as read by a consumer that calls the relation `alias`."""
        terms: Evidence = {}
        for number, kind in self.whys.items():
            read = column(alias, why_name(number))
            terms[number] = [Term(read, kind, present=read if kind.is_row else None, lookup=self.lookups.get(number))]
        return terms

    def cell_terms(self, alias: str, position: int) -> Evidence:
        """The cells of one column of one row. The column must be demanded before the relation is annotated."""
        return {
            n: [Term(column(alias, cell_name(position, n)), Kind.SET if (position, n) in self.cell_sets else Kind.LIST)]
            for n in self.support(position)
        }


class Relation(Readable):
    """A query block, and the node that holds its syntax."""

    def __init__(self) -> None:
        super().__init__()
        self.holder: exp.Expr | None = None
        self.is_numberable = False  # a CTE that all of the query can read
        self.is_numbered = False  # with a number beside each row, by which its lists are looked up
        self.readers = 0  # of a CTE, or of subqueries that are alike: in how many places it is read

    def keep_only(self, position: int, condition: str) -> bool:
        """Leave out, where that is quicker, rows for whose column a condition (a template with `{value}`) is not true. Whether
        all such rows are."""
        return False

    @property
    def is_one_row(self) -> bool:
        """Whether it is sure to yield one row."""
        return False

    @abstractmethod
    def annotate(self) -> exp.Expr:
        """The block's syntax with why columns and the demanded cell columns appended."""


class Source(ABC):
    """One item of FROM."""

    alias: str
    columns: tuple[str, ...]

    @abstractmethod
    def why(self) -> Evidence:
        """The rows of base tables behind one row of the source."""

    @abstractmethod
    def cells(self, position: int) -> Evidence:
        """The cells behind one column of one row."""

    def demand(self, position: int) -> None:
        """Ask that the cells of a column be written out. Base tables always have theirs."""


@dataclass(frozen=True)
class BaseSource(Source):
    """A base table, read through a projection that adds its token: an outer join makes that NULL, too."""

    alias: str
    columns: tuple[str, ...]
    occurrence: int
    stored: tuple[str, ...]  # the table's own column names: a list behind the alias renames only what the query sees
    kind: Kind = Kind.ROW  # OWN where no two rows of the table have one token
    token_key: exp.Expr | None = None  # the column that the token is, if it is one

    def why(self) -> Evidence:
        token = self._token()
        return {self.occurrence: [Term(token, self.kind, present=token)]}

    def cells(self, position: int) -> Evidence:
        return {self.occurrence: [row_cell(self.stored[position], self._token(), self.kind)]}

    def _token(self) -> exp.Column:
        return column(self.alias, token_name(self.occurrence))


@dataclass(frozen=True)
class RelationSource(Source):
    """A derived table or a reference to a CTE."""

    alias: str
    columns: tuple[str, ...]
    relation: Readable
    cte: str | None = None  # where its lists are looked up by the numbers of its rows

    def why(self) -> Evidence:
        return self._by_number(self.relation.why_terms)

    def cells(self, position: int) -> Evidence:
        return self._by_number(lambda alias: self.relation.cell_terms(alias, position))

    def _by_number(self, read: Callable[[str], Evidence]) -> Evidence:
        if self.cte is None:
            return read(self.alias)
        number, lists = column(self.alias, NUMBER), read(held(self.cte))
        return {
            n: [
                term if term.kind.is_row or term.is_mark
                else Term(number, Kind.ROW, present=number, lookup=Lookup(self.cte, as_list([there]), is_everywhere=True))
                for term, there in zip(terms, lists[n], strict=True)
            ]
            for n, terms in read(self.alias).items()
        }

    @property
    def is_one_row(self) -> bool:
        return isinstance(self.relation, Relation) and self.relation.is_one_row

    def numbered(self) -> "RelationSource":
        """The same, with the numbers of its rows in place of their lists; as it is where it has none, or they cannot be looked up."""
        relation = self.relation
        if not isinstance(relation, Relation) or not relation.is_numberable or relation.holder is None:
            return self
        if all(kind.is_row for kind in relation.whys.values()):
            return self
        relation.is_numbered = True
        return replace(self, cte=relation.holder.alias)

    def demand(self, position: int) -> None:
        self.relation.demanded.add(position)


@dataclass(frozen=True)
class ComputedSource(Source):
    """VALUES, range(), generate_series() or unnest(): rows without a token, made of the arguments' cells; and a table without rows."""

    alias: str
    columns: tuple[str, ...]
    arguments: tuple[exp.Expr, ...] = ()  # resolved; empty for literals and tables

    def why(self) -> Evidence:
        return {}

    def cells(self, position: int) -> Evidence:
        return {}  # the rule for columns follows `arguments` instead


@dataclass(frozen=True)
class Witness:
    """A subquery of an expression: the annotated copy whose rows are the evidence of the original's answer."""

    alias: str
    relation: Relation
    form: str  # 'scalar', 'exists', 'in', or 'compared' (with ANY or ALL of its rows)
    is_row_level: bool  # its rows depend on the outer row
    is_correlated: bool
    probes: tuple[exp.Expr, ...] = ()  # left side of IN, resolved; several for a tuple
    answered: exp.Expr | None = None  # the analyst's expression in whose place the witness gives the answer, too
    # For a subquery that depends on nothing around it, and reads no CTEs but those of the whole query: the WITH of that, where all can read
    # it, and the last of the CTEs that it reads.
    home: exp.With | None = None
    after: exp.CTE | None = None
    cte: str = ""  # that has its rows, for subqueries that are alike one

    @property
    def is_numbered(self) -> bool:
        """Whether a row of the block knows its matches by the number of their key."""
        return self.form == "in" and not self.is_correlated

    def why(self) -> Evidence:
        return {n: [self._read(why_name(n), Kind.SET)] for n in self.relation.whys}

    def cells(self) -> Evidence:
        return {n: [self._read(cell_name(0, n), Kind.LIST)] for n in self.relation.support(0)}

    def _read(self, name: str, kind: Kind) -> Term:
        lookup = Lookup(self.cte, column(held(self.cte), name), self.home is not None)
        if self.is_numbered:
            number = column(self.alias, NUMBER)
            return Term(number, Kind.ROW, present=number, lookup=lookup)
        if self.is_row_level:
            return Term(column(self.alias, name), kind)
        return Term(self.read(name), Kind.CONSTANT, lookup=lookup)

    def read(self, name: str) -> exp.Expr:
        """One of the witness's columns, in the block that has it."""
        if self.is_row_level:
            return column(self.alias, name)
        source = exp.Table(this=exp.Identifier(this=self.cte, quoted=True))
        return exp.Subquery(this=exp.Select(expressions=[column(self.cte, name)], from_=exp.From(this=source)))


@dataclass(frozen=True)
class Item:
    """One output column of a select: its name, and the resolved copy of its expression that evidence reads."""

    name: str
    resolved: exp.Expr


@dataclass
class Scope:
    """The names a block can see: its sources, its merged USING columns, and the scope around it."""

    sources: dict[str, Source] = field(default_factory=dict)
    merged: dict[str, exp.Expr] = field(default_factory=dict)  # USING column -> what its value is
    merged_from: dict[str, set[str]] = field(default_factory=dict)  # USING column -> aliases of the sources it unites
    outer: "Scope | None" = None
    reads_outer: bool = False
    databases: dict[str, str] = field(default_factory=dict)  # alias -> schema it was read from, for schema.table.column

    def owner_of(self, alias: str) -> "Scope | None":
        """The innermost scope, from here outwards, that has a source of this alias."""
        scope: Scope | None = self
        while scope is not None and alias not in scope.sources:
            scope = scope.outer
        return scope

    def of_row(self, evidence: Evidence) -> Evidence:
        """The evidence of one source as a row of this block has it: joined rows repeat what they are joined of."""
        return evidence if len(self.sources) == 1 else repeated(evidence)

    def has_column_called(self, name: str) -> bool:
        return any(position_of(source.columns, name) is not None for source in self.sources.values())

    def star_columns(self) -> list[exp.Column]:
        """What `*` expands to: every column in order, merged ones once and unqualified."""
        found: list[exp.Column] = []
        seen: set[str] = set()
        for source in self.sources.values():
            for name in source.columns:
                if source.alias.lower() not in self.merged_from.get(name.lower(), ()):
                    found.append(column(source.alias, name))
                elif name.lower() not in seen:
                    seen.add(name.lower())
                    found.append(exp.Column(this=exp.Identifier(this=name, quoted=True)))
        return found


class Block(Relation):
    """What the rules of evidence know of one SELECT (`blocks.SelectBlock`)."""

    node: exp.Select
    scope: Scope
    items: Sequence[Item]
    group_keys: Sequence[exp.Expr]
    windows: Sequence[exp.Window]
    witnesses: dict[int, Witness]  # of its subqueries
    is_aggregated: bool
    has_grouping_sets: bool
    is_ungrouped: bool  # written with one row for each row of a group
    is_by_row: bool  # each of its rows comes from one row of FROM: it is ungrouped, or was not grouped
    is_annotating: bool  # demands are recorded only while the block itself is written out

    @cached_property
    def row_why(self) -> Evidence:
        """The rows behind one row of FROM and WHERE."""
        sources = [self.scope.of_row(source.why()) for source in self.scope.sources.values()]
        return merge([*sources, *(w.why() for w in self.witnesses.values() if w.is_row_level)])

    def witness_of(self, node: exp.Expr) -> Witness | None:
        return self.witnesses.get(node.meta.get("witness", -1))


Ctes = Mapping[str, RelationSource]


class Resolution(ABC):
    """What the parts of a query's resolution need of the whole (`resolve.Resolver`)."""

    unique: Collection[str]
    relations: list[Relation]
    constants: exp.With  # the CTEs of the whole query, and the witnesses that all of it can read
    alike: dict[tuple[str, str], Witness]  # of subqueries that read CTEs alone, by what they have in common: they share one CTE
    witness_count: int

    @abstractmethod
    def query(self, node: exp.Expr, ctes: Ctes, outer: Scope | None, is_named: bool = True) -> Relation:
        """The relation of any query; `is_named` means that consumers read its columns by name."""

    @abstractmethod
    def occurrence(self, node: exp.Table) -> tuple[Occurrence, exp.Subquery | None]:
        """The number of a base table's appearance, and what takes its place: the table with its token beside it, or None for a table
        without rows, which has no token."""

    @abstractmethod
    def columns_of(self, table: str, is_renamed: bool) -> tuple[str, ...]:
        """The columns of a base table that may be read; all of them behind an alias list, which counts them."""


def repeated(evidence: Evidence) -> Evidence:
    """Evidence of which several rows may have the same."""
    return {
        n: [replace(term, kind=term.kind.repeated) for term in terms]
        for n, terms in evidence.items()
    }


def position_of(columns: Sequence[str], name: str) -> int | None:
    """The place of a column; DuckDB's names ignore case, quoted or not."""
    lowered = name.lower()
    return next((i for i, known in enumerate(columns) if known.lower() == lowered), None)
