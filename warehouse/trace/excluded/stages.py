"""One query block as a row of stages in the order in which SQL evaluates them: FROM with its joins, each conjunct of WHERE,
HAVING, QUALIFY, DISTINCT ON, LIMIT. Each stage is a query of its own, the block up to there.

Whose rows a stage has and the next has not, that clause left out. Nothing is run here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from warehouse.trace.excluded.clauses import Clause, clause_of, conjunct_clauses, conjuncts, join_clause
from warehouse.trace.excluded.readings import Ctes, Hop
from warehouse.trace.provenance.selecting import aggregates
from warehouse.trace.provenance.syntax.stars import has_star
from warehouse.trace.provenance.values import copied

OWN_RUNS = "wh_runs"  # the column of a block's input that lists the runs behind each row
Columns = Mapping[str, Sequence[str]]  # of each table, by the name that SQL gives it
_TAIL = ("having", "qualify", "distinct", "order", "limit")


@dataclass(frozen=True)
class Witnessed:
    """A query that pairs each row which other rows left out with these: they are behind its last `tables` occurrences of
    tables, or, when that is None, in the frames of its windows, and the row's own runs are in `OWN_RUNS`."""

    query: exp.Query
    tables: int | None


@dataclass(frozen=True)
class Stage:
    """A block up to one of its clauses, which is None for the block as a whole. `is_grouped`: whether it has the block's own
    output columns. `condition` is a conjunct of WHERE by itself."""

    clause: Clause | None
    query: exp.Query
    is_grouped: bool
    condition: exp.Expr | None = None
    witnessed: Witnessed | None = None


@dataclass(frozen=True)
class Stages:
    """A block over an input of its own, with the CTEs that it may read; `start` is that input."""

    start: exp.Query
    stages: tuple[Stage, ...]
    ctes: tuple[exp.CTE, ...]


def stages_of(hop: Hop, input_name: str, columns: Columns) -> Stages:
    """The stages of a block that reads the table `input_name` where the way comes through."""
    if isinstance(hop.block, exp.SetOperation):
        start = exp.select("*").from_(input_name)
        stages = _of_set_operation(hop.block, hop, input_name)
        return Stages(start, stages, _read_ctes(stages[-1].query, hop.ctes))
    read = _with_input(hop, input_name)
    start = exp.select("*").from_(copied(item_at(read, hop.slot)))
    return Stages(start, _of_select(hop.block, read, hop, columns), _read_ctes(read, hop.ctes))


def _of_select(block: exp.Select, read: exp.Select, hop: Hop, columns: Columns) -> tuple[Stage, ...]:
    return (
        *_join_stages(block, read, hop),
        *_where_stages(block, read, hop, columns),
        *_tail_stages(block, read, item_at(block, hop.slot).alias_or_name),
    )


def _read_ctes(block: exp.Expr, ctes: Ctes) -> tuple[exp.CTE, ...]:
    """The CTEs that a block reads, through one another too, each after those it reads."""
    read: list[exp.CTE] = []
    names = {table.name.lower() for table in block.find_all(exp.Table) if not table.db}
    for name, cte in reversed(list(ctes.items())):
        if name in names:
            read.insert(0, cte)
            names |= {table.name.lower() for table in cte.this.find_all(exp.Table) if not table.db}
    return tuple(read)


# --- joins and WHERE ---------------------------------------------------------------------------------------------


def _join_stages(block: exp.Select, read: exp.Select, hop: Hop) -> list[Stage]:
    stages = []
    for slot, join in enumerate(block.args.get("joins") or []):
        words = {(join.side or "").upper(), (join.kind or "").upper()}
        if slot < hop.slot or words & {"LEFT" if slot > hop.slot else "RIGHT", "FULL"}:
            continue  # a join before the input, or one that keeps all of its rows
        is_anti = "ANTI" in words
        witnessed = None
        if is_anti:
            flipped = _rows_of(read, slot)
            partners = inlined(join.this, hop.ctes)
            flipped.args["joins"][slot].set("kind", "SEMI")
            flipped.args["joins"][slot].set("side", None)
            flipped.args["joins"][slot].set("this", partners)
            witnessed = Witnessed(flipped, _tables(partners))
        kind = " ".join(filter(None, (join.method, join.side, join.kind or ("" if join.side else "inner"), "join"))).lower()
        stages.append(Stage(join_clause(join, kind), _rows_of(read, slot), False, None, witnessed))
    return stages


def _where_stages(block: exp.Select, read: exp.Select, hop: Hop, columns: Columns) -> list[Stage]:
    written = block.args.get("where")
    if written is None:
        return []
    parts = conjuncts(read.args["where"].this)
    stages = []
    for number, (part, clause) in enumerate(zip(parts, conjunct_clauses(written), strict=True)):
        before = _rows_of(read, None, parts[:number])
        stages.append(
            Stage(clause, _rows_of(read, None, parts[: number + 1]), False, part, _witnesses_of(part, before, hop.ctes, columns))
        )
    return stages


def _rows_of(read: exp.Select, last_join: int | None, conditions: Sequence[exp.Expr] = ()) -> exp.Select:
    """The rows of FROM, with the joins up to one of them (None: all) and some conditions, before any grouping."""
    rows = copied(read)
    for part in ("where", "group", "windows", *_TAIL):
        rows.set(part, None)
    if last_join is not None:
        rows.set("joins", (rows.args.get("joins") or [])[: last_join + 1])
    # WHERE may read an alias of the select list; a window there would bring in rows of its own.
    if last_join is not None or aggregates(read) or read.find(exp.Window):
        rows.set("expressions", [exp.alias_(exp.Literal.number(1), "row_of_from")])
    if conditions:
        rows.set("where", exp.Where(this=exp.and_(*(copied(condition) for condition in conditions), copy=False)))
    return rows


def _witnesses_of(condition: exp.Expr, before: exp.Select, ctes: Ctes, columns: Columns) -> Witnessed | None:
    """Rows for which NOT EXISTS, NOT IN or an IS NULL behind a LEFT JOIN fails, by what it asks turned round."""
    bare = condition.unnest()
    if isinstance(bare, exp.Not) and isinstance(bare.this.unnest(), (exp.Exists, exp.In)):
        asked = inlined(bare.this, ctes)
        return Witnessed(copied(before).where(asked, copy=False), _tables(asked))
    if isinstance(bare, exp.Is) and isinstance(bare.this, exp.Column) and isinstance(bare.expression, exp.Null):
        return _as_membership(before, bare.this, ctes, columns)
    return None


def _as_membership(before: exp.Select, column: exp.Column, ctes: Ctes, columns: Columns) -> Witnessed | None:
    """`left join b on c` as `where exists (select 1 from b where c)`: the rows that had a partner, and the partners."""
    query = copied(before)
    joins = query.args.get("joins") or []
    for join in joins:
        item = join.this
        names = columns.get(item.name, ()) if isinstance(item, exp.Table) else item.named_selects
        is_its = column.table.lower() == item.alias_or_name.lower() if column.table else column.name.lower() in names
        if is_its and join.side.upper() == "LEFT" and join.args.get("on"):
            partners = exp.select("1").from_(inlined(item, ctes)).where(copied(join.args["on"]))
            query.set("joins", [other for other in joins if other is not join])
            query.set("expressions", [exp.alias_(exp.Literal.number(1), "row_of_from")])
            return Witnessed(query.where(exp.Exists(this=partners), copy=False), _tables(partners))
    return None


def _tables(node: exp.Expr) -> int:
    return sum(not isinstance(table.this, exp.Func) for table in node.find_all(exp.Table))


def inlined(node: exp.Expr, ctes: Ctes) -> exp.Expr:
    """A copy in which references to CTEs are derived tables: each table read in it is then read nowhere else."""
    holder = exp.Paren(this=copied(node))
    for table in list(holder.find_all(exp.Table)):
        cte = ctes.get(table.name.lower()) if not table.db else None
        if cte is not None:
            names = table.args["alias"].columns if table.args.get("alias") else cte.args["alias"].columns
            alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name), columns=[copied(name) for name in names])
            earlier = dict(list(ctes.items())[: list(ctes).index(table.name.lower())])
            table.replace(exp.Subquery(this=inlined(cte.this, earlier), alias=alias))
    copy: exp.Expr = holder.this
    return copy


# --- HAVING to LIMIT, and set operations -------------------------------------------------------------------------


def _tail_stages(block: exp.Select, read: exp.Select, alias: str) -> list[Stage]:
    stages = []
    for part in ("having", "qualify", "distinct", "limit"):
        written = block.args.get(part) or (block.args.get("offset") if part == "limit" else None)
        if written is None or (part == "distinct" and written.args.get("on") is None):
            continue
        query = copied(read)
        for later in _TAIL[_TAIL.index(part) + 1 :]:
            is_needed = later == "order" and part == "distinct"
            if not is_needed:
                query.set(later, None)
        if part != "limit":
            query.set("offset", None)
        kind = "distinct on" if part == "distinct" else part
        witnessed = _competitors(query, alias) if part == "qualify" else None
        clause = _limit_clause(block) if part == "limit" else clause_of(written, kind, part)
        stages.append(Stage(clause, query, True, None, witnessed))
    return [*stages, Stage(None, read, True)]


def _limit_clause(block: exp.Select | exp.SetOperation) -> Clause:
    written = [clause_of(block.args[name], "limit", name) for name in ("order", "limit", "offset") if block.args.get(name) is not None]
    return Clause("limit", " ".join(clause.text for clause in written), written[0].place, written[0].offset)


def _competitors(qualified: exp.Select, alias: str) -> Witnessed | None:
    """The rows that QUALIFY drops, with their own runs beside them: their why-sets are the frames of its windows, the rows
    they were compared with. None where rows are grouped first, or a star would show what is beside."""
    if aggregates(qualified) or has_star(qualified):
        return None
    query = copied(qualified).select(exp.column(OWN_RUNS, table=alias, quoted=True), copy=False)
    query.set("qualify", exp.Qualify(this=exp.Not(this=exp.Paren(this=query.args["qualify"].this))))
    return Witnessed(query, None)


def _of_set_operation(block: exp.SetOperation, hop: Hop, input_name: str) -> tuple[Stage, ...]:
    """UNION keeps all; of INTERSECT the other branch lets rows through, of EXCEPT it takes rows away."""
    whole = copied(block)
    whole.set("with_", None)
    whole.set("this" if hop.slot == 0 else "expression", exp.select("*").from_(input_name))
    unlimited = copied(whole)
    for part in ("order", "limit"):
        unlimited.set(part, None)
    stages = []
    if not isinstance(block, exp.Union):
        opening = type(block).__name__.lower()
        witnessed = None
        if isinstance(block, exp.Except):
            taken = inlined(block.expression, hop.ctes)
            both = exp.Intersect(this=exp.select("*").from_(input_name), expression=taken, distinct=True)
            witnessed = Witnessed(both, _tables(taken))
        stages.append(Stage(clause_of(block.expression, opening, opening), unlimited, True, None, witnessed))
    if block.args.get("limit") is not None:
        stages.append(Stage(_limit_clause(block), whole, True))
    return (*stages, Stage(None, whole, True))


def _with_input(hop: Hop, input_name: str) -> exp.Select:
    """A copy of a block that reads the input, under the name that the block has for it."""
    assert isinstance(hop.block, exp.Select)
    block = copied(hop.block)
    block.set("with_", None)
    holder = block.args["from_"] if hop.slot < 0 else block.args["joins"][hop.slot]
    item = item_at(block, hop.slot)
    columns = item.args["alias"].columns if item.args.get("alias") else []
    alias = exp.TableAlias(this=exp.to_identifier(item.alias_or_name, quoted=True), columns=[copied(name) for name in columns])
    for column in block.find_all(exp.Column):
        if column.db and column.table.lower() == item.alias_or_name.lower():  # the input is in no schema
            column.set("db", None)
    holder.set("this", exp.Table(this=exp.to_identifier(input_name), alias=alias))
    return block


def item_at(block: exp.Select, slot: int) -> exp.Expr:
    """The FROM item at a slot of `Hop`."""
    item: exp.Expr = block.args["from_"].this if slot < 0 else block.args["joins"][slot].this
    return item
