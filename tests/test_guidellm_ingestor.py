"""GuideLLM: reports of every version, benchmarks as points, requests by how they ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samples.ingestors import ISSUE_TABLE, Subject, codes, place

GUIDELLM = Subject("guidellm")
RUN = "563b778f-8b3b-49d1-822f-edbf6c1cc93e"


def _distribution(mean: float) -> dict[str, Any]:
    percentiles = {"p50": mean, "p90": mean * 1.5, "p95": mean * 1.75, "p99": mean * 2}
    zero = {"mean": 0.0, "min": 0.0, "max": 0.0, "count": 0, "percentiles": dict.fromkeys(percentiles, 0.0)}
    return {"successful": {"mean": mean, "min": mean / 2, "max": mean * 2, "count": 2, "percentiles": percentiles}, "errored": zero}


def _requests(old: bool) -> dict[str, list[dict[str, Any]]]:
    def request(latency: float, first: float | None, **more: Any) -> dict[str, Any]:
        return {
            "start_time" if old else "request_start_time": 1700000000.5, "request_latency": latency, "prompt_tokens": 32,
            "output_tokens": 8, "time_to_first_token_ms": first, "inter_token_latency_ms": 2.5, "output_tokens_per_second": 8 / latency,
            **more,
        }

    error = {"error": "refused"} if old else {"info": {"error": "refused"}}
    return {
        "successful": [request(0.25, 10.0), request(0.75, 30.0)], "errored": [request(0.1, None, **error)],
        "incomplete": [request(9.0, 20.0)],
    }


def _benchmark(strategy: dict[str, Any], old: bool, **metrics: Any) -> dict[str, Any]:
    totals = {"successful": 2, "errored": 1, "incomplete": 1, "total": 4}
    measured = {
        "requests_per_second": _distribution(1.25), "request_latency": _distribution(0.5),
        "time_to_first_token_ms": _distribution(20.0), "inter_token_latency_ms": _distribution(2.5),
        "output_tokens_per_second": _distribution(64.0), **metrics,
    }
    start = {"type_": "generative_benchmark", "start_time": 1700000000.0, "end_time": 1700000005.0}
    if old:
        return {**start, "run_id": RUN, "args": {"strategy": strategy}, "worker": {"backend_model": "acme/7b"}, "metrics": measured,
                "request_totals": totals, "requests": _requests(old)}
    config = {"run_id": RUN, "strategy": strategy, "backend": {"kind": "openai_http", "model": "acme/7b"}}
    return {**start, "config": config, "metrics": {"request_totals": totals, **measured}, "requests": _requests(old)}


def _report(version: int, **metrics: Any) -> dict[str, Any]:
    """The same two benchmarks as 0.2, as report version 1, and as report version 2 have them."""
    old = version == 0
    strategies = [{"type_": "constant", "rate": 2.0, "max_concurrency": 512}, {"type_": "concurrent", "streams": 8}]
    benchmarks = [_benchmark(strategy, old, **metrics) for strategy in strategies]
    if version == 0:
        return {"benchmarks": benchmarks}
    metadata = {"version": version, "guidellm_version": "0.8.0"}
    data = {"args": {"data": ["prompt_tokens=32"]}} if version == 1 else {"config": {"spec": {"data": [{"prompt_tokens": 32}]}}}
    return {"metadata": metadata, **data, "benchmarks": benchmarks}


def _write(top: Path, version: int = 2, **metrics: Any) -> Path:
    top.mkdir(parents=True)
    (top / "any_name.json").write_text(json.dumps(_report(version, **metrics), indent=1 if version else None))
    return top


def test_only_reports_are_taken(tmp_path: Path) -> None:
    tree = _write(tmp_path / "tree")
    (tree / "other.json").write_text('{"metadata": {"version": 1}, "benchmarks": []}')
    (draft,) = GUIDELLM.drafts(tree)
    assert [(file.raw_path, file.role) for file in draft.files] == [("any_name.json", "report")]


def test_every_version_gives_the_same_points_and_requests(tmp_path: Path) -> None:
    for version in (0, 1, 2):
        stored = tmp_path / f"stored{version}"
        rows = GUIDELLM.rows(_write(tmp_path / str(version), version), stored)
        assert codes(rows) == {}, version
        assert [
            (row["run_id"], row["benchmark_index"], row["workload_point"], row["concurrency"], row["request_rate_per_s"])
            for row in rows["guidellm_benchmark"]
        ] == [(f"guidellm/{RUN}", 0, "constant", None, 2.0), (f"guidellm/{RUN}", 1, "concurrent", 8, None)]
        first = [row for row in rows["guidellm_request"] if row["benchmark_index"] == 0]
        assert [(row["request_index"], row["status"], row["error"], row["request_latency_s"]) for row in first] == [
            (0, "successful", None, 0.25), (1, "successful", None, 0.75), (2, "errored", "refused", 0.1), (3, "incomplete", None, 9.0),
        ]
        assert json.loads(place(first[1], stored)) == _requests(version == 0)["successful"][1]
        assert (first[1]["start_time_s"], first[1]["time_to_first_token_ms"], first[1]["output_tokens"]) == (1700000000.5, 30.0, 8)
        stated = {(row["benchmark_index"], row["key"]): row for row in rows["guidellm_entry"]}
        p90 = stated[1, "metrics/request_latency/successful/percentiles/p90"]
        assert p90["value_number"] == 0.75 and place(p90, stored) == b'"p90": 0.75'
        document = json.loads(rows["guidellm_run"][0]["workload_document"])
        assert document["model"] == "acme/7b" and document["loads"] == [
            {"strategy": "constant", "request_rate_per_s": 2}, {"strategy": "concurrent", "concurrency": 8},
        ]


def test_a_mean_that_is_not_that_of_the_requests(tmp_path: Path) -> None:
    rows = GUIDELLM.rows(_write(tmp_path / "tree", request_latency=_distribution(0.625)), tmp_path / "stored")
    assert codes(rows) == {"aggregate-disagrees": 2}
    assert "0.625" in rows[ISSUE_TABLE][0]["message"] and "0.5" in rows[ISSUE_TABLE][0]["message"]


def test_benchmarks_of_one_load_are_two_points(tmp_path: Path) -> None:
    report = _report(2)
    report["benchmarks"] = [report["benchmarks"][0]] * 2
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "b.json").write_text(json.dumps(report))
    rows = GUIDELLM.rows(tmp_path / "tree", tmp_path / "stored")
    assert [row["workload_point"] for row in rows["guidellm_benchmark"]] == ["constant", "constant 2"]


def test_damage_of_any_kind_raises_nothing(tmp_path: Path) -> None:
    GUIDELLM.fuzz(_write(tmp_path / "tree"), tmp_path / "stored", 60)
