"""LLMPerf (ray-project/llmperf, `token_benchmark_ray.py`): a summary and the individual responses it sums up.

One bundle is one run: the summary, the responses, or both. All times in both files are seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, Tree
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import landing_schema

TABLES: Mapping[str, pa.Schema] = {
    "llmperf_run": landing_schema(
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("workload_document", pa.string(), nullable=False),  # canonical JSON
        pa.field("workload_spec_digest", pa.string(), nullable=False),
    ),
    "llmperf_entry": landing_schema(*ENTRY_FIELDS),
    "llmperf_request": landing_schema(
        pa.field("run_id", pa.string(), nullable=False),
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


class Llmperf:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "llmperf"
    version = 9
    formats = (
        "LLMPerf token benchmark: *_summary.json (version 2023-08-31) with *_individual_responses.json",
        "LLMPerf leaderboard: summary/NAME.json with individual/NAME.json",
    )
    tables = TABLES

    def bundles(self, tree: Tree) -> Iterator[BundleDraft]:
        from .bundles import cut

        return cut(tree)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        from .parse import landed

        return landed(bundle, TABLES)


INGESTOR = Llmperf()
