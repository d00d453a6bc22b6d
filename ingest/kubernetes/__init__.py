"""Kubernetes: events, nodes and pods as `kubectl get -o json` or `-o yaml` prints them, and events as `kubectl events` lists them.

An event has either first and last timestamps with a count (core/v1, kubelet), or an eventTime and perhaps a series (events.k8s.io,
scheduler); both kinds may be in one list. A listing of events has ages instead of times (`56m (x5 over 58m)`): they land as text, because
the moment of the listing is not known.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.kubernetes import OBJECT_FIELDS
from warehouse.landing.rows import landing_schema

_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    "kubernetes_event": landing_schema(
        *OBJECT_FIELDS,
        pa.field("event_at", _TIME),  # eventTime
        pa.field("first_seen_at", _TIME),
        pa.field("last_seen_at", _TIME),
        pa.field("count", pa.int64()),
        pa.field("last_seen_age", pa.string()),  # of a listing: 56m
        pa.field("first_seen_age", pa.string()),
        pa.field("event_type", pa.string()),  # Normal, Warning
        pa.field("reason", pa.string()),
        pa.field("object_kind", pa.string()),
        pa.field("object_name", pa.string()),
        pa.field("object_namespace", pa.string()),
        pa.field("object_uid", pa.string()),
        pa.field("component", pa.string()),
        pa.field("host", pa.string()),  # of the component: a kubelet's node
        pa.field("message", pa.string()),
        pa.field("line_number", pa.int64()),
    ),
    "kubernetes_node": landing_schema(
        *OBJECT_FIELDS,
        pa.field("provider_id", pa.string()),
        pa.field("region", pa.string()),
        pa.field("zone", pa.string()),
        pa.field("node_pool", pa.string()),
        pa.field("instance_type", pa.string()),
        pa.field("gpu_product", pa.string()),
        pa.field("gpu_driver", pa.string()),
        pa.field("is_unschedulable", pa.bool_()),
        pa.field("taints", pa.string()),  # key=value:effect, with commas
        pa.field("cpu_count", pa.float64()),  # capacity
        pa.field("memory_bytes", pa.float64()),
        pa.field("gpu_count", pa.int64()),
        pa.field("allocatable_gpu_count", pa.int64()),
        pa.field("kubelet_version", pa.string()),
        pa.field("kernel_version", pa.string()),
        pa.field("os_image", pa.string()),
        pa.field("container_runtime", pa.string()),
        pa.field("labels", pa.string()),  # JSON
    ),
    "kubernetes_pod": landing_schema(
        *OBJECT_FIELDS,
        pa.field("deleted_at", _TIME),
        pa.field("node_name", pa.string()),
        pa.field("phase", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("message", pa.string()),
        pa.field("started_at", _TIME),
        pa.field("owner_kind", pa.string()),
        pa.field("owner_name", pa.string()),
        pa.field("owner_uid", pa.string()),
        pa.field("job_uid", pa.string()),  # of the batch job, by its labels
        pa.field("queue_name", pa.string()),  # label kueue.x-k8s.io/queue-name
        pa.field("service_name", pa.string()),  # of KServe, by its labels
        pa.field("gpu_count", pa.int64()),  # that its containers ask for
        pa.field("labels", pa.string()),  # JSON
    ),
    "kubernetes_condition_entry": landing_schema(  # one row a condition of a node or pod
        pa.field("object_kind", pa.string(), nullable=False),
        pa.field("object_name", pa.string()),
        pa.field("object_namespace", pa.string()),
        pa.field("object_uid", pa.string()),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("status", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("message", pa.string()),
        pa.field("transition_at", _TIME),
        pa.field("heartbeat_at", _TIME),  # when the status was last confirmed; NULL for pods
    ),
    "kubernetes_container_entry": landing_schema(  # one row a container of a pod and state: its own, and the one before
        pa.field("pod_name", pa.string()),
        pa.field("pod_namespace", pa.string()),
        pa.field("pod_uid", pa.string()),
        pa.field("container", pa.string()),
        pa.field("is_init", pa.bool_(), nullable=False),
        pa.field("is_last", pa.bool_(), nullable=False),  # the state before the last restart
        pa.field("restarts", pa.int64()),
        pa.field("image", pa.string()),
        pa.field("state", pa.string(), nullable=False),  # waiting, running, terminated
        pa.field("reason", pa.string()),  # OOMKilled, CrashLoopBackOff
        pa.field("message", pa.string()),
        pa.field("exit_code", pa.int64()),
        pa.field("started_at", _TIME),
        pa.field("finished_at", _TIME),
    ),
}

INGESTOR = Family(
    package=__name__, name="kubernetes", version=1, tables=TABLES,
    formats=(
        "Kubernetes v1: kubectl get events, nodes or pods, as JSON or YAML, also typed lists of the API",
        "Kubernetes events.k8s.io/v1: events as JSON or YAML",
        "kubectl events, kubectl get events: the listing with relative ages",
    ),
)
