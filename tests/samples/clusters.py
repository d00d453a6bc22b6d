"""Forty cases of a cluster in the formats of its exporters and tools, all made up: twenty runs that one thing slowed down, and twenty that nothing did,
half of these with trouble beside them. Each has earlier healthy runs at the same place.

Figures vary as they do on real machines: throughput by 1.5 %, tails by 10 %, samples by a few per cent; scrapes come late or not at all, and counters
begin anywhere.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DAY = datetime(2026, 10, 5, 8, tzinfo=UTC)
INTERVAL_S = 15
Level = Mapping[str, float]


@dataclass(frozen=True)
class Case:
    """One run and its healthy baseline. `faults` change the figures that its kind of run has, by name; `effect` is how many times slower the run is,
    in its throughput, or in its tail where `is_tail`. `cause` is the check that is right, None where nothing slowed the run down."""

    name: str
    kind: str  # serving, recorded or traced
    cause: str | None
    effect: float = 1.0
    is_tail: bool = False
    faults: Level = field(default_factory=dict)
    always: Level = field(default_factory=dict)  # of the baseline, too
    spread: float = 0.015  # of the throughput of healthy runs


CASES = (
    Case("queue", "serving", "request_queue_time", 2.6, True, {"queue_s": 0.6, "waiting": 45}),
    Case("throttled", "serving", "pod_cpu_throttling", 2.2, True, {"throttled": 0.45}),
    Case("preempted", "serving", "kv_cache_pressure", 2.8, True, {"preempted": 0.4, "cache": 0.985}),
    Case("restarted", "serving", "autoscaling_or_restart", 3.5, True, {"restarts": 1}),
    Case("names", "serving", "dns_resolution", 2.4, True, {"dns_s": 0.09}),
    Case("capped", "serving", "gpu_throttling", 1.27, False, {"sm_clock": 1440, "power_cap": 0.9}),
    Case("prepared", "recorded", "own_process_input", 2.4, False, {"cores": 0.62, "sm": 40}),
    Case("disk", "recorded", "storage_throughput", 1.9, False, {"read_mb": 420, "disk_read_s": 0.5, "io_pressure": 0.45, "kernel": 0.06, "sm": 52}),
    Case("shared_gpu", "recorded", "gpu_neighbour", 1.9, False, {"other_sm": 48}),
    Case("crowded", "recorded", "cpu_throttling_or_saturation", 1.6, False, {"runqueue": 0.35, "cpu": 98, "cpu_pressure": 0.7, "sm": 60}),
    Case("limited", "recorded", "cpu_throttling_or_saturation", 1.7, False, {"cgroup_throttled": 0.55, "sm": 57}),
    Case(
        "squeezed", "recorded", "host_memory_pressure", 2.1, False,
        {"refaults": 26000, "limit_hits": 6000, "read_mb": 105, "disk_read_s": 0.42, "io_pressure": 0.4, "kernel": 0.12, "sm": 45},
    ),
    Case("hot", "recorded", "gpu_throttling", 1.3, False, {"sm_clock": 1500, "thermal": 0.7, "temperature": 88}),
    Case("one_loader", "traced", "input_pipeline", 1.35, False, {"loader_of_one": 0.35}),
    Case("all_loaders", "traced", "input_pipeline", 1.6, False, {"loader": 0.6}),
    Case("collectives", "traced", "slower_communication", 1.4, False, {"communication": 0.4}),
    Case("narrow", "traced", "pcie_link", 1.12, False, {"work_of_one": 0.12, "pcie_width": 8}),
    Case("links", "traced", "nvlink_health", 1.15, False, {"work_of_one": 0.15, "nvlink_recovery": 0.2}),
    Case("symbols", "traced", "nic_errors", 1.13, False, {"work_of_one": 0.13, "symbol_errors": 30}),
    Case("faulty", "traced", "gpu_faults", 1.14, False, {"work_of_one": 0.14, "ecc": 0.2, "xid": 48}),
    # Healthy, with what healthy machines show.
    Case("serving_healthy", "serving", None),
    Case("serving_noisy", "serving", None, 1.09, spread=0.09),
    Case("serving_full", "serving", None, always={"cache": 0.97, "waiting": 12, "queue_s": 0.08}),
    Case("serving_power", "serving", None, always={"power_cap": 0.95, "sm_clock": 1755}),
    Case("serving_narrow", "serving", None, always={"pcie_width": 8}),
    Case("recorded_healthy", "recorded", None),
    Case("recorded_power", "recorded", None, always={"power_cap": 0.98, "sm_clock": 1650}),
    Case("recorded_busy_loop", "recorded", None, always={"cores": 1.0}),
    Case("recorded_noisy", "recorded", None, 1.1, spread=0.09),
    Case("traced_healthy", "traced", None),
    # Trouble of others, or without effect.
    Case("pod_beside", "serving", None, faults={"neighbour_throttled": 0.7}),
    Case("restart_beside", "serving", None, faults={"neighbour_restarts": 3}),
    Case("gpu_beside", "serving", None, faults={"neighbour_xid": 79}),
    Case("xid_before", "serving", None, always={"xid_before": 31}),
    Case("warm", "serving", None, faults={"temperature": 76}),
    Case("disk_beside", "recorded", None, faults={"disk_busy": 0.95, "io_pressure": 0.3}),
    Case("cpus_beside", "recorded", None, faults={"cpu": 96, "cpu_pressure": 0.4}),
    Case("small_gpu_beside", "recorded", None, faults={"other_sm": 3}),
    Case("errors_of_all", "traced", None, always={"symbol_errors": 3, "ecc_corrected": 0.05}),
    Case("slot", "traced", None, always={"pcie_width": 8}),
)
# Two causes at once: clocks 10 % lower, and a wait for input.
BOTH = Case("both", "traced", "input_pipeline", 1.59, False, {"loader": 0.5, "sm_clock": 1710, "slower_work": 1.111})
RUNS = {"serving": 5, "recorded": 3, "traced": 3}  # of each case; the last one is the case
# The node of a server's run, which the client's file does not state.
PLACE = """\
/*
description: The node of each run of a server, which the name of its file begins with.
grain: [run_id, artifact_manifest_digest]
feeds: run_node
*/
select
    run_id,
    artifact_manifest_digest,
    regexp_extract(run_id, '/(node-[a-z-]+)-infqps', 1) as node_name
from bench_serving_run
"""


def node(case: Case) -> str:
    return f"node-{case.name.replace('_', '-')}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def day(case: Case) -> datetime:
    """When its first run began; each case has a day of its own."""
    return DAY + timedelta(days=(*CASES, BOTH).index(case))


def write(folder: Path, cases: tuple[Case, ...], seed: str = "") -> None:
    """The evidence of cases, one folder each. Another seed gives other noise."""
    for case in cases:
        of_kind = {"serving": _serving, "recorded": _recorded, "traced": _traced}[case.kind]
        for number in range(RUNS[case.kind]):
            chance = random.Random(f"{seed}{case.name} {number}")
            is_last = number == RUNS[case.kind] - 1
            effect = case.effect if is_last else 1.0
            of_kind(folder / case.name, case, day(case) + timedelta(hours=number), number, effect, {**case.always, **(case.faults if is_last else {})}, chance)


# Serving: the record of `vllm bench serve`, and what Prometheus answers to query_range.

SERVING_S = 300


class Samples:
    """Series of one run, as Prometheus keeps them: scraped each interval, a little late, now and then not at all."""

    def __init__(self, start: datetime, seconds: float, chance: random.Random) -> None:
        self.chance = chance
        self.times = [start.timestamp() + second + chance.uniform(0, 1) for second in range(-60, int(seconds) + 61, INTERVAL_S)]
        self.start, self.end = start.timestamp(), start.timestamp() + seconds
        self.result: list[dict[str, Any]] = []

    def _add(self, name: str, labels: Mapping[str, str], value: Callable[[float], float]) -> None:
        values = [[at, repr(value(at))] for at in self.times if self.chance.random() > 0.02]
        self.result.append({"metric": {"__name__": name, **labels}, "values": values})

    def gauge(self, name: str, labels: Mapping[str, str], level: float, spread: float = 0.02) -> None:
        self._add(name, labels, lambda _: max(0.0, level * (1 + self.chance.gauss(0, spread))))

    def state(self, name: str, labels: Mapping[str, str], level: float) -> None:
        self._add(name, labels, lambda _: level)

    def counter(self, name: str, labels: Mapping[str, str], per_s: float, spread: float = 0.03) -> None:
        first, rate = self.chance.uniform(0, 1e6), per_s * (1 + self.chance.gauss(0, spread))
        self._add(name, labels, lambda at: first + max(0.0, rate * (at - self.times[0])))

    def step(self, name: str, labels: Mapping[str, str], before: float, after: float) -> None:
        self._add(name, labels, lambda at: after if at >= (self.start + self.end) / 2 else before)

    def histogram(self, name: str, labels: Mapping[str, str], mean: float, per_s: float = 10) -> None:
        """Of exponentially distributed times."""
        from math import exp

        for bound in (0.001, 0.004, 0.016, 0.064, 0.256, 1.0, 4.0):
            self.counter(f"{name}_bucket", {**labels, "le": str(bound)}, per_s * (1 - exp(-bound / mean)), 0)
        self.counter(f"{name}_bucket", {**labels, "le": "+Inf"}, per_s, 0)
        self.counter(f"{name}_count", labels, per_s, 0)
        self.counter(f"{name}_sum", labels, per_s * mean, 0)

    def document(self) -> dict[str, Any]:
        return {"status": "success", "data": {"resultType": "matrix", "result": self.result}}


def _serving(folder: Path, case: Case, start: datetime, number: int, effect: float, faults: Level, chance: random.Random) -> None:
    host, end = node(case), start + timedelta(seconds=SERVING_S)
    speed = (1 + chance.gauss(0, case.spread)) / (1 if case.is_tail else effect)
    tail = (1 + abs(chance.gauss(0, 0.1))) * (effect if case.is_tail else 1 / speed)
    tokens = 1500.0 * speed
    times = {"ttft": 300.0, "tpot": 22.0, "itl": 21.0}
    record: dict[str, Any] = {
        "date": f"{end:%Y%m%d-%H%M%S}", "endpoint_type": "vllm", "backend": "vllm", "label": None, "model_id": "acme/70b", "tokenizer_id": "acme/70b",
        "num_prompts": 3000, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 64, "duration": float(SERVING_S), "completed": 3000,
        "failed": 0, "total_input_tokens": 1536000, "total_output_tokens": round(tokens * SERVING_S), "request_throughput": 10.0,
        "request_goodput": None, "output_throughput": round(tokens * SERVING_S) / SERVING_S,
        "total_token_throughput": (1536000 + round(tokens * SERVING_S)) / SERVING_S,
    }
    for name, middle in times.items():
        level = middle / speed * (1 + chance.gauss(0, 0.01))
        record |= {f"mean_{name}_ms": level * 1.02, f"median_{name}_ms": level, f"std_{name}_ms": level / 10, f"p99_{name}_ms": level * 1.8 * tail}
    _write(folder / f"{number}/{host}-infqps-concurrency64-70b-{end:%Y%m%d-%H%M%S}.json", json.dumps(record))
    made = Samples(start, SERVING_S, chance)
    pod = {"namespace": "prod", "pod": f"vllm-{case.name}-0", "container": "vllm", "node": host, "job": "kubelet"}
    beside = {**pod, "namespace": "batch", "pod": f"etl-{case.name}-1", "container": "etl"}
    server = {"engine": "0", "model_name": "acme/70b", "node": host, "pod": pod["pod"], "instance": f"{host}:8000", "job": "vllm"}
    for index in range(3):  # the last one is a neighbour's
        is_own = index < 2
        gpu = {
            "gpu": str(index), "UUID": f"GPU-{case.name}-{index}", "modelName": "NVIDIA H100 80GB HBM3", "Hostname": f"dcgm-exporter-{case.name}",
            "node": host, "job": "dcgm-exporter", "namespace": "prod" if is_own else "batch", "pod": pod["pod"] if is_own else beside["pod"],
        }
        made.gauge("DCGM_FI_DEV_GPU_UTIL", gpu, 93, 0.03)
        made.gauge("DCGM_FI_PROF_SM_ACTIVE", gpu, 0.86, 0.04)
        made.gauge("DCGM_FI_DEV_SM_CLOCK", gpu, faults.get("sm_clock", 1905) if is_own else 1905, 0.008)
        made.gauge("DCGM_FI_DEV_GPU_TEMP", gpu, faults.get("temperature", 61), 0.03)
        made.counter("DCGM_FI_DEV_POWER_VIOLATION", gpu, 1e9 * faults.get("power_cap", 0.03) if is_own else 3e7)
        made.counter("DCGM_FI_DEV_THERMAL_VIOLATION", gpu, 0)
        made.state("DCGM_FI_DEV_PCIE_LINK_WIDTH", gpu, faults.get("pcie_width", 16))
        made.state("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", gpu, 16)
        if is_own:
            made.state("DCGM_FI_DEV_XID_ERRORS", gpu, faults.get("xid_before", 0))
        else:
            made.step("DCGM_FI_DEV_XID_ERRORS", gpu, 0, faults.get("neighbour_xid", 0))
    for of, throttled in ((pod, faults.get("throttled", 0.01)), (beside, faults.get("neighbour_throttled", 0.02))):
        made.counter("container_cpu_cfs_periods_total", of, 10, 0)
        made.counter("container_cpu_cfs_throttled_periods_total", of, 10 * throttled)
    for of, restarts in ((pod, faults.get("restarts", 0)), (beside, faults.get("neighbour_restarts", 0))):
        made.step("kube_pod_container_status_restarts_total", of, 2, 2 + restarts)
    made.histogram("vllm:request_queue_time_seconds", server, faults.get("queue_s", 0.01))
    made.gauge("vllm:num_requests_waiting", server, faults.get("waiting", 1.5), 0.3)
    made.gauge("vllm:kv_cache_usage_perc", server, faults.get("cache", 0.62), 0.005)
    made.counter("vllm:num_preemptions_total", server, faults.get("preempted", 0))
    made.histogram("coredns_dns_request_duration_seconds", {"node": host, "server": "dns://:53", "job": "node-local-dns"}, faults.get("dns_s", 0.0015))
    for mode, share in (("idle", 0.7), ("user", 0.22), ("system", 0.06), ("iowait", 0.02)):
        made.counter("node_cpu_seconds_total", {"node": host, "job": "node-exporter", "cpu": "0", "mode": mode}, share)
    made.counter("node_pressure_cpu_waiting_seconds_total", {"node": host, "job": "node-exporter"}, 0.02, 0.3)
    made.counter("node_pressure_io_waiting_seconds_total", {"node": host, "job": "node-exporter"}, 0.01, 0.3)
    _write(folder / f"{number}/prom/answer.json", json.dumps(made.document()))


# Recorded: what `wh record` writes.

REPEATS, RECORDED_S = 3, 60


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _recorded(folder: Path, case: Case, start: datetime, number: int, effect: float, faults: Level, chance: random.Random) -> None:
    top, host = folder / str(number), node(case)
    uuid = f"GPU-{case.name}"
    # A ULID: digits of Crockford's alphabet.
    identity = f"01K{day(case):%m%d}{number}" + "0" * 18
    document = {
        "format": "warehouse-recording", "format_version": 1, "recording_id": identity, "argv": ["python3", "train.py"], "repeats": REPEATS,
        "script": "train.py", "script_sha256": "4" * 64, "sample_interval_s": 2.0, "working_folder": "/bench", "redacted": [],
        "unread": {"infiniband": "there is no adapter under /sys/class/infiniband", "memory_bandwidth": "the recorder does not count it"},
    }
    _write(top / "recording.json", json.dumps(document))
    machine = {
        "hostname": host, "cpu_model": "Example CPU", "physical_cores": 32, "logical_cores": 32, "memory_bytes": 1 << 38,
        "gpus": [{"name": "NVIDIA H100 80GB HBM3", "uuid": uuid, "memory_bytes": 85520809984, "driver_version": "580.1"}],
    }
    _write(top / "machine.json", json.dumps(machine))
    _write(top / "software.json", json.dumps({"python": "3.11.9"}))
    for repeat in range(1, REPEATS + 1):
        begins = start + timedelta(seconds=(RECORDED_S + 5) * (repeat - 1))
        seconds = RECORDED_S * (1 + chance.gauss(0, 0.01))
        speed = (1 + chance.gauss(0, case.spread)) / effect
        if case.spread > 0.05 and effect == 1:  # repeats of a noisy benchmark
            speed = 1 + (repeat - 2) * case.spread
        own = top / f"run-{repeat:02}"
        cores, kernel = faults.get("cores", 0.2) * (1 + chance.gauss(0, 0.02)), faults.get("kernel", 0.02)
        run = {
            "repeat_index": repeat, "status": "succeeded", "exit_code": 0, "signal": None, "started_at": f"{begins:%Y-%m-%dT%H:%M:%S.%fZ}",
            "ended_at": f"{begins + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S.%fZ}", "wall_s": seconds, "user_cpu_s": cores * seconds,
            "system_cpu_s": kernel * seconds,
        }
        _write(own / "run.json", json.dumps(run))
        indicator = {
            "name": "TrainStep", "component": "torch", "component_version": "2.11.0", "@parameters": {"width": 1024},
            "@result": {"elapsed_ms": 60 / speed, "tokens_per_s": 137000 * speed},
        }
        _write(own / "stdout.txt", json.dumps(indicator) + "\n")
        gpus: list[dict[str, Any]] = []
        processes, nodes, hosts, on_gpu = list(gpus), list(gpus), list(gpus), list(gpus)
        counted = {name: chance.uniform(0, 1e3) for name in ("power", "thermal", "cpu", "io", "disk", "hits", "periods", "refaults")}
        for tick in range(int(seconds // 2) + 1):
            second = 2.0 * tick + chance.uniform(0, 0.05)
            at = f"{begins + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S.%fZ}"
            sm = faults.get("sm", 88) * (1 + chance.gauss(0, 0.05))
            gpus.append({
                "sampled_at": at, "gpu_index": 0, "gpu_uuid": uuid, "sm_clock_mhz": round(faults.get("sm_clock", 1905) * (1 + chance.gauss(0, 0.008))),
                "memory_clock_mhz": 2619, "temperature_c": round(faults.get("temperature", 60) + chance.gauss(0, 1.5)), "power_mw": 560000,
                "util_pct": min(100, round(sm + (faults.get("other_sm", 0) if tick else 0))), "memory_used_bytes": 12_000_000_000,
                "throttle_power_cap_ns": round(1e9 * (counted["power"] + faults.get("power_cap", 0.02) * second)),
                "throttle_software_thermal_ns": round(1e9 * (counted["thermal"] + faults.get("thermal", 0) * second)),
            })
            on_gpu.append({
                "sampled_at": at, "gpu_index": 0, "gpu_uuid": uuid, "pid": 900, "is_own": True, "process_name": "python3",
                "memory_used_bytes": 11_400_000_000, "sm_util_pct": round(sm / effect if "other_sm" in faults else sm),
            })
            if faults.get("other_sm"):
                on_gpu.append({
                    "sampled_at": at, "gpu_index": 0, "gpu_uuid": uuid, "pid": 4242, "is_own": False, "process_name": "gemm",
                    "memory_used_bytes": 600_000_000, "sm_util_pct": faults["other_sm"] * (1 + chance.gauss(0, 0.05)),
                })
            processes.append({
                "sampled_at": at, "process_group": 900, "command": "python3", "processes": 1, "threads": 16, "rss_bytes": 4 << 30,
                "user_cpu_s": cores * second, "system_cpu_s": kernel * second, "runqueue_wait_s": faults.get("runqueue", 0.003) * second,
                "read_bytes": round(1e6 * faults.get("read_mb", 0.1) * second), "write_bytes": 0,
            })
            nodes.append({
                "sampled_at": at, "cpu_pressure_some_s": counted["cpu"] + faults.get("cpu_pressure", 0.02) * second,
                "io_pressure_some_s": counted["io"] + faults.get("io_pressure", 0.005) * second, "memory_pressure_some_s": 0,
                "cpu_clock_mean_mhz": 2800 * (1 + chance.gauss(0, 0.02)), "numa_local_pages": round(9e4 * second), "numa_remote_pages": round(2e3 * second),
                "cgroup_cpu_periods": round(counted["periods"] + 10 * second),
                "cgroup_throttled_periods": round(counted["periods"] + 10 * faults.get("cgroup_throttled", 0.004) * second),
                "cgroup_memory_limit_hits": round(counted["hits"] + faults.get("limit_hits", 0) * second),
                "cgroup_refaulted_pages": round(counted["refaults"] + faults.get("refaults", 2) * second),
            })
            nodes.append({
                "sampled_at": at, "device": "nvme0n1", "disk_read_bytes": round(1e6 * faults.get("read_mb", 0.3) * second),
                "disk_read_s": faults.get("disk_read_s", 0.002) * second,
                "disk_busy_s": counted["disk"] + faults.get("disk_busy", faults.get("disk_read_s", 0.02)) * second,
            })
            hosts.append({
                "window_start": f"{begins + timedelta(seconds=2 * tick):%Y-%m-%dT%H:%M:%S.%fZ}",
                "window_end": f"{begins + timedelta(seconds=2 * tick + 2):%Y-%m-%dT%H:%M:%S.%fZ}", "duration_s": 2.0,
                "cpu_mean_pct": min(100, faults.get("cpu", 18) * (1 + chance.gauss(0, 0.03))), "memory_used_bytes": 1 << 33,
            })
        for name, rows in (("gpu", gpus), ("processes", processes), ("node", nodes), ("host", hosts), ("gpu_processes", on_gpu)):
            _write(own / f"{name}.jsonl", _lines(rows))


# Traced: Kineto's traces of eight ranks, one a node, and scrapes of all nodes.

RANKS, SLOW, STEPS, WORK_US, COMMUNICATION_US, LOADER_US = 8, 3, 30, 3_000_000, 60_000, 40_000


def _traced(folder: Path, case: Case, start: datetime, number: int, effect: float, faults: Level, chance: random.Random) -> None:
    spans: dict[int, list[tuple[float, float, float, float, float]]] = {rank: [] for rank in range(RANKS)}
    now = 250_000.0
    of_one = {"work": faults.get("work_of_one", 0) * WORK_US, "loader": faults.get("loader_of_one", 0) * WORK_US}
    for _ in range(STEPS):
        loads = [LOADER_US * (1 + abs(chance.gauss(0, 0.1))) + faults.get("loader", 0) * WORK_US * (1 + chance.gauss(0, 0.02)) for _ in range(RANKS)]
        works = [WORK_US * faults.get("slower_work", 1) * (1 + chance.gauss(0, 0.008)) for _ in range(RANKS)]
        loads[SLOW] += of_one["loader"] * (1 + chance.gauss(0, 0.02))
        works[SLOW] += of_one["work"] * (1 + chance.gauss(0, 0.02))
        reduce = COMMUNICATION_US * (1 + abs(chance.gauss(0, 0.05))) + faults.get("communication", 0) * WORK_US * (1 + chance.gauss(0, 0.02))
        end = max(load + work for load, work in zip(loads, works, strict=True)) + reduce
        for rank in range(RANKS):
            spans[rank].append((now, loads[rank], works[rank], loads[rank] + works[rank], end))
        now += end + 100
    for rank, steps in spans.items():
        gpu, events = {"device": 0, "stream": 7}, []
        for step, (begin, load, work, done, end) in enumerate(steps, 10):
            events += [
                _event("user_annotation", f"ProfilerStep#{step}", begin, end),
                _event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", begin + 10, load - 20),
                *(_event("kernel", "sm90_xmma_gemm_bf16bf16_bf16f32", begin + load + part * work / 4, work / 4, 0, 7, **gpu) for part in range(4)),
                _event("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", begin + done, end - done, 0, 20, device=0, stream=20),
            ]
        document = {
            "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}], "hostname": f"{node(case)}-{rank}",
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS}, "traceEvents": events, "displayTimeUnit": "ms",
            "baseTimeNanoseconds": int(start.timestamp()) * 1_000_000_000,
        }
        path = folder / f"{number}/job/rank-{rank}.json.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    first = {rank: round(chance.uniform(10, 1000)) for rank in range(RANKS)}
    for second in range(0, int(now / 1e6) + 16, INTERVAL_S):
        at = start + timedelta(seconds=second)
        _write(folder / f"{number}/metrics/cluster-{at:%Y%m%dT%H%M%SZ}.prom", _scrape(case, second, faults, first, chance))


def _event(category: str, name: str, start: float, duration: float, pid: int = 4711, tid: int = 4711, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": more}


def _scrape(case: Case, second: int, faults: Level, first: Mapping[int, int], chance: random.Random) -> str:
    """What all nodes answer. What is wrong is wrong on the slow node only, except the errors that all have."""

    def rate(name: str, rank: int) -> float:
        return faults.get(name, 0) if rank == SLOW or name in case.always else 0

    metrics: dict[str, tuple[str, Callable[[int], float]]] = {
        "DCGM_FI_DEV_PCIE_LINK_WIDTH": ("gauge", lambda rank: faults.get("pcie_width", 16) if rank == SLOW or "pcie_width" in case.always else 16),
        "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH": ("gauge", lambda rank: 16),
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("counter", lambda rank: first[rank] // 100),
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": ("counter", lambda rank: rate("nvlink_recovery", rank) * second),
        "DCGM_FI_DEV_GPU_TEMP": ("gauge", lambda rank: round(60 + rank % 3 + chance.gauss(0, 1))),
        "DCGM_FI_DEV_GPU_UTIL": ("gauge", lambda rank: min(100, round(96 + chance.gauss(0, 2)))),
        "DCGM_FI_DEV_SM_CLOCK": ("gauge", lambda rank: round(faults.get("sm_clock", 1900) + chance.gauss(0, 12))),
        "DCGM_FI_DEV_THERMAL_VIOLATION": ("counter", lambda rank: 0),
        "DCGM_FI_DEV_XID_ERRORS": ("gauge", lambda rank: faults.get("xid", 0) if rank == SLOW and second >= 45 else 0),
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("counter", lambda rank: round(rate("ecc", rank) * second)),
        "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": ("counter", lambda rank: round(first[rank] + rate("ecc_corrected", rank) * second)),
        "node_infiniband_symbol_error_total": ("counter", lambda rank: round(first[rank] + rate("symbol_errors", rank) * second)),
    }
    lines = []
    for name, (kind, value) in metrics.items():
        lines.append(f"# TYPE {name} {kind}")
        for rank in range(RANKS):
            host = f"{node(case)}-{rank}"
            labels = f'UUID="GPU-{host}",gpu="0",Hostname="{host}"' if name.startswith("DCGM") else f'node="{host}",device="mlx5_0",port="1"'
            lines.append(f"{name}{{{labels}}} {value(rank)!r}")
    return "\n".join(lines) + "\n"
