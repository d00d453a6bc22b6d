"""Judges a published number again: what its publication says of its worth must follow from the recorded evidence by the recorded policy,
and the evidence from the replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.evidence import GATE_VERSION, Evidence, RowEvidence
from warehouse.claims.gate.frozen import JudgedRow, difference, evidence_of, gate_of, judged_rows, published_policy, same, told
from warehouse.claims.gate.history import History, health_rules, shows_sessions
from warehouse.claims.gate.judgement import judge
from warehouse.claims.gate.looks import Looks, RowNow
from warehouse.claims.gate.observed import observed_columns
from warehouse.claims.gate.policy import Policy
from warehouse.claims.publish.publication import PublishedRollup
from warehouse.claims.verify.retrace import Doubt, row_key
from warehouse.claims.verify.verdict import Claim
from warehouse.statistics.interval import SessionNoise
from warehouse.transform.project.claim import Claim as ClaimOfQuery
from warehouse.transform.project.claim import claim_of

if TYPE_CHECKING:
    from warehouse.claims.verify.replay import Replayed


def rejudge(publication: PublishedRollup, specification: Mapping[str, Any]) -> "Rejudge | None":
    """What judges the numbers of a publication again; None where it was not judged. Raises WH307."""
    if (policy := published_policy(publication)) is None:
        return None
    rows = {row_key(row.grain): row for row in judged_rows(publication)}
    has_others = not rows.keys() <= set(map(row_key, publication.grains()))
    return Rejudge(publication, policy, claim_of(specification["document"]["claim"]), rows, has_others)


@dataclass(frozen=True)
class Rejudge:
    """One publication's judgements, by `row_key`. `has_others`: it judges rows that it does not have, from which the difference between sessions
    would follow too."""

    publication: PublishedRollup
    policy: Policy
    claim: ClaimOfQuery
    rows: Mapping[str, JudgedRow]
    has_others: bool = False

    @property
    def columns(self) -> Sequence[str]:
        """The columns of the observations that its policy looks at."""
        return observed_columns(self.policy, gate_of(self.publication))

    @cached_property
    def _history(self) -> History:
        return History((row.evidence, [column for column in row.cells if self._shows_sessions(row, column)]) for row in self.rows.values())

    def _shows_sessions(self, row: JudgedRow, column: str) -> bool:
        """As its publication says of it; whether that is so is found where that number is verified."""
        return shows_sessions({name: verdict for name, (verdict, _) in row.cells[column]["rules"].items()}, health_rules(self.policy))

    def asks_for(self, check: str) -> bool:
        """Whether its policy has a rule of a check: a publication of before that check says nothing of what the check looks at."""
        return any(rule.check == check for rule in self.policy.rules)

    def doubt(self, claim: Claim, replayed: RowEvidence | None) -> Doubt | None:
        """What is said of a number's worth that its evidence says otherwise; `replayed` are the observations of its row in a replay."""
        judged = self.rows.get(row_key(claim.grain_forms))
        claims = replayed is not None and claim.column in replayed.columns
        if judged is None or claim.column not in judged.cells:
            return _doubt("its publication does not judge it, though its query claims it") if claims else None
        if self.has_others:
            return _doubt("its publication judges a row that it does not have")
        assert claim.row is not None
        record = self.publication.record
        evidence = evidence_of(judged, claim.row, claim.column, self.claim, record.get("guarantees", {}))
        if message := _unlike(evidence, set(claim.runs), replayed):
            return _doubt(message)
        gate = gate_of(self.publication)
        if gate > 1 and not _is_like(evidence.noise, self._history.of(judged.evidence).columns[claim.column].noise):
            return _doubt("its publication judges it by another difference between sessions than its rows show")
        again = told(judge(evidence, self.policy, gate))
        if message := difference(judged.cells[claim.column], again):
            is_other = gate > GATE_VERSION
            by = f"; it was judged by version {gate} of the gate, this is {GATE_VERSION}" if is_other else ""
            return Doubt(f"its value is right, but its publication says of its worth {message}{by}", not is_other)
        return None

    def unaccounted(self, replayed: "Replayed", looks: Looks) -> str | None:
        """What a replay of all evidence of then finds of runs that are not in a number, and `looks`, those of the ledger then, find of
        runs that changed since, and the publication does not say; in words, None where nothing. It may say more: this store may be a part of
        the one that it was made in."""
        for row in self.publication.rows():
            key = row_key(row.grain_forms)
            if (judged := self.rows.get(key)) is None or (found := replayed.observed.get(key)) is None:
                continue
            named, all_of_it = (_accounted(each, gate_of(self.publication)) for each in (judged.evidence, found))
            if others := sorted(run for run, what in all_of_it.items() if run not in named or named[run] != what):
                missing = [run for run in others if run not in named]
                more = f" and {len(missing) - 1} more" * (len(missing) > 1)
                if missing:
                    return f"does not name run {missing[0]}{more}, which its numbers leave out"
                return f"gives another reason why run {others[0]} is left out"
            bundles = {
                str(run["run_id"]): str(run["artifact_manifest_digest"])
                for cell in row.cells.values() for run in cell.runs if run.get("artifact_manifest_digest")
            }
            said = judged.evidence
            left_out, least = replace(said, left_out=found.left_out), (self.policy.least("runs"), self.policy.least("sessions"))
            now = RowNow(row.grain_forms, left_out, bundles, replayed.sources, self.claim.stopping, *least)
            since = looks.since(now)
            if late := (since.later if gate_of(self.publication) > 1 else looks.later_by_name(bundles)) - said.later:
                return f"does not say that run {min(late)} was added after a look at the number"
            if self.asks_for("removed"):
                if gone := since.removed.keys() - said.removed.keys():
                    return f"does not say what became of run {min(gone)} after a look at the number: {since.removed[min(gone)]}"
                if other := since.changed.keys() - said.changed.keys():
                    return f"does not say that run {min(other)} has other evidence than at a look: {since.changed[min(other)]}"
            if self.asks_for("ahead") and (ahead := looks.ahead(now) - said.ahead):
                return f"does not say that run {min(ahead)} started after its evidence arrived"
        return None


def _accounted(evidence: RowEvidence, gate: int) -> dict[str, Any]:
    """What is said of each run of a row: of one that was left out why, and whether it failed or is excused."""
    left_out = {each.run_id: (each.reason, each.excuse, each.has_failed, each.reads if gate > 1 else "") for each in evidence.left_out}
    return {**{run: None for run, _ in evidence.observed}, **left_out}


def _unlike(evidence: Evidence, runs: set[str], replayed: RowEvidence | None) -> str | None:
    """What the observations of a record say otherwise than a replay of the number's own runs, in words."""
    used = {each.run_id for each in evidence.used}
    if used - runs:
        return "its publication judges it by runs that it does not depend on"
    if replayed is None:
        return "the replay has none of the observations that its publication judges it by" if used else None
    values = replayed.columns[evidence.column].values if evidence.column in replayed.columns else [None] * len(replayed.observed)
    found = {run: (value, columns) for (run, columns), value in zip(replayed.observed, values, strict=True)}
    if missing := (found.keys() & runs) - used:
        return f"its publication leaves out run {min(missing)} where it judges it"
    for each in evidence.used:
        if each.run_id not in found or not same([each.value, each.columns], list(found[each.run_id])):
            return f"its publication judges it by another observation of run {each.run_id} than its evidence gives"
    return None


def _is_like(said: SessionNoise | None, found: SessionNoise | None) -> bool:
    return said is found is None or bool(said and found and same(asdict(said), asdict(found)))


def _doubt(message: str) -> Doubt:
    return Doubt(f"its value is right, but {message}", True)
