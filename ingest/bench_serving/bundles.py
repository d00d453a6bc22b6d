"""Cuts a tree into bundles: a result file with the console output beside it and the lists that restate it; a sweep's folder
with all of its repeats; a list, or the table of a sweep, as far as no other file states its records."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed
from warehouse.landing.serving.apart import SEARCHED_BYTES, folders_apart
from warehouse.landing.serving.path_names import telling_parts

from .formats import HEAD_BYTES, looks_like_results
from .restated import Extent, extents_of, own_rows, restatements
from .table import is_table

RESULT, CONSOLE, SERVER_LOG, RESTATEMENT = "result", "console", "server_log", "restatement"
FOLDER = "folder"  # of a bundle's identity: what tells its result file from another of the same name and second
RECORDS = "records"  # of a bundle's identity: of a result file, by its path, the numbers of the records that are its runs
_REPEAT = re.compile(r"run=\d{1,9}(?:\.failure)?\.json")
_WARM_UPS = frozenset({"warmup.json", "warmup.failure.json"})  # `vllm bench sweep serve --warmup-num-prompts`: no measurement
META = "meta_env.json"  # InferenceX's deployment beside results of lm-evaluation-harness: no measurement
_SEARCH = "SLA--"  # `vllm bench sweep serve_sla` lists all runs of a search in it once more
_DATE, _DURATION = re.compile(rb'"date"\s*:\s*"([^"]{1,64})"'), re.compile(rb'"duration"\s*:\s*([^\s,}]{1,64})')
_CONSOLE_SUFFIXES = (".txt", ".log", ".out")
# The log of the server that a result file is of lies beside it, as `server.log`, or as `NAME_server.log` of several.
_SERVER_LOG = re.compile(r"(?:(?P<stem>.+)[._-])?server(?:[._-]?log)?\.(?:txt|log|out)", re.IGNORECASE)


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a result file, or a folder of repeats, in the order of their paths."""
    paths = list(_result_files(tree))
    logs: dict[str, dict[str, str]] = defaultdict(dict)  # by folder and the stem of the result's name, or none
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        if found := _SERVER_LOG.fullmatch(name):
            logs[folder][found["stem"] or ""] = path
    extents = extents_of(tree, paths)
    restating: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))  # by the file that lists restate
    own = {path: list(range(extent.records)) for path, extent in extents.items()}
    for place, others in restatements(tree, paths, extents).items():
        own[place.path].remove(place.number)
        for other in others:
            restating[other][place.path].append(place.number)
    apart = _told_apart(tree, paths)
    sweeps: dict[str, list[str]] = defaultdict(list)
    tables = [path for path in tree.files if path.endswith(".csv") and is_table(tree.head(path, HEAD_BYTES))]
    for path, (numbers, count) in own_rows(tree, tables, paths).items():
        if numbers:
            own[path], extents[path] = numbers, Extent(True, count)
            yield _draft(tree, [path], extents, own, {}, {}, logs)
        else:
            yield Unclaimed(path, "the table of a sweep: its runs are read from their own files")
    for path in paths:
        folder, _, name = path.rpartition("/")
        if path in extents and not own[path] and extents[path].records:
            continue
        if name.startswith(_SEARCH):
            yield Unclaimed(path, "the runs of a search that a sweep made: they are read from their own files")
        elif name in _WARM_UPS:
            yield Unclaimed(path, "the warm-up of a sweep: no measurement")
        elif _REPEAT.fullmatch(name):
            sweeps[folder].append(path)
        else:
            yield _draft(tree, [path], extents, own, restating, apart, logs)
    for repeats in sweeps.values():
        yield _draft(tree, repeats, extents, own, restating, apart, logs)


def _result_files(tree: Tree) -> Iterator[str]:
    for path in tree.files:
        if path.rpartition("/")[2] != META and path.endswith((".json", ".jsonl")) and looks_like_results(tree.head(path, HEAD_BYTES)):
            yield path


def _draft(
    tree: Tree, results: Sequence[str], extents: Mapping[str, Extent], own: Mapping[str, list[int]],
    restating: Mapping[str, Mapping[str, list[int]]], apart: Mapping[str, str], logs: Mapping[str, Mapping[str, str]],
) -> BundleDraft:
    """The draft of result files, as far as they restate no others, with what lies beside them and what restates them. `apart` has the
    folders that tell files of one name apart."""
    files: list[DraftFile] = []
    runs: list[str] = []
    partly = {}
    lists: dict[str, set[int]] = defaultdict(set)
    for path in results:
        folder = apart.get(path, "")
        raw_path = folder + _raw_path(tree, path)
        stem, numbers = path.rpartition(".")[0], tuple(own.get(path) or (0,))
        media = "text/csv" if path.endswith(".csv") else "application/json"
        files.append(DraftFile(raw_path, tree.files[path], media, RESULT, numbers))
        beside = (stem + suffix for suffix in _CONSOLE_SUFFIXES)
        files += [DraftFile(folder + _raw_path(tree, each), tree.files[each], "text/plain", CONSOLE) for each in beside if each in tree.files]
        name = raw_path.rpartition(".")[0]
        runs += [f"{name}/{number + 1}" if number else name for number in numbers]
        if path in extents and len(numbers) < extents[path].records:
            partly[raw_path] = list(numbers)
        for other, restated in restating.get(path, {}).items():
            lists[other].update(restated)
    folder = results[0].rpartition("/")[0]
    of_folder = logs.get(folder, {})
    stems = {path.rpartition("/")[2].rpartition(".")[0] for path in results}
    for log in sorted({of_folder[stem] for stem in stems if stem in of_folder} or {of_folder[""] for _ in results if "" in of_folder}):
        files.append(DraftFile(_raw_path(tree, log), tree.files[log], "text/plain", SERVER_LOG))
    taken = {file.raw_path for file in files}
    for path in sorted(lists.keys() - set(results)):
        raw_path = _unused(_raw_path(tree, path), path, taken)
        numbers = tuple(sorted(lists[path]))
        files.append(DraftFile(raw_path, tree.files[path], "application/json", RESTATEMENT, numbers, is_restatement=True))
    told = {apart[path] for path in results if path in apart}
    identity = {**({RECORDS: partly} if partly else {}), **({FOLDER: min(told)} if told else {})}
    return BundleDraft(tuple(files), identity=identity, runs=tuple(runs))


def _told_apart(tree: Tree, paths: Sequence[str]) -> dict[str, str]:
    """The folders, as few as it takes, that tell apart result files of one name and one second which state different runs."""
    by_run: dict[tuple[str, str], list[str]] = defaultdict(list)
    named: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        named[_raw_path(tree, path)].append(path)
    for raw_path, same in named.items():
        for path in same if len(same) > 1 else ():
            for moment in _moments(tree.head(path, SEARCHED_BYTES)):
                by_run[raw_path, moment].append(path)
    found: dict[str, str] = {}
    for (raw_path, _), same in by_run.items():
        # The names above those that tell of the run, which are in the raw path already.
        found |= folders_apart(tree, {path: tree.full_parts(path)[: -raw_path.count("/") - 1] for path in same})
    return found


def _moments(head: bytes) -> set[str]:
    """What tells the runs of a file from others of its name: their dates or else, as `run.identity_of` takes them, their durations."""
    dates, durations = _DATE.findall(head), _DURATION.findall(head)
    return {moment.decode(errors="replace") for moment in dates or durations}


def _raw_path(tree: Tree, path: str) -> str:
    return "/".join(telling_parts(tree.full_parts(path)))


def _unused(raw_path: str, path: str, taken: set[str]) -> str:
    """The path, with folders above it or a number before it where another file has it."""
    parts = path.split("/")
    names = [raw_path, *("/".join(parts[start:]) for start in range(len(parts) - 2, -1, -1))]
    names += [f"{number}/{raw_path}" for number in range(2, len(taken) + 3)]
    found = next(name for name in names if name not in taken)
    taken.add(found)
    return found
