"""Finds reports: by the sections at their top level, whatever they are named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer
from warehouse.landing.serving.path_names import folders_identity

REPORT, RESTATEMENT = "report", "restatement"
_SECTIONS = rb"(?:version|run|scenario|results|metrics)"
_YAML_START = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s*#[^\n]*\n|---[^\n]*\n|\s*\n)*" + _SECTIONS + rb"\s*:")
_JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"' + _SECTIONS + rb'"\s*:')
_YAML_MARKS = (re.compile(rb"^version\s*:", re.MULTILINE), re.compile(rb"^scenario\s*:", re.MULTILINE))
_JSON_MARKS = (re.compile(rb'"version"\s*:'), re.compile(rb'"scenario"\s*:'))
_RESULTS = re.compile(rb'request_performance"?\s*:|^metrics\s*:|"metrics"\s*:', re.MULTILINE)
_MEDIA_TYPES = {"json": "application/json", "yaml": "application/yaml", "yml": "application/yaml"}
_WHOLE = 4 << 20  # keys are sorted: the version may come last


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a report, with the files of its folder that say the same in YAML or JSON."""
    reports: dict[tuple[str, str], list[str]] = {}
    for path in tree.files:
        media = _MEDIA_TYPES.get(path.rpartition(".")[2].casefold())
        if media is not None and _is_report(tree, path, media):
            folder, _, name = path.rpartition("/")
            reports.setdefault((folder, name.rpartition(".")[0]), []).append(path)
    for paths in reports.values():
        while paths:
            first, *others = paths
            stated = _stated(tree, first) if others else {}
            same = [path for path in others if _stated(tree, path) == stated]
            paths = [path for path in others if path not in same]
            yield BundleDraft(tuple(_file(tree, path, path != first) for path in (first, *same)), folders_identity(tree, first), runs=("llm-d/?",))


def _file(tree: Tree, path: str, is_restatement: bool) -> DraftFile:
    name = path.rpartition("/")[2]
    role = RESTATEMENT if is_restatement else REPORT
    return DraftFile(name, tree.files[path], _MEDIA_TYPES[name.rpartition(".")[2].casefold()], role, is_restatement=is_restatement)


def _stated(tree: Tree, path: str) -> dict[str, Any]:
    """What a report says, by key: numbers as numbers, whatever language it is written in."""
    from .pairs import pairs_in, plain  # with YAML: few trees need it

    unheard = Report(RowBuffer({}, ""), path, None)
    return {str(element.key): plain(element.value) for element in pairs_in(path, tree.head(path, _WHOLE), unheard)}


def _is_report(tree: Tree, path: str, media: str) -> bool:
    is_json = media == "application/json"
    if not (_JSON_START if is_json else _YAML_START).match(tree.head(path)):
        return False
    whole = tree.head(path, _WHOLE)
    return bool(_RESULTS.search(whole)) and all(mark.search(whole) for mark in (_JSON_MARKS if is_json else _YAML_MARKS))
