"""Finds runs of MLflow by their `meta.yaml`, and reports of perf.py by their keys, whatever they are named."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

META, EXPERIMENT, PARAM, TAG, METRIC, REPORT = "meta", "experiment", "param", "tag", "metric", "perf_report"
_META = "meta.yaml"
_RUN_KEYS = (re.compile(rb"^run_(?:id|uuid):", re.MULTILINE), re.compile(rb"^artifact_uri:", re.MULTILINE))
_REPORT_START = re.compile(rb'\s*\{\s*"[0-9]{1,9}"\s*:\s*\[')
_REPORT_KEY = b'"cpu_pct_per_cpu_avg"'
_FOLDERS = {"params": PARAM, "tags": TAG, "metrics": METRIC}
_LONGEST_REPORT = 64 << 20


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a run; one a report that is no artifact of a run here."""
    folders = {path.removesuffix(_META) for path in tree.files if path.rpartition("/")[2] == _META and _is_run(tree, path)}
    files: dict[str, list[DraftFile]] = {folder: [] for folder in folders}
    reports = {path for path in tree.files if path.endswith(".json") and _is_report(tree, path)}
    artifacts = set()
    for path in tree.files:
        folder, part, name = _placed(path, folders)
        if folder is None:
            continue
        if part == _META and not name:
            files[folder].append(DraftFile(_META, tree.files[path], "application/yaml", META))
        elif part in _FOLDERS and name:
            files[folder].append(DraftFile(f"{part}/{name}", tree.files[path], "text/plain", _FOLDERS[part]))
        elif part == "artifacts" and path in reports:
            files[folder].append(DraftFile(f"{part}/{name}", tree.files[path], "application/json", REPORT))
            artifacts.add(path)
    for folder, found in files.items():
        experiment = f"{folder[:-1].rpartition('/')[0]}/{_META}"
        if experiment in tree.files and not _is_run(tree, experiment):
            found.append(DraftFile("experiment.yaml", tree.files[experiment], "application/yaml", EXPERIMENT))
        name = folder[:-1].rpartition("/")[2]
        yield BundleDraft(tuple(found), {"run": name} if name else {}, runs=(name or "?",))
    for path in sorted(reports - artifacts):
        same = next((other for other in sorted(artifacts) if _is_same(tree, path, other)), None)
        if same is not None:
            yield Unclaimed(path, f"a copy of an artifact of a run: {same}")
        else:
            yield BundleDraft((DraftFile(path.rpartition("/")[2], tree.files[path], "application/json", REPORT),), runs=("?",))


def _is_run(tree: Tree, path: str) -> bool:
    return all(key.search(tree.head(path)) for key in _RUN_KEYS)


def _is_report(tree: Tree, path: str) -> bool:
    head = tree.head(path)
    return _REPORT_KEY in head and _REPORT_START.match(head) is not None


def _placed(path: str, folders: set[str]) -> tuple[str | None, str, str]:
    """The run's folder that a path is in, the part of it, and the rest of the path; no folder for a path outside of all."""
    parts = path.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        folder = "".join(f"{part}/" for part in parts[:depth])
        if folder in folders:
            return folder, parts[depth], "/".join(parts[depth + 1 :])
    return None, "", ""


def _is_same(tree: Tree, path: str, other: str) -> bool:
    size = tree.files[path].bytes
    return size == tree.files[other].bytes <= _LONGEST_REPORT and tree.head(path, size) == tree.head(other, size)
