"""Cuts a tree into repeat sets: a folder's training logs, its scaling.json, and the platform's system description.

A log is known by its lines: `:::MLLOG` with a key that only training writes. MLPerf Inference's load generator writes the
marker too, in its own namespace. Where logs are named result_N, as the rules have it, all files of such names are the set,
whatever is in them (an empty one is a run that left nothing), and no others (checkers print log lines, too).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

from .layout import Place, is_result_name, may_be_log, order_of, place_of, stem_of

_MARKER = b":::MLLOG"
_TRAINING_LINE = re.compile(
    rb':::MLLOG[^\n]*"key":\s*"(?:submission_\w+|cache_clear|init_start|init_stop|run_start|run_stop|block_start|epoch_start'
    rb'|eval_accuracy|global_batch_size|seed|opt_\w+|tracked_stats)"'
)
_LOADGEN = b'"mlperf::logging"'
_HEAD_BYTES = 4096
_NOISY_HEAD_BYTES = 1 << 20  # of a file named result_N: a job's own noise comes first

UNKNOWN = "?"


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a folder that holds training logs, in the order of paths."""
    folders: dict[str, list[str]] = defaultdict(list)
    for path in tree.files:
        folders[path.rpartition("/")[0]].append(path)
    by_full_parts = {tree.full_parts(path): path for path in tree.files if path.endswith(".json")}
    for folder in sorted(folders):
        logs = _logs(tree, folders[folder])
        if logs:
            place = place_of(tree.full_parts(logs[0])[:-1])
            system = _system_of(place, by_full_parts)
            yield _draft(tree, place, logs, _scaling_of(folders[folder]), system)


def _logs(tree: Tree, paths: list[str]) -> list[str]:
    candidates = [path for path in paths if may_be_log(_name(path))]
    known = [path for path in candidates if _is_training_log(tree, path)]
    if any(is_result_name(_name(path)) for path in known):
        return [path for path in candidates if is_result_name(_name(path))]
    return known


def _is_training_log(tree: Tree, path: str) -> bool:
    head = tree.head(path, _NOISY_HEAD_BYTES if is_result_name(_name(path)) else _HEAD_BYTES)
    return _MARKER in head and _LOADGEN not in head and _TRAINING_LINE.search(head) is not None


def _scaling_of(paths: list[str]) -> str | None:
    return next((path for path in paths if _name(path) == "scaling.json"), None)


def _system_of(place: Place, by_full_parts: dict[tuple[str, ...], str]) -> str | None:
    """The platform's description: by its exact name, else without regard to case."""
    if place.systems is None or place.platform is None:
        return None
    wanted = f"{place.platform}.json"
    if (exact := by_full_parts.get((*place.systems, wanted))) is not None:
        return exact
    same = (
        path for parts, path in sorted(by_full_parts.items())
        if parts[:-1] == place.systems and parts[-1].casefold() == wanted.casefold()
    )
    return next(same, None)


def _draft(tree: Tree, place: Place, logs: list[str], scaling: str | None, system: str | None) -> BundleDraft:
    top = "".join(f"{part}/" for part in place.folders)
    files = [DraftFile(top + _name(path), tree.files[path], "text/plain", "result_log") for path in logs]
    if scaling is not None:
        files.append(DraftFile(top + _name(scaling), tree.files[scaling], "application/json", "scaling"))
    if system is not None:
        raw_path = f"{place.submitter}/systems/{_name(system)}"
        files.append(DraftFile(raw_path, tree.files[system], "application/json", "system"))
    identity = {part: getattr(place, part) for part in ("round", "submitter", "platform", "benchmark")}
    return BundleDraft(
        files=tuple(sorted(files, key=lambda file: file.raw_path)),
        identity=identity,
        runs=tuple(
            f"{repeat_set(identity, UNKNOWN, place.folders)}/{name}"
            for name in result_names([file.raw_path for file in files if file.role == "result_log"]).values()
        ),
    )


def repeat_set(identity: dict[str, str | None], unknown_round: str, folders: tuple[str, ...]) -> str:
    """The set's name: family, round (or its substitute), then folder names verbatim."""
    names = [name for index, name in enumerate(folders) if index != 1]  # without "results"
    return "/".join(("mlperf-training", identity["round"] or unknown_round, *names))


def result_names(raw_paths: list[str]) -> dict[str, str]:
    """Each result file's name in its run's id, in the order of their numbers; the suffix where two differ by it alone."""
    ordered = sorted(raw_paths, key=lambda path: order_of(_name(path)))
    stems = [stem_of(_name(path)) for path in ordered]
    return {path: stem if stems.count(stem) == 1 else _name(path) for path, stem in zip(ordered, stems, strict=True)}


def _name(path: str) -> str:
    return path.rpartition("/")[2]
