"""Cuts a tree into campaigns and stacks: each is its JSON file, recognised by the marker that it opens with, and what lies beside a stack's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

CAMPAIGN, CHOICE, STACK, LOCK = "campaign.json", "choice.json", "stack.json", "pylock.toml"
_KINDS = ((CAMPAIGN, b"campaign"), (CHOICE, b"campaign-choice"), (STACK, b"stack"))
_MARKERS = {name: re.compile(rb'\s*\{\s*"format"\s*:\s*"warehouse-' + kind + b'"') for name, kind in _KINDS}
_BESIDE = ((LOCK, "application/toml"), ("resolve.log", "text/plain"), ("build.log", "text/plain"))


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """The campaigns and stacks in a tree."""
    for path, file in tree.files.items():
        folder, slash, name = path.rpartition("/")
        if name not in _MARKERS or not _MARKERS[name].match(tree.head(path)):
            continue
        files = [DraftFile(name, file, "application/json", name.removesuffix(".json"))]
        if name == STACK:
            beside = ((other, kind, tree.files.get(f"{folder}{slash}{other}")) for other, kind in _BESIDE)
            files += [DraftFile(other, found, kind, other.partition(".")[2] if other != LOCK else "lock") for other, kind, found in beside if found]
        yield BundleDraft(tuple(files))
