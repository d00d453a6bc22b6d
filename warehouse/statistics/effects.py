"""An effect against what matters in practice: better, worse, the same within a threshold, or not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from warehouse.statistics.interval import Interval

Direction = Literal["higher", "lower"]  # which values are better
Outcome = Literal["better", "worse", "same", "inconclusive"]


@dataclass(frozen=True)
class Judgement:
    """Where the interval of a ratio lies. `better` and `worse`: beyond the threshold altogether. `same`: within it altogether.
    `inconclusive`: across it. `is_different`: the interval
    excludes that there is no effect at all, however small. `is_across_sessions`: the interval covers sessions; without that another
    session may differ by more than the effect, and a difference is only suspected."""

    outcome: Outcome
    is_different: bool
    is_across_sessions: bool


def judge(ratio: Interval, threshold: float, better: Direction) -> Judgement:
    """Judge head over base by its interval. A threshold of 0.02 means 2 %: ratios between 0.98 and 1.02 do not matter.

    Schuirmann's two one-sided tests, *A comparison of the two one-sided tests procedure and the power approach for assessing the
    equivalence of average bioavailability* (Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), by the interval: with 95 %
    confidence each claim is wrong in at most 2.5 %.
    """
    if not 0 <= threshold < 1:
        raise ValueError(f"a threshold is a share between 0 and 1, not {threshold}")
    is_above, is_below = ratio.low > 1 + threshold, ratio.high < 1 - threshold
    outcome: Outcome = "inconclusive"
    if is_above or is_below:
        outcome = "better" if is_above == (better == "higher") else "worse"
    elif 1 - threshold < ratio.low and ratio.high < 1 + threshold:
        outcome = "same"
    return Judgement(outcome, not ratio.low <= 1 <= ratio.high, "session" in ratio.levels)
