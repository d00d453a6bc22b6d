"""LLMPerf (ray-project/llmperf, `token_benchmark_ray.py`): a summary and the individual responses it sums up.

One bundle is one run: the summary, the responses, or both. All times in both files are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

TABLES: Mapping[str, pa.Schema] = {
    "llmperf_run": landing_schema(
        RUN_ID,
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "llmperf_entry": landing_schema(*ENTRY_FIELDS),
    "llmperf_request": landing_schema(
        RUN_ID,
        pa.field("request_index", pa.int64(), nullable=False),
        pa.field("error_code", pa.string()),  # NULL: the request succeeded
        pa.field("error_msg", pa.string()),
        pa.field("started_s", pa.float64()),  # since the test began; only later versions state it
        pa.field("ttft_s", pa.float64()),
        # End-to-end latency / output tokens: the time to the first token is in it.
        pa.field("inter_token_latency_s", pa.float64()),
        pa.field("end_to_end_latency_s", pa.float64()),
        pa.field("request_output_throughput_token_per_s", pa.float64()),  # as stated; wrong for some providers
        pa.field("number_input_tokens", pa.int64()),
        pa.field("number_output_tokens", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="llmperf", version=11, tables=TABLES,
    like={"LLMPerf": ("mean_input_tokens", "stddev_input_tokens", "mean_output_tokens", "num_concurrent_requests", "results")},
    formats=(
        "LLMPerf token benchmark: *_summary.json (version 2023-08-31) with *_individual_responses.json",
        "LLMPerf leaderboard: summary/NAME.json with individual/NAME.json",
    ),
)
