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
from warehouse.claims.determinism import DEFAULT_TOLERANCE
from warehouse.claims.expansion import expanded
from warehouse.claims.provenance import Annotated, Refusal, annotate
from warehouse.errors import WarehouseError
from warehouse.transform.duck import quote, quoted, text_literal
from warehouse.transform.sql_text import body

if TYPE_CHECKING:
    import duckdb

_LANDING_TOKEN = (
    "struct_pack(digest := {alias}.artifact_manifest_digest, path := {alias}.raw_path, "
    "\"offset\" := {alias}.raw_offset, length := {alias}.raw_length)"
)
_ROW_TOKEN = "{alias}.rowid"  # stable: a build's file never changes under its name
_WHOLE_ROW = "*"


@dataclass(frozen=True)
class FileEvidence:
    """Byte ranges of one raw file, in order, adjacent ones joined: (offset, length) in bytes."""

    artifact_manifest_digest: str
    raw_path: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RowTrace:
    """One rollup row's why-set of runs, sorted; each value column's own runs (those whose rows its value was computed from,
    at any depth) and its evidence."""

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
) -> dict[int, RowTrace]:
    """Trace rows of `rollup.<query>` (all, or those with the given row ids) for the given value columns.

    `con` is a session of `open_trace_session`. Its table `demand` holds afterwards which column (`c`, `*` for a row as
    such) of which row (`rid`) of which model (`tab`) each value rests on, and with `keeps_landing_rows` its table
    `landing_demand` the same of landing tables, for `claims.cell_rows` to read. Raises WH306 for SQL that cannot be traced, and when an annotated query
    does not give back the rows it is asked about (guarantee G1 of the design).
    """
    tracer = _Tracer(con, catalog, keeps_landing_rows=keeps_landing_rows)
    tracer.start(catalog.models[f"rollup.{query}"], list(columns), rows)
    for name in reversed(catalog.models):
        tracer.descend(catalog.models[name])
    return tracer.result()


class _Tracer:
    """The state of one trace, kept in temporary tables of the session: which rows are still to be followed."""

    def __init__(self, con: "duckdb.DuckDBPyConnection", catalog: Catalog, *, keeps_landing_rows: bool) -> None:
        self._con = con
        self._catalog = catalog
        self._keeps_landing_rows = keeps_landing_rows
        self._targets: list[int] = []
        con.execute("create or replace temp table demand"
            " (target bigint, value varchar, tab varchar, c varchar, rid bigint, is_witness boolean)")
        con.execute(
            "create or replace temp table evidence"
            " (target bigint, value varchar, digest varchar, path varchar, \"offset\" bigint, length bigint)"
        )
        con.execute(
            "create or replace temp table landing_demand (tab varchar, c varchar, digest varchar, path varchar,"
            " \"offset\" bigint, length bigint, content ubigint)"
        )
        con.execute("create or replace temp table run_of (target bigint, run_id varchar)")
        con.execute("create or replace temp table cell_run (target bigint, value varchar, run_id varchar)")

    def start(self, query: BuiltModel, columns: list[str], rows: Sequence[int] | None) -> None:
        """The first hop: from rollup rows to the rows of facts and dimensions, and to their runs."""
        table = quoted(query.qualified)
        where = "" if rows is None else f"where rowid in ({', '.join(map(str, rows)) or 'null'})"
        self._con.execute(f"create or replace temp table wanted as select rowid as rid from {table} {where}")
        self._targets = [row[0] for row in self._con.execute("select rid from wanted order by rid").fetchall()]
        annotated = self._hop(query, columns)
        for value, column in enumerate(columns):
            for occurrence in annotated.occurrences:
                source = f"select rid as target, {text_literal(column)} as value, unnest(__cell_{value}_{occurrence.number}) as e, false as is_witness from hop"
                self._follow(source, occurrence.table)
        for occurrence in annotated.occurrences:
            name = self._catalog.resolve(occurrence.table)
            if name in self._catalog.models and "run_id" in self._catalog.columns[name]:
                self._con.execute(
                    f"insert into run_of select distinct w.target, t.run_id from {quoted(name)} t join "
                    f"(select rid as target, unnest(__why_{occurrence.number}) as token from hop) w on t.rowid = w.token"
                )
        self._con.execute("create or replace temp table runs as select distinct target, run_id from run_of where run_id is not null")

    def descend(self, model: BuiltModel) -> None:
        """Follow every demanded row of one table into what its SQL reads."""
        name = text_literal(model.qualified)
        if not model.has_rows or model.schema == "rollup":
            return
        if "run_id" in self._catalog.columns[model.qualified]:
            self._keep_own_witnesses(model)
            self._con.execute(
                f"insert into cell_run select distinct d.target, d.value, t.run_id from demand d"
                f" join {quoted(model.qualified)} t on t.rowid = d.rid where d.tab = {name} and t.run_id is not null"
            )
        columns = [
            row[0]
            for row in self._con.execute(f"select distinct c from demand where tab = {name} order by c").fetchall()
        ]
        if not columns:
            return
        self._con.execute(f"create or replace temp table wanted as select distinct rid from demand where tab = {name}")
        annotated = self._hop(model, [column for column in columns if column != _WHOLE_ROW])
        values = [column for column in columns if column != _WHOLE_ROW]
        keys = ", ".join(map(text_literal, group_keys(model, values))) or "null"
        for occurrence in annotated.occurrences:
            cells = [
                f"select rid, {text_literal(column)} as c, unnest(__cell_{value}_{occurrence.number}) as e from hop"
                for value, column in enumerate(values)
            ]
            if _WHOLE_ROW in columns:
                cells.append(
                    f"select rid, '*' as c, struct_pack(c := '*', t := unnest(__why_{occurrence.number})) as e from hop"
                )
            source = (
                f"select d.target, d.value, x.e, d.c in ({keys}) as is_witness from demand d join ({' union all '.join(cells)}) x"
                f" on x.rid = d.rid and x.c = d.c where d.tab = {name}"
            )
            self._follow(source, occurrence.table)

    def _keep_own_witnesses(self, model: BuiltModel) -> None:
        """Of rows that merely state the same group key, keep those of the number's own runs, where there are any: a
        dimension's row is stated by every run that shares it, and each of them says the same."""
        table, name = quoted(model.qualified), text_literal(model.qualified)
        self._con.execute(
            "create or replace temp table own as select d.target, d.value, d.c, d.rid from demand d"
            f" join {table} t on t.rowid = d.rid join runs r on r.target = d.target and r.run_id = t.run_id"
            f" where d.tab = {name} and d.is_witness"
        )
        self._con.execute(
            f"delete from demand d where d.tab = {name} and d.is_witness"
            " and exists (select 1 from own o where o.target = d.target and o.value = d.value and o.c = d.c)"
            " and not exists (select 1 from own o where o.target = d.target and o.value = d.value and o.c = d.c and o.rid = d.rid)"
        )

    def _hop(self, model: BuiltModel, values: list[str]) -> Annotated:
        """Make table `hop`: row id of each wanted row beside the tokens its own SQL gives it."""
        written = expanded(model, self._catalog)
        try:
            annotated = annotate(written.text, self._names(), self._tokens(), values)
        except Refusal as refusal:
            raise written.fault(refusal) from refusal
        columns = [
            column for column in self._catalog.columns[model.qualified] if column not in ("query_spec_digest", "number_ids")
        ]
        keys = model.grain or columns
        same = " and ".join(f"t.{quote(key)} is not distinct from a.{quote(key)}" for key in keys)
        same += "".join(f" and {self._same_value(model, column)}" for column in columns if column not in keys)
        marks = [
            mark
            for occurrence in annotated.occurrences
            for mark in (
                f"__why_{occurrence.number}",
                *(f"__cell_{value}_{occurrence.number}" for value in range(len(values))),
            )
        ]
        picked = "".join(f", a.{mark}" for mark in marks)
        self._con.execute(
            f"create or replace temp table hop as select t.rowid as rid{picked} from {quoted(model.qualified)} t"
            f" join wanted w on w.rid = t.rowid join ({annotated.sql}) a on {same}"
        )
        lost = self._con.execute("select count(*) from wanted where rid not in (select rid from hop)").fetchall()[0][0]
        if lost:
            raise WarehouseError(
                "WH306", f"{lost} rows are not the same when the SQL runs again: what it yields is not determined by its inputs",
                model.place, "make every order total: in windows, QUALIFY, LIMIT, arg_max, first and any_value",
            )
        return annotated

    def _same_value(self, model: BuiltModel, column: str) -> str:
        """The condition that a row comes back with the value it has: a tie broken otherwise would lead to other bytes."""
        ours, theirs = f"t.{quote(column)}", f"a.{quote(column)}"
        if self._catalog.types[model.qualified][column] in ("DOUBLE", "FLOAT"):
            # The annotated query may add floats in another order.
            return (
                f"({ours} is not distinct from {theirs} or"
                f" abs({ours} - {theirs}) <= {DEFAULT_TOLERANCE} * greatest(abs({ours}), abs({theirs})))"
            )
        return f"{ours} is not distinct from {theirs}"

    def _follow(self, source: str, table: str) -> None:
        """File tokens under the table they belong to: rows to follow further, or evidence."""
        name = self._catalog.resolve(table)
        if name in self._catalog.models:
            self._con.execute(
                f"insert into demand select distinct target, value, {text_literal(name)}, e.c, e.t, coalesce(is_witness, false) from ({source})"
            )
        else:
            self._con.execute(
                "insert into evidence select distinct target, value, e.t.digest, e.t.path, e.t.\"offset\", e.t.length"
                f" from ({source})"
            )
            if self._keeps_landing_rows:
                self._con.execute(
                    f"insert into landing_demand select distinct {text_literal(name)}, e.c, e.t.digest, e.t.path,"
                    f" e.t.\"offset\", e.t.length, e.t.content from ({source})"
                )

    def _names(self) -> dict[str, Sequence[str]]:
        names: dict[str, Sequence[str]] = dict(self._catalog.columns)
        for qualified, model in self._catalog.models.items():
            names.setdefault(model.name, self._catalog.columns[qualified])
        return names

    def _tokens(self) -> dict[str, str]:
        tokens = dict.fromkeys(self._catalog.landing_types, _LANDING_TOKEN)
        if self._keeps_landing_rows:
            for table, types in self._catalog.landing_types.items():
                content = content_of("{alias}", tuple(types))
                tokens[table] = f"{_LANDING_TOKEN.removesuffix(')')}, content := {content})"
        for qualified, model in self._catalog.models.items():
            if model.has_rows:
                tokens[qualified] = tokens[model.name] = _ROW_TOKEN
        return tokens

    def result(self) -> dict[int, RowTrace]:
        runs: dict[int, list[str]] = {target: [] for target in self._targets}
        for target, run_id in self._con.execute("select target, run_id from runs order by target, run_id").fetchall():
            runs[target].append(run_id)
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


def content_of(alias: str, columns: Sequence[str]) -> str:
    """SQL for what tells landing rows of the same bytes apart: a hash over all columns of the row `alias`."""
    return f"hash({', '.join(f'{alias}.{quote(column)}' for column in columns)})"


def group_keys(model: BuiltModel, columns: Sequence[str]) -> list[str]:
    """Those of the columns that are keys of the model's own outermost GROUP BY: all rows of a group hold the same value,
    so any of them is its witness. Of a model that does not plainly group, none."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(body(model.sql), dialect="duckdb")
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
