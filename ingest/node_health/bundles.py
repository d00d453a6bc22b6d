"""Finds captures and manifests by their keys. Those of a folder are a bundle, so that they can be compared."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

CAPTURE, MANIFEST = "capture", "manifest"
_MARKS = (
    (CAPTURE, re.compile(rb'\s*\{\s*"(?:intf_status|link_speed|phys_macaddr|intf_ifcfg)"\s*:')),
    (CAPTURE, re.compile(rb'\s*\{\s*"/sys/(?:class|bus)/[^"]*"\s*:\s*"')),
    (MANIFEST, re.compile(rb'\s*\{\s*"pci"\s*:\s*\{\s*"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F.]{4}"\s*:\s*\{')),
)


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a folder."""
    folders: dict[str, list[DraftFile]] = defaultdict(list)
    for path, file in tree.files.items():
        if not path.endswith(".json"):
            continue
        head = tree.head(path)
        for role, mark in _MARKS:
            if mark.match(head):
                folder, _, name = path.rpartition("/")
                folders[folder].append(DraftFile(name, file, "application/json", role))
                break
    for files in folders.values():
        yield BundleDraft(tuple(files))
