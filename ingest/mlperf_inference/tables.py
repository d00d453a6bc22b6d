"""The landing tables of MLPerf Inference submissions."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_WATTS = pa.decimal128(18, 6)  # as many digits as the power daemon writes

TABLES: Mapping[str, pa.Schema] = {
    "mlperf_inference_run": landing_schema(
        RUN_ID,
        pa.field("benchmark_suite", pa.string(), nullable=False),  # whose rules hold: inference or automotive
        pa.field("round", pa.string()),  # as the path has it: a submitter may use another round's loadgen
        pa.field("division", pa.string(), nullable=False),
        pa.field("submitter", pa.string(), nullable=False),
        pa.field("platform", pa.string(), nullable=False),
        pa.field("benchmark", pa.string(), nullable=False),
        pa.field("scenario_folder", pa.string(), nullable=False),  # verbatim
        pa.field("scenario", pa.string(), nullable=False),  # the folder's, in loadgen's spelling
        pa.field("logged_scenario", pa.string()),  # the log's, in the spelling of today's loadgen
        pa.field("mode", pa.string(), nullable=False),  # performance, accuracy, compliance, ranging
        pa.field("run_name", pa.string(), nullable=False),
        pa.field("supports_run_id", pa.string()),  # the performance run that this one vouches for
        pa.field("refusal", pa.string()),  # the code of the issue that says why no result is taken from this run
        pa.field("summary_refusal", pa.string()),  # the same of its summary alone: the result is in the detail log
        pa.field("has_detail_log", pa.bool_(), nullable=False),
        pa.field("has_summary_log", pa.bool_(), nullable=False),
        pa.field("has_power_log", pa.bool_(), nullable=False),
        *WORKLOAD_FIELDS,
    ),
    "mlperf_inference_entry": landing_schema(
        pa.field("run_id", pa.string()),  # NULL: the document belongs to the bundle, not to one run
        pa.field("source", pa.string(), nullable=False),
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string()),  # as written; NULL when longer than 4096 characters
        pa.field("value_number", pa.float64()),
        pa.field("logged_ms", pa.float64()),  # since the loadgen started, not an epoch
        pa.field("line_number", pa.int64()),  # 1-based
    ),
    "mlperf_inference_power_sample": landing_schema(
        pa.field("run_id", pa.string()),
        pa.field("sampled_at_local", pa.timestamp("us")),  # the power daemon's clock; power/*.json has its zone
        pa.field("sampled_at_text", pa.string(), nullable=False),
        pa.field("channel", pa.string()),  # NULL: the whole system
        pa.field("watts", _WATTS),
        pa.field("volts", _WATTS),
        pa.field("amps", _WATTS),
        pa.field("power_factor", _WATTS),
        pa.field("mark", pa.string()),  # the power session and phase
    ),
}
