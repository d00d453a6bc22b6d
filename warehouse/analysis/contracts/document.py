"""The contract document of a warehouse: its tables, identifiers, metrics, rules and ingestors, and what of that is missing here.

It depends on the project and its current build only. There is no clock and no path of the machine in it, so every surface returns the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warehouse.analysis.contracts.identifiers import IDENTIFIERS
from warehouse.analysis.explain.playbooks import read_playbooks
from warehouse.analysis.health.health import HEALTH
from warehouse.claims.gate.policy import load_policy, policy_files
from warehouse.digest import canonical_json
from warehouse.landing.declaration import hot_metrics
from warehouse.landing.declaration.benchmark_run import API_VERSION, DIMENSIONS, FACTS, INFERENCE_FACTS, TRAINING_FACTS
from warehouse.landing.declaration.generator import FIELDS
from warehouse.landing.declaration.terms import BENCHMARK_RUN
from warehouse.landing.registry import find_ingestors
from warehouse.project.project import Project
from warehouse.transform.export.description import ProjectDescription, Table
from warehouse.transform.finished.builds import check_current, find_current
from warehouse.transform.finished.query import json_value, open_build, printable_json
from warehouse.transform.project.hot_metrics import HotMetric, hot_metrics_of
from warehouse.transform.project.model import HOT_METRICS, PUBLIC_SCHEMAS, RESERVED_COLUMNS
from warehouse.transform.sql.duck import quoted
from warehouse.version import __version__

if TYPE_CHECKING:
    import duckdb

SCHEMA_VERSION = "1"
CANONICAL_TABLES = (*FACTS, *INFERENCE_FACTS, *TRAINING_FACTS, *DIMENSIONS)  # those that the contract names
INTERFACES = {  # that return this document, and that render a BenchmarkRun
    "contracts": {
        "command": "wh contracts --json", "http": "GET /api/benchmark/contracts", "mcp_tool": "benchmark_contracts",
        "python": "Warehouse.contracts()",
    },
    "render": {
        "command": "wh contracts render", "http": "POST /api/benchmark/contracts/render-run", "mcp_tool": "render_benchmark_run",
        "python": "Warehouse.render_benchmark_run()",
    },
}
METRICS = "metric_definition_dim"
_METRIC_COLUMNS = ("metric", "version", "definition", "unit", "better")
_ROLLUP = "rollup"


def contracts_document(project: Project) -> dict[str, Any]:
    """The document, of JSON values only. Tables are as the project's files state them; what is empty is as in the current build. Raises WH2xx
    if the project does not check, WH121 (an ingestor), WH316 (a policy), WH218 (the build is damaged)."""
    tables = _tables(project)
    build = find_current(project)
    metrics: list[dict[str, Any]] = []
    missing = [_missing("table", name, "no model of the project makes it") for name in CANONICAL_TABLES if f"main.{name}" not in tables]
    if build is None:
        check_current(project)  # a damaged build is an error, not an absent one
        missing.append(_missing("build", "current", "nothing has been built yet: wh build"))
    else:
        con = open_build(build.path)
        try:
            missing += _not_filled(con, tables)
            metrics = _metric_definitions(con)
        finally:
            con.close()
    identifiers = [
        {**asdict(each), "tables": [name for name, table in tables.items() if each.column in _column_names(table)]} for each in IDENTIFIERS
    ]
    missing += [_missing("identifier", each["name"], "no table has it") for each in identifiers if not each["tables"]]
    if not metrics:
        missing.append(_missing("contract", "metric_definitions", f"the current build has no rows of {METRICS}"))
    playbooks = _playbooks(project)
    if not playbooks:
        missing.append(_missing("contract", "playbooks", "the project has no checks in queries/playbooks"))
    document = {
        "schema_version": SCHEMA_VERSION,
        "wh_version": __version__,
        "project": project.name,
        "build_digest": build.digest if build else None,
        "tables": [_table(table) for table in tables.values()],
        "identifiers": identifiers,
        "metric_definitions": metrics,
        "hot_metrics": {
            "store": hot_metrics.STORE, "retention_days": project.retention.hot_days,
            "max_active_series": project.max_hot_series or hot_metrics.MAX_ACTIVE_SERIES,
            "allowed_labels": list(hot_metrics.ALLOWED_LABELS), "forbidden_labels": list(hot_metrics.FORBIDDEN_LABELS),
            "metrics": [_hot_metric(each) for each in sorted(_exported(tables), key=lambda each: each.name)],
        },
        "retention_tiers": _retention_tiers(project, tables),
        "playbooks": playbooks,
        "gate_policies": [_policy(project, name) for name in sorted(policy_files(project))],
        "ingestors": [
            {
                "name": name, "version": found.ingestor.version, "formats": list(getattr(found.ingestor, "formats", ())),
                "tables": list(found.ingestor.tables), "origin": found.source.origin,
            }
            for name, found in sorted(find_ingestors(project).items())
        ],
        "generator": {
            "renders": f"{API_VERSION} {BENCHMARK_RUN}", "command": "wh contracts render",
            "fields": [{**asdict(field), "expected": field.expected} for field in FIELDS],
        },
        "interfaces": INTERFACES,
        "missing": missing,
    }
    plain: dict[str, Any] = json_value(document)
    return plain


def document_bytes(document: dict[str, Any]) -> bytes:
    """The bytes that every surface returns: canonical JSON (RFC 8785) with characters that do not show escaped."""
    return printable_json(canonical_json(document).decode()).encode()


def _tables(project: Project) -> dict[str, Table]:
    """The public tables of the project by qualified name, sorted."""
    from warehouse.transform.check.project_check import check_project
    from warehouse.transform.inputs.landing_tables import project_landing_types

    landing = project_landing_types(project)
    found = ProjectDescription(project.name, check_project(project, landing).sound(), landing).tables
    return {name: table for name, table in sorted(found.items()) if table.model and table.schema in PUBLIC_SCHEMAS}


def _table(table: Table) -> dict[str, Any]:
    assert table.model
    return {
        "name": table.name, "kind": table.kind, "is_canonical": table.schema == "main" and table.bare_name in CANONICAL_TABLES,
        "description": " ".join(table.description.split()), "grain": list(table.model.grain),
        "columns": [
            {"name": each.name, "type": each.type, "unit": each.unit, "description": " ".join(each.description.split())}
            for each in table.columns.values()
        ],
        "tests": [{"name": each.name, "column": each.column, "states": each.text, "severity": each.severity} for each in table.promises],
    }


def _exported(tables: dict[str, Table]) -> Iterator[HotMetric]:
    """The hot metrics of the project's models, and those that `wh` computes."""
    yield from HEALTH
    for table in tables.values():
        if table.model and table.model.role == HOT_METRICS:
            yield from hot_metrics_of(table.model, {name: column.type for name, column in table.columns.items()})


def _hot_metric(metric: HotMetric) -> dict[str, Any]:
    return {
        "name": metric.name, "type": metric.type, "unit": metric.unit, "labels": list(metric.labels), "source": metric.source,
        "description": metric.help,
    }


def _column_names(table: Table) -> set[str]:
    return {*table.columns, *(RESERVED_COLUMNS if table.schema == _ROLLUP else ())}


def _missing(what: str, name: str, reason: str) -> dict[str, str]:
    return {"what": what, "name": name, "reason": reason}


def _not_filled(con: "duckdb.DuckDBPyConnection", tables: dict[str, Table]) -> Iterator[dict[str, str]]:
    """The tables that the current build lacks, or has no row of."""
    built = {row[0] for row in con.execute("select schema_name || '.' || table_name from duckdb_columns()").fetchall()}
    for name in tables:
        if name not in built:
            yield _missing("table", name, "the current build does not have it: wh build")
        elif con.execute(f"from {quoted(name)} limit 1").fetchone() is None:
            yield _missing("table", name, "it has no rows in the current build")


def _metric_definitions(con: "duckdb.DuckDBPyConnection") -> list[dict[str, Any]]:
    """The rows of the table of metrics; none if the build does not have it with these columns."""
    has = con.execute("select column_name from duckdb_columns() where schema_name = 'main' and table_name = ?", [METRICS]).fetchall()
    if not {name for (name,) in has}.issuperset(_METRIC_COLUMNS):
        return []
    rows = con.execute(f"select {', '.join(_METRIC_COLUMNS)} from main.{METRICS} order by all").fetchall()
    return [dict(zip(_METRIC_COLUMNS, row, strict=True)) for row in rows]


def _retention_tiers(project: Project, tables: dict[str, Table]) -> list[dict[str, Any]]:
    kept = project.retention
    hot = [name for name, table in tables.items() if table.model and table.model.role == HOT_METRICS]
    detail = [name for name, table in tables.items() if table.model and table.model.retention_tier]
    return [
        {"tier": "hot", "days": kept.hot_days, "holds": "hot metrics", "tables": hot},
        {"tier": "warm", "days": kept.warm_days, "holds": "detail in the serving database", "tables": detail},
        {"tier": "cold", "days": kept.cold_days, "holds": "raw evidence that no active publication needs", "tables": []},
    ]


def _policy(project: Project, name: str) -> dict[str, Any]:
    policy = load_policy(project, name)
    rules = [dict(rule) for rule in policy.document.get("rule", [])]
    return {**policy.reference, "description": policy.description, "confidence": policy.confidence, "rules": rules}


def _playbooks(project: Project) -> list[dict[str, Any]]:
    """Each scenario with its checks, symptoms first."""
    checks = read_playbooks(project)
    return [
        {
            "name": name,
            "checks": [
                {"name": each.name, "description": each.description, "evidence": each.evidence, "is_symptom": each.is_symptom}
                for each in checks if each.playbook == name
            ],
        }
        for name in dict.fromkeys(each.playbook for each in checks)
    ]
