"""The landing tables that all described formats share: a row a run, and a row a value that a run states."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

RUN_TABLE, VALUE_TABLE, REQUEST_TABLE, FABRIC_TABLE = "described_run", "described_value", "described_request", "described_fabric"
PARAMETER, RESULT, SERVED = "parameter", "result", "serving"

SOFTWARE = (
    "framework", "framework_version", "runtime_version", "server_version", "driver_version", "cuda_version", "rocm_version", "nccl_version",
    "operating_system", "kernel_version", "software_stack", "image_digest",
)
_HARDWARE = ("system_name", "gpu_model", "cpu_model", "gpu_memory", "host_memory", "numa_layout", "network_fabric", "storage_fabric")
HARDWARE_COUNTS = ("node_count", "gpu_count", "cpu_logical_count", "cpu_sockets_per_node", "cpu_cores_per_socket", "host_memory_bytes")
HARDWARE = (*_HARDWARE, *HARDWARE_COUNTS)
SOURCE = ("git_commit", "git_branch", "git_remote")
# Columns of serving_outcome_fact that a format may state, with their units.
SERVING: Mapping[str, str] = {
    "concurrency_point": "", "request_rate_per_s": "1/s", "completed_count": "", "failed_count": "",
    **{f"{what}_{statistic}_ms": "ms" for what in ("ttft", "tpot", "itl", "e2e") for statistic in ("mean", "p50", "p90", "p95", "p99")},
    "request_throughput_per_s": "1/s", "sample_throughput_per_s": "samples/s", "output_token_throughput_per_s": "tokens/s",
    "total_token_throughput_per_s": "tokens/s", "queueing_delay_ms": "ms", "jitter_ms": "ms",
    "speculative_acceptance_pct": "%", "speculative_acceptance_length": "tokens",
}
# Columns of request_fact and fabric_outcome_fact that a format may state: texts, and numbers with their units; "": a count.
REQUEST_TEXTS = ("error", "session")
REQUEST: Mapping[str, str] = {
    "turn_index": "", "scheduled_s": "s", "started_s": "s",
    "ttft_ms": "ms", "tpot_ms": "ms", "itl_mean_ms": "ms", "e2e_ms": "ms", "queueing_delay_ms": "ms",
    "input_token_count": "", "output_token_count": "", "stated_output_token_throughput_per_s": "tokens/s",
}
FABRIC_SCOPES = ("point", "pair", "gpu", "stream")
FABRIC_TEXTS = (
    "test", "scope", "scope_name", "placement", "direction", "source", "target", "gpu_model", "gpu_bus_id", "gpu_uuid", "element_type", "redop",
    "latency_kind",
)
FABRIC: Mapping[str, str] = {
    "rank_count": "", "gpu_number": "", "message_bytes": "bytes", "element_count": "", "root": "", "iterations": "", "wrong_count": "",
    "error_count": "", "retransmit_count": "", "time_us": "us", "max_error": "1",
    **{f"{what}bandwidth_gb_per_s": "GB/s" for what in ("alg_", "bus_", "", "peak_", "rank_")},
    "message_rate_per_s": "1/s", "io_per_s": "1/s", "gflop_per_s": "Gflop/s",
    **{f"latency_{statistic}_us": "us" for statistic in ("mean", "min", "max", "stdev", "p50", "p90", "p95", "p99", "p999")},
    "temperature_c": "°C", "power_w": "W", "jitter_ms": "ms", "lost_pct": "%",
}
COUNTS = frozenset({*(name for each in (REQUEST, FABRIC) for name, unit in each.items() if not unit), "message_bytes"})
_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    RUN_TABLE: landing_schema(
        RUN_ID,
        pa.field("family", pa.string(), nullable=False),  # the description's name
        pa.field("benchmark_case_id", pa.string(), nullable=False),
        pa.field("component", pa.string()),
        pa.field("component_version", pa.string()),
        pa.field("section", pa.string()),  # offset+length of the run's own bytes; NULL: the whole file
        pa.field("status", pa.string(), nullable=False),
        pa.field("status_reason", pa.string()),
        pa.field("started_at", _TIME),
        pa.field("ended_at", _TIME),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("duration_s", pa.float64()),
        pa.field("node_name", pa.string()),
        pa.field("cluster", pa.string()),
        pa.field("serving_point", pa.string()),
        *(pa.field(name, pa.string()) for name in (*SOFTWARE, *_HARDWARE, *SOURCE)),
        *(pa.field(name, pa.int64()) for name in HARDWARE_COUNTS),
        pa.field("is_dirty", pa.bool_()),
        *(pa.field(name, pa.string()) for name in ("model", "precision", "protocol", "prompt_distribution", "completion_distribution")),
        pa.field("concurrency_point", pa.int64()),
        *WORKLOAD_FIELDS,
    ),
    VALUE_TABLE: landing_schema(
        RUN_ID,
        pa.field("kind", pa.string(), nullable=False),  # parameter, result or serving
        pa.field("key", pa.string(), nullable=False),
        pa.field("sample", pa.int64(), nullable=False),  # its place among the samples of its key, from 1
        pa.field("value_type", pa.string(), nullable=False),
        pa.field("value_text", pa.string()),  # as written; NULL where the description computes it, or it is too long
        pa.field("value_number", pa.float64()),  # in `unit`
        pa.field("unit", pa.string()),
        pa.field("better", pa.string()),
        pa.field("summary", pa.string()),  # what the run's value is of its samples: median, min or max
    ),
    REQUEST_TABLE: landing_schema(
        RUN_ID,
        pa.field("request_index", pa.int64(), nullable=False),  # in its run, from 0
        pa.field("status", pa.string()),  # NULL: the description says nothing of failures
        *(pa.field(name, pa.string()) for name in REQUEST_TEXTS),
        pa.field("started_at", _TIME),
        *(pa.field(name, pa.float64() if unit else pa.int64()) for name, unit in REQUEST.items()),
    ),
    FABRIC_TABLE: landing_schema(
        RUN_ID,
        pa.field("test_index", pa.int64(), nullable=False),  # in its run, from 1
        pa.field("point_index", pa.int64()),  # in its test, from 1; NULL: the test itself
        pa.field("status", pa.string(), nullable=False),  # measured or failed
        pa.field("status_reason", pa.string()),
        pa.field("figures_digest", pa.string()),  # of all that the points of a test state
        *(pa.field(name, pa.string()) for name in FABRIC_TEXTS),
        *(pa.field(name, pa.int64() if name in COUNTS else pa.float64()) for name in FABRIC),
    ),
}
WORKLOAD_COLUMNS = ("model", "precision", "protocol", "prompt_distribution", "completion_distribution")
