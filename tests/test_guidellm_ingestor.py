"""GuideLLM: reports of every version, benchmarks as points, requests by how they ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import guidellm as sample

GUIDELLM = Subject("guidellm")


def test_only_reports_are_taken(tmp_path: Path) -> None:
    tree = sample.write(tmp_path / "tree")
    (tree / "other.json").write_text('{"metadata": {"version": 1}, "benchmarks": []}')
    (draft,) = GUIDELLM.drafts(tree)
    assert [(file.raw_path, file.role) for file in draft.files] == [("any_name.json", "report")]


def test_every_version_gives_the_same_points_and_requests(tmp_path: Path) -> None:
    for version in (0, 1, 2):
        stored = tmp_path / f"stored{version}"
        rows = GUIDELLM.rows(sample.write(tmp_path / str(version), version), stored)
        assert codes(rows) == {}, version
        assert [
            (row["run_id"], row["benchmark_index"], row["workload_point"], row["concurrency"], row["request_rate_per_s"])
            for row in rows["guidellm_benchmark"]
        ] == [(f"guidellm/{sample.RUN}", 0, "constant", None, 2.0), (f"guidellm/{sample.RUN}", 1, "concurrent", 8, None)]
        first = [row for row in rows["guidellm_request"] if row["benchmark_index"] == 0]
        assert [(row["request_index"], row["status"], row["error"], row["request_latency_s"]) for row in first] == [
            (0, "successful", None, 0.25), (1, "successful", None, 0.75), (2, "errored", "refused", 0.1), (3, "incomplete", None, 9.0),
        ]
        assert json.loads(place(first[1], stored)) == sample.requests(version == 0)["successful"][1]
        assert (first[1]["start_time_s"], first[1]["time_to_first_token_ms"], first[1]["output_tokens"]) == (1700000000.5, 30.0, 8)
        stated = {(row["benchmark_index"], row["key"]): row for row in rows["guidellm_entry"]}
        p90 = stated[1, "metrics/request_latency/successful/percentiles/p90"]
        assert p90["value_number"] == 0.75 and place(p90, stored) == b'"p90": 0.75'
        document = json.loads(rows["guidellm_run"][0]["workload_document"])
        assert document["model"] == "acme/7b" and document["loads"] == [
            {"strategy": "constant", "request_rate_per_s": 2}, {"strategy": "concurrent", "concurrency": 8},
        ]


def test_a_mean_that_is_not_that_of_the_requests(tmp_path: Path) -> None:
    rows = GUIDELLM.rows(sample.write(tmp_path / "tree", request_latency=sample.distribution(0.625)), tmp_path / "stored")
    assert codes(rows) == {"aggregate-disagrees": 2}
    assert "0.625" in rows[ISSUE_TABLE][0]["message"] and "0.5" in rows[ISSUE_TABLE][0]["message"]


def test_benchmarks_of_one_load_are_two_points(tmp_path: Path) -> None:
    report = sample.report(2)
    report["benchmarks"] = [report["benchmarks"][0]] * 2
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "b.json").write_text(json.dumps(report))
    rows = GUIDELLM.rows(tmp_path / "tree", tmp_path / "stored")
    assert [row["workload_point"] for row in rows["guidellm_benchmark"]] == ["constant", "constant 2"]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ('"benchmarks"', '"bencmharks"', "missing-key"), ('"streams": 8', '"streams": "many"', "not-a-number"),
        ('"end_time": 1700000005.0', '"end_time": NaN', "non-finite-number"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, before: str, after: str, code: str) -> None:
    path = sample.write(tmp_path / "tree") / "any_name.json"
    assert before in path.read_text()
    draft = GUIDELLM.drafts(tmp_path / "tree")[0]
    damaged = {path.name: path.read_text().replace(before, after).encode()}
    rows = GUIDELLM.parsed(GUIDELLM.stored(draft, tmp_path / "stored", damaged))
    assert codes(rows)[code] >= 1
