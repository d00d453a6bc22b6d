"""Dated notes on clusters, testbeds, nodes and series: what may be named, and that they show on trends, on events near them, and in reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import WhOn
from once import copied
from samples.measured import measured_project
from test_analysis_pages import NOW, asked, rows, table

from warehouse.analysis.changes import changes
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.surfaces.parts import Entry
from warehouse.surfaces.reports import exploratory
from warehouse.surfaces.reports.exploratory import read_findings
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

RACK = "c0ffee00" * 4  # the key of a testbed
CLUSTERS = f"select '{RACK}' as cluster_region_key, 'east' as cluster"


def _make(folder: Path) -> None:
    """`slow` got 15 % slower on day 40, the 10th of February, on the rack that is cluster east; `other` ran elsewhere."""
    found = [
        *rows("slow", [100.0] * 40 + [115.0] * 20, 20, testbed=RACK, node="node-1"), *rows("other", [100.0] * 60, 1, testbed="elsewhere", node="machine-2"),
    ]
    project = measured_project(folder / "project", found)
    (project.root / "models" / "cluster_region_dim.sql").write_text(CLUSTERS)
    build(project)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    copied("annotated", _make, tmp_path)
    return read_project(tmp_path / "project")


def noted(project: Project) -> list[str]:
    (event,) = changes(project, now=NOW).events
    return [each.text for each in event.notes]


def test_a_note_on_a_cluster_its_testbed_a_node_or_a_series_is_near_the_event_of_its_time_alone(project: Project, wh_on: WhOn) -> None:
    key = next(each["series_key"] for each in table(asked(project, "explore", case="slow"), "series"))
    for subject, text, at in (
        ("east", "driver updated", "2026-02-09"), (RACK[:8], "cables moved", "2026-02-12T10:00:00+01:00"), ("node-1", "fan changed", "2026-02-10"),
        (key, "script replaced", "2026-02-11"), ("machine-2", "of another node", "2026-02-10"), ("east", "weeks before", "2026-01-20"),
    ):
        assert wh_on(project, "note", subject, text, "--at", at)[0] == 0
    assert noted(project) == ["driver updated", "fan changed", "script replaced", "cables moved"]
    code, out, _ = wh_on(project, "changes")
    assert code == 0 and "noted 2026-02-09: driver updated" in out
    event = json.loads(wh_on(project, "changes", "--json")[1])["events"][0]
    assert event["notes"][0] == {"at": "2026-02-09T00:00:00+00:00", "of": "cluster", "subject": "east", "text": "driver updated"}
    assert event["notes"][3]["subject"] == RACK
    assert "noted on the cluster east, 2026-02-09: driver updated (" in wh_on(project, "changes", event["event_id"])[1]
    (entry,) = [part for part in asked(project, "changes").parts if isinstance(part, Entry)]
    assert entry.lines[0] == "noted 2026-02-09: driver updated"
    found = read_findings(project, current_build(project), None)
    (findings,) = [part for part in exploratory.engineering(found) if part.name == "findings"]
    assert findings.records()[0]["noted"].startswith("2026-02-09: driver updated; ")
    assert not [column for part in exploratory.partner(found) for column in getattr(part, "columns", ()) if column.name == "noted"]  # it may be ours alone


def test_a_note_stands_on_the_trend_at_the_first_run_from_its_time_on(project: Project, wh_on: WhOn) -> None:
    key = next(each["series_key"] for each in table(asked(project, "explore", case="slow"), "series"))
    wh_on(project, "note", "east", "driver updated", "--at", "2026-01-11T12:00:00+00:00")
    wh_on(project, "note", "node-1", "after the last run", "--at", "2027-01-01")
    page = asked(project, "explore", series=key)
    marked = {place: each["note"] for place, each in enumerate(table(page, "over_time")) if each["note"]}
    assert marked == {11: "driver updated", 40: "change confirmed · software 2"}
    assert [each["note"] for each in table(page, "notes")] == ["driver updated", "after the last run"]
    other = next(each["series_key"] for each in table(asked(project, "explore", case="other"), "series"))
    assert asked(project, "explore", series=other).table("notes") is None


def test_what_is_called_so_by_nothing_is_refused_and_a_run_keeps_its_note(project: Project, wh_on: WhOn) -> None:
    code, _, err = wh_on(project, "note", "node-l", "x", "--at", "2026-01-11")
    assert code == 5 and "WH314" in err and "did you mean node-1?" in err
    assert wh_on(project, "note", RACK[:7], "x", "--at", "2026-01-11")[0] == 5  # too little of a key
    assert wh_on(project, "note", "east", " ", "--at", "2026-01-11")[0] == 1
    assert wh_on(project, "note", "east", "x", "--at", "soon")[0] == 2
    code, out, _ = wh_on(project, "note", "east", "now", "--json")
    assert code == 0 and json.loads(out)["subject"] == "east" and json.loads(out)["of"] == "cluster"
    code, out, _ = wh_on(project, "note", "slow/003", "a word", "--json")
    assert code == 0 and json.loads(out)["kind"] == "note" and json.loads(out)["run_id"] == "slow/003"
    assert noted(project) == []


def test_an_annotation_is_no_finding_of_fsck_and_none_is_lost_silently(project: Project, wh_on: WhOn) -> None:
    code, out, _ = wh_on(project, "note", "east", "driver updated", "--at", "2026-02-10")
    assert code == 0 and wh_on(project, "fsck")[0] == 0
    next(project.store_root.glob(out.strip())).unlink()
    assert wh_on(project, "fsck")[0] == 4
    assert noted(project) == []
    with pytest.raises(WarehouseError):
        from warehouse.analysis.events.annotations import annotate

        annotate(project, "nowhere", "x", NOW)
