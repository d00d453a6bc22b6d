"""What the folders above a log tell, and so which of them its path keeps.

Three layouts tell: that of nccl-tests-cluster (`<cluster>/nccl-benchmark-results/pairwise/runs/<id>/…`), folders that are
named by a time or a job, and folders that are named by a host. Any other folder is where somebody put the files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_KINDS = frozenset({"pairwise", "single-node", "multi-node", "smoke"})
_RESULTS = re.compile(r"nccl-(?:benchmarks?-results|tests-pairs)")
_TIME = re.compile(
    r"(?:\w+[-_.])?\d{4}-?\d\d-?\d\d(?:[-_T.]?\d\d[-_:.]?\d\d(?:[-_:.]?\d\d)?)?Z?(?:[-_.]\w+)?|(?:job|run)[-_.]?\d+|\d{4,}"
)
# A host's name ends in a number of two digits or after a hyphen (gpu01, cnode3-002, login-1), or is a Cray's (x3200c0s25b0n0).
_HOST = re.compile(r"[A-Za-z]+(?:\d*-[A-Za-z]*)*(?:\d\d+|(?<=-)\d)|x\d+c\d+s\d+b\d+n\d+")
# nccl-tests-cluster names its logs by nodes, GPUs a node and, below a dozen nodes, the nodes themselves.
_FILE = re.compile(r"(?P<prefix>.*)_N(?P<nodes>\d{1,6})_G\d{1,6}(?:_(?P<names>[^.]+?))?(?P<debug>_debug)?\.log", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """A file's place: the telling end of its path, the cluster where a folder names it, and whether the path identifies
    the run on any machine (it has a cluster and a time or job)."""

    raw_path: str
    cluster: str | None
    is_identity: bool


@dataclass(frozen=True)
class FileName:
    """What the name of a campaign's log states; all logs of a campaign begin with its `prefix`."""

    prefix: str
    node_count: int
    nodes: tuple[str, ...]
    is_debug_log: bool


def place_of(parts: Sequence[str]) -> Place:
    """The place of a file, from all parts of its path, those above the tree included."""
    parts = list(parts)
    if len(parts) > 1 and parts[-1] == parts[-2]:  # a tree of a single file
        parts.pop()
    folders = parts[:-1]
    start, cluster = _campaign(folders)
    if start is None:
        start = len(folders)
        while start and (_TIME.fullmatch(folders[start - 1]) or _is_host(folders[start - 1])):
            start -= 1
    kept = folders[start:]
    is_identity = cluster is not None and any(_TIME.fullmatch(folder) for folder in kept)
    return Place("/".join([*kept, parts[-1]]), cluster, is_identity)


def file_name(name: str) -> FileName | None:
    """What a campaign's file name states; None for any other name."""
    found = _FILE.fullmatch(name)
    if found is None:
        return None
    names = tuple(token for token in (found["names"] or "").split("_") if token)
    return FileName(found["prefix"], int(found["nodes"]), names, found["debug"] is not None)


def _campaign(folders: list[str]) -> tuple[int | None, str | None]:
    """Where the campaign's folders begin, and its cluster."""
    for index in range(len(folders) - 1, -1, -1):
        if _RESULTS.fullmatch(folders[index]):
            return (index - 1, folders[index - 1]) if index else (index, None)
    kind = next((index for index in range(len(folders) - 1, -1, -1) if folders[index] in _KINDS), None)
    if kind is None or not (set(folders[kind + 1 :]) & {"runs", "logs", "with-debug", "without-debug"}):
        return None, None
    if kind > 1 and folders[kind - 2] == "benchmarks":
        return kind - 1, folders[kind - 1]
    return kind, None


def _is_host(folder: str) -> bool:
    return len(folder) <= 64 and not folder.startswith("tmp") and bool(_HOST.fullmatch(folder))
