"""OpenLineage run events of a build, one START and one COMPLETE or FAIL for the build and for each model it made.

Pure: a description in, events out, as the spec 2-0-2 and its facets have them (openlineage.io). To deliver them is the
business of `lineage_delivery`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from warehouse.transform.export.description import LANDING, BuildOutcome, ModelOutcome, ProjectDescription, Table
from warehouse.transform.sql.text import body
from warehouse.version import __version__

PRODUCER = f"urn:wh:{__version__}"
RUN_EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
# The schema of each facet: the file's version and its name.
_FACETS = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "documentation": "1-1-0/DocumentationDatasetFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "parent": "1-2-0/ParentRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sql": "1-1-0/SQLJobFacet",
}
_JOB_DOCUMENTATION = "1-1-0/DocumentationJobFacet"
_RUNS = uuid.UUID("9f2f0f0c-3f5e-5f0a-8a55-2f6b1f4f7f10")  # any fixed one: so a run's events agree on its id
_BUILD_JOB = "build"


def run_events(project: ProjectDescription) -> Iterator[dict[str, Any]]:
    """The events of the project's last build, in the order of its models; those that were kept have none."""
    build = project.last_build
    if build is None:
        return
    yield _event(project, build, "START", build.started_at)
    for outcome in build.models:
        if outcome.status != "kept" and outcome.name in project.tables:
            yield from _model_events(project, build, project.tables[outcome.name], outcome)
    yield _event(project, build, "FAIL" if build.error else "COMPLETE", build.ended_at, run_facets=_error(build.error))


def _model_events(
    project: ProjectDescription, build: BuildOutcome, table: Table, outcome: ModelOutcome
) -> Iterator[dict[str, Any]]:
    started_at = outcome.started_at or build.started_at
    ended_at = outcome.started_at + timedelta(seconds=outcome.seconds) if outcome.started_at else build.ended_at
    parent = {
        "run": {"runId": _run_id(project, build, _BUILD_JOB)},
        "job": {"namespace": project.name, "name": _BUILD_JOB},
    }
    run_facets = _facet("parent", parent)
    job_facets = _facet("sql", {"query": body(table.model.text), "dialect": "duckdb"}) if table.model else {}
    if table.description:
        job_facets |= _facet("documentation", {"description": table.description}, _JOB_DOCUMENTATION)
    read = [project.tables[name] for name in table.reads]
    event = partial(
        _event, project, build, job=table.name, job_facets=job_facets,
        inputs=[_dataset(project, source, _landing_facets(source)) for source in read],
    )
    yield event("START", started_at, run_facets=run_facets, outputs=[_dataset(project, table, {})])
    if outcome.status == "failed":
        yield event("FAIL", ended_at, run_facets=run_facets | _error(outcome.message))
        return
    rows = {} if outcome.rows is None else _facet("outputStatistics", {"rowCount": outcome.rows})
    output = {**_dataset(project, table, _output_facets(project, table)), "outputFacets": rows}
    yield event("COMPLETE", ended_at, run_facets=run_facets, outputs=[output])


def _event(
    project: ProjectDescription,
    build: BuildOutcome,
    kind: str,
    moment: datetime,
    *,
    job: str = _BUILD_JOB,
    run_facets: Mapping[str, Any] = MappingProxyType({}),
    job_facets: Mapping[str, Any] = MappingProxyType({}),
    inputs: Sequence[Mapping[str, Any]] = (),
    outputs: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    return {
        "eventType": kind,
        "eventTime": moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "run": {"runId": _run_id(project, build, job), "facets": dict(run_facets)},
        "job": {"namespace": project.name, "name": job, "facets": dict(job_facets)},
        "inputs": list(inputs),
        "outputs": list(outputs),
        "producer": PRODUCER,
        "schemaURL": RUN_EVENT,
    }


def _run_id(project: ProjectDescription, build: BuildOutcome, job: str) -> str:
    return str(uuid.uuid5(_RUNS, f"{project.name} {build.started_at.isoformat()} {job}"))


def _facet(name: str, values: Mapping[str, Any], schema: str = "") -> dict[str, Any]:
    schema = schema or _FACETS[name]
    kind = schema.partition("/")[2]
    url = f"https://openlineage.io/spec/facets/{schema}.json#/$defs/{kind}"
    return {name: {"_producer": PRODUCER, "_schemaURL": url, **values}}


def _error(message: str) -> dict[str, Any]:
    return _facet("errorMessage", {"message": message, "programmingLanguage": "SQL"}) if message else {}


def _dataset(project: ProjectDescription, table: Table, facets: Mapping[str, Any]) -> dict[str, Any]:
    # The project, not the machine's path to its database: the same table is the same dataset wherever it is built.
    name = table.name if table.model else f"{LANDING}.{table.name}"
    return {"namespace": _dataset_namespace(project), "name": name, "facets": dict(facets)}


def _dataset_namespace(project: ProjectDescription) -> str:
    return f"duckdb://{project.name}"


def _schema(table: Table) -> dict[str, Any]:
    fields = []
    for column in table.columns.values():
        described = {"description": column.description} if column.description else {}
        fields.append({"name": column.name, "type": column.type, **described})
    return _facet("schema", {"fields": fields})


def _landing_facets(table: Table) -> dict[str, Any]:
    """A model's columns come with its own events; a landing table has none."""
    return {} if table.model else _schema(table)


def _output_facets(project: ProjectDescription, table: Table) -> dict[str, Any]:
    made_of = {
        column: {"inputFields": [_input_field(project, *edge) for edge in project.lineage[table.name, column]]}
        for column in table.columns
        if (table.name, column) in project.lineage
    }
    return {
        **_schema(table),
        **(_facet("documentation", {"description": table.description}) if table.description else {}),
        **(_facet("columnLineage", {"fields": made_of}) if made_of else {}),
    }


def _input_field(project: ProjectDescription, table: str, column: str, kind: str) -> dict[str, Any]:
    source = project.tables.get(table)
    return {
        "namespace": _dataset_namespace(project),
        "name": table if source and source.model else f"{LANDING}.{table}",
        "field": column,
        "transformations": [{"type": "DIRECT" if kind == "value" else "INDIRECT"}],
    }
