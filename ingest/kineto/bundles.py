"""Finds traces by their content, and joins those of one job: of one folder, each with a rank, and of the same world size."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

from .names import Named, named
from .unpacked import head, is_packed

_NAME = re.compile(r".*\.json(?:\.gz)?|.*\.trace(?:\.gz)?", re.IGNORECASE)
_EVENTS = b'"traceEvents"'
_KEYS = (b'"schemaVersion"', b'"deviceProperties"', b'"distributedInfo"', b'"baseTimeNanoseconds"')
# Categories that only Kineto writes.
_CATEGORY = re.compile(rb'"cat"\s*:\s*"(?:cpu_op|cuda_runtime|gpu_mem(?:cpy|set)|gpu_user_annotation|user_annotation|ac2g|kernel|Kernel)"')
_RANK = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*?"rank"\s*:\s*"?(\d{1,9})\b')
_WORLD_SIZE = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*?"world_size"\s*:\s*"?(\d{1,9})\b')
_HEAD_BYTES = 1 << 16


class _Trace(NamedTuple):
    path: str
    named: Named
    has_rank: bool
    world_size: bytes | None


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a job."""
    jobs = defaultdict[tuple[str, bytes | None, str], list[_Trace]](list)
    for path in tree.files:
        if _NAME.fullmatch(path) and (found := _recognised(tree, path)) is not None:
            alone = "" if found.has_rank else path
            jobs[found.named.folder, found.world_size, alone].append(found)
    for (folder, _, alone), traces in sorted(jobs.items(), key=lambda job: (job[0][0], job[0][1] or b"", job[0][2])):
        prefix = f"{folder}/" if folder else ""
        files = tuple(
            DraftFile(trace.path.removeprefix(prefix), tree.files[trace.path], _media_type(trace.path), "trace") for trace in traces
        )
        yield BundleDraft(files, {"job": _job(tree, folder, alone)}, runs=("?",))


def _recognised(tree: Tree, path: str) -> _Trace | None:
    packed = tree.head(path, _HEAD_BYTES)
    if is_packed(packed) != path.casefold().endswith(".gz"):
        return None
    text = head(packed, _HEAD_BYTES)
    keys = sum(key in text for key in _KEYS)
    if not text.lstrip().startswith(b"{") or not (keys > 1 or (_EVENTS in text and (keys or _CATEGORY.search(text)))):
        return None
    name, world_size = named(path), _WORLD_SIZE.search(text)
    has_rank = name.rank is not None or _RANK.search(text) is not None
    return _Trace(path, name, has_rank, world_size[1] if world_size else None)


def _media_type(path: str) -> str:
    return "application/gzip" if path.casefold().endswith(".gz") else "application/json"


def _job(tree: Tree, folder: str, alone: str) -> str:
    """The name of the job's folder; of a trace by itself its own, too, without what differs from one capture to the next."""
    parts = tree.full_parts(f"{folder}/x" if folder else "x")
    above = parts[-2] if len(parts) > 1 and parts[-2] != "/" else "trace"
    return f"{above}/{alone.rpartition('/')[2].partition('.')[0]}" if alone else above
