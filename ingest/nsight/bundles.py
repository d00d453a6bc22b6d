"""Finds profiles by the header of their tables; a file is a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

NCU, NSYS = "ncu", "nsys"
NCU_HEADER = re.compile(rb'(?m)^(?:\xef\xbb\xbf)?"ID","Process ID","Process Name",(?:"[^"\n]*",)*"Kernel Name",')
NSYS_HEADER = re.compile(  # mpi_event_sum has these columns and Source
    rb'(?m)^(?:\xef\xbb\xbf)?(?![^\n]*,"?Source"?,)"?Time ?\(%\)"?,"?Total Time(?: \([a-z]+\))?"?,"?Instances"?,[^\n]*'
    rb'(?<![^",])(?:Name|Operation)"?\r?$'
)
_NAME = re.compile(r".*\.(?:csv|txt|log|out)|[^.]+", re.IGNORECASE | re.DOTALL)
_HEAD_BYTES = 1 << 18  # a program may print before its first kernel is measured


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a profile."""
    for path, file in tree.files.items():
        if _NAME.fullmatch(path.rpartition("/")[2]):
            head = tree.head(path, _HEAD_BYTES)
            role = NCU if NCU_HEADER.search(head) else NSYS if NSYS_HEADER.search(head) else None
            if role is not None:
                name = path.rpartition("/")[2]
                yield BundleDraft((DraftFile(name, file, "text/csv", role),), {"profile": name.partition(".")[0] or name}, runs=("?",))
