"""MLPerf Endpoints (mlcommons/endpoints): the report of a run, `performance/result_summary.json`, and its `config.yaml`.

By `src/inference_endpoint/metrics/report.py` (`Report.to_json`): durations and latencies are in nanoseconds, `qps` and `tps` per second, of requests
and of output tokens. `n_samples_completed` has the failed ones in it; later versions state `n_samples_succeeded` too. `test_started_at` is of a
monotonic clock, or 0. A phase of an audit (`audit/reference/`) is a report of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

TABLES: Mapping[str, pa.Schema] = {
    "mlperf_endpoints_run": landing_schema(
        RUN_ID,
        pa.field("load_pattern", pa.string()),  # max_throughput, poisson, concurrency, agentic_inference
        pa.field("concurrency", pa.int64()),
        pa.field("request_rate_per_s", pa.float64()),
        pa.field("audit_phase", pa.string()),  # NULL: the run is not part of an audit
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "mlperf_endpoints_entry": landing_schema(*ENTRY_FIELDS),
    "mlperf_endpoints_configuration": landing_schema(RUN_ID, pa.field("model", pa.string())),
}

INGESTOR = Family(
    package=__name__, name="mlperf_endpoints", version=2, tables=TABLES,
    like={"MLPerf Endpoints": ("version", "n_samples_issued", "n_samples_completed", "n_samples_failed", "duration_ns")},
    formats=("MLPerf Endpoints: performance/result_summary.json and config.yaml of a run",),
)
