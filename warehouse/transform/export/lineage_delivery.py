"""Delivers a build's OpenLineage events: appended to a file, posted to an endpoint, or both, as the project says.

Nothing here fails a build or holds it up for long: what could not be delivered is handed over as an error to be shown.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.transform.export.description import STATUS_OF_ACTION, BuildOutcome, ModelOutcome, ProjectDescription, nothing_known

if TYPE_CHECKING:
    from warehouse.transform.build.build import BuildReport

_DEFAULT_PATH = "/api/v1/lineage"
# Seconds for one answer, and for all events: a slow endpoint must not hold up a nightly build.
_ANSWER_TIMEOUT_S = 5.0
_DELIVERY_TIMEOUT_S = 30.0


def build_with_events(
    project: Project, build: Callable[[], "BuildReport"], undelivered: Callable[[WarehouseError], None]
) -> "BuildReport":
    """Build, and tell the project's lineage targets how it went: its report or its error is what comes back, whatever
    becomes of the events. A build that had nothing to do tells nothing."""
    started_at = datetime.now(UTC)
    try:
        report = build()
    except WarehouseError as error:
        failure = error  # whose own name is gone with this block
        _tell(project, lambda description: _failed(failure, started_at, description), undelivered)
        raise
    if report.is_new and not report.is_partial:
        _tell(project, lambda description: _finished(report, started_at), undelivered)
    return report


def _finished(report: "BuildReport", started_at: datetime) -> BuildOutcome:
    models = tuple(
        ModelOutcome(model.name, STATUS_OF_ACTION[model.action], model.seconds, model.rows)
        for model in report.models if model.action in STATUS_OF_ACTION
    )
    return BuildOutcome(report.build.digest, started_at, datetime.now(UTC), models)


def _failed(error: WarehouseError, started_at: datetime, description: ProjectDescription) -> BuildOutcome:
    place = error.place or ""
    models = tuple(
        ModelOutcome(table.name, "failed", message=str(error))
        for table in description.tables.values()
        if table.model and (place == table.model.place or place.startswith(f"{table.model.place}:"))
    )
    return BuildOutcome("", started_at, datetime.now(UTC), models, error=str(error))


def _tell(
    project: Project,
    outcome_of: Callable[[ProjectDescription], BuildOutcome],
    undelivered: Callable[[WarehouseError], None],
) -> None:
    from warehouse.transform.export.describe import describe_project
    from warehouse.transform.export.openlineage import run_events

    try:
        description = describe_project(project)
    except WarehouseError:
        description = nothing_known(project.name)  # why the build failed; the failure is reported all the same
    told = replace(description, last_build=outcome_of(description))
    for error in deliver(project, list(run_events(told))):
        undelivered(error)


def deliver(project: Project, events: Sequence[Mapping[str, Any]]) -> list[WarehouseError]:
    """Deliver events to the project's file and endpoint. Returns a WH228 for each that did not take them all."""
    problems = []
    if project.lineage_file:
        problems.append(_append(project.lineage_file, events))
    if project.lineage_url:
        problems.append(_post(project.lineage_url, events))
    return [problem for problem in problems if problem]


def _append(file: Path, events: Sequence[Mapping[str, Any]]) -> WarehouseError | None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
    except OSError as error:
        return WarehouseError("WH228", error.strerror or str(error), str(file))
    return None


def _post(url: str, events: Sequence[Mapping[str, Any]]) -> WarehouseError | None:
    """Post the events one by one over one connection, and stop at the first that is not taken."""
    import http.client

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_ANSWER_TIMEOUT_S)
    key = os.environ.get("OPENLINEAGE_API_KEY")
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    path = (parts.path.rstrip("/") or _DEFAULT_PATH) + (f"?{parts.query}" if parts.query else "")
    until = time.monotonic() + _DELIVERY_TIMEOUT_S
    problem = ""
    delivered = 0
    try:
        for event in events:
            if time.monotonic() > until:
                problem = f"took longer than {_DELIVERY_TIMEOUT_S:.0f} s"
                break
            connection.request("POST", path, json.dumps(event).encode(), headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 300:
                problem = f"answered {answer.status} {answer.reason}"
                break
            delivered += 1
    except (OSError, http.client.HTTPException) as error:
        problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
    finally:
        connection.close()
    if not problem:
        return None
    return WarehouseError("WH228", f"{problem}; {delivered} of {len(events)} events were delivered", url)
