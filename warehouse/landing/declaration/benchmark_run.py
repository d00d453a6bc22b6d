"""The rules of a BenchmarkRun, `benchmarking.aisp.dev/v1alpha1`: those of its resource definition and of the validator beside
it, path by path; and what a BenchmarkRun that keeps them says of a run."""

from __future__ import annotations

from typing import Any

from warehouse.landing.declaration.part import Part
from warehouse.landing.declaration.terms import BENCHMARK_RUN, PUBLICATION, REALISM, Terms, cadence_of, grade_reason

API_VERSION = "benchmarking.aisp.dev/v1alpha1"
_SECTIONS = (
    "intent", "layers", "workload", "comparison", "metrics", "trials", "bottleneckAnalysis", "distributed",
    "observability", "provenance", "executionPolicy", "sinks", "automation",
)
LAYERS = ("micro", "component", "end_to_end")
VARIABLES = (
    "hardware_generation", "runtime_version", "scheduler_path", "control_plane_path", "driver_stack", "network_topology",
    "storage_stack",
)
FIXED = ("model", "sequenceLengthMix", "precision", "batchingPolicy", "concurrencyModel")
TRAINING_METRICS = ("time_to_train_hours", "mfu_pct", "scaling_efficiency_pct", "training_reliability_pct")
INFERENCE_METRICS = ("ttft_ms", "tokens_per_second", "p99_latency_ms", "jitter_ms")
COSTS = ("cost_per_token_usd", "cost_per_request_usd")
BOTTLENECKS = ("compute_bound", "comm_bound", "input_bound", "control_plane_bound")
OVERHEADS = ("compute", "communication", "storage", "orchestration")
NODE_CHECKS = ("rdma_pathing", "gpu_nic_affinity", "pcie_link_health", "nvlink_health", "thermal_throttling")
JOIN_KEYS = ("run_id", "benchmark_case_id", "scheduler_run_id", "job_uid", "pod_uid", "node_name", "gpu_uuid")
EXPORTERS = (
    "dcgm-exporter", "nvlink-exporter", "node-pci-exporter", "ping-exporter", "node-problem-detector", "hpc-verification",
)
PLAYBOOKS = ("tail_latency_regression", "low_gpu_utilization", "distributed_straggler", "scheduler_backpressure")
CAPTURED = (
    "pinnedWorkloadSpec", "imageDigest", "driverCudaNcclRuntimeVersions", "hardwareTopology", "immutableRawArtifacts",
    "auditTrail",
)
ISOLATION = ("dedicatedNodes", "stableBackgroundLoad", "fixedTopology", "topologyExclusiveScheduling")
ARTIFACTS = ("logs", "traces", "profiler_reports", "manifests")
WORKLOAD_TYPES = ("training", "inference", "mixed")
COLLECTIVES = ("latency", "bandwidth")
REMEDIATIONS = ("cordon_problematic_node", "isolate_bad_node")
TRAINING_KEYS, INFERENCE_KEYS = ("rank_id",), ("request_id", "trace_id")  # join keys of one type of workload
FACTS = ("benchmark_run_fact", "telemetry_slice_fact")
TRAINING_FACTS, INFERENCE_FACTS = ("training_outcome_fact",), ("serving_outcome_fact",)
DIMENSIONS = ("software_version_dim", "hardware_topology_dim", "cluster_region_dim", "workload_dim", "artifact_lineage_dim")


def check(document: Part) -> None:
    """Tell every rule that the document breaks. Where it states no workload type or grade that there is, the rules of all
    types and of the publication grade apply."""
    if document["apiVersion"].value != API_VERSION:
        document["apiVersion"].broken(f"expected {API_VERSION}")
    if document["kind"].value != BENCHMARK_RUN:
        document["kind"].broken(f"expected {BENCHMARK_RUN}")
    document["metadata"].mapping()["name"].text()
    spec = document["spec"].mapping()
    for key in spec.value if isinstance(spec.value, dict) else ():
        if key not in _SECTIONS:
            spec[key].broken(f"not a field of a {BENCHMARK_RUN}'s spec")
    intent = spec["intent"].mapping()
    grade = intent["benchmarkClass"].choice((PUBLICATION, REALISM)) or PUBLICATION
    workload_type = intent["workloadType"].choice(WORKLOAD_TYPES) or "mixed"
    scheduler_path = intent["schedulerPath"].text() or ""
    intent["cadence"].text()
    trains, infers = workload_type != "inference", workload_type != "training"
    _layers(spec["layers"])
    _workload(spec["workload"].mapping())
    _comparison(spec["comparison"].mapping())
    _metrics(spec["metrics"].mapping(), trains=trains, infers=infers)
    _trials(spec["trials"].mapping())
    _bottlenecks(spec["bottleneckAnalysis"].mapping())
    _distributed(spec["distributed"].mapping())
    _observability(spec["observability"].mapping(), scheduler_path, trains=trains, infers=infers)
    _provenance(spec["provenance"].mapping(), grade)
    _execution_policy(spec["executionPolicy"].mapping(), grade)
    _sinks(spec["sinks"].mapping(), trains=trains, infers=infers)
    ci = spec["automation"].mapping()["ci"].mapping()
    for cadence in ("canary", "nightly", "preRelease"):
        ci[cadence].boolean()


def _layers(layers: Part) -> None:
    names, enabled = [], 0
    for layer in layers.items():
        name = layer.mapping()["name"].choice(LAYERS)
        is_enabled = layer["enabled"].boolean()
        suites = layer["suites"].items()
        if is_enabled and not suites:
            layer["suites"].broken("an enabled layer must have at least one suite")
        for suite in suites:
            suite.mapping()["name"].text()
        names.append(name)
        enabled += is_enabled is True
    if not enabled:
        layers.broken("at least one layer must be enabled")
    missing = [name for name in LAYERS if name not in names]
    if missing:
        layers.broken(f"all layers must be modelled; missing {', '.join(missing)}")


def _workload(workload: Part) -> None:
    for key in ("model", "precision", "batchingPolicy", "concurrencyModel"):
        workload[key].text()
    mix = workload["sequenceLengthMix"].items()
    if not mix:
        workload["sequenceLengthMix"].broken("expected at least one entry")
    for entry in mix:
        entry.mapping()
        for key in ("inputTokens", "outputTokens"):
            if entry[key].value is not None:
                entry[key].integer(0)
        if entry["weight"].value is not None and entry["weight"].number() is None:
            entry["weight"].broken("expected number")


def _comparison(comparison: Part) -> None:
    comparison["variableUnderTest"].choice(VARIABLES)
    controls = comparison["controls"].mapping()
    fixed = controls["fixed"].mapping()
    missing = [key for key in FIXED if not isinstance(fixed.value, dict) or key not in fixed.value]
    if missing:
        fixed.broken(f"missing fixed workload controls {', '.join(missing)}")
    controls["compareOneVariableAtATime"].true()


def _metrics(metrics: Part, *, trains: bool, infers: bool) -> None:
    training, inference = metrics["training"].mapping(), metrics["inference"].mapping()
    if trains:
        training["enabled"].true(" for training or mixed workloads")
        training["primary"].includes(TRAINING_METRICS, "training metrics")
    else:
        training["primary"].items()
    if infers:
        inference["enabled"].true(" for inference or mixed workloads")
        inference["primary"].includes(INFERENCE_METRICS, "inference metrics")
        stated = inference["primary"].value
        if not isinstance(stated, list) or not any(cost in stated for cost in COSTS):
            inference["primary"].broken(f"must include {' or '.join(COSTS)}")
    else:
        inference["primary"].items()


def _trials(trials: Part) -> None:
    trials["minReplicates"].integer(3)
    confidence = trials["confidenceLevel"].number()
    if confidence is None or not 0.8 <= confidence < 1:
        trials["confidenceLevel"].broken("must be at least 0.8 and less than 1.0")
    outliers = trials["outlierPolicy"].mapping()
    for key in ("method", "action"):
        outliers[key].text()
    report = trials["report"].mapping()
    for key in ("distributions", "confidenceIntervals", "rankLevelOutliers"):
        report[key].true()


def _bottlenecks(analysis: Part) -> None:
    analysis["taxonomy"].includes(BOTTLENECKS, "bottleneck classes")
    analysis["decomposeOverheads"].includes(OVERHEADS, "overheads")
    instrumentation = analysis["instrumentation"].mapping()
    for bottleneck in BOTTLENECKS:
        if not instrumentation[bottleneck].items():
            instrumentation[bottleneck].broken("must declare at least one probe")


def _distributed(distributed: Part) -> None:
    distributed["requireRankLevelVisibility"].true()
    distributed["collectives"].includes(COLLECTIVES, "statistics of collectives")
    diagnosis = distributed["nodeDiagnosis"].mapping()
    diagnosis["validate"].includes(NODE_CHECKS, "node checks")
    diagnosis["remediation"].includes(REMEDIATIONS, "remediations")


def _observability(observability: Part, scheduler_path: str, *, trains: bool, infers: bool) -> None:
    correlation = observability["correlation"].mapping()
    keys = (*JOIN_KEYS, *(TRAINING_KEYS if trains else ()), *(INFERENCE_KEYS if infers else ()))
    correlation["stableJoinKeys"].includes(keys, "stable join keys")
    lineage = correlation["publishedNumberLineage"].mapping()
    for key in ("rawArtifactManifestDigest", "warehouseRowLineage", "querySpecCaptured"):
        lineage[key].true()
    sources = observability["telemetrySources"].mapping()
    if not sources["service"].items():
        sources["service"].broken("must declare at least one signal")
    sources["infrastructure"].includes(EXPORTERS, "exporters")
    sources["scheduler"].includes(scheduler_sources(scheduler_path), "sources")
    observability["scenarioPlaybooks"].includes(PLAYBOOKS, "playbooks")


def scheduler_sources(scheduler_path: str) -> tuple[str, ...]:
    """Where the timing of a scheduler path must come from."""
    return ("kubernetes_events", *(name for name in ("kueue", "slinky") if name in scheduler_path))


def _provenance(provenance: Part, grade: str) -> None:
    capture = provenance["capture"].mapping()
    for key in CAPTURED:
        capture[key].true()
    signing = provenance["signing"].mapping()
    if grade == PUBLICATION:
        signing["required"].true(" for publication-grade runs", costs_grade=True)
        for key in ("backend", "attestationFormat"):
            signing[key].text(costs_grade=True)


def _execution_policy(policy: Part, grade: str) -> None:
    publication, realism = policy["publicationGrade"].mapping(), policy["realismGrade"].mapping()
    if grade == PUBLICATION:
        for key in ISOLATION:
            publication[key].true(costs_grade=True)
    else:
        for key in ("multiTenantScenarios", "captureClusterContext"):
            realism[key].true(" for realism-grade runs")


def _sinks(sinks: Part, *, trains: bool, infers: bool) -> None:
    raw = sinks["rawArtifacts"].mapping()
    for key in ("store", "pathTemplate", "retentionClass"):
        raw[key].text()
    raw["artifacts"].includes(ARTIFACTS, "raw artifacts")
    hot = sinks["hotMetrics"].mapping()
    hot["store"].text()
    hot["retentionDays"].integer(1)
    budget = hot["cardinalityBudget"].mapping()
    budget["maxActiveSeries"].integer(1)
    budget["dropDimensions"].includes(("request_id", "trace_id"), "dimensions")
    warehouse = sinks["curatedWarehouse"].mapping()
    warehouse["store"].text()
    layout = warehouse["layout"].mapping()
    outcomes = (*(INFERENCE_FACTS if infers else ()), *(TRAINING_FACTS if trains else ()))
    layout["facts"].includes((*FACTS, *outcomes), "facts")
    layout["dimensions"].includes(DIMENSIONS, "dimensions")
    retention = warehouse["retention"].mapping()
    hot_days, warm_days, cold_days = (retention[key].integer(1) for key in ("hotDays", "warmDays", "coldDays"))
    if hot_days and warm_days and cold_days and not hot_days <= warm_days <= cold_days:
        retention.broken("must satisfy hotDays <= warmDays <= coldDays")
    lineage = warehouse["lineage"].mapping()
    for key in ("publishedNumbersTraceableToRaw", "manifestDigestColumn", "workloadSpecDigestColumn"):
        lineage[key].true()


def frozen(document: Part) -> dict[str, Any]:
    """The workload document: without the object's metadata and status, which say where and when."""
    return {key: document[key].value for key in ("apiVersion", "kind", "spec")}


def terms(document: Part) -> Terms:
    """What a document without other faults than those that cost its grade says of a run."""
    intent, workload = document["spec"]["intent"], document["spec"]["workload"]
    lost = [str(fault) for fault in document.faults.found if fault.costs_grade]
    declared = intent["benchmarkClass"].value
    mix = workload["sequenceLengthMix"].value
    return Terms(
        intent="publication" if declared == PUBLICATION else None,
        cadence=cadence_of(intent["cadence"].value),
        benchmark_grade=REALISM if lost else declared,
        grade_reason=grade_reason(lost) if lost else None,
        scheduler_path=intent["schedulerPath"].value,
        model=workload["model"].value,
        precision=workload["precision"].value,
        protocol=workload["concurrencyModel"].value,
        batching_policy=workload["batchingPolicy"].value,
        prompt_distribution=_lengths(mix, "inputTokens"),
        completion_distribution=_lengths(mix, "outputTokens"),
    )


def _lengths(mix: list[dict[str, Any]], key: str) -> str | None:
    """Token counts and their weights, as in `512@0.7, 1024@0.3`."""
    found = [(entry.get(key), entry.get("weight")) for entry in mix if entry.get(key) is not None]
    return ", ".join(f"{tokens}" if weight is None else f"{tokens}@{weight}" for tokens, weight in found) or None
