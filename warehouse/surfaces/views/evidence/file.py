"""One raw file: hashed, and a window of its bytes. Evidence is data: whatever it holds is shown as text or hex, and nothing of it is followed."""

from __future__ import annotations

from warehouse.claims.numbers.lineage import RawFile
from warehouse.claims.numbers.raw_bytes import MISSING, WHOLE, open_file
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import proof_key
from warehouse.project.project import Project
from warehouse.surfaces.parts import Fact, Facts, Page, Part, Text
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.evidence.bundles import BUNDLE, bundle_named
from warehouse.surfaces.views.evidence.shown_bytes import FILE, hex_lines, text_of

RAW = "/raw/{bundle}/{raw_path:path}"
_WINDOW = {"text": 16_384, "hex": 4096}
_FORMS = ("auto", "text", "hex")


def stored_file(project: Project, bundle: str, raw_path: str) -> tuple[str, ManifestFile]:
    """The bundle's digest, and the file of that very path in its manifest; `manifest.json` is the manifest itself, unless a file has that
    name. Raises WH106 for a path that the manifest does not name, and what reading the manifest raises."""
    digest = bundle_named(project, bundle)
    manifest = open_store(project).manifest(digest)
    if raw_path in manifest.by_path:
        return digest, manifest.by_path[raw_path]
    if raw_path == manifest.own_path:
        return digest, _own(manifest, digest)
    place = f"{digest[:12]}/{printable(raw_path)[:200]}"
    raise WarehouseError("WH106", "the bundle has no such file", place, address("/evidence/{bundle}", bundle=digest), ExitCode.NOT_FOUND)


def _own(manifest: Manifest, digest: str) -> ManifestFile:
    return ManifestFile(manifest.own_path, len(manifest.canonical), digest, "application/json", "manifest")


def _page(visit: Visit) -> Page:
    digest, file = stored_file(visit.project, visit["bundle"], visit["raw_path"])
    form, offset = visit["form"], min(visit["offset"], max(0, file.bytes - 1))
    uri = open_store(visit.project).objects.uri(proof_key(digest, file.raw_path, file.sha256))
    raw = RawFile(digest, file.raw_path, uri, file.sha256, ((offset, _WINDOW["text"]),))
    opened = open_file(visit.project, raw, _WINDOW["text"])
    hashed = "hashed now" if opened.state == WHOLE else "as its manifest has it"
    parts: list[Part] = [Facts("about", (
        Fact("state", opened.state, kind="state"), Fact("sha256", file.sha256, note=hashed),
        Fact("size", file.bytes, "bytes", kind="number"), Fact("role", file.role), Fact("media_type", file.media_type, note="as its ingestor says"),
        Fact("bundle", digest, link=address("/evidence/{bundle}", bundle=digest), kind="code"), Fact("uri", uri, kind="code"),
    ))]
    steps = {}
    if opened.state == WHOLE:
        data = opened.windows[0].data if file.bytes else b""
        text = None if form == "hex" else text_of(data, is_forced=form == "text")
        shown = "hex" if text is None else "text"
        # A character that the window cuts is left to the next one.
        data = data[: _WINDOW["hex"] if text is None else len(text.encode()) or None] if form != "text" else data
        words = f"bytes {offset:,} to {offset + len(data):,} of {file.bytes:,}, as {shown}"
        parts.append(Text("content", hex_lines(data, offset) if text is None else text, "raw", "Content", words if data else "it is empty"))
        steps = _steps(digest, file, form, offset, len(data), _WINDOW[shown])
    notices = () if opened.state == WHOLE else (
        "It is gone: nothing lies in its place." if opened.state == MISSING else "Another file lies in its place. None of its bytes is shown.",
    )
    name = printable(file.raw_path)
    return Page(name.rpartition("/")[2], tuple(parts), name, (opened.state,), notices, _crumbs(digest), steps)


def _crumbs(digest: str) -> tuple[tuple[str, str], ...]:
    return ("Evidence", "/evidence"), (f"Bundle {digest[:12]}", address("/evidence/{bundle}", bundle=digest))


def _steps(digest: str, file: ManifestFile, form: str, offset: int, length: int, window: int) -> dict[str, str]:
    def at(place: int, shown: str = form) -> str:
        return address(FILE, bundle=digest, raw_path=file.raw_path, offset=place or None, form=None if shown == "auto" else shown)

    found = {}
    if offset + length < file.bytes:
        found["The next bytes"] = at(offset + length)
    if offset:
        found["The bytes before"] = at(max(0, offset - window))
    for other in ("text", "hex"):
        if other != form:
            found[f"As {other}"] = at(offset, other)
    return {**found, "Download": address(RAW, bundle=digest, raw_path=file.raw_path)}


VIEWS = (
    View(
        "file", FILE, "Raw file", "One raw file of a bundle: its size and sha256, whether it is whole, and a window of its bytes.", _page,
        (
            BUNDLE, Parameter("raw_path", "The file's path in the bundle.", is_long=True),
            Parameter("offset", "The first byte to show.", int, 0, bounds=(0, 1 << 62)),
            Parameter("form", "How bytes are shown; auto: as text where they are UTF-8.", default="auto", choices=_FORMS),
        ),
        needs_build=False, is_costly=True, is_fresh=True,
    ),
)
