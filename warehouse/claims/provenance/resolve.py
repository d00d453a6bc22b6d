"""From syntax to query blocks, bottom-up: every FROM item, CTE and UNION branch becomes a relation, in that order.

`Resolver.relations` lists them so that each comes after all it reads. It decides names, groups and subqueries; it
writes tokens beside base tables, and no other evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlglot
from sqlglot import exp

from warehouse.claims.provenance.blocks import SelectBlock, UnionBlock
from warehouse.claims.provenance.refusals import refuse
from warehouse.claims.provenance.relations import (
    BaseSource,
    ComputedSource,
    Relation,
    RelationSource,
    Scope,
    Source,
    position_of,
)
from warehouse.claims.provenance.scope import find_column, resolve
from warehouse.claims.provenance.selecting import block_parts
from warehouse.claims.provenance.values import Occurrence, column, identifier, named, select, token_name

Ctes = Mapping[str, Relation]


class Resolver:
    """One query's resolution: the catalogue it binds against and what it has found so far."""

    def __init__(self, catalog: Mapping[str, Sequence[str]], tokens: Mapping[str, str]) -> None:
        self.catalog, self.tokens = catalog, tokens
        self.occurrences: list[Occurrence] = []
        self.relations: list[Relation] = []
        self.witness_count = 0

    def query(self, node: exp.Expression, ctes: Ctes, outer: Scope | None, is_named: bool = True) -> Relation:
        """The relation of any query; `is_named` means that consumers read its columns by name."""
        while isinstance(node, exp.Subquery):
            node = node.this
        visible = dict(ctes)
        for cte in _ctes_of(node):
            visible[cte.alias.lower()] = self._cte(cte, visible)
        if isinstance(node, exp.Union):
            relation = self._union(node, visible, outer)
        elif isinstance(node, exp.Select):
            relation = self._select(node, visible, outer, is_named)
        else:
            refuse("E_NODE", node, f"no rule for {type(node).__name__}")
        self.relations.append(relation)
        return relation

    def _cte(self, cte: exp.CTE, visible: Ctes) -> Relation:
        if cte.args["alias"].columns:
            refuse("E_ALIAS_COLUMNS", cte.args["alias"], "a column list behind a CTE's name")
        relation = self.query(cte.this, visible, None)
        relation.holder = cte
        return relation

    # --- unions and DISTINCT -------------------------------------------------------------------------------------

    def _union(self, node: exp.Union, ctes: Ctes, outer: Scope | None) -> Relation:
        if node.args.get("distinct"):
            return self._grouped_by_all(node, ctes, outer)
        return self._union_all(node, ctes, outer)

    def _union_all(self, node: exp.Union, ctes: Ctes, outer: Scope | None) -> UnionBlock:
        by_name = bool(node.args.get("by_name"))
        chain = _chain(node)
        # By position only the first branch gives the names.
        branches = [self.query(branch, ctes, outer, by_name or i == 0) for i, branch in enumerate(chain)]
        if not by_name and len({len(branch.columns) for branch in branches}) > 1:
            refuse("E_RESOLVE", node, "the branches have different numbers of columns")
        union = UnionBlock(node, branches, by_name)
        _check_order(node.args.get("order"), union.columns)
        return union

    def _grouped_by_all(self, node: exp.Select | exp.Union, ctes: Ctes, outer: Scope | None) -> SelectBlock:
        """DISTINCT as GROUP BY every column, around the same query without it: all duplicates are evidence."""
        tail = {name: node.args.get(name) for name in ("with_", "order", "limit")}
        for name in ("distinct", *tail):
            node.set(name, None)
        if isinstance(node, exp.Union):
            inner: Relation = self._union_all(node, ctes, outer)
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
        return SelectBlock(around, scope, *block_parts(self, around, scope, ctes, True))

    # --- select --------------------------------------------------------------------------------------------------

    def _select(self, node: exp.Select, ctes: Ctes, outer: Scope | None, is_named: bool) -> SelectBlock:
        if node.args.get("distinct"):
            return self._grouped_by_all(node, ctes, outer)
        return self._plain_select(node, ctes, outer, is_named)

    def _plain_select(self, node: exp.Select, ctes: Ctes, outer: Scope | None, is_named: bool) -> SelectBlock:
        scope = self._scope(node, ctes, outer)
        return SelectBlock(node, scope, *block_parts(self, node, scope, ctes, is_named))

    def _scope(self, node: exp.Select, ctes: Ctes, outer: Scope | None) -> Scope:
        scope = Scope(outer=outer)
        origin = node.args.get("from_")
        if origin is not None:
            self._add_source(origin.this, ctes, scope)
        for join in node.args.get("joins") or []:
            self._add_source(join.this, ctes, scope, join)
        return scope

    def _add_source(self, node: exp.Expression, ctes: Ctes, scope: Scope, join: exp.Join | None = None) -> None:
        source = self._source(node, ctes, scope)
        key = source.alias.lower()
        if key in scope.sources:
            refuse("E_RESOLVE", node, f"two FROM items are called {source.alias}")
        if join is not None:
            for using in join.args.get("using") or []:
                _merge_using(using, join, source, scope)
        scope.sources[key] = source
        if isinstance(node, exp.Table) and node.db:
            scope.databases[key] = node.db.lower()
        if join is not None and join.args.get("on") is not None:
            resolve(join.args["on"], scope)  # an unknown column is refused here, not by DuckDB later

    def _source(self, node: exp.Expression, ctes: Ctes, scope: Scope) -> Source:
        if isinstance(node, exp.Subquery):
            return self._derived(node, ctes)
        if isinstance(node, (exp.Values, exp.Unnest)):
            return _computed(node, scope)
        if isinstance(node, exp.Table):
            if isinstance(node.this, exp.Func):
                return _computed(node, scope)
            return self._table(node, ctes)
        refuse("E_NODE", node, f"no rule for {type(node).__name__} in FROM")

    def _derived(self, node: exp.Subquery, ctes: Ctes) -> RelationSource:
        if not node.alias:
            node.set("alias", exp.TableAlias(this=identifier(f"__derived_{len(self.relations)}")))
        if node.args["alias"].columns:
            refuse("E_ALIAS_COLUMNS", node.args["alias"], "a column list behind a derived table")
        relation = self.query(node.this, ctes, None)
        relation.holder = node
        return RelationSource(node.alias, relation.columns, relation)

    def _table(self, node: exp.Table, ctes: Ctes) -> Source:
        if node.args.get("alias") is not None and node.args["alias"].columns:
            refuse("E_ALIAS_COLUMNS", node, "a column list behind a table")
        relation = ctes.get(node.name.lower()) if not node.db else None
        if relation is not None:
            return RelationSource(node.alias_or_name, relation.columns, relation)
        return self._base_table(node)

    def _base_table(self, node: exp.Table) -> BaseSource:
        table = ".".join(part.name.lower() for part in node.parts)
        if table not in self.catalog:
            refuse("E_RESOLVE", node, f"no table {table}")
        if table not in self.tokens:
            refuse("E_UNTRACKED", node, f"table {table} has no token")
        occurrence = Occurrence(len(self.occurrences), table)
        self.occurrences.append(occurrence)
        alias = node.alias_or_name
        node.replace(self._with_token(node, alias, occurrence))
        return BaseSource(alias, tuple(self.catalog[table]), occurrence.number)

    def _with_token(self, node: exp.Table, alias: str, occurrence: Occurrence) -> exp.Subquery:
        """`(select columns, <token> from table as alias) as alias`: an outer join makes the token NULL with the row."""
        template = self.tokens[occurrence.table].replace("{alias}", identifier(alias).sql("duckdb"))
        token = sqlglot.parse_one(template, dialect="duckdb")
        table = node.copy()
        table.set("alias", exp.TableAlias(this=identifier(alias)))
        data = [column(alias, name) for name in self.catalog[occurrence.table]]
        body = select([*data, named(token, token_name(occurrence.number))], table)
        return exp.Subquery(this=body, alias=exp.TableAlias(this=identifier(alias)))


def _ctes_of(node: exp.Expression) -> list[exp.CTE]:
    written = node.args.get("with_")
    return written.expressions if written is not None else []


def _chain(node: exp.Union) -> list[exp.Expression]:
    """The branches of a left-deep chain of equal UNION ALLs, without recursion: generated SQL has hundreds."""
    branches: list[exp.Expression] = [node.expression]
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


def _computed(node: exp.Expression, scope: Scope) -> ComputedSource:
    """VALUES and table functions: their columns are named by an alias list."""
    alias = node.args.get("alias")
    if alias is None or not alias.columns:
        refuse("E_NOALIAS", node, "name the columns, as in unnest(x) as u(item)")
    written = node.this if isinstance(node, exp.Table) else node
    arguments = [
        resolve(argument, scope)
        for key, value in written.args.items()
        if key != "alias"
        for argument in (value if isinstance(value, list) else [value])
        if isinstance(argument, exp.Expression)
    ]
    if any(argument.find(exp.Query) for argument in arguments):
        refuse("E_SUBQUERY_PLACE", node, "a subquery inside a table function or VALUES")
    return ComputedSource(alias.name, tuple(c.name for c in alias.columns), tuple(arguments))


def _merge_using(using: exp.Expression, join: exp.Join, right: Source, scope: Scope) -> None:
    """One USING column: its value is the left side's, the right side's (RIGHT JOIN) or the first not NULL (FULL)."""
    name = using.name.lower()
    left = scope.merged.get(name) or find_column([name], scope)
    position = position_of(right.columns, name)
    if left is None or position is None:
        refuse("E_RESOLVE", join, f"USING column {name} is missing on one side")
    other = column(right.alias.lower(), name)
    side = (join.side or "").upper()
    if side == "RIGHT":
        scope.merged[name] = other
    elif side == "FULL":
        scope.merged[name] = exp.Coalesce(this=left.copy(), expressions=[other])
    else:
        scope.merged[name] = left
