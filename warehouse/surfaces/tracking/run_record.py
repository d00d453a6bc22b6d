"""A run of the current build as an experiment tracker has one: parameters, metrics, tags, and where its evidence is.

Names have letters, digits, `_`, `-`, `.`, blanks and `:`, which all trackers take. A value is never shortened: what is too long is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore, bundle_key, raw_key
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query
from warehouse.transform.project.model import CONDITIONS, MEASUREMENTS, RUNS, Model, model_of_role
from warehouse.transform.project.model_files import read_models
from warehouse.transform.sql.duck import text_literal

_NOT_IN_NAMES = re.compile(r"[^\w\-. :]", re.ASCII)
_LONGEST_NAME = 250
_LONGEST_PARAMETER = 6000  # characters, in MLflow
_LONGEST_TAG = 5000
_Value = TypeVar("_Value")
_TAGS = (
    "run_id", "benchmark_case_id", "family", "mode", "status", "status_reason", "state", "intent", "benchmark_grade", "workload_spec_digest",
    "artifact_manifest_digest", "outcome_digest", "hardware_topology_key", "software_version_key", "scheduler_run_id", "node_name",
)


@dataclass(frozen=True)
class RunRecord:
    """What is exported of a run. `evidence` is a JSON document: the bundle and its files, with their digests and addresses in the store."""

    run_id: str
    experiment: str
    status: str | None
    started_at: datetime | None
    ended_at: datetime | None
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    evidence: Mapping[str, Any]
    left_out: tuple[str, ...] = field(default=())


def run_record(project: Project, run_id: str) -> RunRecord:
    """Read a run. Raises WH502 where the current build has no such run, or no table of runs."""
    models = read_models(project).models.values()
    build = current_build(project)

    def rows(role: str) -> list[dict[str, Any]]:
        model: Model | None = model_of_role(models, role)
        if model is None:
            return []
        with run_query(build.path, f"select * from {model.qualified} where run_id = {text_literal(run_id)} order by all") as found:
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    runs = rows(RUNS)
    if not runs:
        raise WarehouseError("WH502", "the current build has no run of this id", printable(run_id), exit_code=ExitCode.NOT_FOUND)
    run, conditions, measured = runs[0], rows(CONDITIONS), rows(MEASUREMENTS)
    metrics = dict(_named(_metrics(measured, conditions)))
    units = {f"wh.unit.{name}": unit for name, (_, unit) in metrics.items() if unit is not None}
    stated = {f"wh.{name}": str(run[name]) for name in _TAGS if run.get(name) is not None}
    digest = run.get("artifact_manifest_digest")
    store = open_store(project)
    place = project.store_url or project.store_root.as_uri()
    address = {"wh.evidence": f"{place.rstrip('/')}/{bundle_key(digest)}"} if digest else {}
    params = dict(_named(_params(conditions)))
    tags = {**stated, **address, **units, "wh.build": build.digest}
    long = [name for name, value in params.items() if len(value) > _LONGEST_PARAMETER]
    long += [name for name, value in tags.items() if len(value) > _LONGEST_TAG]
    return RunRecord(
        run_id=run_id, experiment=str(run.get("benchmark_case_id") or run.get("family") or "warehouse"), status=run.get("status"),
        started_at=run.get("started_at"), ended_at=run.get("ended_at"),
        params={name: value for name, value in params.items() if name not in long},
        metrics={name: value for name, (value, _) in metrics.items()},
        tags={name: value for name, value in tags.items() if name not in long},
        evidence=_evidence(store, place, digest, run) if digest else {}, left_out=tuple(long),
    )


def _params(conditions: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for each in conditions:
        if each.get("value_number") is None and each["value_text"]:
            yield f"{each['kind']}.{each['name']}", each["value_text"]


def _metrics(measured: list[dict[str, Any]], conditions: list[dict[str, Any]]) -> Iterator[tuple[str, tuple[float, str | None]]]:
    """Name, value and unit of each measurement, and of each condition that is a number."""
    for each in measured:
        yield ".".join(part for part in (each["indicator"], each["metric"], each["point"]) if part), (float(each["value"]), each.get("unit"))
    for each in conditions:
        if each.get("value_number") is not None:
            yield f"{each['kind']}.{each['name']}", (float(each["value_number"]), None)


def _named(pairs: Iterator[tuple[str, _Value]]) -> Iterator[tuple[str, _Value]]:
    """The pairs with names that a tracker takes, each once."""
    taken: set[str] = set()
    for name, value in pairs:
        allowed = _NOT_IN_NAMES.sub("_", name.replace("/", "."))[:_LONGEST_NAME]
        unique, number = allowed, 2
        while unique in taken:
            unique, number = f"{allowed[: _LONGEST_NAME - 10]}_{number}", number + 1
        taken.add(unique)
        yield unique, value


def _evidence(store: EvidenceStore, place: str, digest: str, run: Mapping[str, Any]) -> dict[str, Any]:
    manifest = store.manifest(digest)
    files = [
        {"raw_path": file.raw_path, "bytes": file.bytes, "sha256": file.sha256, "url": f"{place.rstrip('/')}/{raw_key(digest, file.raw_path)}"}
        for file in manifest.files
    ]
    own = {key: run[key] for key in ("raw_folder", "raw_section") if run.get(key) is not None}
    return {"run_id": run["run_id"], "artifact_manifest_digest": digest, **own, "files": files}
