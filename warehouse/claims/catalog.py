"""What a finished build says of itself: its models' SQL and digests, and the landing files it was made from.

A number's lineage is read from the build that holds it, not from the project's files, which may have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.claims.rollup import RESERVED_COLUMNS
from warehouse.landing.batches import LandingFile
from warehouse.transform.builds import Build
from warehouse.transform.query import open_build

if TYPE_CHECKING:
    import duckdb


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

    @property
    def qualified(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def has_rows(self) -> bool:
        """Whether the build holds rows of it; a view's are those of what it reads."""
        return self.materialized != "view"


@dataclass(frozen=True)
class Catalog:
    """A build's models in build order by qualified name, columns of every table, and landing files, whose paths are
    relative to the store's landing folder."""

    models: Mapping[str, BuiltModel]
    columns: Mapping[str, tuple[str, ...]]
    types: Mapping[str, Mapping[str, str]]
    landing_types: Mapping[str, Mapping[str, str]]
    landing_files: tuple[LandingFile, ...]

    def resolve(self, reference: str) -> str:
        """The qualified name of a table as some SQL names it; a landing table's own name."""
        return reference if reference in self.models else self._by_name.get(reference, reference)

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
    """The catalog of the build a session is on."""
    models = {
        f"{schema}.{name}": BuiltModel(name, schema, materialized, model_digest, place, sql, tuple(grain), tuple(reads))
        for name, schema, materialized, model_digest, place, sql, grain, reads in con.execute(
            "select name, schema_name, materialized, digest, place, sql, grain, reads from catalog.model order by rowid"
        ).fetchall()
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
    )


def rollup_columns(catalog: Catalog, spec: BuiltModel) -> list[str]:
    """The query's own columns in its rollup."""
    return [name for name in catalog.columns[spec.qualified] if name not in RESERVED_COLUMNS]


def open_trace_session(build: Build, store_root: Path) -> "tuple[duckdb.DuckDBPyConnection, Catalog]":
    """A read-only session on a build in which its landing tables are there too; the database (WH218) and every landing
    file (WH123) checked against its digest first."""
    build.check()
    return trace_session(build.path, store_root)


def trace_session(database: Path, store_root: Path) -> "tuple[duckdb.DuckDBPyConnection, Catalog]":
    """The same on a database that was just made. Raises WH123."""
    from warehouse.claims.provenance import TRACE_SETTINGS
    from warehouse.transform.landing_tables import open_landing_table

    con = open_build(database)
    for setting in TRACE_SETTINGS:
        con.execute(setting)
    catalog = read_catalog(con)
    for table, types in catalog.landing_types.items():
        files = [
            replace(file, path=store_root / "landing" / file.path)
            for file in catalog.landing_files
            if file.table == table
        ]
        open_landing_table(con, table, types, files)
    return con, catalog
