"""Cuts a tree into documents, each a bundle of its own: recognised by the keys that its format demands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

CYCLONEDX, SPDX, OSV = "cyclonedx.json", "spdx.json", "osv.json"
_BY_KEY = (
    (CYCLONEDX, re.compile(rb'"bomFormat"\s*:\s*"CycloneDX"')), (SPDX, re.compile(rb'"spdxVersion"\s*:\s*"SPDX-2')),
    # An entry has both keys, and `affected` may lie behind what the head holds. Tried from the beginning alone: from everywhere takes the square.
    (OSV, re.compile(
        rb'(?s)\A(?=.*"id"\s*:\s*"[A-Z][A-Za-z]*-)(?=.*"modified"\s*:\s*")(?=.*"(?:schema_version|affected|aliases|database_specific)"\s*:)'
    )),
)


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """The documents in a tree."""
    for path, file in tree.files.items():
        if not path.endswith(".json"):
            continue
        head = tree.head(path)
        kind = next((kind for kind, pattern in _BY_KEY if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and pattern.search(head)), None)
        if kind:
            yield BundleDraft((DraftFile(kind, file, "application/json", kind.removesuffix(".json")),))
