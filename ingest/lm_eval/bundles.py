"""Finds results by their sections, whatever they are named, and beside them the deployment that InferenceX wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

RESULTS, DEPLOYMENT = "results", "deployment"
_META = "meta_env.json"
_START = re.compile(rb'\s*\{\s*"results"\s*:\s*\{')
_METRIC = re.compile(rb'"\w[^"\n]*,[\w-]+"\s*:')  # exact_match,strict-match
_MARKS = (b'"configs"', b'"versions"', b'"n-shot"')
_META_MARKS = (b'"hw"', b'"framework"', b'"precision"')
_HEAD_BYTES = 8 << 20  # the sections that say so come after the settings of all tasks


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a file of results. The deployment of a folder is in the bundle of each of its results."""
    served = set()
    for path in tree.files:
        if not path.endswith(".json") or not _is_results(tree, path):
            continue
        folder, _, name = path.rpartition("/")
        files = [DraftFile(name, tree.files[path], "application/json", RESULTS)]
        meta = f"{folder}/{_META}" if folder else _META
        if meta in tree.files and all(mark in tree.head(meta, 1 << 16) for mark in _META_MARKS):
            files.append(DraftFile(_META, tree.files[meta], "application/json", DEPLOYMENT))
            served.add(meta)
        yield BundleDraft(tuple(files), runs=(run_id("?"),))
    for path in tree.files:
        if path.rpartition("/")[2] == _META and path not in served and all(mark in tree.head(path, 1 << 16) for mark in _META_MARKS):
            yield Unclaimed(path, "a deployment without results of lm-evaluation-harness beside it")


def run_id(sha256: str) -> str:
    """The run's name, by the digest of its results: with a deployment beside them, the same."""
    return f"lm-eval/{sha256[:16]}"


def _is_results(tree: Tree, path: str) -> bool:
    if not _START.match(tree.head(path, 256)) or not _METRIC.search(tree.head(path, 1 << 16)):
        return False
    head = tree.head(path, _HEAD_BYTES)
    return all(mark in head for mark in _MARKS)
