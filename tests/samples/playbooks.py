"""Runs with a seeded cause, and what exporters, schedulers and Kubernetes report of them, in their formats. All figures are made up.

Each scenario has a baseline and a slow run on a node of its own, a day apart. `blind` is the slow run without the evidence of its cause.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from samples import kueue, node_tools, otlp, slurm

START = datetime(2026, 11, 2, 10, 0, tzinfo=UTC)
SECONDS = 120
STEP = 15

Series = tuple[str, dict[str, str], Callable[[float], float]]  # name, labels, value at a second of the run


@dataclass(frozen=True)
class Run:
    """A run and how it performed. `signs` are the families of its evidence; those in `bad` show trouble."""

    name: str
    case: str
    day: int
    p99_ms: float
    throughput: float
    signs: frozenset[str] = frozenset()
    bad: frozenset[str] = frozenset()
    job: str | None = None
    pool: str | None = None
    workload: str = "plain"
    queue_wait_s: float | None = None

    @property
    def node(self) -> str:
        return f"node-{self.case}"

    @property
    def pod_uid(self) -> str:
        return f"pod-{self.name}"

    @property
    def start(self) -> datetime:
        return START + timedelta(days=self.day)


def _constant(value: float) -> Callable[[float], float]:
    return lambda _: value


def _rate(per_s: float) -> Callable[[float], float]:
    return lambda second: 1000 + per_s * second


def _histogram(name: str, labels: dict[str, str], shares: dict[str, float], mean: float) -> list[Series]:
    """Ten observations a second. `shares` are cumulative, by upper bound."""
    buckets: list[Series] = [(f"{name}_bucket", labels | {"le": bound}, _rate(10 * share)) for bound, share in shares.items()]
    return [*buckets, (f"{name}_count", labels, _rate(10)), (f"{name}_sum", labels, _rate(10 * mean))]


def _of_family(family: str, run: Run, is_bad: bool) -> list[Series]:
    node = {"node": run.node}
    pod = node | {"pod": f"server-{run.case}-0", "namespace": "lab", "container": "main"}
    gpu = {"UUID": f"GPU-{run.case}", "Hostname": run.node, "gpu": "0"}
    server = node | {"model_name": "acme/7b", "engine": "0"}

    def either(bad: float, good: float) -> float:
        return bad if is_bad else good

    if family == "queue":
        shares = {"0.01": either(0.5, 0.9), "0.1": either(0.6, 1), "1": 1, "+Inf": 1}
        return _histogram("vllm:request_queue_time_seconds", server, shares, either(0.3, 0.005))
    if family == "cfs":
        return [
            ("container_cpu_cfs_periods_total", pod, _rate(10)),
            ("container_cpu_cfs_throttled_periods_total", pod, _rate(either(6, 0.1))),
        ]
    if family == "restarts":
        return [("kube_pod_container_status_restarts_total", pod, lambda second: either(2, 1) if second >= 60 else 1)]
    if family == "dns":
        shares = {"0.004": either(0.8, 1), "0.064": either(0.85, 1), "0.256": 1, "+Inf": 1}
        return _histogram("coredns_dns_request_duration_seconds", node | {"server": "dns://:53"}, shares, either(0.03, 0.001))
    if family == "kv":
        return [
            ("vllm:num_preemptions_total", server, _rate(either(0.5, 0))), ("vllm:kv_cache_usage_perc", server, _constant(either(0.99, 0.6))),
        ]
    if family == "clocks":
        return [
            ("DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS", gpu, _rate(either(4e8, 0))),
            ("DCGM_FI_DEV_SM_CLOCK", gpu, _constant(either(1300, 1980))),
        ]
    if family == "util":
        return [("DCGM_FI_PROF_SM_ACTIVE", gpu, _constant(either(0.45, 0.9)))]
    if family == "cpu":
        idle = either(0.01, 0.6)
        return [
            ("node_cpu_seconds_total", node | {"cpu": cpu, "mode": mode}, _rate(share))
            for cpu in ("0", "1") for mode, share in (("idle", idle), ("user", 0.9 - idle), ("system", 0.1))
        ]
    if family == "input":
        return [("loader_wait_seconds_total", pod, _rate(either(0.5, 0.01)))]
    if family == "storage":
        disk = node | {"device": "nvme0n1"}
        return [
            ("node_disk_io_time_seconds_total", disk, _rate(either(0.97, 0.3))), ("node_disk_read_bytes_total", disk, _rate(either(2e8, 5e8))),
            ("node_pressure_io_waiting_seconds_total", node, _rate(either(0.5, 0.01))),
        ]
    if family == "network":
        nic = node | {"device": "ib0"}
        return [
            ("node_network_receive_packets_total", nic, _rate(1e4)), ("node_network_receive_errs_total", nic, _rate(either(80, 0))),
            ("ping_loss_ratio", nic, _constant(either(0.04, 0))), ("ping_rtt_mean_seconds", nic, _constant(either(0.004, 0.0002))),
        ]
    if family == "sglang":
        shares = {"0.01": either(0.5, 0.9), "0.1": either(0.6, 1), "1": 1, "+Inf": 1}
        return [
            *_histogram("sglang:queue_time_seconds", node | {"model_name": "acme/7b"}, shares, either(0.3, 0.005)),
            ("sglang:token_usage", node | {"model_name": "acme/7b"}, _constant(either(0.99, 0.6))),
        ]
    if family == "triton":
        model = node | {"model": "ranker", "version": "1"}
        return [
            ("nv_inference_request_success", model, _rate(20)), ("nv_inference_queue_duration_us", model, _rate(20 * either(2e5, 1e3))),
        ]
    if family == "scraped":
        return [
            ("node_pressure_memory_waiting_seconds_total", node, _rate(either(0.4, 0.01))),
            ("node_pressure_cpu_waiting_seconds_total", node, _rate(either(0.6, 0.02))),
            ("container_cpu_cfs_throttled_seconds_total", pod, _rate(either(0.5, 0))),
            ("DCGM_FI_DEV_MEM_CLOCK", gpu, _constant(either(1593, 2619))), ("DCGM_FI_DEV_GPU_UTIL", gpu, _constant(either(99, 60))),
            ("DCGM_FI_DEV_FB_USED", gpu, _constant(either(60_000, 20_000))),
            ("DCGM_FI_DEV_ROW_REMAP_FAILURE", gpu, _constant(0)),
        ]
    raise ValueError(family)


def answer(run: Run) -> dict[str, Any]:
    """What Prometheus answers to `query_range` for the time of the run."""
    result = []
    for name, labels, value in (each for family in sorted(run.signs) for each in _of_family(family, run, family in run.bad)):
        values = [[run.start.timestamp() + second, repr(value(second))] for second in range(0, SECONDS + 1, STEP)]
        result.append({"metric": {"__name__": name, **labels}, "values": values})
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


TAIL = frozenset({"queue", "cfs", "restarts", "dns", "kv", "clocks"})
WAITING = frozenset({"util", "cpu", "input", "storage", "network", "cfs"})
TAIL_CAUSES = {
    "queue": "request_queue_time", "cfs": "pod_cpu_throttling", "restarts": "autoscaling_or_restart", "dns": "dns_resolution",
    "kv": "kv_cache_pressure", "clocks": "gpu_throttling",
}
WAITING_CAUSES = {"cpu": "cpu_throttling_or_saturation", "input": "input_pipeline", "storage": "storage_throughput", "network": "network_stalls"}


def measured_runs() -> list[Run]:
    """Of each cause a case: `CASE-base`, `CASE-slow` and `CASE-blind`. `CASE-fine` is a run like the baseline."""
    runs = []
    for number, (family, signs) in enumerate([*((each, TAIL) for each in TAIL_CAUSES), *((each, WAITING) for each in WAITING_CAUSES)]):
        p99, throughput = (2000.0, 990.0) if signs is TAIL else (400.0, 700.0)
        # The host's CPUs answer two checks, and so do the pod's CPU limits.
        lacking = {"cpu": {"cpu", "cfs"}, "input": {"input", "cpu"}}.get(family, {family})
        bad = frozenset({family, "util"} if signs is WAITING else {family})
        case, day = f"{'t' if signs is TAIL else 'w'}-{family}", 8 * number
        runs += [
            Run(f"{case}-base", case, day, 400, 1000, signs),
            Run(f"{case}-slow", case, day + 2, p99, throughput, signs, bad),
            Run(f"{case}-blind", case, day + 3, p99, throughput, signs - lacking, bad),
        ]
    runs += [Run("t-queue-fine", "t-queue", 90, 410, 995, TAIL), Run("w-cpu-fine", "w-cpu", 91, 410, 995, WAITING)]
    util, idle = frozenset({"util"}), frozenset({"util"})
    runs += [
        Run("pool-base", "pool", 100, 400, 1000, pool="shared"), Run("pool-slow", "pool", 102, 2000, 1000, pool="shared"),
        Run("pool-other", "pool", 103, 420, 1000, pool="dedicated"),
        Run("lone-base", "lone", 104, 400, 1000, pool="shared"), Run("lone-slow", "lone", 106, 2000, 1000, pool="shared"),
        Run("everywhere-base", "everywhere", 108, 400, 1000, pool="shared"), Run("everywhere-slow", "everywhere", 110, 2000, 1000, pool="shared"),
        Run("everywhere-other", "everywhere", 111, 1950, 1000, pool="dedicated"),
        Run("cached-base", "cached", 112, 400, 1000, util), Run("cached-slow", "cached", 114, 400, 700, util, idle),
        Run("cached-other", "cached", 115, 400, 990, util, workload="cached"),
        Run("code-base", "code", 116, 400, 1000, util), Run("code-slow", "code", 118, 400, 700, util, idle),
        Run("code-other", "code", 119, 400, 705, util, workload="cached"),
        Run("events-base", "events", 120, 400, 1000), Run("events-slow", "events", 122, 2000, 1000), Run("events-fine", "events", 123, 400, 1000),
        Run("bystander-base", "bystander", 120, 400, 1000), Run("bystander-slow", "bystander", 122, 2000, 1000),
        Run("traces-base", "traces", 124, 400, 1000), Run("traces-slow", "traces", 126, 2000, 1000),
        *(
            Run(f"{case}-{name}", case, day + 2 * (name == "slow"), p99, throughput, signs & {case}, bad & signs & {case})
            for case, day in (("sglang", 140), ("triton", 144), ("scraped", 148), ("requests", 152), ("logged", 156), ("unplaced", 160))
            for signs in (frozenset({"sglang", "triton", "scraped"}),)
            for name, p99, throughput, bad in (("base", 400.0, 1000.0, frozenset[str]()), ("slow", 2000.0, 700.0, signs))
        ),
        Run("kernel-base", "kernel", 128, 400, 1000), Run("kernel-slow", "kernel", 130, 2000, 1000), Run("kernel-fine", "kernel", 132, 400, 1000),
    ]
    return runs


def _kubernetes_event(run: Run, second: float, reason: str, message: str, kind: str = "Warning", of: str = "Pod", **about: str) -> dict[str, Any]:
    at = f"{run.start + timedelta(seconds=second):%Y-%m-%dT%H:%M:%SZ}"
    involved = {"kind": of, "namespace": "lab", "name": f"server-{run.case}-0", "uid": run.pod_uid} | about
    name = f"{run.name}.{reason}.{second}".lower()
    return {
        "apiVersion": "v1", "kind": "Event", "reason": reason, "message": message, "type": kind, "eventTime": None, "count": 1,
        "metadata": {"name": name, "namespace": "lab", "uid": f"event-{name}", "resourceVersion": "10", "creationTimestamp": at},
        "involvedObject": involved, "firstTimestamp": at, "lastTimestamp": at, "source": {"component": "kubelet", "host": run.node},
    }


def events(runs: dict[str, Run]) -> list[dict[str, Any]]:
    """The pod of `events-slow` restarts in the middle of its run, and CoreDNS fails meanwhile."""
    slow, fine, base = runs["events-slow"], runs["events-fine"], runs["events-base"]
    return [
        *(_kubernetes_event(run, -20, "Started", "Started container main", "Normal") for run in (slow, fine, base)),
        _kubernetes_event(slow, 50, "BackOff", "Back-off restarting failed container main"),
        _kubernetes_event(slow, 55, "Unhealthy", "Readiness probe failed: timeout", name="coredns-abc", uid="pod-dns", namespace="kube-system"),
    ]


def events_of_pods(runs: dict[str, Run]) -> list[dict[str, Any]]:
    """The pod of `unplaced-slow` finds no node for long and is evicted in the end; its node has no network for a while."""
    slow = runs["unplaced-slow"]
    no_node = "0/8 nodes are available: 6 node(s) didn't match Pod's node affinity/selector, 2 Insufficient nvidia.com/gpu."
    return [
        _kubernetes_event(slow, -600, "FailedScheduling", no_node),
        _kubernetes_event(slow, 30, "NetworkUnavailable", "the network plugin is not ready", of="Node", name=slow.node, uid=slow.node),
        _kubernetes_event(slow, 100, "Evicted", "The node was low on resource: memory."),
    ]


def kernel_log(runs: dict[str, Run]) -> str:
    """The journal of the node of the case `kernel`: a machine check and an XID while `kernel-slow` ran, lines before and after each run."""
    lines = [(run.start + timedelta(seconds=second), "audit: type=1400") for run in runs.values() if run.case == "kernel" for second in (-3000, 300)]
    slow = runs["kernel-slow"].start
    lines += [
        (slow + timedelta(seconds=30), "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: 8c00004000010090"),
        (slow + timedelta(seconds=40), node_tools.XID_79),
        (slow + timedelta(seconds=50), "mlx5_core 0000:5e:00.0 ens1f0np0: Link down"),
    ]
    return "".join(f"{at:%Y-%m-%dT%H:%M:%S}+00:00 {runs['kernel-slow'].node} kernel: {message}\n" for at, message in sorted(lines))


QUOTA_MESSAGE = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed"
AFFINITY_MESSAGE = "couldn't assign flavors to pod set main: flavor spot doesn't match node affinity"
AT_ONCE = kueue.FIRST[0]


def _workload(uid: str, *conditions: dict[str, str], version: int = 100, queue: str = "gpus", **status: Any) -> dict[str, Any]:
    made = kueue.workload(*conditions, version=version, uid=uid, **status)
    made["metadata"]["name"] = f"job-{uid}"
    made["metadata"]["labels"]["kueue.x-k8s.io/job-uid"] = made["metadata"]["ownerReferences"][0]["uid"] = f"job-of-{uid}"
    made["status"]["admission"]["clusterQueue"] = queue
    return made


def _pending(message: str) -> dict[str, str]:
    return kueue.condition("QuotaReserved", "False", "08:00:02", "Pending") | {"message": message}


def kueue_objects() -> dict[str, list[dict[str, Any]]]:
    """By snapshot. All jobs of the baseline got quota within seconds, and nodes within two minutes."""
    late = (kueue.condition("QuotaReserved", "True", "08:50:00"), kueue.condition("Admitted", "True", "08:50:10"))
    checked = (AT_ONCE, kueue.condition("Admitted", "True", "08:45:00"))
    at_once = (AT_ONCE, kueue.condition("Admitted", "True", "08:00:10"))
    check = {"name": "provisioning", "state": "Ready", "message": "nodes are there", "lastTransitionTime": "2026-03-02T08:44:59Z"}
    full = json.loads(json.dumps(kueue.CLUSTER_QUEUE).replace('"60"', '"64"'))
    free = json.loads(json.dumps(kueue.CLUSTER_QUEUE).replace('"60"', '"8"').replace('"gpus"', '"quiet"'))
    return {
        "first": [_workload("k-quota", _pending(QUOTA_MESSAGE)), _workload("k-affinity", _pending(AFFINITY_MESSAGE)), full, free],
        "second": [
            _workload("k-base", *at_once), _workload("k-quota", *late, version=200), _workload("k-blind", *late, queue="unseen"),
            _workload("k-affinity", *late, version=200, queue="quiet"), _workload("k-checks", *checked, admissionChecks=[check]),
        ],
    }


def _job(number: int, partition: str, wait_minutes: int, **changes: str) -> dict[str, str]:
    start = f"2026-03-02T{8 + wait_minutes // 60:02}:{wait_minutes % 60:02}:00"
    return slurm.JOB | {
        "JobID": str(number), "JobIDRaw": str(number), "Partition": partition, "Submit": "2026-03-02T08:00:00", "Eligible": "2026-03-02T08:00:00",
        "Start": start, "End": "2026-03-02T12:00:00", "AllocNodes": "2", "NodeList": f"{partition}[01-02]",
        "AllocTRES": "cpu=64,gres/gpu=16,node=2", **changes,
    }


def _nodes(partition: str, states: Iterable[tuple[str, int]]) -> dict[str, Any]:
    """`scontrol show node --json` at 08:30: state and GPUs in use of each node, of eight."""
    nodes = [
        {
            "name": f"{partition}{number:02}", "state": state.split("+"), "partitions": [partition], "cpus": 64, "alloc_cpus": 32,
            "gres": "gpu:h100:8", "gres_used": f"gpu:h100:{used}(IDX:0)", "reason": "", "mcs_label": "", "tres": "cpu=64,gres/gpu=8",
            "tres_used": f"cpu=32,gres/gpu={used}",
        }
        for number, (state, used) in enumerate(states, 1)
    ]
    return {"nodes": nodes, "last_update": slurm.number(1772440200), "meta": {"slurm": {"release": "24.05.5"}}}


def waiting_runs() -> list[Run]:
    """Runs of jobs: of each cause a slow one, compared with a run whose job hardly waited."""
    jobs = {
        "k-base": "k-base", "k-quota": "k-quota", "k-blind": "k-blind", "k-affinity": "k-affinity", "k-checks": "k-checks", "k-unknown": "nosuch",
        "s-base": "901", "s-fragmented": "902", "s-drained": "903", "s-blind": "904", "s-evicted": "905", "s-full": "906",
        "s-picky": "907",
    }
    return [
        Run(name, "waits", 200 + number, 400, 1000, job=job, queue_wait_s=3000 if name == "k-unknown" else None)
        for number, (name, job) in enumerate(jobs.items())
    ]


def write_evidence(folder: Path) -> None:
    runs = {run.name: run for run in measured_runs()}
    for run in runs.values():
        if run.signs:
            _write(folder / "metrics" / run.name / "answer.json", json.dumps(answer(run)))
    _write(folder / "events/events.json", json.dumps({"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": [*events(runs), *events_of_pods(runs)]}))
    _write(folder / "kernel/journal.log", kernel_log(runs))
    for first, name, waits in ((0, "traces-base", 0.01), (100, "traces-slow", 1.5)):
        spans = [
            otlp.span(first + number, runs[name].start + timedelta(seconds=number), waits if number % 5 == 0 else 0.01) for number in range(1, 61)
        ]
        _write(folder / "traces" / f"{name}.json", json.dumps(otlp.document(*spans, node=runs[name].node)))
    for name, objects in kueue_objects().items():
        _write(folder / "kueue" / name / "objects.yaml", yaml.safe_dump_all(objects))
    evicted = _job(905, "requeued", 1)
    jobs = [
        _job(901, "calm", 0), _job(902, "scattered", 60), _job(903, "broken", 60), _job(904, "unseen", 60), _job(906, "full", 60),
        _job(907, "picky", 60),
        evicted | {"State": "REQUEUED", "End": "2026-03-02T08:30:00"},
        evicted | {"Submit": "2026-03-02T08:30:00", "Start": "2026-03-02T09:30:00"},
    ]
    _write(folder / "slurm/sacct.txt", slurm.sacct(*jobs))
    constrained = slurm.SQUEUE["jobs"][1] | {
        "job_id": 907, "array_job_id": slurm.number(None), "array_task_string": "", "name": "train", "partition": "picky",
        "state_reason": "ReqNodeNotAvail, UnavailableNodes:picky[01-08]", "submit_time": slurm.number(1772438400),
    }
    _write(folder / "slurm/squeue.json", json.dumps(slurm.SQUEUE | {"jobs": [constrained], "last_update": slurm.number(1772440200)}))
    for partition, states in {
        "scattered": [("MIXED", 4)] * 6, "broken": [("IDLE", 0), ("IDLE+DRAIN", 0), ("ALLOCATED", 8)], "full": [("ALLOCATED", 8)] * 4,
    }.items():
        _write(folder / "slurm" / f"{partition}.json", json.dumps(_nodes(partition, states)))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
