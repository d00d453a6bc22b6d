"""What a finished build says of itself: its models' SQL and digests, and the landing files it was made from.

A number's lineage is read from the build that holds it, not from the project's files, which may have changed since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import FILE_TABLE, REJECTED_TABLE, LandingFile
from warehouse.trace.landing_rows import LandingRows, Way
from warehouse.trace.part_rows import PartRows
from warehouse.transform.build.in_memory import made_in_memory
from warehouse.transform.finished.builds import Build
from warehouse.transform.finished.query import open_build
from warehouse.transform.project.model import RESERVED_COLUMNS
from warehouse.transform.sql.duck import quoted

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.build.material import Material
    from warehouse.transform.check.checked_project import CheckedProject


@dataclass(frozen=True)
class BuiltModel:
    """A model as a build holds it. `reads` are qualified model names and landing tables."""

    name: str
    schema: str
    materialized: str
    digest: str
    place: str
    sql: str
    grain: tuple[str, ...]
    reads: tuple[str, ...]
    role: str | None

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def has_rows(self) -> bool:
        """Whether the build holds rows of it; a view's are those of what it reads."""
        return self.materialized != "view"


@dataclass(frozen=True, eq=False)
class Catalog:
    """A build's models in build order by qualified name, columns of every table, and landing files, whose paths are
    relative to the store's landing folder. `empty` are the tables, by the names that SQL may give them, in which a session found no row:
    nothing can come from them."""

    models: Mapping[str, BuiltModel]
    columns: Mapping[str, tuple[str, ...]]
    types: Mapping[str, Mapping[str, str]]
    landing_types: Mapping[str, Mapping[str, str]]
    landing_files: tuple[LandingFile, ...]
    empty: frozenset[str] = frozenset()
    parts: PartRows | None = None  # of a build's tables that stay in parts
    landing: LandingRows | None = None  # of a trace of one cell
    landing_ways: Mapping[tuple[str, str], Way] = field(default_factory=dict)  # by which columns a model reads a landing table

    def resolve(self, reference: str) -> str:
        """The qualified name of a table as some SQL names it; a landing table's own name."""
        return reference if reference in self.models else self._by_name.get(reference, reference)

    def types_of(self, table: str) -> Mapping[str, str]:
        """The columns of a model or a landing table and their types."""
        return self.types[table] if table in self.types else self.landing_types[table]

    @cached_property
    def by_any_name(self) -> Mapping[str, Sequence[str]]:
        """The columns of every table, by qualified and by bare name."""
        return dict([*((model.name, self.columns[name]) for name, model in self.models.items()), *self.columns.items()])

    def meaning_of(self, qualified: str) -> list[Any]:
        """All that SQL alone says of a model: its text and those of all under it, with the columns of all that they read. JSON."""
        models = [self.models[qualified], *self.under(qualified)]
        tables = sorted({table for model in models for table in model.reads})
        return [
            qualified, [[model.qualified, model.sql, model.materialized, list(model.grain)] for model in models],
            [[table, list(self.types_of(table).items())] for table in tables],
        ]

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {model.name: name for name, model in self.models.items()}

    def under(self, qualified: str) -> list[BuiltModel]:
        """Every model below one, each once, nearest first."""
        found: dict[str, BuiltModel] = {}
        pending = list(self.models[qualified].reads)
        while pending:
            name = pending.pop(0)
            if name in self.models and name not in found:
                found[name] = self.models[name]
                pending.extend(self.models[name].reads)
        return list(found.values())


def read_catalog(con: "duckdb.DuckDBPyConnection") -> Catalog:
    """The catalog of the build a session is on. Raises WH211 for a build of another version of wh, which has another one."""
    import duckdb

    try:
        ways = con.execute("select reader, table_name, key, columns from catalog.landing_way").fetchall()
        found = con.execute("select name, schema_name, materialized, digest, place, sql, grain, reads, role from catalog.model order by rowid")
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise WarehouseError("WH211", "the current build was made by another version of wh", "catalog.model", "run: wh build") from error
    models = {
        f"{schema}.{name}": BuiltModel(name, schema, materialized, model_digest, place, sql, tuple(grain), tuple(reads), role)
        for name, schema, materialized, model_digest, place, sql, grain, reads, role in found.fetchall()
    }
    types: dict[str, dict[str, str]] = {}
    for schema, table, column, kind in con.execute(
        "select schema_name, table_name, column_name, data_type from duckdb_columns()"
        " where database_name = current_database() and not internal order by schema_name, table_name, column_index"
    ).fetchall():
        types.setdefault(f"{schema}.{table}", {})[column] = kind
    landing: dict[str, dict[str, str]] = {}
    for table, column, kind in con.execute(
        "select table_name, column_name, type from catalog.landing_column order by table_name, position"
    ).fetchall():
        landing.setdefault(table, {})[column] = kind
    files = con.execute("select table_name, path, sha256, rows from catalog.landing_file").fetchall()
    return Catalog(
        models,
        {name: tuple(names) for name, names in (types | landing).items()},
        types,
        landing,
        tuple(LandingFile(table, Path(path), sha256, rows) for table, path, sha256, rows in files),
        landing_ways={(reader, table): (key, columns) for reader, table, key, columns in ways},
    )


def rollup_columns(catalog: Catalog, spec: BuiltModel) -> list[str]:
    """The query's own columns in its rollup."""
    return [name for name in catalog.columns[spec.qualified] if name not in RESERVED_COLUMNS]


def open_trace_session(build: Build, store_root: Path, *, is_of_cell: bool = False) -> "tuple[duckdb.DuckDBPyConnection, Catalog]":
    """A read-only session on a build in which its landing tables are there too; the database (WH218) and every landing
    file (WH123) checked against its digest first. A trace of a cell (`is_of_cell`) opens the landing tables that it reads, and brings in what
    it reads of tables that stay in parts."""
    build.check()
    con = open_build(build.path)
    catalog = read_catalog(con)
    landing: dict[str, list[LandingFile]] = {table: [] for table in catalog.landing_types}
    for file in catalog.landing_files:
        landing[file.table].append(replace(file, path=store_root / "landing" / file.path))
    if not build.parts:
        return con, _prepared(con, catalog, landing, is_of_cell=is_of_cell)
    parts = PartRows(con, build, catalog.types, landing, catalog.landing_types)
    if not is_of_cell:
        parts.bring_all()
    files = {name: files for name, files in landing.items() if name not in parts.landing}
    return con, _prepared(con, replace(catalog, parts=parts), files, is_of_cell=is_of_cell)


@contextmanager
def trace_in_memory(material: "Material") -> "Iterator[tuple[duckdb.DuckDBPyConnection, Catalog]]":
    """The same over models that are made for it, and their catalog. Raises WH209 at the place of what fails, and WH123."""
    with made_in_memory(material) as con:
        catalog = catalog_of(material.checked, material.landing.types, {name: made.digest for name, made in material.made.items()})
        opened = {
            name for name, in con.execute(
                "select table_name from duckdb_tables() where temporary union select view_name from duckdb_views() where temporary"
            ).fetchall()
        }
        yield con, _prepared(con, catalog, {name: table.files for name, table in material.landing.tables.items() if name not in opened})


def _prepared(
    con: "duckdb.DuckDBPyConnection", catalog: Catalog, landing: Mapping[str, Sequence[LandingFile]], *, is_of_cell: bool = False
) -> Catalog:
    """The catalog of a session that has its landing tables now, or where it `is_of_cell` opens them before they are read."""
    from warehouse.transform.testing.rejected_rows import open_rejected_rows

    if REJECTED_TABLE in landing:
        open_rejected_rows(con)
    files = {table: files for table, files in landing.items() if table != REJECTED_TABLE}
    rows = LandingRows(con, catalog.landing_types, files, catalog.landing_ways)
    rows.open([FILE_TABLE] if is_of_cell else landing)  # lineage itself reads the digests of files
    catalog = replace(catalog, landing=rows)
    read = {name: (name, model.name) for name, model in catalog.models.items() if model.has_rows}
    read |= {table: (table, table) for table in catalog.landing_types}
    for table in [*catalog.parts.in_parts, *catalog.parts.landing] if catalog.parts else ():
        del read[table]  # which have rows, though they may not be there yet
    for table in rows.waiting:
        del read[table]
    unread = {table for table in rows.waiting if not any(file.rows for file in landing[table])}
    # The session is in no transaction: in one, a table of this many rows may have more.
    stored = con.execute(
        "select if(temporary, '', schema_name || '.') || table_name, estimated_size from duckdb_tables() where not internal"
    ).fetchall()
    without_rows = {name for name, rows_about in stored if not rows_about}
    empty = [
        names for table, names in read.items()
        if table in without_rows or not con.execute(f"select 1 from {quoted(table)} limit 1").fetchall()
    ]
    return replace(catalog, empty=frozenset(unread.union(*empty)))


def catalog_of(
    checked: "CheckedProject", landing: Mapping[str, Mapping[str, str]], digests: Mapping[str, str] = MappingProxyType({})
) -> Catalog:
    """What `read_catalog` finds in a build of a checked project, but for the columns that a rollup is given beside its own.
    `digests` are those of the models, by name."""
    models = {name: checked.models[name] for name in checked.graph.order}
    types = {model.qualified: checked.columns[name] for name, model in models.items()}
    return Catalog(
        {
            model.qualified: BuiltModel(
                model.name, model.schema, model.materialized, digests.get(name, ""), model.place, model.text,
                tuple(model.grain), tuple(checked.reads(name)), model.role,
            )
            for name, model in models.items()
        },
        {name: tuple(columns) for name, columns in {**types, **landing}.items()},
        types,
        landing,
        (),
    )
