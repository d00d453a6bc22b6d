"""GuideLLM: a report of several benchmarks, each at a load of its own, with every request.

One bundle is one report is one run; its benchmarks are the points of its workload. Units are in the keys, but for
`request_latency`, which is in seconds in all versions.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

_BENCHMARK = pa.field("benchmark_index", pa.int64(), nullable=False)

TABLES: Mapping[str, pa.Schema] = {
    "guidellm_run": landing_schema(
        RUN_ID,
        pa.field("guidellm_version", pa.string()),
        pa.field("report_version", pa.string()),  # of the report's schema; NULL before 0.4
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "guidellm_benchmark": landing_schema(
        RUN_ID,
        _BENCHMARK,
        pa.field("workload_point", pa.string(), nullable=False),  # the strategy; numbered where two are of one load
        pa.field("strategy", pa.string()),
        pa.field("concurrency", pa.int64()),
        pa.field("request_rate_per_s", pa.float64()),
    ),
    "guidellm_entry": landing_schema(*ENTRY_FIELDS, pa.field("benchmark_index", pa.int64())),  # NULL: of the report
    "guidellm_request": landing_schema(
        RUN_ID,
        _BENCHMARK,
        pa.field("request_index", pa.int64(), nullable=False),
        pa.field("status", pa.string(), nullable=False),  # successful, errored, incomplete
        pa.field("error", pa.string()),
        pa.field("targeted_start_s", pa.float64()),  # since the epoch: when the strategy meant to send it
        pa.field("start_time_s", pa.float64()),  # since the epoch
        pa.field("request_latency_s", pa.float64()),
        pa.field("time_to_first_token_ms", pa.float64()),
        pa.field("inter_token_latency_ms", pa.float64()),  # (last token - first token) / (output tokens - 1)
        pa.field("output_tokens_per_second", pa.float64()),
        pa.field("prompt_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="guidellm", version=11, tables=TABLES,
    formats=(
        "GuideLLM benchmarks.json of 0.2 and 0.3 (args in each benchmark)",
        "GuideLLM benchmarks.json, report version 1 (0.4 to 0.6) and 2 (0.7 and later)",
        "GuideLLM benchmarks.csv, where the run has no JSON: one header row (0.2 and 0.3), or three (0.4 and later)",
    ),
)
