"""Facts of schedulers and clusters: the archives' jobs, events and nodes as they are known to be, snapshots of a Workload merged, and all
families together in one warehouse."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import unpacked_evidence
from samples import kserve, kubernetes, kueue, slurm
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

Sql = Callable[[str], list[dict[str, Any]]]


def at(*moment: int) -> datetime:
    return datetime(2026, 3, 2, *moment, tzinfo=UTC)


def sql_of(root: Path, *evidence: Path) -> Sql:
    project = standard_project(root)
    for path in evidence:
        ingest(plan_ingest(path, load_ingestors(project).values(), project.store_root), open_store(project), "evidence")
        assert not build(project).damaged
    warehouse = Warehouse(project)
    return lambda query: warehouse.sql(query).to_pylist()


@pytest.fixture(scope="module")
def archives(telemetry_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Sql:
    return sql_of(tmp_path_factory.mktemp("archives") / "p", unpacked_evidence("scheduler"), telemetry_evidence)


@pytest.mark.exhaustive
def test_the_workload_of_issue_2213(archives: Sql) -> None:
    (job,) = archives("select * from scheduler_job_fact where scheduler = 'kueue'")
    assert (job["submitted_at"], job["quota_reserved_at"], job["admitted_at"]) == (
        datetime(2024, 5, 17, 14, 2, 54, tzinfo=UTC), datetime(2024, 5, 17, 14, 2, 55, tzinfo=UTC), datetime(2024, 5, 17, 14, 6, 40, tzinfo=UTC)
    )
    # 226 s from creation to admission: 1 s for quota, the rest for the ProvisioningRequest.
    assert (job["queue_wait_s"], job["admission_wait_s"], job["admission_checks_wait_s"]) == (1, 226, 225)
    assert (job["zone"], job["resource_flavor"], job["cluster_queue"], job["queue"]) == (
        "us-central1-a", "default-flavor", "dws-cluster-queue", "dws-jobs"
    )
    assert (job["started_at"], job["ended_at"], job["state"], job["job_uid"]) == (None, None, "deleted", "8f1ec3b1-1865-4bee-b9c6-db8cde6b22bf")


@pytest.mark.exhaustive
def test_slurm_jobs_of_the_archive(archives: Sql) -> None:
    jobs = {row["scheduler_run_id"]: row for row in archives("select * from scheduler_job_fact where scheduler = 'slurm'")}
    failed = jobs["201729"]  # submitted one day, started the next, ended the day after
    assert (failed["state"], failed["state_reason"], failed["queue_wait_s"], failed["gpu_count"]) == ("FAILED", "Dependency", 16356, 1024)
    assert (failed["exit_code"], failed["is_zone_assumed"], failed["node_count"]) == (6, True, 128)
    assert (jobs["201844"]["state"], jobs["201844"]["evictions"], jobs["201844"]["queue_wait_s"]) == ("REQUEUED", 1, 1)
    array = jobs["6539485"]  # only steps of it are stated
    assert (array["displayed_id"], array["state"], array["ended_at"], array["queue_wait_s"]) == ("6539191_195", "RUNNING", None, None)
    pending = jobs["58948420"]
    assert (pending["state"], pending["started_at"], pending["queue_wait_s"], pending["is_zone_assumed"]) == ("PENDING", None, None, False)
    running = jobs["26515966"]
    assert (running["queue_wait_s"], running["ended_at"], running["cluster"]) == (21, None, "rivos")
    assert jobs["8401413"]["queue_wait_s"] == 2175
    (count,) = archives("select count(*) as nodes from staging.scheduler_allocation where scheduler_run_id = '8401413' and gpu_indexes = '0-7'")
    assert count["nodes"] == 8
    assert archives("select count(*) as n from staging.scheduler_allocation where scheduler_run_id = '201729'")[0]["n"] == 128


@pytest.mark.exhaustive
def test_queue_pressure_of_the_archive(archives: Sql) -> None:
    (controller,) = archives("select * from scheduler_queue_fact where pending_workloads is not null and queue is null")
    assert (controller["pending_workloads"], controller["admitted_workloads"]) == (13455, 4993)
    assert controller["sampled_at"] == datetime.fromtimestamp(1698885571, UTC)
    waiting = archives("select queue, pending_workloads, admitted_workloads from scheduler_queue_fact where queue like 'hw-%' order by queue")
    assert [tuple(row.values()) for row in waiting] == [("hw-l", 0, 1), ("hw-m", 1, 0)]
    (hw,) = archives("select * from scheduler_queue_fact where queue = 'hw'")
    assert [hw[f"{state}_nodes"] for state in ("idle", "allocated", "mixed", "down", "drained")] == [1, 1, 1, 1, 0]


@pytest.mark.exhaustive
def test_events_and_nodes_of_the_archive(archives: Sql) -> None:
    both = archives("select code, event_at, count, age_text from cluster_event_fact where pod_name = 'giant-narwhal-6958c5bdd8-69gtn' order by code")
    assert ("BackOff", None, 256, "3m30s (since 58m)") in [tuple(row.values()) for row in both]
    assert {row["event_at"] for row in both} == {None}
    (scheduled,) = archives("select * from cluster_event_fact where message like '%no-image-deployment%to minikube' and code = 'Scheduled'")
    assert (scheduled["event_at"], scheduled["node_name"], scheduled["count"]) == (datetime(2023, 7, 11, 5, 34, 44, 764227, UTC), "minikube", None)
    pulls = archives("select distinct event_class from cluster_event_fact where code = 'Failed' and message ilike '%image%'")
    assert pulls == [{"event_class": "image"}]
    nodes = archives("select node_name, gpu_count, gpu_product, gpu_driver from node_state_fact where source = 'kubernetes' and gpu_count > 0")
    assert [tuple(row.values()) for row in nodes] == [("ip-172-31-21-92", 1, "Tesla-T4", "550.127.08")]
    assert archives("select count(*) as n from node_state_fact where source = 'kubernetes' and is_ready")[0]["n"] == 7


@pytest.mark.exhaustive
def test_health_captures_of_the_archive(archives: Sql) -> None:
    """GCM's tests hold the same pairs of good and bad captures."""
    found = archives("select raw_path, code, object_name from cluster_event_fact where source = 'node_health'")
    codes: dict[str, set[tuple[str, str]]] = {}
    for row in found:
        codes.setdefault(row["raw_path"], set()).add((row["code"], row["object_name"]))
    assert codes["cache_downlink.json"] == {("pcie-degraded", "0000:c3:00.0")}
    assert codes["compute_samsung980pro-downgraded.json"] == {("pcie-degraded", "0000:8d:00.0")}
    assert ("interface-down", "enp225s0f0") in codes["eth_learn_down_intf.json"]
    assert ("interface-missing", "enp225s0f0") in codes["eth_learn_missing_intf.json"]
    assert {("interface-slow", "enp225s0f0"), ("interface-slow", "enp97s0f0")} < codes["eth_learn_degraded_intf.json"]
    assert {("interface-mtu", "enp225s0f0"), ("interface-mtu", "front0")} < codes["eth_learn_mtu_bad.json"]
    assert ("interface-address", "enp97s0f0") in codes["eth_learn_nic_swap.json"]
    good = {"eth_learn_good.json", "learn_good.json", "cache_rome_good.json", "cache_milan_good.json", "compute_samsung980pro.json"}
    assert not good & codes.keys()


def test_snapshots_of_a_workload_are_merged(tmp_path: Path) -> None:
    """The first admission is in the first snapshot alone; the third one overwrote it."""
    kueue.write_yaml(tmp_path / "1/w.yaml", kueue.workload(*kueue.FIRST), kueue.PROVISIONING)
    kueue.write_list(tmp_path / "2/w.json", kueue.workload(*kueue.EVICTED, version=200))
    kueue.write_yaml(tmp_path / "3/w.yaml", kueue.workload(*kueue.AGAIN, version=300))
    late = kueue.workload(*kueue.AGAIN, version=300, uid="0a1b2c3d-0000-4000-8000-000000000002")
    kueue.write_yaml(tmp_path / "4/w.yaml", late)
    sql = sql_of(tmp_path / "p", *(tmp_path / name for name in "3142"))
    whole, lost = sql("select * from scheduler_job_fact order by scheduler_run_id")
    assert (whole["quota_reserved_at"], whole["admitted_at"], whole["started_at"]) == (at(8, 0, 5), at(8, 1, 45), at(8, 2))
    assert (whole["queue_wait_s"], whole["admission_checks_wait_s"], whole["evictions"], whole["is_history_lost"]) == (5, 100, 1, False)
    assert (whole["state"], whole["zone"], whole["gpu_count"]) == ("admitted", "europe-west4-b", 8)
    assert (lost["quota_reserved_at"], lost["queue_wait_s"], lost["admission_wait_s"]) == (at(9, 10), None, None)
    assert (lost["is_history_lost"], lost["evictions"], lost["state"]) == (True, 1, "admitted")
    events = sql("select code, event_at, event_class from cluster_event_fact where source = 'kueue' order by code")
    assert [tuple(event.values()) for event in events] == [("Evicted", at(8, 30), "eviction"), ("Preempted", at(8, 30), "preemption")]


# The conditions of a workload; its state, and why.
CONDITIONS = (
    (kueue.EVICTED[1:3], "preempted", "InClusterQueue"), (kueue.EVICTED, "pending", "NoReservation"), (kueue.FIRST, "running", "PodsReady"),
    ((*kueue.FIRST, kueue.condition("Finished", "True", "09:00:00", "Succeeded")), "finished", "Succeeded"), ((), "pending", None),
    ((*kueue.FIRST[:2], kueue.condition("Evicted", "True", "08:01:45", "PodsReadyTimeout")), "evicted", "PodsReadyTimeout"),
    # Admitted again in the second of its reservation: Kueue sets Evicted and Preempted to False where they stand, last in the list.
    (kueue.READMITTED, "admitted", "Admitted"), ((*kueue.READMITTED, kueue.condition("PodsReady", "True", "09:12:00")), "running", "PodsReady"),
    ((*kueue.READMITTED, kueue.condition("PodsReady", "True", "08:02:00")), "admitted", "Admitted"),  # of the attempt before
    ((*kueue.EVICTED, kueue.condition("Requeued", "True", "08:31:00", "BackoffFinished")), "pending", "BackoffFinished"),
)


# The workloads that hold the conditions are in these files.
UIDS = tuple(f"0a1b2c3d-0000-4000-8000-{100 + number:012}" for number in range(len(CONDITIONS)))
# When squeue says that a job was submitted; the state, wait and evictions of the job.
SUBMITTED = ((1772400000, "COMPLETED", 600, 0), (1772407201, "RUNNING", 599, 1))


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Sql:
    """Jobs of several tests, each with numbers of its own."""
    top = tmp_path_factory.mktemp("jobs")
    again = (kueue.condition("QuotaReserved", "False", "10:00:01", "Pending"), kueue.condition("Evicted", "True", "10:00:00", "Preempted"))
    kueue.write_yaml(top / "e/evicted/a.yaml", kueue.workload(*kueue.AGAIN, version=300))
    kueue.write_yaml(top / "e/evicted/b.yaml", kueue.workload(*again, version=400))
    for uid, (conditions, _, _) in zip(UIDS, CONDITIONS, strict=True):
        kueue.write_yaml(top / f"e/conditions/{uid}.yaml", kueue.workload(*conditions, uid=uid))
    first = slurm.JOB | {"State": "REQUEUED", "Submit": "2026-03-01T20:00:00", "Start": "2026-03-01T20:30:00", "End": "2026-03-01T23:50:00"}
    scontrol = slurm.SCONTROL.partition("\nNodeName")[0].replace("JobId=601 ArrayJobId=600 ArrayTaskId=1", "JobId=501").replace("n[01-02,05]", "n[08-10]")
    scontrol = scontrol.replace("2026-03-02T08:00:00", "2026-03-01T23:50:00").replace("2026-03-02T08:30:00", "2026-03-01T23:58:20")
    local = {"Submit": "2026-03-01T23:20:00", "Eligible": "2026-03-01T23:20:00", "Start": "2026-03-01T23:30:00", "End": "2026-03-02T00:30:00"}
    running = [
        slurm.SQUEUE["jobs"][0] | {"job_id": 701 + number, "restart_cnt": 0, "submit_time": slurm.number(submitted), "start_time": slurm.number(submitted + wait)}
        for number, (submitted, _, wait, _) in enumerate(SUBMITTED)
    ]
    numbered = [slurm.JOB | {"JobID": str(job), "JobIDRaw": str(job)} for job in (701, 702, 901)]
    for name, text in {
        "several/sacct.txt": slurm.sacct(first, slurm.JOB, slurm.STEP, slurm.CANCELLED),
        "several/early.txt": slurm.sacct(slurm.JOB | {"State": "RUNNING", "End": "Unknown"}),
        "several/scontrol.txt": scontrol + "\n",
        "json/sacct.json": json.dumps(slurm.SACCT_JSON),
        "json/bare.txt": "JobID|State|NodeList\n977|COMPLETED|n01\n",
        "local/squeue.json": json.dumps(slurm.SQUEUE | {"jobs": running}),
        "local/sacct.txt": slurm.sacct(*(job | local for job in numbered[:2])),
        "negative/sacct.txt": slurm.sacct(numbered[2] | {"Start": "2026-03-01T22:58:20"}),  # a clock that was set back
    }.items():
        (top / "e" / name).parent.mkdir(parents=True, exist_ok=True)
        (top / "e" / name).write_text(text)
    return sql_of(top / "p", top / "e")


def job_of(jobs: Sql, number: str) -> dict[str, Any]:
    (job,) = jobs(f"from scheduler_job_fact where scheduler_run_id = '{number}'")
    return job


def test_an_eviction_before_the_first_snapshot_is_not_forgotten(jobs: Sql) -> None:
    """The second attempt, and its eviction: Evicted was False at 09:10, so there was an eviction before, and no first wait is known."""
    job = job_of(jobs, kueue.UID)
    assert (job["queue_wait_s"], job["admission_wait_s"], job["is_history_lost"], job["evictions"]) == (None, None, True, 2)


def test_the_conditions_decide_the_state(jobs: Sql) -> None:
    found = [(job["state"], job["state_reason"]) for job in (job_of(jobs, uid) for uid in UIDS)]
    assert found == [(state, reason) for _, state, reason in CONDITIONS]


def test_a_job_in_several_outputs_is_one(jobs: Sql) -> None:
    """The queue's record lacks the end, the controller's the cluster; a requeued job has the wait of its last attempt."""
    job, cancelled = job_of(jobs, "501"), job_of(jobs, "510")
    assert (job["cluster"], job["state"], job["queue_wait_s"], job["evictions"]) == ("c1", "COMPLETED", 500, 2)
    assert (job["ended_at"], job["gpu_count"], job["nodes"]) == (at(1, 10, 40), 24, "n[08-10]")
    assert (cancelled["displayed_id"], cancelled["started_at"], cancelled["queue_wait_s"]) == ("502_7", None, None)
    nodes = jobs("select node_name, ended_at from staging.scheduler_allocation where scheduler_run_id in ('501', '510') order by node_name")
    assert [(row["node_name"], row["ended_at"]) for row in nodes] == [("n08", at(1, 10, 40)), ("n09", at(1, 10, 40)), ("n10", at(1, 10, 40))]


def test_accounting_as_json_has_the_waits_of_accounting(jobs: Sql) -> None:
    """Submitted at 21:20:00 UTC and started 600 s later; a job that waits has no start, and nothing says how often one without a submission began."""
    (pending,) = jobs("from scheduler_job_fact where state = 'PENDING' and scheduler = 'slurm'")
    job, bare = job_of(jobs, "801"), job_of(jobs, "977")
    start = datetime(2026, 3, 1, 21, 30, tzinfo=UTC)
    assert (job["displayed_id"], job["cluster"], job["state"]) == ("800_7", "c1", "COMPLETED")
    assert (job["queue_wait_s"], job["started_at"], job["is_zone_assumed"], job["gpu_count"]) == (600, start, False, 16)
    assert (job["node_count"], job["exit_code"], job["evictions"], job["user_name"]) == (2, 1, 0, "ada")
    assert (pending["queue_wait_s"], pending["nodes"]) == (None, None)
    assert (bare["queue_wait_s"], bare["evictions"]) == (None, None)
    assert [row["node_name"] for row in jobs("from staging.scheduler_allocation where scheduler_run_id = '801' order by node_name")] == ["n01", "n02"]


@pytest.mark.parametrize("number", range(len(SUBMITTED)))
def test_local_time_is_no_other_attempt(jobs: Sql, number: int) -> None:
    """squeue states 21:20 UTC, sacct on a machine two hours ahead 23:20: one submission, which waited 600 s. 23:20:01 UTC is another one."""
    _, state, wait, evictions = SUBMITTED[number]
    job = job_of(jobs, str(701 + number))
    assert (job["state"], job["queue_wait_s"], job["evictions"], job["is_zone_assumed"]) == (state, wait, evictions, state == "COMPLETED")


def test_a_negative_wait_is_an_issue(jobs: Sql) -> None:
    job = job_of(jobs, "901")
    assert (job["queue_wait_s"], job["has_negative_wait"]) == (None, True)
    assert jobs("select severity, code from ingest_issue where code = 'negative-wait'") == [{"severity": "warning", "code": "negative-wait"}]


def test_nodes_of_several_listings_are_counted_once(tmp_path: Path) -> None:
    """sinfo in a loop, and nodes with their partition in one output: two nodes are two. A node that saves power is not down."""
    (tmp_path / "e").mkdir()
    (tmp_path / "e/loop.txt").write_text(slurm.TABLE + slurm.TABLE)
    (tmp_path / "e/scontrol.txt").write_text(slurm.CLOUD)
    sql = sql_of(tmp_path / "p", tmp_path / "e")
    found = sql("from scheduler_queue_fact order by raw_path, queue, raw_offset")
    assert [(row["queue"], row["node_count"], row["mixed_nodes"], row["drained_nodes"], row["idle_nodes"], row["down_nodes"]) for row in found] == [
        ("cpu", 4, 0, 0, 4, 0), ("cpu", 4, 0, 0, 4, 0), ("gpu", 9, 7, 2, 0, 0), ("gpu", 9, 7, 2, 0, 0), ("cloud", 2, 0, 1, 1, 0),
    ]
    assert found[-1]["nominal_quota"] == 16
    assert {row["node_name"]: (row["state"], row["is_ready"]) for row in sql("from node_state_fact")} == {
        "p01": ("IDLE+CLOUD+POWERED_DOWN", True), "p02": ("DOWN+DRAIN", False),
    }
    assert [(row["code"], row["node_name"]) for row in sql("from cluster_event_fact")] == [("NODE_DRAIN", "p02")]


def test_all_families_together(tmp_path: Path) -> None:
    for name, module in {"slurm": slurm, "kueue": kueue, "kubernetes": kubernetes, "kserve": kserve}.items():
        module.write_all(tmp_path / "e" / name)
    sql = sql_of(tmp_path / "p", tmp_path / "e")
    assert sql("select code, message from ingest_issue where severity = 'error'") == []
    (pod,) = sql("select * from staging.scheduler_allocation where pod_uid is not null")
    assert (pod["scheduler"], pod["scheduler_run_id"], pod["node_name"], pod["service_name"]) == ("kueue", kueue.UID, "gpu-node-1", "llama")
    assert (pod["started_at"], pod["ended_at"], pod["gpu_count"]) == (at(8, 2), None, 4)
    killed = sql("select event_at, event_class, node_name, pod_uid, severity from cluster_event_fact where code = 'OOMKilled'")
    assert [tuple(row.values()) for row in killed] == [(at(8, 14, 30), "oom", "gpu-node-1", kubernetes.POD_UID, "error")]
    lost = sql("select node_name, event_at, last_seen_at, event_class from cluster_event_fact where code = 'NodeNotReady'")
    assert [tuple(row.values()) for row in lost] == [("gpu-node-1", at(8, 10), at(8, 20), "node_not_ready")]
    drained = sql("select node_name, state, is_ready, reason from node_state_fact where source = 'slurm' and not is_ready order by node_name, state")
    assert [(row["node_name"], row["state"]) for row in drained] == [("n01", "MIXED+DRAIN"), ("n02", "IDLE+DRAIN"), ("n03", "DOWN+NOT_RESPONDING")]
    queues = sql("select queue, resource, nominal_quota, used, pending_workloads from scheduler_queue_fact where scheduler = 'kueue' order by all")
    assert [tuple(row.values()) for row in queues] == [
        ("lab-queue", "nvidia.com/gpu", None, 16, 9), (None, "cpu", 1.5, None, 17), (None, "nvidia.com/gpu", 64, 56, 17)
    ]
    (waiting,) = sql("select queue, pending_workloads, admitted_workloads, sampled_at from scheduler_queue_fact where raw_path = 'squeue.json'")
    assert tuple(waiting.values()) == ("gpu", 1, 1, datetime.fromtimestamp(1772401000, UTC))
    services = sql("select name, serving_path, is_ready, not_ready_reason from mart.kserve_service_state order by name")
    assert [tuple(row.values()) for row in services] == [
        ("deepseek", "kserve-llm", False, "NotReady: Ready is False"), ("iris", None, None, None), ("llama", "kserve-standard", True, None)
    ]


def test_an_event_in_two_snapshots_is_one(tmp_path: Path) -> None:
    for number, count in enumerate((12, 15)):
        document = json.loads(json.dumps(kubernetes.EVENTS))
        document["items"][1] |= {"count": count}
        document["items"][1]["metadata"]["resourceVersion"] = str(10 + number)
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "events.json").write_text(json.dumps(document))
    sql = sql_of(tmp_path / "p", tmp_path / "0", tmp_path / "1")
    assert sql("select code, count from cluster_event_fact order by code") == [
        {"code": "BackOff", "count": 15}, {"code": "FailedScheduling", "count": 3}, {"code": "Scheduled", "count": None}
    ]


def test_steps_without_their_job_have_the_worst_state_and_the_whole_time(tmp_path: Path) -> None:
    steps = [
        slurm.STEP | {"JobID": "700.extern", "JobIDRaw": "700.extern", "State": "COMPLETED", "Start": "2026-03-01T10:00:00", "End": "2026-03-01T11:30:00"},
        slurm.STEP | {"JobID": "700.batch", "JobIDRaw": "700.batch", "State": "FAILED", "Start": "2026-03-01T10:05:00", "End": "2026-03-01T11:00:00", "ExitCode": "1:0"},
        slurm.STEP | {"JobID": "701.extern", "JobIDRaw": "701.extern"}, slurm.STEP | {"JobID": "701.0", "JobIDRaw": "701.0", "State": "RUNNING", "End": "Unknown"},
    ]
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/sacct.txt").write_text(slurm.sacct(*steps))
    sql = sql_of(tmp_path / "p", tmp_path / "tree")
    found = sql("select scheduler_run_id, state, exit_code, started_at, ended_at from scheduler_job_fact order by all")
    assert [tuple(row.values()) for row in found] == [
        ("700", "FAILED", 1, datetime(2026, 3, 1, 10, tzinfo=UTC), datetime(2026, 3, 1, 11, 30, tzinfo=UTC)),
        ("701", "RUNNING", None, datetime(2026, 3, 1, 23, 58, 20, tzinfo=UTC), None),
    ]
