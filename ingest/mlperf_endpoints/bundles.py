"""Finds reports by their keys, and the configuration of the run in the folder that has the report, or its `performance` folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.serving.path_names import folders_identity

REPORT, CONFIGURATION = "report", "configuration"
AUDIT = "audit"  # of a bundle's identity: the phase of an audit
_START = re.compile(rb'\s*\{\s*"version"\s*:\s*"')
_MARKS = (b'"n_samples_issued"', b'"n_samples_completed"', b'"n_samples_failed"', b'"duration_ns"')
_CONFIGURATION = (b"model_params:", b"load_pattern:")
_HEAD_BYTES = 1 << 16


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a report."""
    for path in tree.files:
        head = tree.head(path, 4096) if path.endswith(".json") else b""
        if not _START.match(head) or not all(mark in head for mark in _MARKS):
            continue
        folder, _, name = path.rpartition("/")
        is_below = folder.rpartition("/")[2] == "performance"
        run_folder = folder.rpartition("/")[0] if is_below else folder
        files = [DraftFile(f"performance/{name}" if is_below else name, tree.files[path], "application/json", REPORT)]
        beside = f"{run_folder}/config.yaml" if run_folder else "config.yaml"
        if beside in tree.files and all(mark in tree.head(beside, _HEAD_BYTES) for mark in _CONFIGURATION):
            files.append(DraftFile("config.yaml", tree.files[beside], "application/yaml", CONFIGURATION))
        above = tree.full_parts(path)[: -2 if is_below else -1]
        identity: dict[str, Any] = {AUDIT: above[-1]} if len(above) > 1 and above[-2] == AUDIT else {}
        yield BundleDraft(tuple(files), identity | folders_identity(tree, path), runs=(run_id("?"),))


def run_id(sha256: str) -> str:
    """The run's name, by the digest of its report."""
    return f"mlperf-endpoints/{sha256[:16]}"
