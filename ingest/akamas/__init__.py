"""Akamas studies: the members of an export of a study, unpacked. A run is a trial: one configuration, measured once.

`study.json` has the study, its experiments (a configuration each) and their trials with the window in which metrics were aggregated;
`metrics-*.json` the points of a metric, each tagged with its trial; `telemetry-instance-*.json` the PromQL by which a metric was collected.
The units that `system.json` states for metrics are those of a component type, not of the query: a ratio is called percent there. So a unit is
only taken from the query. Times have no zone; they are UTC.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.telemetry import TELEMETRY_TABLES

_TIME = pa.timestamp("us", tz="UTC")

INGESTOR = Family(
    __name__,
    name="akamas",
    version=1,
    formats=("Akamas study exports, unpacked: study.json, metrics-*.json, telemetry-instance-*.json",),
    tables={
        **TELEMETRY_TABLES,
        "akamas_trial": landing_schema(
            RUN_ID,
            pa.field("study_id", pa.string(), nullable=False),
            pa.field("study_name", pa.string()),
            pa.field("experiment", pa.int64(), nullable=False),
            pa.field("trial", pa.int64(), nullable=False),
            pa.field("state", pa.string()),
            pa.field("state_message", pa.string()),
            pa.field("started_at", _TIME),
            pa.field("ended_at", _TIME),
            pa.field("window_start", _TIME),  # of what was aggregated
            pa.field("window_end", _TIME),
            pa.field("score", pa.float64()),
            pa.field("is_baseline", pa.bool_(), nullable=False),
            *WORKLOAD_FIELDS,
        ),
        "akamas_value": landing_schema(
            RUN_ID,
            pa.field("kind", pa.string(), nullable=False),  # parameter or result
            pa.field("key", pa.string(), nullable=False),  # component.parameter, or component.metric/statistic
            pa.field("value_text", pa.string()),
            pa.field("value_number", pa.float64()),
        ),
    },
)
