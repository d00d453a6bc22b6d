"""Traces in OTLP/JSON: a request of the protocol as a document, or one a line, as the collector's file exporter writes them.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding: identifiers are hexadecimal, 64-bit integers are texts, times are
nanoseconds since the epoch. A bundle is a folder's files.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema

_TIME = pa.timestamp("us", tz="UTC")

INGESTOR = Family(
    __name__,
    name="otlp",
    version=1,
    formats=("OTLP/JSON traces 1.x: a document, or JSON lines of the OpenTelemetry collector's file exporter",),
    tables={
        "otlp_span": landing_schema(
            pa.field("trace_id", pa.string(), nullable=False),
            pa.field("span_id", pa.string(), nullable=False),
            pa.field("parent_span_id", pa.string()),  # NULL: the root of its trace
            pa.field("name", pa.string()),
            pa.field("kind", pa.string()),  # SPAN_KIND_SERVER, or its number
            pa.field("status", pa.string()),  # STATUS_CODE_ERROR, or its number
            pa.field("status_message", pa.string()),
            pa.field("started_at", _TIME),
            pa.field("ended_at", _TIME),
            pa.field("duration_ns", pa.int64()),
            pa.field("attributes", pa.string(), nullable=False),  # a JSON object; arrays and objects as JSON text
            pa.field("resource", pa.string(), nullable=False),  # the attributes of what sent it
            pa.field("scope", pa.string()),  # the instrumentation
        ),
    },
)
