"""A project as dbt's `manifest.json` (v12), so that catalogues read it.

Pure: a description in, a JSON document out. The fields are those of dbt 1.10's own schema, where a catalogue looks for
them; what dbt has and a project here has not (macros, exposures, ...) is there and empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.transform.export.artifact_names import DATABASE, metadata, package_name, promises, relation_name, unique_id
from warehouse.transform.export.dbt_tests import generic_test, test_name
from warehouse.transform.export.description import LANDING, ProjectDescription, Promise, Table
from warehouse.transform.project.model import Column, Model
from warehouse.transform.sql.text import body

MANIFEST_SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"


def manifest(project: ProjectDescription, generated_at: datetime) -> dict[str, Any]:
    """The manifest: every model, feed and rollup as a model, every test as a test, every landing table as a source."""
    package = package_name(project)
    nodes: dict[str, Any] = {}
    sources: dict[str, Any] = {}
    parents: dict[str, list[str]] = {}
    for table in project.tables.values():
        key = unique_id(package, table)
        if table.model is None:
            sources[key] = _source(package, table, generated_at)
            parents[key] = []
            continue
        reads = [project.tables[name] for name in table.reads]
        nodes[key] = _node(package, table, table.model, reads, generated_at)
        parents[key] = nodes[key]["depends_on"]["nodes"]
        for test_key, promise in promises(package, table):
            nodes[test_key] = _test(package, test_key, promise, table, table.model, project, generated_at)
            parents[test_key] = nodes[test_key]["depends_on"]["nodes"]
    children: dict[str, list[str]] = {key: [] for key in parents}
    for key, above in parents.items():
        for parent in above:
            children[parent].append(key)
    return {
        "metadata": {
            **metadata(project, MANIFEST_SCHEMA, generated_at),
            "project_name": package,
            "adapter_type": "duckdb",
            "quoting": {"database": True, "schema": True, "identifier": True, "column": None},
        },
        "nodes": nodes,
        "sources": sources,
        **{name: {} for name in ("macros", "docs", "exposures", "metrics", "groups", "selectors", "disabled")},
        "parent_map": parents,
        "child_map": children,
        "group_map": {},
        **{name: {} for name in ("saved_queries", "semantic_models", "unit_tests")},
    }


def _placed(package: str, key: str, name: str, table: Table, generated_at: datetime) -> dict[str, Any]:
    """The fields that every node and source has."""
    return {
        "database": DATABASE,
        "schema": table.schema,
        "name": name,
        "package_name": package,
        "unique_id": key,
        "fqn": [package, table.schema, name],
        "created_at": generated_at.timestamp(),
        "unrendered_config": {},
    }


def _node(package: str, table: Table, model: Model, reads: Sequence[Table], generated_at: datetime) -> dict[str, Any]:
    meta = {
        name: value
        for name, value in (
            ("grain", list(model.grain)),
            ("feeds", model.feeds),
            ("collects", model.collects),
            ("claim", dict(model.claim)),
        )
        if value
    }
    tags = list(model.tags)
    return {
        **_placed(package, unique_id(package, table), model.name, table, generated_at),
        "resource_type": "model",
        "path": PurePosixPath(model.place).name,
        "original_file_path": model.place,
        "alias": model.name,
        "checksum": {"name": "sha256", "checksum": bytes_digest(model.text.encode())},
        "config": {
            "enabled": True,
            "materialized": model.materialized,
            "schema": model.schema,
            "tags": tags,
            "meta": meta,
            "unique_key": list(model.key) if model.materialized == "incremental" else None,
            "contract": {"enforced": bool(model.columns), "alias_types": True},
        },
        "tags": tags,
        "description": model.description,
        "columns": _columns(table.columns),
        "meta": meta,
        "docs": {"show": True, "node_color": None},
        "relation_name": relation_name(table),
        "raw_code": model.text,
        "language": "sql",
        "refs": [{"name": other.bare_name, "package": None, "version": None} for other in reads if other.model],
        "sources": [[LANDING, other.name] for other in reads if other.model is None],
        "depends_on": {"macros": [], "nodes": [unique_id(package, other) for other in reads]},
        "compiled": True,
        "compiled_code": body(model.text),
        "contract": {"enforced": bool(model.columns), "alias_types": True, "checksum": None},
        "access": "protected",
        "primary_key": list(model.grain),
    }


def _source(package: str, table: Table, generated_at: datetime) -> dict[str, Any]:
    return {
        **_placed(package, unique_id(package, table), table.name, table, generated_at),
        "resource_type": "source",
        "path": LANDING,
        "original_file_path": LANDING,
        "source_name": LANDING,
        "source_description": "Typed rows straight from the evidence; Parquet files in the store, not in the database.",
        "loader": "wh ingest",
        "identifier": table.name,
        "description": table.description,
        "columns": _columns(table.columns),
        "meta": {},
        "tags": [],
        "config": {"enabled": True},
        "relation_name": relation_name(table),
    }


def _columns(columns: Mapping[str, Column]) -> dict[str, Any]:
    return {
        column.name: {
            "name": column.name,
            "description": column.description,
            "data_type": column.type,
            **({"meta": {"unit": column.unit}} if column.unit else {}),  # what is left out is empty by the schema
        }
        for column in columns.values()
    }


def _test(
    package: str,
    key: str,
    promise: Promise,
    table: Table,
    model: Model,
    project: ProjectDescription,
    generated_at: datetime,
) -> dict[str, Any]:
    name = test_name(table, promise)
    kind = generic_test(table, promise)
    other = project.tables.get(str(promise.argument).rpartition(".")[0]) if promise.test == "relationships" else None
    tested = [table, other] if other and other is not table else [table]
    generic = {"column_name": promise.column, "attached_node": unique_id(package, table), "test_metadata": kind}
    return {
        **_placed(package, key, name, table, generated_at),
        "resource_type": "test",
        "path": f"{name}.sql",
        "original_file_path": model.place,
        "alias": name,
        "checksum": {"name": "none", "checksum": ""},
        "config": {"enabled": True, "materialized": "test", "severity": promise.severity.upper(), "tags": [], "meta": {}},
        "tags": [],
        "description": promise.text,
        "columns": {},
        "meta": {},
        "raw_code": promise.sql,
        "language": "sql",
        "refs": [{"name": table.bare_name, "package": None, "version": None} for table in tested],
        "sources": [],
        "depends_on": {"macros": [], "nodes": [unique_id(package, table) for table in tested]},
        "compiled": True,
        "compiled_code": promise.sql,
        **(generic if kind else {}),
    }
