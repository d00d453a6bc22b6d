"""llm-d benchmark reports, versions 0.1, 0.2 and 0.2.1: one report is one run of one load, in YAML or JSON.

Every statistic states its unit beside it. The report also tells the stack that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

TABLES: Mapping[str, pa.Schema] = {
    "llm_d_report_run": landing_schema(
        RUN_ID,
        pa.field("report_version", pa.string()),
        pa.field("load_tool", pa.string()),  # that made the load, such as inference-perf or guidellm
        pa.field("request_latency_unit", pa.string()),  # as stated; of GuideLLM's, which unit it is in; NULL: not known
        pa.field("workload_point", pa.string(), nullable=False),
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "llm_d_report_entry": landing_schema(*ENTRY_FIELDS),
    "llm_d_report_engine": landing_schema(  # the inference engines of the stack
        RUN_ID,
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

INGESTOR = Family(
    package=__name__, name="llm_d_report", version=10, tables=TABLES,
    formats=("llm-d benchmark report 0.1 (YAML or JSON)", "llm-d benchmark report 0.2 and 0.2.1 (YAML or JSON)"),
)
