"""Small services of KServe. No real capture was at hand: these are made by the types of its API (v1beta1, v1alpha1), releases 0.11 to 0.16."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samples.kueue import condition, write_list, write_yaml

SERVICE: dict[str, Any] = {
    "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService",
    "metadata": {
        "name": "llama", "namespace": "lab", "uid": "isvc-1", "resourceVersion": "5", "creationTimestamp": "2026-03-01T10:00:00Z",
        "annotations": {"serving.kserve.io/deploymentMode": "RawDeployment"},
    },
    "spec": {"predictor": {
        "minReplicas": 2, "maxReplicas": 6, "workerSpec": {"pipelineParallelSize": 2, "tensorParallelSize": 8},
        "model": {
            "modelFormat": {"name": "huggingface"}, "runtime": "kserve-huggingfaceserver", "storageUri": "hf://meta-llama/Llama-3.1-8B",
            "resources": {"limits": {"nvidia.com/gpu": "8"}},
        },
    }},
    "status": {
        "url": "http://llama.lab.example.com", "modelStatus": {"states": {"activeModelState": "Loaded"}, "transitionStatus": "UpToDate"},
        "conditions": [condition("PredictorReady", "True", "08:00:01"), condition("Ready", "True", "08:00:02")],
    },
}
OLD_SERVICE: dict[str, Any] = {
    "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": {"name": "iris", "namespace": "lab"},
    "spec": {"predictor": {"sklearn": {"storageUri": "gs://bucket/iris"}}},
}
LLM_SERVICE: dict[str, Any] = {
    "apiVersion": "serving.kserve.io/v1alpha1", "kind": "LLMInferenceService",
    "metadata": {"name": "deepseek", "namespace": "lab", "uid": "llmisvc-1", "resourceVersion": "9", "creationTimestamp": "2026-03-01T11:00:00Z"},
    "spec": {
        "model": {"uri": "hf://deepseek-ai/DeepSeek-R1", "name": "deepseek-ai/DeepSeek-R1"}, "replicas": 3,
        "parallelism": {"tensor": 4, "data": 16, "dataLocal": 8, "expert": True},
        "template": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]},
        "prefill": {"replicas": 5, "parallelism": {"tensor": 2}}, "router": {"gateway": {}, "route": {}, "scheduler": {}},
    },
    "status": {
        "url": "http://deepseek.lab.example.com",
        "conditions": [condition("WorkloadsReady", "False", "08:00:00", "MinimumReplicasUnavailable"), condition("Ready", "False", "08:00:00", "NotReady")],
    },
}


def write_all(folder: Path) -> None:
    write_yaml(folder / "services.yaml", SERVICE, OLD_SERVICE)
    write_list(folder / "llm.json", LLM_SERVICE)
