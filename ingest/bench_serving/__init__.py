"""Serving benchmarks by vLLM's client and those forked from it: vLLM `bench serve`, SGLang bench_serving, InferenceX.

One bundle is one result file with the console output beside it, or one sweep's folder of repeats. Landing keeps what the
files state as written, and what the requests of a detailed file add to it; the format determines the unit of a key.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.deployments import CONFIGURATION_FIELDS, ROLE_FIELDS
from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    "bench_serving_run": landing_schema(
        RUN_ID,
        pa.field("format", pa.string(), nullable=False),  # one that formats.py lists
        pa.field("is_whole", pa.bool_(), nullable=False),  # false: the record breaks off
        pa.field("failure", pa.string()),  # why the run has no result
        pa.field("metrics_of_requests", pa.string()),  # latencies, such as `ttft,e2e`, whose statistics are all those of the requests
        pa.field("started_at", _TIME),  # ended_at less the duration
        pa.field("ended_at", _TIME),
        pa.field("ended_at_text", pa.string()),
        pa.field("is_zone_assumed", pa.bool_()),  # true: the text states none, and UTC is taken
        pa.field("model", pa.string()),
        pa.field("dataset", pa.string()),
        pa.field("input_length", pa.int64()),  # tokens asked for, as are output_length
        pa.field("output_length", pa.int64()),
        pa.field("num_prompts", pa.int64()),
        pa.field("max_concurrency", pa.int64()),  # NULL: unlimited, or unknown
        pa.field("request_rate_per_s", pa.float64()),  # NULL: all at once, or unknown
        pa.field("burstiness", pa.float64()),
        pa.field("protocol", pa.string()),
        pa.field("workload_point", pa.string(), nullable=False),
        pa.field("repeat_number", pa.int64()),  # of a sweep, from 0
        pa.field("tensor_parallel", pa.int64()),
        pa.field("data_parallel", pa.int64()),
        pa.field("pipeline_parallel", pa.int64()),
        pa.field("expert_parallel", pa.int64()),
        pa.field("split_deployment", pa.string()),  # of a deployment that splits prefill and decode: how each is spread
        pa.field("topology", pa.string()),  # how names lay the deployment out: `1P3D`
        *CONFIGURATION_FIELDS,
        pa.field("system_name", pa.string()),
        pa.field("accelerator", pa.string()),
        pa.field("accelerator_count", pa.int64()),
        *ROLE_FIELDS,
        pa.field("implied_accelerator_count", pa.float64()),  # the system's throughput over that of one accelerator
        pa.field("accelerator_count_ratio", pa.float64()),  # the deployment's number over the implied one; another number than 1: it is not known
        pa.field("framework", pa.string()),
        pa.field("framework_version", pa.string()),
        pa.field("image", pa.string()),
        pa.field("precision", pa.string()),  # quantisation, or else the weights' data type
        pa.field("configuration_stated_in", pa.string()),  # parallel sizes, precision and lengths: record, console, name
        pa.field("driver_version", pa.string()),
        pa.field("cuda_version", pa.string()),
        pa.field("torch_version", pa.string()),
        *WORKLOAD_FIELDS,
    ),
    "bench_serving_entry": landing_schema(*ENTRY_FIELDS),  # source: result; requests, computed from the bytes named; console
    "bench_serving_request": landing_schema(
        RUN_ID,
        pa.field("request_index", pa.int64(), nullable=False),  # from 0
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("started_s", pa.float64()),  # since the first request was sent
        pa.field("ttft_ms", pa.float64()),
        pa.field("tpot_ms", pa.float64()),
        pa.field("itl_mean_ms", pa.float64()),
        pa.field("e2e_ms", pa.float64()),
        pa.field("input_token_count", pa.int64()),
        pa.field("output_token_count", pa.int64()),
        pa.field("output_token_throughput_per_s", pa.float64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="bench_serving", version=20, tables=TABLES,
    like={
        "vLLM bench serve": (
            "model_id", "num_prompts", "request_rate", "duration", "completed", "request_throughput", "output_throughput",
            "mean_ttft_ms", "mean_tpot_ms",
        ),
    },
    formats=(
        "vLLM bench serve and benchmark_serving.py, 0.3 to 0.25: aggregates, --save-detailed, --append-result, sweep folders",
        "vllm bench sweep serve, serve_sla, serve_workload: folders of run=N.json, and what failed (run=N.failure.json)",
        "SGLang bench_serving .jsonl, 0.3 to 0.5: aggregates and --output-details, several runs a file",
        "InferenceX and InferenceMAX: the client's records, also in seconds, and agg_*.json, of fixed lengths and agentic, with power",
        "speech-to-text benchmarks: {audio_duration_s, num_requests, results} as of llm-benchmaq",
    ),
)
