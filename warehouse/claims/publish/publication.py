"""Publications: a rollup frozen in the store with its number ids, runs and evidence, under the digest of its content.

    publications/<digest>/rows.jsonl          one line a row: its grain, bundles, files and why-sets; of each cell the value, the number id,
                                              which why-set, and of which files which byte ranges
    publications/<digest>/runs.jsonl          the runs that any row or cell depends on
    publications/<digest>/why.jsonl           the why-sets, bitmaps over these runs (`claims.publish.why_sets`)
    publications/<digest>/judgement.jsonl     what its claimed numbers are worth, and the evidence for that (`claims.gate.frozen`)
    publications/<digest>/policy.json         the policy that says so
    publications/<digest>/publication.json    what it is of, and the digests of the others; put last: the commit point
    specs/<query_spec_digest>.json            the query and every model under it, whole, by their digests

Here is what a publication is and how it is read; `claims.publish.publish` makes one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from warehouse.claims.publish.why_sets import Run, WhySets
from warehouse.digest import bytes_digest, canonical_digest, canonical_document, canonical_json, stream_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import PUBLICATION, Event, Ledger
from warehouse.evidence.objects.base import Objects, damage
from warehouse.evidence.objects.location import open_store
from warehouse.exact import inexact
from warehouse.project.project import Project

_T = TypeVar("_T")
PUBLICATION_VERSION = 6
PUBLICATION_DOMAIN = f"wh/publication/{PUBLICATION_VERSION}"
# The files beside the record, each with its digest in it.
ROWS, RUN_LINES, WHY, JUDGEMENT, POLICY = "rows.jsonl", "runs.jsonl", "why.jsonl", "judgement.jsonl", "policy.json"
CONTENT = (ROWS, RUN_LINES, WHY, JUDGEMENT, POLICY)
# By form. Publications of form 5 were not judged.
_CONTENT_OF = {5: frozenset({ROWS, RUN_LINES, WHY}), PUBLICATION_VERSION: frozenset(CONTENT)}
RECORD = "publication.json"
_FIELDS = frozenset({"query", "query_spec_digest", "sha256"})  # of the record, what readers need


def publication_key(digest: str, name: str) -> str:
    """The key in the store of one of a publication's files."""
    return f"publications/{digest}/{name}"


def spec_key(query_spec_digest: str) -> str:
    """The key in the store of a query's spec."""
    return f"specs/{query_spec_digest}.json"


@dataclass(frozen=True)
class PublishedCell:
    """One cell of a publication. `runs` are those of its why-set; `evidence` is that of `RowTrace`, with each file's sha256.
    `is_exact`: its own value passed through no addition of floats, though others of its column do."""

    column: str
    value: Any
    number_id: str | None
    evidence: tuple[Mapping[str, Any], ...]
    form: Any = None  # the value's exact form
    runs: tuple[Run, ...] = ()
    why_digest: str | None = None
    is_exact: bool = False


@dataclass(frozen=True)
class PublishedRow:
    """One row: its grain, its cells by column, and the bundles that it and they depend on."""

    grain: Mapping[str, Any]
    cells: Mapping[str, PublishedCell]
    grain_forms: Mapping[str, Any] = field(default_factory=dict)
    bundles: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PublishedRollup:
    """A publication as it lies in the store, `query` the name of what it froze. Where its record is not the one its digest is
    of, `fault` says so and `record` is empty: then `query` is as the ledger has it, None where that does not know."""

    digest: str
    record: Mapping[str, Any]
    objects: Objects  # of the store that it lies in
    query: str | None
    fault: WarehouseError | None = None
    sha256: str = ""  # of the file of its record

    @property
    def content(self) -> tuple[str, ...]:
        """The names of its files beside the record, sorted."""
        return tuple(sorted(self.record["sha256"])) if self.record else ()

    def rows(self, carrying: str = "", first: int = 0) -> Iterator[PublishedRow]:
        """Its rows from the one with the place `first` on, counted from 0, or those of them whose text contains `carrying`. Raises WH307
        when they cannot be read."""
        needle = carrying.encode()
        for line in islice(self.lines(ROWS), first, None):
            if needle in line:
                yield read_row(line, self._why_sets)

    def grains(self) -> Iterator[Mapping[str, Any]]:
        """The exact forms of the grain of each row, in order; nothing else of the rows is read. Raises WH307."""
        return (_read(line, lambda row: dict(row["grain"])) for line in self.lines(ROWS))

    def bundles(self) -> frozenset[str]:
        """The bundles that any of its rows depends on. Raises WH307."""
        found = set[str]()
        for line in self.lines(ROWS):
            found |= _read(line, lambda row: frozenset(map(str, row["bundles"])))
        return frozenset(found)

    @cached_property
    def _why_sets(self) -> WhySets:
        try:
            return WhySets(b"".join(self.chunks(RUN_LINES)), b"".join(self.chunks(WHY)))
        except (ValueError, KeyError, TypeError) as error:
            message = f"its why-sets cannot be read: {error}"
            raise WarehouseError("WH307", message, f"publication {self.digest[:12]}", exit_code=ExitCode.TAMPERED) from error

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of one of its files, which may be longer than memory. Raises WH307."""
        rest = b""
        for chunk in self.chunks(name):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
        if rest:
            yield rest

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of one of its files. Raises WH307."""
        if self.fault:
            raise self.fault
        key = publication_key(self.digest, name)
        try:
            yield from self.objects.chunks(key)
        except OSError as error:
            raise WarehouseError(
                "WH307", f"cannot be read: {error.strerror}", f"{self.objects.url}/{key}", exit_code=ExitCode.MISSING
            ) from error

    def check(self) -> None:
        """Raise WH307 when its record or what lies beside it is not what its digest is of."""
        if self.fault:
            raise self.fault
        for name in self.content:
            if stream_digest(self.chunks(name)) != self.record["sha256"][name]:
                raise _tampered(f"{name} differs from its digest", self.digest)


def publications(project: Project, events: Iterable[Event] | None = None) -> list[PublishedRollup]:
    """All publications, the last one published first; also a damaged one, and one that is gone though the ledger has it: these say so
    when they are read. `events` are the ledger's, where the caller has read them."""
    return stored_publications(open_store(project).objects, events)


def publication_with(project: Project, beginning: str, events: Iterable[Event] | None = None) -> PublishedRollup:
    """The publication whose digest begins so. `events` as in `publications`. Raises WH304 for none, WH305 for several."""
    found = [each for each in publications(project, events) if each.digest.startswith(beginning)]
    if not found:
        raise WarehouseError("WH304", "no publication has a digest that begins so", beginning, exit_code=ExitCode.NOT_FOUND)
    if len(found) > 1:
        several = "".join(f"\n  {each.digest}" for each in found)
        raise WarehouseError(
            "WH305", f"{len(found)} publications have digests that begin so:{several}", beginning, "give more of it", ExitCode.AMBIGUOUS
        )
    return found[0]


def stored_publications(objects: Objects, events: Iterable[Event] | None = None) -> list[PublishedRollup]:
    """Those of one store; `events` are those of its ledger, if they have been read already."""
    made = [event for event in (Ledger(objects).events() if events is None else events) if event.kind == PUBLICATION]
    order = {event.subject: number for number, event in enumerate(made)}
    queries = {event.subject: str(event.detail.get("query")) for event in made if "query" in event.detail}
    there = [key.split("/")[1] for key in objects.matching(publication_key("*", RECORD))]
    found = [_opened(objects, digest, queries.get(digest)) for digest in there]
    found += [_gone(objects, digest, queries.get(digest)) for digest in order.keys() - set(there)]
    return sorted(found, key=lambda publication: (-order.get(publication.digest, -1), publication.digest))


def whole_publications(publications: Iterable[PublishedRollup]) -> tuple[list[PublishedRollup], list[WarehouseError]]:
    """Those that are what their digests are of, and what is wrong with the others (WH307)."""
    whole, problems = [], []
    for publication in publications:
        try:
            publication.check()
            whole.append(publication)
        except WarehouseError as error:
            problems.append(error)
    return whole, problems


def _opened(objects: Objects, digest: str, query: str | None) -> PublishedRollup:
    key = publication_key(digest, RECORD)
    try:
        data = objects.read(key)
        record = parse_record(data, digest)
        return PublishedRollup(digest, record, objects, record["query"], sha256=bytes_digest(data))
    except OSError as error:
        fault = WarehouseError("WH307", f"cannot be read: {error.strerror}", f"{objects.url}/{key}", exit_code=ExitCode.MISSING)
    except WarehouseError as error:
        fault = damage(error)
    return PublishedRollup(digest, {}, objects, query, fault)


def _gone(objects: Objects, digest: str, query: str | None) -> PublishedRollup:
    place = f"{objects.url}/{publication_key(digest, RECORD)}"
    message = "it is gone; the ledger says that it was published"
    fault = WarehouseError("WH307", message, place, "restore the store from a copy, or publish the query again", ExitCode.MISSING)
    return PublishedRollup(digest, {}, objects, query, fault)


def parse_record(data: bytes, digest: str) -> Mapping[str, Any]:
    """The record in a `publication.json`, of which its digest covers every byte. Raises WH307 for any other bytes."""
    try:
        record: Mapping[str, Any] = canonical_document(data)
    except (ValueError, RecursionError) as error:
        raise _tampered(f"publication.json cannot be read: {error}", digest) from error
    version: Any = record.get("publication_version") if isinstance(record, dict) else None
    is_own = type(version) is int and canonical_digest(f"wh/publication/{version}", data) == digest
    if is_own and version < min(_CONTENT_OF):
        raise WarehouseError(
            "WH307", f"it was published in form {version}; this version of wh reads forms {min(_CONTENT_OF)} to {PUBLICATION_VERSION}",
            f"publication {digest[:12]}", "publish the query again, or use the version of wh that published it",
        )
    is_whole = is_own and version in _CONTENT_OF and _FIELDS <= record.keys() and _names_content(record, _CONTENT_OF[version])
    if not is_whole or not _names_decisions(record):
        raise _tampered("publication.json differs from its digest", digest)
    return record


def _names_content(record: Mapping[str, Any], content: frozenset[str]) -> bool:
    return isinstance(record["sha256"], dict) and record["sha256"].keys() == content


def _names_decisions(record: Mapping[str, Any]) -> bool:
    """Whether a record names the decisions on runs that it was made with as `publish` does, if any."""
    said = record.get("decisions", [])
    return isinstance(said, list) and all(
        isinstance(each, dict) and isinstance(each.get("key"), str) and isinstance(each.get("sha256"), str) for each in said
    )


def _tampered(message: str, digest: str) -> WarehouseError:
    hint = "restore the store from a copy"
    return WarehouseError("WH307", message, f"publication {digest[:12]}", hint, ExitCode.TAMPERED)


def row_line(row: Mapping[str, Any]) -> bytes:
    """A row as a line of `rows.jsonl`, without the newline: `grain`, sorted `bundles`, and `cells` by column, each with `value`,
    `number_id`, `why_digest`, `evidence` and `is_exact` as `PublishedCell` has it. Files and why-sets, which most cells share, are written
    once a row."""
    bundles = {digest: number for number, digest in enumerate(row["bundles"])}
    files: dict[tuple[int, str, str], int] = {}
    why_sets: dict[str, int] = {}
    cells = {}
    for name, cell in row["cells"].items():
        named = [
            ((bundles[file["artifact_manifest_digest"]], file["raw_path"], file["sha256"]), file["ranges"]) for file in cell["evidence"]
        ]
        cells[name] = {
            "value": cell["value"], "number_id": cell["number_id"], "why": why_sets.setdefault(cell["why_digest"], len(why_sets)),
            "evidence": [[files.setdefault(file, len(files)), ranges] for file, ranges in named],
            **({"is_exact": True} if cell["is_exact"] else {}),
        }
    return canonical_json(
        {"grain": row["grain"], "bundles": row["bundles"], "files": list(files), "why_sets": list(why_sets), "cells": cells}
    )


def read_row(line: bytes, why_sets: Mapping[str, tuple[Run, ...]]) -> PublishedRow:
    """One line of `rows.jsonl`. Raises WH307 for what `row_line` never wrote."""
    try:
        document = json.loads(line)
        bundles = [str(digest) for digest in document["bundles"]]
        files = [(bundles[bundle], path, sha256) for bundle, path, sha256 in document["files"]]
        return PublishedRow(
            {name: inexact(form) for name, form in document["grain"].items()},
            {name: _cell(name, cell, files, document["why_sets"], why_sets) for name, cell in document["cells"].items()},
            document["grain"], frozenset(bundles),
        )
    except _UNREADABLE as error:
        raise _unreadable(error) from error


def _cell(
    name: str, cell: Mapping[str, Any], files: Sequence[tuple[str, str, str]], digests: Sequence[str],
    why_sets: Mapping[str, tuple[Run, ...]],
) -> PublishedCell:
    evidence = tuple(
        dict(zip(("artifact_manifest_digest", "raw_path", "sha256", "ranges"), (*files[file], ranges), strict=True))
        for file, ranges in cell["evidence"]
    )
    digest = digests[cell["why"]]
    return PublishedCell(
        name, inexact(cell["value"]), cell["number_id"], evidence, cell["value"], why_sets[digest], digest, cell.get("is_exact", False)
    )


def _read(line: bytes, make: Callable[[Any], _T]) -> _T:
    """What `make` makes of a row's document. Raises WH307 for what `row_line` never wrote."""
    try:
        return make(json.loads(line))
    except _UNREADABLE as error:
        raise _unreadable(error) from error


_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError)


def _unreadable(error: Exception) -> WarehouseError:
    return WarehouseError("WH307", f"a row cannot be read: {error}", exit_code=ExitCode.TAMPERED)
