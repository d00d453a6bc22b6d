"""A project's last build as dbt's `run_results.json` (v6): what became of each table and each test of the manifest's."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from warehouse.errors import counted
from warehouse.transform.export.artifact_names import metadata, package_name, promises, relation_name, time_text, unique_id
from warehouse.transform.export.description import ModelOutcome, ProjectDescription, Promise, PromiseOutcome, Table

RUN_RESULTS_SCHEMA = "https://schemas.getdbt.com/dbt/run-results/v6.json"
_MODEL_STATUS = {"built": "success", "updated": "success", "kept": "no-op", "failed": "error"}
_TEST_STATUS = {"pass": "pass", "warn": "warn", "error": "fail"}


def run_results(project: ProjectDescription, generated_at: datetime) -> dict[str, Any]:
    """The results of the project's last build; there must be one."""
    build = project.last_build
    if build is None:
        raise ValueError("no build, no results")
    package = package_name(project)
    results = []
    for table in project.tables.values():
        if table.name in project.outcomes:
            results.append(_model_result(package, table, project.outcomes[table.name]))
        for key, promise in promises(package, table):
            outcome = project.promise_outcomes.get(promise.name)
            if outcome:
                results.append(_test_result(key, promise, outcome))
    return {
        "metadata": {
            **metadata(project, RUN_RESULTS_SCHEMA, generated_at),
            "invocation_started_at": time_text(build.started_at),
        },
        "results": results,
        "elapsed_time": (build.ended_at - build.started_at).total_seconds(),
        "args": {"which": "build"},
    }


def _model_result(package: str, table: Table, outcome: ModelOutcome) -> dict[str, Any]:
    return {
        **_result(unique_id(package, table), _MODEL_STATUS[outcome.status], outcome.message or outcome.status),
        "timing": _timing(outcome),
        "execution_time": outcome.seconds,
        "adapter_response": {} if outcome.rows is None else {"rows_affected": outcome.rows},
        "relation_name": relation_name(table),
    }


def _timing(outcome: ModelOutcome) -> list[dict[str, str]]:
    if outcome.started_at is None:
        return []
    ended_at = outcome.started_at + timedelta(seconds=outcome.seconds)
    return [{"name": "execute", "started_at": time_text(outcome.started_at), "completed_at": time_text(ended_at)}]


def _test_result(key: str, promise: Promise, outcome: PromiseOutcome) -> dict[str, Any]:
    message = f"{counted(outcome.failures, 'row breaks', 'rows break')} it: {promise.text}" if outcome.failures else None
    return {
        **_result(key, _TEST_STATUS[outcome.status], message),
        "failures": outcome.failures,
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
        "compiled_code": None,  # the manifest has it: twice, it would be a thirtieth of a site
        "relation_name": None,
    }
