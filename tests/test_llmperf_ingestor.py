"""LLMPerf: recognition, landing with exact bytes, the checks of the summary, damage, and all real summaries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from landed import ISSUE_TABLE, Subject, codes, place
from samples.llmperf import REQUESTS, summary, write

LLMPERF = Subject("llmperf")


def test_a_summary_goes_with_its_responses_wherever_they_lie(tmp_path: Path) -> None:
    (tool,) = LLMPERF.drafts(write(tmp_path / "one"))
    assert [(file.raw_path, file.role) for file in tool.files] == [
        ("acme-7b_500_100_individual_responses.json", "individual_responses"), ("acme-7b_500_100_summary.json", "summary"),
    ]
    assert tool.runs == ("llmperf/acme-7b_500_100/1700000000",)
    (other,) = LLMPERF.drafts(write(tmp_path / "deep" / "er").parent)
    assert (other.identity, [file.raw_path for file in other.files]) == (tool.identity, [file.raw_path for file in tool.files])
    board = tmp_path / "board"
    for folder, data in (("summary", summary()), ("individual", REQUESTS)):
        (board / folder).mkdir(parents=True)
        (board / folder / "acme.json").write_text(json.dumps(data, indent=4))
    (collected,) = LLMPERF.drafts(board)
    assert [file.raw_path for file in collected.files] == ["individual/acme.json", "summary/acme.json"]


def test_each_alone_is_a_run_and_nothing_else_is(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "acme-7b_500_100_individual_responses.json").rename(folder / "other.json")
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "list.json").write_text("[1, 2]")
    assert sorted(file.raw_path for draft in LLMPERF.drafts(folder) for file in draft.files) == [
        "acme-7b_500_100_summary.json", "other.json",
    ]


def test_nested_results_are_a_summary_and_are_checked(tmp_path: Path) -> None:
    folder = write(tmp_path / "tree", results_ttft_s_mean=0.5)
    path = folder / "acme-7b_500_100_summary.json"
    stated = {key: value for key, value in json.loads(path.read_text()).items() if not key.startswith("results_")}
    stated["results"] = {"ttft_s": {"mean": 0.5, "quantiles": {"p50": 0.375}}, "number_errors": 2}
    path.write_text(json.dumps(stated))
    (draft,) = LLMPERF.drafts(folder)
    assert {file.role for file in draft.files} == {"summary", "individual_responses"}
    (issue,) = LLMPERF.rows(folder, tmp_path / "stored")[ISSUE_TABLE]
    assert issue["code"] == "aggregate-disagrees" and "0.5" in issue["message"] and "0.375" in issue["message"]


def test_rows_say_what_the_files_say_and_where(tmp_path: Path) -> None:
    rows = LLMPERF.rows(write(tmp_path / "tree"), tmp_path / "stored")
    assert codes(rows) == {}
    for row, request in zip(rows["llmperf_request"], REQUESTS, strict=True):
        assert json.loads(place(row, tmp_path / "stored")) == request
        assert row["number_input_tokens"] == 500 and row["error_code"] == (str(request["error_code"]) if request["error_code"] else None)
    assert [row["ttft_s"] for row in rows["llmperf_request"]] == [0.5, 0.25, 0.1, None]  # the last got no answer
    for row in rows["llmperf_entry"]:
        assert json.loads(b"{" + place(row, tmp_path / "stored") + b"}") == {row["key"]: summary()[row["key"]]}
    assert {row["key"]: row["value_number"] for row in rows["llmperf_entry"]}["results_number_output_tokens_max"] == 100
    (run,) = rows["llmperf_run"]
    assert json.loads(run["workload_document"]) == {
        "tool": "llmperf", "model": "acme/7b", "mean_input_tokens": 500, "stddev_input_tokens": 0, "mean_output_tokens": 100,
        "stddev_output_tokens": 10, "num_concurrent_requests": 2,
    }


def test_a_summary_without_completed_requests_leaves_none_unaccounted(tmp_path: Path) -> None:
    rows = LLMPERF.rows(write(tmp_path / "tree", results_num_completed_requests=None), tmp_path / "stored")
    assert "unaccounted-requests" not in {row["code"] for row in rows[ISSUE_TABLE]}


@pytest.mark.parametrize(
    "changes",
    [
        {"results_ttft_s_mean": 0.376}, {"results_ttft_s_quantiles_p90": 0.5}, {"results_end_to_end_latency_s_stddev": 0.5},
        {"results_number_output_tokens_max": "101"}, {"results_number_errors": 1},  # and one more is unaccounted for
    ],
)
def test_a_summary_that_is_not_that_of_its_requests_is_flagged(tmp_path: Path, changes: dict[str, Any]) -> None:
    rows = LLMPERF.rows(write(tmp_path / "tree", **changes), tmp_path / "stored")
    (issue,) = (row for row in rows[ISSUE_TABLE] if row["code"] != "unaccounted-requests")
    ((key, value),) = changes.items()
    assert issue["code"] == "aggregate-disagrees" and key in issue["message"] and str(value) in issue["message"]
    assert json.loads(b"{" + place(issue, tmp_path / "stored") + b"}") == changes


def test_a_wrong_throughput_field_is_flagged_with_both_values(tmp_path: Path) -> None:
    wrong = [{**REQUESTS[0], "request_output_throughput_token_per_s": 1.25}, *REQUESTS[1:]]
    (issue,) = LLMPERF.rows(write(tmp_path / "tree", wrong), tmp_path / "stored")[ISSUE_TABLE]
    # (1.25 + 40) / 2 as stated, (50 + 40) / 2 of tokens and time
    assert (issue["code"], issue["severity"]) == ("request-rate-disagrees", "warning")
    assert "its mean is 20.62, that of the quotient 45:" in issue["message"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda text: text.replace('"ttft_s": 0.5', '"ttft_s": NaN'), "non-finite-number"),
        (lambda text: text.replace('"ttft_s": 0.5', '"ttft_s": "soon"'), "not-a-number"),
        (lambda text: text.replace('"ttft_s": 0,', '"ttft_s": "soon",'), "not-a-number"),  # of one that got no answer
        (lambda text: text.replace('"number_output_tokens": 100', '"number_output_tokens": 1.5'), "not-an-integer"),
        (lambda text: text.replace('"ttft_s": 0.5', '"ttft_s": 0.5, "ttft_s": 0.5'), "duplicate-json-key"),
        (lambda text: text[:-60], "malformed-json"),
        (lambda text: text.replace("[\n", "[\n7,", 1), "not-an-object"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path: Path, change: Callable[[str], str], code: str) -> None:
    folder = write(tmp_path / "tree")
    (draft,) = LLMPERF.drafts(folder)
    name = "acme-7b_500_100_individual_responses.json"
    text = change((folder / name).read_text())
    rows = LLMPERF.parsed(LLMPERF.stored(draft, tmp_path / "stored", {name: text.encode()}))
    issue = next(row for row in rows[ISSUE_TABLE] if row["code"] == code)
    assert issue["raw_path"] == name and issue["line_number"] >= 1


def test_numbers_as_strings_are_numbers(tmp_path: Path) -> None:
    text = [{**request, "ttft_s": str(request["ttft_s"])} for request in REQUESTS]
    rows = LLMPERF.rows(write(tmp_path / "tree", text), tmp_path / "stored")
    assert [row["ttft_s"] for row in rows["llmperf_request"]] == [0.5, 0.25, 0.1, None] and not rows[ISSUE_TABLE]


def test_all_real_runs_land_and_no_summary_disagrees_but_for_throughput(serving_evidence: Path, tmp_path: Path) -> None:
    drafts = LLMPERF.drafts(serving_evidence / "ray-project__llmperf-leaderboard")
    summaries = sorted((serving_evidence / "ray-project__llmperf-leaderboard").rglob("summary/*.json"))
    assert len(drafts) == len(summaries) == len({draft.runs for draft in drafts})
    for draft, path in zip(drafts, sorted(summaries, key=lambda path: f"{path.parent.name}/{path.name}"), strict=True):
        rows = LLMPERF.parsed(LLMPERF.stored(draft, tmp_path / path.name))
        requests = json.loads((path.parents[1] / "individual" / path.name).read_bytes())
        assert len(rows["llmperf_request"]) == len(requests)
        assert all("request_output_throughput" in row["message"] for row in rows[ISSUE_TABLE]), rows[ISSUE_TABLE]
        whole = [request for request in requests if request["error_code"] is None]
        worst = max(
            abs(r["request_output_throughput_token_per_s"] * r["end_to_end_latency_s"] / r["number_output_tokens"] - 1) for r in whole
        )
        assert bool(rows[ISSUE_TABLE]) == (worst > 1e-9), path.name
        if "replicate" in path.name:
            assert worst > 0.9 and rows[ISSUE_TABLE]


def test_sampling_parameters_tell_workloads_apart(tmp_path: Path) -> None:
    digests = set()
    for index, changes in enumerate(({"additional_sampling_params": "{}"}, {"additional_sampling_params_temperature": 0.7},
                                     {"additional_sampling_params_temperature": 0.2, "additional_sampling_params_stop_0": "x"})):
        rows = LLMPERF.rows(write(tmp_path / f"{index}", **changes), tmp_path / f"stored{index}")
        digests.add(rows["llmperf_run"][0]["workload_spec_digest"])
    assert len(digests) == 3
    document = json.loads(rows["llmperf_run"][0]["workload_document"])
    assert document["additional_sampling_params"] == {"temperature": "0.2", "stop_0": "x"}


def test_two_summaries_of_one_name_and_second_in_two_folders_are_two_runs(tmp_path: Path) -> None:
    for node, tokens in (("node-a", 99), ("node-b", 100)):
        write(tmp_path / node, mean_input_tokens=tokens)
    found = [LLMPERF.rows(tmp_path, tmp_path / f"stored-{index}", index) for index in range(2)]
    assert [row["run_id"].split("/")[1] for rows in found for row in rows["llmperf_run"]] == ["node-a", "node-b"]
    assert [codes(rows)["name-collides"] for rows in found] == [1, 1]
