"""Cuts a tree into repeat sets: a folder's training logs, its scaling.json, and the platform's system description.

A log is known by its lines: `:::MLLOG` with a key that only training writes. MLPerf Inference's load generator writes the
marker too, in its own namespace. Where logs are named result_*.txt, as the owner's tools read them, these are the set and no others (checkers
print log lines, too): numbered ones whatever is in them (an empty one is a run that left nothing). A job's own noise may come first, of any
length.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

from .layout import HPC, TRAINING, Place, is_below_a_set, is_numbered, is_result_name, may_be_log, order_of, place_of, stem_of

_MARKER = b":::MLLOG"
_TRAINING_LINE = re.compile(
    rb':::MLLOG[^\n]*"key":\s*"(?:submission_\w+|cache_clear|init_start|init_stop|run_start|run_stop|block_start|epoch_start'
    rb'|eval_accuracy|global_batch_size|seed|opt_\w+|tracked_stats)"'
)
_LOADGEN = b'"mlperf::logging"'
_HEAD_BYTES = 1 << 16  # of a file of another name
_CHUNK_BYTES, _LINE_BYTES = 1 << 20, 1 << 16
_POWER_FILE = re.compile(r"(node|sw)_.*\.txt")

UNKNOWN = "?"


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a folder that holds training logs, in the order of paths; then the logs that lie below one."""
    folders: dict[str, list[str]] = defaultdict(list)
    for path in tree.files:
        folders[path.rpartition("/")[0]].append(path)
    by_full_parts = {tree.full_parts(path): path for path in tree.files if path.endswith(".json")}
    put_aside: list[str] = []
    for folder in sorted(folders):
        logs = _logs(tree, folders[folder])
        if not logs:
            continue
        parts = tree.full_parts(logs[0])[:-1]
        if is_below_a_set(parts):
            put_aside += logs
            continue
        place = place_of(parts)
        yield _draft(tree, place, logs, _scaling_of(folders[folder]), _system_of(place, by_full_parts), _power_of(folder, logs, folders))
    for path in put_aside:
        yield Unclaimed(path, "it lies below a benchmark's folder: the results are the files in that folder itself")


def _logs(tree: Tree, paths: list[str]) -> list[str]:
    candidates = [path for path in paths if may_be_log(_name(path))]
    known = [path for path in candidates if _is_training_log(tree, path)]
    if any(is_result_name(_name(path)) for path in known):
        return [path for path in candidates if is_numbered(_name(path)) or (path in known and is_result_name(_name(path)))]
    return known


def _is_training_log(tree: Tree, path: str) -> bool:
    parts = _parts(tree, path) if is_result_name(_name(path)) else (tree.head(path, _HEAD_BYTES),)
    for part in parts:
        if _MARKER in part and _LOADGEN in part:
            return False
        if _MARKER in part and _TRAINING_LINE.search(part):
            return True
    return False


def _parts(tree: Tree, path: str) -> Iterator[bytes]:
    """A file in parts, each with the last bytes of the one before; none of a file that cannot be read, which the ingest reports."""
    try:
        with open(tree.files[path].source, "rb") as stream:
            before = b""
            while part := stream.read(_CHUNK_BYTES):
                yield before + part
                before = part[-_LINE_BYTES:]
    except OSError:
        return


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


def _power_of(folder: str, logs: list[str], folders: dict[str, list[str]]) -> list[str]:
    """The power logs of a set's runs: power/result_N/node_*.txt and sw_*.txt."""
    top = f"{folder}/" if folder else ""
    return [
        path for log in logs for path in folders.get(f"{top}power/{stem_of(_name(log))}", ()) if _POWER_FILE.fullmatch(_name(path))
    ]


def _draft(tree: Tree, place: Place, logs: list[str], scaling: str | None, system: str | None, power: list[str]) -> BundleDraft:
    top = "".join(f"{part}/" for part in place.folders)
    files = [DraftFile(top + _name(path), tree.files[path], "text/plain", "result_log") for path in logs]
    if scaling is not None:
        files.append(DraftFile(top + _name(scaling), tree.files[scaling], "application/json", "scaling"))
    if system is not None:
        raw_path = f"{place.submitter}/systems/{_name(system)}"
        files.append(DraftFile(raw_path, tree.files[system], "application/json", "system"))
    for path in power:
        raw_path = top + "/".join(path.split("/")[-3:])
        files.append(DraftFile(raw_path, tree.files[path], "text/plain", f"power_{_name(path).partition('_')[0]}"))
    identity = {part: getattr(place, part) for part in ("round", "submitter", "platform", "benchmark")}
    if place.usage == HPC:
        identity["usage"] = HPC
    return BundleDraft(
        files=tuple(sorted(files, key=lambda file: file.raw_path)),
        identity=identity,
        runs=tuple(
            f"{repeat_set(identity, UNKNOWN, place.folders)}/{name}"
            for name in result_names([file.raw_path for file in files if file.role == "result_log"]).values()
        ),
    )


def repeat_set(identity: dict[str, str | None], unknown_round: str, folders: tuple[str, ...]) -> str:
    """The set's name: usage, round (or its substitute), then folder names verbatim."""
    names = [name for index, name in enumerate(folders) if index != 1]  # without "results"
    return "/".join((f"mlperf-{identity.get('usage') or TRAINING}", identity["round"] or unknown_round, *names))


def result_names(raw_paths: list[str]) -> dict[str, str]:
    """Each result file's name in its run's id, in the order of their numbers; the suffix where two differ by it alone."""
    ordered = sorted(raw_paths, key=lambda path: order_of(_name(path)))
    stems = [stem_of(_name(path)) for path in ordered]
    return {path: stem if stems.count(stem) == 1 else _name(path) for path, stem in zip(ordered, stems, strict=True)}


def _name(path: str) -> str:
    return path.rpartition("/")[2]
