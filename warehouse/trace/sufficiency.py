"""Where G2, occurrence sufficiency, follows from a query's SQL: each occurrence of a table restricted to its own rows in the
why-set, the query still yields the row. The rule is static, and claims nothing where it has no proof.

Of the rows of each part of a query, L(I) is what the why-sets of some of them, I, list together; the part is run on that alone.
It is of one of four levels (`Level`), by what it yields then:

- EXACT: I and nothing else. Tables are, and what maps rows to rows one to one, or to groups that share no row.
- GENUINE: I and perhaps other rows that the part has on all the data. A join is: two kept rows may pair that are not in I.
- ENOUGH: I and perhaps rows that it never had, such as a group that lost rows, or a window's row without its frame.
- UNPROVEN: not known. What collects, chooses or keeps out needs rows that are at least GENUINE; a spurious one changes it.

A query holds G2 when it is at least ENOUGH. If I is empty, a part must yield nothing (`is_vacuous`); an aggregate of
all rows yields one. Key columns show that a join pairs each row of one side with one of the other at most: then it is EXACT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from warehouse.trace.block_rows import (
    Level,
    Rows,
    clause_of,
    determines,
    either_is_vacuous,
    frames_are_closed,
    group_items,
    groups_are_rows,
    groups_by_one,
    has_query,
    is_always_asked,
    is_called,
    may_be_null_or_false,
    named_key,
    output_names,
    output_of,
    outputs,
    own_nodes,
    query_of,
    renamed,
    takes_first,
)
from warehouse.trace.monotony import is_monotone
from warehouse.trace.null_rejection import effective_words, needed_by, words_of, yields_nothing_without
from warehouse.trace.provenance.selecting import aggregates
from warehouse.trace.provenance.values import GROUPING_SETS, conjuncts

Ctes = Mapping[str, Rows]


@dataclass
class Tables:
    """How tables are looked up by the names in the text: their key columns and all columns, None where they are not known."""

    key_of: Callable[[str], Sequence[str] | None]
    columns_of: Callable[[str], Sequence[str] | None]
    blamed: list[exp.Expr] = field(default_factory=list)


def unproven(tree: exp.Expr, tables: Tables) -> list[exp.Expr]:
    """The clauses for which it is not proven that the why-sets of a query's rows are enough for them; none: it is proven."""
    rows = _Analysis(tables).query(tree, {})
    return tables.blamed or ([] if rows.level >= Level.ENOUGH else [tree])


class _Analysis:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def _unproven(self, clause: exp.Expr) -> Level:
        self.tables.blamed.append(clause)
        return Level.UNPROVEN

    # --- queries -----------------------------------------------------------------------------------------------------

    def query(self, node: exp.Expr, ctes: Ctes) -> Rows:
        while isinstance(node, exp.Subquery) and not node.args.get("pivots") and not node.args.get("joins"):
            node = node.this
        ctes = self._with(node, ctes)
        if isinstance(node, exp.SetOperation):
            return self._cut(node, self._set_operation(node, ctes))
        if isinstance(node, exp.Select):
            return self._select(node, ctes)
        if isinstance(node, exp.Pivot):
            return self._pivot(node, self._item(node.this, ctes, {}))
        return Rows(self._unproven(node))

    def _with(self, node: exp.Expr, ctes: Ctes) -> Ctes:
        written = node.args.get("with_")
        if written is None:
            return ctes
        seen = dict(ctes)
        for cte in written.expressions:
            name = cte.alias.lower()
            reads_itself = written.args.get("recursive") and any(is_called(table, name) for table in cte.find_all(exp.Table))
            rows = self._recursive(cte, seen) if reads_itself else self.query(cte.this, seen)
            rows = renamed(rows, [column.name for column in cte.args["alias"].columns])
            readers = sum(is_called(table, name) for table in node.find_all(exp.Table))
            if readers > 1:  # each reader also gets what is kept for the others
                rows = replace(rows, level=min(rows.level, Level.GENUINE) if rows.key != frozenset() else rows.level, is_shared=True)
            seen[name] = rows
        return seen

    def _recursive(self, cte: exp.CTE, ctes: Ctes) -> Rows:
        if not isinstance(cte.this, exp.Union):
            return Rows(self._unproven(cte.this))
        anchor = self.query(cte.this.this, ctes)
        itself = replace(anchor, level=min(anchor.level, Level.ENOUGH), is_shared=True, key=None, is_whole=False)
        step = self.query(cte.this.expression, {**ctes, cte.alias.lower(): itself})
        level = min(anchor.level, step.level)
        only_gains = is_monotone(cte.this) and anchor.level >= Level.GENUINE and self._reads_genuine(cte.this.expression, ctes)
        return replace(itself, level=Level.GENUINE if only_gains and level >= Level.ENOUGH else level, is_vacuous=anchor.is_vacuous)

    def _set_operation(self, node: exp.SetOperation, ctes: Ctes) -> Rows:
        left, right = self.query(node.left, ctes), self.query(node.right, ctes)
        low, is_shared = min(left.level, right.level), left.is_shared or right.is_shared
        level: Level
        key = frozenset(name.lower() for name in left.columns) if left.columns and node.args.get("distinct") else None
        if isinstance(node, exp.Union):
            is_vacuous = left.is_vacuous and right.is_vacuous
            level = low if is_vacuous else min(low, Level.ENOUGH)
            columns = left.columns if not node.args.get("by_name") else None
        elif isinstance(node, exp.Intersect):
            level, is_vacuous, columns = low, either_is_vacuous(left, right), left.columns
        else:
            level = Level.EXACT if left.level == Level.EXACT else min(left.level, Level.ENOUGH)
            level = level if right.never_gains else self._unproven(node)
            is_vacuous, columns = left.is_vacuous, left.columns
        return Rows(level, is_vacuous, key, columns, is_shared)

    def _pivot(self, node: exp.Expr, source: Rows) -> Rows:
        level = Level.EXACT if source.level == Level.EXACT else min(source.level, Level.ENOUGH)
        return Rows(self._unproven(node) if source.level == Level.ENOUGH else level, False, None, None, source.is_shared)

    # --- FROM --------------------------------------------------------------------------------------------------------

    def _from(self, node: exp.Select, ctes: Ctes) -> "tuple[Rows, dict[str, Rows]]":
        """The joined rows, whose key has the aliases in it, and the items by alias."""
        origin = node.args.get("from_")
        if origin is None:
            return Rows(Level.EXACT, False, frozenset(), ()), {}
        sources: dict[str, Rows] = {}
        found, words = self._joined(origin.this, ctes, sources), effective_words(node)
        for join in node.args.get("joins") or []:
            found = self._join(found, join, ctes, sources, words[id(join)])
        return found, sources

    def _joined(self, item: exp.Expr, ctes: Ctes, sources: dict[str, Rows]) -> Rows:
        """An item of FROM, which may be joins in parentheses."""
        inner = item.this if isinstance(item, exp.Subquery) and isinstance(item.this, (exp.Table, exp.Subquery)) else item
        joins = inner.args.get("joins") or []
        if inner is not item and not item.alias or joins:
            bare = inner.copy() if joins else inner
            bare.set("joins", None)
            found = self._joined(bare, ctes, sources)
            for join in joins:
                found = self._join(found, join, ctes, sources, words_of(join))
            return found
        rows = self._item(item, ctes, sources)
        alias = item.alias_or_name.lower()
        sources[alias] = rows
        return replace(rows, key=None if rows.key is None else frozenset(f"{alias}.{name}" for name in rows.key))

    def _item(self, item: exp.Expr, ctes: Ctes, before: Mapping[str, Rows]) -> Rows:
        if item.args.get("pivots"):
            bare = item.copy()
            bare.set("pivots", None)
            return self._pivot(item, self._item(bare, ctes, before))
        names = [column.name for column in item.args["alias"].columns] if item.args.get("alias") else []
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            return renamed(self._table(item, ctes), names)
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
            return renamed(self._derived(item.this, ctes), names)
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Pivot):
            return renamed(self.query(item.this, ctes), names)
        if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            return renamed(self._derived(item.this.this, ctes), names)
        if isinstance(item, (exp.Values, exp.Unnest, exp.Lateral)) or isinstance(item, exp.Table):
            return Rows(Level.GENUINE, False, None, tuple(names) or None)  # always there, whatever is kept
        return Rows(self._unproven(item))

    def _table(self, item: exp.Table, ctes: Ctes) -> Rows:
        name = ".".join(filter(None, (item.db, item.name))).lower()
        if name in ctes and not item.db:
            return ctes[name]
        key, columns = self.tables.key_of(name), self.tables.columns_of(name)
        lowered = frozenset(column.lower() for column in key) if key else None
        return Rows(Level.EXACT, True, lowered, tuple(columns) if columns is not None else None)

    def _derived(self, query: exp.Query, ctes: Ctes) -> Rows:
        """A query in FROM. One that reads the rows before it is asked for each of them, of what is kept for any of them."""
        if not self._is_correlated(query, ctes):
            return self.query(query, ctes)
        if self._is_monotone(query, ctes):
            return Rows(Level.GENUINE, True, None, output_names(query))
        if self._aggregates_monotone(query, ctes):  # right for the rows in I, of another one it may lack rows
            return Rows(Level.ENOUGH, True, frozenset(), output_names(query))
        return Rows(self._unproven(query))

    def _join(self, left: Rows, join: exp.Join, ctes: Ctes, sources: dict[str, Rows], words: set[str]) -> Rows:
        known = set(sources)
        right = self._joined(join.this, ctes, sources)
        on = join.args.get("on")
        is_right_one, is_left_one = determines(join, left, right, set(sources) - known, known)
        key = left.key if is_right_one else right.key if is_left_one else None
        if key is None and left.key is not None and right.key is not None:
            key = left.key | right.key
        is_shared = left.is_shared or right.is_shared
        filters = bool(words & {"SEMI", "ANTI"})
        is_of_each_row = right.key == frozenset() and right.level == Level.ENOUGH  # an aggregate that reads the row before it
        low = min(left.level, right.level)
        level: Level
        if low == Level.UNPROVEN:
            level, is_vacuous = low, False
        elif on is not None and on.find(exp.Query):
            level, is_vacuous = self._unproven(join), False
        elif filters:
            reads_one = self._reads_one(join, known, sources, ctes)
            level, key, is_vacuous = self._filtering(left, right, join, "ANTI" in words, reads_one), left.key, left.is_vacuous
            for alias in set(sources) - known:
                del sources[alias]
        elif is_of_each_row:
            is_outer = bool(words & {"RIGHT", "FULL"})
            level = self._unproven(join) if is_outer else left.level if left.level == Level.EXACT else Level.ENOUGH
            is_vacuous = left.is_vacuous
        elif "ASOF" in words:
            reads_one = self._reads_one(join, known, sources, ctes)
            level, key, is_vacuous = self._outer(left, right, join, True, "LEFT" in words, reads_one), left.key, left.is_vacuous
        elif words & {"LEFT", "RIGHT", "FULL"}:
            level, is_vacuous = Level.EXACT, True
            if words & {"LEFT", "FULL"}:
                level, is_vacuous = self._outer(left, right, join, is_right_one, True, self._reads_one(join, known, sources, ctes)), left.is_vacuous
            if words & {"RIGHT", "FULL"}:
                level = min(level, self._outer(right, left, join, is_left_one, True, self._reads_one(join, set(sources) - known, sources, ctes)))
                is_vacuous = is_vacuous and right.is_vacuous
            if "FULL" in words:
                key = None
            elif not (is_right_one if "LEFT" in words else is_left_one):
                key = None
            else:
                key = left.key if "LEFT" in words else right.key
        elif "POSITIONAL" in words:
            level, is_vacuous = self._unproven(join), False
        else:
            is_one_to_one = (is_right_one and left.level == Level.EXACT) or (is_left_one and right.level == Level.EXACT)
            level = low if low < Level.GENUINE else Level.EXACT if is_one_to_one else Level.GENUINE
            is_vacuous = either_is_vacuous(left, right)
        filled = set() if words.isdisjoint(("LEFT", "FULL", "POSITIONAL")) else set(sources) - known
        filled |= set() if words.isdisjoint(("RIGHT", "FULL", "POSITIONAL")) else known
        sources |= {alias: replace(sources[alias], is_optional=True) for alias in filled}
        return Rows(level, is_vacuous, key, None, is_shared, is_whole=_is_whole(words, on, left, right))

    def _outer(self, kept: Rows, other: Rows, join: exp.Join, is_one: bool, fills_in: bool, reads_one: bool) -> Level:
        """A join that keeps a row without a partner, or takes the nearest: a spurious partner would take its place. One that `reads_one`
        item finds for a row what it finds for another with the same row of that item, of which one is in I, and its partner with it."""
        on = join.args.get("on")
        has_partner = other.is_one_row and isinstance(on, exp.Boolean) and on.this
        if other.level < Level.GENUINE or (fills_in and not other.is_vacuous and not has_partner):
            return self._unproven(join)
        if kept.level == Level.EXACT:
            return Level.EXACT if is_one else Level.GENUINE
        return Level.GENUINE if kept.level == Level.GENUINE and reads_one else Level.ENOUGH

    def _reads_one(self, join: exp.Join, kept: set[str], sources: Mapping[str, Rows], ctes: Ctes) -> bool:
        """Whether what a join finds for a row of one side follows from the row of one item of FROM, of which just what is kept comes. Where
        that item has NULLs in place of a row, it must find nothing."""
        on, item = join.args.get("on"), join.this
        is_apart = isinstance(item, exp.Table) or (isinstance(item, exp.Subquery) and not self._is_correlated(item.this, ctes))
        if on is None or on.find(exp.Query) or not is_apart or item.args.get("joins"):
            return False
        read = {column.table.lower() for column in on.find_all(exp.Column)}
        mine = read & kept
        return "" not in read and len(mine) == 1 and mine <= needed_by(on) and all(sources[alias].is_its_own for alias in mine)

    def _filtering(self, left: Rows, right: Rows, join: exp.Join, is_anti: bool, reads_one: bool) -> Level:
        if is_anti:
            if not right.never_gains:
                return self._unproven(join)
            return left.level if left.level == Level.EXACT or reads_one else Level.ENOUGH
        is_safe = left.level == Level.EXACT or (right.level >= Level.GENUINE and right.is_vacuous)
        return left.level if is_safe else Level.ENOUGH

    # --- one SELECT --------------------------------------------------------------------------------------------------

    def _select(self, node: exp.Select, ctes: Ctes) -> Rows:
        found, sources = self._from(node, ctes)
        level = found.level
        for clause in ("where", "having", "qualify"):
            for part in conjuncts(node.args[clause].this) if node.args.get(clause) else ():
                is_of_one = clause == "where" and self._reads_one_item(part, sources, ctes)
                in_sight = sources if clause == "where" else {}
                level = self._condition(part, level, ctes, in_sight, is_where=clause == "where", is_of_one=is_of_one)
        for item in (*node.expressions, *clause_of(node, "group"), *clause_of(node, "order"), *clause_of(node, "distinct")):
            level = self._expression(item, level, ctes, {} if aggregates(node) else sources)
        columns = outputs(node, sources)
        key = named_key(found.key, node, len(sources) == 1)
        is_filtered = any(node.args.get(clause) for clause in ("where", "having", "qualify"))
        is_one_row = found.is_one_row and not is_filtered
        rows = Rows(level, found.is_vacuous, key, columns, found.is_shared, is_one_row, found.is_whole and level == found.level and not is_filtered)
        if aggregates(node):
            if level == Level.GENUINE and groups_by_one(node, sources):
                rows = replace(rows, level=Level.EXACT)
            rows = self._grouped(node, rows, groups_are_rows(node, found, sources))
        rows = self._windowed(node, rows)
        if any(item.find(exp.Explode, exp.Unnest) for item in node.expressions):  # one row becomes several
            rows = replace(rows, level=min(rows.level, Level.GENUINE), key=None, is_one_row=False)
        return self._cut(node, rows)

    def _grouped(self, node: exp.Select, rows: Rows, are_rows: bool) -> Rows:
        group = node.args.get("group")
        keys = group_items(node)
        has_sets = group is not None and any(part.find(*GROUPING_SETS, exp.Tuple) for part in group.expressions)
        is_total = not keys and not has_sets
        is_apart = (is_total and rows.is_whole) or (are_rows and not has_sets)
        is_less = rows.level < Level.GENUINE and not (is_apart and rows.level == Level.ENOUGH)
        is_always = rows.is_vacuous or rows.is_one_row
        if is_less or ((has_sets or not keys) and not is_always):  # of no rows there is a total, too
            level = self._unproven(node) if rows.level != Level.UNPROVEN else rows.level
            return replace(rows, level=level, is_vacuous=False, key=None)
        if has_sets:
            return replace(rows, level=Level.ENOUGH, is_vacuous=False, key=None, is_one_row=False)
        if not keys:
            is_one_row = not any(node.args.get(clause) for clause in ("having", "qualify", "limit", "offset"))
            return replace(rows, level=Level.EXACT, is_vacuous=False, key=frozenset(), is_one_row=is_one_row)
        level = rows.level if are_rows or rows.level == Level.EXACT else Level.ENOUGH
        names = [output_of(key, node) for key in keys]
        return replace(rows, level=level, key=frozenset(name for name in names if name) if all(names) else None)

    def _windowed(self, node: exp.Select, rows: Rows) -> Rows:
        windows = [window for part in (*node.expressions, *clause_of(node, "qualify")) for window in own_nodes(part, exp.Window)]
        if not windows or rows.level == Level.UNPROVEN:
            return rows
        if rows.level < Level.GENUINE:
            return replace(rows, level=self._unproven(windows[0]))
        if len(windows) == 1 and takes_first(node):
            partition = [output_of(key, node) for key in windows[0].args.get("partition_by") or []]
            key = frozenset(name for name in partition if name) if all(partition) else rows.key
            return replace(rows, level=rows.level if rows.level == Level.EXACT else Level.ENOUGH, key=key)
        is_closed = rows.level == Level.EXACT and frames_are_closed(windows)
        return replace(rows, level=Level.GENUINE if is_closed else Level.ENOUGH)

    def _cut(self, node: exp.Expr, rows: Rows) -> Rows:
        """DISTINCT, and what keeps some of the rows by their order."""
        distinct = node.args.get("distinct") if isinstance(node, exp.Select) else None
        is_on = distinct is not None and distinct.args.get("on") is not None
        if distinct is not None and not is_on:
            rows = replace(rows, key=frozenset(name.lower() for name in rows.columns) if rows.columns else None)
        offset = node.args.get("offset")
        if offset is not None:  # all rows before one are in its why-set: it has the same place among them
            level = {Level.EXACT: Level.GENUINE, Level.GENUINE: Level.ENOUGH}.get(rows.level, rows.level)
            return replace(rows, level=self._unproven(offset) if rows.level == Level.ENOUGH else level, is_whole=False, is_one_row=False)
        for clause in (distinct if is_on else None, node.args.get("limit")):
            rows = rows if clause is None else replace(rows, is_whole=False, is_one_row=False)
            if clause is not None and rows.level == Level.ENOUGH:
                rows = replace(rows, level=self._unproven(clause))
            elif clause is not None and rows.level == Level.GENUINE:
                rows = replace(rows, level=Level.ENOUGH)
        return rows

    # --- subqueries of expressions -----------------------------------------------------------------------------------

    def _condition(
        self, part: exp.Expr, level: Level, ctes: Ctes, sources: Mapping[str, Rows], is_where: bool, is_of_one: bool
    ) -> Level:
        """What a conjunct leaves of a level. `x in (..)` and `exists (..)` by themselves, or under NOT, are not distinguished from
        NULL where they are false; elsewhere they may be. One that `is_of_one` item of FROM holds for each of its rows that is kept, in
        whatever joined row."""
        bare = part.unnest()
        is_negated = isinstance(bare, exp.Not)
        test = bare.this.unnest() if is_negated else bare
        if is_negated and isinstance(test, exp.Is) and test.expression == exp.true():
            test = test.this.unnest()
        query = query_of(test)
        is_any = isinstance(test, exp.EQ) and isinstance(test.expression, exp.Any)
        if query is None or not is_where or (is_any and is_negated) or has_query(test, query):
            found = self._expression(part, level, ctes, sources)
            return level if is_of_one and found == Level.ENOUGH else found  # right for that item's rows, all of which are kept
        if is_negated:
            return self._kept_out(test, query, level, ctes, is_of_one)
        if self._is_monotone(query, ctes):
            return level
        if self._is_correlated(query, ctes):
            return self._unproven(test)
        rows = self.query(query, ctes)
        if rows.level == Level.UNPROVEN or level == Level.EXACT or (rows.level >= Level.GENUINE and rows.is_vacuous):
            return min(level, rows.level) if rows.level == Level.UNPROVEN else level
        return level if is_of_one else min(level, Level.ENOUGH)

    def _reads_one_item(self, part: exp.Expr, sources: Mapping[str, Rows], ctes: Ctes) -> bool:
        """Whether a conjunct reads, of the rows of its block, those of one item of FROM alone, one of which just what is kept comes. Where
        an outer join replaces it by NULLs, the conjunct must say of these what it says on any data."""
        apart = [query for query in own_nodes(part, exp.Query) if not self._is_correlated(query, ctes)]
        inside = {id(column) for query in apart for column in query.find_all(exp.Column)}
        inner = {item.alias_or_name.lower() for item in part.find_all(exp.Table, exp.Subquery) if item.alias_or_name}
        read = {column.table.lower() for column in part.find_all(exp.Column) if id(column) not in inside} - inner
        if len(read) != 1 or inner & sources.keys() or not read <= sources.keys():
            return False
        [item] = [sources[alias] for alias in read]
        is_constant = all(read <= yields_nothing_without(query) for query in own_nodes(part, exp.Query))
        return item.is_its_own and (is_constant or not item.is_optional)

    def _kept_out(self, test: exp.Expr, query: exp.Expr, level: Level, ctes: Ctes, is_of_one: bool) -> Level:
        """NOT IN and NOT EXISTS keep nothing for their query: it must yield none but its own rows."""
        if not self._is_monotone(query, ctes):
            quiet = _Analysis(replace(self.tables, blamed=[]))  # its own rows need not be found again
            rows = quiet.query(query, ctes)
            if not rows.is_vacuous or rows.is_shared or any(table.name.lower() in ctes for table in query.find_all(exp.Table) if not table.db):
                return self._unproven(test)
        return level if level == Level.EXACT or is_of_one else min(level, Level.ENOUGH)

    def _expression(self, part: exp.Expr, level: Level, ctes: Ctes, sources: Mapping[str, Rows]) -> Level:
        for query in own_nodes(part, exp.Query):
            level = min(level, self._subquery(query, level, ctes, sources))
        return level

    def _subquery(self, query: exp.Expr, level: Level, ctes: Ctes, sources: Mapping[str, Rows]) -> Level:
        """A subquery whose value counts, not only that it is true. It keeps all its rows: but IN keeps those that match, and is
        false or NULL of the others, as it happens."""
        holder = query.parent
        while isinstance(holder, exp.Subquery):
            holder = holder.parent
        test = holder.parent if isinstance(holder, exp.Any) and isinstance(holder.parent, exp.EQ) else holder
        if isinstance(test, (exp.In, exp.EQ)) and (test is not holder or isinstance(holder, exp.In)):
            if not may_be_null_or_false(test) or not self._is_monotone(query, ctes):
                return self._unproven(query)
            return level if level == Level.EXACT else min(level, Level.ENOUGH)
        if isinstance(holder, exp.Exists) or self._is_correlated(query, ctes):
            is_read = self._is_monotone(query, ctes) or (not isinstance(holder, exp.Exists) and self._aggregates_monotone(query, ctes))
            if not is_read:
                return self._unproven(holder if isinstance(holder, exp.Exists) else query)
            is_of_one = is_always_asked(query) and self._reads_one_item(query, sources, ctes)
            return level if level == Level.EXACT or is_of_one else min(level, Level.ENOUGH)
        rows = self.query(query, ctes)
        if rows.level == Level.ENOUGH or not (rows.is_vacuous or rows.is_one_row):
            return self._unproven(query)
        return Level.UNPROVEN if rows.level == Level.UNPROVEN else level

    def _is_monotone(self, query: exp.Expr, ctes: Ctes) -> bool:
        """Whether more rows below never mean fewer, nor other ones, whatever is kept."""
        return is_monotone(query) and self._reads_genuine(query, ctes)

    def _aggregates_monotone(self, query: exp.Expr, ctes: Ctes) -> bool:
        query = query.unnest()
        clauses = ("group", "having", "qualify", "distinct", "limit")
        is_plain = isinstance(query, exp.Select) and aggregates(query) and not any(query.args.get(clause) for clause in clauses)
        return is_plain and is_monotone(query, may_aggregate=True) and self._reads_genuine(query, ctes)

    def _reads_genuine(self, query: exp.Expr, ctes: Ctes) -> bool:
        read = [ctes[table.name.lower()] for table in query.find_all(exp.Table) if not table.db and table.name.lower() in ctes]
        return all(rows.level >= Level.GENUINE and rows.is_vacuous for rows in read)

    def _is_correlated(self, query: exp.Expr, ctes: Ctes) -> bool:
        """Whether a query reads a column from outside, or may: by a name that none of its own items is known to have."""
        return any(not self._is_inside(column, query, ctes) for column in query.find_all(exp.Column))

    def _is_inside(self, column: exp.Column, query: exp.Expr, ctes: Ctes) -> bool:
        node: exp.Expr | None = column
        while node is not None and node is not query.parent:
            node = node.parent
            if not isinstance(node, exp.Select):
                continue
            origin = node.args.get("from_")
            items = [*([origin.this] if origin is not None else []), *(join.this for join in node.args.get("joins") or [])]
            aliases = {item.alias.lower() for item in node.expressions if item.alias}
            for item in items:
                names = self._columns(item, ctes)
                is_its = column.table.lower() == item.alias_or_name.lower() if column.table else names is not None and column.name.lower() in names
                if is_its:
                    return True
            if not column.table and column.name.lower() in aliases and column.find_ancestor(exp.Select) is node:
                return True
        return isinstance(column.this, exp.Star) and not column.table

    def _columns(self, item: exp.Expr, ctes: Ctes) -> set[str] | None:
        if item.args.get("alias") and item.args["alias"].columns:
            return {column.name.lower() for column in item.args["alias"].columns}
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            names = self._table(item, ctes).columns
        else:
            names = output_names(item.this) if isinstance(item, exp.Subquery) else None
        return {name.lower() for name in names} if names is not None else None


def _is_whole(words: set[str], on: exp.Expr | None, left: Rows, right: Rows) -> bool:
    """Whether joined rows, all of them kept, come out as they are: a side of which all rows are kept, whether they have a partner or not, must be
    whole; of another one rows without a partner may come back, and none that it never had."""
    if words & {"SEMI", "ANTI", "ASOF", "POSITIONAL"} or (on is not None and on.find(exp.Query)):
        return False
    sides = ((left, {"LEFT", "FULL"}), (right, {"RIGHT", "FULL"}))
    return all((rows.is_whole or rows.level >= Level.GENUINE) if words & keeping else rows.level >= Level.GENUINE for rows, keeping in sides)
