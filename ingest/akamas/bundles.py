"""Finds the members of an exported study by their content. A folder's study with its metrics is a bundle."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

STUDY, POINTS, QUERIES = "study", "points", "queries"
_STUDY = re.compile(rb'\s*\{\s*"study"\s*:\s*\{')
_STUDY_MARK = b'"trialAggregation"'
_POINTS = b'"studyExperimentTrialIds"'
_QUERIES = b'"datasourceMetric"'
_CONTEXT = (b'"componentTypes"', b'"componentTypeId"', b'"workflowId"')
_HEAD_BYTES = 1 << 16


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a study."""
    folders = defaultdict[str, list[DraftFile]](list)
    for path, file in tree.files.items():
        role = _role(tree.head(path, _HEAD_BYTES)) if path.endswith(".json") else None
        if role:
            folder, _, name = path.rpartition("/")
            folders[folder].append(DraftFile(name, file, "application/json", role))
    for folder, files in sorted(folders.items()):
        if any(file.role == STUDY for file in files):
            yield BundleDraft(tuple(files))
        else:
            prefix = f"{folder}/" if folder else ""
            yield from (Unclaimed(prefix + file.raw_path, "a part of an Akamas export without its study") for file in files if file.role == POINTS)


def _role(head: bytes) -> str | None:
    if _STUDY.match(head) and _STUDY_MARK in head:
        return STUDY
    if _POINTS in head:
        return POINTS
    if _QUERIES in head:
        return QUERIES
    return "context" if any(mark in head for mark in _CONTEXT) else None
