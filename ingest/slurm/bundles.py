"""Finds output of Slurm's commands by what it begins with, whatever the file is named. A file is a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree, Unclaimed

ACCOUNTING, CONTROL, JSON, TABLE = "sacct", "scontrol", "json", "sinfo"
_HEAD_BYTES = 1 << 16
HEADER = re.compile(rb"[A-Za-z]\w*(?:([^\w\s]{1,4})[A-Za-z]\w*)(?:\1[A-Za-z]\w*)+(?:\1)?")
_JOB_COLUMNS = frozenset({b"JobID", b"JobIDRaw"})
_OTHER_COLUMNS = frozenset({b"State", b"Submit", b"Start", b"End", b"Partition", b"Elapsed", b"NodeList", b"ExitCode"})
_CONTROL = re.compile(rb"\s*(?:JobId=\d|NodeName=\S+ (?:Arch|CoresPerSocket|CPUAlloc)|PartitionName=\S+\s+Allow)")
TABLE_HEADER = re.compile(rb"\s*(?:PARTITION\s+AVAIL\b|NODELIST\s+NODES\s+PARTITION\b|HOSTNAMES\s+)", re.ASCII)
_SECTIONS = (
    re.compile(rb'"jobs"\s*:\s*\['), re.compile(rb'"nodes"\s*:\s*\['), re.compile(rb'"sinfo"\s*:\s*\['),
    re.compile(rb'"schedule_cycle_(?:max|last)"\s*:'),
)
# Who wrote it; `meta` is the last key since 23.11, so that a long list's records must do.
_PRODUCER = re.compile(
    rb'"[Ss]lurm"\s*:\s*\{|"(?:association_id|slurmd_version|mcs_label|schedule_cycle_last|allocation_nodes)"\s*:'
)


_NOT_READ = (  # columns that are cut off to a width, and names with blanks, cannot be separated
    (re.compile(rb"\s*JobID(?:Raw)?\s+\S.*\n[\s-]*-{4,}"), "sacct without -P: write it with sacct -P"),
    (re.compile(rb"\s*JOBID\s+PARTITION\s+NAME\s+USER\s"), "squeue as a table: write it with squeue --json"),
)


def cut(tree: Tree) -> Iterator[BundleDraft | Unclaimed]:
    """One draft a file."""
    for path, file in tree.files.items():
        for mark, reason in _NOT_READ:
            if mark.match(tree.head(path, 1024)):
                yield Unclaimed(path, reason)
        if (role := _role(tree, path)) is not None:
            media_type = "application/json" if role == JSON else "text/plain"
            yield BundleDraft((DraftFile(path.rpartition("/")[2], file, media_type, role),))


def delimiter_of(line: bytes) -> bytes | None:
    """What divides the columns of sacct, where a line is its header."""
    found = HEADER.fullmatch(line.strip())
    if found is None:
        return None
    names = set(line.strip().split(found[1]))
    return found[1] if names & _JOB_COLUMNS and names & _OTHER_COLUMNS else None


def _role(tree: Tree, path: str) -> str | None:
    head = tree.head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{"):
        head = tree.head(path, _HEAD_BYTES)
        return JSON if any(mark.search(head) for mark in _SECTIONS) and _PRODUCER.search(head) else None
    if _CONTROL.match(head):
        return CONTROL
    if TABLE_HEADER.match(head):
        return TABLE
    return ACCOUNTING if delimiter_of(head.partition(b"\n")[0]) is not None else None
