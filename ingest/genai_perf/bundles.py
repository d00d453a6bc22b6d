"""Cuts a tree into runs: the exports that one folder holds under one name.

The tools name a run's folder after model, service and load (`…-openai-chat-concurrency5`), and its files after a prefix of the
user's. The raw export may have a name of its own: the summary names it, or it is the folder's only one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_SUMMARY = re.compile(r"(.*)_(genai_perf|aiperf)\.(json|csv)", re.IGNORECASE)
_RUN_FOLDER = re.compile(r".+-(?:concurrency|request_rate)[\d.]+", re.IGNORECASE)
_RAW_START = re.compile(rb'\s*\{\s*"experiments"\s*:\s*\[')
_RECORD_MARKS = (b'"metadata"', b'"request_start_ns"')
_PROFILE_FILE = re.compile(rb'"profile_export_file"\s*:\s*"(?:[^"]*/)?([^"/]+)"')
_MEDIA_TYPES = {"json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv"}


class _File(NamedTuple):
    path: str
    role: str  # summary, csv, raw, records
    stem: str


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a run, in the order of folder and name."""
    folders: dict[str, list[_File]] = defaultdict(list)
    for path in tree.files:
        found = _file(tree, path)
        if found is not None:
            folders[path.rpartition("/")[0]].append(found)
    for folder in sorted(folders):
        for files in _runs(tree, folders[folder]):
            yield _draft(tree, folder, files)


def _file(tree: Tree, path: str) -> _File | None:
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    if suffix.casefold() not in _MEDIA_TYPES:
        return None
    try:
        head = tree.head(path)
    except OSError:
        return None
    match = _SUMMARY.fullmatch(name)
    if match and suffix.casefold() == "csv":
        return _File(path, "csv", match[1]) if head.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"Metric,") else None
    if match:
        return _File(path, "summary", match[1]) if head.lstrip().startswith(b"{") and b'"unit"' in head else None
    if suffix.casefold() == "jsonl":
        return _File(path, "records", stem) if all(mark in head for mark in _RECORD_MARKS) else None
    return _File(path, "raw", stem) if suffix.casefold() == "json" and _RAW_START.match(head) else None


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
