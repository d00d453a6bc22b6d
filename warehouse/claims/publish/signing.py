"""Signatures of evidence, of publications and of decisions on runs: who signs what, and what holds now, by the keys that a project
trusts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from warehouse.claims.publish.admissibility import made_with
from warehouse.claims.publish.interrupted import finish_interrupted
from warehouse.claims.publish.publication import PublishedRollup, publications
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.chain import checkpoint_subject
from warehouse.evidence.ledger.events import PUBLICATION as PUBLISHED
from warehouse.evidence.ledger.events import PUBLISHING, Event, Ledger, name_digest
from warehouse.evidence.ledger.run_decisions import Decision, decision_subject, named_decisions
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import PublicKey, SigningKey, public_keys
from warehouse.evidence.signing.signatures import EVIDENCE, PUBLICATION, STATES, VALID, Signing, Subject, check_signatures, evidence_subject, sign
from warehouse.project.project import Project
from warehouse.transform.project.model import BUNDLE_COLUMN, RUNS

_DIGEST = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True)
class Signings:
    """What the signatures under a number are, checked when this was made: those of its bundles by manifest digest, that of
    its publication (None where it has none), the keys that were trusted, those of the decisions on runs that it was made with, by
    the sha256 of their events, and that of the ledger when it was published."""

    evidence: Mapping[str, Signing]
    publication: Signing | None
    trusted: tuple[PublicKey, ...]
    decisions: Mapping[str, Signing] = field(default_factory=dict)
    checkpoint: Signing | None = None

    @property
    def is_signed(self) -> bool:
        """Whether there is any signature, whatever it is."""
        others = (self.publication, self.checkpoint)
        return any(signing.signatures for signing in (*self.evidence.values(), *self.decisions.values(), *others) if signing)

    @property
    def is_vouched(self) -> bool:
        """Whether a trusted key's signature of the publication holds."""
        return self.publication is not None and self.publication.state == VALID

    def __str__(self) -> str:
        parts = []
        for kind, signings in (("bundle", self.evidence), ("decision", self.decisions)):
            for state in STATES:
                some = [signing for signing in signings.values() if signing.state == state]
                if some:
                    parts.append(f"{len(some)} {kind}{'s' * (len(some) > 1)} {state}{_by(some)}")
        if self.publication:
            parts.append(f"publication {self.publication.state}{_by([self.publication])}")
        if self.checkpoint and self.checkpoint.signatures:
            parts.append(f"ledger when it was published {self.checkpoint.state}{_by([self.checkpoint])}")
        return ", ".join(parts) or "nothing to sign"


def _by(signings: Iterable[Signing]) -> str:
    """The keys that decide: a trusted one by its name, another by its id."""
    deciding = [signing.deciding for signing in signings if signing.deciding]
    names = sorted({each.key_name or f"key {printable(each.key_id)[:12]}" for each in deciding})
    return f" ({', '.join(names)})" if names else ""


def trusted_keys(project: Project) -> dict[str, PublicKey]:
    """The public keys that a project trusts, by key id."""
    return public_keys(project.trusted_keys)


def publication_subject(digest: str, sha256: str) -> Subject:
    """A publication: its record, which names all of its content by digest. A signature's `sha256` is that of the file, as any
    in-toto tool expects; `digest` is of the same document under its domain."""
    return Subject(digest, f"publications/{digest}/publication.json", sha256, PUBLICATION)


def check_evidence_signatures(project: Project, digest: str) -> Signing:
    """What the signatures of a bundle are now."""
    return check_signatures(open_store(project).objects, evidence_subject(digest), trusted_keys(project))


def check_publication_signatures(project: Project, publication: PublishedRollup) -> Signing:
    """What the signatures of a publication are now."""
    return check_signatures(open_store(project).objects, publication_subject(publication.digest, publication.sha256), trusted_keys(project))


def publication_event(project: Project, digest: str, events: Iterable[Event] | None = None) -> Event | None:
    """The ledger's event of a publication: the first that is signed by a trusted key, or else the first; of one that a crash interrupted
    that it was about to be written. `events` are the ledger's, where the caller has read them."""
    objects, trusted = open_store(project).objects, trusted_keys(project)
    of_it = [event for event in (Ledger(objects).events() if events is None else events) if event.subject == digest]
    made = [event for event in of_it if event.kind == PUBLISHED] or [event for event in of_it if event.kind == PUBLISHING]
    signed = (event for event in made if check_signatures(objects, checkpoint_subject(event), trusted).state == VALID)
    return next(signed, made[0] if made else None)


def check_checkpoint(project: Project, event: Event | None) -> Signing | None:
    """What the signatures of the ledger are now, as it was at an event; None without one."""
    return check_signatures(open_store(project).objects, checkpoint_subject(event), trusted_keys(project)) if event else None


def check_decision_signatures(project: Project, decisions: Iterable[Decision]) -> dict[str, Signing]:
    """What the signatures of decisions on runs are now, by the sha256 of their events."""
    objects, trusted = open_store(project).objects, trusted_keys(project)
    return {decision.event.sha256: check_signatures(objects, decision_subject(decision.event), trusted) for decision in decisions}


def check_number_signatures(project: Project, bundles: Iterable[str], publication: PublishedRollup | None, published: Event | None) -> Signings:
    """What the signatures under a number are now. `published` is the event of its publication."""
    objects, trusted = open_store(project).objects, trusted_keys(project)
    return Signings(
        {digest: check_signatures(objects, evidence_subject(digest), trusted) for digest in sorted(bundles)},
        check_publication_signatures(project, publication) if publication else None,
        tuple(trusted.values()),
        check_decision_signatures(project, named_decisions(objects, made_with(project, publication))[0]),
        check_checkpoint(project, published),
    )


@dataclass(frozen=True)
class Signed:
    """What was signed: `bundle`, `publication` or `decision`, and whether this key had not signed it before."""

    digest: str
    kind: str
    is_new: bool


def sign_targets(project: Project, targets: Iterable[str], key: SigningKey) -> Iterator[Signed]:
    """Sign what a person named: the digest of a bundle, a publication or the event of a decision on a run (or its beginning),
    that event's key, a run of the current build, or evidence on disk that is in the store. Each is hashed before it is signed.
    Raises WH111 for a name that is nothing's or several's, WH105 to WH107 and WH307 for what is not whole, WH113, WH109."""
    finish_interrupted(open_store(project))
    ledger = Ledger(open_store(project).objects)
    for subject in dict.fromkeys(subject for target in targets for subject in _subjects(project, target)):
        yield _signed(project, subject, key, ledger)


def sign_all(project: Project, key: SigningKey) -> Iterator[Signed]:
    """Sign every bundle of the store. Raises what `sign_targets` does."""
    finish_interrupted(open_store(project))
    ledger = Ledger(open_store(project).objects)
    for digest in open_store(project).digests():
        yield _signed(project, evidence_subject(digest), key, ledger)


def sign_publication(project: Project, ledger: Ledger, publication: Subject, key: SigningKey) -> bool:
    """Sign a publication, and the ledger as it was when it was published; whether this key had not signed it. Raises WH113, WH109."""
    if event := publication_event(project, publication.digest):
        sign(ledger, checkpoint_subject(event), key)
    return sign(ledger, publication, key)


def _signed(project: Project, subject: Subject, key: SigningKey, ledger: Ledger) -> Signed:
    if subject.predicate_type == PUBLICATION:
        return Signed(subject.digest, "publication", sign_publication(project, ledger, subject, key))
    if subject.predicate_type != EVIDENCE:
        return Signed(subject.digest, "decision", sign(ledger, subject, key))
    for problem in open_store(project).check_bundle(subject.digest):
        raise problem
    return Signed(subject.digest, "bundle", sign(ledger, subject, key))


def _subjects(project: Project, target: str) -> list[Subject]:
    if Path(target).exists():
        return [evidence_subject(digest) for digest in _ingested(project, Path(target))]
    target = name_digest(target) or target
    if _DIGEST.fullmatch(target):
        bundles = [digest for digest in open_store(project).digests() if digest.startswith(target)]
        published = [each for each in publications(project) if each.digest.startswith(target)]
        decided = [event for event in Ledger(open_store(project).objects).decisions() if event.sha256.startswith(target)]
        if len(bundles) + len(published) + len(decided) > 1:
            raise WarehouseError("WH111", "several digests begin so", target, "give more of it", ExitCode.AMBIGUOUS)
        for publication in published:
            publication.check()
            return [publication_subject(publication.digest, publication.sha256)]
        if decided:
            return [decision_subject(decided[0])]
        if bundles:
            return [evidence_subject(bundles[0])]
    return [evidence_subject(_bundle_of_run(project, target))]


def _ingested(project: Project, path: Path) -> list[str]:
    """The bundles that evidence on disk is, all of them in the store."""
    from warehouse.landing.ingest import plan_ingest, planned_digests
    from warehouse.landing.registry import load_ingestors

    store = open_store(project)
    with TemporaryDirectory(prefix="wh-unpacked-") as scratch:
        found = planned_digests(plan_ingest(path, load_ingestors(project).values(), project.store_root, scratch=Path(scratch)))
    stored = set(store.digests())
    for digest in found:
        if digest not in stored:
            raise WarehouseError(
                "WH111", f"bundle {digest[:12]} is not in the store", printable(str(path)), f"run: wh ingest {printable(str(path))}",
                ExitCode.NOT_FOUND,
            )
    return found


def _bundle_of_run(project: Project, run_id: str) -> str:
    from warehouse.transform.finished.builds import find_current
    from warehouse.transform.finished.query import read_query
    from warehouse.transform.finished.role_tables import role_table
    from warehouse.transform.sql.duck import text_literal

    build, rows = find_current(project), []
    runs = role_table(build.path, RUNS) if build else None
    if build and runs and BUNDLE_COLUMN in runs.columns:
        with read_query(build.path, f"select {BUNDLE_COLUMN} from {runs.sql} where run_id = {text_literal(run_id)}") as result:
            rows = result.fetchall()
    if not rows:
        raise WarehouseError(
            "WH111", "no bundle, publication, decision, run or path has this name", printable(run_id),
            "name a digest, a run_id of the current build, or evidence that was ingested", ExitCode.NOT_FOUND,
        )
    return str(rows[0][0])
