"""Finds reports: by what they begin with, whatever they are named."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_START = re.compile(rb'\s*\{\s*"(?:metadata|args|benchmarks)"\s*:')
_MARKS = (b'"guidellm_version"', b'"generative_benchmark"')
_HEAD_BYTES = 1 << 16  # arguments may stand before the first benchmark


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a report. The report says all of itself: no folder is kept."""
    for path, file in tree.files.items():
        if path.casefold().endswith(".json") and _is_report(tree, path):
            draft = DraftFile(path.rpartition("/")[2], file, "application/json", "report")
            yield BundleDraft((draft,), runs=("guidellm/?",))


def _is_report(tree: Tree, path: str) -> bool:
    return bool(_START.match(tree.head(path, 256))) and any(mark in tree.head(path, _HEAD_BYTES) for mark in _MARKS)
