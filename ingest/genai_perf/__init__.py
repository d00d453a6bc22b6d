"""genai-perf and its successor AIPerf: the exported statistics, with the raw export or the records they were made of.

One bundle is one run: a summary (JSON; the CSV only where there is none), perf_analyzer's raw export of every response, or
AIPerf's records of every request. Units are beside each statistic; the raw export counts nanoseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.deployment_record import DEPLOYMENT_FIELDS
from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

_POINT = pa.field("point_index", pa.int64(), nullable=False)
_TIMES = ("ttft", "tpot", "itl", "e2e")
_REQUEST = pa.field("request_index", pa.int64(), nullable=False)

TABLES: Mapping[str, pa.Schema] = {
    "genai_perf_run": landing_schema(
        RUN_ID,
        pa.field("tool", pa.string(), nullable=False),  # genai-perf, aiperf or perf_analyzer
        pa.field("failure", pa.string()),  # of a run without an export: why
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "genai_perf_point": landing_schema(
        RUN_ID,
        _POINT,
        pa.field("concurrency", pa.int64()),
        pa.field("request_rate_per_s", pa.float64()),
        pa.field("has_summary", pa.bool_(), nullable=False),  # whether the summary is of this point
    ),
    "genai_perf_entry": landing_schema(*ENTRY_FIELDS),
    "genai_perf_deployment": landing_schema(  # what a record of InferenceX states that restates the run
        RUN_ID,
        *DEPLOYMENT_FIELDS,
        pa.field("is_power_valid", pa.bool_(), nullable=False),  # whether InferenceX found its own samples of power complete
        pa.field("accelerator_power_w", pa.float64()),  # of the boards of all accelerators
        pa.field("accelerator_energy_per_output_token_j", pa.float64()),
    ),
    "genai_perf_slice": landing_schema(  # AIPerf's time slices: windows of a run, as the client saw them
        RUN_ID,
        pa.field("slice_index", pa.int64(), nullable=False),
        pa.field("start_ns", pa.int64()),
        pa.field("end_ns", pa.int64()),
        pa.field("request_count", pa.int64()),
        pa.field("request_throughput_per_s", pa.float64()),
        pa.field("output_token_throughput_per_s", pa.float64()),
        pa.field("total_token_throughput_per_s", pa.float64()),
        *(pa.field(f"{metric}_{statistic}_ms", pa.float64()) for metric in _TIMES for statistic in ("mean", "p50", "p99")),
    ),
    "genai_perf_server_metric": landing_schema(  # what AIPerf scraped of the servers
        RUN_ID,
        pa.field("endpoint", pa.string()),
        pa.field("labels", pa.string()),  # canonical JSON
        pa.field("metric", pa.string(), nullable=False),  # as the server names it
        pa.field("metric_type", pa.string()),  # gauge, counter, histogram
        pa.field("unit", pa.string()),
        pa.field("start_ns", pa.int64()),  # NULL: the file does not say when it was collected
        pa.field("end_ns", pa.int64()),
        *(pa.field(f"value_{statistic}", pa.float64()) for statistic in ("avg", "min", "max", "total", "rate", "count", "sum")),
    ),
    "genai_perf_request": landing_schema(  # of perf_analyzer's raw export
        RUN_ID,
        _POINT,
        _REQUEST,
        pa.field("timestamp_ns", pa.int64()),  # since the epoch, as all that follow
        pa.field("first_content_ns", pa.int64()),  # of the first response whose content is not empty
        pa.field("last_response_ns", pa.int64()),  # of the last response that is not [DONE]
        pa.field("response_gaps", pa.int64()),  # responses from that first to that last one, less one
        pa.field("prompt_tokens", pa.int64()),  # as the server counts them
        pa.field("completion_tokens", pa.int64()),
    ),
    "genai_perf_record": landing_schema(  # of AIPerf
        RUN_ID,
        _POINT,
        _REQUEST,
        pa.field("credit_issued_ns", pa.int64()),  # when its rate limiter or schedule let it go; the first versions do not state it
        pa.field("request_start_ns", pa.int64()),
        pa.field("request_end_ns", pa.int64()),
        pa.field("time_to_first_token_ms", pa.float64()),
        pa.field("inter_token_latency_ms", pa.float64()),  # mean over the request's tokens after the first
        pa.field("request_latency_ms", pa.float64()),
        pa.field("input_sequence_length", pa.int64()),
        pa.field("output_sequence_length", pa.int64()),
        pa.field("error_type", pa.string()),  # NULL: the request succeeded
        pa.field("error_message", pa.string()),
        pa.field("was_cancelled", pa.bool_()),  # NULL: not stated
        pa.field("session", pa.string()),  # the conversation that the request is a turn of; NULL: not stated, or the request is a helper's
        pa.field("turn_index", pa.int64()),  # which turn, from 0
    ),
}

INGESTOR = Family(
    package=__name__, name="genai_perf", version=19, tables=TABLES,
    like={
        "GenAI-Perf and AIPerf": (
            "input_config", "request_throughput.unit", "request_latency.unit", "request_count.unit", "time_to_first_token.unit",
        ),
    },
    formats=(
        "genai-perf's JSON, and its CSV where there is no JSON",
        "perf_analyzer raw export: {experiments: [{experiment, requests}]}, OpenAI and Triton responses",
        "AIPerf's JSON since 0.1 (or CSV), schema 1.0 to 1.3, and its records, a request a line",
        "AIPerf's time slices, and the server metrics that it scraped (JSON, CSV, or a scrape a line)",
    ),
)
