"""SuperBench: the results of each node, and what its monitor sampled.

A run is one node's results, or one monitor's file. Metrics land as they are named, `benchmark/metric:rank`; their units are in no file.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    "superbench_run": landing_schema(
        RUN_ID,
        pa.field("kind", pa.string(), nullable=False),  # results, monitor
        pa.field("node", pa.string()),
        pa.field("status", pa.string(), nullable=False),  # succeeded, failed, unknown: no benchmark's return code is stated
        pa.field("status_reason", pa.string()),
        pa.field("started_at", _TIME),  # of a monitor: its first and last sample
        pa.field("ended_at", _TIME),
        *WORKLOAD_FIELDS,
    ),
    "superbench_metric": landing_schema(
        RUN_ID,
        pa.field("key", pa.string(), nullable=False),  # as written: benchmark/metric:rank
        pa.field("benchmark", pa.string()),  # NULL: the key names none
        pa.field("value_text", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
    ),
    "superbench_sample": landing_schema(
        RUN_ID,
        pa.field("sampled_at", _TIME),  # local time, whose zone nothing states
        pa.field("gpu", pa.int64()),  # NULL: of the host
        pa.field("key", pa.string(), nullable=False),  # without the GPU's number
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
    ),
}

INGESTOR = Family(
    package=__name__, name="superbench", version=1, tables=TABLES,
    formats=("SuperBench results of nodes (results-summary.jsonl and .json), monitor.jsonl",),
)
