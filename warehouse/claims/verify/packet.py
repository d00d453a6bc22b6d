"""Audit packets: one number with all that it depends on in one archive, for readers who have neither the store nor the project.

A packet is a small store in an uncompressed tar: the publication with its event of the ledger, its spec, the bundles that a replay
of the number needs, a page to read, and `packet.json`, which says which number it is of. It is a function of these, byte by byte: what was
changed anywhere in it, be it a time in the archive's headers, is found by making it again from its own content.

With them go the signatures that hold by a key that the packing project trusts, and these keys in `keys.json`. They say
that the packet is as it was packed, never that its signer is to be trusted: that is for whoever verifies it to know.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from warehouse.claims.numbers.number import parse_argument
from warehouse.claims.numbers.search import FoundCell, find_cell
from warehouse.claims.publish.admissibility import made_with
from warehouse.claims.publish.publication import RECORD, PublishedRollup, publication_key, spec_key
from warehouse.claims.publish.signing import publication_event, publication_subject, trusted_keys
from warehouse.claims.publish.specification import read_specification
from warehouse.claims.verify.packet_page import page
from warehouse.claims.verify.time_limit import time_limit
from warehouse.claims.verify.verdict import NO_BUILD, REFUSED, STALE, TAMPERED, VERIFIED, Verdict
from warehouse.claims.verify.verification import verify_number
from warehouse.digest import canonical_json, file_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import unique_name
from warehouse.evidence.ledger.chain import checkpoint_subject
from warehouse.evidence.ledger.run_decisions import decision_subject, named_decisions
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import VALID, check_signatures, evidence_subject, signature_keys
from warehouse.evidence.store import manifest_key, raw_key
from warehouse.project.project import Project, project_of_store

_RECORD = "packet.json"
_PAGE = "README.txt"
_KEYS = "keys.json"
_VERSION = 3
_MAGIC, _MAGIC_AT = b"ustar", 257  # in the header of each member of a tar (POSIX.1-1988)
_NAME = re.compile(rf"{_RECORD}|{_PAGE}|{_KEYS}|(signatures|publications|specs|ledger|raw)(/[^/\0]+){{1,100}}")
_UNVOUCHED = "it reproduces, but no key that is trusted here signed its publication, so its origin is not known"


def write_packet(project: Project, argument: str, target: Path) -> Verdict:
    """Write the packet of a published number. Raises WH310 for one that was not published or does not verify, and what
    finding it raises (WH304, WH305)."""
    found = find_cell(project, parse_argument(argument))
    if found.publication is None or found.cell.number_id is None:
        raise WarehouseError("WH310", "only a published number has a record to pack", found.key, f"run: wh publish {found.query}")
    verdict = verify_number(project, found.cell.number_id)
    if verdict.state not in (VERIFIED, STALE):
        raise WarehouseError("WH310", f"it is {verdict.state}: {verdict.reason}", found.key)
    scratch = target.with_name(f".{target.name}.{unique_name()}")
    try:
        with open(scratch, "xb") as stream:
            _write(project, found, found.publication, sorted(verdict.evidence), stream)
        scratch.replace(target)
    except OSError as error:
        raise WarehouseError("WH109", f"cannot be written: {error.strerror}", str(target)) from error
    finally:
        scratch.unlink(missing_ok=True)
    return verdict


def packet_at(target: str) -> Path | None:
    """The file that a person named, whatever a number may be called; None where no file is meant. Raises WH004 for a file that does not exist."""
    path = Path(target)
    if path.is_file():
        return path
    if target.endswith(".whp") or target.startswith(("/", "./", "../")):  # tok/s is a unit
        raise WarehouseError("WH004", "there is no such file", printable(target), exit_code=ExitCode.NOT_FOUND)
    return None


def is_packet(path: Path) -> bool:
    """Whether a file is a packet, be it damaged: by its name, or by the header of any member."""
    if path.suffix == ".whp":
        return True
    with path.open("rb") as stream:
        return any(block[_MAGIC_AT:].startswith(_MAGIC) for block in iter(partial(stream.read, tarfile.BLOCKSIZE), b""))


def verify_packet(
    path: Path, here: Project | None = None, trusted: Mapping[str, str] | None = None, timeout_s: float | None = None
) -> Verdict:
    """Verify the number of a packet by nothing but the packet: its digests, a replay, and that no byte is another; and its
    signatures by the public keys `trusted` (by name), which are not the packet's own. What parses its evidence is no part of it:
    the standard ingestors do, and those of the project `here`. It is `refused` once it has taken `timeout_s`, which only a main thread
    can be given."""
    with TemporaryDirectory(prefix="wh-packet-") as folder:
        try:
            with time_limit(timeout_s):
                verdict = _verdict(path, Path(folder), here, trusted)
        except TimeoutError:
            reason = f"not finished after {timeout_s:g} s: wh verify --timeout SECONDS gives it longer"
            return Verdict(None, str(path), None, REFUSED, reason)
    if verdict.state == STALE:  # there is no build here to be stale by
        verdict = replace(verdict, state=VERIFIED, reason=verdict.reason.removesuffix(f"; {NO_BUILD}"))
    if verdict.state == VERIFIED and not (verdict.signings and verdict.signings.is_vouched):
        return replace(verdict, reason=f"{_UNVOUCHED}; {verdict.reason}")
    return verdict


def _verdict(path: Path, root: Path, here: Project | None, trusted: Mapping[str, str] | None) -> Verdict:
    number_id = None
    try:
        number_id, carried = _unpack(path, root)
        project = project_of_store(root, here)
        store = open_store(project)
        if problems := tuple(problem for digest in store.digests() for problem in store.check_bundle(digest)):
            return Verdict(number_id, str(path), None, TAMPERED, "raw files are not what was packed", 0, problems)
        if not _is_as_made(replace(project, trusted_keys=carried), number_id, path):
            return Verdict(number_id, str(path), None, TAMPERED, "packing its content again gives another archive")
        return verify_number(replace(project, trusted_keys=trusted or {}), number_id)
    except WarehouseError as error:
        return Verdict(number_id, str(path), None, TAMPERED, f"it does not hold its number: {error.message}", 0, (error,))
    except RecursionError:
        return Verdict(number_id, str(path), None, TAMPERED, "it is not a packet any more: it is nested too deeply")
    except (tarfile.TarError, OSError, ValueError, KeyError, TypeError) as error:
        if number_id is not None:
            raise
        return Verdict(None, str(path), None, TAMPERED, f"it is not a packet any more: {error}")


def _is_as_made(project: Project, number_id: str, path: Path) -> bool:
    found = find_cell(project, parse_argument(number_id))
    assert found.publication
    again = project.store_root / "again.tar"
    with open(again, "xb") as stream:
        _write(project, found, found.publication, open_store(project).digests(), stream)
    return file_digest(again) == file_digest(path)


def _unpack(path: Path, root: Path) -> tuple[str, dict[str, str]]:
    """Lay a packet's store into a folder; the number that it says it is of, and the keys that it carries. Writes no more bytes
    than the archive has."""
    room = path.stat().st_size
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            room -= member.size
            if not member.isreg() or member.issparse() or not _NAME.fullmatch(member.name) or room < 0:
                raise ValueError(f"it has a member that no packet has: {printable(member.name[:100])}")
            archive.extract(member, root, filter="data")
    record = json.loads((root / _RECORD).read_bytes())
    if record["packet_version"] != _VERSION:
        raise ValueError(f"its version is {record['packet_version']}, known is {_VERSION}")
    return str(record["number_id"]), {key_id: str(text) for key_id, text in dict(json.loads((root / _KEYS).read_bytes())).items()}


def _write(project: Project, found: FoundCell, publication: PublishedRollup, bundles: list[str], stream: IO[bytes]) -> None:
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in _entries(project, found, publication, bundles):
            entry = tarfile.TarInfo(name)  # without owner and time
            entry.size = len(content) if isinstance(content, bytes) else content.stat().st_size
            with BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as reader:
                archive.addfile(entry, reader)


def _entries(
    project: Project, found: FoundCell, publication: PublishedRollup, bundles: list[str]
) -> Iterator[tuple[str, bytes | Path]]:
    """The files of a packet in order: names, and bytes or where these lie."""
    store = open_store(project)
    specification = read_specification(project, publication)
    signatures = list(_signatures(project, publication, bundles))
    keys = {key_id: trusted_keys(project)[key_id].text for _, key_id in signatures}
    yield _RECORD, canonical_json({"packet_version": _VERSION, "number_id": found.cell.number_id, "publication": publication.digest})
    yield _PAGE, page(found, specification, bundles, sorted(keys)).encode()
    yield _KEYS, canonical_json(keys)
    for envelope, _ in signatures:
        yield envelope, store.objects.read(envelope)
    for key in (*(publication_key(publication.digest, name) for name in (RECORD, *publication.content)), spec_key(specification.digest)):
        yield key, store.objects.read(key)
    if event := publication_event(project, publication.digest):
        yield event.key, store.objects.read(event.key)
    for decision in made_with(project, publication):
        yield decision["key"], store.objects.read(decision["key"])
    for digest in bundles:
        yield manifest_key(digest), store.objects.read(manifest_key(digest))
        for file in store.manifest(digest).files:
            yield raw_key(digest, file.raw_path), store.local_file(digest, file)


def _signatures(project: Project, publication: PublishedRollup, bundles: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The signatures that hold by a trusted key, of the publication, of its event in the ledger, of the decisions that it names and
    of its bundles: keys in the store, and ids of signing keys. Whether any other was changed on the way could not be checked."""
    objects = open_store(project).objects
    decided = (decision_subject(decision.event) for decision in named_decisions(objects, made_with(project, publication))[0])
    event = publication_event(project, publication.digest)
    checkpoint = [checkpoint_subject(event)] if event else []
    for subject in (publication_subject(publication.digest, publication.sha256), *checkpoint, *decided, *map(evidence_subject, bundles)):
        signing = check_signatures(objects, subject, trusted_keys(project))
        holding = {each.key_id for each in signing.signatures if each.state == VALID}
        for key in signature_keys(objects, subject.digest):
            if (key_id := key.rpartition("/")[2].partition(".")[0]) in holding:
                yield key, key_id
