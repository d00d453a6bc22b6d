"""Writes a run's record into a tracking store of MLflow. A run that is there already is not written again."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError, printable
from warehouse.surfaces.tracking.run_record import RunRecord

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_STATUSES = {"succeeded": "FINISHED", "invalid": "FAILED", "failed": "FAILED", "interrupted": "KILLED"}  # of others MLflow has no word: FINISHED
_AT_ONCE = 100  # parameters and tags of one request; MLflow takes 1000 metrics
_DONE = "wh.build"  # the tag that is written last
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


@dataclass(frozen=True)
class Exported:
    """Where a run is in MLflow, and whether it was there before."""

    mlflow_run_id: str
    experiment: str
    was_there: bool


def export_to_mlflow(record: RunRecord, to: str, experiment: str | None = None) -> Exported:
    """Write a record into the tracking store at an address or in a folder. Raises WH006 where MLflow is not installed, WH551 where it
    does not take the run."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # it would report each use to its makers
    uri = to
    if not _SCHEME.match(to):
        uri = Path(to).resolve().as_uri()
        # Since 3.14 MLflow refuses stores in a folder, which it does not develop further, unless told so.
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    try:
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise WarehouseError("WH006", f"{error.name} is not installed", hint="pip install 'perf-warehouse[mlflow]'") from error
    name = experiment or record.experiment
    try:
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(name)
        experiment_id = found.experiment_id if found else client.create_experiment(name)
        there = _run_there(client, experiment_id, record)
        return Exported(there or _written(client, experiment_id, record), name, there is not None)
    except (MlflowException, OSError) as error:
        message = printable(" ".join(str(error).split()))[:300]
        raise WarehouseError("WH551", f"MLflow did not take the run: {message}", printable(to)) from error


def _run_there(client: "MlflowClient", experiment_id: str, record: RunRecord) -> str | None:
    """The run of MLflow that this record of the same build was written to."""
    runs = client.search_runs([experiment_id], f"tags.`{_DONE}` = '{record.tags[_DONE]}'")
    same = [run.info.run_id for run in runs if run.data.tags.get("wh.run_id") == record.run_id]
    return same[0] if same else None


def _written(client: "MlflowClient", experiment_id: str, record: RunRecord) -> str:
    from mlflow.entities import Metric, Param, RunTag

    run_id: str = client.create_run(experiment_id, start_time=_milliseconds(record.started_at), run_name=record.run_id).info.run_id
    at = round((record.ended_at or record.started_at or datetime.now(UTC)).timestamp() * 1000)
    for params in _batches(Param(name, value) for name, value in record.params.items()):
        client.log_batch(run_id, params=params)
    for metrics in _batches(Metric(name, value, at, 0) for name, value in record.metrics.items()):
        client.log_batch(run_id, metrics=metrics)
    for tags in _batches(RunTag(name, value) for name, value in record.tags.items() if name != _DONE):
        client.log_batch(run_id, tags=tags)
    client.log_dict(run_id, dict(record.evidence), "evidence.json")
    client.set_terminated(run_id, _STATUSES.get(record.status or "", "FINISHED"), _milliseconds(record.ended_at))
    client.set_tag(run_id, _DONE, record.tags[_DONE])
    return run_id


def _batches(entities: Iterable[Any]) -> Iterator[list[Any]]:
    found = list(entities)
    return (found[start : start + _AT_ONCE] for start in range(0, len(found), _AT_ONCE))


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)
