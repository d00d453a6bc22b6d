"""Finds SuperBench's files by what they begin with.

The runner writes a summary for each node, `nodes/NODE/results-summary.json`, and one with a line a node above them: where both are
there, the former state what the latter does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

RESULTS, MONITOR = "results", "monitor"
_METRIC = rb'"[\w.:-]+/[^"]+"\s*:\s*(?:-?\d|null)'
_NODE_RESULTS = re.compile(rb'\s*\{\s*"node"\s*:\s*"[^"]+"\s*,\s*' + _METRIC)
_OWN_RESULTS = re.compile(rb"\s*\{\s*" + _METRIC)
_SAMPLE = re.compile(rb'\s*\{\s*(?:"time"\s*:\s*"[^"]+"\s*,\s*)?"cpu_usage"\s*:[^{}]*"(?:gpu_\w+:\d+|\w+_(?:receive|transmit)_bw)"\s*:')
_HEAD_BYTES = 16_384
_COUNTED_BYTES = 4 << 20


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a file, in the order of paths."""
    summaries = {path.rpartition("/")[0] for path in tree.files if path.endswith(".jsonl") and _role(tree, path) == RESULTS}
    for path, file in tree.files.items():
        role = _role(tree, path) if path.endswith((".json", ".jsonl")) else None
        if role is None:
            continue
        folders = tree.full_parts(path)[:-1]
        if role == RESULTS and path.endswith(".json") and "/".join(path.split("/")[:-3]) in summaries:
            yield Unclaimed(path, "the results of a node, which the summary of all nodes states too")
            continue
        node = folders[-1] if len(folders) > 1 and folders[-2] == "nodes" else None
        name = path.rpartition("/")[2]
        media = "application/jsonl" if path.endswith(".jsonl") else "application/json"
        draft = DraftFile(f"{node}/{name}" if node else name, file, media, role)
        yield BundleDraft((draft,), {"node": node} if node else {}, runs=tuple(_runs(tree, path, role, node)))


def _role(tree: Tree, path: str) -> str | None:
    head = tree.head(path, _HEAD_BYTES)
    if _SAMPLE.match(head):
        return MONITOR
    is_results = _NODE_RESULTS.match(head) or path.rpartition("/")[2] == "results-summary.json" and _OWN_RESULTS.match(head)
    return RESULTS if is_results else None


def _runs(tree: Tree, path: str, role: str, node: str | None) -> Iterator[str]:
    """The runs that a file of moderate size seems to hold."""
    if role == MONITOR:
        yield run_id("?", node, 1, MONITOR)
        return
    for number, line in enumerate(tree.head(path, _COUNTED_BYTES).splitlines() if path.endswith(".jsonl") else [b""], 1):
        named = re.match(rb'\s*\{\s*"node"\s*:\s*"([^"]+)"', line)
        if named or number == 1:
            yield run_id("?", named[1].decode(errors="replace") if named else node, number, RESULTS)


def run_id(digest: str, node: str | None, line_number: int, role: str) -> str:
    """The run's name: the digest of its line, which stays when others are appended (of a monitor, its first line), the line's
    number, the node."""
    return f"superbench/{digest[:12]}/{role}/{line_number}-{node or 'unknown'}"
