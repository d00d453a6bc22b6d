"""`wh changes` on simulated series: findings, what else changed there, marks, silence, and a scan that goes on where the last one ended."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from conftest import WhOn
from samples.measured import add_rows, measured_project
from standard import standard_project

from warehouse.analysis import series as series_module
from warehouse.analysis.changes import RULES, Changes, changes
from warehouse.analysis.drawing import sparkline
from warehouse.analysis.marks import mark
from warehouse.analysis.times import parse_since
from warehouse.claims.publish.publish import publish
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=60)


def series(name: str, levels: Any, seed: int, first: int = 0, **columns: Any) -> list[dict[str, Any]]:
    """One run a day; the software changes with the level."""
    random = np.random.default_rng(seed)
    noise = np.exp(random.normal(0, 0.01, first + len(levels)))[first:]
    return [
        {
            "run_id": f"{name}-{first + day:03}", "series": name, "value": level * noise[day], "session": f"day {first + day}",
            "started_at": (START + timedelta(days=first + day)).isoformat(), "software": "1" if level == levels[0] else "2", "script": "s", **columns,
        }
        for day, level in enumerate(levels)
    ]


def flat(name: str, seed: int, days: int = 60) -> list[dict[str, Any]]:
    return series(name, [100.0] * days, seed)


def stepped(name: str, seed: int, ratio: float = 1.15, days: int = 60, at: int = 40) -> list[dict[str, Any]]:
    return series(name, [100.0] * at + [100.0 * ratio] * (days - at), seed)


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("changes") / "project"
    rows = [row for number in range(8) for row in flat(f"flat{number}", number)]
    return measured_project(root, [*rows, *stepped("slow", 20), *stepped("fast", 21, 0.8), *series("back", [100.0] * 20 + [130.0] * 20 + [100.0] * 20, 22)])


def findings(found: Changes) -> dict[str, Any]:
    return {each.first.benchmark_case_id: each for each in found.findings}


def test_true_changes_are_found_with_place_size_and_what_else_changed(scanned: Project) -> None:
    found = changes(scanned, now=NOW)
    assert {name.rstrip("0123456789") for name in findings(found)} == {"slow", "fast", "back"}
    slow = findings(found)["slow"]
    assert (slow.status, slow.outcome, slow.now, slow.state, slow.first.run_id, slow.last.run_id) == ("confirmed", "worse", "still", "open", "slow-040", "slow-039")
    assert slow.ratio.low < 1.15 < slow.ratio.high and slow.q <= 0.05 and slow.points == (40, 20)
    assert [str(each) for each in slow.differences] == ["software framework_version: 1 -> 2"]
    assert slow.controls[1] >= 8 and slow.controls[0] <= 1 + 1  # `fast` changed on the same day
    assert findings(found)["fast"].outcome == "better"
    assert {each.now for each in found.findings if each.first.benchmark_case_id == "back" and each.outcome == "worse"} == {"recovered"}
    assert found.worst() == "confirmed" and found.tested == 11


def test_what_regressed_and_still_is_one_command(scanned: Project, wh_on: WhOn, tmp_path: Path) -> None:
    status, out, _ = wh_on(scanned, "changes", "--since", "2026-01-01", "--regressed", "--plot", str(tmp_path / "x.svg"), "--fail-on", "confirmed")
    assert status == 1 and out.count("confirmed worse") == 2 and " until 2026-02-10" in out and len(out.splitlines()) == 4
    assert "better" not in out and (tmp_path / "x.svg").read_text().count("class=\"change\"") == 2
    document = json.loads(wh_on(scanned, "changes", "--json")[1])
    assert {each["status"] for each in document["findings"]} == {"confirmed"} and len(document["series"]) == 11
    assert json.loads(wh_on(scanned, "changes", "--json", "--since", "2026-02-25")[1])["findings"] == []
    assert wh_on(scanned, "changes", "--since", "yesterday")[0] == 2
    one = next(each["finding_id"] for each in document["findings"])
    assert wh_on(scanned, "changes", one)[1].startswith(one)
    assert "WH503 f-none" in wh_on(scanned, "changes", "f-none")[2]


def test_a_drift_has_the_size_that_it_reached_and_is_over_only_where_the_level_went_back(tmp_path: Path) -> None:
    """Half a percent a day is seen after 32 days, at 17 %; by day 80 it is 49 %."""
    rise = [100 * 1.005 ** min(day, 80) for day in range(120)]
    rows = [*series("rising", rise[:81], 1), *series("stopped", rise, 2), *series("back", [*rise, *[100.0] * 30], 3)]
    found = changes(measured_project(tmp_path / "project", rows), now=START + timedelta(days=150)).findings
    drifts = {each.first.benchmark_case_id: each for each in found if each.kind == "drift"}
    assert {name: (each.now, each.end and each.end.run_id) for name, each in drifts.items()} == {
        "rising": ("still", None), "stopped": ("still", None), "back": ("recovered", "back-120")
    }
    for each in drifts.values():
        assert each.ratio.low < 1.49 < each.ratio.high and each.ratio.high - each.ratio.low < 0.1


def test_flat_series_have_no_finding(tmp_path: Path) -> None:
    project = measured_project(tmp_path / "project", [row for number in range(60) for row in flat(f"s{number}", 100 + number)])
    found = changes(project, now=NOW)
    assert [each for each in found.findings if each.status == "confirmed"] == [] and len(found.findings) <= 1 and found.tested == 60


def test_a_scan_goes_on_where_the_last_one_ended_and_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stepped("a", 20) + flat("b", 2)
    first = [row for row in whole if row["run_id"][2:] < "050"]
    project = measured_project(tmp_path / "project", first)
    changes(project, now=NOW)
    add_rows(project, "second", [row for row in whole if row not in first])
    seen: list[int] = []
    real = series_module.advance
    monkeypatch.setattr(series_module, "advance", lambda state, values, sessions: (seen.append(len(values)), real(state, values, sessions))[1])
    continued = changes(project, now=NOW)
    assert seen == [10, 10]
    (project.builds / series_module.STATE_FILE).unlink()
    assert changes(project, now=NOW) == continued and seen[2:] == [60, 60]
    assert changes(project, now=NOW) == continued and len(seen) == 4  # nothing is new
    # A run that comes late, and one that goes: the fingerprint differs, and only that series is scanned anew.
    add_rows(project, "late", [{**whole[5], "run_id": "a-late", "started_at": (START + timedelta(days=5, hours=1)).isoformat()}])
    changes(project, now=NOW)
    assert seen[4:] == [61]
    (project.builds / series_module.STATE_FILE).write_text("{")
    assert changes(project, now=NOW).series == changes(project, now=NOW).series


def test_a_zero_makes_a_series_one_of_differences(tmp_path: Path) -> None:
    rows = flat("a", 1)
    project = measured_project(tmp_path / "project", rows)
    changes(project, now=NOW)
    add_rows(project, "zero", [{**rows[-1], "run_id": "a-zero", "value": 0, "started_at": (START + timedelta(days=70)).isoformat()}])
    (state,) = changes(project, now=NOW).series
    assert state.points == 61


def test_few_runs_are_insufficient_and_a_new_version_of_the_software_is_suspected(tmp_path: Path) -> None:
    few = flat("few", 3, 5)
    replaced = series("new", [100.0] * 4 + [150.0] * 4, 4)
    project = measured_project(tmp_path / "project", [*few, *replaced])
    found = changes(project, now=NOW)
    (finding,) = found.findings
    assert (finding.rule, finding.status, finding.outcome, finding.needs, finding.variables) == ("succession 2", "suspected", "worse", 1, ("software",))
    assert {each.status for each in found.series} == {"insufficient"} and found.worst() == "suspected"


def test_a_change_of_the_script_is_exploratory_and_says_so(tmp_path: Path, wh_on: WhOn) -> None:
    rows = series("a", [12.7, 15.1, 15.0], 1, script="old", software="1", clock_hz=2.69e9) + series("a", [91.8, 86.5, 101.8, 92.6], 2, 20, script="new", software="2", clock_hz=2.1e9)
    project = measured_project(tmp_path / "project", rows)
    (finding,) = changes(project, now=NOW).findings
    assert finding.is_exploratory and finding.needs is None and "script" in finding.variables
    assert wh_on(project, "changes")[1].startswith("suspected worse (exploratory)  ")
    assert "reported clock_hz: 2.69e+09 -> 2.1e+09 (0.78x)" in [str(each) for each in finding.differences]


def test_one_run_that_stands_out_among_few_is_an_outlier(tmp_path: Path, wh_on: WhOn) -> None:
    values = {"gpu01,gpu02": 13.4, "gpu01,gpu03": 13.55, "gpu01,gpu04": 5.76, "gpu02,gpu03": 13.5, "gpu02,gpu04": 13.6}
    rows = [{"run_id": node, "series": "pairs", "value": value, "session": "one", "node": node, "better": "higher"} for node, value in values.items()]
    project = measured_project(tmp_path / "project", rows)
    (outlier,) = changes(project, now=NOW).outliers
    assert outlier.measurement.node == "gpu01,gpu04" and outlier.expected == pytest.approx(13.51, abs=0.01) and outlier.p < 0.001
    assert "outlier  elapsed_ms : 5.76 ms on gpu01,gpu04, while 4 other runs are at 13.5" in wh_on(project, "changes")[1]


def test_marks_are_kept_counted_and_die_with_their_rule(tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    project = measured_project(tmp_path / "project", [*stepped("slow", 20), *stepped("fast", 21, 0.8), *flat("flat", 1)])
    ids = {name: each.finding_id for name, each in findings(changes(project, now=NOW)).items()}
    assert wh_on(project, "changes", "--fail-on", "confirmed")[0] == 1
    assert wh_on(project, "changes", "mark", ids["slow"], "explained", "--reason", "framework 2")[0] == 0
    mark(project, ids["fast"], "false-alarm", "the clock was moved", {"rule": "step 2"})
    found = changes(project, now=NOW)
    assert {name: (each.state, each.mark.reason) for name, each in findings(found).items()} == {
        "slow": ("explained", "framework 2"), "fast": ("false-alarm", "the clock was moved")
    }
    assert [(each.rule, each.real, each.false_alarms, each.share) for each in found.precision] == [("step 2", 1, 1, 0.5)]
    status, out, err = wh_on(project, "changes", "--fail-on", "suspected")
    assert status == 0 and "; explained" in out and "rule step 2: 1 of 2 marked findings were real (50%)" in err
    assert "  explained on " in wh_on(project, "changes", ids["slow"])[1]
    monkeypatch.setitem(cast("dict[str, str]", RULES), "level", "step 3")
    after = findings(changes(project, now=NOW))
    assert {name: (each.state, each.earlier_mark and each.earlier_mark.state) for name, each in after.items()} == {
        "slow": ("open", "explained"), "fast": ("open", None)  # its mark does not say of which series it was
    }
    assert "marked under an earlier rule: explained on " in wh_on(project, "changes", after["slow"].finding_id)[1]
    for arguments, says in (
        (["mark", ids["slow"], "explaned", "--reason", "x"], "did you mean explained?"), (["mark", "f-0", "fixed", "--reason", "x"], "WH503 f-0"),
        (["mark", ids["slow"], "fixed"], "mark needs --reason"), (["mark", ids["slow"]], "mark EVENT STATE"), (["mark", ids["slow"], "fixed", "--reason", " "], "it needs a reason"),
    ):
        status, _, err = wh_on(project, "changes", *arguments)
        assert status in (2, 5) and says in err


def test_marks_are_rows_of_regression_fact_and_can_not_be_published(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    before = current_build(project).digest
    finding = {"rule": "step 2", "series_key": "k", "metric": "elapsed_ms", "outcome": "worse", "ratio": 1.15, "changed_at": "2026-01-31T00:00:00+00:00", "p": "?"}
    mark(project, "f-1", "open", "found", finding)
    build(project)
    mark(project, "f-1", "fixed", "reverted", finding)
    build(project)
    with run_query(current_build(project).path, "select finding_id, state, reason, ratio, changed_at::varchar, p from regression_fact") as result:
        assert result.fetchall() == [("f-1", "fixed", "reverted", 1.15, "2026-01-31 00:00:00+00", None)]
    assert current_build(project).digest != before
    assert not build(project).is_new
    (project.root / "queries" / "known.sql").write_text("/*\ngrain: [finding_id]\n*/\nselect finding_id, ratio from regression_fact")
    build(project)
    with pytest.raises(WarehouseError, match="WH306 .*change_finding"):
        publish(project, "known")
    assert wh_on(project, "fsck")[0] == 0, wh_on(project, "fsck")
    assert "finding  f-1" in wh_on(project, "ledger")[1]


def test_new_confirmed_findings_are_recorded_once(tmp_path: Path, wh_on: WhOn) -> None:
    project = measured_project(tmp_path / "project", [*stepped("slow", 20), *flat("flat", 1)])
    assert "1 finding recorded" in wh_on(project, "changes", "--record")[2]
    assert "0 findings recorded" in wh_on(project, "changes", "--record")[2]
    assert changes(project, now=NOW).precision == ()


def test_a_project_without_measurements_is_told_what_is_missing(tmp_path: Path, wh_on: WhOn) -> None:
    from warehouse.project.making import init_project

    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "a.sql").write_text("select 1 as x")
    build(project)
    assert "WH501" in wh_on(project, "changes")[2] and "role: measurements" in wh_on(project, "compare", "a", "b")[2]


def test_times_are_typed_as_people_say_them() -> None:
    now = datetime(2026, 11, 24, tzinfo=UTC)
    assert parse_since("2w", now) == datetime(2026, 11, 10, tzinfo=UTC) and parse_since("2026-01-31", now) == datetime(2026, 1, 31, tzinfo=UTC)
    assert (now - parse_since("1y", now)).days == 365


def test_a_sparkline_marks_the_change() -> None:
    assert sparkline([1, 1, 2, 2], 2) == "▁▁│██" and sparkline([3, 3]) == "▁▁" and sparkline([]) == ""
    assert len(sparkline(list(range(1000)))) == 40


def test_without_a_series_the_answer_is_what_a_command_must_print(tmp_path: Path, wh_on: WhOn) -> None:
    status, out, err = wh_on(measured_project(tmp_path, []), "changes")
    assert (status, out) == (0, "no change was found\n") and '"@result" (docs/ingestors.md)' in err
