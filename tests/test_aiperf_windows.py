"""AIPerf's time slices and server metrics: windows of the run that they lie beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exhaustive import few
from landed import Subject, codes
from samples import genai_perf as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import Unclaimed
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

GENAI_PERF = Subject("genai_perf")
SCRAPES = [
    {
        "endpoint_url": "http://localhost:8000/metrics", "timestamp_ns": sample.SENT + second * 10**9, "endpoint_latency_ns": 5,
        "metrics": {"vllm:num_requests_running": [{"labels": {"engine": "0"}, "value": float(second)}]},
    }
    for second in (1, 2, 6)
]


def artifacts(folder: Path, **files: str) -> Path:
    sample.write_aiperf(folder)
    (folder / "profile_export_aiperf_timeslices.json").write_text(json.dumps(sample.time_slices(3), indent=2))
    (folder / "profile_export_aiperf_timeslices.csv").write_text("Timeslice,Metric,Unit,Stat,Value\n0,Request Latency,ms,avg,45.2\n")
    for suffix, text in files.items():
        (folder / f"server_metrics_export.{suffix}").write_text(text)
    return folder


def slices(tmp_path: Path, **files: str) -> list[dict[str, Any]]:
    warehouse = Warehouse(standard_project(tmp_path / "p"))
    tree = artifacts(tmp_path / "tree", **files)
    ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    assert warehouse.sql("select count(*) as n from benchmark_run_fact").to_pylist() == [{"n": 1}]
    windows: dict[Any, dict[str, Any]] = {}
    for row in warehouse.sql("from telemetry_slice_fact order by scope, window_start").to_pylist():
        window = windows.setdefault((row["scope"], row["window_start"]), {key: row[key] for key in ("scope", "scope_name", "duration_s")})
        window |= {f"{row['metric']} {name}": row[f"value_{name}"] for name in ("mean", "p99") if row[f"value_{name}"] is not None}
    return list(windows.values())


def test_they_are_evidence_of_the_run_beside_them(tmp_path: Path) -> None:
    (draft,) = GENAI_PERF.drafts(artifacts(tmp_path / "tree", json=json.dumps(sample.server_metrics()), csv=sample.SERVER_METRICS_CSV))
    assert sorted(file.role or "" for file in draft.files) == [
        "records", "server_metrics", "server_metrics_csv", "summary", "time_slices", "time_slices_csv",
    ]


def test_without_a_run_they_are_told(tmp_path: Path) -> None:
    (tmp_path / "a_timeslices.json").write_text(json.dumps(sample.time_slices(1)))
    (found,) = GENAI_PERF.ingestor.bundles(list_tree(tmp_path))
    assert isinstance(found, Unclaimed) and found.path == "a_timeslices.json"


def test_windows_of_the_client_and_of_the_server_are_apart(tmp_path: Path) -> None:
    rows = slices(tmp_path, json=json.dumps(sample.server_metrics()))
    assert [row["scope"] for row in rows] == ["client"] * 3 + ["server"] * 2
    first, server = rows[0], rows[3:]
    assert (first["request_count mean"], first["ttft_ms mean"], first["ttft_ms p99"], first["e2e_ms mean"]) == (1, 30.5, 90, 2500)
    assert (first["duration_s"], first["output_token_throughput_per_s mean"], "requests_running mean" in first) == (1, 87.5, False)
    assert [
        (row["requests_running mean"], row.get("requests_waiting mean"), row["kv_cache_used_pct mean"]) for row in server
    ] == [(4, None, 50), (6, None, 75)]
    assert server[0]["scope_name"] == 'http://localhost:8000/metrics {"engine":"0"}' and "ttft_ms mean" not in server[0]


@pytest.mark.parametrize(
    ("files", "running", "waiting", "used"),
    few([
        ({"csv": sample.SERVER_METRICS_CSV}, 5.8288, 6.2714, 82.65), ({"json": json.dumps(sample.server_metrics(False))}, 5, None, 62.5),
        ({"jsonl": "\n".join(map(json.dumps, SCRAPES))}, 3, None, None),
    ], 1),
)
def test_server_metrics_without_windows_are_one(
    tmp_path: Path, files: dict[str, str], running: float, waiting: float | None, used: float | None
) -> None:
    (row,) = [row for row in slices(tmp_path, **files) if row["scope"] == "server"]
    found = [row.get(f"{metric} mean") for metric in ("requests_running", "requests_waiting", "kv_cache_used_pct")]
    assert found == pytest.approx([running, waiting, used])


def test_every_series_lands_with_its_labels(tmp_path: Path) -> None:
    rows = GENAI_PERF.rows(artifacts(tmp_path / "tree", csv=sample.SERVER_METRICS_CSV), tmp_path / "stored")
    assert codes(rows) == {}
    counter = rows["genai_perf_server_metric"][-1]
    assert (counter["metric"], counter["value_total"], counter["value_rate"], counter["value_avg"]) == (
        "vllm:generation_tokens", 49773, 27.1968, None
    )
    assert json.loads(counter["labels"]) == {"engine": "0", "model_name": "acme"}
