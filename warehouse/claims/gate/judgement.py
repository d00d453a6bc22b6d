"""A policy applied to the evidence of one number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.claims.gate.checks import CHECKS, HAPPENED, Row
from warehouse.claims.gate.evidence import GATE_VERSION, RUN_ID, Evidence, rounded
from warehouse.claims.gate.first_version import FIRST_CHECKS
from warehouse.claims.gate.policy import EXPLORATORY, PUBLISHABLE, VERDICTS, Policy, Rule
from warehouse.errors import counted
from warehouse.statistics.interval import Interval, NotSupported

NOT_CHECKED = "not checked"  # what is said of a rule whose figure is not known, and which does not count against the number for that


@dataclass(frozen=True)
class RuleVerdict:
    """What one rule says of a number: a verdict, the figure (None: not known, and `why`), and the rows that it comes from. `is_partial`: some of
    its runs do not state what the rule looks at. `detail`: what the figure counts, by name."""

    rule: Rule
    verdict: str
    figure: Any
    why: str | None
    rows: Sequence[Row]
    is_partial: bool = False
    detail: str | None = None

    @property
    def told(self) -> str:
        """The verdict as it is shown: a rule that could not be checked, or not of all runs, is not passed."""
        return NOT_CHECKED if (self.figure is None or self.is_partial) and self.verdict == PUBLISHABLE else self.verdict

    @property
    def is_met(self) -> bool:
        return self.told == PUBLISHABLE

    def __str__(self) -> str:
        unknown = self.why if self.told == NOT_CHECKED else f"{NOT_CHECKED} ({self.why})"
        found = f"{self.figure:.4g}" if isinstance(self.figure, float) else unknown if self.figure is None else str(self.figure)
        if self.figure is not None and self.is_partial:
            found = f"{found} of the runs that state it, others do not"
        if self.detail is not None:
            found = f"{found} ({self.detail})"
        asked = f", asked: {self.rule.publishable}" if self.verdict != PUBLISHABLE else ""
        happened = [f"{row[RUN_ID]}: {row[HAPPENED]}" for row in self.rows if HAPPENED in row]
        more = f", and {len(happened) - 1} more" if len(happened) > 1 else ""
        return f"{self.rule.says}: {found}{asked}" + (f" ({happened[0]}{more})" if happened else "")


@dataclass(frozen=True)
class Judgement:
    """What a number is worth: the verdict, its interval or why there is none, n of each level, and what each rule says, the worst first."""

    verdict: str
    interval: Interval | NotSupported
    n: Mapping[str, int]
    rules: Sequence[RuleVerdict]

    @property
    def against(self) -> list[RuleVerdict]:
        """The rules that keep it from being publishable."""
        return [each for each in self.rules if each.verdict != PUBLISHABLE]

    @property
    def not_met(self) -> list[RuleVerdict]:
        """These, and those that could not be checked."""
        return [each for each in self.rules if not each.is_met]


def judge(evidence: Evidence, policy: Policy, gate: int = GATE_VERSION) -> Judgement:
    """What a policy says of a number: the worst that one of its rules does, or `exploratory` where it has none. `gate` is the version of the
    checks."""
    evidence = replace(evidence, confidence=policy.confidence, gate=gate)
    rules = rule_verdicts(evidence, policy.rules)
    verdict = _worst([each.verdict for each in rules]) if policy.rules else EXPLORATORY
    return Judgement(verdict, evidence.interval, evidence.n, rules)


def rule_verdicts(evidence: Evidence, rules: Iterable[Rule]) -> list[RuleVerdict]:
    """What each of some rules says of a number, the worst first."""
    checks = {**CHECKS, **FIRST_CHECKS} if evidence.gate == 1 else CHECKS
    found = []
    for rule in rules:
        if not rule.is_about(evidence.column):
            continue
        finding = checks[rule.check].find(evidence, rule.settings)
        if finding is None:
            continue
        figure = rounded(finding.figure)
        verdict = rule.verdict(figure, evidence.row)
        if finding.is_partial:
            verdict = _worst([verdict, rule.missing])
        found.append(RuleVerdict(rule, verdict, figure, finding.why if figure is None else None, finding.rows, finding.is_partial, finding.detail))
    return sorted(found, key=lambda each: -VERDICTS.index(each.verdict))


def interval_text(interval: Interval | NotSupported) -> str:
    """An interval in words: its ends, what it covers, and how it was made; or why there is none."""
    if isinstance(interval, NotSupported):
        if interval.n >= interval.needs:
            return f"no interval ({interval.reason})"
        return f"no interval ({interval.reason}: has {counted(interval.n, interval.level)}, needs {interval.needs})"
    covers = " and ".join(f"{level}s" for level in interval.n)
    return f"[{interval.low:.6g}, {interval.high:.6g}] ({interval.confidence:.0%} over {covers}, {interval.method})"


def _worst(verdicts: Sequence[str]) -> str:
    return max(verdicts, key=VERDICTS.index, default=PUBLISHABLE)

