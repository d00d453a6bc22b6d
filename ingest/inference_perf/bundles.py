"""Cuts a tree into runs: the reports of one folder, with the configuration and the manifests that tell of them.

The tool writes all reports of a run into one folder, under a prefix of the user's. Manifests lie there or one folder up.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.serving.path_names import folders_identity

_REPORT = re.compile(
    r"(?P<prefix>.*?)(?P<point>stage_\d+|summary|per_request)_(?P<kind>lifecycle|prometheus|session_lifecycle)_metrics"
    r"\.(?:json|ya?ml)",
    re.IGNORECASE,
)
# Of a run with several LoRA adapters, what each of them served: parts of what the other reports say.
_ADAPTER = re.compile(r"(?P<prefix>.*?)(?P<point>adapter_.+)_lifecycle_metrics\.(?:json|ya?ml)", re.IGNORECASE)
_DATA_SUFFIXES = (".json", ".yaml", ".yml")
_LIFECYCLE = re.compile(rb'(?:^|[{,\s])"?load_summary"?\s*:')
_CONFIG = re.compile(rb"^(?:load|server|api)\s*:", re.MULTILINE)
_MANIFEST_MARKS = (b"apiVersion:", b"kind:")
_WORKLOAD_KIND = re.compile(
    rb"^\s*kind:\s*(?:Deployment|StatefulSet|DaemonSet|Pod|Job|LeaderWorkerSet|InferenceService|ReplicaSet)\s*$", re.MULTILINE
)
_REPORTS_FOLDER = re.compile(r"reports-\d{8}-\d{6}.*")


class Report(NamedTuple):
    """A report by its name: the point it is of, and what it reports."""

    point: str
    role: str


class _Run(NamedTuple):
    folder: str
    name: str  # the prefix, or the file's own name where it has none of the tool's names


def report_of(name: str) -> Report | None:
    """What a file is by its name; None: not by one of the tool's own names."""
    match = _REPORT.fullmatch(name)
    if match is None:
        return None
    point, kind = match["point"].casefold(), match["kind"].casefold()
    return Report(point, "requests" if point == "per_request" else kind)


def adapter_of(name: str) -> str | None:
    """What a report on an adapter is of, by its name: the adapter, or the adapter and a stage."""
    match = _ADAPTER.fullmatch(name)
    return match["point"] if match else None


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a run, in the order of its folder and prefix."""
    runs: dict[_Run, list[tuple[str, str]]] = defaultdict(list)
    yaml_files: dict[str, list[str]] = defaultdict(list)  # by folder
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        if not name.casefold().endswith(_DATA_SUFFIXES):
            continue
        if not name.casefold().endswith(".json"):
            yaml_files[folder].append(path)
        match = _REPORT.fullmatch(name)
        adapter = _adapter_match(tree, folder, name)
        if adapter is not None:
            runs[_Run(folder, adapter["prefix"])].append((path, "adapter"))
        elif match is not None:
            if _is_report(tree, path, match["kind"].casefold(), match["point"].casefold()):
                report = report_of(name)
                assert report
                runs[_Run(folder, match["prefix"])].append((path, report.role))
        elif _is_lifecycle(tree, path):
            runs[_Run(folder, f"/{name}")].append((path, "lifecycle"))
    for run in sorted(runs):
        yield _draft(tree, run, runs[run], yaml_files)


def _adapter_match(tree: Tree, folder: str, name: str) -> re.Match[str] | None:
    """The name of a report on an adapter: its run's summary lies beside it. Else the word is of the user's prefix."""
    match = _ADAPTER.fullmatch(name)
    beside = (f"{match['prefix']}summary_lifecycle_metrics{suffix}" for suffix in _DATA_SUFFIXES) if match else ()
    return match if any((f"{folder}/{other}" if folder else other) in tree.files for other in beside) else None


def _is_report(tree: Tree, path: str, kind: str, point: str) -> bool:
    head = tree.head(path)
    if point == "per_request":
        return not head.strip() or head.lstrip().startswith(b"[")
    return kind == "session_lifecycle" or bool(_LIFECYCLE.search(head))


def _is_lifecycle(tree: Tree, path: str) -> bool:
    head = tree.head(path)
    return bool(_LIFECYCLE.search(head)) and b"schedule_delay" in head and b"failures" in tree.head(path, 1 << 16)


def _draft(
    tree: Tree, run: _Run, reports: list[tuple[str, str]], yaml_files: Mapping[str, list[str]]
) -> BundleDraft:
    above = run.folder.rpartition("/")[0]
    here = [item for item in _documents(tree, yaml_files.get(run.folder, [])) if item[0] not in dict(reports)]
    outside = [
        item for item in ([] if here or not run.folder else _documents(tree, yaml_files.get(above, []))) if item[1] == "manifest"
    ]
    depth = 2 if outside else 1  # levels of folders that tell of the run
    files = []
    for path, role in [*reports, *here, *outside]:
        parts = tree.full_parts(path)
        levels = depth if path not in dict(outside) else depth - 1
        media = "application/json" if path.casefold().endswith(".json") else "application/yaml"
        files.append(DraftFile("/".join(parts[-levels - 1 :]), tree.files[path], media, role))
    folders = tree.full_parts(f"{run.folder}/x" if run.folder else "x")[:-1]
    experiment = next(
        (name for name in folders[-1:] if _REPORTS_FOLDER.fullmatch(name)), folders[-2] if outside and len(folders) > 1 else None
    )
    identity: dict[str, Any] = {key: value for key, value in (("experiment", experiment), ("prefix", run.name.strip("/"))) if value}
    identity |= folders_identity(tree, reports[0][0])
    return BundleDraft(
        files=tuple(sorted(files, key=lambda file: file.raw_path)), identity=identity, runs=(run_id(identity),)
    )


def _documents(tree: Tree, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Configurations and manifests among the YAML files of a folder."""
    for path in paths:
        head = tree.head(path, 1 << 16)
        if all(mark in head for mark in _MANIFEST_MARKS) and _WORKLOAD_KIND.search(head):
            yield path, "manifest"
        elif len(set(_CONFIG.findall(head))) >= 2 and not _LIFECYCLE.search(head):
            yield path, "config"


def run_id(identity: Mapping[str, Any], manifest_digest: str = "?") -> str:
    """The run's name: the experiment's folder and the prefix where there are any, and the digest of its evidence."""
    names = [identity[key] for key in ("experiment", "prefix") if key in identity]
    return "/".join(("inference-perf", *names, manifest_digest[:12]))
