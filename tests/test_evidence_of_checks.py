"""Evidence that a check says it needs reaches the check once it is ingested: each check has samples in real formats, by what its header names."""

from __future__ import annotations

import pytest
import test_cluster_cases as clusters
import test_playbooks as playbooks

from warehouse.analysis.explain.explanation import Explanation
from warehouse.analysis.explain.playbooks import read_playbooks

# Words of the check's evidence, the sample whose run has it, and how the name of the file ends that says it; None: a run that is no file of its own.
RECORDED, TRACED, SERVED, SCRAPED = "prepared", "all_loaders", "throttled", ".prom"
REACHED = {
    "admission_checks": [("Kueue's Workload objects", "k-checks", ".yaml")],
    "autoscaling_or_restart": [("events of Kubernetes", "events", "events.json"), ("kube_pod_container_status_restarts_total", SERVED, "answer.json")],
    "cached_input_rerun": [("a run of the same case with cached", "cached", None)],
    "cluster_queue_pressure": [("Kueue's ClusterQueue", "k-quota", ".yaml"), ("scontrol of Slurm", "s-fragmented", ".json")],
    "cold_start": [("profiler traces (Kineto)", TRACED, ".json.gz"), ("in a training log", "logged", None)],
    "cpu_clock": [("CPU clocks and host samples of wh record", RECORDED, "node.jsonl")],
    "cpu_throttling_or_saturation": [
        ("cAdvisor's container_cpu_cfs_*", SERVED, "answer.json"), ("node exporter's node_cpu_seconds_total", "w-cpu", "answer.json"),
        ("node_pressure_cpu_waiting_seconds_total", "scraped", "answer.json"),
        ("host samples of wh record", RECORDED, None),
    ],
    "dedicated_node_pool": [("another node pool", "pool", None)],
    "dns_resolution": [("CoreDNS'", SERVED, "answer.json"), ("events of its pods", "events", "events.json"), ("errors of requests", "requests", None)],
    "effective_configuration": [("the log of vLLM or SGLang", None, None)],  # unit_tests/run_effective_setting.yaml
    "evictions": [("jobs of Slurm (sacct", "s-evicted", "sacct.txt"), ("Workloads of Kueue", "k-quota", ".yaml"), ("events of eviction", "unplaced", "events.json")],
    "fragmentation": [("Slurm's nodes (scontrol show node", "s-fragmented", ".json")],
    "gpu_faults": [("XID codes, ECC", TRACED, SCRAPED), ("kernel logs of the run's nodes", "kernel", "journal.log"), ("remapping counters", "scraped", "answer.json")],
    "gpu_memory_clock": [("GPUs that wh record sampled", RECORDED, "gpu.jsonl"), ("DCGM_FI_DEV_MEM_CLOCK", "scraped", "answer.json")],
    "gpu_neighbour": [
        ("the processes on each GPU", RECORDED, "gpu_processes.jsonl"), ("memory and utilisation of GPUs (dcgm-exporter", "scraped", "answer.json"),
    ],
    "gpu_throttling": [("dcgm-exporter's violations", SERVED, "answer.json"), ("GPUs that wh record sampled", RECORDED, "gpu.jsonl"), ("clock event reasons", "t-clocks", "answer.json")],
    "host_memory_pressure": [
        ("node and cgroup samples of wh record", RECORDED, "node.jsonl"), ("node_pressure_memory_waiting_seconds_total", "scraped", "answer.json"),
    ],
    "input_pipeline": [
        ("dataloader times of a profiler", TRACED, ".json.gz"), ("a metric input_wait_s", "w-input", "answer.json"),
        ("utilisation of the host's CPUs", RECORDED, None),
    ],
    "log_observations": [("logs of the run", RECORDED, "stdout.txt")],
    "kv_cache_pressure": [("vLLM's num_preemptions_total", SERVED, "answer.json"), ("SGLang's token_usage", "sglang", "answer.json")],
    "long_wait": [("jobs of Slurm (sacct", "s-fragmented", "sacct.txt"), ("Workloads of Kueue", "k-quota", ".yaml")],
    "network_stalls": [
        ("node_infiniband_*", TRACED, SCRAPED), ("ping-exporter", "w-network", "answer.json"), ("kernel logs", "kernel", "journal.log"),
        ("Kubernetes)", "unplaced", "events.json"),
    ],
    "nic_errors": [("network counters of nodes", TRACED, SCRAPED), ("ping-exporter", "w-network", "answer.json")],
    "node_faults": [("kernel logs of the run's nodes", "kernel", "journal.log")],
    "numa_memory": [("NUMA counters of the node", RECORDED, "node.jsonl")],
    "nvlink_health": [("NVLink error counters", TRACED, SCRAPED)],
    "over_constrained": [
        ("Kueue's Workload objects", "k-affinity", ".yaml"), ("events of the job's pods", "unplaced", "events.json"),
        ("pending reasons (squeue)", "s-picky", "squeue.json"),
    ],
    "own_process_input": [("CPU time of the run's processes", RECORDED, None)],
    "pcie_link": [("PCIe link width", TRACED, SCRAPED)],
    "pod_cpu_throttling": [
        ("container_cpu_cfs_throttled_periods_total", SERVED, "answer.json"), ("container_cpu_cfs_throttled_seconds_total", "scraped", "answer.json"),
    ],
    "rank_collectives": [("profiler traces of all ranks (Kineto)", TRACED, ".json.gz")],
    "request_queue_time": [
        ("the model server (vLLM", SERVED, "answer.json"), ("its traces (OTLP)", "traces", ".json"), ("SGLang", "sglang", "answer.json"),
        ("Triton", "triton", "answer.json"), ("queueing delays of a serving benchmark", "requests", None),
    ],
    "slow_rank_or_pair": [("profiler traces of all ranks (Kineto)", TRACED, ".json.gz")],
    "slower_at_work": [("dcgm-exporter", SERVED, "answer.json"), ("wh record", RECORDED, "gpu.jsonl")],
    "slower_communication": [("profiler traces of all ranks (Kineto)", TRACED, ".json.gz")],
    "slower_host": [("without utilisation of GPUs", "t-queue", None)],
    "step_time_spread": [("profiler traces with annotated steps", TRACED, None), ("a training log", "logged", None)],
    "storage_throughput": [("node exporter's node_disk_io_time_seconds_total", "w-storage", "answer.json"), ("samples of wh record", RECORDED, "node.jsonl")],
    "tail_latency": [("percentiles of latency", SERVED, None)],
    "thermal": [("temperatures, clocks and throttling times", TRACED, SCRAPED)],
    "waiting_gpus": [("GPU utilisation (DCGM", SERVED, "answer.json"), ("profiler traces (Kineto)", TRACED, ".json.gz")],
    "without_suspect": [("runs of the baseline that name their nodes", None, None)],  # test_straggler_playbook.py
}


def explained(sample: str) -> Explanation:
    if sample in (RECORDED, TRACED, SERVED):
        return clusters.explained(sample)
    is_job = sample.startswith(("k-", "s-"))
    return playbooks.explained(sample if is_job else f"{sample}-slow", f"{sample[0]}-base" if is_job else f"{sample}-base")


def test_each_check_has_a_sample_of_what_it_needs() -> None:
    evidence = {check.name: check.evidence for check in read_playbooks(clusters.few())}
    assert {*REACHED} == {*evidence}
    assert [(name, words) for name, kinds in REACHED.items() for words, _, _ in kinds if words not in evidence[name]] == []


@pytest.mark.parametrize("check", REACHED)
def test_what_a_check_needs_reaches_it(check: str) -> None:
    for words, sample, file in REACHED[check]:
        if sample:
            findings = clusters.answer(explained(sample), check).findings
            assert any(file is None or (each.raw_path or "").endswith(file) for each in findings), (words, [each.raw_path for each in findings])
