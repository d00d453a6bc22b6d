"""Cuts a tree into bundles: a campaign (a `summary.csv` and the logs it summarises), or a log by itself.

Logs are recognised by what their first bytes say, not by names; only a log that ended before it said anything is known by
its campaign's way of naming.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.rows import RowBuffer
from warehouse.landing.text import Report

from . import nccl_summary, rccl_report
from .place import Place, file_name, place_of
from .runs import run_name
from .tables import TABLES
from .tools import HEAD_BYTES, Tool, tools_of

SUMMARY, DOCUMENT, SILENT_LOG, DEBUG_LOG = "nccl_summary", "campaign_document", "silent_log", "debug_log"
_TEXT = re.compile(r".*\.(?:log|txt|out|err|stdout|stderr|json|res|[oe]\d+)|[^.]+", re.IGNORECASE | re.DOTALL)
_DOCUMENTS = frozenset({"summary.md", "failures.txt"})
_COUNTED_BYTES = 1 << 20  # of a log whose runs are counted while cutting
_MEDIA_TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a campaign, one a log outside of campaigns, in the order of their paths."""
    roles = _roles(tree)
    campaigns = {path.rpartition("/")[0] for path, role in roles.items() if role == SUMMARY}
    members: dict[str, list[str]] = defaultdict(list)
    for path, role in roles.items():
        folder = _campaign_of(path, campaigns)
        members[path if folder is None else folder].append(path)
        if folder is None and role == DEBUG_LOG:
            del members[path]
    for folder, paths in members.items():
        yield _draft(tree, folder if folder in campaigns else None, paths, roles)


def _roles(tree: Tree) -> dict[str, str]:
    """The files that are ours, and what they are."""
    roles: dict[str, str] = {}
    for path in tree.files:
        name = path.rpartition("/")[2]
        if name.casefold().endswith(".csv"):
            if _head(tree, path, len(nccl_summary.HEAD) + 3).removeprefix(b"\xef\xbb\xbf").startswith(nccl_summary.HEAD):
                roles[path] = SUMMARY
            elif rccl_report.MARK.search(_head(tree, path, HEAD_BYTES)):
                roles[path] = "rccl_tests_report"
        elif _TEXT.fullmatch(name) and not _is_recorded(tree, path):
            tools = tools_of(_head(tree, path, HEAD_BYTES))
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


def _head(tree: Tree, path: str, limit: int) -> bytes:
    try:
        return tree.head(path, limit)
    except OSError:  # the listing reports it
        return b""


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


def _draft(tree: Tree, campaign: str | None, paths: list[str], roles: dict[str, str]) -> BundleDraft:
    if campaign is None:
        place = place_of(tree.full_parts(paths[0]))
        raw_paths = {paths[0]: place.raw_path}
    else:
        prefix = f"{campaign}/" if campaign else ""
        place = place_of(tree.full_parts(f"{prefix}summary.csv"))
        base = place.raw_path.removesuffix("summary.csv")
        raw_paths = {path: base + path.removeprefix(prefix) for path in paths}
    return BundleDraft(
        files=tuple(
            DraftFile(raw_paths[path], tree.files[path], _media_type(path), roles[path]) for path in paths
        ),
        identity={"cluster": place.cluster, "is_named_by_path": place.is_identity},
        runs=tuple(name for path in paths for name in _runs(tree, path, raw_paths[path], place, roles[path])),
    )


def _media_type(path: str) -> str:
    return _MEDIA_TYPES.get(path.rpartition(".")[2].casefold(), "text/plain")


def _runs(tree: Tree, path: str, raw_path: str, place: Place, role: str) -> Iterator[str]:
    """The runs that a log of moderate size holds; a large one is counted when it is parsed."""
    data = _head(tree, path, _COUNTED_BYTES + 1)
    if role in (SUMMARY, DOCUMENT, DEBUG_LOG) or len(data) > _COUNTED_BYTES:
        return
    owner = raw_path if place.is_identity else f"?/{raw_path}"
    if role == SILENT_LOG:
        yield run_name(owner, 1, None)
        return
    report = Report(RowBuffer(dict(TABLES), ""), raw_path, None)
    index = 0
    for tool in tools_of(data[:HEAD_BYTES]):
        for row in _counted(tool, data, report, raw_path):
            index += 1
            yield run_name(owner, index, row)


def _counted(tool: Tool, data: bytes, report: Report, raw_path: str) -> Iterator[str | None]:
    return (row.check.test for row in tool.rows(data, report, raw_path.rpartition("/")[2]) if row.table is None)
