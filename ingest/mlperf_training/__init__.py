"""MLPerf Training (and HPC) result logs: `:::MLLOG` lines among whatever else a job prints.

One bundle is one repeat set: the result files of one (round, submitter, platform, benchmark) with their scaling factor and
system description. Landing keeps what the lines state; which unit a tracked statistic has, how a set is scored and what a
phase is, the models know.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, landing_schema

TABLES: Mapping[str, pa.Schema] = {
    "mlperf_training_run": landing_schema(
        RUN_ID,
        pa.field("repeat_set", pa.string(), nullable=False),  # the runs that are one result have it in common
        pa.field("usage", pa.string(), nullable=False),  # training or hpc: whose round and rules
        pa.field("round", pa.string()),  # what the path tells; NULL where it does not
        pa.field("submitter", pa.string()),
        pa.field("platform", pa.string()),
        pa.field("benchmark", pa.string()),  # the path's, else the log's own
        pa.field("scaling_mode", pa.string()),  # strong or weak, of an HPC round's path
        pa.field("result_name", pa.string(), nullable=False),
        pa.field("repeat_index", pa.int64(), nullable=False),  # from 1, in the order of the files' numbers
        pa.field("event_count", pa.int64(), nullable=False),
        pa.field("refusal", pa.string()),  # the code of the issue for which no result is taken from the log
        pa.field("copy_of", pa.string()),  # the run of the same set whose log this one copies
        pa.field("workload_document", pa.string()),  # canonical JSON; NULL: the log says nothing of it
        pa.field("workload_spec_digest", pa.string()),
    ),
    "mlperf_training_event": landing_schema(
        RUN_ID,
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
        pa.field("time_ms", pa.int64()),  # Unix epoch
        pa.field("event_type", pa.string()),
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string()),  # as written; NULL when longer than 4096 characters
        pa.field("value_number", pa.float64()),
        pa.field("samples_count", pa.float64()),
        pa.field("step", pa.float64()),  # step or step_num; in some benchmarks it counts samples
        pa.field("epoch_num", pa.float64()),
        pa.field("status", pa.string()),
        pa.field("metric", pa.string()),  # which quality, where a benchmark has several
        pa.field("learning_rate", pa.float64()),
        pa.field("producer", pa.string()),  # the source file that wrote the line
    ),
    "mlperf_training_stat": landing_schema(
        RUN_ID,
        pa.field("line_number", pa.int64(), nullable=False),
        pa.field("stat", pa.string(), nullable=False),  # a key of the object that a tracked_stats line has for value
        pa.field("value", pa.string()),
        pa.field("value_number", pa.float64()),  # in the producer's unit
    ),
    "mlperf_training_power": landing_schema(
        pa.field("run_id", pa.string()),
        pa.field("device", pa.string(), nullable=False),  # node_0, sw_0: the file's name
        pa.field("is_switch", pa.bool_(), nullable=False),  # interconnect, whose power is estimated
        pa.field("line_number", pa.int64(), nullable=False),
        pa.field("time_ms", pa.int64()),
        pa.field("key", pa.string(), nullable=False),
        pa.field("value_number", pa.float64()),  # of power: W, as mlperf_logging's power_measurement writes it
    ),
    "mlperf_training_entry": landing_schema(
        pa.field("source", pa.string(), nullable=False),  # system or scaling
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="mlperf_training", version=12, tables=TABLES,
    formats=(
        "MLPerf Training and HPC result files, rounds v0.7 to v6.0: :::MLLOG lines, also behind task prefixes and in noise",
        "power logs of runs, power/result_N/node_*.txt and sw_*.txt",
        "scaling.json of the RCP checker, systems/<platform>.json of the submission",
    ),
)
