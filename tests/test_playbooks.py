"""The standard playbooks on evidence in real formats whose cause is known: explain names the cause first; without its family it says that evidence
is missing, and names no other cause."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from exhaustive import few
from once import once
from samples import playbooks as sample
from standard import standard_project

from warehouse.analysis.explain.explanation import BROKEN, FOUND, MISSING, NOT_FOUND, Answer, Explanation, explain
from warehouse.cli.main import main
from warehouse.project.project import Project, read_project

FEEDS = {
    "play_run": """\
feeds: benchmark_run
*/
select
    run_id,
    case_id as benchmark_case_id,
    bundle.artifact_manifest_digest,
    run_id || '/' as raw_folder,
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
    throughput as output_token_throughput_per_s,
    case run_id when 'requests-slow' then 900 when 'requests-base' then 10 end::double as queueing_delay_ms
""",
    "play_request": """\
feeds: request
*/
select
    run_id,
    bundle.artifact_manifest_digest,
    'chat' as workload_point,
    0::bigint as request_index,
    'failed' as status,
    '[Errno -3] Temporary failure in name resolution' as error
""",
    "play_step": """\
feeds: step
*/
select
    run_id,
    bundle.artifact_manifest_digest,
    position::bigint as position,
    'train' as phase,
    'step' as covers,
    if(position < 3 and run_id = 'logged-slow', 30, 1 + position % 2 / 10)::double as step_time_s
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
OF_FEWER = {
    "play_request": "where run_id = 'requests-slow'\n",
    "play_step": "cross join generate_series(0, 39) as numbered (position)\nwhere case_id = 'logged'\n",
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
        grain = "run_id, artifact_manifest_digest" + (", position" if name == "play_step" else "")
        head = f"/*\ndescription: Runs as a family would state them.\ngrain: [{grain}]\n"
        (project.root / "models" / f"{name}.sql").write_text(head + select + stated + OF_FEWER.get(name, ""))
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
    one, *_ = [each for each in found.answers if each.check.name == check]  # gpu_throttling is of two playbooks
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
    assert worst.raw_path == "answer.json" and worst.artifact_manifest_digest and 0 < worst.score <= 1 and worst.observed is not None


@pytest.mark.parametrize(("case", "playbook", "check"), few(CAUSES, 3))
def test_without_its_family_the_evidence_is_missing(case: str, playbook: str, check: str) -> None:
    found = explained(f"{case}-blind", f"{case}-base")
    assert found.is_suspected(playbook)
    assert answer(found, check).state == MISSING
    assert found.causes() == []


@pytest.mark.parametrize(
    ("case", "playbook", "checks"),
    [("t-queue", "tail_latency_regression", sample.TAIL_CAUSES), ("w-cpu", "low_gpu_utilization", sample.WAITING_CAUSES)],
)
def test_a_run_like_its_baseline_has_no_cause(case: str, playbook: str, checks: dict[str, str]) -> None:
    found = explained(f"{case}-fine", f"{case}-base")
    assert found.suspicion(playbook) == "not suspected"
    assert {name: answer(found, name).state for name in checks.values()} == dict.fromkeys(checks.values(), NOT_FOUND)
    assert found.causes() == []


def test_figures_of_the_evidence_are_in_the_statements() -> None:
    def worst(run: str, check: str) -> tuple[str, str]:
        finding = answer(explained(f"{run}-slow", f"{run}-base"), check).findings[0]
        return finding.subject, finding.statement

    assert worst("t-cfs", "pod_cpu_throttling") == (
        "pod server-t-cfs-0", "its CPU was throttled in 60 % of the scheduling periods, in the baseline in 1 %"
    )
    assert worst("t-kv", "kv_cache_pressure")[1] == "it preempted 60 requests, in the baseline 0"
    assert worst("w-input", "input_pipeline")[1] == "it waited for input for 50 % of the time, in the baseline 1 %"
    assert worst("w-cpu", "cpu_throttling_or_saturation")[1] == "its CPUs were busy for 99 % of the time, in the baseline 40 %"


def test_another_node_pool_shows_whether_the_tail_is_of_the_place() -> None:
    found = explained("pool-slow", "pool-base")
    assert [each.check.name for each in found.causes()] == ["dedicated_node_pool"]
    (finding,) = found.causes()[0].findings
    assert (finding.observed, finding.expected, finding.score) == (2000, 420, pytest.approx(1580 / 1600))
    assert answer(explained("everywhere-slow", "everywhere-base"), "dedicated_node_pool").state == NOT_FOUND
    assert answer(explained("lone-slow", "lone-base"), "dedicated_node_pool").state == MISSING


def test_a_rerun_with_cached_input_tells_the_input_from_the_code() -> None:
    found = explained("cached-slow", "cached-base")
    assert [each.check.name for each in found.causes()] == ["cached_input_rerun"]
    (finding,) = found.causes()[0].findings
    assert (finding.observed, finding.expected, finding.score) == (700, 990, pytest.approx(290 / 300))
    assert answer(explained("code-slow", "code-base"), "cached_input_rerun").state == NOT_FOUND
    assert answer(explained("w-cpu-slow", "w-cpu-base"), "cached_input_rerun").state == MISSING


def test_events_of_kubernetes_show_restarts_and_failing_dns() -> None:
    found = explained("events-slow", "events-base")
    assert [each.check.name for each in found.causes()] == ["autoscaling_or_restart", "dns_resolution"]
    own, neighbour = found.causes()[0].findings
    assert (own.subject, own.score, neighbour.subject, neighbour.score) == ("pod server-events-0", 1, "pod coredns-abc", 0.5)
    assert own.statement == "BackOff, 50 s after the start of the run: Back-off restarting failed container main"
    fine = explained("events-fine", "events-base")  # its pod started before the run, as each pod does
    assert answer(fine, "autoscaling_or_restart").state == NOT_FOUND and fine.causes() == []


def test_dns_that_fails_in_a_cluster_that_the_run_is_not_known_to_be_in_is_not_its_cause() -> None:
    found = answer(explained("bystander-slow", "bystander-base"), "dns_resolution")
    assert (found.state, found.findings[0].subject) == (MISSING, "coredns-abc")
    assert found.said.endswith("; nothing shows that the run was in this cluster")


def test_traces_of_a_server_show_its_queue() -> None:
    found = explained("traces-slow", "traces-base")
    assert [each.check.name for each in found.causes()] == ["request_queue_time"]
    worst = found.causes()[0].findings[0]
    assert (worst.observed, worst.expected) == (pytest.approx(1500), pytest.approx(10))


def test_kernel_logs_show_faults_of_the_node_and_that_there_were_none() -> None:
    found = explained("kernel-slow", "kernel-base")
    finding, link = sorted(answer(found, "node_faults").findings, key=lambda each: "Link down" in each.statement)
    assert link.statement.startswith("1 message of the kernel")
    assert (finding.is_found, finding.subject, finding.raw_path) == (True, "node node-kernel", "journal.log")
    assert finding.statement.startswith("1 message of the kernel, the first: mce: [Hardware Error]: CPU 3: Machine Check")
    (xid,) = answer(found, "gpu_faults").findings
    assert (xid.is_found, xid.observed) == (True, 79) and "GPU has fallen off the bus" in xid.statement
    fine = explained("kernel-fine", "kernel-base")
    assert {name: answer(fine, name).state for name in ("node_faults", "gpu_faults")} == {"node_faults": NOT_FOUND, "gpu_faults": NOT_FOUND}


@pytest.mark.parametrize(
    ("run", "check", "not_found", "missing"),
    [
        ("k-quota", "cluster_queue_pressure", {"admission_checks", "over_constrained", "evictions"}, {"fragmentation"}),
        ("k-affinity", "over_constrained", {"cluster_queue_pressure", "admission_checks", "evictions"}, {"fragmentation"}),
        ("k-checks", "admission_checks", {"cluster_queue_pressure", "evictions"}, {"fragmentation", "over_constrained"}),
        ("s-fragmented", "fragmentation", {"cluster_queue_pressure", "evictions"}, {"admission_checks", "over_constrained"}),
        ("s-drained", "fragmentation", {"cluster_queue_pressure", "evictions"}, {"admission_checks", "over_constrained"}),
        ("s-full", "cluster_queue_pressure", {"fragmentation", "evictions"}, {"admission_checks", "over_constrained"}),
        ("s-picky", "over_constrained", {"evictions"}, {"cluster_queue_pressure", "fragmentation", "admission_checks"}),
        ("s-evicted", "evictions", set(), {"cluster_queue_pressure", "fragmentation", "admission_checks", "over_constrained"}),
        ("k-blind", None, {"admission_checks", "evictions"}, {"cluster_queue_pressure", "fragmentation", "over_constrained"}),
        ("s-blind", None, {"evictions"}, {"cluster_queue_pressure", "fragmentation", "admission_checks", "over_constrained"}),
        ("k-unknown", None, set(), {"cluster_queue_pressure", "fragmentation", "admission_checks", "over_constrained", "evictions"}),
    ],
)
def test_why_a_job_waited(run: str, check: str | None, not_found: set[str], missing: set[str]) -> None:
    found = explained(run, "s-base" if run.startswith("s-") else "k-base")
    assert found.is_suspected("scheduler_backpressure")
    assert [each.check.name for each in found.causes()] == ([check] if check else [])
    states = {each.check.name: each.state for each in found.of_playbook("scheduler_backpressure", are_symptoms=False)}
    assert {name for name, state in states.items() if state == NOT_FOUND} == not_found
    assert {name for name, state in states.items() if state == MISSING} == missing


def test_a_job_that_hardly_waited_is_not_suspected() -> None:
    found = explained("k-base", "s-blind")
    assert found.suspicion("scheduler_backpressure") == "not suspected" and found.causes() == []


def test_the_answers_are_the_same_each_time() -> None:
    once_more = explain(project(), "w-network-slow", ["w-network-base"])
    assert once_more.answers == explained("w-network-slow", "w-network-base").answers
    assert answer(once_more, "network_stalls").state == FOUND
