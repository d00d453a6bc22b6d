"""Which treatments may be the best: hand-made values, and how often nothing is named where nothing is better (all of it: benchmarks/stacks)."""

from __future__ import annotations

import random

import pytest

from warehouse.statistics.best import best

SESSIONS = "abcdef"


def made(levels: dict[str, float], seed: int, spread: float = 0.02) -> dict[str, dict[str, float]]:
    drawn = random.Random(seed)
    return {name: {session: level * (1 + drawn.gauss(0, spread)) for session in SESSIONS} for name, level in levels.items()}


def test_one_that_is_clearly_better_is_named_in_either_direction() -> None:
    values = made({"a": 1.0, "b": 1.2, "c": 1.0}, 1)
    found = best(values, higher_is_better=True)
    assert (found.named, found.may_be_best) == ("b", ("b",)) and set(found.beaten_by.values()) == {"b"}
    assert found.against["b"].low > 1 and found.against["a"].other == "b" and found.against["a"].high < 1
    lowest = best({name: {session: 1 / value for session, value in each.items()} for name, each in values.items()}, higher_is_better=False)
    assert lowest.named == "b" and lowest.against["b"].ratio == pytest.approx(found.against["b"].ratio)


def test_the_interval_is_that_of_a_paired_t_for_two() -> None:
    """By hand: logs differ by 0.1, 0.2 and 0.3, so their mean is 0.2, its standard error 0.1 / sqrt(3); t(0.975, 2) = 4.302653."""
    values = {"a": {"1": 1.1051709, "2": 1.2214028, "3": 1.3498588}, "b": {"1": 1.0, "2": 1.0, "3": 1.0}}
    against = best(values, higher_is_better=True).against["a"]
    assert (against.low, against.high) == (pytest.approx(0.9527, abs=1e-4), pytest.approx(1.5658, abs=1e-4))


def test_sessions_are_blocks_so_what_disturbs_all_alike_does_not_count() -> None:
    drawn = random.Random(2)
    disturbed = {session: drawn.uniform(0.5, 2) for session in SESSIONS}
    values = {name: {session: value * disturbed[session] for session, value in each.items()} for name, each in made({"a": 1.0, "b": 1.15}, 3).items()}
    assert best(values, higher_is_better=True).named == "b"


def test_a_difference_within_the_zone_of_indifference_is_a_tie() -> None:
    values = made({"a": 1.0, "b": 1.05}, 4, spread=0.002)
    assert best(values, higher_is_better=True).named == "b"
    assert set(best(values, higher_is_better=True, indifference=0.1).may_be_best) == {"a", "b"}


def test_too_few_sessions_in_common_compare_nothing() -> None:
    values = {"a": {"1": 1.0, "2": 1.1, "3": 1.0}, "b": {"1": 2.0, "2": 2.1, "3": 2.0}, "c": {"3": 3.0, "4": 3.0, "5": 3.1}}
    found = best(values, higher_is_better=True)
    assert found.not_compared == ("c",) and found.may_be_best == ("b",)
    assert best({"a": values["a"]}, higher_is_better=True).named is None


@pytest.mark.parametrize("stacks", [2, 5])
def test_equal_ones_are_seldom_told_apart(stacks: int) -> None:
    levels = {str(number): 1.0 for number in range(stacks)}
    named = sum(best(made(levels, seed), higher_is_better=True).named is not None for seed in range(400))
    assert named <= 33  # of 400: at most 5 %, with 99 % of chance
