"""Ways to make `wh compare` and `wh changes` lie: mixed units, values that are not numbers, mixtures, runs that do not count, marks of
something else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import WhOn
from samples.measured import add_rows, measured_project
from test_changes import NOW, START, findings, flat, series, stepped

from warehouse.analysis.changes import _step, changes
from warehouse.analysis.compare import compare
from warehouse.analysis.marks import mark
from warehouse.analysis.measurements import VARIABLES, Measurement
from warehouse.analysis.series import Scanned
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.statistics.change_points import SeriesState, advance
from warehouse.transform.build.build import build


def altered(root: Path, rows: list[dict[str, Any]], *alterations: tuple[str, str]) -> Project:
    """A project whose table of measurements has other columns."""
    project = measured_project(root / "project", rows)
    path = project.root / "models" / "measurement.sql"
    sql = path.read_text()
    for old, new in alterations:
        assert old in sql
        sql = sql.replace(old, new)
    path.write_text(sql)
    build(project)
    return project


class TestUnits:
    def test_a_series_of_two_units_is_refused(self, tmp_path: Path) -> None:
        project = altered(tmp_path, flat("a", 1), ("'ms' as unit", "case when run_id < 'a-030' then 'ms' else 's' end as unit"))
        for ask in (lambda: changes(project, now=NOW), lambda: compare(project, "a-000", "a-001")):
            with pytest.raises(WarehouseError, match="WH504 .*series series a mixes values whose unit is ms and s"):
                ask()

    def test_a_unit_that_only_some_values_have_is_another_unit(self, tmp_path: Path) -> None:
        project = altered(tmp_path, flat("a", 1), ("'ms' as unit", "case when run_id < 'a-030' then 'ms' end as unit"))
        with pytest.raises(WarehouseError, match="unit is ms and none"):
            changes(project, now=NOW)

    def test_a_series_of_two_directions_is_refused(self, tmp_path: Path) -> None:
        project = measured_project(tmp_path / "project", [*flat("a", 1, 30), *series("a", [100.0] * 3, 2, 30, better="higher")])
        with pytest.raises(WarehouseError, match="better is higher and lower"):
            changes(project, now=NOW)

    def test_series_of_other_units_are_not_matched_by_their_metric(self, tmp_path: Path) -> None:
        rows = [*flat("a", 1, 5), *flat("b", 2, 5)]
        project = altered(tmp_path, rows, ("'ms' as unit", "case when series = 'a' then 'ms' else 's' end as unit"))
        found = compare(project, "a-*", "b-*")
        assert (found.metrics, found.unmatched) == ((), (5, 5))

    def test_sides_without_a_common_metric_still_say_what_differs(self, tmp_path: Path, wh_on: WhOn) -> None:
        rows = [*flat("a", 1, 5), *series("b", [100.0] * 5, 2, software="9")]
        project = altered(tmp_path, rows, ("'ms' as unit", "case when series = 'a' then 'ms' else 's' end as unit"))
        status, out, err = wh_on(project, "compare", "a-*", "b-*", "--fail-on", "suspected")
        assert status == 5 and "  software framework_version: 1 -> 9" in out and "nothing else differs" not in out
        assert "the sides have no metric in common" in err and wh_on(project, "compare", "a-*", "b-*")[0] == 0


class TestValues:
    def test_values_that_are_not_numbers_are_left_out_and_counted(self, tmp_path: Path, wh_on: WhOn) -> None:
        rows = stepped("a", 20)
        for place, value in ((3, "nan"), (7, "inf"), (9, "")):
            rows[place]["value"] = value
        project = measured_project(tmp_path / "project", rows)
        found = changes(project, now=NOW)
        assert found.series[0].points == 57 and found.not_finite == 3 and len(found.findings) == 1
        assert "3 measurements without a number left out" in wh_on(project, "changes")[2]
        assert compare(project, "a-00*", "a-05*").not_finite == 3
        assert "3 measurements without a number left out" in wh_on(project, "compare", "a-00*", "a-05*")[2]

    def test_times_without_a_zone_are_utc(self, tmp_path: Path) -> None:
        project = altered(tmp_path, stepped("a", 20), ("started_at::timestamptz as started_at", "(started_at::timestamptz)::timestamp as started_at"))
        (finding,) = changes(project, since=START, now=NOW).findings
        assert finding.first.started_at == START + timedelta(days=40)

    def test_a_table_without_times_or_units_has_no_series_over_time(self, tmp_path: Path) -> None:
        project = altered(tmp_path, flat("a", 1), ("session, started_at::timestamptz as started_at,", "session,"), ("'ms' as unit, ", ""))
        found = changes(project, now=NOW)
        assert [(each.status, each.points, each.last_at) for each in found.series] == [("insufficient", 60, None)]
        assert compare(project, "a-00*", "a-01*").metrics[0].judged.design.order == "unknown"

    def test_equal_values_are_no_change(self, tmp_path: Path) -> None:
        rows = [{**row, "value": 5.0} for row in flat("a", 1, 20)]
        project = measured_project(tmp_path / "project", rows)
        found = changes(project, now=NOW)
        assert (found.findings, found.outliers, found.series[0].status) == ((), (), "stable")
        assert compare(project, "a-00*", "a-01*").metrics[0].judged.verdict == "equivalent"


class TestMixtures:
    def test_sides_that_mix_configurations_of_no_clear_counterpart_are_not_compared(self, tmp_path: Path, wh_on: WhOn) -> None:
        """Each side has one case twice as slow; that the sides have other shares of it is all that differs."""
        rows = [*series("a", [100.0] * 9, 1), *series("b", [200.0] * 3, 2, 9), *series("c", [101.0] * 2, 3, 20), *series("d", [205.0] * 8, 4, 30)]
        project = altered(tmp_path, [{**row, "case_name": "one"} for row in rows], ("'h' as hardware", "series as hardware"))
        (metric,) = compare(project, "hardware=a", "hardware=c").metrics
        assert metric.variables == ("hardware",) and not metric.is_exploratory
        found = compare(project, "a-*,b-*", "c-*,d-*")
        assert (found.metrics, found.unmatched, found.ambiguous) == ((), (12, 10), (12, 10))
        assert "12 measurements of base not compared: their configurations" in wh_on(project, "compare", "a-*,b-*", "c-*,d-*")[2]

    def test_another_mixture_of_the_same_software_differs(self, tmp_path: Path) -> None:
        """Nine runs of software 1 and one of 2, against one and nine."""
        rows = series("a", [100.0] * 10, 1) + series("b", [130.0] * 10, 2, 10)
        for place, row in enumerate(rows):
            row |= {"series": "one", "software": "1" if place < 9 or place == 19 else "2"}
        project = measured_project(tmp_path / "project", rows)
        assert compare(project, "a-*", "b-*").metrics[0].variables == ("software",)

    def test_a_few_runs_more_or_less_of_the_same_mixture_do_not(self, tmp_path: Path) -> None:
        rows = series("a", [100.0] * 10, 1) + series("b", [100.0] * 13, 2, 10)
        for place, row in enumerate(rows):
            row |= {"series": "one", "software": str(place % 2)}
        assert compare(measured_project(tmp_path / "project", rows), "a-*", "b-*").metrics[0].variables == ()


class TestDirections:
    def test_what_regressed_counts_the_changes_without_a_direction(self, tmp_path: Path, wh_on: WhOn) -> None:
        rows = [{**row, "better": "neither"} for row in stepped("a", 20)]
        status, out, err = wh_on(measured_project(tmp_path / "project", rows), "changes", "--regressed", "--fail-on", "confirmed")
        assert (status, out) == (1, "nothing regressed\n") and "1 event of metrics without a direction: whether they are worse is not known" in err


def points(values: Any, days: int = 1) -> list[Measurement]:
    return [
        Measurement(
            f"r{place:04}", "sim", "elapsed_ms", "", "ms", "lower", f"day {place}", "case", None, "s", "k", float(value),
            START + timedelta(days=days * place), dict.fromkeys(VARIABLES),
        )
        for place, value in enumerate(values)
    ]


class TestIdentity:
    def test_a_change_keeps_its_id_as_points_arrive(self) -> None:
        """A step of two sigma, whose best split moves while it is suspected: one id from the first suspicion to its confirmation."""
        moved = 0
        for seed in range(20):
            values = 100 + np.random.default_rng(seed).normal(size=80)
            values[60:] += 2
            known, state, scanned, ids, places = points(values), SeriesState(), Scanned("s", 0, "", (), None, ()), set(), set()
            for place in range(80):
                found = advance(state, values[place : place + 1])
                state, scanned = found.state, replace(scanned, settled=(*scanned.settled, *found.settled), open=found.open)
                for change in scanned.changes:
                    if change.after > change.before and change.index > 50:
                        ids.add(_step(known[: place + 1], change, scanned).finding_id)
                        places.add(change.index)
            assert len(ids) == 1, (seed, places)
            moved += len(places) > 1
        assert moved >= 2  # or this would show nothing

    def test_a_mark_holds_while_the_place_moves_and_runs_come_late(self, tmp_path: Path) -> None:
        whole = [*stepped("a", 20, days=70), *flat("b", 1)]
        early = [row for row in whole if row["run_id"] < "a-046" or row["series"] == "b"]
        project = measured_project(tmp_path / "project", early)
        finding_id = findings(changes(project, now=NOW))["a"].finding_id
        mark(project, finding_id, "acknowledged", "reported", {"changed_at": (START + timedelta(days=43)).isoformat(), "status": "suspected"})
        first = {**whole[0], "run_id": "a-before", "started_at": (START - timedelta(days=1)).isoformat()}
        add_rows(project, "second", [first, *(row for row in whole if row not in early)])
        found = findings(changes(project, now=NOW))["a"]
        assert (found.finding_id, found.state, found.status) == (finding_id, "acknowledged", "confirmed")

    def test_a_mark_of_a_suspicion_that_passed_is_not_of_a_later_change(self, tmp_path: Path) -> None:
        project = measured_project(tmp_path / "project", stepped("a", 20))
        finding_id = findings(changes(project, now=NOW))["a"].finding_id
        for days, state in ((51, "explained"), (50, "explained"), (29, "open"), (52, "open")):
            mark(project, finding_id, "explained", "x", {"changed_at": (START + timedelta(days=days)).isoformat(), "status": "suspected"})
            expected = "explained" if abs(days - 40) <= 10 else "open"
            assert findings(changes(project, now=NOW))["a"].state == expected, (days, state)

    def test_a_suspicion_that_was_called_a_false_alarm_is_open_again_once_it_is_confirmed(self, tmp_path: Path) -> None:
        project = measured_project(tmp_path / "project", stepped("a", 20))
        finding = findings(changes(project, now=NOW))["a"]
        assert finding.status == "confirmed"
        at = (START + timedelta(days=40)).isoformat()
        mark(project, finding.finding_id, "false-alarm", "noise", {"changed_at": at, "status": "suspected", "rule": "step 2"})
        assert findings(changes(project, now=NOW))["a"].state == "open" and changes(project, now=NOW).worst() == "confirmed"
        mark(project, finding.finding_id, "false-alarm", "noise", {"changed_at": at, "status": "confirmed", "rule": "step 2"})
        assert findings(changes(project, now=NOW))["a"].state == "false-alarm" and changes(project, now=NOW).worst() is None

    def test_two_changes_of_a_series_have_two_ids(self, tmp_path: Path) -> None:
        rows = series("a", [100.0] * 25 + [120.0] * 25 + [150.0] * 25, 3)
        found = changes(measured_project(tmp_path / "project", rows), now=datetime(2026, 4, 1, tzinfo=UTC)).findings
        assert len(found) == 2 and len({each.finding_id for each in found}) == 2


class TestTimesAndPlaces:
    def test_runs_that_alternate_in_other_zones_are_interleaved(self, tmp_path: Path) -> None:
        """Base is stated in Tokyo's time, head in New York's: A B A B within an hour, though their clocks are 14 hours apart."""
        base = [{**row, "started_at": f"2026-01-01T{19 + place}:00:00+09:00"} for place, row in enumerate(series("a", [100.0] * 4, 1))]
        head = [{**row, "started_at": f"2026-01-01T0{5 + place}:30:00-05:00"} for place, row in enumerate(series("b", [100.0] * 4, 2))]
        rows = [{**row, "series": "one", "session": "one"} for row in [*base, *head]]
        (metric,) = compare(measured_project(tmp_path / "project", rows), "a-*", "b-*").metrics
        assert metric.judged.design.order == "interleaved" and len(metric.judged.design.pairs) == 4

    def test_a_change_of_the_host_is_named_and_with_another_software_exploratory(self, tmp_path: Path, wh_on: WhOn) -> None:
        rows = stepped("a", 20)
        for place, row in enumerate(rows):
            row |= {"node": "old" if place < 40 else "new"}
        (finding,) = changes(measured_project(tmp_path / "both", rows), now=NOW).findings
        assert finding.variables == ("software", "node") and finding.is_exploratory and finding.needs is None
        for row in rows:
            row |= {"software": "1"}
        project = measured_project(tmp_path / "host", rows)
        (finding,) = changes(project, now=NOW).findings
        assert finding.variables == ("node",)
        out = wh_on(project, "changes")[1]
        assert "; moved old -> new" in out

    def test_runs_of_two_hosts_in_turn_are_no_change(self, tmp_path: Path) -> None:
        rows = [{**row, "value": row["value"] * (1.2 if place % 2 else 1), "node": str(place % 2)} for place, row in enumerate(flat("a", 4))]
        assert changes(measured_project(tmp_path / "project", rows), now=NOW).findings == ()

    def test_a_run_that_is_named_twice_counts_once(self, tmp_path: Path) -> None:
        (metric,) = compare(measured_project(tmp_path / "project", flat("a", 1, 8)), "a-000,a-000,a-00[01]*,a-001", "a-004,a-005").metrics
        assert (len(metric.base), len(metric.head)) == (2, 2)
