"""From syntax to query blocks, bottom-up: every FROM item, CTE and UNION branch becomes a relation, in that order.

`Resolver.relations` lists them so that each comes after all it reads. It decides names, groups and subqueries; it
writes tokens beside base tables, and no other evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import sqlglot
from sqlglot import exp

from warehouse.trace.provenance.blocks import SelectBlock
from warehouse.trace.provenance.recursion import RecursiveBlock, SelfReference, check_recursion, is_recursive
from warehouse.trace.provenance.relations import Ctes, Item, Relation, RelationSource, Resolution, Scope, Witness, position_of
from warehouse.trace.provenance.scope import resolve
from warehouse.trace.provenance.selecting import (
    aggregates,
    block_windows,
    group_keys,
    inline_windows,
    name_items,
    resolve_items,
    strip_schemas,
)
from warehouse.trace.provenance.sources import block_scope, number_rows, renamed
from warehouse.trace.provenance.syntax.engine import words_of
from warehouse.trace.provenance.syntax.pivots import places_of, write_pivot, write_unpivot
from warehouse.trace.provenance.syntax.refusals import refuse
from warehouse.trace.provenance.syntax.stars import expand_stars
from warehouse.trace.provenance.unions import UnionBlock, branch_condition
from warehouse.trace.provenance.values import Occurrence, column, copied, identifier, named, select, token_name
from warehouse.trace.provenance.witnesses import find_witnesses

_ALIAS = "__alias"
Parts = tuple[list[Item], list[exp.Expr], bool, list[exp.Window], dict[int, Witness]]


class Resolver(Resolution):
    """One query's resolution: the catalogue it binds against and what it has found so far."""

    def __init__(
        self,
        catalog: Mapping[str, Sequence[str]],
        tokens: Mapping[str, str | None],
        unique: Collection[str],
        words: frozenset[str],
        names_all: bool,
        constants: exp.With,
    ) -> None:
        self.catalog, self.tokens, self.unique = catalog, tokens, unique
        self.words, self.names_all = words, names_all  # that the analyst wrote; whether every column read is among them
        self.occurrences: list[Occurrence] = []
        self.tables: dict[int, exp.Subquery] = {}  # occurrence number -> the projection with its token
        self.relations: list[Relation] = []
        self.read_columns: dict[str, tuple[str, ...]] = {}
        self.templates: dict[str, exp.Expr] = {}
        self.witness_count = 0
        self.constants = constants  # the CTEs of the whole query, and the witnesses that all of it can read
        self.names = [cte.alias.lower() for cte in constants.root().find_all(exp.CTE)]  # a name that is there twice hides what it means elsewhere
        self.alike: dict[tuple[str, str], Witness] = {}

    def query(self, node: exp.Expr, ctes: Ctes, outer: Scope | None, is_named: bool = True) -> Relation:
        """The relation of any query; `is_named` means that consumers read its columns by name."""
        while isinstance(node, exp.Subquery):
            if node.args.get("joins") or node.args.get("pivots"):
                refuse("E_PAREN", node, "a join or PIVOT behind a query that is not in FROM")
            node = node.this
        visible = dict(ctes)
        for cte in _ctes_of(node):
            visible[cte.alias.lower()] = self._cte(cte, visible)
        if isinstance(node, exp.SetOperation):
            relation = self._set_operation(node, visible, outer)
        elif isinstance(node, exp.Pivot):
            relation = self._pivot(node, visible, outer)
        elif isinstance(node, exp.Select):
            relation = self._select(node, visible, outer, is_named)
        else:
            refuse("E_NODE", node, f"no rule for {type(node).__name__}")
        self.relations.append(relation)
        return relation

    def _cte(self, cte: exp.CTE, visible: Ctes) -> RelationSource:
        if is_recursive(cte):
            return self._recursive_cte(cte, visible)
        relation = self.query(cte.this, visible, None)
        relation.holder = cte
        relation.is_numberable = cte.parent is self.constants and self.names.count(cte.alias.lower()) == 1
        return RelationSource(cte.alias, renamed(relation.columns, cte.args["alias"].columns, cte), relation)

    def _recursive_cte(self, cte: exp.CTE, visible: Ctes) -> RelationSource:
        """The step reads the evidence of its own rows, so its occurrences are counted on a copy first."""
        union, renames = check_recursion(cte), cte.args["alias"].columns
        anchor = self.query(union.this, visible, None, is_named=not renames)
        columns = renamed(anchor.columns, renames, cte)
        probe = Resolver(self.catalog, self.tokens, self.unique, self.words, self.names_all, exp.With(expressions=[]))
        probe.occurrences = list(self.occurrences)
        before = RelationSource(cte.alias, columns, SelfReference(columns, list(anchor.whys)))
        probe.query(copied(union.expression), {**visible, cte.alias.lower(): before}, None, is_named=False)
        numbers = [*anchor.whys, *(n for n in range(len(self.occurrences), len(probe.occurrences)) if n in probe.tables)]
        reference = SelfReference(columns, numbers)
        known = {**visible, cte.alias.lower(): RelationSource(cte.alias, columns, reference)}
        step = self.query(union.expression, known, None, is_named=False)
        if len(step.columns) != len(columns):
            refuse("E_RESOLVE", union, "the branches have different numbers of columns")
        relation = RecursiveBlock(union, anchor, step, reference, self.tables)
        self.relations.append(relation)
        relation.holder = cte
        return RelationSource(cte.alias, columns, relation)

    # --- set operations and DISTINCT -----------------------------------------------------------------------------

    def _set_operation(self, node: exp.SetOperation, ctes: Ctes, outer: Scope | None) -> Relation:
        if node.args.get("distinct"):
            return self._grouped_by_all(node, ctes, outer)
        return self._union(node, ctes, outer)

    def _union(self, node: exp.SetOperation, ctes: Ctes, outer: Scope | None) -> UnionBlock:
        by_name, is_union = bool(node.args.get("by_name")), isinstance(node, exp.Union)
        chain = _chain(node) if isinstance(node, exp.Union) else [node.this, node.expression]
        # By position only the first branch gives the names.
        branches = [self.query(branch, ctes, outer, by_name or i == 0) for i, branch in enumerate(chain)]
        if not by_name and len({len(branch.columns) for branch in branches}) > 1:
            refuse("E_RESOLVE", node, "the branches have different numbers of columns")
        union = UnionBlock(node, branches, by_name, tells_branch=not is_union)
        _check_order(node.args.get("order"), union.columns)
        return union

    def _grouped_by_all(self, node: exp.Select | exp.SetOperation, ctes: Ctes, outer: Scope | None) -> SelectBlock:
        """DISTINCT and distinct set operations as GROUP BY every column, around the same query without it.

        All duplicates are evidence, of every operand that the row is in.
        """
        tail = {name: node.args.get(name) for name in ("with_", "order", "limit")}
        for name in ("distinct", *tail):
            node.set(name, None)
        if isinstance(node, exp.SetOperation):
            inner: Relation = self._union(node, ctes, outer)
        else:
            inner = self._plain_select(node, ctes, outer, True)
        self.relations.append(inner)
        inner.holder = exp.Subquery(this=exp.Select(), alias=exp.TableAlias(this=identifier("__all")))
        around = select([named(column("__all", name), name) for name in inner.columns], inner.holder)
        around.set("group", exp.Group(expressions=[column("__all", name) for name in inner.columns]))
        for name, clause in tail.items():
            around.set(name, clause)
        _check_order(tail["order"], inner.columns)
        scope = Scope(sources={"__all": RelationSource("__all", inner.columns, inner)}, outer=outer)
        block = SelectBlock(around, scope, *block_parts(self, around, scope, ctes, True))
        if isinstance(node, (exp.Intersect, exp.Except)):
            around.set("having", exp.Having(this=branch_condition(node, "__all")))
        return block

    # --- select --------------------------------------------------------------------------------------------------

    def _select(self, node: exp.Select, ctes: Ctes, outer: Scope | None, is_named: bool) -> SelectBlock:
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on") is None:
            return self._grouped_by_all(node, ctes, outer)
        return self._plain_select(node, ctes, outer, is_named)

    def _plain_select(self, node: exp.Select, ctes: Ctes, outer: Scope | None, is_named: bool) -> SelectBlock:
        scope = block_scope(self, node, ctes, outer)
        return SelectBlock(node, scope, *block_parts(self, node, scope, ctes, is_named))

    def _pivot(self, node: exp.Pivot, ctes: Ctes, outer: Scope | None) -> SelectBlock:
        body = exp.Select(from_=exp.From(this=node.this), with_=node.args.get("with_"))
        if node.args.get("unpivot"):
            body.set("joins", [places_of(node)])
        scope = block_scope(self, body, ctes, outer)
        if node.args.get("unpivot"):
            write_unpivot(body, node, scope.star_columns())
        else:
            write_pivot(body, node, scope.star_columns(), self.words)
        return SelectBlock(body, scope, *block_parts(self, body, scope, ctes, True))

    # --- base tables ---------------------------------------------------------------------------------------------

    def occurrence(self, node: exp.Table) -> tuple[Occurrence, exp.Subquery | None]:
        """The number of a base table's appearance, and what takes its place: the table with its token beside it, or None for a table
        without rows, which has no token."""
        table = ".".join(part.name.lower() for part in node.parts)
        if table not in self.catalog:
            refuse("E_RESOLVE", node, f"no table {table}")
        if table not in self.tokens:
            refuse("E_UNTRACKED", node, f"table {table} has no token")
        occurrence = Occurrence(len(self.occurrences), table)
        self.occurrences.append(occurrence)
        template = self.tokens[table]
        if template is None:
            return occurrence, None
        self.tables[occurrence.number] = self._with_token(node, node.alias_or_name, occurrence, template)
        return occurrence, self.tables[occurrence.number]

    def _with_token(self, node: exp.Table, alias: str, occurrence: Occurrence, template: str) -> exp.Subquery:
        """`(select columns, <token> from table as alias) as alias`: an outer join makes the token NULL with the row."""
        token = copied(self._template(template))
        for part in list(token.find_all(exp.Identifier)):
            if part.name == _ALIAS:
                part.replace(identifier(alias))
        table = copied(node)
        table.set("alias", exp.TableAlias(this=identifier(alias)))
        renames = node.args["alias"].columns if node.args.get("alias") is not None else []
        data = [column(alias, name) for name in self.columns_of(occurrence.table, bool(renames))]
        body = select([*data, named(token, token_name(occurrence.number))], table)
        seen = exp.TableAlias(this=identifier(alias), columns=[copied(name) for name in renames])
        return exp.Subquery(this=body, alias=seen)

    def columns_of(self, table: str, is_renamed: bool) -> tuple[str, ...]:
        """The columns of a base table that may be read; all of them behind an alias list, which counts them. DuckDB carries
        every column through the join of a LATERAL, read or not: that was most of the time of TPC-H's Q17."""
        if is_renamed or not self.names_all:
            return tuple(self.catalog[table])
        if table not in self.read_columns:
            self.read_columns[table] = tuple(name for name in self.catalog[table] if words_of(name) <= self.words)
        return self.read_columns[table]

    def _template(self, text: str) -> exp.Expr:
        """A token's SQL template as a tree, in which the alias is called `_ALIAS`."""
        if text not in self.templates:
            tree = sqlglot.parse_one(text.replace("{alias}", _ALIAS), dialect="duckdb")
            for part in tree.walk():
                part.meta.clear()  # its places are those of the template, not of the analyst's SQL
            self.templates[text] = tree
        return self.templates[text]


def block_parts(resolver: Resolver, node: exp.Select, scope: Scope, ctes: Ctes, is_named: bool) -> Parts:
    """Items, group keys, whether the block aggregates, windows and witnesses, in the order `SelectBlock` takes."""
    expand_stars(node, scope)
    strip_schemas(node, scope)
    name_items(node, is_named, resolver.words)
    inline_windows(node)
    is_aggregated = aggregates(node)
    number_rows(scope, is_aggregated)
    witnesses = find_witnesses(resolver, node, scope, ctes, is_aggregated)
    items, aliases = resolve_items(node, scope)
    for clause in ("where", "having", "qualify"):
        if node.args.get(clause) is not None:
            resolve(node.args[clause].this, scope, aliases)
    keys = group_keys(node, scope, items, aliases)
    return items, keys, is_aggregated, block_windows(node, scope, items, aliases), witnesses


def _ctes_of(node: exp.Expr) -> list[exp.CTE]:
    written = node.args.get("with_")
    return written.expressions if written is not None else []


def _chain(node: exp.Union) -> list[exp.Expr]:
    """The branches of a left-deep chain of equal UNION ALLs, without recursion: generated SQL has hundreds."""
    branches: list[exp.Expr] = [node.expression]
    left = node.this
    while isinstance(left, exp.Union) and _continues(left, node):
        branches.append(left.expression)
        left = left.this
    return [left, *reversed(branches)]


def _continues(left: exp.Union, node: exp.Union) -> bool:
    same = bool(left.args.get("by_name")) == bool(node.args.get("by_name")) and not left.args.get("distinct")
    return same and not any(left.args.get(name) for name in ("with_", "order", "limit"))


def _check_order(order: exp.Order | None, columns: Sequence[str]) -> None:
    """After DISTINCT and UNION only output columns can order: by name or by position."""
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        is_column = isinstance(key, exp.Column) and not key.table and position_of(columns, key.name) is not None
        if not is_column and not (isinstance(key, exp.Literal) and not key.is_string):
            refuse("E_DISTINCT_ORDER", ordered, "not a column of the list")
