"""Finds reports: by the sections at their top level, whatever they are named."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_SECTIONS = rb"(?:version|run|scenario|results|metrics)"
_YAML_START = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s*#[^\n]*\n|---[^\n]*\n|\s*\n)*" + _SECTIONS + rb"\s*:")
_JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"' + _SECTIONS + rb'"\s*:')
_YAML_MARKS = (re.compile(rb"^version\s*:", re.MULTILINE), re.compile(rb"^scenario\s*:", re.MULTILINE))
_JSON_MARKS = (re.compile(rb'"version"\s*:'), re.compile(rb'"scenario"\s*:'))
_RESULTS = re.compile(rb'request_performance"?\s*:|^metrics\s*:|"metrics"\s*:', re.MULTILINE)
_MEDIA_TYPES = {"json": "application/json", "yaml": "application/yaml", "yml": "application/yaml"}
_WHOLE = 4 << 20  # keys are sorted: the version may come last


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a report. The report says all of itself: no folder is kept."""
    for path, file in tree.files.items():
        name = path.rpartition("/")[2]
        media = _MEDIA_TYPES.get(name.rpartition(".")[2].casefold())
        if media is not None and _is_report(tree, path, media):
            yield BundleDraft((DraftFile(name, file, media, "report"),), runs=("llm-d/?",))


def _is_report(tree: Tree, path: str, media: str) -> bool:
    is_json = media == "application/json"
    try:
        if not (_JSON_START if is_json else _YAML_START).match(tree.head(path)):
            return False
        whole = tree.head(path, _WHOLE)
    except OSError:
        return False
    return bool(_RESULTS.search(whole)) and all(mark.search(whole) for mark in (_JSON_MARKS if is_json else _YAML_MARKS))
