"""From rollup rows to the bytes: hop by hop down the models, each hop one annotated query over the build itself.

A hop takes rows of one table and asks, by annotating that table's own SQL, which rows of the tables it reads they came
from: for a row's existence (its runs) and for the value of one column (its evidence). The last hop ends in landing
rows, which carry file, offset and length. Composition of the traces is the trace of the composition
(Perm, ICDE 2009; see `claims.provenance`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warehouse.claims.catalog import BuiltModel, Catalog
from warehouse.claims.hop import FILE_HASH, hop, row_tokens, run_tokens
from warehouse.claims.parsed import parsed
from warehouse.errors import WarehouseError
from warehouse.landing.batches import DECIDED_TABLES
from warehouse.transform.derived import ColumnRef
from warehouse.transform.duck import quote, quoted, text_literal
from warehouse.transform.sql_text import body

if TYPE_CHECKING:
    import duckdb

_WHOLE_ROW = "*"
# In place of a value column: what the row's being there rests on. No column has this name.
THE_ROW = ""
_ROWS_AT_ONCE = 1000
# What the engine may take for a trace before it writes to disk: half of the gigabyte that 20,000 runs may, the rest is Python's.
ENGINE_MEMORY = "512MB"


@dataclass(frozen=True)
class FileEvidence:
    """Byte ranges of one raw file, in order, adjacent ones joined: (offset, length) in bytes."""

    artifact_manifest_digest: str
    raw_path: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RowTrace:
    """One rollup row's why-set of runs, sorted; the runs beyond these that each value column rests on (whose rows its value was
    computed from, at any depth); and each value's evidence. Under `THE_ROW` stand the runs and the evidence of the row's being
    there, where that was asked."""

    runs: tuple[str, ...]
    evidence: Mapping[str, tuple[FileEvidence, ...]]
    more_runs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def runs_of(self, column: str) -> tuple[str, ...]:
        """All runs that a cell rests on: those of its row and those of its value."""
        more = self.more_runs.get(column)
        return tuple(sorted({*self.runs, *more})) if more else self.runs

    def all_runs(self) -> frozenset[str]:
        """The runs that the row or any of its values rests on."""
        return frozenset(self.runs).union(*self.more_runs.values())


class Traced:
    """What a trace found, in temporary tables of its session: read in parts, so that memory does not grow with the rows."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", demanded: Collection[str]) -> None:
        self._con = con
        self.demanded = frozenset(demanded)  # the models that rows were read of

    def runs(self) -> list[str]:
        """The runs that any row or value rests on, sorted."""
        found = "select run_id from runs union select run_id from more_runs order by run_id"
        return [row[0] for row in self._con.execute(found).fetchall()]

    def bundles(self) -> list[str]:
        """The bundles that any value was read from, sorted."""
        return [row[0] for row in self._con.execute("select distinct digest from raw_file order by digest").fetchall()]

    def parts(self) -> Iterator[dict[int, RowTrace]]:
        """The rows by row id, in order, some at a time."""
        targets = [row[0] for row in self._con.execute("select rid from target order by rid").fetchall()]
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
        files: dict[int, dict[str, dict[tuple[str, str], list[tuple[int, int]]]]] = {target: {} for target in targets}
        within = f"where target between {targets[0]} and {targets[-1]}"
        for target, run_id in self._con.execute(f"select target, run_id from runs {within} order by target, run_id").fetchall():
            runs[target].append(run_id)
        for target, value, run_id in self._con.execute(
            f"select distinct target, value, run_id from more_runs {within} order by target, value, run_id"
        ).fetchall():
            more[target].setdefault(value, []).append(run_id)
        for target, value, digest, path, offset, length in self._con.execute(
            "select distinct e.target, e.value, f.digest, f.path, e.\"offset\", e.length"
            f" from (from evidence {within}) e join raw_file f on f.file = e.file"
            " order by e.target, e.value, f.digest, f.path, e.\"offset\", e.length"
        ).fetchall():
            files[target].setdefault(value, {}).setdefault((digest, path), []).append((offset, length))
        return {
            target: RowTrace(
                tuple(runs[target]),
                {
                    value: tuple(FileEvidence(digest, path, joined(ranges)) for (digest, path), ranges in found.items())
                    for value, found in files[target].items()
                },
                {value: tuple(found) for value, found in more[target].items()},
            )
            for target in targets
        }


def trace(
    con: "duckdb.DuckDBPyConnection",
    catalog: Catalog,
    query: str,
    columns: Sequence[str],
    rows: Sequence[int] | None = None,
    *,
    keeps_landing_rows: bool = False,
    traces_rows: bool = False,
) -> Traced:
    """Trace rows of `rollup.<query>` (all, or those with the given row ids) to their runs, and the given value columns to
    their evidence, with `traces_rows` also that of the rows being there; without columns no further than to the runs.

    `con` is a session of `open_trace_session`. It holds afterwards, for `claims.cell_rows` to read, a table `demand_table(model)`
    for every model of which rows were read: which column (`c`, `*` for a row as such) of which row (`rid`) each value rests on;
    with `keeps_landing_rows` its table `landing_demand` has the same of landing tables. Raises WH306 for SQL that cannot be
    traced, and when an annotated query does not give back the rows it is asked about (guarantee G1 of the design).
    """
    import duckdb

    def traced() -> Traced:
        tracer = _Tracer(con, catalog, keeps_landing_rows=keeps_landing_rows)
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
    return quote(f"demand of {model}")


class _Tracer:
    """The state of one trace, kept in temporary tables of the session: which rows are still to be followed. There may be
    hundreds of demands for every row that is traced, so names of columns are enums there, and files are numbered."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", catalog: Catalog, *, keeps_landing_rows: bool) -> None:
        self._con = con
        self._catalog = catalog
        self._keeps_landing_rows = keeps_landing_rows
        self._tokens = row_tokens(catalog, tells_content=keeps_landing_rows)
        self.demanded: set[str] = set()  # models of which rows are demanded
        self._landing_tables: set[str] = set()  # that rows are read of
        self._witnessed: dict[str, set[str]] = {}  # models of which `witness` has rows, and the models whose cells these state

    def _create_tables(self) -> None:
        names = {_WHOLE_ROW, THE_ROW}.union(*self._catalog.columns.values())
        self._con.execute(
            f"create or replace temp type column_name as enum ({', '.join(map(text_literal, sorted(names)))});"
            "create or replace temp table runs (target bigint, run_id varchar);"
            "create or replace temp table more_runs (target bigint, value column_name, run_id varchar);"
            "create or replace temp table witness"
            " (tab varchar, c column_name, rid bigint, by_tab varchar, by_c column_name, by_rid bigint);"
            "create or replace temp table raw_file (file ubigint, digest varchar, path varchar);"
            "create or replace temp table evidence"
            " (target bigint, value column_name, file ubigint, \"offset\" bigint, length bigint);"
            "create or replace temp table landing_demand (tab varchar, c column_name, file ubigint,"
            " \"offset\" bigint, length bigint, content ubigint);"
        )

    def start(self, query: BuiltModel, columns: list[str], rows: Sequence[int] | None, *, traces_rows: bool) -> None:
        """The first hop: from rollup rows to the rows of facts and dimensions, and to their runs."""
        self._create_tables()
        table = quoted(query.qualified)
        where = "" if rows is None else f"where rowid in ({', '.join(map(str, rows)) or 'null'})"
        self._con.execute(f"create or replace temp table wanted as select rowid as rid from {table} {where}")
        self._con.execute("create or replace temp table target as from wanted")
        annotated = hop(self._con, self._catalog, query, run_tokens(self._catalog))
        listed = [f"select rid as target, unnest(__why_{occurrence.number})::varchar as run_id from hop" for occurrence in annotated.occurrences]
        of_runs = " union ".join(listed) or "select null::bigint as target, null::varchar as run_id where false"
        self._con.execute(f"insert into runs select distinct target, run_id from ({of_runs})")
        if not columns:
            return
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
        if model.qualified not in self.demanded:
            return
        demand = demand_table(model.qualified)
        if self._has_runs(model.qualified):
            self._con.execute(
                f"insert into more_runs select distinct d.target, d.value, t.run_id from {demand} d"
                f" join {quoted(model.qualified)} t on t.rowid = d.rid anti join runs r on r.target = d.target and r.run_id = t.run_id"
                " where t.run_id is not null"
            )
        columns = [row[0] for row in self._con.execute(f"select distinct c from {demand} order by c").fetchall()]
        self._con.execute(f"create or replace temp table wanted as select distinct rid from {demand}")
        values = [column for column in columns if column != _WHOLE_ROW]
        annotated = hop(self._con, self._catalog, model, self._tokens, values, _WHOLE_ROW in columns)
        stated = group_keys(model, values)
        whole = self._catalog.columns[model.qualified]
        if _WHOLE_ROW in columns and len(group_keys(model, list(whole))) == len(whole):
            stated = [*stated, _WHOLE_ROW]  # it has nothing but its key: whoever states that states the row
        for occurrence in annotated.occurrences:
            marks = {column: f"unnest(__cell_{value}_{occurrence.number})" for value, column in enumerate(values)}
            if _WHOLE_ROW in columns:
                marks[_WHOLE_ROW] = f"struct_pack(c := '{_WHOLE_ROW}', t := unnest(__why_{occurrence.number}))"
            cells = {
                column: f"select rid, {text_literal(column)}::column_name as c, {mark} as e from hop" for column, mark in marks.items()
            }
            table = self._catalog.resolve(occurrence.table)
            by_witnesses = stated if table in self._catalog.models and self._has_runs(table) else ()
            if followed := [cell for column, cell in cells.items() if column not in by_witnesses]:
                self._follow(
                    f"select d.target, d.value, x.e from {demand} d join ({' union all '.join(followed)}) x on x.rid = d.rid and x.c = d.c",
                    occurrence.table,
                )
            if witnessed := [cell for column, cell in cells.items() if column in by_witnesses]:
                self._witnessed.setdefault(table, set()).add(model.qualified)
                self._con.execute(
                    f"insert into witness select distinct {text_literal(table)}, e.c, e.t, {text_literal(model.qualified)}, c, rid"
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
            "create or replace temp table stating as select w.c, w.rid, w.by_tab, w.by_c, w.by_rid, t.run_id"
            f" from witness w join {table} t on t.rowid = w.rid where w.tab = {name};"
            "create or replace temp table stated as select d.target, d.value, k.c, k.by_tab, k.by_c, k.by_rid"
            f" from ({demands}) d join (select distinct c, by_tab, by_c, by_rid from stating) k"
            " on k.by_tab = d.by_tab and k.by_c = d.c and k.by_rid = d.rid;"
            "create or replace temp table own as select distinct s.target, s.value, w.c, w.rid"
            " from (select s.*, r.run_id from stated s join runs r on r.target = s.target) s"
            " join stating w using (c, by_tab, by_c, by_rid, run_id)"
        )
        self._demand(
            model.qualified,
            "select target, value, c, rid from own union select s.target, s.value, w.c, w.rid"
            " from (select * from stated anti join own using (target, value, c)) s join stating w using (c, by_tab, by_c, by_rid)",
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

    def _follow(self, source: str, table: str) -> None:
        """File tokens under the table they belong to: rows to follow further, or evidence."""
        name = self._catalog.resolve(table)
        if name in self._catalog.models:
            self._demand(name, f"select distinct target, value, e.c, e.t from ({source})")
            return
        if name not in DECIDED_TABLES:  # no evidence: what a number was decided with is named by its publication
            self._con.execute(
                "insert into evidence select distinct target, value, e.t.file, e.t.\"offset\", e.t.length"
                f" from ({source})"
            )
        self._landing_tables.add(name)
        if self._keeps_landing_rows:
            self._con.execute(
                f"insert into landing_demand select distinct {text_literal(name)}, e.c, e.t.file,"
                f" e.t.\"offset\", e.t.length, e.t.content from ({source})"
            )

    def name_files(self) -> None:
        """Find the files that tokens name by their hashes. Raises WH306 when two have the same."""
        for name in sorted(self._landing_tables):
            self._con.execute(
                f"insert into raw_file select distinct {FILE_HASH.format(alias='t')} as file, t.artifact_manifest_digest, t.raw_path"
                f" from {quote(name)} t where file in (select file from evidence union select file from landing_demand)"
                " and file not in (select file from raw_file)"
            )
        [(files, hashes)] = self._con.execute("select count(*), count(distinct file) from raw_file").fetchall()
        if files != hashes:  # of a million files, once in forty million stores
            raise WarehouseError("WH306", "two raw files have the same hash in this trace", hint="report this as a defect of wh")


def group_keys(model: BuiltModel, columns: Sequence[str]) -> list[str]:
    """Those of the columns that are computed from the keys of the model's own outermost GROUP BY and nothing else: all rows of a
    group hold the same value, so any of them is its witness. Of a model that does not plainly group, none."""
    from sqlglot import exp

    from warehouse.claims.provenance.engine import is_aggregate

    tree = parsed(body(model.sql))
    if not isinstance(tree, exp.Select) or tree.args.get("group") is None:
        return []
    keyed = {
        item.alias_or_name.lower()
        for item in tree.expressions
        if not any(isinstance(node, exp.Window | exp.Query | exp.Star) or is_aggregate(node) for node in item.walk())
    }
    return [column for column in columns if column.lower() in keyed]


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
