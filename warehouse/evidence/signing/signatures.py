"""Signatures: in-toto Statements v1 in DSSE envelopes, `signatures/<digest>/<key id>.dsse.json`, create-if-absent.

A signature is checked whenever it is spoken of: nothing here remembers that one held. It is no evidence itself: what a
number is does not depend on it. The ledger has the sha256 of each envelope, so that one by a key that is not trusted yet cannot
change unnoticed or vanish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.events import ENVELOPE, SIGNATURE, Event, Ledger
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.signing.keys import PublicKey, SigningKey

if TYPE_CHECKING:
    from securesystemslib.dsse import Envelope

EVIDENCE = "urn:perf-warehouse:evidence:v1"  # predicate types: what is stated of the subject
PUBLICATION = "urn:perf-warehouse:publication:v1"
DECISION = "urn:perf-warehouse:decision:v1"  # on a run: an event of the ledger
CHECKPOINT = "urn:perf-warehouse:checkpoint:v1"  # of the ledger: an event that commits to all before it

# What one signature is found to be.
TRUSTED = "signed by a trusted key"
TAMPERED = "tampered"  # it does not fit what it signs
UNKNOWN_KEY = "signed by an unknown key"  # so it was not checked
OTHER_SUBJECT = "for another digest"
MALFORMED = "malformed"

# The signing state of a bundle or publication.
UNSIGNED = "unsigned"
VALID = "valid"
UNTRUSTED = "untrusted key"
INVALID = "invalid"
STATES = (VALID, INVALID, UNTRUSTED, UNSIGNED)  # what decides, first

_STATE_OF = {TRUSTED: VALID, TAMPERED: INVALID, UNKNOWN_KEY: UNTRUSTED, OTHER_SUBJECT: INVALID, MALFORMED: INVALID}
_STATEMENT = "https://in-toto.io/Statement/v1"
_PAYLOAD_TYPE = "application/vnd.in-toto+json"
_SUFFIX = ".dsse.json"
_KEY = re.compile(r"signatures/[0-9a-f]{64}/[0-9a-f]{64}\.dsse\.json")
_ENVELOPE_BYTES = 1 << 20  # of the longest that is read


@dataclass(frozen=True)
class Subject:
    """What is signed: the digest that its signatures lie under, the file that represents it, that file's sha256, and which
    kind of statement is made of it."""

    digest: str
    name: str
    sha256: str
    predicate_type: str


@dataclass(frozen=True)
class Signature:
    """One signature, checked now: whose it says it is, what it was found to be, and why. `key_name` is what the project calls
    a trusted key."""

    key_id: str
    finding: str
    reason: str
    key_name: str | None = None

    @property
    def state(self) -> str:
        return _STATE_OF[self.finding]


@dataclass(frozen=True)
class Signing:
    """All signatures of one subject."""

    signatures: tuple[Signature, ...] = ()

    @property
    def state(self) -> str:
        """`valid` as soon as one trusted key's signature holds; else the worst."""
        return next((state for state in STATES if any(each.state == state for each in self.signatures)), UNSIGNED)

    @property
    def deciding(self) -> Signature | None:
        """The signature that its state is of."""
        return next((each for each in self.signatures if each.state == self.state), None)

    @property
    def reason(self) -> str | None:
        """What was found of every signature, in words; None where there is none."""
        return "; ".join(each.reason for each in self.signatures) or None

    def problem(self, place: str) -> WarehouseError | None:
        """WH113 where it is `invalid`: what was signed, or its signature, is not what it was."""
        if self.state != INVALID:
            return None
        return WarehouseError("WH113", str(self.reason), place, "restore the store from a copy", ExitCode.TAMPERED)


def evidence_subject(digest: str) -> Subject:
    """A bundle: its manifest, which lists all of its files, hashes to its digest."""
    return Subject(digest, f"raw/sha256/{digest[:2]}/{digest}/manifest.json", digest, EVIDENCE)


def sign(ledger: Ledger, subject: Subject, key: SigningKey) -> bool:
    """Sign a subject in the ledger's store, once for each key; whether there was no signature of this key. Ed25519 knows no
    chance: the same key always makes the same file. One that the ledger does not know, of an earlier version, it knows then.
    Raises WH113 when another file is there, WH109, WH114."""
    from securesystemslib.dsse import Envelope

    envelope = Envelope(canonical_json(_statement(subject)), _PAYLOAD_TYPE, {})
    envelope.sign(key.signer)
    data = canonical_json(envelope.to_dict())
    objects = ledger.objects
    envelope_key = signature_key(subject.digest, key.public.key_id)
    place = f"{objects.url}/{envelope_key}"
    try:
        if objects.exists(envelope_key):
            is_new = False
        else:
            ledger.signed(subject.digest, key.public.key_id, data)
            is_new = objects.create(envelope_key, data)
        if not is_new and _read(objects, envelope_key) != data:
            message = "another file lies where this key's signature would"
            raise WarehouseError("WH113", message, place, "restore the store from a copy", ExitCode.TAMPERED)
        if not is_new and (subject.digest, key.public.key_id) not in ledger.signatures:
            ledger.signed(subject.digest, key.public.key_id, data)
    except OSError as error:
        raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", place) from error
    return is_new


def complete_signatures(objects: Objects, events: Iterable[Event]) -> None:
    """Write the envelopes that events of the ledger hold and that are not there: a crash came between the two. Raises WH109, WH114."""
    held = [event for event in events if event.kind == SIGNATURE and isinstance(event.detail.get(ENVELOPE), str)]
    there = set(objects.matching(f"{_folder('*')}/*{_SUFFIX}")) if held else set()
    for event in held:
        key, data = signature_key(event.subject, str(event.detail.get("key_id"))), str(event.detail[ENVELOPE]).encode()
        if key not in there and _KEY.fullmatch(key) and bytes_digest(data) == event.detail.get("sha256"):
            try:
                objects.create(key, data)
            except OSError as error:
                raise WarehouseError("WH109", f"the store cannot be written: {error.strerror}", f"{objects.url}/{key}") from error


def check_signatures(objects: Objects, subject: Subject, trusted: Mapping[str, PublicKey]) -> Signing:
    """Check every signature of a subject, now. `trusted` are public keys by key id. Raises WH114."""
    return Signing(tuple(check_signature(objects, key, subject, trusted) for key in signature_keys(objects, subject.digest)))


def signature_keys(objects: Objects, digest: str) -> list[str]:
    """The keys of the envelopes that lie under a digest, by the signing key's id."""
    return objects.matching(f"{_folder(digest)}/*{_SUFFIX}")


def signed_digests(objects: Objects) -> set[str]:
    """The digests under which an envelope lies."""
    return {key.split("/")[1] for key in objects.matching(f"{_folder('*')}/*{_SUFFIX}")}


def signature_key(digest: str, key_id: str) -> str:
    """The key of the envelope of a digest by a signing key."""
    return f"{_folder(digest)}/{key_id}{_SUFFIX}"


def signature_stamps(objects: Objects) -> list[str]:
    """What tells that a signature came, went or changed; nothing is read."""
    return [f"{entry.key} {entry.stamp}" for entry in objects.entries("signatures")]


def _folder(digest: str) -> str:
    return f"signatures/{digest}"


def _statement(subject: Subject) -> dict[str, Any]:
    return {
        "_type": _STATEMENT,
        "subject": [{"name": subject.name, "digest": {"sha256": subject.sha256}}],
        "predicateType": subject.predicate_type,
        "predicate": {},
    }


class _Malformed(Exception):
    """Why a file is no envelope of a statement."""


def check_signature(objects: Objects, envelope_key: str, subject: Subject, trusted: Mapping[str, PublicKey]) -> Signature:
    """Check the one signature that lies under a key, now. Raises WH114."""
    key_id = envelope_key.rpartition("/")[2].removesuffix(_SUFFIX)
    key = trusted.get(key_id)
    shown = f"key {key.name} ({key_id[:12]})" if key else f"key {printable(key_id)[:12]}"

    def found(finding: str, message: str) -> Signature:
        return Signature(key_id, finding, f"{shown}: {message}", key.name if key else None)

    try:
        envelope = _parsed(objects, envelope_key, key_id)
        if key and not _holds(envelope, key):
            return found(TAMPERED, "tampered: its signature does not fit its content")
        signed = _signed(envelope.payload, subject.predicate_type)
    except _Malformed as error:
        return found(MALFORMED, f"malformed: {printable(str(error))}")
    if signed != subject.sha256:
        return found(OTHER_SUBJECT, f"for another digest: it signs {printable(signed)}")
    if key is None:
        return found(UNKNOWN_KEY, "not among the trusted keys, so its signature was not checked")
    return found(TRUSTED, "its signature holds")


def _parsed(objects: Objects, envelope_key: str, key_id: str) -> "Envelope":
    """The envelope in a file, of exactly one signature, by the key that the file is named for."""
    from securesystemslib.dsse import Envelope

    try:
        data = _read(objects, envelope_key)
        envelope = Envelope.from_dict(json.loads(data))
        if canonical_json(envelope.to_dict()) != data:
            raise _Malformed("it is not a DSSE envelope in canonical JSON")
        if list(envelope.signatures) != [key_id]:
            raise _Malformed("it is not signed by the key in its name, and by no other")
        if envelope.payload_type != _PAYLOAD_TYPE:
            raise _Malformed(f"its payload is {envelope.payload_type!r}, no in-toto statement")
        return envelope
    except OSError as error:
        raise _Malformed(f"it cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _Malformed(f"not a DSSE envelope: {error}") from error


def _holds(envelope: "Envelope", key: PublicKey) -> bool:
    from securesystemslib.exceptions import VerificationError
    from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]  # documented there, not re-exported by type

    try:
        envelope.verify([SSlibKey.from_dict(key.key_id, dict(key.document))], threshold=1)
    except VerificationError:
        return False
    return True


def _signed(payload: bytes, predicate_type: str) -> str:
    """The sha256 of the one subject of a statement."""
    try:
        document = json.loads(payload)
        subjects: Sequence[Any] = document["subject"]
        if document["_type"] != _STATEMENT or document["predicateType"] != predicate_type:
            raise _Malformed(f"it states {document['predicateType']!r}, not {predicate_type!r}")
        if len(subjects) != 1 or not isinstance(subjects[0]["digest"]["sha256"], str):
            raise _Malformed("it does not have exactly one subject with a sha256")
        return str(subjects[0]["digest"]["sha256"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _Malformed(f"not an in-toto statement: {error}") from error


def _read(objects: Objects, key: str) -> bytes:
    """An envelope's first bytes: a larger file is not read into memory."""
    data = b""
    for chunk in objects.chunks(key):
        data += chunk
        if len(data) >= _ENVELOPE_BYTES:
            break
    return data[:_ENVELOPE_BYTES]
