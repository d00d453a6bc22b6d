"""TensorRT-LLM's `trtllm-bench throughput` and `latency` with `--report_json`: one report, one run; with `--request_json`, its requests.

By NVIDIA/TensorRT-LLM `tensorrt_llm/bench/dataclasses/reporting.py` (`ReportUtility.get_statistics_dict`), 0.20 to 1.2: latencies are in
milliseconds, also those of `ttft_percentiles` and `tpot_percentiles`, whose keys do not say so; rates are per second. A percentile is the
value at the rank `int(n * p)`. The tool neither counts failed requests nor states the load that was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

TABLES: Mapping[str, pa.Schema] = {
    "trtllm_bench_run": landing_schema(
        RUN_ID,
        pa.field("workload_point", pa.string(), nullable=False),
        pa.field("tensor_parallel", pa.int64()),
        pa.field("pipeline_parallel", pa.int64()),
        pa.field("expert_parallel", pa.int64()),
        pa.field("accelerator_count", pa.int64()),  # the world size; NULL if the parallel sizes or the throughput per GPU contradict it
        pa.field("implied_accelerator_count", pa.float64()),  # the system's throughput over that of one GPU
        pa.field("accelerator_count_ratio", pa.float64()),  # the world size over the implied number
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "trtllm_bench_entry": landing_schema(*ENTRY_FIELDS),
    "trtllm_bench_request": landing_schema(  # times are nanoseconds from an arbitrary origin
        RUN_ID,
        pa.field("request_index", pa.int64(), nullable=False),
        pa.field("start_ns", pa.int64()),
        pa.field("first_token_ns", pa.int64()),  # NULL: it did not stream
        pa.field("end_ns", pa.int64()),  # NULL: it did not end
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("error_tokens", pa.int64()),  # answers that were errors
    ),
}

INGESTOR = Family(
    package=__name__, name="trtllm_bench", version=3, tables=TABLES,
    like={"trtllm-bench": ("engine", "world_info", "request_info", "performance.request_throughput_req_s")},
    formats=(
        "TensorRT-LLM trtllm-bench --report_json, 0.20 to 1.2: throughput and latency, with and without --streaming",
        "TensorRT-LLM trtllm-bench --request_json, beside the report of the run",
    ),
)
