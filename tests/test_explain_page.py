"""The page that explains a run, and the telemetry on the page of a run: what they show, and that every link of it leads somewhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

from serving import client
from test_explain import last_run, with_metrics

from warehouse.analysis.conditions import Difference
from warehouse.analysis.explain.explanation import Explanation, explain
from warehouse.surfaces.views.analysis.explain import _without_cause


def part(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    (found,) = [each for each in document["parts"] if each["name"] == name]
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def test_the_page_has_the_answers_of_the_command_and_leads_to_the_bytes() -> None:
    project = with_metrics()
    run = last_run(project)
    found = explain(project, run)
    with client(project) as visitor:
        document = visitor.get("/api/explain", params={"run": run}).json()
        (cause, *_) = part(document, "causes")
        worst = found.causes()[0].findings[0]
        assert (cause["cause"], cause["where"] if "where" in cause else cause["subject"]) == (found.causes()[0].check.description, worst.subject)
        states = {row["check"]: row["state"] for row in part(document, "playbook_tail_latency_regression")}
        assert states == {each.check.name: each.state for each in found.answers if each.check.playbook == "tail_latency_regression"}
        page = visitor.get("/explain", params={"run": run})
        assert page.status_code == 200 and worst.raw_path and worst.raw_path in page.text
        file = visitor.get(f"/evidence/{worst.artifact_manifest_digest}/files/{quote(worst.raw_path)}")
        assert file.status_code == 200 and "num_requests_waiting" in file.text


def test_playbooks_without_evidence_are_one_table_that_names_what_would_answer() -> None:
    project = with_metrics()
    found = explain(project, last_run(project))
    with client(project) as visitor:
        rows = {row["scenario"]: row for row in part(visitor.get("/api/explain", params={"run": found.run_id}).json(), "without_evidence")}
    assert rows.keys() == {name for name in found.playbooks() if found.is_blind(name)}
    assert "scheduler_backpressure" in rows and "tail_latency_regression" not in rows
    assert all(each.check.name in row["checks"] and each.check.evidence in row["needs"] for name, row in rows.items() for each in found.of_playbook(name, are_symptoms=False))


def test_without_a_run_it_asks_for_one_and_an_unknown_one_is_not_found() -> None:
    with client(with_metrics()) as visitor:
        page = visitor.get("/explain").text
        assert "Which run is to be explained?" in page and f'href="/explain?run={quote(last_run(with_metrics()), safe="")}"' in page
        answer = visitor.get("/explain", params={"run": "nosuch"})
        assert answer.status_code == 404 and "WH502" in answer.text


def test_the_page_of_a_run_has_its_telemetry_and_leads_to_the_explanation() -> None:
    project = with_metrics()
    run = last_run(project)
    with client(project) as visitor:
        document = visitor.get(f"/api/runs/{quote(run)}").json()
        telemetry = {row["metric"]: row for row in part(document, "telemetry")}
        waiting = telemetry["requests_waiting"]
        assert (waiting["value"], waiting["unit"], waiting["support"], waiting["join_method"]) == (40, "count", "supported", "node")
        windows = visitor.get(f"/api/runs/{quote(run)}", params={"metric": "requests_waiting"}).json()
        assert {row["value"] for row in part(windows, "windows")} == {40}
        assert f"/explain?run={quote(run, safe='')}" in visitor.get(f"/runs/{quote(run)}").text


def test_a_suspected_symptom_without_a_cause_is_said_as_such() -> None:
    def found(*suspected: str, differences: tuple[Difference, ...] = ()) -> Explanation:
        return cast(Explanation, SimpleNamespace(
            playbooks=lambda: ["slow_host", "tail"], is_suspected=lambda name: name in suspected, causes=list, differences=differences,
        ))

    assert _without_cause(found("slow_host")) == "Slow host suspected, but no check found a cause."
    version = Difference("software", "framework_version", ("1",), ("2",))
    said = _without_cause(found("slow_host", differences=(version,)))
    assert said == "Slow host suspected, but no check found a cause. What differs: framework version 1 → 2."
    assert _without_cause(found()) == "No check found a symptom or a cause."


def test_the_time_of_a_run_marks_what_its_repeats_did_not_do() -> None:
    """Some first tokens come later than in any of the three nights before."""
    project = with_metrics()
    run = last_run(project)
    with client(project) as visitor:
        rows = part(visitor.get(f"/api/runs/{quote(run, safe='')}").json(), "timeline")
        outside = {row["lane"] for row in rows if row["state"] == "outside"}
        assert "TTFT, median" in outside and any(row["state"] == "as its repeats" for row in rows)
        assert 'class="outside"' in visitor.get(f"/runs/{quote(run, safe='')}").text
