"""SuperBench: the results of each node, and what its monitor sampled.

A run is one node's results, or one monitor's file. Metrics land as they are named, `benchmark/metric:rank`; their units are in no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from warehouse.landing.contract import Bundle, BundleDraft, Tree, Unclaimed
from warehouse.landing.rows import landing_schema

_RUN_ID = pa.field("run_id", pa.string(), nullable=False)
_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    "superbench_run": landing_schema(
        _RUN_ID,
        pa.field("kind", pa.string(), nullable=False),  # results, monitor
        pa.field("node", pa.string()),
        pa.field("status", pa.string(), nullable=False),  # succeeded, failed, unknown: no benchmark's return code is stated
        pa.field("status_reason", pa.string()),
        pa.field("started_at", _TIME),  # of a monitor: its first and last sample
        pa.field("ended_at", _TIME),
        pa.field("workload_document", pa.string(), nullable=False),  # canonical JSON
        pa.field("workload_spec_digest", pa.string(), nullable=False),
    ),
    "superbench_metric": landing_schema(
        _RUN_ID,
        pa.field("key", pa.string(), nullable=False),  # as written: benchmark/metric:rank
        pa.field("benchmark", pa.string()),  # NULL: the key names none
        pa.field("value_text", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
    ),
    "superbench_sample": landing_schema(
        _RUN_ID,
        pa.field("sampled_at", _TIME),  # local time, whose zone nothing states
        pa.field("gpu", pa.int64()),  # NULL: of the host
        pa.field("key", pa.string(), nullable=False),  # without the GPU's number
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
    ),
}


class SuperBench:
    """The ingestor; see `warehouse.landing.contract.Ingestor`."""

    name = "superbench"
    version = 1
    formats = ("SuperBench results of nodes (results-summary.jsonl and .json), monitor.jsonl",)
    tables = TABLES

    def bundles(self, tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
        from .bundles import cut

        return cut(tree)

    def parse(self, bundle: Bundle) -> Iterator[tuple[str, pa.RecordBatch]]:
        from .parse import landed

        return landed(bundle, TABLES)


INGESTOR = SuperBench()
