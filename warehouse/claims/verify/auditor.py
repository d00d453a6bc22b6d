"""Judges numbers of one query: their files are hashed again, their signatures checked, and the query is replayed from them.

A replay has first the evidence of the number's own why-set and nothing else. That gives the number wherever removing other
runs cannot change it (guarantee G3 of the design). Otherwise it adds what the existence of its row depends on, then the
evidence of its whole publication, and at last all that was there then, which may have kept rows away; and the verdict says
so. A replay of what was published is traced too, and must depend on what the publication states (`claims.verify.retrace`).

The engine, wh and the ingestors that replay may be of other versions than the recorded ones. If both give the same, the number is verified
and the verdict names both; if not, it is not reproduced here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.looks import Looks
from warehouse.claims.own_code import recorded_code
from warehouse.claims.publish.admissibility import made_with
from warehouse.claims.publish.corrections import corrected, correction_text
from warehouse.claims.publish.guarantees import YES
from warehouse.claims.publish.publication import PublishedRollup
from warehouse.claims.publish.signing import (
    Signings,
    check_checkpoint,
    check_decision_signatures,
    check_publication_signatures,
    publication_event,
    trusted_keys,
)
from warehouse.claims.verify.completeness import evidence_then
from warehouse.claims.verify.rejudge import Rejudge, rejudge
from warehouse.claims.verify.retrace import Doubt, row_key
from warehouse.claims.verify.store_now import StoreNow
from warehouse.claims.verify.verdict import (
    EXPIRED,
    NOT_REPRODUCED,
    REFUSED,
    RETRACTED,
    STALE,
    TAMPERED,
    VERIFIED,
    Claim,
    Code,
    Engines,
    Verdict,
    other_software,
    state_of,
)
from warehouse.errors import ExitCode, WarehouseError, counted
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.run_decisions import Decision, named_decisions, standing_now
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import VALID
from warehouse.exact import inexact
from warehouse.project.project import Project
from warehouse.trace.determinism import equals
from warehouse.transform.check.digests import engine_leaf
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.claims.verify.replay import Replayed, Replayer


class Auditor:
    """Verdicts on numbers of one query, in `publication` if they are published, of the columns `traced` on what is stated of
    them beside. Where its numbers were judged, a replay of the bundles `accounted` also accounts for all runs. The same evidence is
    replayed once, and what the query's SQL establishes is found once."""

    def __init__(
        self, project: Project, specification: Mapping[str, Any], traced: Collection[str], publication: PublishedRollup | None,
        now: StoreNow, accounted: frozenset[str] | None = None,
    ) -> None:
        self._project = project
        self._now = now
        self._publication = publication
        self._published = check_publication_signatures(project, publication) if publication else None
        event = publication_event(project, publication.digest, now.events) if publication else None
        self._published_at = event.at if event else None
        self._correction = corrected(now.events).get(publication.digest) if publication else None
        self._checkpoint = check_checkpoint(project, event)
        self._decisions, self._undecided = named_decisions(open_store(project).objects, made_with(project, publication))
        self._decided = check_decision_signatures(project, self._decisions)
        self._trusted = tuple(trusted_keys(project).values())
        self._traced = traced
        self._accounted = accounted
        self._store = open_store(project)
        self._specification = specification
        self._found_replayer: Replayer | None = None
        self._replays: dict[tuple[frozenset[str], bool], Replayed] = {}  # by the evidence, and whether it is traced whole
        self._codes: dict[frozenset[str], Code] = {}  # numbers of a publication mostly ask for the same
        self._found_damaged: dict[frozenset[str], dict[str, tuple[WarehouseError, ...]]] = {}

    def verdict(self, claim: Claim, evidence: Iterable[frozenset[str]]) -> Verdict:
        """The state of one number, replayed from each set of bundles in turn until one gives it."""
        value, files = inexact(claim.form), 0

        def told(state: str, reason: str, *problems: WarehouseError) -> Verdict:
            evidence_signings = {digest: self._now.signing(digest) for digest in sorted(claim.bundles)}
            signings = Signings(evidence_signings, self._published, self._trusted, self._decided, self._checkpoint)
            published = self._publication
            return Verdict(
                claim.number_id, claim.key, value, state, reason, files, problems, signings=signings, is_published=published is not None,
                publication=published.digest if published else None, published_at=self._published_at, engines=self.engines, code=code,
            )

        code = self.code(frozenset())
        problems = [problem for digest in sorted(claim.bundles) for problem in self._now.problems(digest)]
        for signing, what in ((self._published, "the publication's signature"), (self._checkpoint, "the ledger's signature")):
            if signing and (problem := signing.problem(what)):
                problems.append(problem)
        decided = (signing.problem(f"the signature of the decision {sha256[:12]}") for sha256, signing in self._decided.items())
        problems += [*self._undecided, *(problem for problem in decided if problem)]
        if problems:
            state, count = state_of(problems), len(problems)
            reason = problems[0].message if state == EXPIRED else f"{count} problem{'s' * (count > 1)}"
            return told(state, reason, *problems)
        files = sum(map(self._now.files, claim.bundles))
        if not claim.bundles:
            return told(REFUSED, "it depends on no evidence")
        try:
            code = self.code(claim.bundles)
        except WarehouseError as error:  # on any evidence, there or not
            return told(TAMPERED if error.exit_code == ExitCode.TAMPERED else REFUSED, error.message + self.way_back(code), error)
        gave: list[Any] = []
        doubts: list[Doubt] = []
        failed: dict[frozenset[str], WarehouseError] = {}
        lost: dict[str, tuple[WarehouseError, ...]] = {}
        tried: set[frozenset[str]] = set()
        for bundles in evidence:
            if bundles in tried:
                continue
            tried.add(bundles)
            damaged = self._damaged(bundles)
            lost |= damaged
            if damaged:
                continue
            try:
                code = self.code(bundles if claim.bundles <= bundles else bundles | claim.bundles)
                replayed = self.replayed(bundles, tuple(claim.grain_forms))
            except WarehouseError as error:  # over so few rows the SQL may fail where it did not
                failed[bundles] = error
                continue
            row = replayed.rows.get(row_key(claim.grain_forms))
            gave.append(row[claim.column] if row else None)
            if (how := equals(gave[-1], claim.form, claim.determinism)) is not None:
                if row and claim.record and replayed.retraced:
                    doubt = replayed.retraced.doubt(claim.record, claim.grain_forms, claim.column) or self._judgement_doubt(claim, replayed)
                    if doubt:
                        doubts.append(doubt)
                        continue
                reason = f"{counted(files, 'raw file')} hashed, replayed from {self._shown(bundles, claim.bundles)}: {how}"
                reason += f", {others}" if (others := other_software(self.engines, code)) else ""
                reason += "" if claim.is_read else "; no file states it, the query does"
                if claim.stale_because:
                    reason += f"; {claim.stale_because}"
                if problem := self._unsigned(claim):
                    return told(state_of([problem]) if problem.exit_code == ExitCode.MISSING else REFUSED, problem.message, problem)
                needed = bundles if claim.bundles <= bundles else bundles | claim.bundles
                state = STALE if claim.stale_because else VERIFIED
                if self._correction:
                    state, reason = RETRACTED, f"its publication was {correction_text(self._correction)}; {reason}"
                if withdrawn := [str(self._not_admitted[run]) for run in claim.runs if run in self._not_admitted]:
                    more = f", and {len(withdrawn) - 1} more of its runs" * (len(withdrawn) > 1)
                    state, reason = RETRACTED, f"{withdrawn[0]}{more}; {reason}"
                return replace(told(state, reason), evidence=needed)
        if doubts:
            return told(self.doubted(code, is_certain=doubts[-1].is_certain), doubts[-1].message + self.way_back(code))
        if lost:
            problems = [problem for found in lost.values() for problem in found]
            reason = "its own evidence alone does not give it, and other evidence of its publication is damaged"
            return told(state_of(problems), reason, *problems)
        if failed and (not gave or max(tried, key=len) in failed):  # less evidence than that may well give another value
            return told(REFUSED, list(failed.values())[-1].message + self.way_back(code), *failed.values())
        values = " or ".join(dict.fromkeys(str(inexact(form)) for form in gave))
        return told(NOT_REPRODUCED, f"the replay gives {values}{self.way_back(code)}")

    @cached_property
    def engines(self) -> Engines:
        """The engine of the query's spec, and that of this replay."""
        then, now = self._specification["document"]["engine"], engine_leaf()
        settings = then.get("settings")
        later = sorted(now["settings"].keys() - settings.keys()) if isinstance(settings, Mapping) else []
        recorded, here = (f"{engine.get('name')} {engine.get('version')}" for engine in (then, now))
        return Engines(recorded, here, tuple(later))

    def code(self, bundles: frozenset[str]) -> Code:
        """The wh of the publication and the ingestors of these bundles, then and here, as far as they differ. Raises WH309 when the query
        cannot be replayed here on any evidence, or not on these bundles."""
        if bundles in self._codes:
            return self._codes[bundles]
        changed = self._replayer().changed_parsers(bundles) if bundles else {}
        record = self._publication.record if self._publication else {}
        own = recorded_code(record, __version__) if record else None
        pairs = [own] if own else []
        is_of_version = bool(record) and record.get("wh") != __version__
        for name, versions in changed.items():
            numbers = [version and version.partition("+")[0] for version in versions]
            if numbers[0] != numbers[1] or not is_of_version:  # the digest of an ingestor's code is of the version of wh too
                pairs.append((_parser(name, versions[0], numbers), _parser(name, versions[1], numbers)))
        self._codes[bundles] = Code(*(tuple(pair[side] for pair in pairs) for side in (0, 1)))
        return self._codes[bundles]

    def way_back(self, code: Code) -> str:
        """For the reason of what was not reproduced: what replayed it instead of what recorded it, and how to get that; nothing where they
        are the same."""
        return self.engines.way_back + code.way_back

    def doubted(self, code: Code, *, is_certain: bool) -> str:
        """The state of what its evidence gives otherwise than its record says. `is_certain`: nothing but another record explains it, or other
        software."""
        if self.engines.differ or code.differ:
            return NOT_REPRODUCED
        return TAMPERED if is_certain else REFUSED

    def _judgement_doubt(self, claim: Claim, replayed: "Replayed") -> Doubt | None:
        """What its publication says of a number's worth that the replay says otherwise."""
        if self._publication is None or self._rejudge is None:
            return None
        return self._rejudge.doubt(claim, replayed.observed.get(row_key(claim.grain_forms)))

    def unaccounted(self, replayed: "Replayed", known: Collection[str] | None) -> str | None:
        """What the publication says otherwise of the runs that its numbers leave out, and of looks at them, than a replay of `accounted`
        does, and the events of the ledger that were `known` then."""
        if self._publication is None or self._rejudge is None:
            return None
        looks = Looks(self._store.objects, self._publication.query or "", known)
        return self._rejudge.unaccounted(replayed, looks)

    @cached_property
    def _rejudge(self) -> Rejudge | None:
        """Judges the numbers of its publication again; None where they were not judged."""
        return rejudge(self._publication, self._specification) if self._publication else None

    def _unsigned(self, claim: Claim) -> WarehouseError | None:
        """WH312 where the project requires signatures and a trusted key's is lacking under a number."""
        if not self._project.requires_signatures:
            return None
        signings = {f"bundle {digest[:12]}": (digest, self._now.signing(digest)) for digest in sorted(claim.bundles)}
        if self._publication and self._published:
            signings = {"the publication": (self._publication.digest, self._published), **signings}
        for name, (digest, signing) in signings.items():
            if signing.state != VALID:
                is_gone = not signing.signatures and any(signed == digest for signed, _ in Ledger(self._store.objects).signatures)
                return WarehouseError(
                    "WH312", f"{name} is {signing.state}{', but the ledger says that it was signed' * is_gone};"
                    " publication.require_signatures is true", claim.key,
                    exit_code=ExitCode.MISSING if is_gone else ExitCode.FAILED,
                )
        return None

    @cached_property
    def _not_admitted(self) -> Mapping[str, Decision]:
        """The decisions in force now on runs that are not admitted any more."""
        return standing_now(self._store.objects).not_admitted

    def _damaged(self, bundles: frozenset[str]) -> dict[str, tuple[WarehouseError, ...]]:
        """What is wrong with which of these bundles; found once for the same ones, as all numbers of a publication have."""
        if bundles not in self._found_damaged:
            self._found_damaged[bundles] = {digest: found for digest in sorted(bundles) if (found := self._now.problems(digest))}
        return self._found_damaged[bundles]

    @cached_property
    def published_bundles(self) -> frozenset[str]:
        """What the publication depends on; nothing, where there is none. Reads all of its rows."""
        return self._publication.bundles() if self._publication else frozenset()

    def bundles_then(self) -> Iterator[frozenset[str]]:
        """All bundles that were there when the publication was made, where its query lets the absence of a row bring another one
        in: what kept that one away is in no why-set. First those that are whole: what is damaged may have had no part in it."""
        if self._publication and self._publication.record.get("guarantees", {}).get("G3", {}).get("holds") != YES:
            yield frozenset(digest for digest in self._then if not self._now.problems(digest))
            yield self._then

    @cached_property
    def _then(self) -> frozenset[str]:
        return evidence_then(self._project, self._publication, self._now.events) if self._publication else frozenset()

    def replayed(self, bundles: frozenset[str], grain: Sequence[str], *, is_traced: bool = True) -> Replayed:
        """The query over these bundles; where it need not be traced, only as far as accounting for all runs takes. Raises what
        `Replayer.replay` raises."""
        known = self._replays.get((bundles, True)) or self._replays.get((bundles, is_traced))
        if known is None:
            for problem in self._undecided:
                raise problem
            traced = self._traced if is_traced else self._judged
            known = self._replayer().replay(bundles, grain, traced, bundles == self._accounted)
            self._replays[bundles, is_traced] = known
        return known

    @property
    def _judged(self) -> Collection[str]:
        """The columns whose runs are accounted for."""
        return [column for column in self._rejudge.claim.numbers if column in self._traced] if self._rejudge else ()

    def _shown(self, bundles: frozenset[str], own: frozenset[str]) -> str:
        count = f"{len(bundles)} bundle{'s' * (len(bundles) != 1)}"
        if bundles == own:
            return f"its own {count}"
        is_published = bundles is self.published_bundles or bundles <= self.published_bundles
        if is_published:
            return f"{count} of its publication"
        return f"{count} that were there when it was published" if self._published_at else f"{count} that are there now"

    def _replayer(self) -> "Replayer":
        """The query to be replayed. Raises WH309 when it cannot be here, on whatever evidence."""
        from warehouse.claims.verify.replay import Replayer

        observed = self._rejudge.columns if self._rejudge else ()
        parsed = self._now.parsed
        self._found_replayer = self._found_replayer or Replayer(self._project, self._specification, parsed, self._decisions, observed)
        return self._found_replayer


def _parser(name: str, version: str | None, numbers: Sequence[str | None]) -> str:
    """An ingestor in words: its version, and which code where that alone tells two apart."""
    if version is None:
        return f"no {name}"
    number, _, digest = version.partition("+")
    return f"{name} {number} (code {digest[:8]})" if numbers[0] == numbers[1] else f"{name} {number}"
