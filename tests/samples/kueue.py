"""Small objects of Kueue, as kubectl prints them: a Workload in several snapshots, its ProvisioningRequest, queues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

UID, JOB_UID = "0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-0000000000ff"


def condition(kind: str, status: str, at: str, reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason or kind, "message": f"{kind} is {status}", "lastTransitionTime": f"2026-03-02T{at}Z"}


def workload(*conditions: dict[str, str], version: int = 100, uid: str = UID, **status: Any) -> dict[str, Any]:
    """A Workload that was created at 08:00:00."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload",
        "metadata": {
            "creationTimestamp": "2026-03-02T08:00:00Z", "labels": {"kueue.x-k8s.io/job-uid": JOB_UID}, "name": f"job-train-{uid[-1]}",
            "namespace": "lab", "resourceVersion": str(version), "uid": uid,
            "ownerReferences": [{"apiVersion": "batch/v1", "controller": True, "kind": "Job", "name": "train", "uid": JOB_UID}],
        },
        "spec": {
            "active": True, "priority": 7, "queueName": "lab-queue",
            "podSets": [{
                "count": 2, "name": "main", "template": {"spec": {"containers": [
                    {"name": "main", "resources": {"limits": {"cpu": "500m", "nvidia.com/gpu": "4"}, "requests": {"cpu": "500m", "nvidia.com/gpu": "4"}}},
                ]}},
            }],
        },
        "status": {
            "admission": {"clusterQueue": "gpus", "podSetAssignments": [
                {"count": 2, "flavors": {"cpu": "small", "nvidia.com/gpu": "h100"}, "name": "main", "resourceUsage": {"cpu": "1", "nvidia.com/gpu": "8"}},
            ]},
            "conditions": list(conditions), **status,
        },
    }


FIRST = (condition("QuotaReserved", "True", "08:00:05"), condition("Admitted", "True", "08:01:45"), condition("PodsReady", "True", "08:02:00"))
EVICTED = (
    condition("QuotaReserved", "False", "08:30:01", "Pending"), condition("Evicted", "True", "08:30:00", "Preempted"),
    condition("Preempted", "True", "08:30:00", "InClusterQueue"), condition("Admitted", "False", "08:30:01", "NoReservation"),
)
AGAIN = (
    condition("QuotaReserved", "True", "09:10:00"), condition("Evicted", "False", "09:10:00", "QuotaReserved"),
    condition("Admitted", "True", "09:11:00"),
)
READMITTED = (
    condition("QuotaReserved", "True", "09:10:00"), condition("Admitted", "True", "09:10:00"),
    condition("Evicted", "False", "09:10:00", "QuotaReserved"), condition("Preempted", "False", "09:10:00", "QuotaReserved"),
)
PROVISIONING = {
    "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "ProvisioningRequest",
    "metadata": {
        "creationTimestamp": "2026-03-02T08:00:05Z", "name": "job-train-1-prov-1", "namespace": "lab", "resourceVersion": "90", "uid": "prov-1",
        "ownerReferences": [{"kind": "Workload", "name": "job-train-1", "uid": UID}],
    },
    "spec": {"provisioningClassName": "queued-provisioning.gke.io"},
    "status": {
        "conditions": [condition("Provisioned", "True", "08:01:44")],
        "provisioningClassDetails": {"AcceleratorType": "nvidia-h100", "NodePoolName": "h100-pool", "SelectedZone": "europe-west4-b"},
    },
}
CLUSTER_QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "gpus", "uid": "cq-1", "resourceVersion": "500"},
    "spec": {"cohort": "all", "resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": [
        {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "64", "borrowingLimit": 8}, {"name": "cpu", "nominalQuota": "1500m"}]},
    ]}]},
    "status": {
        "admittedWorkloads": 5, "pendingWorkloads": 17, "reservingWorkloads": 6, "conditions": [condition("Active", "True", "07:00:00", "Ready")],
        "flavorsReservation": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "60", "borrowed": "4"}]}],
        "flavorsUsage": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "56", "borrowed": "4"}]}],
    },
}
LOCAL_QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "lab-queue", "namespace": "lab", "uid": "lq-1"},
    "spec": {"clusterQueue": "gpus"},
    "status": {
        "admittedWorkloads": 2, "pendingWorkloads": 9, "reservingWorkloads": 3,
        "flavorUsage": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "total": "16"}]}],
    },
}


def write_yaml(path: Path, *documents: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents))


def write_list(path: Path, *documents: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"apiVersion": "v1", "items": list(documents), "kind": "List", "metadata": {"resourceVersion": ""}}, indent=1))


def write_all(folder: Path) -> None:
    write_yaml(folder / "now.yaml", workload(*FIRST), PROVISIONING)
    write_list(folder / "later.json", workload(*EVICTED, version=200, requeueState={"count": 1}), CLUSTER_QUEUE, LOCAL_QUEUE)
