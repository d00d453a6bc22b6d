"""What the other numbers of a publication say of the sessions of a testbed, on figures worked out by hand."""

from __future__ import annotations

from math import exp, sqrt

import pytest

from warehouse.claims.gate.evidence import ColumnEvidence, RowEvidence
from warehouse.claims.gate.history import History
from warehouse.statistics.interval import Interval, NotSupported, SessionNoise
from warehouse.statistics.sessions import counting, expected, session_interval


def row(levels: dict[str, float], **columns: str) -> RowEvidence:
    """A number with one run in each session."""
    observed = [(f"{session}-run", {"session": session, **columns}) for session in levels]
    return RowEvidence(observed, {"v": ColumnEvidence([exp(level) for level in levels.values()], frozenset(range(len(levels))))})


def noise(rows: list[RowEvidence], of: int = 0) -> SessionNoise | None:
    return History(rows).of(rows[of]).columns["v"].noise


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
