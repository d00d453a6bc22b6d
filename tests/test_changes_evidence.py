"""`wh compare` and `wh changes` on real evidence: the slowdown of Thoth's conv2d inspections, and a slow pair of an NCCL campaign."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import WhOn, unpacked_evidence
from samples import fabric_check
from standard import standard_project

from warehouse.analysis.changes import changes
from warehouse.analysis.compare import compare
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.statistics.interval import Interval
from warehouse.transform.build.build import build

# As much of Amun's result files as these tests need, read by an ingestor of the project's own.
_INGESTOR = '''
import json
from datetime import datetime, timezone

import pyarrow as pa
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.rows import RUN_ID, RowBuffer, landing_schema, workload_columns

TEXTS = ("name", "component", "script", "kernel", "cpu", "document", "digest")
TABLES = {
    "amun_run": landing_schema(
        RUN_ID, pa.field("moment", pa.timestamp("us", tz="UTC")), pa.field("switches", pa.int64()),
        *(pa.field(name, pa.float64()) for name in ("user_s", "system_s")), *(pa.field(name, pa.string()) for name in TEXTS),
    ),
    "amun_value": landing_schema(RUN_ID, pa.field("kind", pa.string()), pa.field("key", pa.string()), pa.field("text", pa.string()), pa.field("number", pa.float64())),
}

class Amun:
    name, version, tables = "amun", 1, TABLES
    def bundles(self, tree):
        for path, file in tree.files.items():
            if path.endswith("/result") and "inspection-" in path:
                yield BundleDraft((DraftFile(path[path.index("inspection-"):], file),))
    def parse(self, bundle):
        buffer = RowBuffer(TABLES, bundle.digest)
        for path in bundle.manifest.by_path:
            data = bundle.read(path)
            document = json.loads(data)
            out, usage, info = document["stdout"], document["usage"], document["hwinfo"]
            run_id, at = f"amun/{path}", document.get("datetime") or document["start_datetime"]
            workload = workload_columns({"indicator": out["name"], "component": out["component"]})
            buffer.add(
                "amun_run", path, 0, len(data), run_id=run_id, moment=datetime.fromisoformat(at).replace(tzinfo=timezone.utc), switches=usage["ru_nivcsw"],
                user_s=usage["ru_utime"], system_s=usage["ru_stime"], name=out["name"], component=out["component"], script=document["script_sha256"],
                kernel=info["platform"]["release"], cpu=info["cpu_info"]["brand_raw"], document=workload["workload_document"],
                digest=workload["workload_spec_digest"],
            )
            values = [*(("parameter", *each) for each in out["@parameters"].items()), *(("result", *each) for each in out["@result"].items())]
            for kind, key, value in [*values, ("other", "hz_actual", info["cpu_features"]["hz_actual"][0])]:
                number = float(value) if isinstance(value, (int, float)) else None
                buffer.add("amun_value", path, 0, len(data), run_id=run_id, kind=kind, key=key, text=str(value), number=number)
        yield from buffer.rest()

INGESTOR = Amun()
'''
_PLACE = "run_id, artifact_manifest_digest"
_MODELS = {
    "amun_benchmark_run": (
        "benchmark_run", f"select {_PLACE}, name as benchmark_case_id, digest as workload_spec_digest, '' as raw_folder, 'amun' as family,"
        " 'performance' as mode, 'succeeded' as status, moment as started_at, switches as involuntary_context_switches, user_s as user_cpu_s,"
        " system_s as system_cpu_s from amun_run",
    ),
    "amun_workload": ("workload", f"select {_PLACE}, digest as workload_spec_digest, document as workload_document from amun_run"),
    "amun_software": ("software_version", f"select {_PLACE}, kernel as kernel_version from amun_run"),
    "amun_hardware": ("hardware_topology", f"select {_PLACE}, cpu as cpu_model from amun_run"),
    "amun_indicator": (
        "performance_indicator", "select value.run_id, value.artifact_manifest_digest, run.name as indicator, run.component, run.script as script_sha256,"
        " value.kind, value.key, 'json' as value_type, value.text as value_text, value.number as value_number from amun_value as value"
        " inner join amun_run as run on run.run_id = value.run_id and run.artifact_manifest_digest = value.artifact_manifest_digest",
    ),
}


def taken_in(project: Project, tree: Path) -> Project:
    report = ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    assert {problem.code for problem in report.problems} <= {"WH104"}  # links are not copied
    assert not build(project).damaged
    return project


@pytest.fixture(scope="module")
def thoth(tmp_path_factory: pytest.TempPathFactory) -> Project:
    evidence = unpacked_evidence("thoth")
    project = standard_project(tmp_path_factory.mktemp("thoth") / "project")
    (project.root / "ingest" / "amun.py").write_text(_INGESTOR)
    for name, (feed, sql) in _MODELS.items():
        (project.root / "models" / "staging").mkdir(parents=True, exist_ok=True)
        (project.root / "models" / "staging" / f"{name}.sql").write_text(f"/*\nfeeds: {feed}\n*/\n{sql}\n")
    return taken_in(project, evidence)


def test_the_slow_inspections_are_found_with_what_differs(thoth: Project, wh_on: WhOn) -> None:
    """12.7 to 15.1 ms in August 2020, and 86 to 102 ms three weeks later: another script, other parameters, a lower clock."""
    found = compare(thoth, "amun/*0f845f38*", "amun/*21090f6e*", metric="elapsed")
    (metric,) = found.metrics
    judged = metric.judged
    assert (judged.verdict, judged.outcome, judged.design.order, metric.is_exploratory) == ("suspected", "worse", "separate blocks", True)
    assert isinstance(judged.ratio, Interval)
    assert 5 < judged.ratio.low < judged.ratio.high < 9
    assert {"parameter reps", "parameter mini_batch", "script"} <= {*metric.variables}
    listed = {(each.kind, each.name): each for each in found.differences}
    assert {("script", "script_sha256"), ("parameter", "reps"), ("parameter", "mini_batch")} <= listed.keys()
    assert "software" not in {kind for kind, _ in listed}  # the two stacks are the same, kernel and all
    assert listed["reported", "hz_actual"].ratio == pytest.approx(2394375000 / 2693672000)
    assert (listed["host", "involuntary_context_switches_per_cpu_s"].ratio or 0) > 3
    status, out, _ = wh_on(thoth, "compare", "amun/*0f845f38*", "amun/*21090f6e*", "--fail-on", "suspected")
    assert status == 1 and "exploratory: more than one thing differs" in out and "reported hz_actual: " in out


def test_the_slow_inspections_are_a_finding_of_wh_changes(thoth: Project, wh_on: WhOn) -> None:
    found = changes(thoth, now=datetime(2020, 9, 1, tzinfo=UTC))
    elapsed = next(each for each in found.findings if each.first.metric == "elapsed")
    assert (elapsed.status, elapsed.outcome, elapsed.is_exploratory, elapsed.rule) == ("suspected", "worse", True, "succession 2")
    assert elapsed.last.run_id.startswith("amun/inspection-rhtf-conv2d-0f845f38") and elapsed.first.run_id.startswith("amun/inspection-rhtf-conv2d-21090f6e")
    names = {each.name for each in elapsed.differences}
    assert {"script_sha256", "hz_actual", "involuntary_context_switches_per_cpu_s"} <= names
    document = json.loads(wh_on(thoth, "changes", "--regressed", "--json")[1])
    assert {each["metric"] for each in document["findings"]} == {"elapsed", "rate"}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Project:
    top = tmp_path_factory.mktemp("campaign")
    fabric_check.write_campaign(top / "tree")
    return taken_in(standard_project(top / "project"), top / "tree")


def test_the_slow_pair_is_suspected_and_stands_out(campaign: Project) -> None:
    """5.76 GB/s where other pairs reach 13.5, as in the campaign whose logs the sample follows."""
    found = compare(campaign, "node!=gpu01,gpu04,point=alltoall*nodes 2*", "node=gpu01,gpu04,point=alltoall*nodes 2*", metric="avg_bus_bandwidth_gb_per_s")
    (metric,) = found.metrics
    assert (metric.judged.verdict, metric.judged.outcome) == ("suspected", "worse")
    assert ("machine", "host") in {(each.kind, each.name) for each in found.differences}
    slow = [each.measurement for each in changes(campaign).outliers if each.measurement.metric == "avg_bus_bandwidth_gb_per_s"]
    assert [(each.node, each.value) for each in slow] == [("gpu01,gpu04", 5.76)]
