"""The pages of analysis: what changed, comparisons, series, runs, dimensions and the catalogue."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from samples.examples import RUN
from samples.measured import measured_project
from samples.served import served_project
from starlette.testclient import TestClient

from warehouse.analysis.changes import changes
from warehouse.analysis.marks import mark, read_marks
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.parts import Entry, Facets, Facts, Form, Page, Table, Text
from warehouse.surfaces.view import Visit
from warehouse.surfaces.web.app import application
from warehouse.surfaces.web.tokens import Tokens
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=60)


def rows(name: str, levels: list[float], seed: int, **columns: Any) -> list[dict[str, Any]]:
    """One run a day, 1 % of noise; the software changes with the level."""
    noise = np.exp(np.random.default_rng(seed).normal(0, 0.01, len(levels)))
    return [
        {
            "run_id": f"{name}/{day:03}", "series": name, "value": level * noise[day], "session": f"day {day}",
            "started_at": (START + timedelta(days=day)).isoformat(), "software": "1" if level == levels[0] else "2", "script": "s", **columns,
        }
        for day, level in enumerate(levels)
    ]


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """`slow` got 15 % slower on day 40, `fast` 20 % faster; `flat` did not change, and `few` has three runs."""
    found = [
        *rows("slow", [100.0] * 40 + [115.0] * 20, 20), *rows("fast", [100.0] * 40 + [80.0] * 20, 21), *rows("flat", [100.0] * 60, 1),
        *rows("few", [5.0] * 3, 3),
    ]
    return measured_project(tmp_path_factory.mktemp("pages") / "project", found)


def asked(project: Project, name: str, now: datetime = NOW, **values: Any) -> Page:
    view = view_named(name)
    read = view.read([(key, str(value)) for key, value in values.items() if key not in view.in_path], {key: str(values[key]) for key in view.in_path})
    return view.answer(Visit(project, current_build(project), read, now))


def table(page: Page, name: str) -> list[dict[str, Any]]:
    found = page.table(name)
    assert isinstance(found, Table), [part.name for part in page.parts]
    return found.records()


def links(page: Page, name: str) -> dict[str, str | None]:
    found = next(part for part in page.parts if part.name == name)
    assert isinstance(found, Facts)
    return {item.heading: item.link for item in found.items}


def client(project: Project) -> TestClient:
    return TestClient(application(project), base_url="http://localhost")


def test_what_changed_lists_true_changes_with_where_they_lead(simulated: Project) -> None:
    """Both changed on one day on one testbed: one event."""
    page = asked(simulated, "changes")
    (event,) = table(page, "events")
    assert (event["way"], event["status"], event["now"], event["moved"]) == ("slower", "confirmed", "still", "2 of 2")
    assert "framework version: 1 → 2" in event["what_else"] and "flat did not move" in event["what_else"]
    assert event["runs"]["place"] == 40 and len(event["runs"]["values"]) == 60
    fast, slow = sorted(table(page, "findings"), key=lambda each: str(each["benchmark_case_id"]))
    assert (slow["benchmark_case_id"], slow["way"], slow["status"], slow["now"]) == ("slow", "slower", "confirmed", "still")
    assert (fast["benchmark_case_id"], fast["way"]) == ("fast", "faster")
    assert slow["effect"]["low"] < 1.15 < slow["effect"]["high"] and slow["effect"]["threshold"] == 0.02
    assert (slow["last_run_before"], slow["first_run_after"]) == ("slow/039", "slow/040")
    assert slow["base"].split(",") == [f"slow/{day:03}" for day in range(35, 40)]
    assert slow["head"].split(",") == [f"slow/{day:03}" for day in range(40, 45)]
    assert slow["event_id"] == fast["event_id"] == event["event_id"]


def test_what_regressed_in_the_past_year_is_two_clicks_away(simulated: Project) -> None:
    first = links(asked(simulated, "changes"), "since")["past year"]
    assert first == "/changes?since=1y"
    second = links(asked(simulated, "changes", since="1y"), "way")["worse"]
    assert second == "/changes?since=1y&way=worse"
    assert [each["status"] for each in table(asked(simulated, "changes", since="1y", way="worse"), "events")] == ["confirmed"]
    long_after = START + timedelta(days=800)
    assert table(asked(simulated, "changes", long_after, since="1y", way="worse"), "events") == []


def test_what_is_not_judged_is_on_the_page_with_the_reason(simulated: Project) -> None:
    states = {(each["case"], each["state"]): each["why"] for each in table(asked(simulated, "changes"), "not_judged")}
    assert "at most " in states["few", "insufficient"] and ("flat", "stale") not in states
    later = {(each["case"], each["state"]): each["why"] for each in table(asked(simulated, "changes", NOW + timedelta(days=30)), "not_judged")}
    assert "no run since 2026-03-01" in later["flat", "stale"]


def test_one_finding_has_its_runs_in_order_and_the_commands_to_mark_it(simulated: Project) -> None:
    finding = next(each["finding_id"] for each in table(asked(simulated, "changes"), "findings") if each["benchmark_case_id"] == "slow")
    page = asked(simulated, "changes", finding=finding)
    values = table(page, "values")
    assert [each["run_id"] for each in values] == [f"slow/{day:03}" for day in range(60)]
    assert [each["side"] for each in values].index("after") == 40 and values[40]["note"] == "the change"
    assert [(each["kind"], each["name"], each["before"], each["after"]) for each in table(page, "differences")] == [("software", "framework_version", "1", "2")]
    assert any(place.startswith("/compare?base=slow%2F035") for place in page.next_steps.values())
    with pytest.raises(WarehouseError) as caught:
        asked(simulated, "changes", finding="f-000000000000")
    assert caught.value.code == "WH503"


def test_one_event_has_its_members_what_differs_and_what_did_not_move(simulated: Project) -> None:
    event = table(asked(simulated, "changes"), "events")[0]["event_id"]
    page = asked(simulated, "changes", event=event)
    assert {each["benchmark_case_id"] for each in table(page, "members")} == {"slow", "fast"}
    assert [each["benchmark_case_id"] for each in table(page, "drawn")] == ["slow"]  # what got worse
    assert [(each["case"], each["series"]) for each in table(page, "controls")] == [("flat", 1)]
    assert [each["name"] for each in table(page, "differences")] == ["framework_version"]


def test_marks_are_shown_and_chosen_by(tmp_path: Path) -> None:
    project = measured_project(tmp_path / "project", rows("slow", [100.0] * 40 + [115.0] * 20, 20))
    (found,) = table(asked(project, "changes"), "findings")
    assert found["state"] == "open"
    mark(project, found["finding_id"], "acknowledged", "known", {"finding_id": found["finding_id"], "status": "confirmed"})
    assert [each["marked"] for each in table(asked(project, "changes", state="acknowledged"), "events")] == ["acknowledged"]
    assert table(asked(project, "changes", state="fixed"), "events") == []


def test_an_event_is_an_entry_with_its_worst_members_and_what_differs(simulated: Project) -> None:
    (entry,) = [part for part in asked(simulated, "changes").parts if isinstance(part, Entry)]
    assert (entry.states, entry.tone) == (("confirmed",), "bad") and entry.note.endswith(", slower since 10 Feb 2026")
    assert entry.value.startswith("+1") and entry.lines[0] == "framework version 1 → 2"
    assert entry.lines[1] == "2 series moved, and no other of the same cases · flat on the same machine did not move"
    assert [row["benchmark_case_id"] for row in entry.figures[0].records()] == ["slow"]
    assert [action.title for action in entry.actions if isinstance(action, Form)] == ["acknowledge", "explained by…", "false alarm"]


def test_an_event_is_marked_on_its_page_by_those_who_may(tmp_path: Path) -> None:
    """As `wh changes mark` does: the members of the event, with the reason; and who said so."""
    project = measured_project(tmp_path / "project", rows("slow", [100.0] * 40 + [115.0] * 20, 20))
    found = changes(project, None)
    (event,) = found.events
    place, said = f"/changes/{event.event_id}/mark", {"state": "explained", "reason": "the new driver"}
    reader, boss = ({"Authorization": f"Bearer {Tokens(project).make(name, role)}"} for name, role in (("reader", "read"), ("boss", "admin")))
    visitor = client(project)
    assert visitor.post(place, data=said, headers=reader).status_code == 403
    assert "acknowledge</summary>" not in visitor.get("/changes", headers=reader).text
    assert "acknowledge</summary>" in visitor.get("/changes", headers=boss).text
    assert visitor.post(place, data=said, headers={**boss, "Origin": "https://elsewhere.example"}).status_code == 403
    assert visitor.post(place, data={"state": "explained"}, headers=boss).status_code == 400
    assert read_marks(project) == {}
    done = visitor.post(place, data=said, headers=boss)
    assert done.status_code == 200 and "is explained" in done.text
    marks = read_marks(project)
    assert {(each.state, each.reason) for each in marks.values()} == {("explained", "the new driver")}
    assert [*marks] == [each.finding_id for each in event.members] and [*marks.values()][0].event.detail["visitor"] == "token boss"
    (after,) = changes(project, None).events
    assert after.state == "explained"


def test_what_changed_is_small(simulated: Project) -> None:
    with client(simulated) as visitor:
        first = visitor.get("/changes")
        assert first.status_code == 200 and "What changed" in first.text and len(first.content) < 150_000
        assert 'class="spark"' in first.text and 'class="effect"' in first.text
        data = visitor.get("/api/changes?way=worse").json()
        events, members = (next(part["rows"] for part in data["parts"] if part["name"] == name) for name in ("events", "findings"))
        assert len(events) == 1 and {row["benchmark_case_id"] for row in members} == {"slow", "fast"}
        assert visitor.get("/changes?way=sideways").status_code == 400 and visitor.get("/changes?finding=f-0").status_code == 404


def compared(project: Project, **values: Any) -> Page:
    sides = {"base": ",".join(f"slow/{day:03}" for day in range(30, 40)), "head": ",".join(f"slow/{day:03}" for day in range(40, 50))}
    return asked(project, "compare", **{**sides, **values})


def test_compare_shows_the_effect_with_its_interval_and_only_what_differs(simulated: Project) -> None:
    page = compared(simulated)
    (metric,) = table(page, "metrics")
    assert (metric["metric"], metric["verdict"], metric["way"], metric["unit"]) == ("elapsed_ms", "confirmed", "slower", "ms")
    assert metric["low"] < 1.15 < metric["high"] and metric["runs"] == "10 v 10; 10 v 10 sessions"
    (entry,) = [part for part in page.parts if isinstance(part, Entry)]
    assert (entry.states, entry.tone) == (("confirmed slower",), "bad") and entry.lines[0].startswith("10 runs in 10 sessions against 10 runs")
    assert [(row["verdict"], row["effect"]["threshold"]) for row in entry.figures[0].records()] == [("confirmed slower", 0.02)]
    assert [(each["name"], each["base"], each["head"]) for each in table(page, "differences")] == [("framework_version", "1", "2")]
    assert [each["runs"] for each in table(page, "sides")] == ["10 runs in 10 sessions"] * 2
    assert {each["side"] for each in table(page, "runs")} == {"base", "head"} and len(table(page, "runs")) == 20
    assert page.states == ("confirmed slower",)
    wide = compared(simulated, threshold=0.5)
    assert table(wide, "metrics")[0]["verdict"] == "equivalent" and wide.states == ()


def test_configurations_are_compared_one_by_one_the_strongest_verdict_first(simulated: Project) -> None:
    page = asked(simulated, "compare", base="software=1,benchmark_case_id!=few", head="software=2")
    entries = [part for part in page.parts if isinstance(part, Entry)]
    assert [(each.title, each.states) for each in entries] == [("slow", ("confirmed slower",)), ("fast", ("confirmed faster",))]
    (cards,) = [part for part in page.parts if part.name == "verdicts"]
    assert isinstance(cards, Facts) and [(card.heading, card.value, card.tone) for card in cards.items] == [("slow", "slower", "bad"), ("fast", "faster", "good")]
    assert [part.name for part in page.parts][-2:] == ["differences", "same"]


def test_compare_of_single_runs_says_what_it_would_need(simulated: Project) -> None:
    page = asked(simulated, "compare", base="slow/039", head="slow/040")
    (metric,) = table(page, "metrics")
    assert metric["verdict"] == "not supported" and metric["interval"] == "no interval" and metric["low"] is None
    (reason,) = table(page, "reasons")
    assert "2 runs" in reason["settles"]


def test_compare_without_sides_offers_versions_and_sessions(simulated: Project) -> None:
    page = asked(simulated, "compare")
    offered = {each["case"]: each for each in table(page, "by_software")}
    assert (offered["slow"]["base"], offered["slow"]["head"], offered["slow"]["runs"]) == ("1", "2", "40 v 20") and "flat" not in offered
    with client(simulated) as visitor:
        assert "/compare?base=benchmark_case_id=slow,software=1&amp;head=benchmark_case_id=slow,software=2" in visitor.get("/compare").text
        whole = visitor.get("/api/compare", params={"base": "benchmark_case_id=slow,software=1", "head": "benchmark_case_id=slow,software=2"})
        (metrics,) = [part for part in whole.json()["parts"] if part["name"] == "metrics"]
        assert metrics["rows"][0]["verdict"] == "confirmed"


def test_a_side_that_is_asked_for_from_elsewhere_is_never_a_file(simulated: Project, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("slow/001\n")
    with client(simulated) as visitor:
        answer = visitor.get("/api/compare", params={"base": str(secret), "head": "slow/040"})
        assert answer.status_code == 404 and answer.json()["code"] == "WH502"
        assert visitor.get("/api/compare", params={"base": "slow/001", "head": "slow/001"}).status_code == 400


def test_explore_draws_every_run_of_a_series_with_what_changed(simulated: Project) -> None:
    series = next(each["series_key"] for each in table(asked(simulated, "explore", case="slow"), "series"))
    page = asked(simulated, "explore", series=series)
    drawn = table(page, "over_time")
    assert [each["run_id"] for each in drawn] == [f"slow/{day:03}" for day in range(60)]
    assert [place for place, each in enumerate(drawn) if each["note"]] == [40]
    assert drawn[40]["note"] == "change confirmed · software 2" and "lower is better" in page.subtitle
    assert len(table(asked(simulated, "explore", series=series, since="2026-02-20"), "over_time")) == 10


def test_explore_never_draws_all_models_in_one_colour(simulated: Project) -> None:
    """Nobody says what tells the runs apart: here only the case does. The line goes through medians, not from repeat to repeat."""
    drawn = asked(simulated, "explore", metric="elapsed_ms").table("over_time")
    assert drawn is not None and drawn.chart is not None and (drawn.chart.facet, drawn.chart.middle) == ("facet", "level")
    assert {row["facet"] for row in drawn.records()} == {"slow", "fast", "flat", "few"}
    slow = [row for row in drawn.records() if row["facet"] == "slow"]
    assert [row["note"] for row in slow if row["note"]] == ["software 2"] and slow[40]["level"] == slow[39]["level"] + 1
    assert all(row["median_low"] < row["median_high"] < 1.05 * row["median_low"] for row in slow)  # 1 % of noise, at most twelve runs each
    series = next(each["series_key"] for each in table(asked(simulated, "explore", case="slow"), "series"))
    with client(simulated) as visitor:
        text = visitor.get("/explore", params={"series": series}).text
    assert re.search(r'aria-label="[\d.]+ ms; 2026-01-01 00:00 UTC; software 1; slow/000"', text)  # what a point says: value, time, version, run
    (path,) = re.findall(r'class="line medians s0" d="([^"]*)"', text)
    assert re.fullmatch(r"M[\d.]+ [\d.]+H[\d.]+H[\d.]+V[\d.]+H[\d.]+", path)  # two levels: before the change, and after it


def test_explore_has_a_panel_for_each_model_and_a_colour_for_each_gpu(tmp_path: Path) -> None:
    """Also when the visitor chose neither. One model needs no panels, and one GPU no colours."""
    series = ("alpha H100", "alpha H200", "beta H100")
    project = measured_project(tmp_path / "project", [row for name in series for row in rows(name, [100.0] * 3, 5, case_name="serve")])
    models = project.root / "models"
    text = (models / "measurement.sql").read_text().replace("'w' as workload", "split_part(series, ' ', 1) as workload")
    (models / "measurement.sql").write_text(text.replace("'h' as hardware", "split_part(series, ' ', 2) as hardware"))
    (models / "workload_dim.sql").write_text("select name as workload_spec_digest, 'lab/' || name as model from (values ('alpha'), ('beta')) as t (name)")
    (models / "hardware_topology_dim.sql").write_text(
        "select name as hardware_topology_key, 'NVIDIA ' || name as accelerator_name, null::varchar as gpu_model from (values ('H100'), ('H200')) as t (name)"
    )
    build(project)

    def drawn(**chosen: str) -> tuple[bool, bool, set[tuple[str, str]]]:
        found = asked(project, "explore", metric="elapsed_ms", **chosen).table("over_time")
        assert found is not None and found.chart is not None
        return found.chart.facet is not None, found.chart.group is not None, {(row["facet"], row["colour"]) for row in found.records()}

    assert drawn() == (True, True, {("alpha", "NVIDIA H100"), ("alpha", "NVIDIA H200"), ("beta", "NVIDIA H100")})
    assert drawn(model="lab/alpha")[:2] == (False, True) and drawn(model="lab/beta")[:2] == (False, False)
    assert drawn(gpu="NVIDIA H100")[:2] == (True, False)
    (facets,) = [part for part in asked(project, "explore", metric="elapsed_ms").parts if isinstance(part, Facets)]
    assert [{item.heading: item.value for item in group.items} for group in facets.groups] == [
        {"alpha": "6", "beta": "3"}, {"NVIDIA H100": "6", "NVIDIA H200": "3"},
    ]
    with client(project) as visitor:
        text = visitor.get("/explore?metric=elapsed_ms").text
    assert text.count('<div class="panel">') == 2 and {"s0", "s1"} <= set(re.findall(r'class="point (s\d)', text))


def test_sql_has_its_tables_beside_the_box_and_draws_one_x_and_one_y(simulated: Project) -> None:
    ways = (
        ("select started_at, value from measurement", "trend"), ("select benchmark_case_id, avg(value) as v from measurement group by all", "bars"),
        ("select run_id, benchmark_case_id from measurement", None), ("select value, value, value from measurement", None),
    )
    for sql, kind in ways:
        page = asked(simulated, "sql", query=sql)
        result = page.table("result")
        assert result is not None and (result.chart.kind if result.chart else None) == kind, sql
        groups = {group.name: [each.name for each in group.items] for part in page.parts if isinstance(part, Facets) for group in part.groups}
        assert "measurement" in groups["tables"] and "benchmark_case_id" in groups["measurement"]


def test_explore_has_a_panel_for_each_value_of_a_facet(simulated: Project) -> None:
    page = asked(simulated, "explore", metric="elapsed_ms", facet="benchmark_case_id", by="software")
    assert {each["facet"] for each in table(page, "over_time")} == {"slow", "fast", "flat", "few"}
    assert table(asked(simulated, "explore"), "metrics")[0]["runs"] == 183
    assert table(asked(simulated, "explore", metric="nothing"), "over_time") == []
    with client(simulated) as visitor:
        text = visitor.get("/explore?metric=elapsed_ms&facet=benchmark_case_id").text
        assert text.count('<div class="panel">') == 4 and len(text) < 150_000
        assert '<option selected value="benchmark_case_id">case</option>' in text and "start, UTC" in text


@pytest.fixture(scope="module")
def served() -> Project:
    """The example project: three recorded runs and two served ones, one recorded run in conflict, a publication, and a note."""
    return served_project()


def test_explore_counts_the_measurements_of_models_and_a_choice_narrows(served: Project) -> None:
    page = asked(served, "explore", metric="ttft_p50_ms")
    form = next(part for part in page.parts if isinstance(part, Form))
    assert form.fields[0].words["ttft_p50_ms"] == "TTFT, median, ms"
    assert {"TTFT, median", "End-to-end latency, median"} <= {each["called"] for each in table(asked(served, "explore"), "metrics")}
    model = table(page, "over_time")[0]["run_id"] and "MiniMaxAI/*"
    narrowed = asked(served, "explore", metric="ttft_p50_ms", model=model)
    (facets,) = [part for part in narrowed.parts if isinstance(part, Facets)]
    (models,) = [group for group in facets.groups if group.title == "model or test"]
    counts = {item.heading: item.value for item in models.items if item.value}
    assert counts == {"MiniMax-M2.5": str(len(table(narrowed, "over_time")))}  # as many as are drawn
    (link,) = [item.link for item in models.items if item.heading == "MiniMax-M2.5"]
    assert link is not None and dict(parse_qsl(urlsplit(link).query)) == {"metric": "ttft_p50_ms", "model": "MiniMaxAI/MiniMax-M2.5"}


def test_runs_are_listed_with_their_states_and_filters(served: Project) -> None:
    page = asked(served, "runs")
    runs = {each["run_id"]: each for each in table(page, "runs")}
    conflicts = {run for run, each in runs.items() if each["state"] == "in conflict"}
    assert conflicts and all(run.startswith("recorded_run/") for run in conflicts)
    assert {each["run_id"] for each in table(asked(served, "runs", state="in conflict"), "runs")} == conflicts
    models = table(asked(served, "runs", model="MiniMaxAI/*"), "runs")
    assert len(models) == 2 and all(each["name"].startswith("MiniMax-M2.5 ") for each in models)
    assert table(asked(served, "runs", since="2026-02-01"), "runs") != table(page, "runs")
    assert table(asked(served, "runs", run="no such run"), "runs") == []
    assert [each["run_id"] for each in table(asked(served, "runs", offset=1), "runs")] == list(runs)[1:]


def test_a_run_shows_what_it_measured_its_evidence_and_what_depends_on_it(served: Project) -> None:
    page = asked(served, "run", run_id=f"{RUN}1")
    assert page.subtitle.endswith(f"run {RUN}1")
    figures = {each["metric"]: each for each in table(page, "figures")}
    assert (figures["elapsed_ms"]["called"], figures["elapsed_ms"]["unit"]) == ("Elapsed", "ms") and figures["elapsed_ms"]["value"] > 0
    assert any(each["kind"] == "note" and each["reason"] == "looked at" for each in table(page, "decisions"))
    assert page.table("impact") is None and any(place.endswith("?impact=yes#impact") for place in page.next_steps.values())
    assert any("indicator_results" in each["key"] for each in table(asked(served, "run", run_id=f"{RUN}1", impact="yes"), "impact"))
    assert all(each["sha256"] for each in table(page, "files"))
    with client(served) as visitor:
        assert visitor.get(f"/runs/{RUN}1").status_code == 200
        assert visitor.get("/runs/no/such/run").status_code == 404


def test_requests_of_a_run_are_counted_over_time(served: Project) -> None:
    run = next(each["run_id"] for each in table(asked(served, "runs", model="MiniMaxAI/*"), "runs"))
    page = asked(served, "run", run_id=run)
    assert sum(each["requests"] for each in table(page, "requests")) == 40
    results = {each["result"] for each in table(page, "validity")}
    assert results <= {"holds", "broken", "not proven"} and results
    verdict = next(each["verdict"] for each in table(asked(served, "validity"), "points") if each["run_id"] == run)
    assert verdict in page.states  # beside the figures that it limits, not only in the section of its rules


def test_dimensions_list_their_runs_and_differ_from_their_sibling(served: Project) -> None:
    listed = table(asked(served, "workloads"), "workloads")
    assert sum(each["runs"] for each in listed) == len(table(asked(served, "runs"), "runs"))
    ours = [each for each in listed if each["name"].startswith("MiniMax-M2.5")]
    page = asked(served, "workload_row", key=ours[0]["key"])
    assert page.title.startswith("MiniMax-M2.5") and len(table(page, "runs")) == ours[0]["runs"]
    names = {each["run_id"]: each["name"] for each in table(asked(served, "runs"), "runs")}  # as the page of all runs calls them
    assert all(each["name"] == names[each["run_id"]] != each["run_id"] for each in table(page, "runs"))
    assert "MiniMaxAI/MiniMax-M2.5" in next(part.text for part in page.parts if isinstance(part, Text) and part.name == "document")
    with pytest.raises(WarehouseError) as caught:
        asked(served, "hardware_row", key="nothing")
    assert caught.value.code == "WH502"
    with client(served) as visitor:
        for path in ("/workloads", "/hardware", "/software", f"/workloads/{ours[0]['key']}"):
            assert visitor.get(path).status_code == 200, path
        assert visitor.get("/software/nothing").status_code == 404


def test_the_catalogue_says_what_metrics_mean_and_tables_hold(served: Project) -> None:
    page = asked(served, "catalogue")
    metrics = {each["metric"]: each for each in table(page, "metrics")}
    assert metrics["error_rate"]["better"] == "lower" and "serving_results" in metrics["error_rate"]["published_by"]
    tables = {each["name"] for each in table(page, "tables")}
    assert "main.benchmark_run_fact" in tables and not any(name.startswith("staging.") for name in tables)
    assert any(each["name"].startswith("staging.") for each in table(asked(served, "catalogue", internal="yes"), "tables"))
    assert {each["name"] for each in table(asked(served, "catalogue", find="served models"), "tables")} < tables
    one = asked(served, "table", table="serving_outcome_fact")
    units = {each["name"]: each["unit"] for each in table(one, "columns")}
    assert (units["ttft_p99_ms"], units["run_id"]) == ("ms", None)
    assert all(each["status"] == "pass" for each in table(one, "tests")) and table(one, "tests")
    assert len(table(one, "sample")) == 2
    with client(served) as visitor:
        text = visitor.get("/catalogue/main.serving_outcome_fact").text
        assert 'href="/catalogue/feed.serving_outcome"' in text or 'href="/catalogue/staging.' in text
        assert visitor.get("/catalogue/no_such_table").status_code == 404


def test_frontier_goodput_and_validity_lead_to_their_runs(served: Project) -> None:
    page = asked(served, "frontier", x="ttft_p50_ms", y="output_token_throughput_per_s", scope="model")
    points = table(page, "frontier_1")
    assert len(points) == 2 and any(each["is_on_frontier"] for each in points) and all(each["run_id"] for each in points)
    chart = page.table("frontier_1").chart
    assert chart is not None and chart.kind == "steps" and chart.better == "lower"
    (answer,) = [part for part in page.parts if isinstance(part, Entry)]
    best = max(points, key=lambda each: each["y"])  # nobody states a limit, and no point is within the usual one
    assert answer.title == f"Best: {best['configuration']}" and "1 run" in answer.note
    assert answer.link == f"/runs/{best['run_id']}"
    for limit, title in ((1_000_000, f"Best within 1,000,000 ms: {best['configuration']}"), (1, "No measured point is within 1 ms")):
        page = asked(served, "frontier", x="ttft_p50_ms", y="output_token_throughput_per_s", scope="model", within=limit)
        assert [part.title for part in page.parts if isinstance(part, Entry)] == [title]
    good = asked(served, "goodput", slo="chat")
    assert {each["total"] for each in table(good, "loads")} == {40} and all(each["met"] <= 40 for each in table(good, "loads"))
    assert "chat" in {each["slo"] for each in table(asked(served, "goodput"), "slos")}
    valid = table(asked(served, "validity"), "points")
    assert len(valid) == 2 and {each["verdict"] for each in valid} <= {"valid", "not proven", "flagged", "invalid"}
    with client(served) as visitor:
        assert visitor.get("/frontier?x=nothing").status_code == 404
        assert visitor.get("/goodput?slo=what").status_code in (400, 404)
        assert visitor.get("/validity?verdict=valid").status_code == 200


def test_a_project_without_runs_or_load_points_is_told_what_is_missing(simulated: Project) -> None:
    event = table(asked(simulated, "changes"), "events")[0]["event_id"]
    with client(simulated) as visitor:
        for path, code in (("/runs", "WH501"), ("/runs/x", "WH501"), ("/workloads", "WH501"), ("/frontier", "WH521"), ("/validity", "WH521")):
            answer = visitor.get(f"/api{path}")
            assert (answer.status_code, answer.json()["code"]) == (409, code), path
            assert answer.json()["hint"], path
        for path in ("/", "/changes", f"/changes?event={event}", "/explore?metric=elapsed_ms", f"/changes?event={event}".replace("?", ".md?")):
            assert not re.search('/(runs|explain|frontier|workloads)["/?.)>]', visitor.get(path).text), path  # no link to what has no answer
        assert "no table main.metric_definition_dim" in visitor.get("/catalogue").text
        assert any("no table" in part.get("empty", "") for part in visitor.get("/api/catalogue").json()["parts"])


def test_compare_draws_the_runs_of_both_sides_however_many(simulated: Project) -> None:
    page = asked(simulated, "compare", base="benchmark_case_id=flat", head="benchmark_case_id=slow")
    runs = table(page, "runs")
    assert [sum(each["side"] == side for each in runs) for side in ("base", "head")] == [60, 60]
    assert page.table("runs").listed == 60
