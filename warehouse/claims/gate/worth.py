"""What a published number is worth, as its publication says: for `wh lineage`, audit packets and the pages of the site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from warehouse.claims.gate.evidence import GATE_VERSION, Evidence
from warehouse.claims.gate.frozen import JudgedRow, evidence_of, gate_of, interval_document, judged_rows, published_policy, told_interval, unreadable
from warehouse.claims.gate.judgement import RuleVerdict, interval_text, judge
from warehouse.claims.gate.policy import EXPLORATORY, Policy
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow
from warehouse.digest import canonical_json
from warehouse.errors import counted
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.transform.project.claim import Claim

NOT_JUDGED = "not judged"  # published by a version of wh without policies
NOT_CLAIMED = "not claimed"  # its query claims no statistic of this column, or not of this row


@dataclass(frozen=True)
class Worth:
    """The verdict on a number, and what it follows from: the policy, None where there was none; the interval or why there is none, how many
    observations of each level it depends on, and what each rule says. `statistic`: what its query claims it to be; `evidence`: what was
    judged. All are empty for a number that is not claimed."""

    verdict: str
    policy: Policy | None = None
    statistic: str | None = None
    interval: Interval | NotSupported | None = None
    n: Mapping[str, int] | None = None
    rules: Sequence[RuleVerdict] = ()
    evidence: Evidence | None = None
    gate: int = GATE_VERSION  # that judged it

    def __str__(self) -> str:
        parts = [interval_text(self.interval)] if self.interval else []
        parts += [", ".join(counted(count, level) for level, count in self.n.items())] if self.n else []
        gate = f" and version {self.gate} of the gate (now {GATE_VERSION})" if self.policy and self.gate != GATE_VERSION else ""
        return ", ".join([*parts, f"{self.verdict} by policy {self.policy}{gate}" if self.policy else self.verdict])

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "verdict": self.verdict,
            "policy": self.policy.reference if self.policy else None,
            "gate": self.gate,
            "statistic": self.statistic,
            **({} if self.interval is None else interval_document(self.interval)),
            "n": dict(self.n) if self.n else None,
            "rules": [
                {
                    "id": each.rule.id, "says": each.rule.says, "verdict": each.told, "figure": each.figure, "why": each.why,
                    "asked": str(each.rule.publishable), "severity": each.rule.severity, "source": each.rule.source, "rows": list(each.rows),
                }
                for each in self.rules
            ],
        }


class PublishedWorth:
    """What a publication says that its cells are worth, or those of one `row`; its judgements are read once, when the first is asked for.
    Raises WH307."""

    def __init__(self, publication: PublishedRollup, claim: Claim, row: PublishedRow | None = None) -> None:
        self._publication, self._claim = publication, claim
        self._policy = published_policy(publication)
        self._carrying = canonical_json(dict(row.grain_forms)) if row else b""

    def of(self, row: PublishedRow, cell: PublishedCell) -> Worth:
        """The worth of one cell; the rows under each rule are found again."""
        if self._policy is None:
            return Worth(NOT_JUDGED)
        judged = self._rows.get(canonical_json(dict(row.grain_forms)))
        if judged is None or cell.column not in judged.cells:
            return Worth(NOT_CLAIMED if self._policy.rules else EXPLORATORY, self._policy)
        if cell.column not in self._claim.numbers:
            raise unreadable(ValueError(f"it judges {cell.column}, of which its query claims nothing"), self._publication)
        told = judged.cells[cell.column]
        guarantees = self._publication.record.get("guarantees", {})
        evidence = evidence_of(judged, row, cell.column, self._claim, guarantees)
        gate = gate_of(self._publication)
        again = judge(evidence, self._policy, gate)
        statistic = self._claim.numbers[cell.column].statistic
        return Worth(told["verdict"], self._policy, statistic, told_interval(told), told["n"], again.rules, evidence, gate)

    @cached_property
    def _rows(self) -> Mapping[bytes, JudgedRow]:
        # A row that no line states is not judged, unless a line cannot be read: then all are.
        found = list(judged_rows(self._publication, self._carrying)) or judged_rows(self._publication)
        return {canonical_json(dict(row.grain)): row for row in found}
