"""What the clauses of a query read: one that reads what a claimed number is computed from picks runs by their value, and no reason excuses that; one
that reads times alone is a window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from warehouse.claims.gate.evidence import TIME, VALUE
from warehouse.trace.excluded.clauses import Clause, clause_of, conjunct_clauses, conjuncts, join_clause
from warehouse.trace.excluded.tree import expanded
from warehouse.transform.project.claim import Claim

if TYPE_CHECKING:
    from warehouse.trace.catalog import BuiltModel, Catalog

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL")
_TIMES = ("TIMESTAMP", "DATE", "TIME")
_ROWS = "*"  # among the columns of a table: which rows it has depends on the value
_SAME = (exp.Cast, exp.TryCast, exp.Paren, exp.Avg, exp.Min, exp.Max, exp.Median, exp.AnyValue, exp.Order, exp.Round)  # of one column: that column
Tables = dict[str, set[str]]  # by table, its columns that have the value


def clause_reads(catalog: "Catalog", query: str, claim: Claim) -> Mapping[tuple[str, str, int | None], str]:
    """By their `key` the clauses that read the value, or times alone, of the models under a query. Models that sqlglot cannot resolve have none."""
    spec = catalog.models[f"rollup.{query}"]
    under = {model.qualified for model in catalog.under(spec.qualified)} | {spec.qualified}
    texts = [_Text(model, catalog) for name, model in catalog.models.items() if name in under]
    observations = catalog.resolve(str(claim.observations))
    tables: Tables = {observations: {name for name in _columns_of(claim) if _is(catalog, observations, name, _NUMBERS)} - {*spec.grain}}
    for text in reversed(texts):
        text.find_origins(tables)
    found: dict[tuple[str, str, int | None], str] = {}
    times = {name for table in under for name in catalog.columns[table] if _is(catalog, table, name, _TIMES)}
    after: set[str] = {observations}
    for text in texts:
        columns = text.follow(tables, spec.grain)
        if after.intersection((text.model.qualified, *text.model.reads)):  # of what comes before, the value alone counts, not what else it makes
            after.add(text.model.qualified)
            tables.setdefault(text.model.qualified, set()).update(columns)
        for clause, nodes in text.clauses():
            if any(map(text.reads_value, nodes)):
                found[clause.key] = VALUE
            else:
                names = {column.name for node in nodes for column in node.find_all(exp.Column)}
                if names & times and names <= times | {*spec.grain}:
                    found[clause.key] = TIME
    return found


def _columns_of(claim: Claim) -> set[str]:
    import sqlglot

    columns = (column for number in claim.numbers.values() for column in sqlglot.parse_one(number.of, dialect="duckdb").find_all(exp.Column))
    return {column.name for column in columns if column.table in ("", "observation")}


def _is(catalog: "Catalog", table: str, column: str, kinds: tuple[str, ...]) -> bool:
    return str(catalog.types.get(table, {}).get(column, "")).upper().startswith(kinds)


class _Text:
    """One model's SQL."""

    def __init__(self, model: "BuiltModel", catalog: "Catalog") -> None:
        self.model, self._catalog = model, catalog
        self._scopes: dict[int, Scope] = {}
        self._made: dict[int, set[str]] = {}  # by scope, its columns that have the value
        self._tables: Tables = {}
        try:
            self._all: list[Scope] = traverse_scope(expanded(model, catalog, lambda inner: False))
        except SqlglotError:
            self._all = []
        self._scopes = {id(scope.expression): scope for scope in self._all}

    def find_origins(self, tables: Tables) -> None:
        """Add the columns that the model's own, in `tables`, are under another name."""
        if self._all and (names := tables.get(self.model.qualified)):
            self._origins(self._all[-1], set(names), tables)

    def _origins(self, scope: Scope, names: set[str], tables: Tables) -> None:
        for part in _parts(scope):
            self._origins(part, names, tables)
        if not isinstance(scope.expression, exp.Select):
            return
        for item in scope.expression.expressions:
            if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
                for source in _sources(scope).values():
                    self._origin(source, names, tables)
            elif item.alias_or_name in names:
                for node in _same(item.unalias()):
                    sources = [_sources(scope)[node.table]] if node.table in _sources(scope) else _sources(scope).values()
                    for source in sources:
                        self._origin(source, {node.name}, tables)

    def _origin(self, source: Any, names: set[str], tables: Tables) -> None:
        if isinstance(source, Scope):
            self._origins(source, names, tables)
        else:
            table = self._table(source)
            if there := names.intersection(self._catalog.columns.get(table, ())):
                tables.setdefault(table, set()).update(there)

    def follow(self, tables: Tables, grain: tuple[str, ...]) -> set[str]:
        """The columns of the model that have the value, or are computed from it. A statistic over whole rows of the query has it no more:
        what is picked by that are rows, not runs."""
        self._tables = tables
        for scope in self._all:
            self._made[id(scope)] = self._follow(scope, grain)
        return self._made[id(self._all[-1])] if self._all else set()

    def _follow(self, scope: Scope, grain: tuple[str, ...]) -> set[str]:
        select = scope.expression
        if not isinstance(select, exp.Select):
            return set[str]().union(*(self._made.get(id(part), set()) for part in _parts(scope)))
        group = select.args.get("group")
        keys = {key.name for key in group.expressions} if group else set[str]()
        of_rows = keys <= {*grain} and not (group and (group.args.get("all") or not keys))
        has_aggregate = any(not node.find_ancestor(exp.Window) for item in select.expressions for node in item.find_all(exp.AggFunc))
        found = set[str]()
        for item in select.expressions:
            if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
                read = _sources(scope)
                sources = [read[item.table]] if isinstance(item, exp.Column) and item.table in read else read.values()
                found = found.union(*map(self._of, sources)) - {_ROWS}
            elif not (of_rows and (group or has_aggregate)) and self.reads_value(item.unalias()):
                found.add(item.alias_or_name)
        self._made[id(scope)] = found  # a clause may name them
        is_picked = any(self.reads_value(node) for _, nodes in self._clauses(scope) for node in nodes)
        return found | {_ROWS} if is_picked or any(_ROWS in self._of(source) for source in _sources(scope).values()) else found

    def clauses(self) -> Iterator[tuple[Clause, list[exp.Expr]]]:
        """Each clause that can leave rows out, and what it reads."""
        for scope in self._all:
            yield from self._clauses(scope)

    def _clauses(self, scope: Scope) -> Iterator[tuple[Clause, list[exp.Expr]]]:
        block = scope.expression
        if not isinstance(block, exp.Select):
            return
        if where := block.args.get("where"):
            for clause, part in zip(conjunct_clauses(where), conjuncts(where.this), strict=True):
                yield clause, [part]
        for join in block.args.get("joins") or ():
            yield join_clause(join, "join"), [join]
        for name in ("having", "qualify"):
            if node := block.args.get(name):
                yield clause_of(node, name, name), [node]
        order = block.args.get("order")
        limits = [block.args[name] for name in ("limit", "offset") if block.args.get(name) is not None]
        if order and limits:
            written = [clause_of(node, "limit", name) for node, name in ((order, "order"), *((node, node.key) for node in limits))]
            yield Clause("limit", " ".join(clause.text for clause in written), written[0].place, written[0].offset), [order, *limits]
        if (distinct := block.args.get("distinct")) and order:
            yield clause_of(distinct, "distinct on", "distinct"), [distinct, order]

    def reads_value(self, node: exp.Expr) -> bool:
        """Whether it reads a column that has the value, or rows that were picked by it. Whether there is a value at all is no pick."""
        if _asks_for_any(node):
            return False
        if any(self._has_value(column) for column in node.find_all(exp.Column)):
            return True
        tables = (scope for table in node.find_all(exp.Table) if (scope := self._scope_of(table)))
        inner = (self._scopes.get(id(select)) for select in node.find_all(exp.Select))
        return any(_ROWS in self._made.get(id(scope), ()) for scope in inner if scope) or any(
            _ROWS in self._of(_sources(scope).get(table.alias_or_name)) for scope in tables for table in node.find_all(exp.Table)
        )

    def _scope_of(self, node: exp.Expr) -> Scope | None:
        select = node.parent_select
        return self._scopes.get(id(select)) if select else None

    def _has_value(self, column: exp.Column) -> bool:
        select = column.parent_select
        while select:
            scope = self._scopes.get(id(select))
            if scope and column.table and column.table in _sources(scope):
                return column.name in self._of(_sources(scope)[column.table])
            if scope and not column.table:
                if any(column.name in self._of(source) for source in _sources(scope).values()) or column.name in self._made.get(id(scope), ()):
                    return True
            select = select.parent_select
        return False

    def _of(self, source: Any) -> set[str]:
        if isinstance(source, Scope):
            return self._made.get(id(source), set())
        return self._tables.get(self._table(source), set()) if isinstance(source, exp.Table) else set()

    def _table(self, table: exp.Table) -> str:
        return self._catalog.resolve(".".join(filter(None, (table.db, table.name))))


def _same(node: Any) -> Iterator[exp.Column]:
    """The columns whose values an expression has, as they are or under a condition."""
    if isinstance(node, exp.Column):
        yield node
    elif isinstance(node, _SAME):
        yield from _same(node.this)
    elif isinstance(node, exp.Coalesce | exp.If | exp.Case | exp.Nullif):
        of_case = [*(each.args.get("true") for each in node.args.get("ifs", ())), *map(node.args.get, ("true", "false", "default"))]
        for part in of_case if isinstance(node, exp.If | exp.Case) else (node.this, *node.expressions):
            yield from _same(part)


def _sources(scope: Scope) -> dict[str, Any]:
    """What a block reads itself, by the name that it has there."""
    return {name: source for name, (_, source) in scope.selected_sources.items()}


def _parts(scope: Scope) -> list[Scope]:
    """Those of a set operation."""
    return list(scope.set_operation_scopes or ())


def _asks_for_any(node: exp.Expr) -> bool:
    while isinstance(node, exp.Not | exp.Paren):
        node = node.this
    if isinstance(node, exp.Is):
        return isinstance(node.expression, exp.Null)
    return isinstance(node, exp.IsNan | exp.IsInf) or (isinstance(node, exp.Anonymous) and node.name.lower() in ("isfinite", "isnan", "isinf"))
