"""KServe: InferenceService (serving.kserve.io/v1beta1) and LLMInferenceService (v1alpha1, v1alpha2): how a model is served, and whether it was ready.

Objects as `kubectl get -o yaml` or `-o json` prints them: one, a List, or several documents; also manifests, which have a spec and no status.
By the API types of KServe 0.11 to 0.16 (https://kserve.github.io/website/docs/reference/crd-api). What the service is made of is what the
object states: defaults that a runtime or a base configuration adds are not known from it, and are NULL.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.kubernetes import OBJECT_FIELDS
from warehouse.landing.rows import landing_schema

_TIME = pa.timestamp("us", tz="UTC")

TABLES: Mapping[str, pa.Schema] = {
    "kserve_service": landing_schema(
        *OBJECT_FIELDS,
        pa.field("kind", pa.string(), nullable=False),
        pa.field("deployment_mode", pa.string()),  # as stated: status, else the annotation
        pa.field("runtime", pa.string()),  # the ServingRuntime
        pa.field("model_format", pa.string()),
        pa.field("model_uri", pa.string()),
        pa.field("model_name", pa.string()),
        pa.field("min_replicas", pa.int64()),
        pa.field("max_replicas", pa.int64()),
        pa.field("tensor_parallel_size", pa.int64()),
        pa.field("pipeline_parallel_size", pa.int64()),
        pa.field("data_parallel_size", pa.int64()),
        pa.field("is_expert_parallel", pa.bool_()),
        pa.field("prefill_replicas", pa.int64()),
        pa.field("is_disaggregated", pa.bool_()),  # prefill is served apart
        pa.field("gpu_count", pa.int64()),  # that a replica asks for
        pa.field("url", pa.string()),
        pa.field("model_state", pa.string()),  # of the active model: Loaded
    ),
    "kserve_condition_entry": landing_schema(  # one row a condition of a service
        pa.field("service_kind", pa.string(), nullable=False),
        pa.field("service_name", pa.string()),
        pa.field("service_namespace", pa.string()),
        pa.field("service_uid", pa.string()),
        pa.field("position", pa.int64(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("status", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("message", pa.string()),
        pa.field("transition_at", _TIME),
    ),
}

INGESTOR = Family(
    package=__name__, name="kserve", version=1, tables=TABLES,
    formats=("KServe: InferenceService v1beta1 as YAML or JSON", "KServe: LLMInferenceService v1alpha1, v1alpha2 as YAML or JSON"),
)
