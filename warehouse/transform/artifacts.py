"""A project in dbt's artifacts, so that catalogues read it: `manifest.json` (v12) and `run_results.json` (v6).

Pure: a description in, a JSON document out. The fields are those of dbt 1.10's own schemas, where a catalogue looks for
them; what dbt has and a project here has not (macros, exposures, ...) is there and empty.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.transform.builds import POINTER
from warehouse.transform.dbt_tests import generic_test, test_name
from warehouse.transform.description import LANDING, ModelOutcome, ProjectDescription, Promise, PromiseOutcome, Table
from warehouse.transform.duck import quote
from warehouse.transform.model import Column, Model
from warehouse.transform.sql_text import body

DBT_VERSION = "1.10.0"  # the shape's version: readers choose their parser by it
MANIFEST_SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"
RUN_RESULTS_SCHEMA = "https://schemas.getdbt.com/dbt/run-results/v6.json"
# What the engine calls the database of the current build, when a client opens it by its pointer.
_DATABASE = POINTER.removesuffix(".duckdb")
_MODEL_STATUS = {"built": "success", "updated": "success", "kept": "no-op", "failed": "error"}
_TEST_STATUS = {"pass": "pass", "warn": "warn", "error": "fail"}
_INVOCATIONS = uuid.UUID("5b0c1d0a-0f0e-5d7b-9b6c-6f1f0c2c7a51")  # any fixed one: equal builds have equal ids


def manifest(project: ProjectDescription, generated_at: datetime) -> dict[str, Any]:
    """The manifest: every model, feed and rollup as a model, every test as a test, every landing table as a source."""
    package = _package(project)
    nodes: dict[str, Any] = {}
    sources: dict[str, Any] = {}
    parents: dict[str, list[str]] = {}
    for table in project.tables.values():
        key = _unique_id(package, table)
        if table.model is None:
            sources[key] = _source(package, table, generated_at)
            parents[key] = []
            continue
        reads = [project.tables[name] for name in table.reads]
        nodes[key] = _node(package, table, table.model, reads, generated_at)
        parents[key] = nodes[key]["depends_on"]["nodes"]
        for test_key, promise in _promises(package, table):
            nodes[test_key] = _test(package, test_key, promise, table, table.model, project, generated_at)
            parents[test_key] = nodes[test_key]["depends_on"]["nodes"]
    children: dict[str, list[str]] = {key: [] for key in parents}
    for key, above in parents.items():
        for parent in above:
            children[parent].append(key)
    return {
        "metadata": {
            **_metadata(project, MANIFEST_SCHEMA, generated_at),
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


def run_results(project: ProjectDescription, generated_at: datetime) -> dict[str, Any]:
    """The results of the project's last build; there must be one."""
    build = project.last_build
    if build is None:
        raise ValueError("no build, no results")
    package = _package(project)
    results = []
    for table in project.tables.values():
        if table.name in project.outcomes:
            results.append(_model_result(package, table, project.outcomes[table.name]))
        for key, promise in _promises(package, table):
            outcome = project.promise_outcomes.get(promise.name)
            if outcome:
                results.append(_test_result(key, promise, outcome))
    return {
        "metadata": {
            **_metadata(project, RUN_RESULTS_SCHEMA, generated_at),
            "invocation_started_at": _time(build.started_at),
        },
        "results": results,
        "elapsed_time": (build.ended_at - build.started_at).total_seconds(),
        "args": {"which": "build"},
    }


def _metadata(project: ProjectDescription, schema: str, generated_at: datetime) -> dict[str, Any]:
    build = project.last_build
    invocation = f"{build.digest} {_time(build.started_at)}" if build else _time(generated_at)
    return {
        "dbt_schema_version": schema,
        "dbt_version": DBT_VERSION,
        "generated_at": _time(generated_at),
        "invocation_id": str(uuid.uuid5(_INVOCATIONS, f"{project.name} {invocation}")),
        "env": {},
    }


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _package(project: ProjectDescription) -> str:
    """The project's name as dbt would have it: readers cut ids at their dots."""
    return re.sub(r"\W+", "_", project.name) or "project"


def _unique_id(package: str, table: Table) -> str:
    # The schema keeps a feed, whose bare name is free, apart from a model of that name.
    name = table.name if table.schema == "feed" else table.bare_name
    return f"source.{package}.{LANDING}.{name}" if table.model is None else f"model.{package}.{name}"


def _relation(table: Table) -> str:
    return ".".join(quote(part) for part in (_DATABASE, table.schema, table.bare_name))


def _placed(package: str, key: str, name: str, table: Table, generated_at: datetime) -> dict[str, Any]:
    """The fields that every node and source has."""
    return {
        "database": _DATABASE,
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
        **_placed(package, _unique_id(package, table), model.name, table, generated_at),
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
            "unique_key": list(model.key) or None,
            "contract": {"enforced": bool(model.columns), "alias_types": True},
        },
        "tags": tags,
        "description": model.description,
        "columns": _columns(table.columns),
        "meta": meta,
        "docs": {"show": True, "node_color": None},
        "relation_name": _relation(table),
        "raw_code": model.text,
        "language": "sql",
        "refs": [{"name": other.bare_name, "package": None, "version": None} for other in reads if other.model],
        "sources": [[LANDING, other.name] for other in reads if other.model is None],
        "depends_on": {"macros": [], "nodes": [_unique_id(package, other) for other in reads]},
        "compiled": True,
        "compiled_code": body(model.text),
        "contract": {"enforced": bool(model.columns), "alias_types": True, "checksum": None},
        "access": "protected",
        "primary_key": list(model.grain),
    }


def _source(package: str, table: Table, generated_at: datetime) -> dict[str, Any]:
    return {
        **_placed(package, _unique_id(package, table), table.name, table, generated_at),
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
        "relation_name": _relation(table),
    }


def _columns(columns: Mapping[str, Column]) -> dict[str, Any]:
    return {
        column.name: {
            "name": column.name,
            "description": column.description,
            "data_type": column.type,
            "meta": {"unit": column.unit} if column.unit else {},
            "tags": [],
            "constraints": [],
            "quote": None,
        }
        for column in columns.values()
    }


def _promises(package: str, table: Table) -> Iterator[tuple[str, Promise]]:
    """The tests of a table and their ids: two of one name differ by the digest of their SQL."""
    for promise in table.promises:
        digest = bytes_digest(f"{table.name} {promise.text} {promise.sql}".encode())
        yield f"test.{package}.{test_name(table, promise)}.{digest[:10]}", promise


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
    generic = {"column_name": promise.column, "attached_node": _unique_id(package, table), "test_metadata": kind}
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
        "depends_on": {"macros": [], "nodes": [_unique_id(package, table) for table in tested]},
        "compiled": True,
        "compiled_code": promise.sql,
        **(generic if kind else {}),
    }


def _model_result(package: str, table: Table, outcome: ModelOutcome) -> dict[str, Any]:
    return {
        **_result(_unique_id(package, table), _MODEL_STATUS[outcome.status], outcome.message or outcome.status),
        "timing": _timing(outcome),
        "execution_time": outcome.seconds,
        "adapter_response": {} if outcome.rows is None else {"rows_affected": outcome.rows},
        "compiled_code": body(table.model.text) if table.model else None,
        "relation_name": _relation(table),
    }


def _timing(outcome: ModelOutcome) -> list[dict[str, str]]:
    if outcome.started_at is None:
        return []
    ended_at = outcome.started_at + timedelta(seconds=outcome.seconds)
    return [{"name": "execute", "started_at": _time(outcome.started_at), "completed_at": _time(ended_at)}]


def _test_result(key: str, promise: Promise, outcome: PromiseOutcome) -> dict[str, Any]:
    message = f"{outcome.failures} rows break it: {promise.text}" if outcome.failures else None
    return {
        **_result(key, _TEST_STATUS[outcome.status], message),
        "failures": outcome.failures,
        "compiled_code": promise.sql,
    }


def _result(key: str, status: str, message: str | None) -> dict[str, Any]:
    return {
        "unique_id": key,
        "status": status,
        "timing": [],
        "thread_id": "MainThread",
        "execution_time": 0.0,
        "adapter_response": {},
        "message": message,
        "failures": None,
        "compiled": True,
        "compiled_code": None,
        "relation_name": None,
    }
