"""Declarations of runs that keep every rule, as documents to be changed: a BenchmarkRun and a workload spec."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]
GONE = object()


def benchmark_run(workload_type: str = "inference", grade: str = "publication_grade", **changes: Any) -> Document:
    """A BenchmarkRun of a decoder's nightly, with what its type and grade need and no more; `changes` by dotted path, `__` for
    the dot."""
    trains, infers = workload_type != "inference", workload_type != "training"
    is_publication = grade == "publication_grade"
    document: Document = {
        "apiVersion": "benchmarking.aisp.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": "decoder-nightly"},
        "spec": {
            "intent": {"benchmarkClass": grade, "workloadType": workload_type, "schedulerPath": "slurm", "cadence": "nightly"},
            "layers": [
                {"name": "micro", "enabled": True, "suites": [{"name": "gemm"}]},
                {"name": "component", "enabled": False, "suites": []},
                {"name": "end_to_end", "enabled": True, "suites": [{"name": "serve", "repoCommand": "make serve"}]},
            ],
            "workload": {
                "model": "lab/decoder-7b",
                "sequenceLengthMix": [
                    {"inputTokens": 256, "outputTokens": 64, "weight": 0.5}, {"inputTokens": 2048, "outputTokens": 512, "weight": 0.5},
                ],
                "precision": "fp8", "batchingPolicy": "continuous", "concurrencyModel": "open_loop",
            },
            "comparison": {
                "variableUnderTest": "driver_stack",
                "controls": {
                    "fixed": dict.fromkeys(
                        ("model", "sequenceLengthMix", "precision", "batchingPolicy", "concurrencyModel"), "as in workload"
                    ),
                    "compareOneVariableAtATime": True,
                },
            },
            "metrics": {
                "training": {
                    "enabled": trains,
                    "primary": ["time_to_train_hours", "mfu_pct", "scaling_efficiency_pct", "training_reliability_pct"] * trains,
                },
                "inference": {
                    "enabled": infers,
                    "primary": ["ttft_ms", "tokens_per_second", "p99_latency_ms", "jitter_ms", "cost_per_token_usd"] * infers,
                },
            },
            "trials": {
                "minReplicates": 3, "confidenceLevel": 0.8, "outlierPolicy": {"method": "mad", "action": "flag_and_keep"},
                "report": {"distributions": True, "confidenceIntervals": True, "rankLevelOutliers": True},
            },
            "bottleneckAnalysis": {
                "taxonomy": ["compute_bound", "comm_bound", "input_bound", "control_plane_bound"],
                "decomposeOverheads": ["compute", "communication", "storage", "orchestration"],
                "instrumentation": {
                    "compute_bound": ["ncu"], "comm_bound": ["nccl_traces"], "input_bound": ["fio"], "control_plane_bound": ["squeue"],
                },
            },
            "distributed": {
                "requireRankLevelVisibility": True, "collectives": ["bandwidth", "latency"],
                "nodeDiagnosis": {
                    "validate": ["rdma_pathing", "gpu_nic_affinity", "pcie_link_health", "nvlink_health", "thermal_throttling"],
                    "remediation": ["cordon_problematic_node", "isolate_bad_node"],
                },
            },
            "observability": {
                "correlation": {
                    "stableJoinKeys": [
                        "run_id", "benchmark_case_id", "scheduler_run_id", "job_uid", "pod_uid", "node_name", "gpu_uuid",
                        *["rank_id"] * trains, *["request_id", "trace_id"] * infers,
                    ],
                    "publishedNumberLineage": {
                        "rawArtifactManifestDigest": True, "warehouseRowLineage": True, "querySpecCaptured": True
                    },
                },
                "telemetrySources": {
                    "service": ["queue_time"],
                    "infrastructure": [
                        "dcgm-exporter", "nvlink-exporter", "node-pci-exporter", "ping-exporter", "node-problem-detector",
                        "hpc-verification",
                    ],
                    "scheduler": ["kubernetes_events"],
                },
                "scenarioPlaybooks": [
                    "tail_latency_regression", "low_gpu_utilization", "distributed_straggler", "scheduler_backpressure"
                ],
            },
            "provenance": {
                "capture": dict.fromkeys(
                    (
                        "pinnedWorkloadSpec", "imageDigest", "driverCudaNcclRuntimeVersions", "hardwareTopology",
                        "immutableRawArtifacts", "auditTrail",
                    ),
                    True,
                ),
                "signing": {"required": is_publication, "backend": "sigstore", "attestationFormat": "in_toto"},
            },
            "executionPolicy": {
                "publicationGrade": dict.fromkeys(
                    ("dedicatedNodes", "stableBackgroundLoad", "fixedTopology", "topologyExclusiveScheduling"), is_publication
                ),
                "realismGrade": {"multiTenantScenarios": not is_publication, "captureClusterContext": not is_publication},
            },
            "sinks": {
                "rawArtifacts": {
                    "store": "object_storage", "pathTemplate": "s3://lab/raw/${RUN_ID}/", "retentionClass": "cold_immutable",
                    "artifacts": ["logs", "traces", "profiler_reports", "manifests"],
                },
                "hotMetrics": {
                    "store": "prometheus", "retentionDays": 7,
                    "cardinalityBudget": {"maxActiveSeries": 1000, "dropDimensions": ["request_id", "trace_id"]},
                },
                "curatedWarehouse": {
                    "store": "parquet_duckdb",
                    "layout": {
                        "facts": [
                            "benchmark_run_fact", "telemetry_slice_fact",
                            *["serving_outcome_fact"] * infers, *["training_outcome_fact"] * trains,
                        ],
                        "dimensions": [
                            "software_version_dim", "hardware_topology_dim", "cluster_region_dim", "workload_dim",
                            "artifact_lineage_dim",
                        ],
                    },
                    "retention": {"hotDays": 30, "warmDays": 30, "coldDays": 365},
                    "lineage": {
                        "publishedNumbersTraceableToRaw": True, "manifestDigestColumn": True, "workloadSpecDigestColumn": True
                    },
                },
            },
            "automation": {"ci": {"canary": False, "nightly": True, "preRelease": False}},
        },
    }
    return changed(document, {path.replace("__", "."): value for path, value in changes.items()})


def workload_spec(**changes: Any) -> Document:
    """A workload spec that somebody filled in, with keys of their own."""
    document: Document = {
        "run_metadata": {"benchmark_layer": "component", "benchmark_grade": "realism", "use_case": "nightly", "owner": "lab"},
        "comparison_axis": {"variable_under_test": "decode_execution_path", "constants_locked": ["model"]},
        "workload": {
            "type": "inference", "name": "decode",
            "model": {"name": "lab/decoder-7b", "precision": "fp8"},
            "input_distribution": {"prompt_tokens": {"p50": 256, "p95": 2048, "max": None}, "completion_tokens": [64, 512]},
            "batching_policy": {"mode": "continuous"},
            "concurrency_model": {"mode": "closed_loop", "values": [8]},
            "serving_contract": {"protocol": "openai_compatible_http", "deployment_model": "deployment_per_gpu"},
        },
        "execution": {"scheduler_path": {"platform": "slurm", "control_plane_path": ""}},
        "measurement_policy": {"trials": 5, "our_own_key": True},
        "metrics": {"primary": "whatever we look at", "secondary": []},
    }
    return changed(document, {path.replace("__", "."): value for path, value in changes.items()})


def changed(document: Document, changes: dict[str, Any]) -> Document:
    """The document with these values at these dotted paths (an index is a step too); `GONE` takes one away."""
    document = deepcopy(document)
    for path, value in changes.items():
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
        parent: Any = document
        for step in steps:
            parent = parent[step]
        if value is GONE:
            del parent[last]
        else:
            parent[last] = value
    return document


def text(document: Document) -> str:
    return yaml.safe_dump(document, sort_keys=False)


def write(path: Path, document: Document) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(document))
    return path
