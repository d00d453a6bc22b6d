"""The standard playbooks on evidence in real formats whose cause is known: explain names the cause first; without its family it says that evidence
is missing, and names no other cause."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from once import once
from samples import playbooks as sample
from standard import standard_project

from warehouse.analysis.explain.explanation import BROKEN, FOUND, MISSING, NOT_FOUND, Answer, Explanation, explain
from warehouse.cli.main import main
from warehouse.project import Project, read_project

FEEDS = {
    "play_run": """\
feeds: benchmark_run
*/
select
    run_id,
    case_id as benchmark_case_id,
    bundle.artifact_manifest_digest,
    '' as raw_folder,
    'made' as family,
    'performance' as mode,
    'succeeded' as status,
    case when scheduler_run_id is null then started_at end as started_at,
    case when scheduler_run_id is null then started_at + interval 120 second end as ended_at,
    node_name,
    pod_uid,
    scheduler_run_id,
    queue_wait_s
""",
    "play_outcome": """\
feeds: serving_outcome
*/
select
    run_id,
    bundle.artifact_manifest_digest,
    'chat' as workload_point,
    400::double as ttft_p50_ms,
    p99_ms as ttft_p99_ms,
    throughput as output_token_throughput_per_s
""",
    "play_region": """\
feeds: cluster_region
*/
select
    run_id,
    bundle.artifact_manifest_digest,
    'c1' as cluster,
    node_pool
""",
    "play_workload": """\
feeds: workload
*/
select
    run_id,
    bundle.artifact_manifest_digest,
    sha256(workload) as workload_spec_digest,
    if(workload = 'cached', '{"dataloader":"cached","model":"7b"}', '{"dataloader":"disk","model":"7b"}') as workload_document
""",
}
LOADER = """\
/*
description: Metrics of our data loader.
feeds: telemetry_metric
*/
select
    'prometheus' as source,
    'loader_wait_seconds_total' as source_metric,
    'input_wait_s' as metric,
    's' as unit,
    's' as source_unit,
    'counter' as kind,
    'pod' as scope
"""


def _make(folder: Path) -> None:
    project = standard_project(folder / "project")
    rows = ",\n    ".join(
        f"('{run.name}', '{run.case}', '{run.start}'::timestamptz, '{run.node}', '{run.pod_uid}', {_quoted(run.job)}, {run.p99_ms}::double,"
        f" {run.throughput}::double, {_quoted(run.pool)}, '{run.workload}', {run.queue_wait_s or 'null'}::double)"
        for run in (*sample.measured_runs(), *sample.waiting_runs())
    )
    stated = (
        f"from (values\n    {rows}\n) as made (run_id, case_id, started_at, node_name, pod_uid, scheduler_run_id, p99_ms, throughput, node_pool, workload,"
        " queue_wait_s)\ncross join (select min(artifact_manifest_digest) as artifact_manifest_digest from evidence_bundle) as bundle\n"
    )
    (project.root / "models").mkdir(exist_ok=True)
    for name, select in FEEDS.items():
        head = "/*\ndescription: Runs as a family would state them.\ngrain: [run_id, artifact_manifest_digest]\n"
        (project.root / "models" / f"{name}.sql").write_text(head + select + stated)
    (project.root / "models/loader.sql").write_text(LOADER)
    sample.write_evidence(folder / "evidence")
    for line in (["ingest", str(folder / "evidence")], ["build"]):
        assert main(["--project", str(project.root), *line]) == 0, line


def _quoted(text: str | None) -> str:
    return "null::varchar" if text is None else f"'{text}'"


def project() -> Project:
    return read_project(once("playbooks", _make) / "project")


@cache
def explained(run: str, baseline: str) -> Explanation:
    found = explain(project(), run, [baseline])
    assert [each.fault for each in found.answers if each.state == BROKEN] == []
    return found


def answer(found: Explanation, check: str) -> Answer:
    (one,) = [each for each in found.answers if each.check.name == check]
    return one


CAUSES = [
    *((f"t-{family}", "tail_latency_regression", check) for family, check in sample.TAIL_CAUSES.items()),
    *((f"w-{family}", "low_gpu_utilization", check) for family, check in sample.WAITING_CAUSES.items()),
]


@pytest.mark.parametrize(("case", "playbook", "check"), CAUSES)
def test_the_seeded_cause_is_named_first(case: str, playbook: str, check: str) -> None:
    found = explained(f"{case}-slow", f"{case}-base")
    assert found.is_suspected(playbook)
    first = found.causes()[0]
    assert (first.check.playbook, first.check.name) == (playbook, check), [(each.check.name, each.score) for each in found.causes()]
    worst = first.findings[0]
    assert worst.raw_path == "answer.json" and worst.artifact_manifest_digest and 0 < worst.score <= 1
    assert worst.observed is not None and f"-{case.split('-')[1]}" in worst.subject + case


@pytest.mark.parametrize(("case", "playbook", "check"), CAUSES)
def test_without_its_family_the_evidence_is_missing(case: str, playbook: str, check: str) -> None:
    found = explained(f"{case}-blind", f"{case}-base")
    assert found.is_suspected(playbook)
    assert answer(found, check).state in (MISSING, NOT_FOUND if check == "cpu_throttling_or_saturation" else MISSING)
    assert found.causes() == []


@pytest.mark.parametrize(("case", "playbook", "check"), CAUSES)
def test_a_run_like_its_baseline_has_no_cause(case: str, playbook: str, check: str) -> None:
    found = explained(f"{case}-fine", f"{case}-base")
    assert found.suspicion(playbook) == "not suspected"
    assert answer(found, check).state == NOT_FOUND
    assert found.causes() == []
