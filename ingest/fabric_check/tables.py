"""The landing tables of fabric and node checks: runs, their tests, what took part, and what was measured.

A run is one execution of one tool. Values are in the unit their column names; where a tool prints one quantity in several
units, the value lands as written and its unit beside it, and the models convert.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_STRING, _INT, _FLOAT = pa.string(), pa.int64(), pa.float64()

_TEST_INDEX = pa.field("test_index", _INT, nullable=False)  # place of the test in its run, from 1
_LINE = pa.field("line_number", _INT)  # 1-based; NULL: the row covers many

RUN, TEST, ENDPOINT, POINT, ENTRY = (
    f"fabric_check_{name}" for name in ("run", "test", "endpoint", "point", "entry")
)

TABLES: Mapping[str, pa.Schema] = {
    RUN: landing_schema(
        RUN_ID,
        pa.field("tool", _STRING, nullable=False),
        pa.field("tool_version", _STRING),
        pa.field("test", _STRING),  # NULL: the evidence does not say which
        pa.field("run_index", _INT, nullable=False),  # place of the run in its file, from 1
        pa.field("status", _STRING, nullable=False),  # succeeded, failed, unknown
        pa.field("status_reason", _STRING),
        pa.field("cluster", _STRING),
        pa.field("nodes", _STRING),  # comma-separated, each by its name, in the order of the ranks
        pa.field("node_count", _INT),
        pa.field("rank_count", _INT),
        pa.field("gpu_model", _STRING),
        pa.field("gpu_count", _INT),
        pa.field("gpu_bus_ids", _STRING),  # of one node, where all nodes have the same
        pa.field("started_at_text", _STRING),
        pa.field("started_at", pa.timestamp("us", tz="UTC")),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("ended_at", pa.timestamp("us", tz="UTC")),
        pa.field("duration_s", _FLOAT),
        *WORKLOAD_FIELDS,
    ),
    TEST: landing_schema(
        RUN_ID,
        _TEST_INDEX,
        pa.field("test", _STRING),
        pa.field("status", _STRING, nullable=False),  # measured, reduced, failed, waived, unknown
        pa.field("status_reason", _STRING),
        pa.field("figures_digest", _STRING),  # of all that its points state; NULL: it measured nothing
    ),
    ENDPOINT: landing_schema(
        RUN_ID,
        pa.field("kind", _STRING, nullable=False),  # rank, gpu
        pa.field("number", _INT, nullable=False),  # of the rank or the GPU
        pa.field("node_name", _STRING),
        pa.field("device", _INT),
        pa.field("bus_id", _STRING),
        pa.field("model", _STRING),
        pa.field("uuid", _STRING),
        _LINE,
    ),
    POINT: landing_schema(
        RUN_ID,
        _TEST_INDEX,
        pa.field("point_index", _INT, nullable=False),  # place in its test, from 1
        pa.field("scope", _STRING, nullable=False),  # point, pair, gpu, stream
        pa.field("scope_name", _STRING),
        pa.field("placement", _STRING),  # out_of_place, in_place; NULL where the tool has none
        pa.field("direction", _STRING),  # read, write, trim; sent, received; bidirectional
        pa.field("status", _STRING, nullable=False),  # measured, failed
        pa.field("status_reason", _STRING),
        pa.field("source", _STRING),
        pa.field("target", _STRING),
        pa.field("gpu_number", _INT),
        pa.field("message_bytes", _INT),
        pa.field("element_count", _INT),
        pa.field("element_type", _STRING),
        pa.field("redop", _STRING),
        pa.field("root", _INT),
        pa.field("iterations", _INT),
        pa.field("time_us", _FLOAT),
        pa.field("alg_bandwidth_gb_per_s", _FLOAT),
        pa.field("bus_bandwidth_gb_per_s", _FLOAT),
        pa.field("wrong_count", _INT),
        pa.field("max_error", _FLOAT),
        pa.field("bandwidth", _FLOAT),
        pa.field("bandwidth_peak", _FLOAT),
        pa.field("bandwidth_p99", _FLOAT),
        pa.field("bandwidth_unit", _STRING),  # as the tool writes it
        pa.field("message_rate_mpps", _FLOAT),
        pa.field("latency_mean", _FLOAT),
        pa.field("latency_min", _FLOAT),
        pa.field("latency_max", _FLOAT),
        pa.field("latency_stdev", _FLOAT),
        pa.field("latency_p50", _FLOAT),
        pa.field("latency_p90", _FLOAT),
        pa.field("latency_p95", _FLOAT),
        pa.field("latency_p99", _FLOAT),
        pa.field("latency_p999", _FLOAT),
        pa.field("latency_unit", _STRING),  # as the tool writes it
        pa.field("latency_kind", _STRING),  # what the tool's word for it is: lat, clat, rtt
        pa.field("io_per_s", _FLOAT),
        pa.field("gflop_per_s", _FLOAT),
        pa.field("error_count", _INT),
        pa.field("temperature_c", _FLOAT),
        pa.field("power_w", _FLOAT),
        pa.field("retransmit_count", _INT),
        pa.field("jitter_ms", _FLOAT),
        pa.field("lost_pct", _FLOAT),
        _LINE,
    ),
    ENTRY: landing_schema(
        pa.field("run_id", _STRING),  # NULL: a summary speaks of a run that is not here
        pa.field("test_index", _INT),  # NULL: of the run, not of one test
        pa.field("source", _STRING, nullable=False),  # log: the tool's own output; summary: a table made of logs
        pa.field("key", _STRING, nullable=False),
        pa.field("value", _STRING),  # as written
        pa.field("value_number", _FLOAT),
        _LINE,
    ),
}
