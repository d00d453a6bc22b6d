"""`wh validate`: the rules of a BenchmarkRun and of a workload spec, one broken at a time, and files that are no documents.

What is expected is written from the rules (the contract's resource definition and the methodology beside it), each with the
words that its message must have.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import unpacked_evidence
from hypothesis import given, settings
from hypothesis import strategies as st
from samples.declaration import GONE, Document, benchmark_run, changed, text, workload_spec

from warehouse.cli.main import main
from warehouse.digest import workload_spec_digest
from warehouse.errors import ExitCode
from warehouse.landing.declaration.judged import Declaration, judged
from warehouse.landing.declaration.terms import BENCHMARK_RUN, WORKLOAD_SPEC, Terms


def judge(document: Any) -> Declaration:
    return judged(json.dumps(document).encode())  # which is YAML too, and quicker to write


@pytest.mark.parametrize("grade", ["publication_grade", "realism_grade"])
@pytest.mark.parametrize("workload_type", ["training", "inference", "mixed"])
def test_what_keeps_all_rules_is_valid(workload_type: str, grade: str) -> None:
    declaration = judge(benchmark_run(workload_type, grade))
    assert (declaration.kind, declaration.faults) == (BENCHMARK_RUN, ())
    assert declaration.terms is not None and declaration.terms.benchmark_grade == grade


# One rule each: the change, the path of the error, words of its message. Of the mixed type and publication grade, to which
# all rules but realism's apply.
BROKEN: list[tuple[dict[str, Any], str, str]] = [
    ({"apiVersion": "v1"}, "apiVersion", "benchmarking.aisp.dev/v1alpha1"),
    ({"apiVersion": GONE}, "apiVersion", "benchmarking.aisp.dev/v1alpha1"),
    ({"kind": "BenchmarkRuns"}, "kind", "BenchmarkRun"),
    ({"metadata.name": ""}, "metadata.name", "non-empty string"),
    ({"spec.budget": 1}, "spec.budget", "not a field"),
    ({"spec.intent.benchmarkClass": "publication"}, "spec.intent.benchmarkClass", "publication_grade, realism_grade"),
    ({"spec.intent.workloadType": "finetuning"}, "spec.intent.workloadType", "training, inference, mixed"),
    ({"spec.intent.schedulerPath": None}, "spec.intent.schedulerPath", "non-empty string"),
    ({"spec.intent.cadence": GONE}, "spec.intent.cadence", "non-empty string"),
    ({"spec.layers.1": GONE}, "spec.layers", "component"),
    ({"spec.layers.0.enabled": False, "spec.layers.2.enabled": False}, "spec.layers", "at least one"),
    ({"spec.layers.0.suites": []}, "spec.layers[0].suites", "at least one suite"),
    ({"spec.layers.2.enabled": "yes"}, "spec.layers[2].enabled", "boolean"),
    ({"spec.workload.model": ""}, "spec.workload.model", "non-empty string"),
    ({"spec.workload.precision": 8}, "spec.workload.precision", "non-empty string"),
    ({"spec.workload.batchingPolicy": GONE}, "spec.workload.batchingPolicy", "non-empty string"),
    ({"spec.workload.concurrencyModel": GONE}, "spec.workload.concurrencyModel", "non-empty string"),
    ({"spec.workload.sequenceLengthMix": []}, "spec.workload.sequenceLengthMix", "at least one"),
    ({"spec.workload.sequenceLengthMix.0.inputTokens": "many"}, "spec.workload.sequenceLengthMix[0].inputTokens", "integer"),
    ({"spec.workload.sequenceLengthMix.1.weight": "half"}, "spec.workload.sequenceLengthMix[1].weight", "number"),
    ({"spec.comparison.variableUnderTest": "batching_policy"}, "spec.comparison.variableUnderTest", "runtime_version"),
    ({"spec.comparison.controls.fixed.precision": GONE}, "spec.comparison.controls.fixed", "precision"),
    ({"spec.comparison.controls.compareOneVariableAtATime": False}, "spec.comparison.controls.compareOneVariableAtATime", "must be true"),
    ({"spec.metrics.training.enabled": False}, "spec.metrics.training.enabled", "must be true"),
    ({"spec.metrics.training.primary.1": "mfu"}, "spec.metrics.training.primary", "mfu_pct"),
    ({"spec.metrics.inference.enabled": GONE}, "spec.metrics.inference.enabled", "must be true"),
    ({"spec.metrics.inference.primary.3": "jitter_cv_pct"}, "spec.metrics.inference.primary", "jitter_ms"),
    ({"spec.metrics.inference.primary.4": GONE}, "spec.metrics.inference.primary", "cost_per_token_usd or cost_per_request_usd"),
    ({"spec.trials.minReplicates": 2}, "spec.trials.minReplicates", ">= 3"),
    ({"spec.trials.minReplicates": 3.5}, "spec.trials.minReplicates", "integer"),
    ({"spec.trials.confidenceLevel": 0.79}, "spec.trials.confidenceLevel", "0.8"),
    ({"spec.trials.confidenceLevel": 1}, "spec.trials.confidenceLevel", "less than 1"),
    ({"spec.trials.outlierPolicy.method": GONE}, "spec.trials.outlierPolicy.method", "non-empty string"),
    ({"spec.trials.outlierPolicy.action": ""}, "spec.trials.outlierPolicy.action", "non-empty string"),
    ({"spec.trials.report.rankLevelOutliers": "true"}, "spec.trials.report.rankLevelOutliers", "must be true"),
    ({"spec.bottleneckAnalysis.taxonomy.2": GONE}, "spec.bottleneckAnalysis.taxonomy", "input_bound"),
    ({"spec.bottleneckAnalysis.decomposeOverheads.0": "gpu"}, "spec.bottleneckAnalysis.decomposeOverheads", "compute"),
    ({"spec.bottleneckAnalysis.instrumentation.comm_bound": []}, "spec.bottleneckAnalysis.instrumentation.comm_bound", "at least one probe"),
    ({"spec.distributed.requireRankLevelVisibility": GONE}, "spec.distributed.requireRankLevelVisibility", "must be true"),
    ({"spec.distributed.collectives": ["latency"]}, "spec.distributed.collectives", "bandwidth"),
    ({"spec.distributed.nodeDiagnosis.validate.3": GONE}, "spec.distributed.nodeDiagnosis.validate", "nvlink_health"),
    ({"spec.distributed.nodeDiagnosis.remediation.1": GONE}, "spec.distributed.nodeDiagnosis.remediation", "isolate_bad_node"),
    ({"spec.observability.correlation.stableJoinKeys.5": GONE}, "spec.observability.correlation.stableJoinKeys", "node_name"),
    ({"spec.observability.correlation.stableJoinKeys.7": GONE}, "spec.observability.correlation.stableJoinKeys", "rank_id"),
    ({"spec.observability.correlation.stableJoinKeys.9": GONE}, "spec.observability.correlation.stableJoinKeys", "trace_id"),
    (
        {"spec.observability.correlation.publishedNumberLineage.querySpecCaptured": False},
        "spec.observability.correlation.publishedNumberLineage.querySpecCaptured", "must be true",
    ),
    ({"spec.observability.telemetrySources.service": []}, "spec.observability.telemetrySources.service", "at least one"),
    ({"spec.observability.telemetrySources.infrastructure.3": GONE}, "spec.observability.telemetrySources.infrastructure", "ping-exporter"),
    ({"spec.observability.telemetrySources.scheduler": ["squeue"]}, "spec.observability.telemetrySources.scheduler", "kubernetes_events"),
    ({"spec.intent.schedulerPath": "kueue"}, "spec.observability.telemetrySources.scheduler", "kueue"),
    ({"spec.intent.schedulerPath": "my-slinky-fork"}, "spec.observability.telemetrySources.scheduler", "slinky"),
    ({"spec.observability.scenarioPlaybooks.2": GONE}, "spec.observability.scenarioPlaybooks", "distributed_straggler"),
    ({"spec.provenance.capture.imageDigest": False}, "spec.provenance.capture.imageDigest", "must be true"),
    ({"spec.provenance.capture.auditTrail": GONE}, "spec.provenance.capture.auditTrail", "must be true"),
    ({"spec.provenance.signing.required": False}, "spec.provenance.signing.required", "must be true"),
    ({"spec.provenance.signing.backend": GONE}, "spec.provenance.signing.backend", "non-empty string"),
    ({"spec.provenance.signing.attestationFormat": ""}, "spec.provenance.signing.attestationFormat", "non-empty string"),
    ({"spec.executionPolicy.publicationGrade.dedicatedNodes": False}, "spec.executionPolicy.publicationGrade.dedicatedNodes", "must be true"),
    (
        {"spec.executionPolicy.publicationGrade.topologyExclusiveScheduling": GONE},
        "spec.executionPolicy.publicationGrade.topologyExclusiveScheduling", "must be true",
    ),
    ({"spec.sinks.rawArtifacts.store": ""}, "spec.sinks.rawArtifacts.store", "non-empty string"),
    ({"spec.sinks.rawArtifacts.artifacts.2": GONE}, "spec.sinks.rawArtifacts.artifacts", "profiler_reports"),
    ({"spec.sinks.hotMetrics.retentionDays": 0}, "spec.sinks.hotMetrics.retentionDays", "positive integer"),
    ({"spec.sinks.hotMetrics.cardinalityBudget.maxActiveSeries": "2M"}, "spec.sinks.hotMetrics.cardinalityBudget.maxActiveSeries", "positive integer"),
    ({"spec.sinks.hotMetrics.cardinalityBudget.dropDimensions": ["request_id"]}, "spec.sinks.hotMetrics.cardinalityBudget.dropDimensions", "trace_id"),
    ({"spec.sinks.curatedWarehouse.store": GONE}, "spec.sinks.curatedWarehouse.store", "non-empty string"),
    ({"spec.sinks.curatedWarehouse.layout.facts.1": GONE}, "spec.sinks.curatedWarehouse.layout.facts", "telemetry_slice_fact"),
    ({"spec.sinks.curatedWarehouse.layout.facts.2": GONE}, "spec.sinks.curatedWarehouse.layout.facts", "serving_outcome_fact"),
    ({"spec.sinks.curatedWarehouse.layout.facts.3": GONE}, "spec.sinks.curatedWarehouse.layout.facts", "training_outcome_fact"),
    ({"spec.sinks.curatedWarehouse.layout.dimensions.4": GONE}, "spec.sinks.curatedWarehouse.layout.dimensions", "artifact_lineage_dim"),
    ({"spec.sinks.curatedWarehouse.retention.warmDays": 29}, "spec.sinks.curatedWarehouse.retention", "hotDays <= warmDays <= coldDays"),
    ({"spec.sinks.curatedWarehouse.retention.coldDays": 29}, "spec.sinks.curatedWarehouse.retention", "hotDays <= warmDays <= coldDays"),
    ({"spec.sinks.curatedWarehouse.lineage.manifestDigestColumn": False}, "spec.sinks.curatedWarehouse.lineage.manifestDigestColumn", "must be true"),
    ({"spec.automation.ci.preRelease": "weekly"}, "spec.automation.ci.preRelease", "boolean"),
]


@pytest.mark.parametrize(("changes", "path", "words"), BROKEN, ids=[f"{path} {words}" for _, path, words in BROKEN])
def test_a_broken_rule_is_told_at_its_path_and_nothing_else_is(changes: dict[str, Any], path: str, words: str) -> None:
    declaration = judge(changed(benchmark_run("mixed"), changes))
    assert [fault.path for fault in declaration.faults] == [path]
    assert words in declaration.faults[0].message
    assert str(declaration.faults[0]).startswith(f"{path}: ")


@pytest.mark.parametrize("flag", ["multiTenantScenarios", "captureClusterContext"])
def test_what_realism_needs_only_realism_needs(flag: str) -> None:
    path = f"spec.executionPolicy.realismGrade.{flag}"
    document = changed(benchmark_run(grade="realism_grade"), {path: False})
    assert [str(fault) for fault in judge(document).faults] == [f"{path}: must be true for realism-grade runs"]
    assert judge(changed(benchmark_run(), {path: False})).faults == ()


def test_a_type_needs_only_what_is_its_own() -> None:
    """Neither an inference run's rank ids, nor a training run's request ids, metrics and facts."""
    assert judge(changed(benchmark_run("inference"), {"spec.metrics.training.primary": ["mfu_pct"]})).faults == ()
    assert judge(changed(benchmark_run("training"), {"spec.metrics.inference.primary": []})).faults == ()


SECTIONS = list(benchmark_run()["spec"])


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_must_be_there_and_all_that_it_lacks_is_told(section: str) -> None:
    faults = judge(changed(benchmark_run(), {f"spec.{section}": GONE})).faults
    expected = "expected list" if section == "layers" else "expected mapping"
    assert str(faults[0]) == f"spec.{section}: {expected}"
    allowed = ("spec.observability.telemetrySources.scheduler",)  # named by the scheduler path, which is of the intent
    assert all(fault.path.startswith(f"spec.{section}") or fault.path in allowed or section == "intent" for fault in faults)


def test_all_errors_come_at_once() -> None:
    alone = {path: value for changes, path, _ in BROKEN for key, value in changes.items() if key == path and value is not GONE and "[" not in path}
    assert len(alone) > 30
    told = [fault.path for fault in judge(changed(benchmark_run("mixed"), alone)).faults]
    assert set(told) >= set(alone)


# --- workload specs ------------------------------------------------------------------------------------------------


def test_a_workload_spec_deviates_freely() -> None:
    declaration = judge(workload_spec())
    assert (declaration.kind, declaration.faults) == (WORKLOAD_SPEC, ())
    assert declaration.terms == Terms(
        intent="validation", cadence="nightly", benchmark_grade="realism_grade", scheduler_path="slurm", model="lab/decoder-7b",
        precision="fp8", protocol="openai_compatible_http", deployment_model="deployment_per_gpu", batching_policy="continuous",
        concurrency_point=8, prompt_distribution="p50=256, p95=2048", completion_distribution="64, 512",
    )


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"run_metadata.benchmark_layer": "macro"}, "run_metadata.benchmark_layer", "end_to_end"),
        ({"run_metadata.benchmark_grade": ""}, "run_metadata.benchmark_grade", "publication, realism"),
        ({"run_metadata.use_case": "fun"}, "run_metadata.use_case", "analyst_briefing"),
        ({"run_metadata": "nightly"}, "run_metadata", "expected mapping"),
        ({"workload.type": None}, "workload.type", "training, inference"),
        ({"execution": [1]}, "execution", "expected mapping"),
        ({"measurement_policy.trials": 0}, "measurement_policy.trials", "positive integer"),
    ],
)
def test_a_broken_workload_spec(changes: dict[str, Any], path: str, words: str) -> None:
    declaration = judge(changed(workload_spec(), changes))
    assert declaration.faults[0].path == path and words in declaration.faults[0].message
    assert declaration.terms is None and declaration.digest is None


USES = {
    "engineering_debug": ("exploratory", None), "canary": ("validation", "canary"), "nightly": ("validation", "nightly"),
    "release_gate": ("validation", "pre_release"), "rfp": ("publication", None), "analyst_briefing": ("publication", None),
    "publication": ("publication", None),
}


@pytest.mark.parametrize("use", USES)
def test_what_a_use_is_for(use: str) -> None:
    terms = judge(workload_spec(run_metadata__use_case=use)).terms
    assert terms is not None and (terms.intent, terms.cadence) == USES[use]


def test_a_workload_spec_alone_bears_no_publication_grade() -> None:
    """It has no place for the guarantees of one."""
    terms = judge(workload_spec(run_metadata__benchmark_grade="publication")).terms
    assert terms is not None and terms.benchmark_grade == "realism_grade"
    assert terms.grade_reason is not None and terms.grade_reason.startswith("declared publication_grade")


# --- grades --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.executionPolicy.publicationGrade.dedicatedNodes", False),
        ("spec.executionPolicy.publicationGrade.stableBackgroundLoad", GONE),
        ("spec.executionPolicy.publicationGrade.fixedTopology", None),
        ("spec.executionPolicy.publicationGrade.topologyExclusiveScheduling", "true"),
        ("spec.provenance.signing.required", False),
    ],
)
def test_publication_without_its_guarantees_is_realism(path: str, value: Any) -> None:
    declaration = judge(changed(benchmark_run(), {path: value}))
    assert len(declaration.faults) == 1 and declaration.terms is not None and declaration.digest is not None
    assert (declaration.terms.benchmark_grade, declaration.terms.intent) == ("realism_grade", "publication")
    assert declaration.terms.grade_reason is not None and path in declaration.terms.grade_reason


def test_another_fault_beside_a_lost_grade_costs_everything() -> None:
    document = changed(benchmark_run(), {"spec.executionPolicy.publicationGrade.fixedTopology": False, "spec.trials.minReplicates": 1})
    assert judge(document).terms is None


@pytest.mark.parametrize("stated", ["preRelease", "pre-release", "pre_release", "PRE_RELEASE"])
def test_a_cadence_has_one_name(stated: str) -> None:
    terms = judge(benchmark_run(spec__intent__cadence=stated)).terms
    assert terms is not None and terms.cadence == "pre_release"


def test_what_a_benchmark_run_says() -> None:
    assert judge(benchmark_run()).terms == Terms(
        intent="publication", cadence="nightly", benchmark_grade="publication_grade", scheduler_path="slurm",
        model="lab/decoder-7b", precision="fp8", protocol="open_loop", batching_policy="continuous",
        prompt_distribution="256@0.5, 2048@0.5", completion_distribution="64@0.5, 512@0.5",
    )


# --- the frozen document --------------------------------------------------------------------------------------------


def test_the_digest_is_of_the_document_without_the_object_around_it() -> None:
    document = benchmark_run()
    declaration = judge(document)
    frozen = {key: document[key] for key in ("apiVersion", "kind", "spec")}
    assert declaration.digest == workload_spec_digest(frozen)
    assert declaration.document is not None and json.loads(declaration.document) == frozen
    assert judge(workload_spec()).digest == workload_spec_digest(workload_spec())


SAME: dict[str, Document] = {
    "another object's name": benchmark_run(metadata={"name": "b", "uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}),
    "a status": benchmark_run(status={"phase": "Done", "runId": "7"}),
    "a seed": benchmark_run(spec__workload__seed=7),
    "another's seed": benchmark_run(spec__workload__samplerSeed=7),
    "a host": benchmark_run(spec__intent__hostname="node7"),
    "a time": benchmark_run(spec__intent__createdAt="2026-01-01T00:00:00Z"),
    "other order": dict(reversed(benchmark_run().items())),
}


@pytest.mark.parametrize("case", SAME)
def test_seed_host_and_time_are_no_part_of_a_workload(case: str) -> None:
    assert judge(SAME[case]).digest == judge(benchmark_run()).digest


def test_form_is_no_part_of_a_workload_and_the_rest_is() -> None:
    as_json = judged(json.dumps(benchmark_run(), indent=3).encode())
    as_yaml = judged(VALID.encode())
    commented = judged(b"# by the lab\n---\n" + VALID.encode())
    other = judge(benchmark_run(spec__workload__precision="bf16"))
    assert as_json.digest == as_yaml.digest == commented.digest == judge(benchmark_run()).digest != other.digest


# --- files ---------------------------------------------------------------------------------------------------------

VALID = text(benchmark_run())
ALIASED = VALID.replace("model: lab/decoder-7b", "model: &m lab/decoder-7b\n    other: *m")
FILES: dict[str, tuple[bytes, str, int | None]] = {
    "nothing": (b"", "document: expected a BenchmarkRun", None),
    "a list": (b"- 1\n", "document: expected a BenchmarkRun", 1),
    "a sentence": (b"we ran it\n", "document: expected a BenchmarkRun", 1),
    "another document": (b"apples: 3\n", "document: expected a BenchmarkRun", 1),
    "two documents": (f"{VALID}---\n{VALID}".encode(), "document: expected one YAML document", None),
    "no YAML": (b"spec: [\n", "document: not readable as YAML", 2),
    "a key stated twice": (f"kind: BenchmarkRun\n{VALID}".encode(), "document: a key is stated twice: kind", 3),
    "an alias": (ALIASED.encode(), "document: an alias", ALIASED[: ALIASED.index("*m")].count("\n") + 1),
    "bytes that are no text": (VALID.replace("fp8", "fp\xff").encode("latin-1"), "document: not readable as YAML", None),
    "no number": (VALID.replace("weight: 0.5", "weight: .nan", 1).encode(), "document: has no canonical JSON form", None),
    "a number too large": (VALID.replace("inputTokens: 256", f"inputTokens: {2**53 + 1}").encode(), "document: has no canonical JSON form", None),
    "more than anybody writes": (b"#" * (2 << 20), "document: 2097152 bytes", None),
    "depth without end": (b"spec: " + b"[" * 100_000, "document: not readable as YAML", 1),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_is_no_document(case: str) -> None:
    data, start, line = FILES[case]
    declaration = judged(data)
    found = [fault for fault in declaration.faults if str(fault).startswith(start)]
    assert found, declaration.faults
    assert line is None or found[0].line == line
    assert declaration.terms is None and declaration.digest is None


@pytest.mark.parametrize("case", ["two documents", "no YAML", "bytes that are no text", "depth without end"])
def test_of_what_cannot_be_read_no_rule_is_told(case: str) -> None:
    assert len(judged(FILES[case][0]).faults) == 1


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ('!!float ""', "expected non-empty string"), ("!!int x", None), ("!!bool maybe", None), ("!!python/name:os.system x", None),
        ("9" * 5000, None), ("2026-01-01", None), ("1.5", "expected non-empty string"), ("yes", "expected non-empty string"),
    ],
)
def test_a_scalar_is_of_the_type_that_it_is_written_as_or_text(written: str, fault: str | None) -> None:
    faults = judged(VALID.replace("name: decoder-nightly", f"name: {written}").encode()).faults
    assert [str(found) for found in faults] == ([f"metadata.name: {fault}"] if fault else [])


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*SECTIONS, "name", "spec", "fixed"]), inner, max_size=4),
        max_leaves=8,
    ),
    st.sampled_from(["spec", "metadata", "apiVersion", *(f"spec.{section}" for section in SECTIONS), "spec.layers.0", "spec.workload.model"]),
)
def test_whatever_stands_somewhere_it_is_judged(value: Any, path: str) -> None:
    """No value anywhere is more than a fault; what is said without one is of the very document."""
    declaration = judged(yaml.dump(changed(benchmark_run("mixed"), {path: value}), Dumper=yaml.CSafeDumper).encode("utf-8", "surrogatepass"))
    assert (declaration.terms is None) == any(not fault.costs_grade for fault in declaration.faults)


def test_lines_are_those_of_the_part_or_of_what_is_around_it() -> None:
    lines = VALID.splitlines()
    at = {name: number for number, line in enumerate(lines, 1) for name in [line.strip()]}
    data = VALID.replace("minReplicates: 3", "minReplicates: 1").replace("    precision: fp8\n", "", 1).encode()
    found = {fault.path: fault.line for fault in judged(data).faults}
    shift = 1  # a line is gone above
    assert found == {"spec.workload.precision": at["workload:"], "spec.trials.minReplicates": at["minReplicates: 3"] - shift}


# --- wh validate ---------------------------------------------------------------------------------------------------


def test_wh_validate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "benchmark_run.yaml"
    file.write_text(VALID)
    assert main(["validate", str(file)]) == ExitCode.OK
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("valid: BenchmarkRun")
    document = changed(benchmark_run(), {"spec.trials.minReplicates": 1, "spec.workload.model": ""})
    file.write_text(text(document))
    line = next(number for number, line in enumerate(file.read_text().splitlines(), 1) if "minReplicates" in line)
    assert main(["validate", str(file)]) == ExitCode.FAILED
    out, err = capfd.readouterr()
    assert f"spec.trials.minReplicates: must be an integer >= 3  (line {line})" in out.splitlines()
    assert len(out.splitlines()) == 2 and "WH125" in err and str(file) in err
    assert main(["validate", str(file), "--json"]) == ExitCode.FAILED
    found = json.loads(capfd.readouterr()[0])
    assert found["valid"] is False and found["lines"][1] == line and found["document"] is None
    assert found["errors"] == ["spec.workload.model: expected non-empty string", "spec.trials.minReplicates: must be an integer >= 3"]


def test_wh_validate_shows_the_frozen_document(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(text(workload_spec()))
    assert main(["validate", "--json", str(file)]) == ExitCode.OK
    found = json.loads(capfd.readouterr()[0])
    assert (found["valid"], found["kind"], found["errors"]) == (True, WORKLOAD_SPEC, [])
    assert found["document"] == workload_spec() and found["declared_spec_digest"] == workload_spec_digest(workload_spec())
    assert found["summary"]["cadence"] == "nightly"


def test_wh_validate_of_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(tmp_path / "gone.yaml")]) == ExitCode.USAGE
    assert "WH004" in capfd.readouterr()[1]


# --- the archive ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archive() -> Path:
    return unpacked_evidence("aisp")


def test_the_templates_of_the_archive(archive: Path) -> None:
    """What their own validator said of the first is beside them: valid, no errors."""
    templates = archive / "mistobaan_fork_f739a3b" / "code" / "templates"
    said = json.loads((archive / "validate_benchmark_run_output.json").read_text())
    run = judged((templates / "benchmark_run.yaml").read_bytes())
    assert (not run.faults, [str(fault) for fault in run.faults]) == (said["valid"], said["errors"])
    assert run.terms is not None and run.terms.benchmark_grade == said["summary"]["benchmark_class"]
    assert run.terms.scheduler_path == said["summary"]["scheduler_path"]
    for path in (templates / "benchmark_workload_spec.yaml", *(archive / "cfregly_head").glob("*workload_spec.yaml")):
        spec = judged(path.read_bytes())
        assert (spec.kind, spec.faults) == (WORKLOAD_SPEC, ())
        assert spec.document is not None and json.loads(spec.document) == yaml.safe_load(path.read_text())
    for name in ("performance_intake.yaml", "performance_warehouse_contract.yaml"):  # they declare no run
        assert judged((templates / name).read_bytes()).faults


def test_the_archives_template_broken_the_same_way(archive: Path) -> None:
    """The template, made one of the mixed type; those of the changes that are at no place of our own lists, nor of a scheduler."""
    template = changed(
        yaml.safe_load((archive / "mistobaan_fork_f739a3b/code/templates/benchmark_run.yaml").read_text()),
        {"spec.intent.workloadType": "mixed", "spec.metrics.training.enabled": True},
    )
    template["spec"]["sinks"]["curatedWarehouse"]["layout"]["facts"].append("training_outcome_fact")
    assert judge(template).faults == ()
    cases = [
        (changes, path) for changes, path, _ in BROKEN
        if not any(step.isdigit() or step == "schedulerPath" for key in changes for step in key.split("."))
    ]
    assert len(cases) > 40
    wrong = [path for changes, path in cases if [fault.path for fault in judge(changed(template, changes)).faults] != [path]]
    assert wrong == []
