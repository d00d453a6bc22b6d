"""Cuts a tree into runs: the exports that one folder holds under one name.

The tools name a run's folder after model, service and load (`…-openai-chat-concurrency5`), and its files after a prefix of the
user's, with an ending of their own or without: what an export is, its content tells. The raw export may have a name of its
own: the summary names it, or it is the folder's only one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

_ENDING = re.compile(r"_(?:genai_perf|aiperf)$", re.IGNORECASE)
_RUN_FOLDER = re.compile(r".+-(?:concurrency|request_rate)[\d.]+", re.IGNORECASE)
_HEAD_BYTES = 1 << 16  # AIPerf may write its whole configuration before the statistics
# A statistic that every version and kind of endpoint states, with its unit; failed runs of AIPerf have the last one alone.
_STATISTIC = re.compile(
    rb'"(?:request_throughput|request_latency|request_count|time_to_first_token|error_request_count)"\s*:\s*\{[^{}]*"unit"\s*:'
)
_SUMMARY_SIGNS = (b'"unit"', b'"input_config"')
_NO_SUMMARY = re.compile(rb'\s*\{\s*"(?:timeslices|window_metadata)"\s*:')  # AIPerf's statistics of parts of a run
_CSV_STATISTIC = re.compile(rb'^"?(?:Request Throughput|Request Latency|Time to First Token)\b', re.IGNORECASE | re.MULTILINE)
_RAW = re.compile(rb'"experiments"\s*:\s*\[\s*\{\s*"(?:experiment|requests|window_boundaries)"\s*:')
_REQUEST_MARK = re.compile(rb'"metadata"\s*:\s*\{[^{}]*"(?:request_start_ns|credit_phase)"\s*:')
_RECORD_MARK = b'"metrics"'
_PROFILE_FILE = re.compile(rb'"profile_export_file"\s*:\s*"(?:[^"]*/)?([^"/]+)"')
_MEDIA_TYPES = {"json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv"}


class _File(NamedTuple):
    path: str
    role: str  # summary, csv, raw, records
    stem: str


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a run, in the order of folder and name."""
    folders: dict[str, list[_File]] = defaultdict(list)
    for path in tree.files:
        found = _file(tree, path)
        if isinstance(found, _File):
            folders[path.rpartition("/")[0]].append(found)
        elif found is not None:
            yield found
    for folder in sorted(folders):
        for files in _runs(tree, folders[folder]):
            yield _draft(tree, folder, files)


def _file(tree: Tree, path: str) -> _File | Unclaimed | None:
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    suffix = suffix.casefold()
    if suffix not in _MEDIA_TYPES:
        return None
    try:
        head = tree.head(path)
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if suffix == "csv":
            is_csv = start.startswith(b"Metric,") and _CSV_STATISTIC.search(tree.head(path, _HEAD_BYTES)) is not None
            return _File(path, "csv", _ENDING.sub("", stem)) if is_csv else None
        if not start.startswith(b"{"):
            return None
        if suffix == "jsonl":
            if not _REQUEST_MARK.search(head):
                return None
            is_record = _RECORD_MARK in head
            return _File(path, "records", stem) if is_record else Unclaimed(path, "AIPerf's raw requests: its records are read")
        if _RAW.search(head):
            return _File(path, "raw", stem)
        return _File(path, "summary", _ENDING.sub("", stem)) if _is_summary(tree, path, head) else None
    except OSError:
        return None


def _is_summary(tree: Tree, path: str, head: bytes) -> bool:
    if _NO_SUMMARY.match(head) or not any(sign in head for sign in _SUMMARY_SIGNS):
        return False
    return _STATISTIC.search(tree.head(path, _HEAD_BYTES)) is not None


def _runs(tree: Tree, files: list[_File]) -> Iterator[list[_File]]:
    by_stem: dict[str, list[_File]] = defaultdict(list)
    detail = [file for file in files if file.role in ("raw", "records")]
    for file in files:
        if file not in detail:
            by_stem[file.stem].append(file)
    for file in detail:
        by_stem[_owner(tree, file, by_stem, detail)].append(file)
    for stem in sorted(by_stem):
        yield by_stem[stem]


def _owner(tree: Tree, file: _File, summaries: dict[str, list[_File]], detail: list[_File]) -> str:
    """The stem of the run that a file of detail belongs to."""
    if file.stem in summaries:
        return file.stem
    stems = [stem for stem, found in summaries.items() if any(other.role in ("summary", "csv") for other in found)]
    name = file.path.rpartition("/")[2].encode()
    named = [
        stem for stem in stems for other in summaries[stem]
        if other.role == "summary" and name in _PROFILE_FILE.findall(tree.head(other.path, 1 << 20))
    ]
    if len(named) == 1:
        return named[0]
    alone = len(stems) == 1 and len([other for other in detail if other.role == file.role]) == 1
    return stems[0] if alone else file.stem


def _draft(tree: Tree, folder: str, files: list[_File]) -> BundleDraft:
    above = tree.full_parts(f"{folder}/x" if folder else "x")[-2:-1]
    telling = above[0] if above and _RUN_FOLDER.fullmatch(above[0]) else None
    drafts = []
    for file in sorted(files):
        name = file.path.rpartition("/")[2]
        media = _MEDIA_TYPES[name.rpartition(".")[2].casefold()]
        drafts.append(DraftFile(f"{telling}/{name}" if telling else name, tree.files[file.path], media, file.role))
    identity = {"artifact_folder": telling} if telling else {}
    return BundleDraft(files=tuple(drafts), identity=identity, runs=(run_id(identity),))


def run_id(identity: dict[str, str], manifest_digest: str = "?") -> str:
    """The run's name: its folder where the tool named it, and the digest of its evidence."""
    names = [identity["artifact_folder"]] if "artifact_folder" in identity else []
    return "/".join(("genai-perf", *names, manifest_digest[:12]))
