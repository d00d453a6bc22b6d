"""Metrics of Prometheus: scrapes as text (the exposition format, OpenMetrics), answers of `query` and `query_range`, and exports of
VictoriaMetrics and of `promtool tsdb dump`.

A bundle is a folder's files. It states no run: models join its series to runs by identity, or by place and time.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema
from warehouse.landing.telemetry import TELEMETRY_TABLES

INGESTOR = Family(
    __name__,
    name="prometheus",
    version=2,
    formats=(
        "Prometheus exposition format 0.0.4 and OpenMetrics 1.0: one file a scrape, or several scrapes with times; native histograms",
        "Prometheus query and query_range answers: JSON, also behind lines of a wrapper",
        "VictoriaMetrics /api/v1/export: JSON lines",
        "promtool tsdb dump: text",
    ),
    tables={
        **TELEMETRY_TABLES,
        "telemetry_exemplar": landing_schema(
            pa.field("series_number", pa.int64(), nullable=False),
            pa.field("sampled_at", pa.timestamp("us", tz="UTC")),  # of the scrape
            pa.field("labels", pa.string(), nullable=False),  # JSON: trace_id and the like
            pa.field("value", pa.float64()),
            pa.field("observed_at", pa.timestamp("us", tz="UTC")),
        ),
        "telemetry_histogram": landing_schema(
            pa.field("series_number", pa.int64(), nullable=False),
            pa.field("sampled_at", pa.timestamp("us", tz="UTC")),
            pa.field("count", pa.float64()),
            pa.field("sum", pa.float64()),
            pa.field("schema", pa.int64()),  # buckets grow by the factor 2^(2^-schema)
            pa.field("document", pa.string(), nullable=False),  # all items, JSON
        ),
    },
)
