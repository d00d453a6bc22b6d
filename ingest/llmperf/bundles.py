"""Cuts a tree into runs: a summary with the responses it was made of.

The tool writes both into one folder, as `NAME_summary.json` and `NAME_individual_responses.json`; collections sort them into
two folders side by side, under one name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.serving.apart import folders_apart
from warehouse.landing.serving.path_names import folders_identity

SUMMARY, RESPONSES = "summary", "individual_responses"
FOLDER = "folder"  # of a bundle's identity: what tells its summary from another of the same name and second
_SUMMARY_MARKS = (b'"mean_input_tokens"', b'"num_concurrent_requests"')
_RESULTS = (b'"results_', b'"results"')  # flat, or nested by later versions
_RESPONSE_MARKS = (b'"error_code"', b'"ttft_s"', b'"end_to_end_latency_s"')


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a run, in the order of its first file."""
    summaries, responses = [], []
    for path in tree.files:
        if path.casefold().endswith(".json"):
            role = _role(tree, path)
            if role == SUMMARY:
                summaries.append(path)
            elif role == RESPONSES:
                responses.append(path)
    paired = dict(_pairs(summaries, responses))
    runs: list[tuple[str | None, str | None]] = [(path, paired.get(path)) for path in summaries]
    runs += [(None, path) for path in responses if path not in paired.values()]
    named: dict[str, list[str]] = {}
    for path in summaries:
        if identity := _identity(tree, path):
            named.setdefault(run_id(identity), []).append(path)
    apart: dict[str, str] = {}
    for same in named.values():
        apart |= folders_apart(tree, {path: tree.full_parts(path)[:-1] for path in same})
    for summary, individual in sorted(runs, key=lambda run: run[0] or run[1] or ""):
        yield _draft(tree, summary, individual, apart.get(summary or ""))


def _role(tree: Tree, path: str) -> str | None:
    head = tree.head(path)
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{") and all(mark in head for mark in _SUMMARY_MARKS) and any(mark in head for mark in _RESULTS):
        return SUMMARY
    return RESPONSES if start.startswith(b"[") and all(mark in head for mark in _RESPONSE_MARKS) else None


def _pairs(summaries: list[str], responses: list[str]) -> Iterator[tuple[str, str]]:
    """(summary, responses) where names leave no doubt."""
    by_name: dict[tuple[str, str], list[str]] = {}
    for path in responses:
        folder, name = _split(path)
        by_name.setdefault((folder, name.removesuffix(".json").removesuffix("_individual_responses")), []).append(path)
        by_name.setdefault((_split(folder)[0] + "/*", name), []).append(path)
    for path in summaries:
        folder, name = _split(path)
        stem = name.removesuffix(".json")
        for key in ((folder, stem.removesuffix("_summary")), (_split(folder)[0] + "/*", name)):
            found = [other for other in by_name.get(key, []) if other != path]
            if len(found) == 1:
                yield path, found[0]
                break


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _draft(tree: Tree, summary: str | None, individual: str | None, folder: str | None) -> BundleDraft:
    files = [(path, role) for path, role in ((summary, SUMMARY), (individual, RESPONSES)) if path]
    apart = len({_split(path)[0] for path, _ in files}) > 1
    identity = _identity(tree, summary) if summary else {}
    identity |= {FOLDER: folder} if folder else {}
    return BundleDraft(
        files=tuple(
            # The summary names model, load and time: only the folder that tells two files of one name apart is kept.
            DraftFile("/".join(tree.full_parts(path)[-2 if apart else -1 :]), tree.files[path], "application/json", role)
            for path, role in sorted(files)
        ),
        identity=identity | folders_identity(tree, summary or individual or ""),
        runs=(run_id(identity),) if "name" in identity else (),
    )


def _identity(tree: Tree, summary: str) -> dict[str, object]:
    """What a summary declares of itself: its name, and when it was written (epoch seconds)."""
    try:
        stated = json.loads(tree.head(summary, 1 << 20))
    except (ValueError, RecursionError):
        return {}
    name, timestamp = (stated.get(key) for key in ("name", "timestamp")) if isinstance(stated, dict) else (None, None)
    is_declared = isinstance(name, str) and type(timestamp) is int and 0 <= timestamp < 2**53 and name.isprintable()
    return {"name": name, "timestamp": timestamp} if is_declared else {}


def run_id(identity: dict[str, object], manifest_digest: str = "?") -> str:
    """The run's name: the summary's own and its time, with the folder that tells it from another; or the bundle's digest where nothing is
    declared."""
    if "name" in identity:
        return f"llmperf/{identity.get(FOLDER, '')}{str(identity['name']).removesuffix('_summary')}/{identity['timestamp']}"
    return f"llmperf/{manifest_digest[:16]}"
