"""Tables whose rows other processes have made, as parts: what a build takes from them instead of running the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from warehouse.digest import file_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.store import EvidenceStore
from warehouse.transform.incremental.incremental import AFFECTED, delta_name
from warehouse.transform.incremental.row_order import column_list, order_of
from warehouse.transform.inputs.content import Content
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import parquet, quote, quoted, text_literal
from warehouse.transform.testing.rejected_rows import STATE, forget_rejected

if TYPE_CHECKING:
    import duckdb

    from warehouse.landing.parse.task import Outcome
    from warehouse.landing.registry import RegisteredIngestor
    from warehouse.transform.build.material import Material


_COME = '"wh come"'


@dataclass(frozen=True)
class PartFile:
    """A Parquet file with some rows of a table, and the digest that it must have; how many rows and bytes it has, the sum of its rows'
    hashes, and the digest of the task that made it, as far as they are known."""

    path: Path
    sha256: str
    rows: int = 0
    bytes: int = 0
    hash_sum: int = 0
    task: str = ""

    def check(self) -> None:
        """Raise WH105 where it has another."""
        try:
            found = file_digest(self.path)
        except OSError as error:
            raise missing(str(self.path)) from error
        if found != self.sha256:
            raise self.altered()

    def altered(self) -> WarehouseError:
        """The error of a part that does not have its digest."""
        hint = "remove it and its receipt, then run: wh build"
        return WarehouseError("WH105", "a part of a table does not hash to its name", str(self.path), hint, ExitCode.TAMPERED)


def missing(place: str) -> WarehouseError:
    """The error of a part that a receipt lists and that is gone."""
    hint = "run: wh gc --apply, which removes its receipt, then: wh build"
    return WarehouseError("WH106", "a part of a table that a receipt lists is gone", place, hint, ExitCode.MISSING)


@dataclass(frozen=True)
class KeyWay:
    """A way by which a model reads a table that stays in parts, or a landing table: its number among the hashed keys, the qualified names of
    the model and of what it reads, and the columns of both that are the model's key; none of what is read where the key is computed."""

    path: str
    reader: str
    read: str
    key: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class MadeElsewhere:
    """The parts of tables, by the model's name; the rows that their tests left out, of all tables; the digests of the tasks that made
    them, and of the SQL of these; and how a part of an earlier build is found, by its table and digest. The rows of `as_parts` stay where
    they are; the grain of the tables `unique` tells their rows apart. `keys` are parts that have the keys which tasks read, hashed, by the
    way from an input to a model (`KeyWay`)."""

    tables: Mapping[str, Sequence[PartFile]] = field(default_factory=dict)
    rejected: Sequence[PartFile] = ()
    tasks: tuple[str, ...] = ()
    find: Callable[[str, str], PartFile | None] = field(default=lambda table, sha256: None)
    as_parts: frozenset[str] = frozenset()
    unique: frozenset[str] = frozenset()
    keys: Sequence[PartFile] = ()
    ways: Sequence[KeyWay] = ()
    inputs: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


NOTHING = MadeElsewhere()


class Elsewhere(Protocol):
    """Does work of a build in other processes. What it gives is what the build itself would have made."""

    def parse(
        self, store: EvidenceStore, waiting: Mapping[str, Mapping[str, Manifest]], arrivals: Mapping[str, str],
        ingestors: "Mapping[str, RegisteredIngestor]", on_bundle: Callable[[int, int], None],
    ) -> "list[Outcome]": ...

    def tables(self, store: EvidenceStore, material: "Material") -> MadeElsewhere: ...


def take(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str], parts: Sequence[PartFile]) -> None:
    """Make a table of its parts, in the order of its rows. Raises WH105."""
    columns = ", ".join(f"{quote(name) if parts else 'null'}::{kind} as {quote(name)}" for name, kind in types.items())
    rows = f"select {columns} from ({_rows(parts)})" if parts else f"select {columns} limit 0"
    con.execute(f"create table {quoted(model.qualified)} as from ({rows}) order by {column_list(order_of(model, types))}")


def patch(
    con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str], gone: Sequence[PartFile], come: Sequence[PartFile],
    rejected: Sequence[PartFile],
) -> int | None:
    """Put the rows of new parts into a table in place of those of parts that are gone; how many keys are in them, or None where that is most of the
    table. All rows of a key are in one part. Leaves the changed rows, old and new, in the temporary table of `delta_name`. Raises WH105."""
    columns, keys = ", ".join(f"{quote(name)}::{kind} as {quote(name)}" for name, kind in types.items()), column_list(model.key)
    delta, table = delta_name(model.qualified), quoted(model.qualified)
    con.execute(f"create or replace temp table {delta} as select * from {table} limit 0")
    for parts in (gone, come):
        rows = f"select {columns} from ({_rows(parts)})" if parts else f"select * from {delta} limit 0"
        con.execute(f"create or replace temp table {_COME} as {rows}")
        con.execute(f"insert into {delta} from {_COME}")
    con.execute(f"create or replace temp table {AFFECTED} as select distinct {keys} from {delta}")
    [(changed, every)] = con.execute(f"select (select count(*) from {delta}), (select count(*) from {table})").fetchall()
    if changed > every:
        return None
    same = " and ".join(f"r.{quote(name)} is not distinct from a.{quote(name)}" for name in model.key)
    con.execute(f"delete from {table} as r using {AFFECTED} as a where {same}")
    con.execute(f"insert into {table} from {_COME} order by {column_list(order_of(model, types))}")
    forget_rejected(con, model.qualified)
    take_rejected(con, model, rejected)
    [(count,)] = con.execute(f"select count(*) from {AFFECTED}").fetchall()
    return int(count)


def content_of_parts(parts: Sequence[PartFile]) -> Content:
    """What a table of these parts holds: nothing is read."""
    return Content(sum(part.rows for part in parts), sum(part.hash_sum for part in parts))


def take_rejected(con: "duckdb.DuckDBPyConnection", model: Model, parts: Sequence[PartFile]) -> None:
    """Record the rows that tests left out of a table's parts. Raises WH105."""
    if parts:
        con.execute(f"insert into {STATE} by name select * from ({_rows(parts)}) where table_name = {text_literal(model.qualified)} order by all")


def _rows(parts: Sequence[PartFile]) -> str:
    for part in parts:
        part.check()
    return f"select * from {parquet(part.path for part in parts)}"
