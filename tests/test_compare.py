"""`wh compare` on simulated measurements: same against same, a true change, sessions, order, and what differs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import WhOn
from samples.measured import measured_project

from warehouse.analysis.compare import Comparison, compare, varying
from warehouse.analysis.comparison.judged_sides import judge_sides
from warehouse.analysis.comparison.same_measurement import distinct_measurements
from warehouse.analysis.conditions import differences
from warehouse.analysis.measurements import VARIABLES, Measurement
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.statistics.comparisons import least_detectable_ratio
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.transform.build.build import build

START = datetime(2026, 1, 1, tzinfo=UTC)


def side(values: Any, sessions: Any = None, hours: Any = None, better: str = "lower") -> list[Measurement]:
    return [
        Measurement(
            f"r{place}", "sim", "elapsed_ms", "", "ms", better, str(sessions[place]) if sessions is not None else "one", "case", None, "s", "k", float(value),
            START + timedelta(hours=float(hours[place])) if hours is not None else None, dict.fromkeys(VARIABLES),
        )
        for place, value in enumerate(values)
    ]


def rows(base: float, head: float, sessions: int, runs: int = 3, spread: float = 0.005) -> list[dict[str, Any]]:
    """Runs of software 1 and, on later days, of software 2."""
    random = np.random.default_rng(7)
    found = []
    for software, level, first_day in (("1", base, 0), ("2", head, 20)):
        for day in range(sessions):
            for run in range(runs):
                found.append({
                    "run_id": f"{software}-{day}-{run}", "series": "a", "value": level * np.exp(random.normal(0, spread)), "session": f"{software} {day}",
                    "started_at": (START + timedelta(days=first_day + day, minutes=run)).isoformat(), "software": software, "script": "s",
                })
    return found


def compared(root: Path, *arguments: Any) -> Comparison:
    return compare(measured_project(root / "project", rows(*arguments)), "software=1", "software=2")


def test_a_true_change_over_sessions_is_confirmed_with_its_interval_and_what_differs(tmp_path: Path) -> None:
    found = compared(tmp_path, 100, 110, 4)
    (metric,) = found.metrics
    judged = metric.judged
    assert (judged.verdict, judged.outcome, metric.variables, metric.is_exploratory) == ("confirmed", "worse", ("software",), False)
    assert isinstance(judged.ratio, Interval)
    assert judged.ratio.low < 1.10 < judged.ratio.high and judged.ratio.n == {"session": 8, "run": 24}
    assert judged.design.order == "separate blocks" and "cannot be separated from the change" in str(judged.design.note)
    assert [str(each) for each in found.differences] == ["software framework_version: 1 -> 2"]
    assert metric.noise and metric.noise.run and 0.002 < metric.noise.run < 0.01 and metric.noise.sessions == 8
    assert found.worst() == "confirmed"


def test_one_session_a_side_is_never_confirmed_and_suspected_only_beyond_what_sessions_differ_by(tmp_path: Path) -> None:
    """Without other sessions 5 % is assumed. Twenty sessions that agree to half a percent show that 10 % is no session's doing."""
    judged = compared(tmp_path, 100, 110, 1, 10).metrics[0].judged
    assert (judged.verdict, judged.needs, judged.level) == ("inconclusive", 2, "session")
    assert "cannot tell: one session a side" in judged.reason and "5.0% (assumed)" in judged.reason
    assert judged.least_detectable and 1.2 < judged.least_detectable < 1.4
    doubled = compared(tmp_path / "doubled", 100, 200, 1, 10)
    assert doubled.metrics[0].judged.verdict == "suspected" and doubled.worst() == "suspected"
    known = [*rows(100, 110, 1, 10), *({**row, "series": "b", "run_id": f"b {row['run_id']}"} for row in rows(50, 60, 20) if row["session"] not in ("1 0", "2 0"))]
    found = compare(measured_project(tmp_path / "known" / "project", known), "1-0-*", "2-0-*")
    same = compared(tmp_path / "same", 100, 100, 1, 10, 0.001)
    assert found.metrics[0].judged.verdict == "suspected" and "(38 others)" in found.metrics[0].judged.reason
    assert same.metrics[0].judged.verdict == "inconclusive" and same.worst() is None


def test_the_same_on_both_sides_is_equivalent(tmp_path: Path) -> None:
    assert compared(tmp_path, 100, 100, 6, 3, 0.002).metrics[0].judged.verdict == "equivalent"


@pytest.mark.parametrize("variation", [0.0266, 0.0056])
def test_same_against_same_gives_few_false_verdicts(variation: float) -> None:
    """Noise as CodSpeed states it; a plain threshold of 2 % is wrong in 45 % of comparisons of two runs at 2.66 %."""
    random, trials = np.random.default_rng(3), 300
    false = 0
    for _ in range(trials):
        base, head = (side(100 * np.exp(random.normal(0, variation, 10)), [place // 2 for place in range(10)]) for _ in range(2))
        false += judge_sides(base, head, 0.02).verdict in ("confirmed", "suspected")
    assert false <= trials * 0.01


def test_two_sessions_a_side_that_happen_to_agree_confirm_only_what_is_beyond_sessions() -> None:
    """10.5 with noise, rounded: both of base are 10 and both of head 11 in one of sixteen comparisons, and three of each in one of 64."""
    def judged(base: float, head: float, sessions: int) -> str:
        sides = [side([value] * sessions, [f"{value} {day}" for day in range(sessions)]) for value in (base, head)]
        return judge_sides(*sides, 0.02).verdict

    assert [judged(10, 11, 2), judged(10, 11, 3), judged(100, 103, 2), judged(0.1, 0.2, 2)] == ["inconclusive"] * 4
    assert [judged(100, 130, 2), judged(100, 200, 2), judged(101, 111, 3)] == ["confirmed"] * 3


def test_sessions_that_differ_by_five_percent_are_seldom_suspected_with_one_a_side() -> None:
    """By the noise of their runs alone, seven in ten would be."""
    random, verdicts = np.random.default_rng(4), []
    for trial in range(200):
        base, head = (side(100 * np.exp(random.normal(0, 0.05) + random.normal(0, 0.005, 5)), [f"{trial} {name}"] * 5) for name in ("base", "head"))
        verdicts.append(judge_sides(base, head, 0.02).verdict)
    assert "confirmed" not in verdicts and verdicts.count("suspected") <= 10


def test_a_single_run_is_held_against_sessions_as_well() -> None:
    """Runs of one night agree to a percent; the next night lies 6 % lower, which is no news. Half the throughput is."""
    peers = side([13.4, 13.5, 13.55, 13.6], ["a"] * 4, better="higher")
    assert judge_sides(peers, side([12.7], ["b"], better="higher"), 0.02).verdict == "inconclusive"
    assert judge_sides(peers, side([5.76], ["b"], better="higher"), 0.02).verdict == "suspected"


def test_interleaved_runs_are_compared_in_pairs() -> None:
    """A drift of 2 % an hour hides a change of 3 % between sides, but not within pairs. Sessions without any spread would show nothing."""
    drift = np.exp(0.02 * np.arange(12) + 0.0001 * (np.arange(12) % 4 == 3))
    base = side(100 * drift[::2], [0, 0, 0, 1, 1, 1], np.arange(0, 12, 2))
    head = side(103 * drift[1::2] / np.exp(0.02), [0, 0, 0, 1, 1, 1], np.arange(1, 12, 2))
    judged = judge_sides(base, head, 0.02)
    assert judged.is_paired and judged.design.order == "interleaved" and judged.verdict == "confirmed"
    assert isinstance(judged.ratio, Interval)
    assert judged.ratio.estimate == pytest.approx(1.03, rel=2e-4) and judged.ratio.levels == ("session", "run")


def test_too_few_runs_are_not_supported_and_one_that_stands_out_is_suspected() -> None:
    judged = judge_sides(side([100]), side([103, 104]), 0.02)
    assert (judged.verdict, judged.needs) == ("not supported", 2)
    peers = side([13.4, 13.5, 13.55, 13.6], better="higher")
    slow = judge_sides(peers, side([5.76], better="higher"), 0.02)
    assert (slow.verdict, slow.outcome) == ("suspected", "worse") and "a single run stands out" in slow.reason
    assert judge_sides(peers, side([13.45], better="higher"), 0.02).verdict == "not supported"


def test_a_metric_without_a_direction_is_higher_or_lower() -> None:
    sessions = [0, 1, 2]
    assert judge_sides(side([1, 1.01, 1.02], sessions, better="neither"), side([2, 2.01, 2.02], sessions, better="neither"), 0.02).outcome == "higher"


def test_a_base_of_zero_has_no_ratio_and_is_judged_by_the_difference() -> None:
    """An error rate that rises from zero."""
    days = range(5)
    risen = judge_sides(side([0] * 5, days), side([0.2, 0.3, 0.25, 0.2, 0.3], days), 0.02)
    assert (risen.verdict, risen.outcome) == ("confirmed", "worse") and isinstance(risen.ratio, NotSupported)
    assert judge_sides(side([0] * 5, days), side([0.2, 0.3, 0.25, 0.2, 0.3], days), 0.02, is_exploratory=True).verdict == "suspected"
    one_session = judge_sides(side([0, 0, 0]), side([1, 1, 1]), 0.02)
    assert (one_session.verdict, one_session.needs, one_session.level) == ("suspected", 2, "session") and "in one session a side" in one_session.reason
    nothing = judge_sides(side([0] * 5, days), side([0] * 5, days), 0.02)
    assert (nothing.verdict, nothing.needs, nothing.reason) == ("not supported", None, "the base is zero or less, and has no multiples")
    assert judge_sides(side([0] * 5, days), side([0, 0, 0, 0, 1], days), 0.02).verdict == "not supported"
    fallen = judge_sides(side([-100, -101, -99, -100], range(4)), side([-110, -111, -109, -110], range(4)), 0.02)
    assert (fallen.verdict, fallen.outcome) == ("confirmed", "better")  # lower is better
    assert judge_sides(side([-100, -101, -99, -100], range(4)), side([-101] * 4, range(4)), 0.02).verdict == "not supported"


def test_sides_with_some_zeros_are_compared_over_their_sessions() -> None:
    base, head = side([0, 100, 101, 100, 99, 100], range(6)), side([0, 50, 50.5, 50, 49.5, 50], range(6))
    judged = judge_sides(base, head, 0.02)
    assert isinstance(judged.ratio, Interval) and judged.ratio.levels == ("session", "run")
    shifted = judge_sides(side([100, 101, 0, 99], range(4)), side([100, 101, 102, 99], range(4)), 0.02)
    assert shifted.verdict == "inconclusive"


def test_more_than_one_difference_is_exploratory(tmp_path: Path) -> None:
    found = [{**row, "script": "old" if row["software"] == "1" else "new"} for row in rows(100, 150, 4)]
    for row in found:
        row["series"] = "a" if row["script"] == "old" else "b"
    (metric,) = compare(measured_project(tmp_path / "project", found), "software=1", "software=2").metrics
    assert (metric.variables, metric.judged.verdict, metric.judged.reason) == (
        ("software", "script"), "suspected", "more than one thing differs: exploratory"
    )


def test_one_of_many_metrics_that_differs_as_by_chance_is_suspected(tmp_path: Path) -> None:
    """Two sessions a side: with 5 % assumed between sessions the standard error is 4.257 %, t is 3.895 with seven degrees of freedom, so p is 0.00594,
    and 20 times that is above 5 %."""
    def of(names: range) -> list[dict[str, Any]]:
        levels = {"1": (10.0, 10.1), "2": (12.0, 12.2)}
        return [
            {
                "run_id": f"{software}-{day}-{name}", "series": str(name), "session": f"{software} {day}", "software": software, "script": "s",
                "value": level if name == 0 else (10.0, 11.0)[day], "started_at": (START + timedelta(days=10 * int(software) + day)).isoformat(),
            }
            for software, sides in levels.items() for day, level in enumerate(sides) for name in names
        ]

    (alone,) = compare(measured_project(tmp_path / "one", of(range(1))), "software=1", "software=2").metrics
    assert alone.judged.verdict == "confirmed" and alone.judged.p == pytest.approx(0.00594, abs=1e-5)
    found = {each.base[0].benchmark_case_id: each.judged for each in compare(measured_project(tmp_path / "many", of(range(20))), "software=1", "software=2").metrics}
    assert (found["0"].verdict, found["0"].reason) == ("suspected", "of 20 measurements one may differ so by chance")
    assert found["1"].verdict == "inconclusive"


def test_a_parameter_is_one_variable_though_the_workload_holds_it_too() -> None:
    def sides(**head: str) -> tuple[str, ...]:
        before, after = side([1, 1]), side([2, 2])
        after = [replace(each, run_id=f"h{each.run_id}", variables={**each.variables, "workload": "w", "parameters": "p"}) for each in after]
        said = {"threads": "1", "rows": "5"}
        conditions = {each.run_id: stated(said) for each in before} | {each.run_id: stated(said | head) for each in after}
        return varying(before, after, conditions)

    def stated(parameters: dict[str, str]) -> dict[tuple[str, str], tuple[str, None]]:
        found = {("parameter", name): (value, None) for name, value in parameters.items()}
        found |= {("workload", f"parameters.{name}"): (value, None) for name, value in parameters.items()}
        return found | {("workload", "workload_spec_digest"): (str(parameters), None)}

    assert sides(threads="2") == ("parameter threads",)
    assert sides(threads="2", rows="6") == ("parameter rows", "parameter threads")


def test_multiples_of_each_other_on_the_same_runs_are_one_measurement() -> None:
    """Requests, output tokens and all tokens per second of answers of one length, and the time that they took; and what is of its own."""
    random = np.random.default_rng(3)
    rate = random.normal(100, 3, 10)
    others = [rate, rate * 250, rate * 762, 1000 / rate, rate * random.normal(1, 0.03, 10), np.full(10, 5.0)]
    metrics = [(side(values[:5]), side(values[5:])) for values in others]
    assert distinct_measurements(metrics) == [0, 0, 0, 0, 4, 5]
    elsewhere = [replace(each, run_id=f"x{each.run_id}") for each in metrics[1][1]]
    assert distinct_measurements([metrics[0], (metrics[1][0], elsewhere)]) == [0, 1]


def test_an_effect_of_the_size_that_it_finds_is_found_in_four_of_five_cases(tmp_path: Path) -> None:
    """One of the threshold itself is found by chance alone: its interval would have to miss it on the far side."""
    (metric,) = compared(tmp_path, 100, 110, 4).metrics
    assert metric.finds is not None and metric.judged.least_detectable is not None and metric.finds == metric.judged.least_detectable * 1.02
    random, sessions = np.random.default_rng(5), np.arange(4)

    def found(effect: float) -> float:
        trials = [
            judge_sides(side(100 * np.exp(random.normal(0, 0.01, 4)), sessions), side(100 * effect * np.exp(random.normal(0, 0.01, 4)), sessions), 0.02)
            for _ in range(300)
        ]
        return sum(each.verdict == "confirmed" for each in trials) / len(trials)

    least = least_detectable_ratio(0.01, 4, 4)
    assert isinstance(least, float) and 0.73 < found(1.02 * least) < 0.87 and found(1.02) < 0.07


DIMENSIONS = {  # of the measurements' keys
    "hardware_topology_dim": "select * from (values ('H', 'NVIDIA H100 SXM', 'H100', 8), ('A', 'NVIDIA A100', 'A100', 8), ('X', 'NVIDIA H200', 'H200', 8))"
    " as t (hardware_topology_key, accelerator_name, accelerator_family, gpu_count)",
    "workload_dim": "select 'w' as workload_spec_digest, 'org/Model-7B' as model",
}


def on_accelerators(root: Path, **levels: dict[str, float]) -> Project:
    """Four sessions of each software on each accelerator, by their keys in DIMENSIONS."""
    random, found = np.random.default_rng(1), []
    for place, (software, of_key) in enumerate(sorted(levels.items())):
        for key, level in of_key.items():
            found += [
                {"run_id": f"{software}-{key}-{day}", "series": key, "value": level * np.exp(random.normal(0, 0.002)), "session": f"{software} {day}",
                 "started_at": (START + timedelta(days=30 * place + day)).isoformat(), "software": software, "case_name": "serve"}
                for day in range(4)
            ]
    project = measured_project(root / "project", found)
    path = project.root / "models" / "measurement.sql"
    path.write_text(path.read_text().replace("'h' as hardware", "series as hardware"))
    for name, sql in DIMENSIONS.items():
        (project.root / "models" / f"{name}.sql").write_text(sql)
    build(project)
    return project


def test_sides_of_several_configurations_are_compared_one_by_one(tmp_path: Path, wh_on: WhOn) -> None:
    """Pooled, another share of the slower accelerator would be an effect: software 2 is as fast as 1 on each."""
    project = on_accelerators(tmp_path, one={"H": 100, "A": 200}, two={"X": 100})
    found = compare(project, "software=one", "software=two")
    assert [(str(each.label), len(each.base), each.judged.verdict) for each in found.ranked()] == [
        ("elapsed_ms · Model-7B · 8×A100 → 8×H200", 4, "suspected"), ("elapsed_ms · Model-7B · 8×H100 → 8×H200", 4, "equivalent"),
    ]
    assert found.ranked()[0].headline == "suspected better (exploratory)" and list(found.headlines()) == ["suspected better (exploratory)", "equivalent (exploratory)"]
    assert wh_on(project, "compare", "software=one", "software=two")[1].startswith("1 suspected better (exploratory), 1 equivalent (exploratory)\n")
    ambiguous = compare(project, "hardware=H", "software=one,hardware!=H")
    assert [len(each.base) for each in ambiguous.metrics] == [4]  # one of each is clear


def test_conditions_by_accelerator_model_and_time(tmp_path: Path) -> None:
    project = on_accelerators(tmp_path, one={"H": 100, "A": 200}, two={"H": 101, "A": 210})
    for base, head, runs in (
        ("software=one,accelerator=H100", "software=two,accelerator=*h100*", (4, 4)), ("accelerator!=A100,until=2026-01-20", "accelerator=H100,since=2026-01-20", (4, 4)),
        ("model=*7b,until=2026-01-02,accelerator=A100", "software=two,accelerator=A100", (1, 4)),
    ):
        (metric,) = compare(project, base, head).metrics
        assert (len(metric.base), len(metric.head)) == runs
    with pytest.raises(WarehouseError) as caught:
        compare(project, "acelerator=H100", "software=two")
    hint = str(caught.value.hint)
    assert "accelerator" in hint.partition("?")[0] and {"model", "since", "until", "software"} <= set(hint.replace(",", " ").split())
    with pytest.raises(WarehouseError, match="no measured run matches") as caught:
        compare(project, "accelerator=B200", "software=two")
    assert caught.value.hint == "accelerator has the values: NVIDIA A100; NVIDIA H100 SXM"
    with pytest.raises(WarehouseError, match="is no time"):
        compare(project, "since=then", "software=two")


def test_a_commit_is_named_by_its_beginning(tmp_path: Path, wh_on: WhOn) -> None:
    commits = {"1": "3f9c2d7a" + "0" * 32, "2": "3f9c88e1" + "0" * 32}
    project = measured_project(tmp_path / "project", [{**row, "software": commits[row["software"]]} for row in rows(100, 110, 4)])
    path = project.root / "models" / "condition.sql"
    path.write_text(path.read_text().replace("'software' as kind, 'framework_version' as name", "'git' as kind, 'commit' as name"))
    build(project)
    (metric,) = compare(project, "commit=3f9c2d7", "commit=3f9c88e1").metrics
    assert {each.run_id[0] for each in metric.base} == {"1"} and {each.run_id[0] for each in metric.head} == {"2"}
    assert {each.run_id[0] for each in compare(project, "commit!=3f9c2", "commit=3f9c2").metrics[0].base} == {"2"}
    status, _, message = wh_on(project, "compare", "commit=3f9d", "commit=3f9c88e1")
    assert status == 5 and "no measured run matches" in message and commits["1"] in message


def test_in_a_hundred_columns_nothing_is_cut_and_what_is_dropped_is_named(tmp_path: Path, wh_on: WhOn, monkeypatch: pytest.MonkeyPatch) -> None:
    project = on_accelerators(tmp_path, one={"H": 100, "A": 200}, two={"X": 123.456})
    monkeypatch.delenv("COLUMNS", raising=False)
    whole = wh_on(project, "compare", "software=one", "software=two")[1]
    monkeypatch.setenv("COLUMNS", "100")
    out = wh_on(project, "compare", "software=one", "software=two")[1]
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100 and len(lines) <= 40 and "not shown in 100 columns: A/A" in out and "not shown" not in whole
    for said in ("suspected worse (exploratory)", "suspected better (exploratory)", "1.23", "0.617", "elapsed_ms · Model-7B"):
        assert said in out and said in whole


def test_sides_are_runs_files_patterns_or_conditions(tmp_path: Path, wh_on: WhOn) -> None:
    project = measured_project(tmp_path / "project", rows(100, 110, 2))
    (tmp_path / "head.txt").write_text("2-0-0\n2-1-0\n")
    for base, head, sizes in (
        ("1-0-0,1-1-0", str(tmp_path / "head.txt"), (2, 2)), ("1-*", "framework_version=2", (6, 6)), ("software!=2", "session=2 1", (6, 3)),
    ):
        (metric,) = compare(project, base, head).metrics
        assert (len(metric.base), len(metric.head)) == sizes
    with pytest.raises(WarehouseError, match="WH502 1-0-9: no run with this id") as caught:
        compare(project, "1-0-9", "2-0-0")
    assert "1-0-0" in str(caught.value.hint)
    with pytest.raises(WarehouseError, match="WH502 framework_version=3: no measured run matches") as caught:
        compare(project, "framework_version=3", "2-0-0")
    assert caught.value.hint == "framework_version has the values: 1; 2"
    with pytest.raises(WarehouseError, match="6 runs are on both sides"):
        compare(project, "software=1", "1-*")
    assert wh_on(project, "compare", "software=1", "software=2", "--fail-on", "sure")[0] == 2
    assert "no share between" in wh_on(project, "compare", "1-0-0", "2-0-0", "--threshold", "two")[2]


def test_the_command_prints_and_fails_as_asked(tmp_path: Path, wh_on: WhOn) -> None:
    project = measured_project(tmp_path / "project", rows(100, 110, 4))
    status, out, _ = wh_on(project, "compare", "software=1", "software=2", "--fail-on", "confirmed", "--plot", str(tmp_path / "x.svg"))
    assert status == 1 and "confirmed worse" in out and "12 v 12" in out and "  software framework_version: 1 -> 2\n" in out
    assert (tmp_path / "x.svg").read_text().startswith("<svg ")
    document = json.loads(wh_on(project, "compare", "software=2", "software=1", "--json", "--fail-on", "suspected")[1])
    assert document["metrics"][0]["outcome"] == "better" and document["metrics"][0]["base"]["runs"] == 12
    assert wh_on(project, "compare", "software=2", "software=1", "--fail-on", "suspected")[0] == 0


def test_differences_fit_a_screen(tmp_path: Path, wh_on: WhOn) -> None:
    """That each run has evidence of its own is no difference, and of many packages the first are listed."""
    project = measured_project(tmp_path / "project", rows(100, 110, 4))
    path = project.root / "models" / "condition.sql"
    path.write_text(path.read_text() + """
union all
select run_id, 'evidence', 'artifact_manifest_digest', run_id, null from read_csv('data/*.csv', all_varchar = true, union_by_name = true)
union all
select run_id, 'package', 'p' || number, software, null
from read_csv('data/*.csv', all_varchar = true, union_by_name = true), range(9) as numbers (number)
""")
    build(project)
    out = wh_on(project, "compare", "software=1", "software=2")[1]
    assert out.partition("what differs between the runs:\n")[2].splitlines() == [
        *(f"  package p{number}: 1 -> 2" for number in range(3)), "  and 6 more packages", "  software framework_version: 1 -> 2",
    ]
    assert "artifact_manifest_digest" not in wh_on(project, "compare", "software=1", "software=2", "--json")[1]


def test_a_check_of_too_few_runs_has_not_passed(tmp_path: Path, wh_on: WhOn) -> None:
    project = measured_project(tmp_path / "project", rows(100, 110, 2))
    status, _, err = wh_on(project, "compare", "1-0-0", "2-0-0", "--fail-on", "suspected")
    assert status == 5 and "--fail-on checked none of 1 metric: 1 has too few runs" in err
    assert wh_on(project, "compare", "1-0-0", "2-0-0")[0] == 0
    lone = [row for row in rows(100, 100, 2) if row["software"] == "1" or row["run_id"] == "2-0-0"]
    one_of_many = measured_project(tmp_path / "lone", lone)  # a single run is held against what the others predict
    assert wh_on(one_of_many, "compare", "software=1", "software=2", "--fail-on", "suspected")[::2] == (0, "")
    more = [{**row, "series": "b", "run_id": f"b{row['run_id']}", "value": 5.0} for row in rows(100, 100, 2) if row["run_id"].endswith("0-0")]
    both = measured_project(tmp_path / "both", rows(100, 100, 2) + more)
    status, _, err = wh_on(both, "compare", "software=1", "software=2", "--fail-on", "confirmed")
    assert status == 0 and "--fail-on checked 1 of 2 metrics: 1 has too few runs" in err


def test_errors_that_stay_at_zero_have_been_checked(tmp_path: Path, wh_on: WhOn) -> None:
    """No ratio is supported, but the difference is."""
    zero = [{**row, "value": 0.0} for row in rows(100, 100, 2)]
    project = measured_project(tmp_path / "project", zero)
    assert wh_on(project, "compare", "software=1", "software=2", "--fail-on", "suspected")[::2] == (0, "")
    assert wh_on(project, "compare", "1-0-0", "2-0-0", "--fail-on", "suspected")[0] == 5


def test_measured_conditions_differ_where_their_medians_do() -> None:
    base, head = ([{("host", "clock_hz"): (str(value), value)} for value in side] for side in ((2.69e9, 2.69e9), (2.095e9, 2.69e9, 2.095e9)))
    (found,) = differences(base, head)
    assert str(found) == "host clock_hz: 2.69e+09 -> 2.095e+09 (0.78x, ranges overlap)"
    assert differences(base, base) == ()
    documents = [{("workload", "batch"): ("4", None)}], [{("workload", "batch"): ("4", None), ("workload", "reps"): ("30", None)}]
    assert [str(each) for each in differences(*documents)] == ["workload reps: (not stated) -> 30"]
