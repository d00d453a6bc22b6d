"""Finds traces by their outermost key. The files of a folder are a bundle."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"resourceSpans"\s*:\s*\[')


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a folder."""
    folders = defaultdict[str, list[DraftFile]](list)
    for path, file in tree.files.items():
        if _START.match(tree.head(path, 256)):
            folder, _, name = path.rpartition("/")
            folders[folder].append(DraftFile(name, file, "application/json", "traces"))
    for folder in sorted(folders):
        yield BundleDraft(tuple(folders[folder]))
