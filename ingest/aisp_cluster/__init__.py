"""Cluster runs of ai-performance-engineering (`cluster/scripts/run_cluster_eval_suite.sh`): one bundle a cluster run, one run a test in it.

By cfregly/ai-performance-engineering `code/cluster`, February to September 2026: `runs/RUN/{manifest.json,structured/,raw/}`, and before
that `results/structured/RUN_*`. Every value of a test lands with its place; rates that the suite calls `_gbps` are GB/s where a collective, a
copy or the memory of a host is measured (`busbw_gbps`), and Gbit/s of iperf3 and perftest; its `mb_s` are MiB/s (scripts/run_fio_bench.sh).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")
_CLUSTER_RUN = pa.field("cluster_run_id", pa.string(), nullable=False)

TABLES: Mapping[str, pa.Schema] = {
    "aisp_manifest": landing_schema(  # what it states of itself
        _CLUSTER_RUN,
        pa.field("manifest_version", pa.int64()),
        pa.field("manifest_mode", pa.string()),
        pa.field("written_at", _TIME),
        pa.field("is_finalized", pa.bool_()),
        pa.field("status", pa.string()),
        pa.field("suite_status", pa.string()),
        pa.field("is_success", pa.bool_()),
        pa.field("completeness", pa.string()),
        pa.field("issues", pa.string()),  # JSON
        pa.field("git_commit", pa.string()),
        pa.field("is_git_dirty", pa.bool_()),
        pa.field("nodes", pa.string()),  # hosts, comma-separated
        pa.field("listed_count", pa.int64()),  # as it counts its files itself
    ),
    "aisp_manifest_entry": landing_schema(
        _CLUSTER_RUN,
        pa.field("path", pa.string(), nullable=False),  # as listed
        pa.field("listed_sha256", pa.string()),
        pa.field("state", pa.string(), nullable=False),  # present, missing raw, differs, self, unhashed
        pa.field("file_raw_path", pa.string()),  # of the file in the bundle
        pa.field("file_sha256", pa.string()),
    ),
    "aisp_suite_step": landing_schema(
        _CLUSTER_RUN,
        pa.field("step_index", pa.int64(), nullable=False),  # place in the list, from 1
        pa.field("name", pa.string()),
        pa.field("started_at", _TIME),
        pa.field("ended_at", _TIME),
        pa.field("started_text", pa.string()),  # as written
        pa.field("ended_text", pa.string()),
        pa.field("exit_code", pa.int64()),
        pa.field("log_path", pa.string()),  # on the machine where the suite ran
        pa.field("command", pa.string()),
    ),
    "aisp_run": landing_schema(
        RUN_ID,
        _CLUSTER_RUN,
        pa.field("test", pa.string(), nullable=False),  # the file's name without run, nodes, GPU and round
        pa.field("kind", pa.string(), nullable=False),  # collective, serving, training, fio, nvbandwidth, iperf3, indicator
        pa.field("node", pa.string()),  # NULL: not of one node
        pa.field("gpu", pa.int64()),
        pa.field("repeat_index", pa.int64()),
        pa.field("nodes", pa.string()),  # that took part, comma-separated
        pa.field("node_count", pa.int64()),
        pa.field("rank_count", pa.int64()),
        pa.field("tool", pa.string()),
        pa.field("program", pa.string()),
        pa.field("stated_status", pa.string()),
        pa.field("stated_reason", pa.string()),
        pa.field("step_index", pa.int64()),  # of the suite step that ran it; NULL: not certain
        pa.field("is_row", pa.bool_(), nullable=False),  # whether the run is these bytes of its file alone
        *WORKLOAD_FIELDS,
    ),
    "aisp_entry": landing_schema(
        RUN_ID,
        pa.field("kind", pa.string(), nullable=False),  # parameter, result, other
        pa.field("key", pa.string(), nullable=False),  # its path, a/b/c; elements of lists by what tells them apart
        pa.field("metric", pa.string(), nullable=False),  # the same, joined by __, with the unit at its end
        pa.field("value_type", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64()),
    ),
    "aisp_collective_point": landing_schema(
        RUN_ID,
        pa.field("point_index", pa.int64(), nullable=False),
        pa.field("message_bytes", pa.int64()),
        pa.field("element_count", pa.int64()),
        pa.field("element_type", pa.string()),
        pa.field("redop", pa.string()),
        pa.field("root", pa.int64()),
        pa.field("time_us", pa.float64()),
        pa.field("alg_bandwidth_gb_per_s", pa.float64()),
        pa.field("bus_bandwidth_gb_per_s", pa.float64()),
        pa.field("wrong_count", pa.int64()),
    ),
    "aisp_serving_point": landing_schema(
        RUN_ID,
        pa.field("point_index", pa.int64(), nullable=False),
        pa.field("model", pa.string()),
        pa.field("tensor_parallel", pa.int64()),
        pa.field("input_length", pa.int64()),
        pa.field("output_length", pa.int64()),
        pa.field("concurrency", pa.int64()),  # closed loop; of an open one its cap
        pa.field("request_rate_per_s", pa.float64()),
        pa.field("prompt_count", pa.int64()),
        pa.field("completed_count", pa.int64()),
        pa.field("failed_count", pa.int64()),
        *(
            pa.field(name, pa.float64())
            for name in (
                "request_throughput_per_s", "output_token_throughput_per_s", "total_token_throughput_per_s",
                "ttft_mean_ms", "ttft_p50_ms", "ttft_p99_ms", "tpot_mean_ms", "tpot_p50_ms", "tpot_p99_ms",
                "itl_mean_ms", "itl_p50_ms", "itl_p99_ms", "gpu_util_mean_pct", "gpu_util_p95_pct",
                "gpu_memory_used_mean_mib", "gpu_memory_used_max_mib", "gpu_power_mean_w", "gpu_power_p95_w",
            )
        ),
    ),
    "aisp_train_step": landing_schema(
        RUN_ID,
        pa.field("step_index", pa.int64(), nullable=False),
        pa.field("step_time_s", pa.float64()),
    ),
    "aisp_clock": landing_schema(  # a GPU's clocks around a test
        _CLUSTER_RUN,
        pa.field("run_id", pa.string()),  # NULL: not certain
        pa.field("node", pa.string()),
        pa.field("gpu", pa.int64()),  # physical
        pa.field("rank_id", pa.int64()),
        pa.field("is_locked", pa.bool_()),
        pa.field("is_lock_required", pa.bool_()),
        pa.field("application_sm_mhz", pa.float64()),
        pa.field("application_memory_mhz", pa.float64()),
        pa.field("current_sm_mhz", pa.float64()),
        pa.field("current_memory_mhz", pa.float64()),
        pa.field("exit_code", pa.int64()),
        pa.field("started_at", _TIME),  # of the command under the lock
        pa.field("ended_at", _TIME),
    ),
    "aisp_command": landing_schema(  # what a command on a node printed
        _CLUSTER_RUN,
        pa.field("node", pa.string()),
        pa.field("document", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("exit_code", pa.int64()),
        pa.field("output", pa.string()),  # NULL: longer than 65,536 characters
    ),
}

INGESTOR = Family(
    package=__name__, name="aisp_cluster", version=1, tables=TABLES,
    formats=(
        "ai-performance-engineering cluster/runs/RUN and cluster/published/current, manifest version 1 and 2",
        "ai-performance-engineering cluster/results/structured/RUN_*, manifest version 1",
    ),
)
