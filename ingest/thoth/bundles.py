"""Finds inspections by their folders, campaigns by their reports and lists, documents by the analyser that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

SPECIFICATION, BUILD_LOG, RESULT, HWINFO, OTHER = "specification", "build_log", "result", "hwinfo", "other"
REPORT, SCHEDULED, DOCUMENT, PACKAGE_LIST, INPUT = "report", "scheduled", "document", "package_list", "input"
_PART = re.compile(
    r"(?P<folder>(?:.*/)?)(?P<part>build/(?:Dockerfile|log|specification)|results/(?P<number>0|[1-9][0-9]{0,8})/(?:result|hwinfo|log))"
    r"(?P<ending>(?:\.json)?)",
    re.DOTALL,
)
_ROLES = {"specification": SPECIFICATION, "result": RESULT, "hwinfo": HWINFO}
_ID = re.compile(r"inspection-.*[0-9a-f]{8}", re.DOTALL)
_SCHEDULED = re.compile(rb"\s*inspection-[\w.-]+\s*(?:\n|\Z)")
_ANALYZER = re.compile(rb'"analyzer"\s*:\s*"thoth-(adviser|solver|package-extract)"')
_INPUTS = frozenset({
    "Pipfile", "Pipfile.lock", "ac.json", "environ.json", "env.yaml", "pipeline.yaml", "predictor_config.yaml", "predictor_config.json",
})
_HEAD_BYTES = 64 << 10


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """The inspections, campaigns and documents in a tree."""
    yield from _inspections(tree)
    documents = {path: found[1].decode() for path in tree.files if _may_be_json(path) and (found := _ANALYZER.search(_head(tree, path)))}
    reports = {path for path in documents if b'"dependency-monkey"' in _head(tree, path)}
    yield from _campaigns(tree, reports)
    for path in tree.files:
        if path in documents and path not in reports:
            if b'"result"' in tree.head(path, 64 << 20):
                yield BundleDraft((_draft(tree, path, path.rpartition("/")[2], DOCUMENT),))
            else:
                yield Unclaimed(path, "metadata of an analyser of Thoth without its result")
        elif path.endswith(".json") and _is_package_list(tree.head(path, 4096)):
            yield BundleDraft((_draft(tree, path, path.rpartition("/")[2], PACKAGE_LIST),))


def _inspections(tree: Tree) -> Iterator[BundleDraft]:
    folders: dict[str, list[re.Match[str]]] = {}
    for found in filter(None, map(_PART.fullmatch, tree.files)):
        folders.setdefault(found["folder"], []).append(found)
    for folder, parts in folders.items():
        if not any(_is_inspection(tree, part) for part in parts):
            continue
        files = []
        for part in parts:
            base = part["part"].rpartition("/")[2]
            role = BUILD_LOG if part["part"] == "build/log" else _ROLES.get(base, OTHER)
            files.append(_draft(tree, part.string, part["part"] + part["ending"], role))
        name = folder[:-1].rpartition("/")[2]
        numbers = sorted({int(part["number"]) for part in parts if part["number"] and part["part"].endswith("/result")})
        identity = {"inspection_id": name} if _ID.fullmatch(name) else {}
        yield BundleDraft(tuple(files), identity, runs=tuple(f"{name}/{number}" for number in numbers))


def _is_inspection(tree: Tree, part: re.Match[str]) -> bool:
    head = tree.head(part.string, _HEAD_BYTES)
    if part["part"].endswith("/result"):
        return b'"exit_code"' in head and (b'"script_sha256"' in head or b'"hwinfo"' in head)
    return part["part"] == "build/specification" and _is_specification(head)


def _is_specification(head: bytes) -> bool:
    return b'"base"' in head and b'"identifier"' in head


def _campaigns(tree: Tree, reports: set[str]) -> Iterator[BundleDraft]:
    folders: dict[str, list[DraftFile]] = {}
    for path in tree.files:
        folder, _, base = path.rpartition("/")
        parent, _, inspection = folder.rpartition("/")
        if path in reports:
            folders.setdefault(folder, []).append(_draft(tree, path, base, REPORT))
        elif base == "scheduled.txt" and _SCHEDULED.match(tree.head(path, 512)):
            folders.setdefault(folder, []).append(_draft(tree, path, base, SCHEDULED))
        elif base == "specification.json" and inspection.startswith("inspection-") and _is_specification(_head(tree, path)):
            folders.setdefault(parent, []).append(_draft(tree, path, f"{inspection}/{base}", SPECIFICATION))
    for folder, files in folders.items():
        start = f"{folder}/" if folder else ""
        inputs = [_draft(tree, start + base, base, INPUT) for base in sorted(_INPUTS) if start + base in tree.files]
        name = folder.rpartition("/")[2]
        yield BundleDraft((*files, *inputs), {"name": name} if name else {})


def _is_package_list(head: bytes) -> bool:
    """Whether this is a list of packages that thoth-package-extract found in a log: of one handler, or of each."""
    if not head.lstrip().startswith(b"["):
        return False
    of_pip = b'"version_installed"' in head and b'"already_satisfied"' in head
    of_rpm = all(mark in head for mark in (b'"arch"', b'"dependency"', b'"repository"', b'"upgrading"', b'"version"'))
    return of_pip or of_rpm


def _may_be_json(path: str) -> bool:
    return "." not in path.rpartition("/")[2] or path.endswith(".json")


def _head(tree: Tree, path: str) -> bytes:
    return tree.head(path, _HEAD_BYTES)


def _draft(tree: Tree, path: str, raw_path: str, role: str) -> DraftFile:
    media_type = "application/json" if role in (SPECIFICATION, RESULT, HWINFO, REPORT, DOCUMENT, PACKAGE_LIST) else "text/plain"
    return DraftFile(raw_path, tree.files[path], media_type, role)
