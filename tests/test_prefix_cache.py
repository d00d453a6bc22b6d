"""How much of its prompts a server found in its prefix cache, from its own counters or InferenceX's record of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from samples import bench_serving, genai_perf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build


def _counters(**totals: float | tuple[float, ...]) -> str:
    """AIPerf's JSON of counters; of several numbers, each is of a series of its own."""
    metrics = {}
    for name, stated in totals.items():
        series = [
            {"endpoint_url": "http://localhost:8000/metrics", "labels": {"source": str(number)}, "stats": {"total": total, "rate": 1.0}}
            for number, total in enumerate(stated if isinstance(stated, tuple) else (stated,))
        ]
        metrics[name.replace("__", ":")] = {"type": "counter", "unit": "tokens", "series": series}
    return _export(metrics)


def _export(metrics: dict[str, Any]) -> str:
    return json.dumps({"schema_version": "1.0", "aiperf_version": "0.10.0", "benchmark_id": "1", "summary": {"endpoints_configured": []}, "metrics": metrics})


_SCRAPED = {
    "vllm": _counters(vllm__prefix_cache_hits=(250.0, 50.0), vllm__prefix_cache_queries=(500.0, 500.0), vllm__prompt_tokens=1000.0),
    "offloaded": _counters(
        vllm__prefix_cache_hits=200.0, vllm__prefix_cache_queries=1000.0, vllm__external_prefix_cache_hits=400.0,
        vllm__external_prefix_cache_queries=800.0,
    ),
    "sglang": _counters(sglang__cached_tokens=(80.0, 640.0), sglang__prompt_tokens=900.0),
    "cold": _counters(sglang__cached_tokens=0.0, sglang__prompt_tokens=900.0),
    "no_cache": _counters(sglang__prompt_tokens=900.0),
    "idle": _counters(vllm__prefix_cache_hits=0.0, vllm__prefix_cache_queries=0.0),
    "contradictory": _counters(vllm__prefix_cache_hits=3.0, vllm__prefix_cache_queries=2.0),
    "gauge": _export({"sglang:cache_hit_rate": {"type": "gauge", "series": [{"endpoint_url": "x", "labels": {}, "stats": {"avg": 0.5}}]}}),
}
_RECORDED: dict[str, dict[str, Any]] = {
    "record": {"overall_cache_hit_rate": 0.625, "prefix_cache_queries": None, "cached_tokens_by_source": {"device": 500, "host": 125}},
    "record of vllm": {"overall_cache_hit_rate": 0.25, "prefix_cache_hits": 1, "prefix_cache_queries": 4, "cached_tokens_by_source": {}},
    "record of a gauge": {"overall_cache_hit_rate": 0.5, "prefix_cache_queries": None, "cached_tokens_by_source": {}},
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, ...]]:
    tree = tmp_path_factory.mktemp("evidence")
    for name, text in _SCRAPED.items():
        genai_perf.write_aiperf(tree / name)
        stated = json.loads((tree / name / "profile_export_aiperf.json").read_text())
        stated["input_config"]["endpoint"]["model_names"] = [name]
        (tree / name / "profile_export_aiperf.json").write_text(json.dumps(stated))
        (tree / name / "server_metrics_export.json").write_text(text)
    for number, (name, cache) in enumerate(_RECORDED.items()):
        record = bench_serving.inferencex_agentic_record(model=name, conc=number + 1, server_metrics={"present": True, "cache": cache})
        bench_serving.write(tree / "records" / f"{number}.json", record)
    project = standard_project(tmp_path_factory.mktemp("project") / "p")
    ingest(plan_ingest(tree, load_ingestors(project).values(), project.store_root), open_store(project), str(tree))
    assert not build(project).damaged
    rows = Warehouse(project).sql(
        "select workload.model, cache.* exclude (run_id, artifact_manifest_digest) from staging.serving_prefix_cache as cache"
        " inner join benchmark_run_fact using (run_id) inner join workload_dim as workload using (workload_spec_digest)"
    ).to_pylist()
    return {name: tuple(values) for name, *values in (row.values() for row in rows)}


def test_what_a_server_counted(found: dict[str, tuple[Any, ...]]) -> None:
    assert found["vllm"] == (0.3, 300, 1000, "counters")
    assert found["offloaded"] == (0.6, 600, 1000, "counters")
    assert found["sglang"] == (0.8, 720, 900, "counters")
    assert found["cold"] == (0.0, 0, 900, "counters")


def test_what_a_record_states_of_counters(found: dict[str, tuple[Any, ...]]) -> None:
    assert found["record"] == (0.625, None, None, "record") and found["record of vllm"] == (0.25, None, None, "record")


def test_what_is_not_stated_is_missing(found: dict[str, tuple[Any, ...]]) -> None:
    assert found.keys() == {"vllm", "offloaded", "sglang", "cold", "record", "record of vllm"}
