"""Finds reports by their sections, whatever they are named, and beside each the requests of its run.

The user names both files. Requests belong to the report of their folder that states as many of them, and the same time from the first
start to the last end.
"""

from __future__ import annotations

import mmap
import re
from collections import defaultdict
from collections.abc import Iterator
from math import isclose

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, TreeFile, Unclaimed
from warehouse.landing.serving.path_names import folders_identity

REPORT, REQUESTS = "report", "requests"
_START = re.compile(rb'\s*\{\s*"engine"\s*:')
_MARKS = (b'"world_info"', b'"request_info"', b'"performance"', b'"request_throughput_req_s"')
_REQUESTS_START = re.compile(rb'\s*\[\s*\{\s*"id"\s*:')
_REQUEST_MARKS = (b'"num_input_tokens"', b'"start_timestamp"', b'"first_token_timestamp"', b'"end_timestamp"', b'"decode_iteration"')
_HEAD_BYTES = 1 << 16
_STATED = (re.compile(rb'"num_requests"\s*:\s*(\d+)'), re.compile(rb'"total_latency_ms"\s*:\s*([-+.\deE]+)'))
# A key, and none in a text that a model wrote: there the quotes are escaped.
_TIMES = re.compile(rb'(?<!\\)"(start|end)_timestamp"\s*:\s*(-?\d{1,19})\b')


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a report."""
    reports, requests = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for path in tree.files:
        if path.casefold().endswith(".json"):
            if _is_report(tree, path):
                reports[path.rpartition("/")[0]].append(path)
            elif _REQUESTS_START.match(tree.head(path, 256)) and all(mark in tree.head(path, _HEAD_BYTES) for mark in _REQUEST_MARKS):
                requests[path.rpartition("/")[0]].append(path)
    for folder in sorted({*reports, *requests}):
        yield from _folder(tree, reports[folder], requests[folder])


def _folder(tree: Tree, reports: list[str], requests: list[str]) -> Iterator[BundleDraft | Unclaimed]:
    stated = {path: _stated(tree, path) for path in reports} if requests else {}
    of_report = defaultdict[str, list[str]](list)
    for path in requests:
        measured = _measured(tree.files[path])
        found = [report for report, each in stated.items() if each and measured and _are_same(each, measured)]
        if len(found) == 1:
            of_report[found[0]].append(path)
        else:
            yield Unclaimed(path, "requests of trtllm-bench without the one report of their run")
    for report in reports:
        beside = of_report[report] if len(of_report[report]) == 1 else []
        yield from (Unclaimed(path, "requests of trtllm-bench that are there twice") for path in of_report[report] if not beside)
        files = [(report, REPORT), *((path, REQUESTS) for path in beside)]
        drafts = tuple(DraftFile(path.rpartition("/")[2], tree.files[path], "application/json", role) for path, role in files)
        yield BundleDraft(drafts, folders_identity(tree, report), runs=(run_id("?"),))


def _are_same(stated: tuple[int, float], measured: tuple[int, float]) -> bool:
    return stated[0] == measured[0] and isclose(stated[1], measured[1], rel_tol=1e-9)


def run_id(sha256: str) -> str:
    """The run's name, by the digest of its report: with its requests beside it, the same."""
    return f"trtllm-bench/{sha256[:16]}"


def _is_report(tree: Tree, path: str) -> bool:
    return bool(_START.match(tree.head(path, 256))) and all(mark in tree.head(path, _HEAD_BYTES) for mark in _MARKS)


def _stated(tree: Tree, path: str) -> tuple[int, float] | None:
    """How many requests a report states, and the milliseconds they took."""
    found = [stated.search(tree.head(path, _HEAD_BYTES)) for stated in _STATED]
    try:
        return (int(found[0][1]), float(found[1][1])) if found[0] and found[1] else None
    except ValueError:
        return None


def _measured(file: TreeFile) -> tuple[int, float] | None:
    """The same of the requests themselves."""
    moments: dict[bytes, list[int]] = {b"start": [], b"end": []}
    try:
        with open(file.source, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for found in _TIMES.finditer(data):
                moments[found[1]].append(int(found[2]))
    except (OSError, ValueError):
        return None
    starts, ends = moments.values()
    return (len(starts), (max(ends) - min(starts)) * 1e-6) if starts and len(starts) == len(ends) else None
