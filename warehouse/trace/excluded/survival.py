"""Which runs a reading of a query loses, and at which clause: its blocks are run stage by stage, annotated with run ids.

The provenance rewriter determines what a stage's rows depend on, so a construct without a rule there is not determined
here. What the data is never enters the SQL text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from warehouse.errors import WarehouseError
from warehouse.trace.catalog import Catalog
from warehouse.trace.excluded.clauses import Clause, block_clause
from warehouse.trace.excluded.grain_sources import Names, names_in_blocks, row_expression
from warehouse.trace.excluded.readings import Hop, Reading, is_recursive_with
from warehouse.trace.excluded.stages import OWN_RUNS, Stage, Stages, Witnessed, stages_of
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.provenance.syntax.writing import written
from warehouse.trace.provenance.values import copied
from warehouse.transform.sql.duck import quote, quoted

if TYPE_CHECKING:
    import duckdb

_INPUT = "wh_input"


@dataclass(frozen=True)
class Loss:
    """A run that a reading loses. `clause` left it out; where it is not known which did, `is_determined` is false and the
    clause is the block. `is_null`: its condition was NULL, not false, for all the run's rows. `witnesses` are the runs that
    excluded it. `rows` are the row ids of the rollup's rows whose grain its rows had, `is_sure` whether all of the grain was compared;
    None where it is not known."""

    run_id: str
    clause: Clause
    is_determined: bool
    is_null: bool
    witnesses: tuple[str, ...]
    rows: frozenset[int] | None
    is_sure: bool = True

    def is_of(self, rowid: int) -> bool | None:
        """Whether it would have been in a row by its grain; None where that is not known."""
        if self.rows is None or (rowid in self.rows and not self.is_sure):
            return None
        return rowid in self.rows


class Survival:
    """Asks one build about readings of one rollup, of one of its rows or of all. `con` is a session of `open_trace_session`."""

    def __init__(
        self, con: "duckdb.DuckDBPyConnection", catalog: Catalog, rollup: str, grain: Sequence[str], rowid: int | None = None
    ) -> None:
        self._con, self._catalog = con, catalog
        self._rollup, self._grain = quoted(rollup), grain
        self._asked = "" if rowid is None else f" where t.rowid = {rowid}"
        self._columns: dict[str, Sequence[str]] = dict(catalog.columns)
        for name, model in catalog.models.items():
            self._columns.setdefault(model.name, catalog.columns[name])
        self._tokens: dict[str, str | None] = {
            name: "{alias}.run_id::varchar" if "run_id" in columns and name not in catalog.empty else None
            for name, columns in self._columns.items()
        }
        self._inputs, self._input = 0, ""  # how many were made, and the one that is read

    def population(self, table: str) -> set[str]:
        """The runs of a table."""
        rows = self._con.execute(f"select distinct run_id::varchar from {quoted(table)} where run_id is not null").fetchall()
        return {row[0] for row in rows}

    def grains(self) -> dict[int, dict[str, Any]]:
        """The grain of each row of the rollup, by row id."""
        rows = self._con.execute(f"select rowid, {', '.join(map(quote, self._grain))} from {self._rollup}").fetchall()
        return {rowid: dict(zip(self._grain, values, strict=True)) for rowid, *values in rows}

    def follow(self, reading: Reading) -> tuple[list[Loss], dict[str, tuple[int, ...]]]:
        """What becomes of each run of a reading's table: those that are lost, and of the others the row ids of the rollup's rows
        that depend on them."""
        alive = self.population(reading.table)
        if reading.unread is not None:
            return _undetermined(alive, block_clause(reading.unread)), {}
        losses: list[Loss] = []
        self._input = self._input_of(reading.table)
        for hop, names in zip(reading.hops, names_in_blocks(reading, self._grain), strict=True):
            stages = stages_of(hop, self._input, self._columns)
            *clauses, whole = stages.stages
            made = self._made(whole.query, stages.ctes, hop.names)
            kept = self._runs_of(made) if made else None
            if kept is None or alive - kept:  # else no clause of the block lost a run
                lost, alive = self._lost(hop, clauses, stages, alive, names)
                losses += lost
            if not made or kept is None:
                return [*losses, *_undetermined(alive, block_clause(hop.block))], {}
            losses += _undetermined(alive - kept, block_clause(hop.block))
            alive, self._input = alive & kept, made
        rows = self._rows_of(self._input)
        return [*losses, *_undetermined(alive - rows.keys(), block_clause(reading.hops[-1].block))], rows

    def _lost(
        self, hop: Hop, clauses: Sequence[Stage], stages: Stages, alive: set[str], names: Names
    ) -> tuple[list[Loss], set[str]]:
        """The losses at the clauses of a block, stage by stage, and the runs that are left after them."""
        losses: list[Loss] = []
        before, is_sure = Stage(None, stages.start, False), True
        for stage in clauses:
            found = self._survivors(stage.query, stages.ctes)
            if found is None:
                is_sure = False
                continue
            gone = alive - found
            if gone and is_sure:
                losses += self._told(hop, stage, before, stages.ctes, gone, alive & found, names)
            else:
                losses += _undetermined(gone, block_clause(hop.block))
            alive, before, is_sure = alive & found, stage, True
        return losses, alive

    def _told(
        self, hop: Hop, stage: Stage, before: Stage, ctes: tuple[exp.CTE, ...], gone: set[str], found: set[str], names: Names
    ) -> list[Loss]:
        """The losses at a clause, with all that can be said of each."""
        assert stage.clause is not None
        of_rows, is_sure = self._of_rows(hop, before, ctes, names)
        nulls = self._nulls(before, stage.condition, ctes) if stage.condition is not None else set[str]()
        kept = tuple(sorted(found)) if stage.clause.kind == "limit" else ()
        witnesses = self._witnesses(stage.witnessed, ctes) if stage.witnessed else {}
        return [
            Loss(run, stage.clause, True, run in nulls, witnesses.get(run, kept), of_rows.get(run), is_sure) for run in sorted(gone)
        ]

    # --- questions to the engine -------------------------------------------------------------------------------------

    def _annotated(
        self, query: exp.Query, ctes: tuple[exp.CTE, ...], shows_runs: bool = False
    ) -> tuple[str, int, int, tuple[str, ...]] | None:
        """A stage's SQL with run ids beside its rows, the number of the input's occurrence there, how many occurrences there
        are, and its own columns; None where the rewriter has no rule for it."""
        name = self._input
        columns = [*self._columns[name], OWN_RUNS] if shows_runs else self._columns[name]
        read = copied(query)
        if ctes:
            read.set("with_", exp.With(expressions=[copied(cte) for cte in ctes], recursive=any(map(is_recursive_with, ctes))))
        try:
            made = annotate(written(read), {**self._columns, name: columns}, self._tokens)
        except WarehouseError:
            return None
        numbers = [occurrence.number for occurrence in made.occurrences if occurrence.table == name]
        return (made.sql, numbers[0], len(made.occurrences), made.columns) if numbers else None

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query that the engine may be unable to run; none then."""
        import duckdb

        try:
            return self._con.execute(sql).fetchall()
        except duckdb.Error:
            return []

    def _survivors(self, query: exp.Query, ctes: tuple[exp.CTE, ...]) -> set[str] | None:
        import duckdb

        annotated = self._annotated(query, ctes)
        if annotated is None:
            return None
        sql, number, _, _ = annotated
        try:
            rows = self._con.execute(f"select distinct unnest(flatten(__why_{number})) from ({sql})").fetchall()
        except duckdb.Error:
            return None
        return {row[0] for row in rows}

    def _of_rows(self, hop: Hop, before: Stage, ctes: tuple[exp.CTE, ...], names: Names) -> tuple[dict[str, frozenset[int]], bool]:
        """For each run of a stage the row ids of the rows whose grain a row of it has, as far as that is known there, and whether all of the
        grain is. A run of which nothing is known is left out."""
        keys: dict[str, exp.Expr] = {}
        for column, name in names.items():
            key = name and (exp.column(name, quoted=True) if before.is_grouped else row_expression(hop.block, name))
            if key:
                keys[column] = copied(key)
        items = [exp.alias_(key, f"wh_key_{number}") for number, key in enumerate(keys.values())]
        query = copied(before.query)
        if before.is_grouped:
            holder = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("wh_rows")))
            query = exp.select(*items).from_(holder)
        else:
            query.set("expressions", items)
        annotated = self._annotated(query, ctes) if items else None
        if annotated is None:
            return {}, False
        sql, number, _, _ = annotated
        same = " and ".join(f"a.wh_key_{i} is not distinct from t.{quote(column)}" for i, column in enumerate(keys))
        listed = ", ".join(f"a.wh_key_{i}" for i in range(len(keys)))
        rows = self._ask(
            f"select a.run, list(distinct t.rowid) filter (t.rowid is not null) from"
            f" (select distinct unnest(flatten(a.__why_{number})) as run, {listed} from ({sql}) a) a"
            f" left join (select rowid, * from {self._rollup} t{self._asked}) t on {same} group by a.run"
        )
        return {run: frozenset(found or ()) for run, found in rows}, len(keys) == len(names)

    def _nulls(self, before: Stage, condition: exp.Expr, ctes: tuple[exp.CTE, ...]) -> set[str]:
        """The runs for all of whose rows a condition is NULL."""
        query = copied(before.query)
        query.set("expressions", [exp.alias_(exp.Is(this=exp.Paren(this=copied(condition)), expression=exp.Null()), "wh_is_null")])
        annotated = self._annotated(query, ctes)
        if annotated is None:
            return set()
        sql, number, _, _ = annotated
        rows = self._ask(
            "select run from (select unnest(flatten(__why_"
            f"{number})) as run, wh_is_null from ({sql})) group by run having bool_and(wh_is_null)"
        )
        return {row[0] for row in rows}

    def _witnesses(self, witnessed: Witnessed, ctes: tuple[exp.CTE, ...]) -> dict[str, tuple[str, ...]]:
        """For each run that other rows left out, the runs of these rows."""
        annotated = self._annotated(witnessed.query, ctes, shows_runs=witnessed.tables is None)
        if annotated is None:
            return {}
        sql, number, count, _ = annotated
        own = f"flatten(__why_{number})"
        if witnessed.tables is None:
            own, others = OWN_RUNS, own
        else:
            others = " || ".join(["[]", *(f"__why_{n}" for n in range(count - witnessed.tables, count))])
        rows = self._ask(
            "select run, list(distinct witness order by witness) from (select run, unnest(others) as witness from"
            f" (select unnest({own}) as run, {others} as others from ({sql}))) where witness is distinct from run group by run"
        )
        return {run: tuple(found) for run, found in rows}

    # --- inputs ------------------------------------------------------------------------------------------------------

    def _input_of(self, table: str) -> str:
        """A table of runs as the input of a block."""
        columns = self._catalog.columns[table]
        listed = ", ".join(map(quote, columns))
        return self._new_input(
            columns, "view", f"select {listed}, case when run_id is not null then [run_id::varchar] end as {OWN_RUNS}"
            f" from {quoted(table)}"
        )

    def _made(self, query: exp.Query, ctes: tuple[exp.CTE, ...], names: tuple[str, ...]) -> str | None:
        """A whole block's rows as the input of the next."""
        import duckdb

        annotated = self._annotated(query, ctes)
        if annotated is None:
            return None
        sql, number, _, columns = annotated
        seen = (*names, *columns[len(names) :])
        listed = ", ".join(f"{quote(column)} as {quote(name)}" for column, name in zip(columns, seen, strict=True))
        try:
            return self._new_input(
                seen, "table", f"select {listed}, list_distinct(flatten(__why_{number})) as {OWN_RUNS} from ({sql})"
            )
        except duckdb.Error:
            return None

    def _new_input(self, columns: Sequence[str], kind: str, query: str) -> str:
        name = f"{_INPUT}_{self._inputs + 1}"
        self._con.execute(f"create temp {kind} {name} as {query}")
        self._inputs += 1
        self._columns[name] = columns
        self._tokens[name] = f"{{alias}}.{OWN_RUNS}"
        return name

    def _runs_of(self, name: str) -> set[str]:
        return {row[0] for row in self._con.execute(f"select distinct unnest({OWN_RUNS}) from {quote(name)}").fetchall()}

    def _rows_of(self, result: str) -> dict[str, tuple[int, ...]]:
        same = " and ".join(f"r.{quote(column)} is not distinct from t.{quote(column)}" for column in self._grain)
        rows = self._con.execute(
            f"select run, list(distinct row order by row) from (select unnest(r.{OWN_RUNS}) as run, t.rowid as row from"
            f" {quote(result)} r join {self._rollup} t on {same}) group by run"
        ).fetchall()
        return {run: tuple(found) for run, found in rows}


def _undetermined(runs: set[str], clause: Clause) -> list[Loss]:
    return [Loss(run, clause, False, False, (), None) for run in sorted(runs)]
