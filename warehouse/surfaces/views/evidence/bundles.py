"""Evidence: the bundles that arrived, and one bundle with its files, the runs that it feeds, its issues and its history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.claims.publish.signing import trusted_keys
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.evidence.ledger.events import ARRIVAL, Event, History
from warehouse.evidence.ledger.removal import removal_text
from warehouse.evidence.manifest import Manifest
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.signatures import check_signatures, evidence_subject
from warehouse.project.project import Project
from warehouse.surfaces.parts import Choice, Column, Fact, Facts, Form, Page, Part, Table, Text, without_empty
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.claims.number_runs import RUN
from warehouse.surfaces.views.evidence.issues import bundle_issues
from warehouse.surfaces.views.evidence.shown_bytes import FILE
from warehouse.transform.export.docs.published_pages import short
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import role_table
from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_FILES, RUNS

BUNDLE = Parameter("bundle", "The digest of a bundle's manifest.")
REMOVED = "removed by policy"
_PATH = "/evidence/{bundle}"
_DIGEST, _BEGINNING = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{4,63}")
_BUNDLES = 50  # a page
_FILES = 200
_RUNS = 100
_MOST_OF_DETAIL = 80  # characters of a value of an event


def _list(visit: Visit) -> Page:
    events, family, offset = visit.events(), visit["family"], visit["offset"]
    history = _history(events)
    families = {event.subject: str(event.detail.get("family")) for event in events if event.kind == ARRIVAL}
    known = {**{digest: event.at for digest, event in history.removals.items()}, **history.last_arrivals}
    digests = [each for each in sorted(known, key=lambda each: (known[each], each), reverse=True) if family in (None, families.get(each))]
    columns = (
        Column("arrived_at", "arrived", "moment"), Column("family", link="/evidence?family={family}"), Column("bundle", kind="code", link=_PATH),
        Column("files", kind="number"), Column("bytes", "size", "bytes", "bytes"), Column("state", kind="state"),
        Column("signatures", kind="state", is_minor=True), Column("came_from", "from", is_minor=True),
    )
    arrivals = {event.subject: event for event in events if event.kind == ARRIVAL}
    trusted, objects = trusted_keys(visit.project), open_store(visit.project).objects
    rows = []
    for digest in digests[offset : offset + _BUNDLES]:
        files, size, state = _content(visit.project, digest, history.removals)
        signing = check_signatures(objects, evidence_subject(digest), trusted).state
        event = arrivals.get(digest)
        rows.append((known[digest], families.get(digest), digest, files, size, state, signing, event.detail.get("from") if event else None))
    more = address("/evidence", family=family, offset=offset + _BUNDLES) if offset + _BUNDLES < len(digests) else None
    return Page("Evidence", (
        Form("filter", "/evidence", (Choice("family", value=family or "", choices=("", *sorted(set(families.values())))),)),
        Table(
            "bundles", columns, tuple(rows), "Bundles", "As the ledger has them, the last one first.", "nothing arrived yet: wh ingest PATH",
            len(digests), more,
        ),
    ), next_steps={"What arrived last, and what is wrong with it": "/ingest", "Audit log": "/audit"})


def _history(events: Sequence[Event]) -> History:
    history = History()
    for event in events:
        history.add(event)
    return history


def _content(project: Project, digest: str, removals: Mapping[str, Event]) -> tuple[int | None, int | None, str]:
    """How many files a bundle has and their bytes, and in a word what lies there: its manifest is hashed, its files are not."""
    try:
        manifest = open_store(project).manifest(digest)
    except WarehouseError as error:
        if error.code == "WH114":
            raise
        return None, None, REMOVED if digest in removals else "missing" if error.exit_code == ExitCode.MISSING else "tampered"
    return len(manifest.files), sum(file.bytes for file in manifest.files), "here"


def bundle_named(project: Project, text: str) -> str:
    """The digest of the bundle that is named by it or by its beginning; a whole digest is returned as it is. Raises WH106 for none, WH305
    for several."""
    text = text.removeprefix("sha256:")
    if _DIGEST.fullmatch(text):
        return text
    # Nothing but digits goes into a key of the store.
    found = [digest for digest in open_store(project).digests() if digest.startswith(text)] if _BEGINNING.fullmatch(text) else []
    if not found:
        raise WarehouseError("WH106", "no bundle has a digest that begins so", printable(text)[:100], "/evidence lists them", ExitCode.NOT_FOUND)
    if len(found) > 1:
        raise WarehouseError("WH305", f"{len(found)} bundles have digests that begin so", text, "give more of it", ExitCode.AMBIGUOUS)
    return found[0]


def _page(visit: Visit) -> Page:
    digest, events = bundle_named(visit.project, visit["bundle"]), visit.events()
    own = [event for event in events if event.subject == digest]
    removal = _history(own).removals.get(digest)
    signing = check_signatures(open_store(visit.project).objects, evidence_subject(digest), trusted_keys(visit.project))
    try:
        manifest = open_store(visit.project).manifest(digest)
    except WarehouseError as error:
        if not own or error.code == "WH114":
            raise
        parts: list[Part] = []
        state, notice = "missing" if error.exit_code == ExitCode.MISSING else "tampered", error.message
    else:
        parts = [_files(visit, digest, manifest), *_runs(visit, digest), bundle_issues(visit, digest), *_document(manifest)]
        state, notice = "here", ""
    if removal:
        state, notice = REMOVED, f"It was {removal_text(removal)}."
    signatures = tuple((each.state, each.key_name or each.key_id[:12], each.reason) for each in signing.signatures)
    family = next((str(event.detail.get("family")) for event in own if event.kind == ARRIVAL), None)
    return Page(
        f"Bundle {digest[:12]}",
        (
            Facts("about", (
                Fact("artifact_manifest_digest", digest, title="digest"), Fact("family", family, link=family and address("/evidence", family=family)),
                Fact("arrived", next((event.at for event in own if event.kind == ARRIVAL), None), kind="moment"),
                Fact("signatures", signing.state, kind="state"),
            )),
            *parts,
            Table(
                "signatures", (Column("state", kind="state"), Column("key"), Column("found")), signatures, "Signatures", empty="it is not signed"
            ),
            Table(
                "events",
                (Column("at", kind="moment"), Column("kind"), Column("by"), Column("said", "detail"), Column("detail", is_hidden=True)),
                tuple((event.at, event.kind, event.by, detail_words(event), detail_text(event)) for event in own),
                "What the ledger has of it", empty="no event",
            ),
            Text("commands", f"wh impact {digest[:16]}   # the published numbers that depend on it\nwh fsck   # hashes every file again", "commands"),
        ),
        states=(state,), notices=(notice,) if notice else (), crumbs=(("Evidence", "/evidence"),),
        next_steps={"All evidence": "/evidence", "What arrived last, and what is wrong with it": "/ingest"},
    )


def detail_text(event: Event) -> str:
    """What else an event says, on one line."""
    return printable(", ".join(f"{name}: {value}" for name, value in sorted(event.detail.items())))


def detail_words(event: Event) -> str:
    """The same for people: a list is counted, a digest and a long text are cut."""
    return printable(" · ".join(f"{name.replace('_', ' ')} {_words(value)}" for name, value in sorted(event.detail.items())))


def _words(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"{_leaves(value):,} listed" if value else "none"
    text = short(value)
    return text if len(text) <= _MOST_OF_DETAIL else f"{text[: _MOST_OF_DETAIL - 1]}…"


def _leaves(value: Any) -> int:
    """How many values lists and mappings in one another hold."""
    return sum(map(_leaves, value.values() if isinstance(value, dict) else value)) if isinstance(value, list | dict) else 1


def _files(visit: Visit, digest: str, manifest: Manifest) -> Table:
    offset = visit["offset"]
    found = sorted(manifest.files, key=lambda file: file.raw_path)
    rows = tuple((file.raw_path, file.bytes, file.sha256, file.role, file.media_type, digest) for file in found[offset : offset + _FILES])
    columns = (
        Column("raw_path", "file", link=FILE), Column("bytes", "size", "bytes", "bytes"), Column("sha256", kind="code"),
        Column("role", is_minor=True), Column("media_type", is_minor=True), Column("bundle", kind="code", is_hidden=True),
    )
    more = address(_PATH, bundle=digest, offset=offset + _FILES) if offset + _FILES < len(found) else None
    size = sum(file.bytes for file in found)
    note = f"{counted(len(found), 'file')}, {size:,} bytes. The manifest hashes to the bundle's digest; a file is hashed when it is opened."
    return Table("files", without_empty(columns, rows), rows, "Files", note, total=len(found), more=more)


def _runs(visit: Visit, digest: str) -> Iterator[Part]:
    """The runs of the current build that are read from the bundle."""
    if visit.build is None:
        return
    table = role_table(visit.build.path, RUN_FILES) or role_table(visit.build.path, RUNS)
    if table is None or not {"run_id", BUNDLE_COLUMN} <= table.columns:
        yield Text("runs", "This project has no table that says which bundle a run is of.", title="Runs that it feeds")
        return
    con = open_build(visit.build.path)
    try:
        found = con.execute(f"select distinct run_id from {table.sql} where {BUNDLE_COLUMN} = ? order by run_id", [digest]).fetchall()
    finally:
        con.close()
    columns = (Column("run_id", "run", "code", link=RUN),)
    yield Table("runs", columns, tuple(found[:_RUNS]), "Runs that it feeds", empty="no run of this build is read from it", total=len(found))


def _document(manifest: Manifest) -> Iterator[Facts]:
    stated = [*manifest.identity.items(), *((f"source {name}", value) for name, value in manifest.source.items())]
    items = tuple(Fact(name, None if value is None else str(value), title=name) for name, value in stated)
    if items:
        yield Facts("identity", items, "What its manifest states")


VIEWS = (
    View(
        "evidence", "/evidence", "Evidence", "The bundles of evidence that arrived, the last one first.", _list,
        (Parameter("family", "Only those of this evidence family."), OFFSET), menu="Evidence", needs_build=False,
    ),
    View(
        "bundle", _PATH, "Bundle", "One bundle of evidence: its files with their sha256, the runs that it feeds, its issues and its history.",
        _page, (BUNDLE, OFFSET), needs_build=False,
    ),
)
