"""llm-d benchmark reports, versions 0.1, 0.2 and 0.2.1: one report is one run of one load, in YAML or JSON.

Every statistic states its unit beside it. The report also tells the stack that was measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, Tree
from warehouse.landing.entries import ENTRY_FIELDS
from warehouse.landing.rows import landing_schema

_RUN_ID = pa.field("run_id", pa.string(), nullable=False)

TABLES: Mapping[str, pa.Schema] = {
    "llm_d_report_run": landing_schema(
        _RUN_ID,
        pa.field("report_version", pa.string()),
        pa.field("load_tool", pa.string()),  # that made the load, such as inference-perf or guidellm
        pa.field("request_latency_unit", pa.string()),  # as stated; of GuideLLM's, which unit it is in; NULL: not known
        pa.field("workload_point", pa.string(), nullable=False),
        pa.field("workload_document", pa.string(), nullable=False),  # canonical JSON
        pa.field("workload_spec_digest", pa.string(), nullable=False),
    ),
    "llm_d_report_entry": landing_schema(*ENTRY_FIELDS),
    "llm_d_report_engine": landing_schema(  # the inference engines of the stack
        _RUN_ID,
        pa.field("engine_index", pa.int64(), nullable=False),
        pa.field("role", pa.string()),  # prefill, decode, replica, aggregate
        pa.field("tool", pa.string()),
        pa.field("tool_version", pa.string()),  # a version or an image
        pa.field("model", pa.string()),
        pa.field("accelerator", pa.string()),
        pa.field("accelerator_memory", pa.string()),  # as written; in GB
        pa.field("accelerator_count", pa.int64()),
        pa.field("replicas", pa.int64()),
        pa.field("arguments", pa.string()),  # of its command line, one text
        pa.field("quantization", pa.string()),
        pa.field("tensor_parallel", pa.int64()),
        pa.field("pipeline_parallel", pa.int64()),
        pa.field("data_parallel", pa.int64()),
        pa.field("expert_parallel", pa.int64()),
    ),
}


class LlmDReport:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "llm_d_report"
    version = 8
    formats = ("llm-d benchmark report 0.1 (YAML or JSON)", "llm-d benchmark report 0.2 and 0.2.1 (YAML or JSON)")
    tables = TABLES

    def bundles(self, tree: Tree) -> Iterator[BundleDraft]:
        from .bundles import cut

        return cut(tree)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        from .parse import landed

        return landed(bundle, TABLES)


INGESTOR = LlmDReport()
