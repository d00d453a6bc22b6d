"""Events of `wh changes`: findings that are one change are folded, keep their id and their marks, and answer for every id that was shown."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from conftest import WhOn
from samples.measured import add_rows, measured_project
from test_changes import NOW, START, flat, series, stepped

from warehouse.analysis.changes import _finding, changes
from warehouse.analysis.events.distinct import distinct
from warehouse.analysis.events.event import Event, event_id_of, fold
from warehouse.analysis.events.findings import Finding
from warehouse.analysis.measurements import VARIABLES, Measured, Measurement
from warehouse.evidence.ledger.events import Event as LedgerEvent
from warehouse.evidence.ledger.findings import Mark
from warehouse.transform.finished.role_tables import RoleTable


def finding(name: str, place: int, ratio: float = 1.15, *, testbed: str | None = "t", now: Any = "still", until: int = 60, start: float = 100.0) -> Finding:
    """A change of a nightly series with 1 % of noise, found at `place`."""
    noise = np.exp(np.random.default_rng(sum(map(ord, name))).normal(0, 0.01, 60))
    levels = np.where(np.arange(60) < place, start, start * ratio) * noise
    points = [
        Measurement(
            f"{name}/{night:03}", "sim", "elapsed_ms", "", "ms", "lower", f"night {night}", name, None, name, name, float(value),
            START + timedelta(days=night), {**dict.fromkeys(VARIABLES), "testbed": testbed},
        )
        for night, value in enumerate(levels)
    ]
    return _finding("step 1", "confirmed", points[:place], points[place:until], 1e-9, None, now, points, place, [f"{start}"])


def members(events: tuple[Event, ...]) -> list[list[str]]:
    return [sorted(each.first.benchmark_case_id or "" for each in event.members) for event in events]


class TestFolding:
    def test_places_that_noise_moved_are_one_event_with_the_place_of_the_clearest(self) -> None:
        """A step of 15 spreads has its place; steps of two spreads may be off by three runs."""
        (event,) = fold([finding("weak", 43, 1.02), finding("clear", 40), finding("faint", 38, 0.98)], {})
        assert event.clearest.first.run_id == "clear/040" and members((event,)) == [["clear", "faint", "weak"]]
        assert (event.outcome, event.headline.first.benchmark_case_id) == ("worse", "clear")

    def test_two_clear_places_on_one_testbed_stay_two(self) -> None:
        events = fold([finding("a", 40), finding("b", 42), finding("weak", 43, 1.02)], {})
        assert members(events) == [["b", "weak"], ["a"]]

    def test_the_same_night_on_another_testbed_is_another_event(self) -> None:
        assert len(fold([finding("a", 40), finding("b", 40, testbed="other")], {})) == 2

    def test_where_no_machine_is_stated_cases_are_not_folded(self) -> None:
        assert len(fold([finding("a", 40, testbed=None), finding("b", 40, testbed=None)], {})) == 2

    def test_a_series_that_is_measured_each_fourth_night_joins_the_night_that_lies_in_its_gap(self) -> None:
        rare = finding("rare", 40)
        kept = [*range(0, 60, 4)]
        rare = replace(
            rare, values=tuple(rare.values[at] for at in kept), run_ids=tuple(rare.run_ids[at] for at in kept), points=(10, 5), place=10,
            times=tuple(rare.times[at] for at in kept), last=replace(rare.last, started_at=rare.times[36]),
        )
        (event,) = fold([rare, finding("nightly", 38)], {})
        assert event.clearest.first.run_id == "nightly/038"

    def test_two_changes_of_one_series_are_never_one_event(self) -> None:
        assert len(fold([finding("a", 40, 1.02), finding("a", 41, 1.02, start=102.0)], {})) == 2


class TestEnds:
    def test_a_regression_that_was_undone_is_one_event_with_its_end(self) -> None:
        up = [finding(name, 20, until=40) for name in "abc"]
        down = [finding(name, 40, 1 / 1.15, start=115.0) for name in "abc"]
        (event,) = fold([*up, *down], {})
        assert event.end is not None and event.end.run_id.endswith("/040") and event.now == "recovered" and event.worst_status() is None
        assert {each.finding_id for each in down} <= event.ids

    def test_a_regression_is_not_hidden_as_the_end_of_an_improvement_unless_that_was_short(self) -> None:
        (short,) = fold([finding("a", 30, 1 / 1.15, until=40), finding("a", 40, 1.15, start=100 / 1.15)], {})
        assert (short.outcome, short.end is not None) == ("better", True)
        better, worse = finding("a", 10, 1 / 1.15, until=40), finding("a", 40, 1.15, start=100 / 1.15)
        events = fold([better, worse], {})
        assert [(each.outcome, each.end is not None) for each in events] == [("worse", False), ("better", True)]

    def test_what_only_interrupted_a_regression_did_not_end_it(self) -> None:
        """Worse from night 10 on, but for nights 40 to 45: it is still so, and no run of these nights makes CI pass."""
        worse, better, again = finding("a", 10, until=40), finding("a", 40, 1 / 1.15, start=115.0, until=46), finding("a", 46, start=100.001)
        (other, event) = sorted(fold([worse, replace(better, end=again.first), again], {}), key=lambda each: each.outcome == "worse")
        assert (event.clearest.first.run_id, event.end, event.worst_status()) == ("a/010", None, "confirmed")
        assert other.end is not None

    def test_a_step_that_went_only_half_the_way_back_has_not_ended(self) -> None:
        events = fold([finding("a", 20, 1.2, until=40), finding("a", 40, 1 / 1.09, start=120.0)], {})
        assert len(events) == 2 and events[0].end is None and events[0].worst_status() == "confirmed"

    def test_another_regression_at_the_place_of_a_return_is_an_event_of_its_own(self) -> None:
        up = finding("a", 20, until=40)
        events = fold([up, finding("a", 40, 1 / 1.15, start=115.0), finding("b", 40, 1.3)], {})
        assert members(events) == [["b"], ["a"]] and [each.worst_status() for each in events] == ["confirmed", None]
        assert events[1].end is not None

    def test_a_suspicion_does_not_end_what_is_confirmed(self) -> None:
        back = replace(finding("a", 40, 1 / 1.15, start=115.0), status="suspected")
        assert "confirmed" in [each.worst_status() for each in fold([finding("a", 20, until=40), back], {})]

    def test_what_went_beyond_where_it_was_is_no_return(self) -> None:
        events = fold([finding("a", 30, 0.6, until=40), finding("a", 40, 1.18 / 0.6, start=60.0)], {})
        assert ("worse", "confirmed") in [(each.outcome, each.worst_status()) for each in events]

    def test_members_that_did_not_go_back_with_the_others_are_still_so(self) -> None:
        up = [finding(name, 20, until=40 if name < "c" else 60) for name in "abcd"]
        down = [finding(name, 40, 1 / 1.15, start=115.0) for name in "ab"]
        (event,) = fold([*up, *down], {})
        assert event.back_at is not None and event.end is None and event.worst_status() == "confirmed"
        assert sorted(each.first.series_key for each in event.rest) == ["c", "d"]

    def test_a_member_that_went_back_with_the_others_and_rose_again_weeks_later_has_ended(self) -> None:
        up = [finding(name, 10, until=20) for name in "abc"]
        down = [finding(name, 20, 1 / 1.15, start=115.0) for name in "ab"]
        values = np.array(up[2].values)
        values[20:36] /= 1.15  # neither the return nor the rise of night 36 was found
        (event,) = fold([*up[:2], replace(up[2], values=tuple(values.tolist())), *down], {})
        assert event.end is not None and event.rest == ()

    def test_clear_steps_one_night_apart_are_two_events(self) -> None:
        assert len(fold([finding("a", 40), finding("b", 41)], {})) == 2


class TestIdentity:
    def test_an_event_keeps_its_id_while_a_member_stays_and_answers_to_those_of_all(self) -> None:
        first = finding("first", 40, 1.03)
        (event,) = fold([first], {})
        assert event.event_id == event_id_of(first.finding_id)
        clearer = finding("clearer", 40)
        (later,) = fold([first, clearer], {first.finding_id: event.event_id})
        assert later.clearest.finding_id == clearer.finding_id and later.event_id == event.event_id
        assert {event_id_of(clearer.finding_id), clearer.finding_id} <= later.ids

    def test_when_an_event_turns_out_to_be_two_each_keeps_an_id_of_its_own(self) -> None:
        a, b = finding("a", 40), finding("b", 45)
        known = dict.fromkeys((a.finding_id, b.finding_id), event_id_of(b.finding_id))
        assert {each.event_id for each in fold([a, b], known)} == {event_id_of(a.finding_id), event_id_of(b.finding_id)}


def marked(found: Finding, state: str, *, at: str = "2026-03-01T00:00:00Z", **document: Any) -> Finding:
    event = LedgerEvent("finding", found.finding_id, at, {}, "me")
    return replace(found, mark=Mark(found.finding_id, state, "why", document, event))


class TestMarks:
    def test_a_mark_of_the_event_is_of_members_that_join_later(self) -> None:
        (event,) = fold([marked(finding("a", 40), "explained", event_id="e-1"), finding("b", 40)], {})
        assert event.state == "explained" and event.worst_status() is None

    def test_a_mark_is_not_of_a_larger_step_that_joins_later(self) -> None:
        (event,) = fold([marked(finding("a", 40), "explained", event_id="e-1"), finding("b", 40, 1.3)], {})
        assert (event.state, event.worst_status(), event.doubt) == ("open", "confirmed", "1 series joined since it was marked explained")

    def test_what_was_marked_fixed_is_open_again_once_five_runs_since_then_are_still_so(self) -> None:
        before, after = "2026-01-01T00:00:00+00:00", "2030-01-01T00:00:00+00:00"
        states = {at: fold([marked(finding("a", 40), "fixed", at=at, event_id="e-1")], {})[0] for at in (before, after)}
        assert [(each.state, each.worst_status()) for each in states.values()] == [("open", "confirmed"), ("fixed", None)]

    def test_a_mark_of_one_member_is_not_of_the_event(self) -> None:
        (event,) = fold([marked(finding("a", 40), "false-alarm", status="confirmed"), finding("b", 40)], {})
        assert event.state == "open" and event.worst_status() == "confirmed"

    def test_a_suspicion_that_was_called_a_false_alarm_is_open_once_a_member_is_confirmed(self) -> None:
        suspected = replace(marked(finding("a", 40), "false-alarm", event_id="e-1", status="suspected"), status="suspected")
        assert fold([suspected], {})[0].worst_status() is None
        (event,) = fold([suspected, finding("b", 40)], {})
        assert event.state == "open" and event.worst_status() == "confirmed"


def test_a_night_that_slowed_all_series_is_one_event_on_one_screen(tmp_path: Path, wh_on: WhOn) -> None:
    rows = [row for number in range(30) for row in stepped(f"slow{number}", number)] + flat("flat", 99)
    project = measured_project(tmp_path / "project", rows)
    status, out, err = wh_on(project, "changes", "--fail-on", "confirmed")
    assert status == 1 and len(out.splitlines()) == 2 and len([*out.splitlines(), *err.splitlines()]) <= 40
    assert "confirmed worse  +1" in out and "30 of 30 series; framework_version 1 -> 2" in out
    document = json.loads(wh_on(project, "changes", "--json")[1])
    (event,) = document["events"]
    assert sorted(event["members"]) == sorted(each["finding_id"] for each in document["findings"]) and event["controls"] == [{"name": "flat", "series": 1}]
    detail = wh_on(project, "changes", event["event_id"])[1]
    assert "did not move: flat (1 series)" in detail and "and 19 more members" in detail and len(detail.splitlines()) <= 40
    for any_id in (event["members"][7], event_id_of(event["members"][7])):
        assert event["event_id"] in wh_on(project, "changes", any_id)[1]
    assert wh_on(project, "changes", "mark", event["event_id"], "explained", "--reason", "framework 2")[0] == 0
    status, out, _ = wh_on(project, "changes", "--fail-on", "suspected")
    assert status == 0 and "; explained" in out
    assert [(each.rule, each.real) for each in changes(project, now=NOW).precision] == [("step 2", 1)]
    assert {each.state for each in changes(project, now=NOW).findings} == {"explained"}


def test_what_is_no_longer_detected_still_answers(tmp_path: Path, wh_on: WhOn) -> None:
    project = measured_project(tmp_path / "project", stepped("a", 20))
    (event,) = changes(project, now=NOW).events
    add_rows(project, "first", flat("a", 20))
    assert changes(project, now=NOW).events == ()
    for any_id in (event.event_id, event.members[0].finding_id):
        status, out, _ = wh_on(project, "changes", any_id)
        assert status == 0 and "; it was confirmed worse: elapsed_ms · a, " in out, out
    found = changes(project, now=NOW)
    assert found.lost == (event.event_id,) and changes(project, now=NOW + timedelta(days=15)).lost == ()


def test_what_a_higher_threshold_leaves_out_is_not_lost(tmp_path: Path, wh_on: WhOn) -> None:
    project = measured_project(tmp_path / "project", stepped("a", 20))
    (event,) = changes(project, now=NOW).events
    found = changes(project, threshold=0.5, now=NOW)
    assert found.events == () and found.lost == ()
    assert "or smaller than the threshold; it was confirmed worse" in wh_on(project, "changes", event.event_id, "--threshold", "50%")[1]


@pytest.mark.parametrize(("noise", "stands"), [(0.0, {"b": "a"}), (0.001, {"b": "a"}), (0.02, {})])
def test_rates_that_are_multiples_of_each_other_are_one_measurement(noise: float, stands: dict[str, str]) -> None:
    """Two rates of the same runs: one times 128, with so much noise beside the 2 % that they share; and a step in both, which proves nothing."""
    random = np.random.default_rng(5)
    levels = np.where(np.arange(60) < 40, 100.0, 60.0) * np.exp(random.normal(0, 0.02, 60))
    other = 128 * levels * np.exp(random.normal(0, noise, 60)) if noise < 0.02 else np.where(np.arange(60) < 40, 9.0, 5.4) * np.exp(random.normal(0, 0.02, 60))
    con = duckdb.connect()
    con.execute("create table m (series_key text, run_id text, started_at timestamptz, indicator text, point text, value double, better text, unit text)")
    for key, values in (("a", levels), ("b", other)):
        con.executemany("insert into m values (?, ?, ?, 'sim', '', ?, 'higher', 'tokens/s')", [
            (key, f"r{night}", START + timedelta(days=night), float(value)) for night, value in enumerate(values)
        ])
    assert distinct(Measured(con, None, RoleTable("m", frozenset()), None, None, 0)) == stands  # type: ignore[arg-type]


def test_a_series_that_went_back_is_listed_with_its_end(tmp_path: Path, wh_on: WhOn) -> None:
    rows = [row for name, seed in (("a", 22), ("b", 23)) for row in series(name, [100.0] * 20 + [130.0] * 20 + [100.0] * 20, seed)]
    project = measured_project(tmp_path / "project", rows)
    status, out, _ = wh_on(project, "changes", "--fail-on", "suspected")
    assert status == 0 and len(out.splitlines()) == 2 and "since 2026-01-21 00:00 until 2026-02-10 00:00; 2 of 2 series" in out
