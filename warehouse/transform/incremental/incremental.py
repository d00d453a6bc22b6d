"""Bringing an incremental table up to date by its key: find the keys whose input rows changed, compute these anew, delete and
insert. What comes out is what a full build gives, row by row, bit by bit; these rules see to it:

- a model is local to its key (`locality`), so other keys cannot have changed;
- its rows of one key are in one order, that of `order_of`, whichever way they were made;
- its joins run in the order they are written, or the order of joined rows makes no difference (`aggregates.takes_disordered_rows`);
- one that may tell how tables are laid out reads what it reads by key from copies in memory, in a full build as in an update (`aggregates`);
- a reader that is not local to the key finds the table as a full build writes it, as far as it can tell (`row_order`).

So a full build over many rows computes a share of the keys at a time, as an update would, and holds no more in memory (`build_in_shares`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.transform.incremental.changed_keys import FILE_COLUMN, KeyPlan, narrow_name, narrowed, of_any_row
from warehouse.transform.incremental.locality import INPUT_ALIAS, KeyedInput
from warehouse.transform.incremental.row_order import (
    OrderedRows,
    column_list,
    grows,
    has_grain_over_key,
    in_order,
    is_unique,
    order_of,
    put_in_order,
    repeats,
)
from warehouse.transform.inputs.content import HASH_SUM, ROW, ROWS, Content, content_by_key
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import disable_optimizers, execute, quote, quoted
from warehouse.transform.sql.engine_faults import translated_elsewhere

if TYPE_CHECKING:
    import duckdb

KEY_SCHEMA = "source_keys"
_PATH, _FILE = '"wh path"', quote(FILE_COLUMN)  # number of the path in the plan, and the file, that a key came by
AFFECTED = '"wh affected"'  # the keys that the last update computed anew
_FRESH, _CHANGED, _SEEN, _SHARE = '"wh fresh"', '"wh changed"', '"wh seen"', '"wh share"'
_SHARE_ROWS = 750_000  # of the largest table that a model reads: few are built in shares
_MOST_SHARES = 16  # each looks through all rows for those of its keys
_ROW_GROUP = 122_880  # rows of one, as the engine writes them
# Beyond this share of its keys a table is sooner built anew.
_LARGEST_SHARE = 0.5
_MORE_ROWS = 32  # times as many, to find whether a table has that many keys


@dataclass(frozen=True)
class Leaf:
    """The changed rows of one leaf: SQL for the rows there are now, each with its file beside it where it has one, and the
    files whose former rows are gone."""

    rows: str
    gone: tuple[str, ...] = ()
    has_files: bool = True


@dataclass(frozen=True)
class Updated:
    """What an update did: the table's content, how many keys changed, whether their rows were all added at the table's end,
    and whether the grain is seen to tell the new rows of these keys apart."""

    content: Content
    keys: int
    has_grown: bool
    is_unique: bool


@contextmanager
def _joins_as_written(con: "duckdb.DuckDBPyConnection", model: Model) -> Iterator[None]:
    """Only an incremental model may take joined rows in their order: of others the check has seen that they do not.

    Nothing is set back when a statement fails: it has ended the transaction, and what was then said would hide why. The
    session calls `as_ever` after its rollback."""
    if model.materialized == "incremental":
        disable_optimizers(con, "join_order", "build_side_probe_side")
    yield
    if model.materialized == "incremental":
        as_ever(con)


def as_ever(con: "duckdb.DuckDBPyConnection") -> None:
    disable_optimizers(con)


def build(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, types: Mapping[str, str], *, sees_layout: bool,
    left_out: str = "",
) -> bool:
    """Make an incremental table from nothing, without the rows of which the condition `left_out` is true. Returns whether its
    grain is seen to tell its rows apart. Raises WH209."""
    import duckdb

    prefix, suffix = f"create table {quoted(model.qualified)} as ", ""
    if plan.is_gathered or left_out:
        prefix, suffix = f"{prefix}select * from (", f"){f' where not {left_out}' if left_out else ''}"
    if plan.is_gathered:
        suffix += in_order(model, types)
    with _joins_as_written(con, model):
        if sees_layout and plan.can_narrow:
            try:
                for number, found in enumerate(plan.inputs):
                    _copy(con, number, f"select * from {model.text[found.start : found.end]}")
                con.execute(prefix + narrowed(model, plan.inputs) + suffix)
                _forget(con, *(narrow_name(number) for number in range(len(plan.inputs))))
            except duckdb.Error as error:
                raise translated_elsewhere(error, "WH209", model.text, model.place) from error
        else:
            execute(con, model, prefix, suffix)
    [(rows,)] = con.execute(f"select count(*) from (from {quoted(model.qualified)} limit 2)").fetchall()
    if rows < 2:
        return has_grain_over_key(model)
    return is_unique(con, model, types) if plan.is_gathered else put_in_order(con, model, types)


def shares_of(rows: int) -> int:
    """In how many shares a table is built that reads so many rows."""
    return min(rows // _SHARE_ROWS + 1, _MOST_SHARES)


def build_in_shares(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, types: Mapping[str, str], leaves: Mapping[str, Leaf],
    reads: Mapping[str, OrderedRows], shares: int, commit: Callable[[], None],
) -> bool:
    """The same of a table that can be narrowed, a share of its keys at a time, so that what a statement holds in memory does not grow with
    the rows of `leaves`, which has all leaves with all their rows. `reads` as for an update. After each share it calls `commit`: the engine
    keeps what a transaction has dropped until its end."""
    import duckdb

    table, keys, inputs = quoted(model.qualified), column_list(model.key), [narrow_name(number) for number in range(len(plan.inputs))]
    try:
        with _joins_as_written(con, model):
            _find_affected(con, model, plan, types, leaves, "")
            con.execute(f"create or replace temp table {_SEEN} as select ntile({shares}) over (order by {keys}) as {_SHARE}, * from {AFFECTED}")
            for share in range(1, shares + 1):
                con.execute(f"create or replace temp table {AFFECTED} as select {keys} from {_SEEN} where {_SHARE} = {share}")
                _compute(con, model, plan, types, reads)
                con.execute(f"{f'create table {table} as' if share == 1 else f'insert into {table}'} from {_FRESH}")
                _forget(con, *inputs, _FRESH)
                commit()
            _forget(con, AFFECTED, _SEEN)
    except duckdb.Error as error:
        raise translated_elsewhere(error, "WH209", model.text, model.place) from error
    return put_in_order(con, model, types)


def record_keys(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, leaves: Mapping[str, Leaf], recorded: dict[str, str]
) -> None:
    """After a full build: keep which keys came from which file, so that a file that goes can be followed. `leaves` are those
    that have files; `recorded` says where keys that were found before in this session stand, by the SQL that finds them."""
    con.execute(f"create schema if not exists {KEY_SCHEMA}")
    table = _key_table(model)
    con.execute(f"drop table if exists {table}")
    con.execute(
        f"create table {table} as select ''::varchar as {_PATH}, ''::varchar as {_FILE}, {column_list(model.key)}"
        f" from {quoted(model.qualified)} limit 0"
    )
    for number, path in enumerate(plan.paths):
        if path.leaf in leaves:
            sql, found = path.keys_of(leaves[path.leaf].rows), f"{_FILE}, {column_list(model.key)}"
            con.execute(f"insert into {table} select '{number}', {found} from ({recorded.get(sql, sql)})")
            recorded[sql] = f"select {found} from {table} where {_PATH} = '{number}'"


def forget_keys(con: "duckdb.DuckDBPyConnection", qualified: str) -> None:
    con.execute(f"drop table if exists {KEY_SCHEMA}.{quote(qualified)}")


def update(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, types: Mapping[str, str], before: Content,
    leaves: Mapping[str, Leaf], reads: Mapping[str, OrderedRows], also: str = "", reject: Callable[[str], None] = lambda rows: None,
    *, least_keys: int = 0,
) -> Updated | None:
    """Bring a table up to date with the changed rows of `leaves` (those that changed), and for the keys that the SQL `also`
    gives. `reads` says how to read the inputs that lie in no order; `reject` takes out of the new rows what is not to be in the table.
    None when a full build is less work: of a table that reads much and keeps little there are `least_keys`.

    Leaves the rows of changed keys, as they were and as they are, in the temporary table of `delta_name`.
    """
    with _joins_as_written(con, model):
        _find_affected(con, model, plan, types, leaves, also)
        if _is_too_much(con, model, before, least_keys):
            return None
        _compute(con, model, plan, types, reads)
        reject(_FRESH)
        _compare(con, model, types)
        # Many rows at once begin a row group of their own, so that the vectors after them are cut elsewhere than in a full build.
        [(fresh,)] = con.execute(f"select count(*) from {_FRESH}").fetchall()
        has_grown = fresh < _ROW_GROUP and grows(con, model, _CHANGED)
        _swap(con, model)
    _record_changed_keys(con, model, plan, leaves)
    keys, rows, hashes = con.execute(f"select count(*), sum({ROWS}), sum({HASH_SUM}) from {_CHANGED}").fetchall()[0]
    content = Content(before.rows + int(rows or 0), before.hash_sum + int(hashes or 0))
    return Updated(content, keys, has_grown, has_grain_over_key(model) and not repeats(con, model, _FRESH))


def delta_name(qualified: str) -> str:
    """The temporary table that holds the rows of a table that changed in this build, old and new, quoted."""
    return quote(f"wh delta {qualified}")


def _compare(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str]) -> None:
    """The keys whose rows are not what they were, with the difference in rows and hashes."""
    key = ", ".join(f"coalesce(o.{quote(name)}, n.{quote(name)}) as {quote(name)}" for name in model.key)
    old = content_by_key(quoted(model.qualified), types, model.key, f"semi join {AFFECTED} as a on {_same(model.key, ROW, 'a')}")
    new = content_by_key(_FRESH, types, model.key)
    con.execute(
        f"create or replace temp table {_CHANGED} as select {key},"
        f" coalesce(n.{ROWS}, 0) - coalesce(o.{ROWS}, 0) as {ROWS},"
        f" coalesce(n.{HASH_SUM}, 0)::hugeint - coalesce(o.{HASH_SUM}, 0)::hugeint as {HASH_SUM}"
        f" from ({old}) as o full join ({new}) as n on {_same(model.key, 'o', 'n')}"
        f" where o.{ROWS} is distinct from n.{ROWS} or o.{HASH_SUM} is distinct from n.{HASH_SUM}"
    )


def _find_affected(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, types: Mapping[str, str], leaves: Mapping[str, Leaf],
    also: str,
) -> None:
    columns = ", ".join(f"{quote(name)} {types[name]}" for name in model.key)
    con.execute(f"create or replace temp table {_SEEN} ({_PATH} varchar, {_FILE} varchar, {columns})")
    for number, path in enumerate(plan.paths):
        leaf = leaves.get(path.leaf)
        if leaf is None:
            continue
        sql = path.keys_of(leaf.rows)
        con.execute(f"insert into {_SEEN} select '{number}', {quote(FILE_COLUMN)}, {column_list(model.key)} from ({sql})")
        if leaf.gone:
            con.execute(
                f"insert into {_SEEN} select null, null, {column_list(model.key)} from {_key_table(model)}"
                f" where {_PATH} = '{number}' and {_FILE} in (select unnest(?::varchar[]))", [list(leaf.gone)]
            )
    if also:
        con.execute(f"insert into {_SEEN} select null, null, {column_list(model.key)} from ({also})")
    con.execute(f"create or replace temp table {AFFECTED} as select distinct {column_list(model.key)} from {_SEEN}")


def _is_too_much(con: "duckdb.DuckDBPyConnection", model: Model, before: Content, least_keys: int) -> bool:
    [(affected,)] = con.execute(f"select count(*) from {AFFECTED}").fetchall()
    if affected <= _LARGEST_SHARE * least_keys:
        return False
    if set(model.grain) == set(model.key):
        return bool(affected > _LARGEST_SHARE * before.rows)
    keys, rows = column_list(model.key), affected
    while rows < before.rows:  # of few rows first: as a rule these have keys enough
        rows *= _MORE_ROWS
        some = f"select {keys} from {quoted(model.qualified)} limit {rows}"
        [(found,)] = con.execute(f"select count(*) from (select distinct {keys} from ({some}))").fetchall()
        if affected <= _LARGEST_SHARE * found:
            return False
    return True


def _compute(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, types: Mapping[str, str],
    reads: Mapping[str, OrderedRows],
) -> None:
    """The rows of the affected keys as the model's SQL gives them, in order."""
    only = f"semi join {AFFECTED} as a on {_same(model.key, 'm', 'a')} order by {column_list(order_of(model, types), 'm')}"
    for number, found in enumerate(plan.inputs):
        _narrow(con, model, number, found, reads.get(found.name))
    con.execute(f"create or replace temp table {_FRESH} as select m.* from ({narrowed(model, plan.inputs)}) as m {only}")


def _narrow(
    con: "duckdb.DuckDBPyConnection", model: Model, number: int, found: KeyedInput, given: OrderedRows | None
) -> None:
    """Those rows of an input that carry an affected key."""
    on = " and ".join(
        f"({of_any_row(sql)}) is not distinct from a.{quote(name)}" for sql, name in zip(found.key, model.key, strict=True)
    )
    rows, columns, order = f"select * from {model.text[found.start : found.end]}", f"{INPUT_ALIAS}.*", ""
    if given:
        rows, order = given.sql, f" order by {column_list(given.order, INPUT_ALIAS)}"
        columns += f" exclude ({column_list(given.left_out)})" if given.left_out else ""
    _copy(con, number, f"select {columns} from ({rows}) as {INPUT_ALIAS} semi join {AFFECTED} as a on {on}{order}")


def _copy(con: "duckdb.DuckDBPyConnection", number: int, sql: str) -> None:
    con.execute(f"create or replace temp table {narrow_name(number)} as {sql}")


def _forget(con: "duckdb.DuckDBPyConnection", *tables: str) -> None:
    """Free the memory of temporary tables."""
    for table in tables:
        con.execute(f"drop table {table}")


def _changed_of(alias: str, model: Model) -> str:
    return f"semi join {_CHANGED} as c on {_same(model.key, alias, 'c')}"


def _swap(con: "duckdb.DuckDBPyConnection", model: Model) -> None:
    table, semi = quoted(model.qualified), _changed_of("r", model)
    con.execute(
        f"create or replace temp table {delta_name(model.qualified)} as select r.* from {table} as r {semi}"
        f" union all select r.* from {_FRESH} as r {semi}"
    )
    con.execute(f"delete from {table} as r using {_CHANGED} as c where {_same(model.key, 'r', 'c')}")
    con.execute(f"insert into {table} select r.* from {_FRESH} as r {semi}")


def _record_changed_keys(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, leaves: Mapping[str, Leaf]
) -> None:
    for number, path in enumerate(plan.paths):
        leaf = leaves.get(path.leaf)
        if leaf and leaf.has_files:
            con.execute(
                f"delete from {_key_table(model)} where {_PATH} = '{number}' and {_FILE} in (select unnest(?::varchar[]))",
                [list(leaf.gone)],
            )
    if any(leaf.has_files for leaf in leaves.values()):
        con.execute(f"insert into {_key_table(model)} select * from {_SEEN} where {_PATH} is not null and {_FILE} <> ''")


def _key_table(model: Model) -> str:
    return f"{KEY_SCHEMA}.{quote(model.qualified)}"


def _same(key: Sequence[str], left: str, right: str) -> str:
    return " and ".join(f"{left}.{quote(name)} is not distinct from {right}.{quote(name)}" for name in key)
