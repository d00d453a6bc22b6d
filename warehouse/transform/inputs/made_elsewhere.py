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
from warehouse.transform.incremental.row_order import column_list, order_of
from warehouse.transform.inputs.landing_tables import path_literal
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import quote, quoted, text_literal
from warehouse.transform.testing.rejected_rows import STATE

if TYPE_CHECKING:
    import duckdb

    from warehouse.landing.parse.task import Outcome
    from warehouse.landing.registry import RegisteredIngestor
    from warehouse.transform.build.material import Material


@dataclass(frozen=True)
class PartFile:
    """A Parquet file with some rows of a table, and the digest that it must have."""

    path: Path
    sha256: str

    def check(self) -> None:
        """Raise WH105 where it has another."""
        try:
            found = file_digest(self.path)
        except OSError as error:
            raise missing(str(self.path)) from error
        if found != self.sha256:
            hint = "remove it and its receipt, then run: wh build"
            raise WarehouseError("WH105", "a part of a table does not hash to its name", str(self.path), hint, ExitCode.TAMPERED)


def missing(place: str) -> WarehouseError:
    """The error of a part that a receipt lists and that is gone."""
    hint = "run: wh gc --apply, which removes its receipt, then: wh build"
    return WarehouseError("WH106", "a part of a table that a receipt lists is gone", place, hint, ExitCode.MISSING)


@dataclass(frozen=True)
class MadeElsewhere:
    """The parts of tables, by the model's name; the rows that their tests left out, of all tables; and the digests of the tasks that made
    them, and of the SQL of these."""

    tables: Mapping[str, Sequence[PartFile]] = field(default_factory=dict)
    rejected: Sequence[PartFile] = ()
    tasks: tuple[str, ...] = ()


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


def take_rejected(con: "duckdb.DuckDBPyConnection", model: Model, parts: Sequence[PartFile]) -> None:
    """Record the rows that tests left out of a table's parts. Raises WH105."""
    if parts:
        con.execute(f"insert into {STATE} by name select * from ({_rows(parts)}) where table_name = {text_literal(model.qualified)} order by all")


def _rows(parts: Sequence[PartFile]) -> str:
    for part in parts:
        part.check()
    return f"select * from read_parquet([{', '.join(path_literal(str(part.path)) for part in parts)}])"
