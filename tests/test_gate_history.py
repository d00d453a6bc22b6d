"""What the other numbers of a publication say of the sessions of a testbed, on figures worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from math import exp, sqrt

import pytest
from test_gate_cases import POLICIES

from warehouse.claims.gate.evidence import ColumnEvidence, RowEvidence
from warehouse.claims.gate.history import History, health_rules, shows_sessions
from warehouse.statistics.interval import Interval, NotSupported, SessionNoise
from warehouse.statistics.sessions import Spread, counting, expected, session_interval, spread_of


def row(levels: dict[str, float], **columns: str) -> RowEvidence:
    """A number with one run in each session."""
    observed = [(f"{session}-run", {"session": session, **columns}) for session in levels]
    return RowEvidence(observed, {"v": ColumnEvidence([exp(level) for level in levels.values()], frozenset(range(len(levels))))})


def also(found: RowEvidence, place: int, **columns: object) -> RowEvidence:
    """The same with more columns of one observation."""
    return replace(found, observed=[(run, {**own, **columns} if at == place else own) for at, (run, own) in enumerate(found.observed)])


def noise(rows: list[RowEvidence], of: int = 0) -> SessionNoise | None:
    return History((each, ["v"]) for each in rows).of(rows[of]).columns["v"].noise


def test_the_other_sessions_are_pooled() -> None:
    """Differences of 0.02 and 0.04 have the variances 0.0002 and 0.0008, on the mean 0.0005."""
    found = noise([row({"a": 0, "b": 0}), row({"c": 0, "d": 0.02}), row({"e": 0, "f": 0.04})])
    assert found and found.spread == pytest.approx(sqrt(0.0005)) and (found.freedom, found.sessions) == (2, 4)


def test_sessions_of_the_number_itself_say_nothing_of_others() -> None:
    """Of the third number only what it has besides; the same two sessions for all are seen once."""
    assert noise([row({"a": 0, "b": 0}), row({"a": 0, "b": 0.02}), row({"a": 5, "c": 0})]) is None
    found = noise([row({"a": 0, "b": 0}), row({"a": 9, "c": 0, "d": 0.02}), row({"c": 0, "d": 0.02})])
    assert found and found.spread == pytest.approx(sqrt(0.0002)) and (found.freedom, found.sessions) == (1, 2)


def test_other_metrics_and_testbeds_say_nothing() -> None:
    mine = row({"a": 0, "b": 0}, metric="m", testbed="t")
    others = [row({"c": 0, "d": 0.5}, metric="n", testbed="t"), row({"e": 0, "f": 0.5}, metric="m", testbed="u")]
    assert noise([mine, *others]) is None
    of_days = [row({"day 2026-01-01 on t": 0, "day 2026-01-02 on t": 0}), row({"day 2026-01-03 on u": 0, "day 2026-01-04 on u": 0.5})]
    assert noise(of_days) is None


def test_copies_of_runs_say_nothing() -> None:
    """Two quiet sessions, filed again for two more days; and a run of the number itself, filed as one of another."""
    mine = row({"a": 0, "b": 0.03})
    others = [also(also(each, 0, figures=["1.234567891"]), 1, outcome_digest="2") for each in (row({"c": 0, "d": 0.02}), row({"e": 0, "f": 0.02}))]
    assert noise([mine, *others]) is None
    copied = also(row({"c": 0, "d": 0.02, "e": 0.05}), 2, figures=["3.456789123"])
    found = noise([also(mine, 0, figures=["3.456789123"]), copied])
    assert found and found.sessions == 2 and found.spread == pytest.approx(sqrt(0.0002))


def test_numbers_that_are_refused_say_nothing() -> None:
    """Nor those of which runs were retracted after a look. Those that spread too widely do: without them, the others would look quiet."""
    rules = health_rules(POLICIES["default"])
    assert not shows_sessions({"accounted": "refused"}, rules) and not shows_sessions({"exit-code": "not representative"}, rules)
    assert shows_sessions({"interval": "unstable", "spread": "unstable", "sessions": "provisional", "runs": "unsupported"}, rules)
    rows = [row({"a": 0, "b": 0}), row({"c": 0, "d": 0.02})]
    assert History([(rows[0], ["v"]), (rows[1], [])]).of(rows[0]).columns["v"].noise is None
    assert noise([rows[0], replace(rows[1], removed=frozenset({"c-run"}))]) is None


def test_runs_that_differ_widely_hide_what_sessions_differ_by() -> None:
    """The means of 19 sessions differ no more than their runs explain; of runs that spread by 0.5 % that says much, of 9 % nothing."""
    quiet, noisy = (expected(SessionNoise(0.0, 9, 19, spread / sqrt(2), 19), is_selected=True) for spread in (0.005, 0.09))
    assert sqrt(quiet.variance) < 0.035 and sqrt(noisy.variance) == pytest.approx(0.05, rel=0.05) and noisy.freedom < 7 < quiet.freedom


def test_rounding_hides_what_sessions_differ_by() -> None:
    """A clock that shows whole seconds, of 3 s: half a second is a sixth."""
    spread = spread_of({"a": [3.0, 3.0], "b": [3.0, 3.0], "c": [3.0, 3.0]})
    assert spread and (spread.between, spread.of_runs) == (pytest.approx(1 / 36), pytest.approx(1 / 36))
    assert spread_of({"a": [100.00001], "b": [100.00001]}) == Spread(("a", "b"), pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12), 0)


def test_one_run_a_session_does_not_show_how_runs_spread() -> None:
    """Five that spread by 3 %, where others show that sessions agree: the error of their mean is 1.3 %, and t of 4 degrees 2.8."""
    found = session_interval([97, 100, 103, 99, 101.0], list("abcde"), "mean", history=SessionNoise(0.002, 100, 200, 0.001, 400))
    assert isinstance(found, Interval) and found.relative_half_width and 0.02 < found.relative_half_width < 0.04


def test_what_is_expected_is_shrunk_towards_what_is_assumed() -> None:
    """(5 x 0.05^2 + 2 x 0.0001 x 2 / 0.210721) / 7: of two degrees of freedom chi squared is below -2 ln 0.9 = 0.210721 in a tenth."""
    found = expected(SessionNoise(0.01, 2, 4), is_selected=True)
    assert (found.variance, found.freedom) == (pytest.approx((0.0125 + 0.0004 / 0.210721) / 7, rel=1e-5), 7)
    assert expected(SessionNoise(0.01, 40, 80)).variance == pytest.approx(0.0001)
    assert expected(None).variance == pytest.approx(0.0025)


def test_the_interval_contains_the_number_and_is_of_its_runs() -> None:
    """Ten runs at 100 and ten at 103: the median of all is 101.5; one of each session by itself is not supported."""
    found = session_interval([100.0] * 10 + [103.0] * 10, ["a"] * 10 + ["b"] * 10, "median")
    assert isinstance(found, Interval) and found.estimate == 101.5 and found.low < 101.5 < found.high
    unequal = session_interval([100.0] * 40 + [103.0] * 8, ["a"] * 40 + list("bbccddee"), "median")
    assert isinstance(unequal, NotSupported) and "40 of 48 runs are of one session" in unequal.reason
    assert counting(["a"] * 20 + ["b"]) == ["a"] and counting(["a", "b", "c"]) == ["a", "b", "c"]
