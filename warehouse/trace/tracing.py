"""From rollup rows to the bytes: hop by hop down the models, each hop one annotated query over the build itself.

A hop takes rows of one table and asks, by annotating that table's own SQL, which rows of the tables it reads they came
from: for a row's existence (its runs) and for the value of one column (its evidence). The last hop ends in landing
rows, which carry file, offset and length. Composition of the traces is the trace of the composition
(Perm, ICDE 2009; see `claims.trace.provenance`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.parse_cache import parsed
from warehouse.trace.trace_step import FILE_HASH, OWN_PREFIX, WANTED, has_bytes, hop, pieces, row_tokens, run_tokens
from warehouse.transform.lineage.derived import ColumnRef
from warehouse.transform.sql.duck import quote, quoted, text_literal
from warehouse.transform.sql.text import body

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.check.text_facts import TextFacts

_WHOLE_ROW = "*"
# In place of a value column: what the existence of the row depends on. No column has this name.
THE_ROW = ""
_RUNS, _MORE_RUNS, _WITNESS, _EVIDENCE, _TARGET, _STATING, _STATED, _OWN, RAW_FILE, LANDING_DEMAND = (
    quote(OWN_PREFIX + name)
    for name in (
        "runs", "more runs", "witness", "evidence", "target", "stating", "stated", "own", "raw file", "landing demand"
    )
)
_ROWS_AT_ONCE, _RANGES_AT_ONCE = 1000, 100_000
# What the engine may take for a trace before it writes to disk: half of the gigabyte that 20,000 runs may, the rest is Python's.
ENGINE_MEMORY = "384MB"


@dataclass(frozen=True)
class FileEvidence:
    """Byte ranges of one raw file, in order, adjacent ones joined: (offset, length) in bytes."""

    artifact_manifest_digest: str
    raw_path: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RowTrace:
    """One rollup row's why-set of runs, sorted; the runs beyond these that each value column depends on (whose rows its value was
    computed from, at any depth); and each value's evidence. `THE_ROW` has the runs and the evidence of the row's being
    there, where that was asked."""

    runs: tuple[str, ...]
    evidence: Mapping[str, tuple[FileEvidence, ...]]
    more_runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def runs_of(self, column: str) -> tuple[str, ...]:
        """All runs that a cell depends on: those of its row and those of its value."""
        more = self.more_runs.get(column)
        return tuple(sorted({*self.runs, *more})) if more else self.runs

    def all_runs(self) -> frozenset[str]:
        """The runs that the row or any of its values depends on."""
        return frozenset(self.runs).union(*self.more_runs.values())


class Traced:
    """What a trace found, in temporary tables of its session: read in parts, so that memory does not grow with the rows."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", demanded: Collection[str]) -> None:
        self._con = con
        self.demanded = frozenset(demanded)  # the models that rows were read of

    def runs(self) -> list[str]:
        """The runs that any row or value depends on, sorted."""
        found = f"select run_id from {_RUNS} union select run_id from {_MORE_RUNS} order by run_id"
        return [row[0] for row in self._con.execute(found).fetchall()]

    def bundles(self) -> list[str]:
        """The bundles that any value was read from, sorted."""
        return [row[0] for row in self._con.execute(f"select distinct digest from {RAW_FILE} order by digest").fetchall()]

    def parts(self) -> Iterator[dict[int, RowTrace]]:
        """The rows by row id, in order, some at a time."""
        targets = [row[0] for row in self._con.execute(f"select rid from {_TARGET} order by rid").fetchall()]
        for first in range(0, len(targets), _ROWS_AT_ONCE):
            yield self._part(targets[first : first + _ROWS_AT_ONCE])

    def row(self, target: int) -> RowTrace:
        """One row, by its row id."""
        return self._part([target])[target]

    def reading(self, targets: Collection[int], places: Collection[ColumnRef]) -> set[tuple[int, str]]:
        """The cells, by row id and column, of some rows whose values were computed from one of these columns."""
        found: set[tuple[int, str]] = set()
        for table in sorted({place.table for place in places} & self.demanded):
            columns = ", ".join(text_literal(place.column) for place in places if place.table == table)
            found |= set(self._con.execute(
                f"select distinct target, value::varchar from {demand_table(table)}"
                f" where target between {min(targets)} and {max(targets)} and c in ({columns})"
            ).fetchall())
        return found

    def _part(self, targets: Sequence[int]) -> dict[int, RowTrace]:
        runs: dict[int, list[str]] = {target: [] for target in targets}
        more: dict[int, dict[str, list[str]]] = {target: {} for target in targets}
        files: dict[int, dict[str, list[FileEvidence]]] = {target: {} for target in targets}
        within = f"where target between {targets[0]} and {targets[-1]}"
        for target, run_id in self._con.execute(f"select target, run_id from {_RUNS} {within} order by target, run_id").fetchall():
            runs[target].append(run_id)
        for target, value, run_id in self._con.execute(
            f"select distinct target, value, run_id from {_MORE_RUNS} {within} order by target, value, run_id"
        ).fetchall():
            more[target].setdefault(value, []).append(run_id)
        for (target, value, digest, path), ranges in groupby(self._ranges(within), key=lambda row: row[:4]):
            spans = joined((offset, length) for *_, offset, length in ranges)
            files[target].setdefault(value, []).append(FileEvidence(digest, path, spans))
        return {
            target: RowTrace(
                tuple(runs[target]),
                {value: tuple(found) for value, found in files[target].items()},
                {value: tuple(found) for value, found in more[target].items()},
            )
            for target in targets
        }

    def _ranges(self, within: str) -> Iterator[tuple[int, str, str, str, int, int]]:
        """Target, value, manifest digest, path, offset and length of every range, in this order, as the engine yields them: one
        number of a large table has millions, of which few are left once they are joined."""
        found = self._con.execute(
            "select e.target, e.value, f.digest, f.path, e.\"offset\", e.length"
            f" from (from {_EVIDENCE} {within}) e join {RAW_FILE} f on f.file = e.file"
            " order by e.target, e.value, f.digest, f.path, e.\"offset\", e.length"
        )
        while rows := found.fetchmany(_RANGES_AT_ONCE):
            yield from rows


def trace(
    con: "duckdb.DuckDBPyConnection",
    catalog: Catalog,
    query: str,
    columns: Sequence[str],
    rows: Sequence[int] | None = None,
    *,
    keeps_landing_rows: bool = False,
    traces_rows: bool = False,
    facts: "TextFacts | None" = None,
) -> Traced:
    """Trace rows of `rollup.<query>` (all, or those with the given row ids) to their runs, and the given value columns to
    their evidence, with `traces_rows` also that of the rows being there; without columns no further than to the runs.

    `con` is a session of `open_trace_session`. It holds afterwards, for `claims.numbers.cell_rows` to read, a table `demand_table(model)`
    for every model of which rows were read: which column (`c`, `*` for a row as such) of which row (`rid`) each value depends on;
    with `keeps_landing_rows` its table `LANDING_DEMAND` has the same of landing tables. What follows from SQL alone is taken from `facts`, which
    verification has none of. Raises WH306 for SQL that cannot be
    traced, and when an annotated query does not give back the rows it is asked about (guarantee G1 of the design).
    """
    import duckdb

    def traced() -> Traced:
        tracer = Tracer(con, catalog, facts, keeps_landing_rows=keeps_landing_rows)
        tracer.start(catalog.models[f"rollup.{query}"], list(columns), rows, traces_rows=traces_rows)
        for name in reversed(list(catalog.models)) if columns else ():
            tracer.descend(catalog.models[name])
        tracer.name_files()
        return Traced(con, tracer.demanded)

    try:
        con.execute(f"set memory_limit = '{ENGINE_MEMORY}'")
        return traced()
    except duckdb.OutOfMemoryException:  # some steps cannot leave their data on disk, such as the list of one very large group
        con.execute("reset memory_limit")
        return traced()
    finally:
        con.execute("reset memory_limit")


def demand_table(model: str) -> str:
    """The table of a trace's session that says which rows of a model are demanded, quoted."""
    return quote(f"{OWN_PREFIX}demand of {model}")


class Tracer:
    """The state of one trace, kept in temporary tables of the session: which rows are still to be followed. There may be
    hundreds of demands for every row that is traced, so names of columns are enums there, and files are numbered."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", catalog: Catalog, facts: "TextFacts | None", *, keeps_landing_rows: bool) -> None:
        self._con = con
        self._catalog, self._facts = catalog, facts
        self._keeps_landing_rows = keeps_landing_rows
        self._tokens = row_tokens(catalog, tells_content=keeps_landing_rows)
        self.demanded: set[str] = set()  # models of which rows are demanded
        self._landing_tables: set[str] = set()  # that evidence is read of
        self._witnessed: dict[str, set[str]] = {}  # models of which `witness` has rows, and the models whose cells these state

    def _create_tables(self) -> None:
        names = {_WHOLE_ROW, THE_ROW}.union(*self._catalog.columns.values())
        self._con.execute(
            "drop type if exists column_name cascade;"  # to replace it, as DuckDB 2.0.0 did, 2.0.1 refuses while tables of a first try have it
            f"create temp type column_name as enum ({', '.join(map(text_literal, sorted(names)))});"
            f"create or replace temp table {_RUNS} (target bigint, run_id varchar);"
            f"create or replace temp table {_MORE_RUNS} (target bigint, value column_name, run_id varchar);"
            f"create or replace temp table {_WITNESS}"
            " (tab varchar, c column_name, rid bigint, by_tab varchar, by_c column_name, by_rid bigint);"
            f"create or replace temp table {RAW_FILE} (file ubigint, digest varchar, path varchar);"
            f"create or replace temp table {_EVIDENCE}"
            " (target bigint, value column_name, file ubigint, \"offset\" bigint, length bigint);"
            f"create or replace temp table {LANDING_DEMAND} (tab varchar, c column_name, content ubigint);"
        )

    def start(self, query: BuiltModel, columns: list[str], rows: Sequence[int] | None, *, traces_rows: bool) -> None:
        """The first hop: from rollup rows to the rows of facts and dimensions, and to their runs."""
        self._create_tables()
        table = quoted(query.qualified)
        where = "" if rows is None else f"where rowid in ({', '.join(map(str, rows)) or 'null'})"
        self._con.execute(f"create or replace temp table {WANTED} as select rowid as rid from {table} {where}")
        self._con.execute(f"create or replace temp table {_TARGET} as from {WANTED}")
        annotated = hop(self._con, self._catalog, query, run_tokens(self._catalog), facts=self._facts)
        listed = [f"select rid as target, t::varchar as run_id from ({pieces(annotated, mark)})" for mark in annotated.marks]
        of_runs = " union ".join(listed) or "select null::bigint as target, null::varchar as run_id where false"
        self._con.execute(f"insert into {_RUNS} select distinct target, run_id from ({of_runs})")
        if not columns:
            return
        annotated = hop(self._con, self._catalog, query, self._tokens, columns, traces_rows, is_known=True, facts=self._facts)
        for mark in annotated.marks:
            name = THE_ROW if mark.value is None else columns[mark.value]
            found = f"select rid as target, {text_literal(name)} as value, c, t from ({pieces(annotated, mark)})"
            self._follow(found, mark.occurrence.table, is_set=mark.is_own)

    def descend(self, model: BuiltModel) -> None:
        """Follow every demanded row of one table into what its SQL reads."""
        if model.qualified in self._witnessed:
            self._demand_witnesses(model)
        if model.qualified not in self.demanded:
            return
        demand = demand_table(model.qualified)
        if self._has_runs(model.qualified):
            self._con.execute(
                f"insert into {_MORE_RUNS} select distinct d.target, d.value, t.run_id from {demand} d"
                f" join {quoted(model.qualified)} t on t.rowid = d.rid anti join {_RUNS} r on r.target = d.target and r.run_id = t.run_id"
                " where t.run_id is not null"
            )
        columns = [row[0] for row in self._con.execute(f"select distinct c from {demand} order by c").fetchall()]
        self._con.execute(f"create or replace temp table {WANTED} as select distinct rid from {demand}")
        values = [column for column in columns if column != _WHOLE_ROW]
        annotated = hop(self._con, self._catalog, model, self._tokens, values, _WHOLE_ROW in columns, facts=self._facts)
        stated = group_keys(model, values)
        whole = self._catalog.columns[model.qualified]
        if _WHOLE_ROW in columns and len(group_keys(model, list(whole))) == len(whole):
            stated = [*stated, _WHOLE_ROW]  # it has nothing but its key: whoever states that states the row
        for occurrence in annotated.occurrences:
            cells = [
                (column, f"select rid as of_rid, {text_literal(column)}::column_name as of_c, c, t from ({pieces(annotated, mark)})")
                for mark in annotated.marks
                if mark.occurrence == occurrence
                for column in (_WHOLE_ROW if mark.value is None else values[mark.value],)
            ]
            table = self._catalog.resolve(occurrence.table)
            by_witnesses = stated if table in self._catalog.models and self._has_runs(table) else ()
            if followed := [cell for column, cell in cells if column not in by_witnesses]:
                self._follow(
                    f"select d.target, d.value, x.c, x.t from {demand} d join ({' union all '.join(followed)}) x"
                    " on x.of_rid = d.rid and x.of_c = d.c",
                    occurrence.table,
                )
            if witnessed := [cell for column, cell in cells if column in by_witnesses]:
                self._witnessed.setdefault(table, set()).add(model.qualified)
                self._con.execute(
                    f"insert into {_WITNESS} select distinct {text_literal(table)}, c, t, {text_literal(model.qualified)}, of_c, of_rid"
                    f" from ({' union all '.join(witnessed)})"
                )

    def _has_runs(self, table: str) -> bool:
        return "run_id" in self._catalog.columns[table]

    def _demand_witnesses(self, model: BuiltModel) -> None:
        """Demand the rows that merely state a group key, as every run that shares a dimension's row does. Each of them says the
        same: those of the number's own runs are enough, and all are demanded only where it has none among them. Numbers and
        witnesses are joined by their runs: joined by the row that they share, there would be as many pairs as the square of the
        runs."""
        table, name = quoted(model.qualified), text_literal(model.qualified)
        demands = " union all ".join(
            f"select *, {text_literal(by)} as by_tab from {demand_table(by)}" for by in sorted(self._witnessed[model.qualified])
        )
        self._con.execute(
            f"create or replace temp table {_STATING} as select w.c, w.rid, w.by_tab, w.by_c, w.by_rid, t.run_id"
            f" from {_WITNESS} w join {table} t on t.rowid = w.rid where w.tab = {name};"
            f"create or replace temp table {_STATED} as select d.target, d.value, k.c, k.by_tab, k.by_c, k.by_rid"
            f" from ({demands}) d join (select distinct c, by_tab, by_c, by_rid from {_STATING}) k"
            " on k.by_tab = d.by_tab and k.by_c = d.c and k.by_rid = d.rid;"
            f"create or replace temp table {_OWN} as select distinct s.target, s.value, w.c, w.rid"
            f" from (select s.*, r.run_id from {_STATED} s join {_RUNS} r on r.target = s.target) s"
            f" join {_STATING} w using (c, by_tab, by_c, by_rid, run_id)"
        )
        self._demand(
            model.qualified,
            f"select target, value, c, rid from {_OWN} union select s.target, s.value, w.c, w.rid"
            f" from (select * from {_STATED} anti join {_OWN} using (target, value, c)) s join {_STATING} w using (c, by_tab, by_c, by_rid)",
        )

    def _demand(self, model: str, rows: str) -> None:
        """Add rows (target, value, c, rid) to those that are demanded of a model."""
        if model not in self.demanded:
            self._con.execute(
                f"create or replace temp table {demand_table(model)} (target bigint, value column_name, c column_name, rid bigint)"
            )
        [(count,)] = self._con.execute(f"insert into {demand_table(model)} {rows}").fetchall()
        if count:
            self.demanded.add(model)

    def _follow(self, source: str, table: str, is_set: bool = False) -> None:
        """File tokens (target, value, c, t) under the table they belong to: rows to follow further, or evidence. With `is_set` no
        two are the same."""
        distinct = "" if is_set else "distinct "
        name = self._catalog.resolve(table)
        if name in self._catalog.models:
            self._demand(name, f"select {distinct}target, value, c, t from ({source})")
            return
        is_evidence = has_bytes(self._catalog.landing_types[name])  # else it is named by the publication, as decisions are, or not at all
        if is_evidence:
            self._landing_tables.add(name)
            self._con.execute(
                f"insert into {_EVIDENCE} select {distinct}target, value, t.file, t.\"offset\", t.length"
                f" from ({source})"
            )
        if self._keeps_landing_rows:
            content = "t.content" if is_evidence else "t"
            self._con.execute(f"insert into {LANDING_DEMAND} select distinct {text_literal(name)}, c, {content} from ({source})")

    def name_files(self) -> None:
        """Find the files that tokens name by their hashes. Raises WH306 when two have the same."""
        for name in sorted(self._landing_tables):
            self._con.execute(
                f"insert into {RAW_FILE} select distinct {FILE_HASH.format(alias='t')} as file, t.artifact_manifest_digest, t.raw_path"
                f" from {quote(name)} t where file in (select file from {_EVIDENCE})"
                f" and file not in (select file from {RAW_FILE})"
            )
        [(files, hashes)] = self._con.execute(f"select count(*), count(distinct file) from {RAW_FILE}").fetchall()
        if files != hashes:  # of a million files, once in forty million stores
            raise WarehouseError("WH306", "two raw files have the same hash in this trace", hint="report this as a defect of wh")


def group_keys(model: BuiltModel, columns: Sequence[str]) -> list[str]:
    """Those of the columns that are computed from the keys of the model's own outermost GROUP BY and nothing else: all rows of a
    group hold the same value, so any of them is its witness. A model that does not plainly group has none."""
    from sqlglot import exp

    from warehouse.trace.provenance.syntax.engine import is_aggregate

    tree = parsed(body(model.sql))
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        return []
    keyed = {
        item.alias_or_name.lower()
        for item in tree.expressions
        if not any(isinstance(node, exp.Window | exp.Query | exp.Star) or is_aggregate(node) for node in item.walk())
    }
    return [column for column in columns if column.lower() in keyed]


def joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted (offset, length) pairs with overlapping and adjacent ones joined; one byte between two is a newline that
    line ranges leave out."""
    merged: list[tuple[int, int]] = []
    for offset, length in ranges:
        if merged and offset <= merged[-1][0] + merged[-1][1] + 1:
            start, covered = merged[-1]
            merged[-1] = (start, max(covered, offset + length - start))
        else:
            merged.append((offset, length))
    return tuple(merged)
