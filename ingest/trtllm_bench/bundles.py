"""Finds reports by their sections, whatever they are named. A report says all of itself: no folder is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_START = re.compile(rb'\s*\{\s*"engine"\s*:')
_MARKS = (b'"world_info"', b'"request_info"', b'"performance"', b'"request_throughput_req_s"')
_HEAD_BYTES = 1 << 16


def cut(tree: Tree) -> Iterator[BundleDraft]:
    for path, file in tree.files.items():
        if path.casefold().endswith(".json") and _is_report(tree, path):
            draft = DraftFile(path.rpartition("/")[2], file, "application/json", "report")
            yield BundleDraft((draft,), runs=("trtllm-bench/?",))


def _is_report(tree: Tree, path: str) -> bool:
    return bool(_START.match(tree.head(path, 256))) and all(mark in tree.head(path, _HEAD_BYTES) for mark in _MARKS)
