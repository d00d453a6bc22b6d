"""EleutherAI's lm-evaluation-harness: how well a model answers, and the deployment that served it where InferenceX wrote one beside.

By `lm_eval/loggers/evaluation_tracker.py` (`EvaluationTracker.save_results_aggregated`), 0.4: `results` has, by task, the metrics as
`metric,filter` and their standard errors as `metric_stderr,filter`; `n-shot`, `versions`, `n-samples` and `config` say how they were measured.
`date` is the start in seconds of the Unix epoch. `results` contains the groups of `groups` as well. Answers (`samples_*.jsonl`) are not read.
InferenceX (`benchmarks/benchmark_lib.sh`) writes `meta_env.json` beside the results of a server, and one result a concurrency, `..._conc64.json`.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.deployment_record import DEPLOYMENT_FIELDS
from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    "lm_eval_run": landing_schema(
        RUN_ID,
        pa.field("model", pa.string()),
        pa.field("backend", pa.string()),  # how the model was reached: local-completions, vllm, hf
        pa.field("version", pa.string()),  # of lm_eval
        pa.field("started_at", _TIME),
        pa.field("duration_s", pa.float64()),  # with the loading of what it loads itself
        pa.field("concurrency", pa.int64()),
        pa.field("is_measured", pa.bool_(), nullable=False),  # whether a task has a metric with a number
        *WORKLOAD_FIELDS,
    ),
    "lm_eval_metric": landing_schema(
        RUN_ID,
        pa.field("task", pa.string(), nullable=False),  # lm_eval: what holds for all
        pa.field("kind", pa.string(), nullable=False),  # result, parameter, other
        pa.field("key", pa.string(), nullable=False),  # its path in the file; of a metric without `results/`
        pa.field("value_type", pa.string(), nullable=False),
        pa.field("value_text", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64(), nullable=False),  # 1-based
    ),
    "lm_eval_deployment": landing_schema(RUN_ID, *DEPLOYMENT_FIELDS),  # of InferenceX's meta_env.json
}

INGESTOR = Family(
    package=__name__, name="lm_eval", version=1, tables=TABLES,
    like={"lm-evaluation-harness": ("results", "configs", "versions", "n-shot")},
    formats=(
        "lm-evaluation-harness 0.4: results of tasks (results_*.json)",
        "InferenceX: meta_env.json beside results of lm-evaluation-harness",
    ),
)
