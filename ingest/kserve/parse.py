"""Turns KServe's services into landing rows.

Only `Bundle.read` and `Bundle.map` may raise here (tampered or missing bytes); everything else becomes an issue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.kubernetes import conditions, container_gpus, count, items, objects, texts, truth
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from .bundles import KINDS

_MODE = "serving.kserve.io/deploymentMode"
_OLD_FORMATS = ("sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml", "lightgbm", "paddle")


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    for raw_path in bundle.manifest.by_path:
        report = Report(buffer, raw_path, None)
        data = document(bundle, raw_path, report)
        object_count = 0
        for found in objects(data, KINDS, report):
            object_count += 1
            offset, length, columns = found.place.offset, found.place.length, found.columns()
            service = _llm_service(found.record) if found.kind.startswith("LLM") else _service(found.record)
            buffer.add("kserve_service", raw_path, offset, length, kind=found.kind, **columns, **_shared(found.record), **service)
            of = {"service_kind": found.kind} | {f"service_{name}": columns[name] for name in ("name", "namespace", "uid")}
            for each in conditions(found.record, "status", "conditions"):
                stated = each._asdict()
                del stated["heartbeat_at"]
                buffer.add("kserve_condition_entry", raw_path, offset, length, **of, **stated)
            yield from buffer.full()
        if not object_count:
            report("no-objects", "no service of KServe could be read", 0, len(data), severity="error")


def _shared(record: Record) -> dict[str, Any]:
    meta, status = record.within("metadata"), record.within("status")
    return {
        "deployment_mode": status.text("deploymentMode") or texts(meta, "annotations").get(_MODE),
        "url": status.text("url") or status.within("address").text("url"),
    }


def _service(record: Record) -> dict[str, Any]:
    """An InferenceService: the model is under `model`, or, in the older form, under the name of its format."""
    predictor, status = record.within("spec", "predictor"), record.within("status")
    old = next((name for name in _OLD_FORMATS if isinstance(predictor.values.get(name), dict)), None)
    model = predictor.within("model") if old is None else predictor.within(old)
    worker = predictor.within("workerSpec")
    return {
        "runtime": model.text("runtime") or status.text("servingRuntimeName") or status.text("clusterServingRuntimeName"),
        "model_format": model.within("modelFormat").text("name") or old, "model_uri": model.text("storageUri"),
        "model_name": record.within("metadata").text("name"), "min_replicas": count(predictor, "minReplicas"),
        "max_replicas": count(predictor, "maxReplicas"), "tensor_parallel_size": count(worker, "tensorParallelSize"),
        "pipeline_parallel_size": count(worker, "pipelineParallelSize"), "gpu_count": _gpus(model, predictor),
        "model_state": status.within("modelStatus", "states").text("activeModelState"),
    }


def _llm_service(record: Record) -> dict[str, Any]:
    """An LLMInferenceService: decode, or all of it, in the spec itself, prefill under a key of its own."""
    spec = record.within("spec")
    model, parallelism = spec.within("model"), spec.within("parallelism")
    is_disaggregated = isinstance(spec.values.get("prefill"), dict)
    replicas = count(spec, "replicas")
    return {
        "model_uri": model.text("uri"), "model_name": model.text("name"), "min_replicas": replicas, "max_replicas": replicas,
        "tensor_parallel_size": count(parallelism, "tensor"), "pipeline_parallel_size": count(parallelism, "pipeline"),
        "data_parallel_size": count(parallelism, "data"), "is_expert_parallel": truth(parallelism, "expert"),
        "is_disaggregated": is_disaggregated, "prefill_replicas": count(spec.within("prefill"), "replicas"),
        "gpu_count": _gpus(Record({}, spec.flag), spec.within("template")),
    }


def _gpus(model: Record, pod: Record) -> int | None:
    """The GPUs that one replica asks for: the model's container, and those beside it."""
    stated = [gpus for each in (model, *items(pod, "containers")) if (gpus := container_gpus(each)) is not None]
    return sum(stated) if stated else None
