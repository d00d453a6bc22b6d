"""Small output of kubectl: events of both kinds, nodes, pods, and the listing of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

POD_UID, JOB_UID = "9f000000-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-0000000000ff"


def _event(name: str, reason: str, message: str, kind: str = "Warning", **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Event", "reason": reason, "message": message, "type": kind,
        "metadata": {"name": name, "namespace": "lab", "uid": f"event-{name}", "resourceVersion": "10", "creationTimestamp": "2026-03-02T08:02:00Z"},
        "involvedObject": {"kind": "Pod", "namespace": "lab", "name": "train-0", "uid": POD_UID},
    } | more


EVENTS = {
    "kind": "EventList", "apiVersion": "v1", "metadata": {"resourceVersion": "99"},
    "items": [
        _event(
            "a", "Scheduled", "Successfully assigned lab/train-0 to gpu-node-1", "Normal", eventTime="2026-03-02T08:02:00.250000Z", source={},
            firstTimestamp=None, lastTimestamp=None, reportingComponent="default-scheduler",
        ),
        _event(
            "b", "BackOff", "Back-off restarting failed container main", eventTime=None, firstTimestamp="2026-03-02T08:05:00Z",
            lastTimestamp="2026-03-02T08:25:00Z", count=12, source={"component": "kubelet", "host": "gpu-node-1"},
        ),
        _event(
            "c", "FailedScheduling", "0/3 nodes are available", eventTime="2026-03-02T08:01:00Z", firstTimestamp=None, lastTimestamp=None,
            series={"count": 3, "lastObservedTime": "2026-03-02T08:01:40Z"},
        ),
    ],
}


def node(name: str, ready: str, version: str = "10") -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name, "uid": f"node-{name}", "resourceVersion": version, "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "topology.kubernetes.io/zone": "europe-west4-b", "topology.kubernetes.io/region": "europe-west4",
                "cloud.google.com/gke-nodepool": "h100-pool", "node.kubernetes.io/instance-type": "a3-highgpu-8g",
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/cuda.driver.major": "550", "nvidia.com/cuda.driver.minor": "54",
                "nvidia.com/cuda.driver.rev": "15",
            },
        },
        "spec": {"providerID": f"gce://p/z/{name}", "unschedulable": True, "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"cpu": "208", "memory": "1923Gi", "nvidia.com/gpu": "8"}, "allocatable": {"cpu": "207500m", "nvidia.com/gpu": "7"},
            "conditions": [
                {
                    "type": kind, "status": status, "reason": reason, "message": "said the kubelet", "lastHeartbeatTime": "2026-03-02T08:20:00Z",
                    "lastTransitionTime": "2026-03-02T08:10:00Z",
                }
                for kind, status, reason in (("MemoryPressure", "False", "Enough"), ("DiskPressure", "True", "Full"), ("Ready", ready, "Kubelet"))
            ],
            "nodeInfo": {"kubeletVersion": "v1.33.1", "kernelVersion": "6.8.0", "osImage": "Ubuntu", "containerRuntimeVersion": "containerd://2.0"},
        },
    }


POD = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
        "name": "train-0", "namespace": "lab", "uid": POD_UID, "resourceVersion": "77", "creationTimestamp": "2026-03-02T08:01:46Z",
        "labels": {"batch.kubernetes.io/controller-uid": JOB_UID, "kueue.x-k8s.io/queue-name": "lab-queue", "serving.kserve.io/inferenceservice": "llama"},
        "ownerReferences": [{"kind": "Job", "name": "train", "uid": JOB_UID, "controller": True}],
    },
    "spec": {"nodeName": "gpu-node-1", "containers": [{"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 4}}}]},
    "status": {
        "phase": "Running", "qosClass": "Burstable", "podIP": "10.0.0.9", "startTime": "2026-03-02T08:02:00Z",
        "conditions": [{"type": "Ready", "status": "False", "lastProbeTime": None, "lastTransitionTime": "2026-03-02T08:15:00Z", "reason": "ContainersNotReady"}],
        "containerStatuses": [{
            "name": "main", "image": "i", "ready": False, "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s"}},
            "lastState": {"terminated": {
                "reason": "OOMKilled", "exitCode": 137, "startedAt": "2026-03-02T08:12:00Z", "finishedAt": "2026-03-02T08:14:30Z",
            }},
        }],
    },
}
LISTING = """\
{"toolset_name":"any","tool_name":"kubectl_events"}
{"schema_version": "any:v1", "status": "success", "invocation": "kubectl events -n lab"}
LAST SEEN              TYPE      REASON      OBJECT        MESSAGE
58m                    Normal    Scheduled   Pod/train-0   Successfully assigned lab/train-0 to gpu-node-1
56m (x5 over 58m)      Normal    Pulled      Pod/train-0   Container image "busybox:1.35"   already present
3m30s (x256 over 57m)  Warning   BackOff     Pod/train-0   Back-off restarting failed container main
"""


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "events.json").write_text(json.dumps(EVENTS, indent=1))
    listed = {"apiVersion": "v1", "items": [node("gpu-node-1", "Unknown"), node("gpu-node-2", "True"), POD], "kind": "List"}
    (folder / "nodes-and-pods.yaml").write_text(yaml.safe_dump(listed))
    (folder / "events.txt").write_text(LISTING)
