"""Finds outputs of tools by how they begin. A file is a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

from .tools import TOOLS

_NAMES = re.compile(r"[^.]+|.*\.(?:txt|log|out|json|jsonl|csv)|(?:kern|messages|syslog|dmesg).*", re.IGNORECASE)


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a file."""
    for path, file in tree.files.items():
        name = path.rpartition("/")[2]
        if not _NAMES.fullmatch(name):
            continue
        head = tree.head(path)
        for tool in TOOLS:
            if tool.is_head(head):
                media_type = "application/json" if head.lstrip()[:1] == b"{" else "text/plain"
                yield BundleDraft((DraftFile(name, file, media_type, tool.name),))
                break
