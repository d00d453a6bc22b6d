"""Turns events, nodes and pods into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

import json
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
from warehouse.landing.readers.text import Report, landed_text, report_cut
from warehouse.landing.rows import RowBuffer

from . import listing
from .bundles import KINDS, LISTING

_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGIONS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_NODE_POOLS = (
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "karpenter.sh/nodepool", "kubernetes.azure.com/agentpool", "agentpool",
    "doks.digitalocean.com/node-pool", "node.coreweave.cloud/class", "oci.oraclecloud.com/pool.name",
)
_GPU_PRODUCTS = ("nvidia.com/gpu.product", "cloud.google.com/gke-accelerator", "gpu.nvidia.com/model", "amd.com/gpu.product-name")
_GPU_DRIVERS = ("nvidia.com/cuda.driver-version.full", "nvidia.com/gpu.driver-version")
_JOB_UIDS = ("kueue.x-k8s.io/job-uid", "batch.kubernetes.io/controller-uid", "controller-uid")
_SERVICES = ("serving.kserve.io/inferenceservice",)


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    for file in bundle.manifest.files:
        report = Report(buffer, file.raw_path, None)
        row_count = 0
        if file.role == LISTING:
            data = bundle.map(file.raw_path)
            report_cut(data, report)
            for line, columns in listing.rows(data, report):
                row_count += 1
                buffer.add("kubernetes_event", file.raw_path, line.offset, line.length, **columns)
                yield from buffer.full()
        else:
            for found in objects(document(bundle, file.raw_path, report), KINDS, report):
                row_count += 1
                for table, columns in _rows(found):
                    buffer.add(table, file.raw_path, found.place.offset, found.place.length, **columns)
                yield from buffer.full()
        if not row_count:
            report("no-objects", "no event, node or pod could be read", 0, file.bytes, severity="error")


def _rows(found: KubernetesObject) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = found.columns()
    if found.kind == "Event":
        yield "kubernetes_event", columns | _event(found.record) | {"line_number": found.place.line_number}
        return
    named = {name: columns[name] for name in ("name", "namespace", "uid")}
    of = {f"object_{name}": value for name, value in named.items()}
    if found.kind == "Node":
        yield "kubernetes_node", columns | _node(found.record)
    else:
        yield "kubernetes_pod", columns | _pod(found.record)
        for container in _containers(found.record):
            yield "kubernetes_container_entry", {f"pod_{name}": value for name, value in named.items()} | container
    for each in conditions(found.record, "status", "conditions"):
        yield "kubernetes_condition_entry", of | {"object_kind": found.kind} | each._asdict()


def _event(record: Record) -> dict[str, Any]:
    """An event of either API: core/v1, or events.k8s.io/v1 with other names for the same."""
    about = record.within("involvedObject") if "involvedObject" in record.values else record.within("regarding")
    source = record.within("source") if "source" in record.values else record.within("deprecatedSource")
    series = record.within("series")
    counts = [count(record, "count"), count(record, "deprecatedCount"), count(series, "count")]
    return {
        "event_at": moment(record, "eventTime"),
        "first_seen_at": moment(record, "firstTimestamp") or moment(record, "deprecatedFirstTimestamp"),
        "last_seen_at": moment(record, "lastTimestamp") or moment(record, "deprecatedLastTimestamp") or moment(series, "lastObservedTime"),
        "count": next((each for each in counts if each is not None), None), "event_type": record.text("type"), "reason": record.text("reason"),
        "object_kind": about.text("kind"), "object_name": about.text("name"), "object_namespace": about.text("namespace"),
        "object_uid": about.text("uid"), "host": source.text("host"), "message": record.text("message") or record.text("note"),
        "component": source.text("component") or record.text("reportingComponent") or record.text("reportingController"),
    }


def _node(record: Record) -> dict[str, Any]:
    spec, status = record.within("spec"), record.within("status")
    labels, info = texts(record.within("metadata"), "labels"), status.within("nodeInfo")
    capacity = status.within("capacity")
    taints = [
        f"{each.text('key')}{'=' + value if (value := each.text('value')) else ''}:{each.text('effect')}" for each in items(record, "spec", "taints")
    ]
    return {
        "provider_id": spec.text("providerID"), "region": _first(labels, _REGIONS), "zone": _first(labels, _ZONES),
        "node_pool": _first(labels, _NODE_POOLS), "instance_type": _first(labels, _INSTANCE_TYPES),
        "gpu_product": _first(labels, _GPU_PRODUCTS), "gpu_driver": _first(labels, _GPU_DRIVERS) or _driver(labels),
        "is_unschedulable": truth(spec, "unschedulable"), "taints": landed_text(",".join(taints)) or None,
        "cpu_count": amount(capacity, "cpu"), "memory_bytes": amount(capacity, "memory"), "gpu_count": gpu_count(capacity),
        "allocatable_gpu_count": gpu_count(status.within("allocatable")), "kubelet_version": info.text("kubeletVersion"),
        "kernel_version": info.text("kernelVersion"), "os_image": info.text("osImage"),
        "container_runtime": info.text("containerRuntimeVersion"), "labels": _json(labels),
    }


def _driver(labels: Mapping[str, str]) -> str | None:
    """The driver in parts, as older versions of GPU feature discovery label it."""
    parts = [labels.get(f"nvidia.com/cuda.driver.{part}") for part in ("major", "minor", "rev")]
    return ".".join(part for part in parts if part) or None


def _pod(record: Record) -> dict[str, Any]:
    meta, spec, status = record.within("metadata"), record.within("spec"), record.within("status")
    labels, owned_by = texts(meta, "labels"), owner(record)
    stated = [gpus for each in items(record, "spec", "containers") if (gpus := container_gpus(each)) is not None]
    return {
        "deleted_at": moment(meta, "deletionTimestamp"), "node_name": spec.text("nodeName"), "phase": _word(status, "phase"),
        "reason": status.text("reason"), "message": status.text("message"), "started_at": moment(status, "startTime"),
        "owner_kind": owned_by.text("kind"), "owner_name": owned_by.text("name"), "owner_uid": owned_by.text("uid"),
        "job_uid": _first(labels, _JOB_UIDS), "queue_name": labels.get("kueue.x-k8s.io/queue-name"),
        "service_name": _first(labels, _SERVICES) or _llm_service(labels), "gpu_count": sum(stated) if stated else None,
        "labels": _json(labels),
    }


def _llm_service(labels: Mapping[str, str]) -> str | None:
    """The service of a pod of an LLMInferenceService, which has the labels of app.kubernetes.io."""
    return labels.get("app.kubernetes.io/name") if labels.get("app.kubernetes.io/part-of") == "llminferenceservice" else None


def _containers(record: Record) -> Iterator[dict[str, Any]]:
    for key, is_init in (("initContainerStatuses", True), ("containerStatuses", False)):
        for each in items(record, "status", key):
            shared = {"container": each.text("name"), "is_init": is_init, "image": each.text("image"), "restarts": count(each, "restartCount")}
            for name, is_last in (("state", False), ("lastState", True)):
                for state in each.within(name).values:
                    inner = each.within(name, state)
                    yield shared | {
                        "is_last": is_last, "state": state[:80], "reason": inner.text("reason"), "message": inner.text("message"),
                        "exit_code": integer(inner, "exitCode"), "started_at": moment(inner, "startedAt"), "finished_at": moment(inner, "finishedAt"),
                    }


def _word(record: Record, key: str) -> str | None:
    """A word of an enumeration, of which Unknown may be one."""
    value = record.values.get(key)
    return landed_text(value) if isinstance(value, str) and value else None


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((labels[key] for key in keys if key in labels), None)


def _json(labels: Mapping[str, str]) -> str | None:
    return landed_text(json.dumps(labels, ensure_ascii=False, sort_keys=True)) if labels else None
