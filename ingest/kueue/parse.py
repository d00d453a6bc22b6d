"""Turns Kueue's objects into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.kubernetes import (
    KubernetesObject,
    amount,
    conditions,
    container_gpus,
    count,
    gpu_count,
    integer,
    items,
    moment,
    objects,
    owner,
    texts,
    truth,
)
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from .bundles import KINDS

_JOB_UID = "kueue.x-k8s.io/job-uid"


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    for raw_path in bundle.manifest.by_path:
        report = Report(buffer, raw_path, None)
        data = document(bundle, raw_path, report)
        object_count = 0
        for found in objects(data, KINDS, report):
            object_count += 1
            for table, columns in _rows(found):
                buffer.add(table, raw_path, found.place.offset, found.place.length, **columns)
            yield from buffer.full()
        if not object_count:
            report("no-objects", "no object of Kueue could be read", 0, len(data), severity="error")


def _rows(found: KubernetesObject) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = found.columns()
    named = {name: columns[name] for name in ("name", "namespace", "uid")}
    if found.kind == "Workload":
        yield "kueue_workload", columns | _workload(found.record)
    elif found.kind == "ProvisioningRequest":
        yield "kueue_provisioning", columns | _provisioning(found.record)
    else:
        yield "kueue_queue", columns | _queue(found)
        for quota in _quotas(found.record):
            yield "kueue_quota_entry", named | {"kind": found.kind} | quota
    of = {"object_kind": found.kind} | {f"object_{name}": value for name, value in named.items()}
    for each in conditions(found.record, "status", "conditions"):
        yield "kueue_condition_entry", of | {
            "kind": "condition", "position": each.position, "type": each.type, "status": each.status, "reason": each.reason,
            "message": each.message, "transition_at": each.transition_at,
        }
    for position, check in enumerate(items(found.record, "status", "admissionChecks")):
        if (name := check.text("name")) is not None:
            yield "kueue_condition_entry", of | {
                "kind": "admission_check", "position": position, "type": name, "status": check.text("state"),
                "message": check.text("message"), "transition_at": moment(check, "lastTransitionTime"),
            }


def _workload(record: Record) -> dict[str, Any]:
    meta, spec, status = record.within("metadata"), record.within("spec"), record.within("status")
    owned_by = owner(record)
    assigned = list(items(record, "status", "admission", "podSetAssignments"))
    flavors = sorted({flavor for each in assigned for flavor in texts(each, "flavors").values()})
    admitted = [(count(each, "count"), gpu_count(each.within("resourceUsage"))) for each in assigned]
    asked = [_asked(each) for each in items(record, "spec", "podSets")]
    stats = [count(each, "count") for each in items(record, "status", "schedulingStats", "evictions")]
    return {
        "deleted_at": moment(meta, "deletionTimestamp"), "job_uid": texts(meta, "labels").get(_JOB_UID),
        "owner_kind": owned_by.text("kind"), "owner_name": owned_by.text("name"), "owner_uid": owned_by.text("uid"),
        "queue_name": spec.text("queueName"), "cluster_queue": status.within("admission").text("clusterQueue"),
        "flavors": ",".join(flavors) or None, "priority": integer(spec, "priority"), "is_active": truth(spec, "active"),
        "pod_count": _sum(pods for pods, _ in asked) or _sum(pods for pods, _ in admitted),
        "gpu_count": _sum(gpus for _, gpus in admitted) or _sum(gpus for _, gpus in asked),
        "requeue_count": count(status.within("requeueState"), "count"), "eviction_count": _sum(stats),
    }


def _asked(pod_set: Record) -> tuple[int | None, int | None]:
    """Pods of a set, and the GPUs that all of them ask for."""
    pods = count(pod_set, "count")
    containers = items(pod_set, "template", "spec", "containers")
    gpus = _sum(container_gpus(each) for each in containers)
    return pods, None if gpus is None or pods is None else gpus * pods


def _sum(amounts: Any) -> int | None:
    stated = [each for each in amounts if each is not None]
    return sum(stated) if stated else None


def _provisioning(record: Record) -> dict[str, Any]:
    owned_by = owner(record)
    details = texts(record.within("status"), "provisioningClassDetails")
    return {
        "owner_uid": owned_by.text("uid"), "owner_name": owned_by.text("name"),
        "provisioning_class": record.within("spec").text("provisioningClassName"), "zone": details.get("SelectedZone"),
        "node_pool": details.get("NodePoolName"), "accelerator_type": details.get("AcceleratorType"),
    }


def _queue(found: KubernetesObject) -> dict[str, Any]:
    spec, status = found.record.within("spec"), found.record.within("status")
    cluster_queue = found.record.within("metadata").text("name") if found.kind == "ClusterQueue" else spec.text("clusterQueue")
    return {
        "kind": found.kind, "cluster_queue": cluster_queue,
        "cohort": spec.text("cohortName") or spec.text("cohort"), "pending_workloads": count(status, "pendingWorkloads"),
        "reserving_workloads": count(status, "reservingWorkloads"), "admitted_workloads": count(status, "admittedWorkloads"),
    }


def _quotas(record: Record) -> Iterator[dict[str, Any]]:
    """A row for each flavor and resource that the queue has a quota of or uses."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for group in items(record, "spec", "resourceGroups"):
        for flavor in items(group, "flavors"):
            for resource in items(flavor, "resources"):
                _row(rows, flavor, resource, {"nominal_quota": "nominalQuota", "borrowing_limit": "borrowingLimit"})
    # A LocalQueue has the same lists under names of its own.
    for keys, column in ((("flavorsUsage", "flavorUsage"), "used"), (("flavorsReservation",), "reserved")):
        for key in keys:
            for flavor in items(record, "status", key):
                for resource in items(flavor, "resources"):
                    _row(rows, flavor, resource, {column: "total"} | ({"borrowed": "borrowed"} if column == "used" else {}))
    yield from rows.values()


def _row(rows: dict[tuple[str, str], dict[str, Any]], flavor: Record, resource: Record, columns: Mapping[str, str]) -> None:
    key = (flavor.text("name"), resource.text("name"))
    row = rows.setdefault((key[0] or "", key[1] or ""), {"flavor": key[0], "resource": key[1]})
    row.update({column: amount(resource, name) for column, name in columns.items()})
