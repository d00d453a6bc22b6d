"""Cuts a tree into bundles: a campaign (a `summary.csv` and the logs it summarises), or a log by itself; with it come the
reports of the same execution that lie elsewhere in the tree.

Logs are recognised by what their first bytes say, not by names; only a log that ended before it said anything is known by
its campaign's way of naming.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from . import nccl_summary, rccl_report
from .check import Check
from .executions import Execution, Reports, executions
from .place import file_name, place_of
from .runs import run_name
from .tables import TABLES
from .tools import HEAD_BYTES, tools_of

SUMMARY, DOCUMENT, SILENT_LOG, DEBUG_LOG = "nccl_summary", "campaign_document", "silent_log", "debug_log"
_WITHOUT_RUNS = frozenset({SUMMARY, DOCUMENT, DEBUG_LOG})
_Held = Mapping[str, list[Execution]]  # by the path of the log
_TEXT = re.compile(r".*\.(?:log|txt|out|err|stdout|stderr|json|res|[oe]\d+)|[^.]+", re.IGNORECASE | re.DOTALL)
_DOCUMENTS = frozenset({"summary.md", "failures.txt"})
_COUNTED_BYTES = 1 << 20  # of a log whose runs are counted while cutting
_MEDIA_TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a campaign, then one an execution, or a log, outside of campaigns, each in the order of their paths."""
    roles = _roles(tree)
    campaigns = {path.rpartition("/")[0] for path, role in roles.items() if role == SUMMARY}
    members: dict[str, list[str]] = defaultdict(list)
    for path, role in roles.items():
        folder = _campaign_of(path, campaigns)
        members[path if folder is None else folder].append(path)
        if folder is None and role == DEBUG_LOG:
            del members[path]
    held = {path: _executions(tree, path, role) for path, role in roles.items() if role not in _WITHOUT_RUNS}
    alone = [paths[0] for folder, paths in members.items() if folder not in campaigns]
    for folder, paths in [(folder, members[folder]) for folder in members if folder in campaigns]:
        yield _draft(tree, folder, paths, roles, held)
    for paths in _together(tree, alone, held):
        yield _draft(tree, None, paths, roles, held)


def _roles(tree: Tree) -> dict[str, str]:
    """The files that are ours, and what they are."""
    roles: dict[str, str] = {}
    for path in tree.files:
        name = path.rpartition("/")[2]
        if name.casefold().endswith(".csv"):
            if tree.head(path, len(nccl_summary.HEAD) + 3).removeprefix(b"\xef\xbb\xbf").startswith(nccl_summary.HEAD):
                roles[path] = SUMMARY
            elif rccl_report.MARK.search(tree.head(path, HEAD_BYTES)):
                roles[path] = "rccl_tests_report"
        elif _TEXT.fullmatch(name) and not _is_recorded(tree, path):
            tools = tools_of(tree.head(path, HEAD_BYTES))
            if tools:
                roles[path] = tools[0].role
    summaries = {path.rpartition("/")[0] for path, role in roles.items() if role == SUMMARY}
    logs = [(path.rpartition("/")[0], file_name(path.rpartition("/")[2])) for path, role in roles.items() if role == "nccl_tests_log"]
    beside = {(folder, named.prefix) for folder, named in logs if named is not None}
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        named = file_name(name)
        if path not in roles and named is not None and ((folder, named.prefix) in beside or _campaign_of(path, summaries) is not None):
            roles[path] = DEBUG_LOG if named.is_debug_log else SILENT_LOG
        elif name in _DOCUMENTS and folder in summaries:
            roles[path] = DOCUMENT
    return dict(sorted(roles.items()))


def _is_recorded(tree: Tree, path: str) -> bool:
    """Whether a file is the output of a run that `wh record` observed: it belongs to the recording."""
    run, _, name = path.rpartition("/")
    above = run.rpartition("/")[0]
    recording = f"{above}/recording.json" if above else "recording.json"
    return name in ("stdout.txt", "stderr.txt") and recording in tree.files


def _campaign_of(path: str, campaigns: set[str]) -> str | None:
    """The nearest folder above a file that has a summary."""
    folder = path.rpartition("/")[0]
    while folder not in campaigns:
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
    return folder


def _together(tree: Tree, paths: list[str], held: _Held) -> list[list[str]]:
    """The logs that lie in no campaign: each with the others that report the same execution, or contradict it of
    the same one, and with copies of itself."""
    of_path = {path: [path] for path in paths}
    reports: dict[str | None, Reports] = defaultdict(Reports)  # of each folder whose path names the runs, and of all others
    copies: dict[tuple[str, str], str] = {}
    for path in paths:
        folder = path.rpartition("/")[0] if place_of(tree.full_parts(path)).is_identity else None
        twins = [other.raw_path for execution in held[path] for other in reports[folder].add(execution)]
        if tree.files[path].bytes <= _COUNTED_BYTES:
            content = hashlib.sha256(tree.head(path, _COUNTED_BYTES)).hexdigest()
            twins.append(copies.setdefault((path.rpartition(".")[0] or path, content), path))
        for other in twins:
            _join(of_path, other, path)
    for found in reports.values():
        for first, contradicting in found.contradictory:
            _join(of_path, first.raw_path, contradicting.raw_path)
    return list({paths[0]: paths for paths in of_path.values()}.values())


def _join(of_path: dict[str, list[str]], one: str, other: str) -> None:
    if of_path[one] is not of_path[other]:
        joined = sorted({*of_path[one], *of_path[other]})
        of_path.update(dict.fromkeys(joined, joined))


def _draft(tree: Tree, campaign: str | None, paths: list[str], roles: dict[str, str], held: _Held) -> BundleDraft:
    place = place_of(tree.full_parts(paths[0]))
    if campaign is not None:
        prefix = f"{campaign}/" if campaign else ""
        place = place_of(tree.full_parts(f"{prefix}summary.csv"))
        base = place.raw_path.removesuffix("summary.csv")
        raw_paths = {path: base + path.removeprefix(prefix) for path in paths}
    else:
        raw_paths = {path: place_of(tree.full_parts(path)).raw_path for path in paths}
        if len(set(raw_paths.values())) < len(paths):  # server/out.log and client/out.log: what tells them apart stays
            above = os.path.commonpath([path.rpartition("/")[0] for path in paths])
            raw_paths = {path: path.removeprefix(above).lstrip("/") for path in paths}
    reports = Reports()
    for path in paths:
        for execution in held.get(path, ()):
            reports.add(replace(execution, raw_path=raw_paths[path]))
    runs = (
        run_name(first.raw_path if place.is_identity else f"?/{first.raw_path}", first.index, first.test)
        for first, *_ in reports.groups
    )
    return BundleDraft(
        files=tuple(
            DraftFile(raw_paths[path], tree.files[path], _media_type(path), roles[path]) for path in paths
        ),
        identity={"cluster": place.cluster, "is_named_by_path": place.is_identity},
        runs=tuple(runs),
    )


def _media_type(path: str) -> str:
    return _MEDIA_TYPES.get(path.rpartition(".")[2].casefold(), "text/plain")


def _executions(tree: Tree, path: str, role: str) -> list[Execution]:
    """The executions that a log of moderate size reports; those of a large one are counted when it is parsed."""
    data, name = tree.head(path, _COUNTED_BYTES + 1), path.rpartition("/")[2]
    if role == SILENT_LOG:
        return [Execution(path, 1, Check("nccl-tests", None, 0), None)]
    if len(data) > _COUNTED_BYTES:
        return []
    report = Report(RowBuffer(dict(TABLES), ""), path, None)
    sources = [tool.rows(data, report, name) for tool in tools_of(data[:HEAD_BYTES])]
    return [execution for execution, row in executions(sources, path) if row.table is None]
