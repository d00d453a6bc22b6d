"""Renders a BenchmarkRun from the few fields that differ between runs. Everything else is what the rules (`benchmark_run`) ask for.

A field that says what a run is has no default: a declared value takes precedence over the evidence, so a guessed one would be a false fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from warehouse.errors import ExitCode, WarehouseError, did_you_mean
from warehouse.landing.declaration import benchmark_run as rules
from warehouse.landing.declaration import hot_metrics
from warehouse.landing.declaration.judged import judged
from warehouse.landing.declaration.terms import BENCHMARK_RUN, PUBLICATION, REALISM
from warehouse.project.project import Project

_OUTPUT = "outputTokens"
_PROBES = {
    "compute_bound": ["gpu_counters"], "comm_bound": ["nccl_traces", "nvlink-exporter"], "input_bound": ["storage_probes", "dataloader_metrics"],
    "control_plane_bound": ["scheduler_timing"],
}


@dataclass(frozen=True)
class Field:
    """One field. Its value is text, one of `choices` if there are any; a whole number or a number where `kind` says so, not less than
    `at_least`. `default` None: it must be stated, or may be left out if it is `optional`."""

    name: str
    description: str
    kind: str = "text"
    choices: tuple[str, ...] = ()
    at_least: float | None = None
    below: float | None = None
    default: Any = None
    optional: bool = False

    def read(self, stated: Any) -> Any:
        """The value that is meant. Raises ValueError with what is expected."""
        if isinstance(stated, bool) or not isinstance(stated, str | int | float) or stated == "":
            raise ValueError(f"expected {self.expected}")
        if self.choices and stated not in self.choices:
            raise ValueError(f"expected {self.expected}")
        if self.kind == "text":
            if not isinstance(stated, str):
                raise ValueError(f"expected {self.expected}")
            return stated
        try:
            value = float(stated)
            if self.kind == "integer":
                value = int(stated)
                if isinstance(stated, float) and stated != value:
                    raise ValueError
        except (ValueError, OverflowError):
            raise ValueError(f"expected {self.expected}") from None
        # A NaN is within no bounds.
        if not (self.at_least is None or value >= self.at_least) or not value < (self.below or 2**53):
            raise ValueError(f"expected {self.expected}")
        return value

    @property
    def expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind == "text":
            return "text"
        least = f" of at least {self.at_least:g}" if self.at_least is not None else ""
        return f"{'a whole number' if self.kind == 'integer' else 'a number'}{least}" + (f", less than {self.below:g}" if self.below else "")


FIELDS = (
    Field("name", "Name of the declared run"),
    Field("benchmarkClass", "What the numbers may be used for", choices=(PUBLICATION, REALISM)),
    Field("workloadType", "What runs", choices=rules.WORKLOAD_TYPES),
    Field("schedulerPath", "How jobs reach the nodes, as in slurm or slinky-kueue"),
    Field("cadence", "How often it is measured", choices=("canary", "nightly", "pre_release")),
    Field("model", "Model, by the name under which it is published"),
    Field("precision", "Number format of the weights, as in bf16 or fp8"),
    Field("batchingPolicy", "How requests or samples are batched, as in continuous"),
    Field("concurrencyModel", "How load is offered, as in closed_loop or open_loop"),
    Field("comparisonVariable", "The one variable that differs between baseline and candidate", choices=rules.VARIABLES),
    Field("inputTokens", "Input tokens of a request or sample", "integer", at_least=0),
    Field(_OUTPUT, "Output tokens of a request; not needed for training", "integer", at_least=0, optional=True),
    Field("layer", "The layer of the suite; the others are declared as not enabled", choices=rules.LAYERS),
    Field("suite", "Name of the suite that is run"),
    Field("command", "Command that runs the suite", optional=True),
    Field("minReplicates", "Fewest repeats of each point", "integer", at_least=3, default=5),
    Field("confidenceLevel", "Confidence level of intervals", "number", at_least=0.8, below=1, default=0.95),
)


@dataclass(frozen=True)
class Rendered:
    """A BenchmarkRun in YAML, the value of every field, and its `declared_spec_digest`, as `wh validate` prints it."""

    text: str
    applied: Mapping[str, Any]
    declared_spec_digest: str


def render_benchmark_run(project: Project, stated: Mapping[str, Any]) -> Rendered:
    """The BenchmarkRun with these fields, and the retention of the project. It passes `wh validate`. Raises WH131 with everything that is
    wrong with the fields, WH125 if the document breaks a rule all the same."""
    applied = _applied(stated)
    text = yaml.safe_dump(_document(project, applied), sort_keys=False, allow_unicode=True, width=120)
    declaration = judged(text.encode())
    if declaration.faults or declaration.digest is None:
        raise WarehouseError("WH125", "; ".join(map(str, declaration.faults)), "the rendered BenchmarkRun")
    return Rendered(text, applied, declaration.digest)


def _applied(stated: Mapping[str, Any]) -> dict[str, Any]:
    known = {field.name: field for field in FIELDS}
    faults = [f"there is no field {name!r}" for name in stated if name not in known]
    hint = next((near for name in stated if name not in known and (near := did_you_mean(name, known))), None)
    applied: dict[str, Any] = {}
    for field in FIELDS:
        try:
            value = field.read(stated[field.name]) if field.name in stated else field.default
        except ValueError as error:
            faults.append(f"{field.name} is {stated[field.name]!r}: {error}")
            continue
        needs = not field.optional or (field.name == _OUTPUT and stated.get("workloadType") != "training")
        if value is None and needs:
            faults.append(f"{field.name} is missing: expected {field.expected}")
        elif value is not None:
            applied[field.name] = value
    if faults:
        raise WarehouseError("WH131", "; ".join(faults), hint=hint or "wh contracts lists the fields", exit_code=ExitCode.USAGE)
    return applied


def _document(project: Project, of: Mapping[str, Any]) -> dict[str, Any]:
    trains, infers = of["workloadType"] != "inference", of["workloadType"] != "training"
    is_publication = of["benchmarkClass"] == PUBLICATION
    tokens = {key: of[key] for key in ("inputTokens", _OUTPUT) if key in of}

    def fixed() -> dict[str, Any]:  # two of it: YAML would write one twice as an alias, which declarations must not have
        return {key: [{**tokens, "weight": 1.0}] if key == "sequenceLengthMix" else of[key] for key in rules.FIXED}

    suite = {"name": of["suite"], **({"repoCommand": of["command"]} if "command" in of else {})}
    return {
        "apiVersion": rules.API_VERSION,
        "kind": BENCHMARK_RUN,
        "metadata": {"name": of["name"]},
        "spec": {
            "intent": {key: of[key] for key in ("benchmarkClass", "workloadType", "schedulerPath", "cadence")},
            "layers": [
                {"name": layer, "enabled": layer == of["layer"], "suites": [suite] if layer == of["layer"] else []} for layer in rules.LAYERS
            ],
            "workload": fixed(),
            "comparison": {
                "variableUnderTest": of["comparisonVariable"],
                "controls": {"fixed": fixed(), "compareOneVariableAtATime": True},
            },
            "metrics": {
                "training": {"enabled": trains, "primary": list(rules.TRAINING_METRICS) * trains},
                "inference": {"enabled": infers, "primary": [*rules.INFERENCE_METRICS, *rules.COSTS] * infers},
            },
            "trials": {
                "minReplicates": of["minReplicates"], "confidenceLevel": of["confidenceLevel"],
                "outlierPolicy": {"method": "mad", "action": "flag_and_keep"},
                "report": _all_true("distributions", "confidenceIntervals", "rankLevelOutliers"),
            },
            "bottleneckAnalysis": {
                "taxonomy": list(rules.BOTTLENECKS), "decomposeOverheads": list(rules.OVERHEADS),
                "instrumentation": {name: list(_PROBES[name]) for name in rules.BOTTLENECKS},
            },
            "distributed": {
                "requireRankLevelVisibility": True, "collectives": list(rules.COLLECTIVES),
                "nodeDiagnosis": {"validate": list(rules.NODE_CHECKS), "remediation": list(rules.REMEDIATIONS)},
            },
            "observability": {
                "correlation": {
                    "stableJoinKeys": [*rules.JOIN_KEYS, *rules.TRAINING_KEYS * trains, *rules.INFERENCE_KEYS * infers],
                    "publishedNumberLineage": _all_true("rawArtifactManifestDigest", "warehouseRowLineage", "querySpecCaptured"),
                },
                "telemetrySources": {
                    "service": ["queue_time"], "infrastructure": list(rules.EXPORTERS),
                    "scheduler": list(rules.scheduler_sources(of["schedulerPath"])),
                },
                "scenarioPlaybooks": list(rules.PLAYBOOKS),
            },
            "provenance": {
                "capture": _all_true(*rules.CAPTURED),
                # What `wh sign` makes.
                "signing": {"required": is_publication, "backend": "ed25519", "attestationFormat": "in_toto"},
            },
            "executionPolicy": {
                "publicationGrade": dict.fromkeys(rules.ISOLATION, is_publication),
                "realismGrade": dict.fromkeys(("multiTenantScenarios", "captureClusterContext"), not is_publication),
            },
            "sinks": _sinks(project, trains=trains, infers=infers),
            "automation": {"ci": {name: of["cadence"] == cadence for name, cadence in _CADENCES.items()}},
        },
    }


_CADENCES = {"canary": "canary", "nightly": "nightly", "preRelease": "pre_release"}


def _sinks(project: Project, *, trains: bool, infers: bool) -> dict[str, Any]:
    kept = project.retention
    # The store's own layout (docs/store.md), below the bucket's address; a folder's place is the machine's and left out.
    place = f"{project.store_url.rstrip('/')}/" if project.store_url else ""
    return {
        "rawArtifacts": {
            "store": "object_storage" if project.store_url else "folder", "pathTemplate": place + "raw/${ARTIFACT_MANIFEST_DIGEST}/",
            "retentionClass": "cold_immutable", "artifacts": list(rules.ARTIFACTS),
        },
        "hotMetrics": {
            "store": hot_metrics.STORE, "retentionDays": kept.hot_days,
            "cardinalityBudget": {"maxActiveSeries": hot_metrics.MAX_ACTIVE_SERIES, "dropDimensions": list(hot_metrics.FORBIDDEN_LABELS)},
        },
        "curatedWarehouse": {
            "store": "parquet_duckdb",
            "layout": {
                "facts": [*rules.FACTS, *rules.INFERENCE_FACTS * infers, *rules.TRAINING_FACTS * trains], "dimensions": list(rules.DIMENSIONS),
            },
            "retention": {"hotDays": kept.hot_days, "warmDays": kept.warm_days, "coldDays": kept.cold_days},
            "lineage": _all_true("publishedNumbersTraceableToRaw", "manifestDigestColumn", "workloadSpecDigestColumn"),
        },
    }


def _all_true(*names: str) -> dict[str, bool]:
    return dict.fromkeys(names, True)
