"""The numbers that the field report of the two-node GB200 run quotes, copied from its text by hand.

A statement is (section, quoted text, test's run, point, metric, factor): `factor` makes the quoted unit of the fact's. A derived number is (section,
quoted text, SQL): the report computes it of values that are there.
"""

from __future__ import annotations

GBIT, MIB = 8.0, 1e9 / 1048576  # from GB/s
HEALTH = "health_suite_extended"
SUMMARY, SWEEP, SERVE = f"{HEALTH}_cluster_health_suite_summary", "vllm_serve_sweep/node1", "vllm_multinode_serve/node1"
PEAK, TOKENS = "peak_bus_bandwidth_gb_per_s", "total_token_throughput_per_s"
ALL_REDUCE = (f"{HEALTH}_nccl_all_reduce_perf", "all_reduce_perf", PEAK)
TORCH = (f"{HEALTH}_torchrun_allreduce", f"{HEALTH}_torchrun_allreduce", PEAK)
PARITY = ("node_parity_summary", "")

TLDR, GATES = "## TL;DR\n", "## Required Reliability Gates"
WEIRD, NETWORK, SERVING = "## Weird / New / Interesting", "## Benchmark A", "## Benchmark B"
NODES, LINKS, COPIES, EXTENSIONS, GAPS = (
    "## Node Parity Snapshot", "## NVLink/NVSwitch", "## Dedicated nvbandwidth", "## GB200 Extensions", "## Gaps, Risks",
)

Stated = tuple[str, str, str, str, str, float]


def _write_bandwidths(section: str) -> list[Stated]:
    return [
        (section, quoted, SUMMARY, "", f"ib_write_bw__{device}__avg_gbit_per_s", 1.0)
        for device, quoted in (("mlx5_0", "387.14"), ("mlx5_1", "387.13"), ("mlx5_4", "387.13"), ("mlx5_5", "387.13"))
    ]


def _out_of_band(section: str) -> list[Stated]:
    return [
        (section, quoted, "iperf3_oob_tcp", f"iperf3 {way}", "bandwidth_gb_per_s", GBIT) for way, quoted in (("fwd", "7.660"), ("rev", "7.450"))
    ]


STATED: list[Stated] = [
    (TLDR, "839.17 GB/s", *ALL_REDUCE, 1.0),
    (TLDR, "719.16 GB/s", *TORCH, 1.0),
    *_write_bandwidths(TLDR),
    *_out_of_band(TLDR),
    (TLDR, "54,947.294 tok/s", SWEEP, "c=256", TOKENS, 1.0),
    (TLDR, "869.511 ms", SWEEP, "c=256", "ttft_p99_ms", 1.0),
    (TLDR, "7,004.857", SWEEP, "c=512", "ttft_mean_ms", 1.0),
    (TLDR, "11,955.548 ms", SWEEP, "c=512", "ttft_p99_ms", 1.0),
    (TLDR, "16,679.879 tok/s", SERVE, "c=64", TOKENS, 1.0),
    (TLDR, "1,260.348 ms", SERVE, "c=64", "ttft_p99_ms", 1.0),
    (GATES, "417.57 GB/s", "nccl_env_sensitivity", "", "baseline_peak_busbw_gb_per_s", 1.0),
    (GATES, "417.57 GB/s", "nccl_env_sensitivity", "", "best_peak_busbw_gb_per_s", 1.0),
    (GATES, "failure_count=0", "nccl_env_sensitivity", "", "failure_count", 1.0),
    *(
        (GATES, quoted, "nccl_env_sensitivity", "", f"profiles__{profile}__{metric}", 1.0)
        for profile, peak, speedup in (
            ("baseline_auto", "417.57", "1.000000x"), ("cross_nic_0", "415.85", "0.995881x"), ("cross_nic_1", "416.99", "0.998611x"),
            ("cross_nic_2", "415.56", "0.995186x"), ("qps_4", "416.13", "0.996551x"), ("ctas_16_16", "417.22", "0.999162x"),
        )
        for quoted, metric in ((peak, "peak_busbw_gb_per_s"), (speedup, "speedup_vs_baseline"))
    ),
    (WEIRD, "839.17 GB/s", *ALL_REDUCE, 1.0),
    (WEIRD, "CV=2.189%", "allreduce_stability", "", "summary__busbw_cv_pct", 1.0),
    (WEIRD, "678.603 GB/s", "allreduce_stability", "", "summary__busbw_min_gb_per_s", 1.0),
    (WEIRD, "54,947.294 tok/s", SWEEP, "c=256", TOKENS, 1.0),
    (WEIRD, "7,004.857 ms", SWEEP, "c=512", "ttft_mean_ms", 1.0),
    (WEIRD, "11,955.548 ms", SWEEP, "c=512", "ttft_p99_ms", 1.0),
    (WEIRD, "node2/node1=0.988x", *PARITY, "node2_over_node1_ratios__gemm_mean_tflop_per_s", 1.0),
    (NETWORK, "839.17 GB/s", *ALL_REDUCE, 1.0),
    (NETWORK, "656.16 GB/s", f"{HEALTH}_nccl_all_gather_perf", "all_gather_perf", PEAK, 1.0),
    (NETWORK, "675.89 GB/s", f"{HEALTH}_nccl_reduce_scatter_perf", "reduce_scatter_perf", PEAK, 1.0),
    (NETWORK, "604.13 GB/s", f"{HEALTH}_nccl_alltoall_perf", "alltoall_perf", PEAK, 1.0),
    (NETWORK, "719.16 GB/s", *TORCH, 1.0),
    *_write_bandwidths(NETWORK),
    *_out_of_band(NETWORK),
    *(
        (SERVING, quoted, SWEEP, f"c={concurrency}", metric, 1.0)
        for concurrency, *row in (
            ("32", "12921.701", "233.299", "498.527", "4.969"), ("64", "25426.417", "189.140", "460.626", "6.004"),
            ("128", "36526.639", "305.124", "789.292", "8.001"), ("256", "54947.294", "425.749", "869.511", "10.929"),
            ("512", "51328.705", "7004.857", "11955.548", "19.081"),
        )
        for quoted, metric in zip(row, (TOKENS, "ttft_mean_ms", "ttft_p99_ms", "tpot_p99_ms"), strict=True)
    ),
    (SERVING, "16679.879", SERVE, "c=64", TOKENS, 1.0),
    (SERVING, "257.364", SERVE, "c=64", "ttft_mean_ms", 1.0),
    (SERVING, "1260.348", SERVE, "c=64", "ttft_p99_ms", 1.0),
    (SERVING, "7.589", SERVE, "c=64", "tpot_p99_ms", 1.0),
    *(
        (NODES, quoted, *PARITY, f"nodes__{node}__{metric}", 1.0)
        for metric, *row in (
            ("gemm__mean_tflop_per_s", "1544.084", "1524.918"), ("gemm__min_tflop_per_s", "1480.291", "1503.477"),
        )
        for node, quoted in zip(("node1", "node2"), row, strict=True)
    ),
    (NODES, "0.988x", *PARITY, "node2_over_node1_ratios__gemm_mean_tflop_per_s", 1.0),
    (NODES, "0.994x", *PARITY, "node2_over_node1_ratios__numa_local_bw_gb_per_s", 1.0),
    (NODES, "1.004x", *PARITY, "node2_over_node1_ratios__fio_seq_read_mib_per_s", 1.0),
    (NODES, "136.605", "numa_mem_bw/node1", "", "results__0__bw_gb_per_s", 1.0),
    (NODES, "135.850", "numa_mem_bw/node2", "", "results__0__bw_gb_per_s", 1.0),
    *(
        (NODES, quoted, f"fio/{node}", f"fio {job}", metric, factor)
        for job, metric, factor, *row in (
            ("seq_read", "bandwidth_gb_per_s", MIB, "1389.928", "1395.214"), ("seq_write", "bandwidth_gb_per_s", MIB, "714.948", "765.431"),
            ("rand_read", "io_per_s", 1.0, "43316.981", "40191.841"), ("rand_write", "io_per_s", 1.0, "18590.278", "17054.312"),
        )
        for node, quoted in zip(("node1", "node2"), row, strict=True)
    ),
    *(
        (COPIES, quoted, f"nvbandwidth/{node}", point, metric, 1.0)
        for point, metric, *row in (
            ("", "sum_count", "43", "43"),  # its peak sum, 20765.46, is one of latencies in ns
            ("nvbandwidth device_to_device_bidirectional_memcpy_read_ce_total", "bandwidth_gb_per_s", "18323.23", "18322.75"),
            ("nvbandwidth device_to_device_bidirectional_memcpy_write_ce_total", "bandwidth_gb_per_s", "18498.67", "18499.85"),
        )
        for node, quoted in zip(("node1", "node2"), row, strict=True)
    ),
    (EXTENSIONS, "805.661 GB/s", "allreduce_stability", "", "summary__busbw_mean_gb_per_s", 1.0),
    (EXTENSIONS, "2.189%", "allreduce_stability", "", "summary__busbw_cv_pct", 1.0),
    (EXTENSIONS, "828.595", "allreduce_latency_comp", "", "cases__one_large__busbw_mean_gb_per_s", 1.0),
    (EXTENSIONS, "121.550 GB/s", "allreduce_latency_comp", "", "cases__many_small__busbw_mean_gb_per_s", 1.0),
    (EXTENSIONS, "0.220 ms", "allgather_control_plane", "", "methods__all_reduce_tensor__latency_mean_ms", 1.0),
    (EXTENSIONS, "4.603x", "allgather_control_plane", "", "comparison__all_gather_object_over_all_gather_tensor_speedup", 1.0),
    *(
        (EXTENSIONS, f"{algorithm}={quoted}", "nccl_algo_comparison", "", f"algorithms_tested__{algorithm}__peak_busbw_gb_per_s", 1.0)
        for algorithm, quoted in (("auto", "840.59"), ("NVLS", "839.70"), ("Ring", "698.42"), ("Tree", "546.54"))
    ),
    *(
        (EXTENSIONS, quoted, "c2c_memcpy/node1", "", f"records__{record}", 1.0)
        for record, quoted in (
            ("bw_h2d_pinned_1073741824__bw_gbps", "125.830"), ("bw_d2h_pinned_1073741824__bw_gbps", "124.536"),
            ("lat_h2d_pinned_4__lat_us", "2.039"), ("lat_d2h_pinned_4__lat_us", "1.839"),
        )
    ),
    (EXTENSIONS, "103,170.572 tok/s", "single_node_torchrun_train_step/node1", "train", "tokens_per_s", 1.0),
    (EXTENSIONS, "210,111.128 tok/s", "multinode_torchrun_train_step/node1", "train", "tokens_per_s", 1.0),
    (EXTENSIONS, "1.316%", "fp4_smoke_skew_guard", "", "max_pairwise_median_gap_pct", 1.0),
]

_MAMF = "from performance_indicator_fact where indicator = 'mamf' and key = 'mamf_tflop_per_s'"
_FASTEST, _SLOWEST = f"(select max(value_number) {_MAMF})", f"(select min(value_number) {_MAMF})"
_PROBE = (
    "from performance_indicator_fact inner join benchmark_run_fact as run using (run_id) "
    "where run.benchmark_case_id = 'aisp_cluster/torchrun_connectivity_probe' and key like 'ranks\\_\\_%' escape '\\'"
)
_BARRIERS = f"(select unnest(value_text::double[]) as ms {_PROBE} and key like '%barrier_ms')"


def _over(metric: str, test: str) -> str:
    one = f"(select {metric} from fabric_outcome_fact where tool = 'fio' and test = '{test}' and nodes = '{{}}')"
    return f"select {one.format('node2')} / {one.format('node1')}"


DERIVED: list[tuple[str, str, str]] = [
    (GATES, "0.137 ms", f"select avg(ms) from {_BARRIERS}"),
    (GATES, "p95=0.230 ms", f"select quantile_cont(ms, 0.95) from {_BARRIERS}"),
    (GATES, "0.057134", f"select min(value_number) {_PROBE} and key like '%busbw_gb_per_s'"),
    (GATES, "0.057147", f"select max(value_number) {_PROBE} and key like '%busbw_gb_per_s'"),
    (NODES, "1.016x", "select max(value_number) filter (where key like 'nodes__node2%') / max(value_number) filter (where key like 'nodes__node1%') "
                      "from performance_indicator_fact where indicator = 'node_parity_summary' and key like '%gemm__min_tflop_per_s'"),
    (NODES, "1.071x", _over("bandwidth_gb_per_s", "seq_write")),
    (NODES, "0.928x", _over("io_per_s", "rand_read")),
    (NODES, "0.917x", _over("io_per_s", "rand_write")),
    (WEIRD, "0.917x", _over("io_per_s", "rand_write")),
    (LINKS, "| node1 | `4`", "select gpus_per_node from hardware_topology_dim where node_count = 1 and gpus_per_node is not null group by all"),
    (EXTENSIONS, "1550.30", f"select {_SLOWEST}"),
    (EXTENSIONS, "1730.47 TFLOPS", f"select {_FASTEST}"),
    *((section, "10.41%", f"select (1 - {_SLOWEST} / {_FASTEST}) * 100") for section in (WEIRD, EXTENSIONS, GAPS)),
    *((section, "11.62%", f"select ({_FASTEST} / {_SLOWEST} - 1) * 100") for section in (WEIRD, EXTENSIONS, GAPS)),
    (EXTENSIONS, "6.817x", "select max(value_number) filter (where key like '%one_large%') / max(value_number) filter (where key like '%many_small%') "
                           "from performance_indicator_fact where indicator = 'allreduce_latency_comp' and key like 'cases%busbw_mean_gb_per_s'"),
]
# Quoted without rounding: the rates of the report itself, 210,111.128 / 103,170.572, give 2.03654.
CUT = (EXTENSIONS, "2.036x", "select max(tokens_per_s) / min(tokens_per_s) from training_outcome_fact")

# Every figure of a test as (run, point, metric, value), of the canonical facts.
FIGURES = """/*
description: One row per figure of a test.
grain: [run_id, point, metric]
*/
select run_id, 'c=' || concurrency_point as point, metric, value
from serving_outcome_fact
unpivot (value for metric in (ttft_mean_ms, ttft_p99_ms, tpot_p99_ms, total_token_throughput_per_s))
union all
select run_id, test as point, 'peak_bus_bandwidth_gb_per_s' as metric, peak_bus_bandwidth_gb_per_s as value
from fabric_outcome_fact
where scope = 'test'
union all
select run_id, tool || ' ' || test as point, metric, value
from fabric_outcome_fact
unpivot (value for metric in (bandwidth_gb_per_s, io_per_s))
where tool in ('fio', 'iperf3', 'nvbandwidth')
union all
select run_id, phase as point, 'tokens_per_s' as metric, tokens_per_s as value
from training_outcome_fact
union all
select run_id, '' as point, key as metric, value_number as value
from performance_indicator_fact
where kind = 'result'
"""
