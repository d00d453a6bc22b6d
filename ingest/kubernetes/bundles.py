"""Finds events, nodes and pods that a cluster reported, and listings of events. A file is a bundle.

A manifest that was not applied is not evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree
from warehouse.landing.readers.kubernetes import kinds_of

KINDS = frozenset({"Event", "Node", "Pod"})
OBJECTS, LISTING = "objects", "listing"
HEADER = re.compile(rb"(?m)^(?:NAMESPACE +)?LAST SEEN +TYPE +REASON +OBJECT +[A-Z ]*MESSAGE")
# What only an object of that kind that a cluster reported states: others name these kinds, too, as owners or in what they are about.
_MARKS = {
    "Event": re.compile(rb"""\b(?:involvedObject|regarding)["']?\s*:"""), "Node": re.compile(rb"""\bkubeletVersion["']?\s*:"""),
    "Pod": re.compile(rb"""\b(?:containerStatuses|podIPs?|qosClass)["']?\s*:"""),
}


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a file."""
    for path, file in tree.files.items():
        if (role := _role(tree, path)) is not None:
            yield BundleDraft((DraftFile(path.rpartition("/")[2], file, "text/plain" if role == LISTING else None, role),))


def _role(tree: Tree, path: str) -> str | None:
    if HEADER.search(tree.head(path)):
        return LISTING
    named = KINDS & kinds_of(tree, path)
    head = tree.head(path, 1 << 20) if named else b""
    return OBJECTS if any(_MARKS[kind].search(head) for kind in named) else None
