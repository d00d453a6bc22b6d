"""Data that stopped coming: stale series, runs without their metric, and runs of a comparison that do not count."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from conftest import WhOn
from samples.measured import measured_project, with_runs
from test_changes import NOW, START, flat, series

from warehouse.analysis.changes import changes
from warehouse.analysis.compare import compare
from warehouse.analysis.events.silence import Silence
from warehouse.project.project import Project
from warehouse.transform.build.build import build


def test_a_series_without_new_runs_for_three_mean_gaps_is_stale(tmp_path: Path, wh_on: WhOn) -> None:
    """Daily runs, the last on day 59: more than three days later they are missed."""
    project = measured_project(tmp_path / "project", flat("a", 1))
    for days, is_stale in ((61, False), (62, False), (63, True), (70, True)):
        assert changes(project, now=START + timedelta(days=days)).series[0].is_stale is is_stale, days
    assert changes(project, now=START + timedelta(days=65)).silences == (
        Silence("stale", ("a on t",), ("elapsed_ms",), 1, 0, START + timedelta(days=59), "a-059"),
    )
    assert "retired: 1 series of a: the last run was on 2026-03-01" in wh_on(project, "changes")[2]  # months ago
    assert json.loads(wh_on(project, "changes", "--json")[1])["series"][0]["is_stale"] is True


def test_the_usual_gap_is_between_sessions_not_runs(tmp_path: Path) -> None:
    """Ten runs in one hour of each week: two weeks of silence are nothing."""
    rows = [
        {**row, "session": f"week {place // 10}", "started_at": (START + timedelta(weeks=place // 10, minutes=place % 10)).isoformat()}
        for place, row in enumerate(flat("a", 1))
    ]
    project = measured_project(tmp_path / "project", rows)
    for weeks, is_stale in ((7, False), (8, False), (9, True)):
        assert changes(project, now=START + timedelta(weeks=weeks)).series[0].is_stale is is_stale, weeks


def test_four_sessions_have_no_usual_gap(tmp_path: Path) -> None:
    project = measured_project(tmp_path / "project", [*flat("few", 1, 4), *flat("enough", 2, 5)])
    found = changes(project, now=START + timedelta(days=365)).series
    assert {each.benchmark_case_id: each.is_stale for each in found} == {"few": False, "enough": True}


def test_runs_of_the_case_that_lack_the_metric_are_missing_data_failed_ones_too(tmp_path: Path, wh_on: WhOn) -> None:
    measured, later = flat("a", 1), series("a", [100.0] * 6, 2, 60)
    later[1]["status"], later[2]["state"], later[3]["mode"], later[4]["series"] = "failed", "retracted", "accuracy", "other"
    later[5]["started_at"] = (START + timedelta(days=10)).isoformat()  # before the last point
    project = with_runs(measured_project(tmp_path / "project", measured), [*measured, *later])
    (state,) = changes(project, now=NOW).series
    assert (state.missing, state.is_stale) == (2, False)
    assert "missing data: a on t: 2 runs since 2026-03-01 without elapsed_ms" in [str(each) for each in changes(project, now=NOW).silences]


def _of_metrics(project: Project, metrics: int, point: str = "''") -> Project:
    """The project with so many metrics of each run, at a point."""
    path = project.root / "models" / "measurement.sql"
    text = path.read_text().replace("'elapsed_ms' as metric, '' as point", f"'metric_' || number as metric, {point} as point")
    text = text.replace("'series ' || series as series_key", f"concat_ws(' ', series, number, {point}) as series_key")
    path.write_text(f"{text.rstrip()} cross join range({metrics}) as metrics (number)")
    build(project)
    return project


def test_a_case_without_data_is_one_line_not_one_for_each_metric(tmp_path: Path) -> None:
    measured, failed = flat("a", 1), series("a", [100.0] * 3, 2, 60, status="failed")
    project = _of_metrics(with_runs(measured_project(tmp_path / "project", measured), [*measured, *failed]), 20)
    found = changes(project, now=NOW + timedelta(days=3))
    assert [each.missing for each in found.series] == [3] * 20
    (line,) = map(str, found.silences)
    assert line == "missing data: a on t: 3 runs since 2026-03-01 without metric_0, metric_1, metric_10 and 17 more"


def test_a_run_at_another_point_of_its_case_lacks_nothing(tmp_path: Path) -> None:
    """A sweep: what is measured at one load is not missing at the others."""
    rows = [{**row, "script": str(day % 3)} for day, row in enumerate(flat("a", 1))]
    project = _of_metrics(with_runs(measured_project(tmp_path / "project", rows), rows), 1, "'load ' || script")
    found = changes(project, now=NOW)
    assert len(found.series) == 3 and [each.missing for each in found.series] == [0, 0, 0] and found.silences == ()


def test_what_is_retired_is_one_line(tmp_path: Path) -> None:
    """Ten mean gaps after its last run a series is retired if others of its case go on, and after 90 days in any case."""
    old = [row for name in ("a", "b") for row in series(name, [100.0] * 20, 1, case_name="both")]
    project = measured_project(tmp_path / "project", [*old, *series("c", [100.0] * 60, 3, case_name="both"), *flat("alone", 4, 20)])
    kinds = [(each.kind, each.subjects, each.series) for each in changes(project, now=NOW).silences]
    assert kinds == [("stale", ("alone on t",), 1), ("retired", ("both",), 2)]
    assert [(each.kind, each.series) for each in changes(project, now=NOW + timedelta(days=100)).silences] == [("retired", 4)]


def test_nothing_is_missing_where_every_run_has_its_metric(tmp_path: Path) -> None:
    measured = [*flat("a", 1), *flat("b", 2, 30)]
    project = with_runs(measured_project(tmp_path / "project", measured), measured)
    assert [each.missing for each in changes(project, now=NOW).series] == [0, 0]


def test_a_comparison_says_which_runs_of_a_side_do_not_count(tmp_path: Path, wh_on: WhOn) -> None:
    """Software 2 crashed in two of its five runs, and one was retracted: the three that are left do not speak for it alone."""
    base, head = series("a", [100.0] * 5, 1), series("a", [90.0] * 8, 2, 10)
    for row in head:
        row["software"] = "2"
    runs = [dict(row) for row in [*base, *head]]
    for row, name, value in ((runs[-1], "status", "failed"), (runs[-2], "status", "failed"), (runs[-3], "state", "retracted"), (runs[-4], "has_conflict", "true")):
        row[name] = value
    lost = {row["run_id"] for row in runs[-5:]}
    project = with_runs(measured_project(tmp_path / "project", [row for row in [*base, *head] if row["run_id"] not in lost]), runs)
    expected = {"failed": 2, "in conflict": 1, "retracted": 1, "without a value": 1}
    for asked in ("software=2", "a-01*", "software=2,metric=elapsed_ms"):
        assert dict(compare(project, "software=1", asked).head.uncounted) == expected, asked
    assert dict(compare(project, "software=1", "software=2").base.uncounted) == {}
    out = wh_on(project, "compare", "software=1", "software=2")[1]
    assert "head software=2: 3 runs, 3 sessions; not counted: 2 failed, 1 in conflict, 1 retracted, 1 without a value " in " ".join(out.split())
    assert json.loads(wh_on(project, "compare", "software=1", "software=2", "--json")[1])["head"]["uncounted"] == expected
