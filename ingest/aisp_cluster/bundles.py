"""Finds cluster runs: a folder with their manifest and `structured/`, or files whose names begin with the run's id.

Under raw_paths that are the same in both forms: `structured/RUN_test.json`, `raw/...`, `figures/...`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

MANIFEST, STEPS, STRUCTURED, RAW, FIGURE = "manifest", "suite_steps", "structured", "raw", "figure"
_FOLDERS = frozenset({"structured", "raw", "figures", "reports", "progress"})
_ENDS = ("_manifest.json", "_suite_steps.json")
_MAX_MANIFEST_BYTES = 64 << 20
_STEP = re.compile(rb'\s*\[\s*\{[^{}]*"(?:log_path|exit_code)"\s*:')
_MEDIA_TYPES = {
    "json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv", "txt": "text/plain", "log": "text/plain",
    "tsv": "text/tab-separated-values", "png": "image/png",
}


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a cluster run, in the order of folders and ids."""
    of_folder = defaultdict[str, list[str]](list)
    for path in tree.files:
        of_folder[path.rpartition("/")[0]].append(path)
    homes = {}
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        if name == "manifest.json" and (run := _run_of_manifest(tree, path)):
            homes[folder] = run
    own = defaultdict[str, dict[str, str]](dict)
    for path in tree.files:
        if (home := _home_of(path, homes)) is not None:
            raw_path = path.removeprefix(f"{home}/" if home else "")
            if raw_path == "manifest.json" or raw_path.partition("/")[0] in _FOLDERS:
                own[home][raw_path] = path
    for home, paths_by_raw_path in own.items():
        yield _draft(tree, homes[home], paths_by_raw_path)
    for folder, paths in of_folder.items():
        if _home_of(f"{folder}/" if folder else "", homes) is None:
            for run, names in _flat(tree, folder, paths, of_folder).items():
                yield _draft(tree, run, names)


def _home_of(path: str, homes: Iterable[str]) -> str | None:
    """The innermost folder with a manifest that a path is in."""
    return max((home for home in homes if not home or path.startswith(f"{home}/")), key=len, default=None)


def _run_of_manifest(tree: Tree, path: str) -> str | None:
    if tree.files[path].bytes > _MAX_MANIFEST_BYTES or b'"manifest_version"' not in (data := tree.head(path, _MAX_MANIFEST_BYTES)):
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    run = found.get("run_id") if isinstance(found, dict) else None
    is_ours = isinstance(run, str) and isinstance(found.get("files"), list) and isinstance(found.get("summary"), dict)
    return run if is_ours and run and "/" not in run else None


def _flat(tree: Tree, folder: str, paths: list[str], of_folder: dict[str, list[str]]) -> dict[str, dict[str, str]]:
    """The runs whose files lie side by side in a folder: by id, their files by raw_path. A file is of the longest id that it begins with."""
    ids = set()
    for path in paths:
        name = path.rpartition("/")[2]
        if name.endswith(_ENDS[0]) and _run_of_manifest(tree, path) == name.removesuffix(_ENDS[0]) or (
            name.endswith(_ENDS[1]) and _STEP.match(tree.head(path, 1 << 16))
        ):
            ids.add(name.removesuffix(_ENDS[0]).removesuffix(_ENDS[1]))
    if not ids:
        return {}
    above = folder.rpartition("/")[0] if folder else None
    results = f"{above}/" if above else ""
    cluster = results.removesuffix("results/")
    found = defaultdict[str, dict[str, str]](dict)
    sources = [(path, "structured/" + path.rpartition("/")[2]) for path in paths]
    if above is not None:
        for other, files in of_folder.items():
            for prefix, place in ((f"{results}raw/", "raw/"), (f"{cluster}docs/figures/", "figures/")):
                if f"{other}/".startswith(prefix):
                    sources += [(path, place + path.removeprefix(prefix)) for path in files]
    for path, raw_path in sources:
        named = raw_path.partition("/")[2]
        run = max((each for each in ids if named.startswith(f"{each}_")), key=len, default=None)
        if run is not None:
            found[run][raw_path] = path
    return {run: found[run] for run in sorted(found)}


def _draft(tree: Tree, run: str, paths: dict[str, str]) -> BundleDraft:
    drafts = []
    for raw_path, path in sorted(paths.items()):
        name = raw_path.rpartition("/")[2]
        top = raw_path.partition("/")[0]
        role = (
            MANIFEST if raw_path in ("manifest.json", f"structured/{run}_manifest.json")
            else STEPS if raw_path == f"structured/{run}_suite_steps.json"
            else STRUCTURED if top == "structured" else RAW if top == "raw" else FIGURE if top == "figures" else None
        )
        # A series of samples is another measurement than the test that it was taken during.
        is_sole = role is not None and not (role == RAW and "telemetry" in name)
        drafts.append(DraftFile(raw_path, tree.files[path], _MEDIA_TYPES.get(name.rpartition(".")[2]), role, is_sole=is_sole))
    return BundleDraft(tuple(drafts), {"cluster_run_id": run})
