"""inference-perf (kubernetes-sigs): lifecycle reports by stage and in all, what Prometheus saw, and the requests.

One bundle is one run; each of its stages is a point of its workload. The summary is the union of the stages, no point of its
own. All times are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.readers.entries import ENTRY_FIELDS
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema
from warehouse.landing.serving.path_names import NAMED_FIELDS

_POINT = pa.field("point", pa.string())  # stage_0, stage_1 and so on; NULL: the document is of the run

TABLES: Mapping[str, pa.Schema] = {
    "inference_perf_run": landing_schema(
        RUN_ID,
        pa.field("experiment", pa.string()),  # the folder that holds results and manifests
        *NAMED_FIELDS,
        *WORKLOAD_FIELDS,
    ),
    "inference_perf_point": landing_schema(
        RUN_ID,
        pa.field("point", pa.string(), nullable=False),
        pa.field("stage", pa.int64()),
        # The start times of the first and the last of its requests, on the clock of the per-request report.
        pa.field("requests_from_s", pa.float64()),
        pa.field("requests_to_s", pa.float64()),
    ),
    "inference_perf_entry": landing_schema(*ENTRY_FIELDS, _POINT),
    "inference_perf_server": landing_schema(
        RUN_ID,
        pa.field("kind", pa.string()),  # Deployment and the like
        pa.field("image", pa.string()),
        pa.field("arguments", pa.string()),  # one text, variables put in
        pa.field("model", pa.string()),
        pa.field("accelerator", pa.string()),  # as the node selector names it; with the resource where that is a part of one
        pa.field("accelerators_per_replica", pa.int64()),
        pa.field("replicas", pa.int64()),
    ),
    "inference_perf_request": landing_schema(
        RUN_ID,
        pa.field("request_index", pa.int64(), nullable=False),
        pa.field("start_time_s", pa.float64()),  # a monotonic clock, not an epoch
        pa.field("end_time_s", pa.float64()),
        pa.field("error_type", pa.string()),  # NULL: the request succeeded
        pa.field("error_msg", pa.string()),
        pa.field("input_tokens", pa.int64()),
        pa.field("output_tokens", pa.int64()),
        pa.field("first_token_s", pa.float64()),  # times of the first and the last output token, on the same clock
        pa.field("last_token_s", pa.float64()),
        pa.field("token_times", pa.int64()),  # how many there are
    ),
}

INGESTOR = Family(
    package=__name__, name="inference_perf", version=12, tables=TABLES,
    like={"inference-perf": ("load_summary.count", "successes.count", "successes.latency", "failures.count")},
    formats=(
        "inference-perf reports: stage_N_ and summary_ lifecycle_metrics and prometheus_metrics (JSON or YAML)",
        "inference-perf per_request_lifecycle_metrics.json, with info as of 0.1 and as of 0.3 and later",
        "config.yaml and Kubernetes manifests beside them",
    ),
)
