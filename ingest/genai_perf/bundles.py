"""Cuts a tree into runs: the exports that one folder holds under one name.

The tools name a run's folder after model, service and load (`…-openai-chat-concurrency5`), and its files after a prefix of the
user's, with an ending of their own or without: what an export is, its content tells. The raw export may have a name of its
own: the summary names it, or it is the folder's only one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed
from warehouse.landing.serving.path_names import folders_identity

from . import failed
from .inferencex import Restatement, restatements

RECORD, LIST = "inferencex", "restatement"  # roles of what restates a run: a record of InferenceX, a list of records
SLICES, SLICES_CSV = "time_slices", "time_slices_csv"
SERVER_METRICS, SERVER_METRICS_CSV, SCRAPES = "server_metrics", "server_metrics_csv", "server_metrics_scrapes"
_BESIDE = frozenset({SLICES, SLICES_CSV, SERVER_METRICS, SERVER_METRICS_CSV, SCRAPES})  # of a run, and none alone
RECORDS = "records"  # of a bundle's identity: by a file's path, the numbers of its records that restate the run
_ENDING = re.compile(r"(?:_genai_perf|_aiperf)?(?:_timeslices|_server_metrics)?$", re.IGNORECASE)
_RUN_FOLDER = re.compile(r".+-(?:concurrency|request_rate)[\d.]+", re.IGNORECASE)
_HEAD_BYTES = 1 << 16  # AIPerf may write its whole configuration before the statistics
# A statistic that every version and kind of endpoint states, with its unit; failed runs of AIPerf have the last one alone.
_STATISTIC = re.compile(
    rb'"(?:request_throughput|request_latency|request_count|time_to_first_token|error_request_count)"\s*:\s*\{[^{}]*"unit"\s*:'
)
_SUMMARY_SIGNS = (b'"unit"', b'"input_config"')
_SLICES = re.compile(rb'\s*\{\s*"timeslices"\s*:')  # AIPerf's statistics of parts of a run
_STEADY_STATE = re.compile(rb'\s*\{\s*"window_metadata"\s*:')
# Statistics over several runs (ai-dynamo/aiperf `src/aiperf/exporters/aggregate/`): of their summaries (confidence), of all their requests
# (detailed, collated), and of the cells of a sweep. None of them is a run.
_AGGREGATE = re.compile(rb'\{\s*(?:"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,\s*)*(?:"metadata"\s*:\s*\{\s*)?"aggregation_type"\s*:')
_AGGREGATE_CSV = b"metric,mean,std,min,max,cv,se,ci_low,ci_high,"
_AGGREGATE_BYTES = 4 << 20
_OF_AGGREGATES = "AIPerf's statistics of several runs: they are read from their own files"
_SLICES_CSV = b"Timeslice,Metric,Unit,"
_SERVER_METRICS = re.compile(
    rb'\{\s*(?:"(?:schema_version|aiperf_version|benchmark_id)"\s*:\s*(?:"[^"]*"|null)\s*,\s*)*'
    rb'"summary"\s*:\s*\{\s*"endpoints_configured"\s*:'
)
_SERVER_METRICS_CSV = re.compile(rb"(?:#[^\n]*\n)*Endpoint,Type,Metric,Unit,")
_SCRAPE_MARKS = (b'"endpoint_url"', b'"endpoint_latency_ns"', b'"timestamp_ns"')
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
        elif found is not None and (found.reason != _OF_AGGREGATES or not failed.labels_in(tree.head(path, _AGGREGATE_BYTES))):
            yield found
    summaries = [file.path for files in folders.values() for file in files if file.role == "summary"]
    restated = restatements(tree, summaries)
    yield from _failed(tree, [file.path for files in folders.values() for file in files])
    for folder in sorted(folders):
        for files in _runs(tree, folders[folder]):
            if all(file.role in _BESIDE for file in files):
                yield from (Unclaimed(file.path, "AIPerf's windows of a run that is not beside them") for file in files)
                continue
            yield _draft(tree, folder, files, [place for file in files for place in restated.get(file.path, ())])


def _failed(tree: Tree, exports: list[str]) -> Iterator[BundleDraft | Unclaimed]:
    """A draft of each file that names failed runs which have no export below the same folder (`profile_runs/run_0003`)."""
    for path, file in tree.files.items():
        if not path.casefold().endswith(".json") or not _AGGREGATE.match(tree.head(path).lstrip()):
            continue
        labels = failed.labels_in(tree.head(path, _AGGREGATE_BYTES))
        above = path.rpartition("/")[0].rpartition("/")[0]
        beside = {export.split("/")[-2] for export in exports if "/" in export and export.startswith(f"{above}/" if above else "")}
        alone = [label for label in labels if label not in beside]
        if alone:
            draft = DraftFile(path.rpartition("/")[2], file, "application/json", failed.AGGREGATE)
            yield BundleDraft((draft,), {failed.FAILED: alone}, runs=tuple(failed.run_id(label) for label in alone))
        elif labels:
            yield Unclaimed(path, _OF_AGGREGATES)


def _file(tree: Tree, path: str) -> _File | Unclaimed | None:
    name = path.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    suffix = suffix.casefold()
    if suffix not in _MEDIA_TYPES:
        return None
    head = tree.head(path)
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(_AGGREGATE_CSV) or _AGGREGATE.match(start):
        return Unclaimed(path, _OF_AGGREGATES)
    if suffix == "csv":
        if start.startswith(_SLICES_CSV) or _SERVER_METRICS_CSV.match(start):
            role = SLICES_CSV if start.startswith(_SLICES_CSV) else SERVER_METRICS_CSV
            return _File(path, role, _ENDING.sub("", stem))
        is_csv = start.startswith(b"Metric,") and _CSV_STATISTIC.search(tree.head(path, _HEAD_BYTES)) is not None
        return _File(path, "csv", _ENDING.sub("", stem)) if is_csv else None
    if not start.startswith(b"{"):
        return None
    if suffix == "jsonl":
        if all(mark in head for mark in _SCRAPE_MARKS):
            return _File(path, SCRAPES, _ENDING.sub("", stem))
        if not _REQUEST_MARK.search(head):
            return None
        is_record = _RECORD_MARK in head
        return _File(path, "records", stem) if is_record else Unclaimed(path, "AIPerf's raw requests: its records are read")
    if _SLICES.match(head) or _SERVER_METRICS.match(start):
        return _File(path, SLICES if _SLICES.match(head) else SERVER_METRICS, _ENDING.sub("", stem))
    if _RAW.search(head):
        return _File(path, "raw", stem)
    return _File(path, "summary", _ENDING.sub("", stem)) if _is_summary(tree, path, head) else None


def _is_summary(tree: Tree, path: str, head: bytes) -> bool:
    if _STEADY_STATE.match(head) or not any(sign in head for sign in _SUMMARY_SIGNS):
        return False
    return _STATISTIC.search(tree.head(path, _HEAD_BYTES)) is not None


def _runs(tree: Tree, files: list[_File]) -> Iterator[list[_File]]:
    by_stem: dict[str, list[_File]] = defaultdict(list)
    detail = [file for file in files if file.role in ("raw", "records") or file.role in _BESIDE]
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
    if file.role in _BESIDE and len({other.path for other in detail if other.role == "records"}) == 1 and not stems:
        return next(other.stem for other in detail if other.role == "records")
    named = [
        stem for stem in stems for other in summaries[stem]
        if other.role == "summary" and name in _PROFILE_FILE.findall(tree.head(other.path, 1 << 20))
    ]
    if len(named) == 1:
        return named[0]
    alone = len(stems) == 1 and len([other for other in detail if other.role == file.role]) == 1
    return stems[0] if alone else file.stem


def _draft(tree: Tree, folder: str, files: list[_File], restated: list[Restatement]) -> BundleDraft:
    above = tree.full_parts(f"{folder}/x" if folder else "x")[-2:-1]
    telling = above[0] if above and _RUN_FOLDER.fullmatch(above[0]) else None
    drafts = []
    for file in sorted(files):
        name = file.path.rpartition("/")[2]
        media = _MEDIA_TYPES[name.rpartition(".")[2].casefold()]
        drafts.append(DraftFile(f"{telling}/{name}" if telling else name, tree.files[file.path], media, file.role))
    numbers: dict[str, list[int]] = {}
    for path, is_list in dict.fromkeys((place.path, place.is_of_list) for place in restated):
        role = LIST if is_list else RECORD
        raw_path = f"{role}/{len(numbers) + 1}/{path.rpartition('/')[2]}"
        numbers[raw_path] = [place.number for place in restated if place.path == path]
        drafts.append(DraftFile(raw_path, tree.files[path], "application/json", role, tuple(numbers[raw_path]), is_restatement=True))
    identity: dict[str, Any] = {"artifact_folder": telling} if telling else {}
    identity |= folders_identity(tree, files[0].path)
    return BundleDraft(files=tuple(drafts), identity=identity | ({RECORDS: numbers} if numbers else {}), runs=(run_id(identity),))


def run_id(identity: Mapping[str, Any], sha256: str = "?") -> str:
    """The run's name: its folder where the tool named it, and the digest of the file that it is read from first. So it is the
    same run with more files of it beside that."""
    names = [identity["artifact_folder"]] if "artifact_folder" in identity else []
    return "/".join(("genai-perf", *names, sha256[:12]))
