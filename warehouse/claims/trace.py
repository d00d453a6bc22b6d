"""From rollup rows to the bytes: hop by hop down the models, each hop one annotated query over the build itself.

A hop takes rows of one table and asks, by annotating that table's own SQL, which rows of the tables it reads they came
from: for a row's existence (its runs) and for the value of one column (its evidence). The last hop ends in landing
rows, which carry file, offset and length. Composition of the traces is the trace of the composition
(Perm, ICDE 2009; see `claims.provenance`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.claims.catalog import BuiltModel, Catalog
from warehouse.claims.hop import hop, row_tokens, run_tokens
from warehouse.claims.parsed import parsed
from warehouse.landing.batches import DECIDED_TABLES
from warehouse.transform.duck import quoted, text_literal
from warehouse.transform.sql_text import body

if TYPE_CHECKING:
    import duckdb

_WHOLE_ROW = "*"
# In place of a value column: what the row's being there rests on. No column has this name.
THE_ROW = ""


@dataclass(frozen=True)
class FileEvidence:
    """Byte ranges of one raw file, in order, adjacent ones joined: (offset, length) in bytes."""

    artifact_manifest_digest: str
    raw_path: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RowTrace:
    """One rollup row's why-set of runs, sorted; each value column's own runs (those whose rows its value was computed from,
    at any depth) and its evidence. Under `THE_ROW` stand the runs and the evidence of its being there, where that was asked."""

    runs: tuple[str, ...]
    evidence: Mapping[str, tuple[FileEvidence, ...]]
    cell_runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def runs_of(self, column: str) -> tuple[str, ...]:
        """All runs that a cell rests on: those of its row and those of its value."""
        return tuple(sorted({*self.runs, *self.cell_runs.get(column, ())}))

    def all_runs(self) -> frozenset[str]:
        """The runs that the row or any of its values rests on."""
        return frozenset(self.runs).union(*self.cell_runs.values())


def trace(
    con: "duckdb.DuckDBPyConnection",
    catalog: Catalog,
    query: str,
    columns: Sequence[str],
    rows: Sequence[int] | None = None,
    *,
    keeps_landing_rows: bool = False,
    traces_rows: bool = False,
) -> dict[int, RowTrace]:
    """Trace rows of `rollup.<query>` (all, or those with the given row ids) to their runs, and the given value columns to
    their evidence, with `traces_rows` also that of the rows being there; without columns no further than to the runs.

    `con` is a session of `open_trace_session`. Its table `demand` holds afterwards which column (`c`, `*` for a row as
    such) of which row (`rid`) of which model (`tab`) each value rests on, and with `keeps_landing_rows` its table
    `landing_demand` the same of landing tables, for `claims.cell_rows` to read. Raises WH306 for SQL that cannot be traced,
    and when an annotated query does not give back the rows it is asked about (guarantee G1 of the design).
    """
    tracer = _Tracer(con, catalog, keeps_landing_rows=keeps_landing_rows)
    tracer.start(catalog.models[f"rollup.{query}"], list(columns), rows, traces_rows=traces_rows)
    for name in reversed(list(catalog.models)) if columns else ():
        tracer.descend(catalog.models[name])
    return tracer.result()


class _Tracer:
    """The state of one trace, kept in temporary tables of the session: which rows are still to be followed."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", catalog: Catalog, *, keeps_landing_rows: bool) -> None:
        self._con = con
        self._catalog = catalog
        self._keeps_landing_rows = keeps_landing_rows
        self._tokens = row_tokens(catalog, tells_content=keeps_landing_rows)
        self._targets: list[int] = []
        self._demanded: set[str] = set()  # models of which `demand` has rows
        self._witnessed: set[str] = set()  # models of which `witness` has rows
        self._follows_values = False

    def _create_demand(self) -> None:
        self._follows_values = True
        self._con.execute(
            "create or replace temp table demand (target bigint, value varchar, tab varchar, c varchar, rid bigint);"
            "create or replace temp table witness"
            " (tab varchar, c varchar, rid bigint, by_tab varchar, by_c varchar, by_rid bigint);"
            "create or replace temp table evidence"
            " (target bigint, value varchar, digest varchar, path varchar, \"offset\" bigint, length bigint);"
            "create or replace temp table landing_demand (tab varchar, c varchar, digest varchar, path varchar,"
            " \"offset\" bigint, length bigint, content ubigint);"
            "create or replace temp table cell_run (target bigint, value varchar, run_id varchar)"
        )

    def start(self, query: BuiltModel, columns: list[str], rows: Sequence[int] | None, *, traces_rows: bool) -> None:
        """The first hop: from rollup rows to the rows of facts and dimensions, and to their runs."""
        table = quoted(query.qualified)
        where = "" if rows is None else f"where rowid in ({', '.join(map(str, rows)) or 'null'})"
        self._con.execute(f"create or replace temp table wanted as select rowid as rid from {table} {where}")
        self._targets = [row[0] for row in self._con.execute("select rid from wanted order by rid").fetchall()]
        annotated = hop(self._con, self._catalog, query, run_tokens(self._catalog))
        listed = [f"select rid as target, unnest(__why_{occurrence.number})::varchar as run_id from hop" for occurrence in annotated.occurrences]
        of_runs = " union ".join(listed) or "select null::bigint as target, null::varchar as run_id where false"
        self._con.execute(f"create or replace temp table runs as select distinct target, run_id from ({of_runs})")
        if not columns:
            return
        self._create_demand()
        annotated = hop(self._con, self._catalog, query, self._tokens, columns, traces_rows)
        for occurrence in annotated.occurrences if traces_rows else ():
            row = f"struct_pack(c := '{_WHOLE_ROW}', t := unnest(__why_{occurrence.number})) as e"
            self._follow(f"select rid as target, {text_literal(THE_ROW)} as value, {row} from hop", occurrence.table)
        for value, column in enumerate(columns):
            for occurrence in annotated.occurrences:
                cells = f"unnest(__cell_{value}_{occurrence.number})"
                self._follow(f"select rid as target, {text_literal(column)} as value, {cells} as e from hop", occurrence.table)

    def descend(self, model: BuiltModel) -> None:
        """Follow every demanded row of one table into what its SQL reads."""
        if model.qualified in self._witnessed:
            self._demand_witnesses(model)
        if model.qualified not in self._demanded:
            return
        name = text_literal(model.qualified)
        if self._has_runs(model.qualified):
            self._con.execute(
                f"insert into cell_run select distinct d.target, d.value, t.run_id from demand d"
                f" join {quoted(model.qualified)} t on t.rowid = d.rid where d.tab = {name} and t.run_id is not null"
            )
        columns = [
            row[0]
            for row in self._con.execute(f"select distinct c from demand where tab = {name} order by c").fetchall()
        ]
        self._con.execute(f"create or replace temp table wanted as select distinct rid from demand where tab = {name}")
        values = [column for column in columns if column != _WHOLE_ROW]
        annotated = hop(self._con, self._catalog, model, self._tokens, values, _WHOLE_ROW in columns)
        stated = group_keys(model, values)
        whole = self._catalog.columns[model.qualified]
        if _WHOLE_ROW in columns and len(group_keys(model, list(whole))) == len(whole):
            stated = [*stated, _WHOLE_ROW]  # it has nothing but its key: whoever states that states the row
        for occurrence in annotated.occurrences:
            table = self._catalog.resolve(occurrence.table)
            by_witnesses = stated if table in self._catalog.models and self._has_runs(table) else []
            marks = {column: f"__cell_{value}_{occurrence.number}" for value, column in enumerate(values)}
            cells = {column: f"select rid, {text_literal(column)} as c, unnest({mark}) as e from hop" for column, mark in marks.items()}
            if _WHOLE_ROW in columns:
                whys = f"unnest(__why_{occurrence.number})"
                cells[_WHOLE_ROW] = f"select rid, '*' as c, struct_pack(c := '*', t := {whys}) as e from hop"
            if others := [cell for column, cell in cells.items() if column not in by_witnesses]:
                source = (
                    f"select d.target, d.value, x.e from demand d join ({' union all '.join(others)}) x"
                    f" on x.rid = d.rid and x.c = d.c where d.tab = {name}"
                )
                self._follow(source, occurrence.table)
            if stating := [cell for column, cell in cells.items() if column in by_witnesses]:
                self._witnessed.add(table)
                self._con.execute(
                    f"insert into witness select distinct {text_literal(table)}, e.c, e.t, {name}, c, rid"
                    f" from ({' union all '.join(stating)})"
                )

    def _has_runs(self, table: str) -> bool:
        return "run_id" in self._catalog.columns[table]

    def _demand_witnesses(self, model: BuiltModel) -> None:
        """Demand the rows that merely state a group key, as every run that shares a dimension's row does: each of them says the
        same, so those of the number's own runs are enough, and all only where it has none among them. Numbers and witnesses
        meet by their runs first: met by the row that they share, there would be as many pairs as the square of the runs."""
        table, name = quoted(model.qualified), text_literal(model.qualified)
        self._con.execute(
            "create or replace temp table stating as select w.c, w.rid, w.by_tab, w.by_c, w.by_rid, t.run_id"
            f" from witness w join {table} t on t.rowid = w.rid where w.tab = {name};"
            "create or replace temp table stated as select d.target, d.value, k.c, d.tab as by_tab, d.c as by_c, d.rid as by_rid"
            " from demand d join (select distinct c, by_tab, by_c, by_rid from stating) k"
            " on k.by_tab = d.tab and k.by_c = d.c and k.by_rid = d.rid;"
            "create or replace temp table of_own_run as select s.*, r.run_id from stated s join runs r on r.target = s.target;"
            "create or replace temp table own as select distinct s.target, s.value, w.c, w.rid"
            " from of_own_run s join stating w using (c, by_tab, by_c, by_rid, run_id);"
            f"insert into demand select target, value, {name}, c, rid from own;"
            f"insert into demand select distinct s.target, s.value, {name}, w.c, w.rid"
            " from (select * from stated anti join own using (target, value, c)) s join stating w using (c, by_tab, by_c, by_rid)"
        )
        self._demanded.add(model.qualified)

    def _follow(self, source: str, table: str) -> None:
        """File tokens under the table they belong to: rows to follow further, or evidence."""
        name = self._catalog.resolve(table)
        if name in self._catalog.models:
            [(count,)] = self._con.execute(
                f"insert into demand select distinct target, value, {text_literal(name)}, e.c, e.t from ({source})"
            ).fetchall()
            if count:
                self._demanded.add(name)
        else:
            if name not in DECIDED_TABLES:  # no evidence: what a number was decided with is named by its publication
                self._con.execute(
                    "insert into evidence select distinct target, value, e.t.digest, e.t.path, e.t.\"offset\", e.t.length"
                    f" from ({source})"
                )
            if self._keeps_landing_rows:
                self._con.execute(
                    f"insert into landing_demand select distinct {text_literal(name)}, e.c, e.t.digest, e.t.path,"
                    f" e.t.\"offset\", e.t.length, e.t.content from ({source})"
                )

    def result(self) -> dict[int, RowTrace]:
        runs: dict[int, list[str]] = {target: [] for target in self._targets}
        for target, run_id in self._con.execute("select target, run_id from runs order by target, run_id").fetchall():
            runs[target].append(run_id)
        if not self._follows_values:
            return {target: RowTrace(tuple(runs[target]), {}) for target in self._targets}
        files: dict[int, dict[str, dict[tuple[str, str], list[tuple[int, int]]]]] = {target: {} for target in self._targets}
        for target, value, digest, path, offset, length in self._con.execute(
            "select distinct * from evidence order by target, value, digest, path, \"offset\", length"
        ).fetchall():
            files[target].setdefault(value, {}).setdefault((digest, path), []).append((offset, length))
        cell_runs: dict[int, dict[str, list[str]]] = {target: {} for target in self._targets}
        for target, value, run_id in self._con.execute(
            "select distinct * from cell_run order by target, value, run_id"
        ).fetchall():
            cell_runs[target].setdefault(value, []).append(run_id)
        return {
            target: RowTrace(
                tuple(runs[target]),
                {
                    value: tuple(FileEvidence(digest, path, joined(ranges)) for (digest, path), ranges in found.items())
                    for value, found in files[target].items()
                },
                {value: tuple(found) for value, found in cell_runs[target].items()},
            )
            for target in self._targets
        }


def group_keys(model: BuiltModel, columns: Sequence[str]) -> list[str]:
    """Those of the columns that are keys of the model's own outermost GROUP BY: all rows of a group hold the same value,
    so any of them is its witness. Of a model that does not plainly group, none."""
    from sqlglot import exp

    tree = parsed(body(model.sql))
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        return []
    plain = {
        item.alias_or_name.lower()
        for item in tree.expressions
        if isinstance(item.unalias(), exp.Column) and not item.find(exp.AggFunc, exp.Window)
    }
    return [column for column in columns if column.lower() in plain]


def joined(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted (offset, length) pairs with overlapping and adjacent ones joined; one byte between two is a newline that
    line ranges leave out."""
    merged: list[tuple[int, int]] = []
    for offset, length in sorted(ranges):
        if merged and offset <= merged[-1][0] + merged[-1][1] + 1:
            start, covered = merged[-1]
            merged[-1] = (start, max(covered, offset + length - start))
        else:
            merged.append((offset, length))
    return tuple(merged)
