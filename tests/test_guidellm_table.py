"""GuideLLM's CSV: tables of both forms, columns below other names than their own, and the table beside the JSON of its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples import guidellm as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

GUIDELLM = Subject("guidellm")


@pytest.mark.parametrize(
    ("text", "points"),
    [
        (sample.old_table(), [("constant", None, 2.0), ("concurrent", 8, None)]),
        (sample.new_table(), [("concurrent", 4, None), ("concurrent", 8, None)]),
    ],
)
def test_a_table_says_what_the_report_says(text: str, points: list[Any], tmp_path: Path) -> None:
    rows = GUIDELLM.rows(sample.write_table(tmp_path / "tree", text), tmp_path / "stored")
    assert codes(rows) == {}
    assert [(row["strategy"], row["concurrency"], row["request_rate_per_s"]) for row in rows["guidellm_benchmark"]] == points
    (run,) = rows["guidellm_run"]
    assert run["run_id"] == f"guidellm/{sample.RUN}" and '"model":"acme/7b"' in run["workload_document"]
    assert "prompt_tokens=32" in run["workload_document"] and rows["guidellm_request"] == []
    stated = {(row["benchmark_index"], row["key"]): row for row in rows["guidellm_entry"]}
    assert stated[1, "metrics/request_latency/successful/percentiles/p90"]["value_number"] == 0.75
    assert stated[1, "metrics/time_to_first_token_ms/successful/max"]["value_number"] == 40.0
    line = place(stated[0, "metrics/request_latency/successful/mean"], tmp_path / "stored")
    assert line.rstrip(b"\r") in text.encode().split(b"\r\n") and sample.RUN.encode() in line


def test_the_rate_of_a_sweep_is_not_in_the_table(tmp_path: Path) -> None:
    text = sample.new_table(profile={"type_": "sweep", "sweep_size": 2}).replace("generative_benchmark,b1,concurrent", "generative_benchmark,b1,constant")
    rows = GUIDELLM.rows(sample.write_table(tmp_path / "tree", text), tmp_path / "stored")
    assert [(row["workload_point"], row["concurrency"], row["request_rate_per_s"]) for row in rows["guidellm_benchmark"]] == [
        ("concurrent", None, None), ("constant", None, None),
    ]


@pytest.mark.parametrize("errored", [(1, 0), (0, 1)])
def test_columns_of_another_benchmark_are_not_taken(errored: tuple[int, int], tmp_path: Path) -> None:
    """The header is that of the first benchmark. A second one with errors where it had none, or the other way round, is shifted."""
    rows = GUIDELLM.rows(sample.write_table(tmp_path / "tree", sample.new_table(errored=errored)), tmp_path / "stored")
    assert codes(rows) == {"columns-shifted": 1}
    (issue,) = rows[ISSUE_TABLE]
    assert (issue["severity"], issue["line_number"]) == ("error", 5)
    found = {(row["benchmark_index"], row["key"]) for row in rows["guidellm_entry"]}
    for key, is_second in {"metrics/request_totals/successful": True, "metrics/request_latency/successful/mean": False}.items():
        assert ((0, key) in found, (1, key) in found) == (True, is_second)


def test_as_many_cells_below_other_names_are_not_taken(tmp_path: Path) -> None:
    text = sample.new_table().replace(",2,1,1,4,0.5,", ",2,1,0,3,0.5,")  # no errors, but as many cells
    rows = GUIDELLM.rows(sample.write_table(tmp_path / "tree", text), tmp_path / "stored")
    assert codes(rows) == {"columns-shifted": 2} and "statistics of errored requests" in rows[ISSUE_TABLE][0]["message"]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("Successful Sec", "Successful Hours", "unknown-metric"), (",2,1,1,4,", ",2,1,1,5,", "unaccounted-requests"),
        (sample.TIMES[1], "yesterday", "not-a-time"), (",0.0078125,", ",soon,", None),
        ('""streams"": [4, 8]', '""streams"": [4, 0]', "impossible-concurrency"),
    ],
)
def test_what_cannot_be_is_told(before: str, after: str, code: str | None, tmp_path: Path) -> None:
    text = sample.new_table()
    assert before in text
    rows = GUIDELLM.rows(sample.write_table(tmp_path / "tree", text.replace(before, after)), tmp_path / "stored")
    assert set(codes(rows)) == ({code} if code else set())


def test_beside_the_json_of_its_run_it_is_a_twin(tmp_path: Path) -> None:
    tree = sample.write(tmp_path / "tree")
    sample.write_table(tree, sample.old_table())
    sample.write_table(tree / "other", sample.new_table().replace(sample.RUN, "another-run"))
    assert sorted((draft.files[0].role, draft.identity.get("twin_of")) for draft in GUIDELLM.drafts(tree)) == [
        ("report", None), ("table", None), ("twin", "any_name.json"),
    ]


def test_the_facts(tmp_path: Path) -> None:
    sample.write_table(tmp_path / "tree/old", sample.old_table())
    sample.write_table(tmp_path / "tree/new", sample.new_table().replace(sample.RUN, "another-run"))
    warehouse = Warehouse(standard_project(tmp_path / "p"))
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test")
    assert not build(warehouse.project).damaged
    rows = warehouse.sql("from serving_outcome_fact order by run_id, concurrency_point nulls first").to_pylist()
    assert [(row["concurrency_point"], row["request_rate_per_s"], row["workload_point"]) for row in rows] == [
        (None, 2.0, "constant"), (8, None, "concurrent"), (4, None, "concurrent"), (8, None, "concurrent"),
    ]
    expected = {
        "completed_count": 2, "failed_count": 1, "error_rate": 1 / 3, "ttft_mean_ms": 20, "ttft_p50_ms": 20, "ttft_p99_ms": 40, "itl_p90_ms": 3.75,
        "e2e_mean_ms": 500, "e2e_p95_ms": 875, "tpot_mean_ms": None, "request_throughput_per_s": 1.25, "output_token_throughput_per_s": 64,
    }
    for row in rows:
        assert {name: row[name] for name in expected} == pytest.approx(expected)
    runs = warehouse.sql("select status, started_at::varchar as started, is_zone_assumed, duration_s from benchmark_run_fact").to_pylist()
    assert runs == 2 * [{"status": "succeeded", "started": "2023-11-14 22:13:20+00", "is_zone_assumed": True, "duration_s": 5.0}]
