"""Cuts a tree into bundles: a result file with the console output beside it; a sweep's folder with all of its repeats."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed
from warehouse.landing.rows import RowBuffer
from warehouse.landing.text import Report

from .formats import HEAD_BYTES, format_of, is_list, looks_like_results
from .names import is_telling
from .records import records

RESULT, CONSOLE, SUMMARY = "result", "console", "summary"
_REPEAT = re.compile(r"run=\d{1,9}\.json")
_SEARCH = "SLA--"  # `vllm bench sweep serve_sla` lists all runs of a search in it once more
_COUNTED_BYTES = 1 << 20  # of a file whose runs are counted while cutting
_LEVELS = 4  # folders above a file that may tell of it
_CONSOLE_SUFFIXES = (".txt", ".log", ".out")
_MEDIA_TYPES = {RESULT: "application/json", SUMMARY: "application/json", CONSOLE: "text/plain"}


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a result file, or a folder of repeats, in the order of their paths."""
    sweeps: dict[str, list[str]] = defaultdict(list)
    for path in _result_files(tree):
        folder, _, name = path.rpartition("/")
        if name.startswith(_SEARCH):
            yield Unclaimed(path, "the runs of a search that a sweep made: they are read from their own files")
        elif _REPEAT.fullmatch(name):
            sweeps[folder].append(path)
        else:
            yield _draft(tree, [path])
    for folder, paths in sweeps.items():
        yield _draft(tree, paths, folder)


def _result_files(tree: Tree) -> Iterator[str]:
    for path in tree.files:
        if not path.endswith((".json", ".jsonl")):
            continue
        try:
            head = tree.head(path, HEAD_BYTES)
        except OSError:  # the listing reports it
            continue
        # The runs in a list that is a sweep's summary are those of its other files.
        if looks_like_results(head) and not (is_list(head) and path.rpartition("/")[2] == "summary.json"):
            yield path


def _draft(tree: Tree, paths: list[str], sweep: str | None = None) -> BundleDraft:
    roles = dict.fromkeys(paths, RESULT)
    for path in paths:
        stem = path.rpartition(".")[0]
        roles.update({stem + suffix: CONSOLE for suffix in _CONSOLE_SUFFIXES if stem + suffix in tree.files})
    if sweep is not None and (summary := f"{sweep}/summary.json" if sweep else "summary.json") in tree.files:
        roles[summary] = SUMMARY
    raw_paths = {path: _raw_path(tree, path) for path in roles}
    files = [DraftFile(raw_paths[path], tree.files[path], _MEDIA_TYPES[role], role) for path, role in roles.items()]
    runs = tuple(run for path in paths for run in _runs(tree, path, raw_paths[path].rpartition(".")[0]))
    return BundleDraft(tuple(files), runs=runs)


def _runs(tree: Tree, path: str, name: str) -> Iterator[str]:
    """The runs that a result file seems to hold: its records; of a large file the first."""
    yield name
    data = tree.head(path, _COUNTED_BYTES + 1)
    if len(data) <= _COUNTED_BYTES:
        unheard = Report(RowBuffer({}, ""), path, None)
        found = sum(format_of([pair.key for pair in record.pairs]) is not None for record in records(data, unheard))
        yield from (f"{name}/{occurrence}" for occurrence in range(2, found + 1))


def _raw_path(tree: Tree, path: str) -> str:
    """The path from the outermost folder on that tells of the run, so that it does not depend on where the tree was cut."""
    parts = tree.full_parts(path)
    above = parts[:-1][-_LEVELS:]
    first = next((index for index, folder in enumerate(above) if is_telling(folder)), len(above))
    return "/".join((*above[first:], parts[-1]))
