"""Finds reports: by what they begin with, whatever they are named. Of a run that has JSON the table is its twin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.serving.path_names import folders_identity

from .table import is_table, run_of

REPORT, TABLE, TWIN = "report", "table", "twin"
RUN_ID = re.compile(rb'"run_id"\s*:\s*"([0-9A-Za-z-]{8,64})"')
RUN_ID_BYTES = 4 << 20
_START = re.compile(rb'\s*\{\s*"(?:metadata|args|benchmarks)"\s*:')
_MARKS = (b'"guidellm_version"', b'"generative_benchmark"')
_HEAD_BYTES = 1 << 16  # arguments may precede the first benchmark


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a report. The report says all of itself, but for what folders tell of the server."""
    reports = [path for path in tree.files if path.casefold().endswith(".json") and _is_report(tree, path)]
    for path in reports:
        yield BundleDraft((_file(tree, path, "application/json", REPORT),), folders_identity(tree, path), runs=("guidellm/?",))
    tables = [path for path in tree.files if path.casefold().endswith(".csv") and is_table(tree.head(path, _HEAD_BYTES))]
    by_run = {found[1].decode(): path for path in reports if tables and (found := RUN_ID.search(tree.head(path, RUN_ID_BYTES)))}
    for path in tables:
        if (json := by_run.get(run_of(tree.head(path, _HEAD_BYTES)) or "")) is not None:
            yield BundleDraft((_file(tree, path, "text/csv", TWIN),), {"twin_of": json.rpartition("/")[2]})
        else:
            yield BundleDraft((_file(tree, path, "text/csv", TABLE),), folders_identity(tree, path), runs=("guidellm/?",))


def _file(tree: Tree, path: str, media_type: str, role: str) -> DraftFile:
    return DraftFile(path.rpartition("/")[2], tree.files[path], media_type, role)


def _is_report(tree: Tree, path: str) -> bool:
    return bool(_START.match(tree.head(path, 256))) and any(mark in tree.head(path, _HEAD_BYTES) for mark in _MARKS)
