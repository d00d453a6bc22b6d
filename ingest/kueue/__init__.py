"""Kueue: Workloads with what became of them, the queues that they wait in, and the ProvisioningRequests that get them machines.

Objects as `kubectl get -o yaml` or `-o json` prints them: one, a List, or several documents (kueue.x-k8s.io v1beta1 and v1beta2,
https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta1/; ProvisioningRequest of autoscaling.x-k8s.io). An object has only the last
transition of each condition: earlier ones are known where earlier snapshots of the object were kept, and are merged by the models.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.kubernetes import OBJECT_FIELDS
from warehouse.landing.rows import landing_schema

_TIME = pa.timestamp("us", tz="UTC")
TABLES: Mapping[str, pa.Schema] = {
    "kueue_workload": landing_schema(
        *OBJECT_FIELDS,
        pa.field("deleted_at", _TIME),
        pa.field("job_uid", pa.string()),  # label kueue.x-k8s.io/job-uid
        pa.field("owner_kind", pa.string()),
        pa.field("owner_name", pa.string()),
        pa.field("owner_uid", pa.string()),
        pa.field("queue_name", pa.string()),  # the LocalQueue
        pa.field("cluster_queue", pa.string()),
        pa.field("flavors", pa.string()),  # of all resources of all pod sets, each once, with commas
        pa.field("priority", pa.int64()),
        pa.field("is_active", pa.bool_()),
        pa.field("pod_count", pa.int64()),
        pa.field("gpu_count", pa.int64()),  # of all pods: admitted, else requested
        pa.field("requeue_count", pa.int64()),
        pa.field("eviction_count", pa.int64()),  # status.schedulingStats, since 0.12
    ),
    "kueue_condition_entry": landing_schema(  # one row a condition or admission check of an object
        pa.field("object_kind", pa.string(), nullable=False),
        pa.field("object_name", pa.string()),
        pa.field("object_namespace", pa.string()),
        pa.field("object_uid", pa.string()),
        pa.field("kind", pa.string(), nullable=False),  # condition, admission_check
        pa.field("position", pa.int64(), nullable=False),  # in its list, from 0
        pa.field("type", pa.string(), nullable=False),  # of a check its name
        pa.field("status", pa.string()),  # of a check its state
        pa.field("reason", pa.string()),
        pa.field("message", pa.string()),
        pa.field("transition_at", _TIME),
    ),
    "kueue_provisioning": landing_schema(
        *OBJECT_FIELDS,
        pa.field("owner_uid", pa.string()),  # the Workload
        pa.field("owner_name", pa.string()),
        pa.field("provisioning_class", pa.string()),
        pa.field("zone", pa.string()),
        pa.field("node_pool", pa.string()),
        pa.field("accelerator_type", pa.string()),
    ),
    "kueue_queue": landing_schema(
        *OBJECT_FIELDS,
        pa.field("kind", pa.string(), nullable=False),  # ClusterQueue, LocalQueue
        pa.field("cluster_queue", pa.string()),
        pa.field("cohort", pa.string()),
        pa.field("pending_workloads", pa.int64()),
        pa.field("reserving_workloads", pa.int64()),
        pa.field("admitted_workloads", pa.int64()),
    ),
    "kueue_quota_entry": landing_schema(  # one row a queue, flavor and resource; quantities in the resource's base unit
        pa.field("kind", pa.string(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("namespace", pa.string()),
        pa.field("uid", pa.string()),
        pa.field("flavor", pa.string()),
        pa.field("resource", pa.string()),
        pa.field("nominal_quota", pa.float64()),
        pa.field("borrowing_limit", pa.float64()),
        pa.field("used", pa.float64()),  # admitted
        pa.field("reserved", pa.float64()),  # with a reservation, admitted or not
        pa.field("borrowed", pa.float64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="kueue", version=1, tables=TABLES,
    formats=(
        "Kueue v1beta1, v1beta2: Workload, ClusterQueue, LocalQueue as YAML or JSON",
        "Kubernetes autoscaler: ProvisioningRequest as YAML or JSON",
    ),
)
