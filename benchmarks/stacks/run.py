"""How often `statistics.best` names a stack: with none that is better (at most 5 % of trials), and with one that is.

Values are simulated: runs spread by 2 %, stacks act in each session a little otherwise (interaction), one stack may be noisier. With many
stacks, the campaign screens all in two sessions and confirms the front-runners in fresh ones, as `wh matrix` does.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from warehouse.statistics.best import best

SPREAD = 0.02
SCREENING, FRONT_RUNNERS = 2, 5


def trial(
    random_: random.Random, stacks: int, sessions: int, *, interaction: float, better_by: float = 0.0, noisier: bool = False, screened: bool = False
) -> str | None:
    """The stack that is named in one simulated campaign; stack `0` is the one that may be better, the last one may be noisier."""
    names = [str(number) for number in range(stacks)]

    def measured(chosen: list[str], first: int, count: int) -> Mapping[str, Mapping[str, float]]:
        spread = {name: SPREAD * (4 if noisier and name == names[-1] else 1) for name in chosen}
        level = {name: 1 + better_by if name == "0" else 1.0 for name in chosen}
        def value(name: str) -> float:
            return level[name] * (1 + random_.gauss(0, interaction) + random_.gauss(0, spread[name]))

        return {name: {str(session): value(name) for session in range(first, first + count)} for name in chosen}

    if screened:
        screening = measured(names, 0, SCREENING)
        front = sorted(names, key=lambda name: -fmean(screening[name].values()))[:FRONT_RUNNERS]
        return best(measured(front, SCREENING, sessions), higher_is_better=True).named
    return best(measured(names, 0, sessions), higher_is_better=True).named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    print(f"{'stacks':>6} {'sessions':>8} {'interaction':>11} {'noisier':>7} {'better by':>9} {'named':>7} {'right':>7}   wanted")
    cases = [
        (stacks, sessions, interaction, noisier, 0.0, False)
        for stacks in (2, 3, 5, 50) for sessions in (3, 5, 16) for interaction in (0.0, 0.01) for noisier in (False, True)
    ]
    cases += [(50, 16, interaction, noisier, 0.0, True) for interaction in (0.0, 0.01) for noisier in (False, True)]
    cases += [(50, 16, 0.01, False, 0.05, True), (50, 16, 0.0, False, 0.05, True)]
    is_met = True
    for number, (stacks, sessions, interaction, noisier, better_by, screened) in enumerate(cases):
        random_ = random.Random(number)
        # Of two stacks the paired t is exact: 5 % is what is to be seen, and it takes many trials to see that it is not more.
        count = 10 * trials if stacks == 2 else trials if stacks < 50 or screened else trials // 20
        named = [
            trial(random_, stacks, sessions, interaction=interaction, better_by=better_by, noisier=noisier, screened=screened) for _ in range(count)
        ]
        share, right = (sum(each is not None for each in named) / count, sum(each == "0" for each in named) / count)
        met = right >= 0.9 if better_by else share <= 0.05 + 3 * (0.05 * 0.95 / count) ** 0.5
        is_met &= met
        words = "right in at least 90 %" if better_by else f"at most 5 %, of {count:,} trials within three standard errors"
        runs = f", {SCREENING * stacks + FRONT_RUNNERS * sessions} runs" if screened else ""
        figures = f"{stacks:>6} {sessions:>8} {interaction:>11.0%} {noisier!s:>7} {better_by:>9.0%} {share:>7.1%} {right:>7.1%}"
        print(f"{figures}   {words}{runs}: {'met' if met else 'MISSED'}")
    sys.exit(not is_met)


if __name__ == "__main__":
    main()
