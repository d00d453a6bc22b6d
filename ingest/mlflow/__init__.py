"""Runs in MLflow's file store, and reports of lightgbm-benchmark's perf.py, which are artifacts of such runs or lie alone.

By `mlflow/store/tracking/file_store.py`: `EXPERIMENT/RUN/{meta.yaml,params,tags,metrics,artifacts}`; a file of `metrics` has a line
`milliseconds value step` for each value that was logged. By `src/common/perf.py` of microsoft/lightgbm-benchmark: of a metric that
it logs, the step is the rank of a node, and the series behind the metric is a JSON artifact with a random name.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")
CPU_KEYS = ("cpu_pct_per_cpu_avg", "cpu_pct_per_cpu_min", "cpu_pct_per_cpu_max", "mem_percent", "disk_usage_percent")
COUNTER_KEYS = (  # since the host's boot, in units of 1024 * 1024 bytes
    "disk_io_read_mb", "disk_io_write_mb", "net_io_lo_sent_mb", "net_io_ext_sent_mb", "net_io_lo_recv_mb", "net_io_ext_recv_mb",
)

TABLES: Mapping[str, pa.Schema] = {
    "mlflow_run": landing_schema(
        RUN_ID,
        *(pa.field(name, pa.string()) for name in ("experiment_id", "experiment_name", "run_name", "lifecycle_stage")),
        pa.field("status", pa.string(), nullable=False),
        pa.field("status_reason", pa.string()),
        pa.field("started_at", _TIME),
        pa.field("ended_at", _TIME),
        pa.field("node_count", pa.int64()),  # in the report of perf.py; NULL without one
        *(field.with_nullable(True) for field in WORKLOAD_FIELDS),
    ),
    "mlflow_entry": landing_schema(
        RUN_ID,
        pa.field("kind", pa.string(), nullable=False),  # param, tag
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string()),
    ),
    "mlflow_metric": landing_schema(
        RUN_ID,
        pa.field("key", pa.string(), nullable=False),
        pa.field("logged_at", _TIME),
        pa.field("value", pa.float64()),
        pa.field("value_text", pa.string()),
        pa.field("step", pa.int64()),
        pa.field("line_number", pa.int64(), nullable=False),
    ),
    "perf_report_sample": landing_schema(
        RUN_ID,
        pa.field("node_rank", pa.int64(), nullable=False),
        pa.field("sample_index", pa.int64(), nullable=False),  # from 0, in the order of the list
        pa.field("is_in_order", pa.bool_(), nullable=False),  # its time is after those of all samples before it
        pa.field("baseline_index", pa.int64()),  # the last sample before it that is in order; NULL for the first
        pa.field("sampled_at", _TIME),
        pa.field("timestamp", pa.float64()),  # as written: seconds of the Unix epoch
        *(pa.field(name, pa.float64()) for name in (*CPU_KEYS, *COUNTER_KEYS)),
    ),
}

INGESTOR = Family(
    package=__name__, name="mlflow", version=1, tables=TABLES,
    formats=(
        "MLflow: runs in a file store (mlruns/EXPERIMENT/RUN)",
        "lightgbm-benchmark: reports of perf.py, as artifacts of such runs or alone",
    ),
)
