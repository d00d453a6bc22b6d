"""Two sides of one metric: the effect with its interval, what it is worth, and what a comparison of this size could have found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from warehouse.analysis.comparison.design import Design, design_of
from warehouse.analysis.measurements import Measurement
from warehouse.statistics.comparisons import (
    least_detectable_ratio,
    paired_ratio_interval,
    ratio_interval,
    shift_interval,
)
from warehouse.statistics.effects import judge
from warehouse.statistics.interval import Interval, Level, NotSupported, SessionNoise
from warehouse.statistics.means import multiplied
from warehouse.statistics.observations import Floats, grouped, last_digit
from warehouse.statistics.sessions import ASSUMED_FREEDOM, Expected, expected

Verdict = Literal["confirmed", "suspected", "equivalent", "inconclusive", "not supported"]
Outcome = Literal["better", "worse", "higher", "lower"]

EXPLORATORY_REASON = "more than one thing differs: exploratory"
_CONFIDENCE = 0.95
_LONE_AGAINST = 4  # runs that a single run is held against, at least
_LONE_CONFIDENCE = 0.999  # of the prediction interval that a single run is held against
_MOST_RUNS = 1000
_ENOUGH_SESSIONS = ASSUMED_FREEDOM // 2 + 2  # a side: their degrees of freedom are those of what is assumed
_TWO = 2  # sessions: equal ones happen to be so too often to show that they never differ
_NO_SPREAD = "two sessions a side without any spread do not show how much sessions differ"


@dataclass(frozen=True)
class Judged:
    """What a comparison of two sides yields. `ratio` is head over base. `outcome` is which way it went, by the metric's direction, where
    the verdict is confirmed or suspected, `p` how likely so large an effect is where there is none beyond the threshold; None where no
    spread is known. `needs` runs a side (sessions, where `level` is session) would support or settle it.
    `least_detectable` is the smallest ratio above 1 that a comparison of this size finds in four of five cases; None without a spread."""

    verdict: Verdict
    outcome: Outcome | None
    reason: str
    ratio: Interval | NotSupported
    design: Design
    is_paired: bool
    least_detectable: float | None
    needs: int | None = None
    level: Literal["run", "session"] = "run"
    p: float | None = None
    is_tested: bool = True  # false where so few runs could not have shown any effect


def judge_sides(
    base: Sequence[Measurement], head: Sequence[Measurement], threshold: float, is_exploratory: bool = False, noise: SessionNoise | None = None
) -> Judged:
    """Judge head against base, one metric, with at least one measurement a side. A side of one session supports no more than a suspicion, and
    that only of an effect beyond what sessions differ by: `noise` is how much others of the testbed do. A comparison in which more than one
    thing differs is exploratory, and supports no more either."""
    design = design_of(base, head)
    ratio, spread, replicates = _effect(base, head, design)
    if isinstance(ratio, Interval):
        ratio = _not_finer_than_rounded(base, head, ratio, replicates)
        if few := _of_few_sessions(base, head, design, ratio, expected(noise)):
            return _judged_by(few, base, head, threshold, is_exploratory, design, replicates)
    if not design.is_across_sessions and not _is_of_one_session(base, head, design) and (error := _error(base, head, expected(noise))):
        return _of_single_sessions(base, head, threshold, design, ratio, error, expected(noise))
    judged = _judged(base, head, threshold, is_exploratory, design, ratio, spread, replicates)
    if isinstance(ratio, NotSupported) or spread is None:
        return judged
    return replace(judged, p=_p(ratio, spread, replicates, threshold, is_paired=judged.is_paired))


def _judged(
    base: Sequence[Measurement], head: Sequence[Measurement], threshold: float, is_exploratory: bool, design: Design,
    ratio: Interval | NotSupported, spread: float | None, replicates: tuple[int, int],
) -> Judged:
    if isinstance(ratio, NotSupported) and (sign := _sign_of_difference(base, head, threshold, design)):
        outcome, reason = _outcome(sign > 0, base[0].better), "the base is zero or less, which has no multiples: judged by the difference"
        if not design.is_across_sessions:
            return Judged("suspected", outcome, f"{reason}, in one session a side", ratio, design, False, None, 2, "session")
        if min(design.base_sessions, design.head_sessions) == _TWO and all(len({each.value for each in side}) == 1 for side in (base, head)):
            return Judged("suspected", outcome, f"{reason}; {_NO_SPREAD}", ratio, design, False, None, 3, "session")
        return Judged("suspected" if is_exploratory else "confirmed", outcome, reason, ratio, design, False, None)
    is_paired = isinstance(ratio, Interval) and "paired" in ratio.method
    least = least_detectable_ratio(spread, *replicates) if spread is not None else None
    detectable = least if isinstance(least, float) else None
    if isinstance(ratio, NotSupported):
        lone = _lone(base, head, threshold)
        if lone:
            reason = f"a single run stands out among {max(len(base), len(head))}: {ratio}"
            return Judged("suspected", _outcome(lone == 1, base[0].better), reason, ratio, design, is_paired, detectable, ratio.needs)
        if not _has_multiples(base):  # then it is the difference that was judged, if there are enough runs for one
            sides = [np.array([each.value for each in side]) for side in (base, head)]
            difference = shift_interval(sides[0], sides[1], _CONFIDENCE)
            needs = difference.needs if isinstance(difference, NotSupported) else None
            return Judged("not supported", None, ratio.reason, ratio, design, is_paired, detectable, needs, is_tested=needs is None)
        return Judged("not supported", None, str(ratio), ratio, design, is_paired, detectable, ratio.needs, is_tested=lone is not None)
    judgement = judge(ratio, threshold, "higher")
    if judgement.outcome in ("better", "worse"):
        outcome = _outcome(judgement.outcome == "better", base[0].better)
        if not judgement.is_across_sessions:
            reason = "one session a side: another session may differ by as much"
            return Judged("suspected", outcome, reason, ratio, design, is_paired, detectable, 2, "session")
        if is_exploratory:
            return Judged("suspected", outcome, EXPLORATORY_REASON, ratio, design, is_paired, detectable)
        if _shows_no_spread(ratio, replicates):
            return Judged("suspected", outcome, _NO_SPREAD, ratio, design, is_paired, detectable, 3, "session")
        reason = f"the whole interval is more than {threshold:.1%} away from no change"
        return Judged("confirmed", outcome, reason, ratio, design, is_paired, detectable)
    if judgement.outcome == "same":
        if judgement.is_across_sessions:
            return Judged("equivalent", None, f"the whole interval is within {threshold:.1%}", ratio, design, is_paired, detectable)
        reason = f"within {threshold:.1%}, in this session"
        return Judged("inconclusive", None, reason, ratio, design, is_paired, detectable, 2, "session")
    needs = _needs(spread, threshold, min(replicates))
    level: Literal["run", "session"] = "session" if judgement.is_across_sessions else "run"
    seen = "it differs, but maybe by less than" if judgement.is_different else "the interval reaches across"
    return Judged("inconclusive", None, f"{seen} the threshold", ratio, design, is_paired, detectable, needs, level)


def _judged_by(
    few: _FewSessions, base: Sequence[Measurement], head: Sequence[Measurement], threshold: float, is_exploratory: bool, design: Design,
    replicates: tuple[int, int],
) -> Judged:
    """By what few sessions and others of the testbed say together."""
    judged = _judged(base, head, threshold, is_exploratory, design, few.ratio, few.error / np.sqrt(sum(1 / n for n in replicates)), replicates)
    judged = replace(judged, least_detectable=few.least_detectable, p=few.p(threshold))
    if judged.verdict != "inconclusive":
        return judged
    needs = judged.needs and max(replicates[0] + 1, _ENOUGH_SESSIONS)  # then they speak for themselves
    return replace(judged, reason=f"{judged.reason}: few sessions, and {few.between}", needs=needs)


@dataclass(frozen=True)
class _FewSessions:
    """An effect over few sessions: its interval, its standard error with the degrees of freedom, and what sessions are expected to differ by."""

    ratio: Interval
    error: float
    freedom: float
    between: Expected

    @property
    def least_detectable(self) -> float:
        return float(np.exp((stdtrit(self.freedom, (1 + _CONFIDENCE) / 2) + stdtrit(self.freedom, 0.8)) * self.error))

    def p(self, threshold: float) -> float:
        distance = abs(np.log(self.ratio.estimate)) - np.log1p(threshold)
        return float(2 * stdtr(self.freedom, -distance / self.error)) if distance > 0 else 1.0


def _of_few_sessions(
    base: Sequence[Measurement], head: Sequence[Measurement], design: Design, ratio: Interval, between: Expected
) -> _FewSessions | None:
    """Where both sides have several sessions, but too few to say how much sessions differ: the variance of a session's mean is that at hand,
    shrunk towards what is expected (Smyth 2004, see `statistics.sessions`). Two that happen to agree give an interval of no width, and of
    values that are rounded two often agree. None where the sessions are enough, or not those of each side alone."""
    own = design.base_sessions + design.head_sessions - 2
    if not design.is_across_sessions or design.pairs or own >= ASSUMED_FREEDOM or min(each.value for each in (*base, *head)) <= 0:
        return None
    if {each.session for each in base} & {each.session for each in head}:
        return None
    sides = [grouped(np.log([each.value for each in side]), [each.session for each in side]) for side in (base, head)]
    groups = [group for side in sides for group in side]
    of_runs = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / max(1, sum(len(group) - 1 for group in groups))
    of_runs *= float(np.mean([1 / len(group) for group in groups]))
    seen = sum(float(np.var([group.mean() for group in side], ddof=1)) * (len(side) - 1) for side in sides)
    freedom = between.freedom + own
    error = float(np.sqrt((between.freedom * (between.variance + of_runs) + seen) / freedom * sum(1 / len(side) for side in sides)))
    if not error:
        return None
    half = stdtrit(freedom, (1 + _CONFIDENCE) / 2) * error
    low, high = multiplied((np.log(ratio.estimate) - half, np.log(ratio.estimate) + half))
    wide = Interval(ratio.estimate, min(low, ratio.low), max(high, ratio.high), _CONFIDENCE, f"t, {between}", ratio.n)
    return _FewSessions(wide, error, freedom, between)


def _not_finer_than_rounded(base: Sequence[Measurement], head: Sequence[Measurement], ratio: Interval, replicates: tuple[int, int]) -> Interval:
    """Few runs that are all alike may be half a unit of their last digit away from what was measured: 10 and 11 may have been 10.5."""
    if sum(replicates) - 2 >= ASSUMED_FREEDOM or min(each.value for each in (*base, *head)) <= 0:
        return ratio
    digit = min(1.0, last_digit([each.value for each in (*base, *head)]))
    away = sum(digit / 2 / side[0].value for side in (base, head) if len({each.value for each in side}) == 1)
    return replace(ratio, low=ratio.low * (1 - min(away, 1)), high=ratio.high * (1 + away))


def _shows_no_spread(ratio: Interval, replicates: tuple[int, int]) -> bool:
    return min(replicates) <= _TWO and bool(np.isclose(ratio.low, ratio.high, rtol=1e-12))


def _is_of_one_session(base: Sequence[Measurement], head: Sequence[Measurement], design: Design) -> bool:
    """Whether both sides share what their session did to them."""
    return bool(design.pairs) or len({each.session for each in (*base, *head)}) == 1


def _error(base: Sequence[Measurement], head: Sequence[Measurement], between: Expected) -> tuple[float, float] | None:
    """The standard error of the logarithm of head over base, sessions included, and its degrees of freedom (Satterthwaite, *An approximate
    distribution of estimates of variance components*, Biometrics Bulletin 2, 1946). None where a side has no logarithms, or nothing shows
    how much runs of one session differ, or nothing differs."""
    if min(each.value for each in (*base, *head)) <= 0:
        return None
    sides = [grouped(np.log([each.value for each in side]), [each.session for each in side]) for side in (base, head)]
    groups = [group for side in sides for group in side]
    freedom_of_runs = sum(len(group) - 1 for group in groups)
    if not freedom_of_runs:
        return None
    of_runs = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / freedom_of_runs * (1 / len(base) + 1 / len(head))
    of_sessions = between.variance * sum((len(group) / len(side)) ** 2 for side, named in zip((base, head), sides, strict=True) for group in named)
    if not (total := of_runs + of_sessions):
        return None
    return float(np.sqrt(total)), total**2 / (of_runs**2 / freedom_of_runs + of_sessions**2 / between.freedom)


def _of_single_sessions(
    base: Sequence[Measurement], head: Sequence[Measurement], threshold: float, design: Design, of_runs: Interval | NotSupported,
    error: tuple[float, float], between: Expected,
) -> Judged:
    """Where a side has one session: the interval covers what sessions are expected to differ by."""
    lone = min(len(base), len(head)) == 1
    if lone and max(len(base), len(head)) < _LONE_AGAINST:
        assert isinstance(of_runs, NotSupported)
        return Judged("not supported", None, str(of_runs), of_runs, design, False, None, of_runs.needs, is_tested=False)
    deviation, freedom = error
    middle = float(np.log(of_runs.estimate)) if isinstance(of_runs, Interval) else _distance(base, head)
    confidence = _LONE_CONFIDENCE if lone else _CONFIDENCE
    half = stdtrit(freedom, (1 + confidence) / 2) * deviation
    low, high = multiplied((middle - half, middle + half))
    n: dict[Level, int] = {"session": design.base_sessions + design.head_sessions, "run": len(base) + len(head)}
    ratio = Interval(float(np.exp(middle)), low, high, confidence, f"t, {between}", n)
    least = float(np.exp((stdtrit(freedom, (1 + confidence) / 2) + stdtrit(freedom, 0.8)) * deviation))
    distance = abs(middle) - np.log1p(threshold)
    p = float(2 * stdtr(freedom, -distance / deviation)) if distance > 0 else 1.0
    sides = "a single run" if lone else "one session a side" if max(n["session"], 2) == 2 else "one session on one side"
    outcome = judge(ratio, threshold, "higher").outcome
    if outcome in ("better", "worse"):
        told = _outcome(outcome == "better", base[0].better)
        reason = f"{sides}: it differs by more than {between}"
        return Judged("suspected", told, reason, ratio, design, False, least, 2, "session", p)
    reason = f"cannot tell: {sides}, {between}; a difference of {least - 1:.1%} or more could be told"
    return Judged("inconclusive", None, reason, ratio, design, False, least, 2, "session", p)


def _distance(base: Sequence[Measurement], head: Sequence[Measurement]) -> float:
    """The logarithm of head over base, by the means of the logarithms."""
    sides = [float(np.log([each.value for each in side]).mean()) for side in (base, head)]
    return sides[1] - sides[0]


def _effect(
    base: Sequence[Measurement], head: Sequence[Measurement], design: Design
) -> tuple[Interval | NotSupported, float | None, tuple[int, int]]:
    """Head over base; the spread of a replicate's logarithm, if known; and the replicates a side."""
    values = [np.array([each.value for each in side]) for side in (base, head)]
    if min(values[0].min(), values[1].min()) <= 0:
        return _of_shift(values[0], values[1], *_sessions(base, head, design)), None, (len(base), len(head))
    logs = [np.log(side) for side in values]
    if design.pairs:
        sessions = [pair[0].session for pair in design.pairs]
        first, second = (np.array([pair[place].value for pair in design.pairs]) for place in (0, 1))
        is_across = len(set(sessions)) >= 2
        found = paired_ratio_interval(first, second, _CONFIDENCE, sessions if is_across else None)
        ratios = _means(np.log(second / first), sessions if is_across else None)
        # If each side spreads so much, their difference spreads by the root of two more.
        return found, _spread([ratios], 2**0.5), (len(ratios), len(ratios))
    groups = _sessions(base, head, design)
    replicates = [_means(side, names) for side, names in zip(logs, groups, strict=True)]
    found = ratio_interval(values[0], values[1], _CONFIDENCE, *groups)
    return found, _spread(replicates), (len(replicates[0]), len(replicates[1]))


def _p(ratio: Interval, spread: float, replicates: tuple[int, int], threshold: float, *, is_paired: bool) -> float:
    """The two-sided p-value of an effect beyond the threshold, by Student's t: a rank test of few values has no small one."""
    distance = abs(np.log(ratio.estimate)) - np.log1p(threshold)
    error = spread * np.sqrt(1 / replicates[0] + 1 / replicates[1])
    freedom = replicates[0] - 1 if is_paired else sum(replicates) - 2
    if distance <= 0:
        return 1.0
    return float(2 * stdtr(freedom, -distance / error)) if error else 0.0


def _of_shift(
    base: Floats, head: Floats, base_sessions: Sequence[str] | None, head_sessions: Sequence[str] | None
) -> Interval | NotSupported:
    """The ratio where some values are zero: from the difference, over the base's median."""
    middle = float(np.median(base))
    if middle <= 0:
        return NotSupported("the base is zero or less, and has no multiples", "run", len(base), len(base) + 1)
    found = shift_interval(base, head, _CONFIDENCE, base_sessions, head_sessions)
    if isinstance(found, NotSupported):
        return found
    estimate, low, high = (1 + each / middle for each in (found.estimate, found.low, found.high))
    return Interval(estimate, low, high, found.confidence, f"{found.method} over the base's median", found.n)


def _has_multiples(base: Sequence[Measurement]) -> bool:
    return median(each.value for each in base) > 0


def _sign_of_difference(base: Sequence[Measurement], head: Sequence[Measurement], threshold: float, design: Design) -> int:
    """Where the base's median is zero or less: 1 or -1 if the whole interval of the difference is on one side of zero, by more than the
    threshold of that median; else 0. An error rate that rises from zero must not pass for want of a ratio."""
    sides = [np.array([each.value for each in side]) for side in (base, head)]
    if _has_multiples(base):
        return 0
    middle = float(np.median(sides[0]))
    found = shift_interval(sides[0], sides[1], _CONFIDENCE, *_sessions(base, head, design))
    limit = threshold * abs(middle)
    if isinstance(found, NotSupported) or found.low <= limit and found.high >= -limit:
        return 0
    return 1 if found.low > limit else -1


def _sessions(
    base: Sequence[Measurement], head: Sequence[Measurement], design: Design
) -> tuple[list[str], list[str]] | tuple[None, None]:
    """The sessions of each side where both have several."""
    if not design.is_across_sessions:
        return None, None
    return [each.session for each in base], [each.session for each in head]


def _means(values: Floats, groups: Sequence[str] | None) -> Floats:
    return values if groups is None else np.array([group.mean() for group in grouped(values, groups)])


def _spread(sides: Sequence[Floats], divisor: float = 1.0) -> float | None:
    """The pooled standard deviation within the sides."""
    freedom = sum(len(side) - 1 for side in sides)
    if freedom < 1:
        return None
    return float(np.sqrt(sum(((side - side.mean()) ** 2).sum() for side in sides) / freedom)) / divisor


def _lone(base: Sequence[Measurement], head: Sequence[Measurement], threshold: float) -> int | None:
    """Where one side is a single run and the other has four or more: 1 or -1 if head lies beyond what base's runs predict, by more than
    the threshold, and 0 if it does not; else None. (Prediction interval for one more observation; Hahn and Meeker, *Statistical
    Intervals*, section 4.7.)"""
    if sorted((len(base), len(head)))[0] != 1 or max(len(base), len(head)) < _LONE_AGAINST or min(each.value for each in (*base, *head)) <= 0:
        return None
    many, sign = (base, 1) if len(head) == 1 else (head, -1)
    one = (head if len(head) == 1 else base)[0].value
    logs = np.log([each.value for each in many])
    half = stdtrit(len(logs) - 1, 0.5 + _LONE_CONFIDENCE / 2) * logs.std(ddof=1) * np.sqrt(1 + 1 / len(logs))
    distance = np.log(one) - logs.mean()
    return int(sign * np.sign(distance)) if abs(distance) > max(half, np.log1p(threshold)) else 0


def _needs(spread: float | None, threshold: float, has: int) -> int | None:
    """The replicates a side that would find an effect of the threshold, more than it `has`; None where it is not known, or they are more
    than a thousand."""
    if spread is None or threshold <= 0:
        return None
    for n in range(has + 1, _MOST_RUNS):
        found = least_detectable_ratio(spread, n, n)
        if isinstance(found, float) and found <= 1 + threshold:
            return n
    return None


def _outcome(is_higher: bool, better: str) -> Outcome:
    if better not in ("higher", "lower"):
        return "higher" if is_higher else "lower"
    return "better" if is_higher == (better == "higher") else "worse"
