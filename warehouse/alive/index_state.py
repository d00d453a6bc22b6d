"""The state of a package index: the newest version of each package, when it was asked for, and who says so. It is evidence of the family
`package_index`, and the last one in the store counts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.version import InvalidVersion, Version

from warehouse.campaign.stacks import Uv, locked
from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.events import ARRIVAL, Event
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore, raw_key
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.ingest import Plan, ingest
from warehouse.project.project import Project

FAMILY = "package_index"
_FILE, _FORMAT = "index-state.json", "warehouse-index-state"
_LINE = re.compile(r"\s*(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*==\s*(?P<version>[^\s;\\#]+)")


@dataclass(frozen=True)
class IndexState:
    """`newest` has the newest version by the normalised name of a package; `at` is when the index was asked, or the file was given; `digest` that of
    the bundle."""

    at: datetime
    source: str
    newest: Mapping[str, str]
    digest: str
    unknown: frozenset[str] | None = None  # that the index was asked for and does not have; None: a file was brought, which names what its user chose

    def newer(self, package: str, version: str) -> str | None:
        """The newest version of a package, if a version is older (PEP 440, without local parts). None also for what is no version of PEP 440."""
        newest = self.newest.get(normalised(package))
        measured = parsed(version)
        of_index = parsed(newest) if newest else None
        return newest if of_index and measured and measured < of_index else None


def normalised(package: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", package).lower()


def parsed(version: str) -> Version | None:
    """A version without its local part, which says how it was built. None for what is no version of PEP 440."""
    try:
        return Version(Version(version).public)
    except InvalidVersion:
        return None


def last_state(project: Project, events: Iterable[Event]) -> IndexState | None:
    """The last state that arrived and is still there. Raises WH107 where it cannot be read."""
    arrivals = [event for event in events if event.kind == ARRIVAL and event.detail.get("family") == FAMILY]
    store = open_store(project)
    for event in reversed(arrivals):
        if store.has(event.subject):
            return _read(store, event.subject)
    return None


def ask_index(project: Project, packages: Sequence[str]) -> IndexState:
    """Ask the package index by uv which version of each package is the newest that this Python can install, and record the answer. Raises WH006
    without uv, and WH404 where the index does not answer."""
    uv = Uv(project.root / ".wh" / "uv")
    newest, unknown = uv.newest(sorted({normalised(each) for each in packages}))
    return _record(project, {"source": f"the package index, by {uv.version()}", "newest": newest, "unknown": unknown})


def take_index_state(project: Project, file: Path) -> IndexState:
    """Record what a file says: lines `package==version` as `pip freeze` and requirements have them, the JSON of `pip list --outdated`, a pylock.toml,
    or an index-state.json. Raises WH004 and WH404."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WarehouseError("WH004", f"cannot be read: {error}", printable(str(file)), exit_code=ExitCode.USAGE) from error
    try:
        newest, at = _stated(file.name, text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WarehouseError("WH404", f"it is no state of a package index: {error}", printable(str(file)), _HINT, ExitCode.USAGE) from error
    if not newest:
        raise WarehouseError("WH404", "it names no package with a version", printable(str(file)), _HINT, ExitCode.USAGE)
    return _record(project, {"source": f"the file {file.name}", "newest": newest} | ({"at": at} if at else {}), file)


_HINT = "bring lines package==version, the JSON of pip list --outdated --format json, or a pylock.toml"


def _stated(name: str, text: str) -> tuple[dict[str, str], str | None]:
    """The newest versions that a file states, and when they were, if it says so."""
    if name.endswith(".toml"):
        return {normalised(package): version for package, version, _ in locked(text) if version}, None
    if text.lstrip()[:1] in ("[", "{"):
        document = json.loads(text)
        if isinstance(document, list):
            return {normalised(each["name"]): str(each.get("latest_version") or each["version"]) for each in document}, None
        if document.get("format") != _FORMAT:
            raise ValueError(f"its format is not {_FORMAT}")
        return _document(document)[:2]
    found = (_LINE.match(line) for line in text.splitlines())
    return {normalised(each["name"]): each["version"] for each in found if each}, None


def _document(document: Mapping[str, Any]) -> tuple[dict[str, str], str, str]:
    """The newest versions, the time and the source of an index-state.json."""
    at = str(document["at"])
    if datetime.fromisoformat(at).tzinfo is None:
        raise ValueError(f"{at!r} states no zone")
    return {normalised(str(name)): str(version) for name, version in document["newest"].items()}, at, str(document["source"])


def _record(project: Project, said: Mapping[str, Any], brought: Path | None = None) -> IndexState:
    document = {"format": _FORMAT, "format_version": 1, "at": datetime.now(UTC).isoformat(timespec="microseconds"), **said}
    store = open_store(project)
    with TemporaryDirectory(prefix="wh-index-") as name:
        folder = Path(name)
        (folder / _FILE).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        if brought:
            (folder / "brought").mkdir()
            shutil.copyfile(brought, folder / "brought" / brought.name)
        files = tuple(
            DraftFile(path, file, "application/json" if path == _FILE else None, "index_state" if path == _FILE else "brought")
            for path, file in sorted(list_tree(folder).files.items())
        )
        # By hand, for a project without the standard ingestors has it too.
        report = ingest(Plan(((FAMILY, BundleDraft(files)),), (), ()), store, "wh freshness")
    for problem in (*report.problems, *(problem for each in report.bundles for problem in each.problems)):
        raise problem
    digest = report.bundles[0].digest
    assert digest
    return _read(store, digest)


def _read(store: EvidenceStore, digest: str) -> IndexState:
    place = raw_key(digest, _FILE)
    try:
        data = store.objects.read(place)
        if bytes_digest(data) != store.manifest(digest).by_path[_FILE].sha256:
            raise ValueError("its bytes differ from its digest")
        document = json.loads(data)
        newest, at, source = _document(document)
        unknown = frozenset(map(str, document["unknown"])) if "unknown" in document else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WarehouseError("WH404", f"it is no state of a package index: {error}", place, "wh freshness --ask-index records a new one") from error
    return IndexState(datetime.fromisoformat(at), source, newest, digest, unknown)
