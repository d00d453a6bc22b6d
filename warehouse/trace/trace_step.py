"""One hop of a trace: which rows of the tables that a model reads, or which runs, some of its rows came from.

The model's own SQL is annotated and run again, and asked for the wanted rows alone: what they are known by goes into the
query, so that DuckDB reads only what it must for one row of a rollup. A hop never changes the build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from warehouse.digest import bytes_digest
from warehouse.errors import WarehouseError
from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.determinism import DEFAULT_TOLERANCE
from warehouse.trace.inlined_views import Expansion, expanded
from warehouse.trace.provenance.annotator import annotate
from warehouse.trace.provenance.syntax.refusals import Refusal
from warehouse.trace.provenance.values import Annotated, Mark
from warehouse.transform.sql.duck import quote, quoted, text_literal

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.check.text_facts import TextFacts

# Which file, by a hash: with its digest and path written out, tokens took seven times the memory and most of a trace's time.
FILE_HASH = "hash({alias}.artifact_manifest_digest, {alias}.raw_path)"
_LANDING_TOKEN = (
    f"struct_pack(file := {FILE_HASH}, \"offset\" := {{alias}}.raw_offset, length := {{alias}}.raw_length)"
)
# What a trace keeps in its session is called so: no model's name has a space.
OWN_PREFIX = "wh "
WANTED, HOP, _HOP_READ_ONCE = (quote(OWN_PREFIX + name) for name in ("wanted", "hop", "hop read once"))
_ROW_TOKEN = "{alias}.rowid"  # stable: a build's file never changes under its name
_WANTED_VALUES = "getvariable('wanted')"
# Values of a key that are written into the query; a join looks for more of them sooner than a list does.
_LISTED_VALUES = 100


def row_tokens(catalog: Catalog, *, tells_content: bool = False) -> dict[str, str | None]:
    """Rows of the build by row id, landing rows by their bytes, with `tells_content` also by what tells those of the same
    bytes apart; landing rows that are read from no file by their content. Tables without rows have no token."""
    tokens: dict[str, str | None] = {}
    for table, types in catalog.landing_types.items():
        if not has_bytes(types):
            tokens[table] = content_of("{alias}", types)
        elif tells_content:
            tokens[table] = f"{_LANDING_TOKEN.removesuffix(')')}, content := {content_of('{alias}', types)})"
        else:
            tokens[table] = _LANDING_TOKEN
    return tokens | dict.fromkeys(_names_of_rows(catalog), _ROW_TOKEN) | dict.fromkeys(catalog.empty)


def has_bytes(columns: Iterable[str]) -> bool:
    """Whether the rows of a landing table with these columns are evidence, read from the bytes of raw files; signatures and decisions
    are not."""
    return "raw_path" in columns


def content_of(alias: str, columns: Iterable[str]) -> str:
    """SQL for what tells the rows of a landing table apart: a hash over all columns of the row `alias`."""
    return f"hash({', '.join(f'{alias}.{quote(column)}' for column in columns)})"


def run_tokens(catalog: Catalog) -> dict[str, str | None]:
    """Rows of the build by their run, so that a list has each run once however many rows it has; others have no token."""
    tokens: dict[str, str | None] = dict.fromkeys(catalog.landing_types)
    for name in _names_of_rows(catalog):
        tokens[name] = "{alias}.run_id" if "run_id" in catalog.columns[catalog.resolve(name)] else None
    return tokens | dict.fromkeys(catalog.empty)


def _names_of_rows(catalog: Catalog) -> list[str]:
    """Qualified and bare names of the models that have rows."""
    return [name for model in catalog.models.values() if model.has_rows for name in (model.qualified, model.name)]


def hop(
    con: "duckdb.DuckDBPyConnection",
    catalog: Catalog,
    model: BuiltModel,
    tokens: Mapping[str, str | None],
    values: Sequence[str] = (),
    has_whys: bool = True,
    is_known: bool = False,
    facts: "TextFacts | None" = None,
) -> Annotated:
    """Make what `pieces` reads: the row id of each row in table `WANTED` beside the tokens its own SQL gives it, for its existence
    (`has_whys`) and for the cells of `values`; a row id is in several rows where the SQL was ungrouped. Raises WH306 for SQL
    that cannot be traced or that yields other rows now, which `is_known` says that it does not. Annotated SQL is taken from `facts`, which
    verification has none of."""
    if catalog.parts:
        catalog.parts.bring(model.qualified, WANTED)
    keys = model.grain or tuple(_columns(catalog, model))
    only = _wanted_values(con, model, keys)
    written = expanded(model, catalog)
    if catalog.landing:
        catalog.landing.open(written.tables, model.qualified, WANTED)
    for is_cut in (False, True):
        try:
            annotated = _annotated(catalog, written, tokens, values, is_cut, only, has_whys, facts)
        except Refusal as refusal:
            raise written.fault(refusal) from refusal
        if annotated.keys is not None:
            if not is_known:
                _find_rows(con, catalog, model, written.text, keys, only, ())
                _check_found(con, model)
            _find_groups(con, model, annotated, only)
            return annotated
        _find_rows(con, catalog, model, annotated.sql, keys, only, annotated.marks)
        rows, found = con.execute(f"select count(*), count(distinct rid) from {HOP}").fetchall()[0]
        if rows == found:  # else a row that LIMIT left out is like one it kept
            break
    _check_found(con, model)
    return annotated


def _annotated(
    catalog: Catalog, written: Expansion, tokens: Mapping[str, str | None], values: Sequence[str], is_cut: bool, only: Mapping[str, str],
    has_whys: bool, facts: "TextFacts | None",
) -> Annotated:
    def found() -> Annotated:
        return annotate(
            written.text, catalog.by_any_name, tokens, values,
            unique=[name for name, token in tokens.items() if token == _ROW_TOKEN], is_cut=is_cut, only=only, has_whys=has_whys,
            ungroups=bool(values),
        )

    if facts is None:
        return found()
    names = sorted({name for table in written.tables for name in (table, table.rpartition(".")[2])})
    read = [[name, list(catalog.by_any_name.get(name, ())), tokens.get(name)] for name in names]
    follows_from = [tracer_digest(), written.text, read, list(values), is_cut, dict(only), has_whys]
    return msgspec.convert(facts.recall("annotated", follows_from, lambda: msgspec.to_builtins(found())), Annotated)


@cache
def tracer_digest() -> str:
    """A digest of the modules that trace: what they find out about SQL is remembered under it."""
    folder = Path(__file__).parent
    return bytes_digest(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py"))))


def _check_found(con: "duckdb.DuckDBPyConnection", model: BuiltModel) -> None:
    [(found, wanted)] = con.execute(f"select (select count(distinct rid) from {HOP}), count(*) from {WANTED}").fetchall()
    if found < wanted:
        raise WarehouseError(
            "WH306", f"{wanted - found} rows are not the same when the SQL runs again: what it yields is not determined by its inputs",
            model.place, "make every order total: in windows, QUALIFY, LIMIT, arg_max, first and any_value",
        )


def pieces(annotated: Annotated, mark: Mark) -> str:
    """A query of what `hop` made for one evidence column: row id `rid`, column `c` and token `t` of each piece of evidence."""
    if mark.columns:
        found = _HOP_READ_ONCE if _is_read_once(annotated) else HOP
        return " union all ".join(
            f"select rid, {text_literal(column)} as c, {mark.name} as t from {found} where {mark.name} is not null" for column in mark.columns
        )
    if mark.value is None:
        return f"select rid, '*' as c, unnest({mark.name}) as t from {HOP}"
    return f"select rid, e.c, e.t from (select rid, unnest({mark.name}) as e from {HOP})"


def _wanted_values(con: "duckdb.DuckDBPyConnection", model: BuiltModel, keys: Sequence[str]) -> dict[str, str]:
    """For each key a condition on `{value}` that the wanted rows fulfil. Their values stay in the engine, in a variable: so
    they keep their types, and DuckDB plans by them as by constants."""
    conditions: dict[str, str] = {}
    if not keys:
        return conditions
    found = [
        f"v{i} := list(distinct t.{quote(key)}) filter (t.{quote(key)} is not null), n{i} := count(*) filter (t.{quote(key)} is null)"
        for i, key in enumerate(keys)
    ]
    con.execute(
        f"set variable wanted = (select struct_pack({', '.join(found)})"
        f" from {quoted(model.qualified)} t semi join {WANTED} w on w.rid = t.rowid)"
    )
    parts = ", ".join(f"len({_WANTED_VALUES}.v{i}), {_WANTED_VALUES}.n{i}" for i in range(len(keys)))
    counts = con.execute(f"select {parts}").fetchall()[0]
    for index, key in enumerate(keys):
        count, nulls = counts[2 * index : 2 * index + 2]
        alternatives = ["{value} is null"] if nulls else []
        if count == 1:  # as an equality it also holds for what the key is joined with
            alternatives.append(f"{{value}} = {_WANTED_VALUES}.v{index}[1]")
        elif count:
            alternatives.append(f"{{value}} in {_WANTED_VALUES}.v{index}")
        if alternatives and (count or 0) <= _LISTED_VALUES:
            conditions[key] = f"({' or '.join(alternatives)})"
    return conditions


def _find_rows(
    con: "duckdb.DuckDBPyConnection", catalog: Catalog, model: BuiltModel, sql: str, keys: Sequence[str], only: Mapping[str, str],
    marks: Sequence[Mark],
) -> None:
    """Make `HOP` of the wanted rows that a query still yields with all their values."""
    same = [f"t.{quote(key)} is not distinct from a.{quote(key)}" for key in keys]
    same += [_same_value(catalog, model, column) for column in _columns(catalog, model) if column not in keys]
    _make_hop(con, _of_wanted(model, sql, same, only, marks))


def _find_groups(con: "duckdb.DuckDBPyConnection", model: BuiltModel, annotated: Annotated, only: Mapping[str, str]) -> None:
    """Make `HOP` of the wanted rows and the rows of their groups, or a view where it is read once."""
    keys = annotated.keys or ()
    conditions = {key: only[key] for key in keys if key in only}
    [(wanted, rid)] = con.execute(f"select count(*), any_value(rid) from {WANTED}").fetchall()
    if wanted == 1 and len(conditions) == len(keys):  # all that is found is of this row
        picked = "".join(f", {mark.name}" for mark in annotated.marks)
        found = f"select {rid}::bigint as rid{picked} from ({annotated.sql}) where {_all_of(conditions)}"
    else:
        same = [f"t.{quote(key)} is not distinct from a.{quote(key)}" for key in keys]
        found = _of_wanted(model, annotated.sql, same, conditions, annotated.marks)
    if _is_read_once(annotated):
        con.execute(f"create or replace temp view {_HOP_READ_ONCE} as {found}")
    else:
        _make_hop(con, found)


def _is_read_once(annotated: Annotated) -> bool:
    return annotated.keys is not None and [len(mark.columns) for mark in annotated.marks] == [1]


def _of_wanted(model: BuiltModel, sql: str, same: Sequence[str], conditions: Mapping[str, str], marks: Sequence[Mark]) -> str:
    """The wanted rows (`t`) with the evidence of the rows of a query (`a`) that are the same."""
    picked = "".join(f", a.{mark.name}" for mark in marks)
    return (
        f"select t.rowid as rid{picked} from {quoted(model.qualified)} t join {WANTED} w on w.rid = t.rowid"
        f" join (select * from ({sql}) where {_all_of(conditions)}) a on {' and '.join(same) or 'true'}"
    )


def _all_of(conditions: Mapping[str, str]) -> str:
    return " and ".join(condition.format(value=quote(key)) for key, condition in conditions.items()) or "true"


def _make_hop(con: "duckdb.DuckDBPyConnection", found: str) -> None:
    # No view over a table: binding a view of 400 columns takes 5 ms, and each of them is read by itself.
    con.execute(f"create or replace temp table {HOP} as {found}")


def _columns(catalog: Catalog, model: BuiltModel) -> list[str]:
    return [column for column in catalog.columns[model.qualified] if column not in ("query_spec_digest", "number_ids")]


def _same_value(catalog: Catalog, model: BuiltModel, column: str) -> str:
    """The condition that a row comes back with the value it has: a tie broken otherwise would lead to other bytes."""
    ours, theirs = f"t.{quote(column)}", f"a.{quote(column)}"
    if catalog.types[model.qualified][column] in ("DOUBLE", "FLOAT"):
        # The annotated query may add floats in another order.
        return (
            f"({ours} is not distinct from {theirs} or"
            f" abs({ours} - {theirs}) <= {DEFAULT_TOLERANCE} * greatest(abs({ours}), abs({theirs})))"
        )
    return f"{ours} is not distinct from {theirs}"
