"""Finds logs of nvidia-smi by their root element. A file is a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)?<nvidia_smi_log\b", re.DOTALL)


# What the driver or a library complains of before its log.
_NOISE = re.compile(rb"(?:[^<\n][^\n]*\n|\n){1,50}(?=<\?xml)")
_NOISY = re.compile(r"[^.]+|.*\.(?:xml|txt|log|out)", re.IGNORECASE)


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a file."""
    for path, file in tree.files.items():
        name, head = path.rpartition("/")[2], tree.head(path)
        noise = _NOISE.match(head) if _NOISY.fullmatch(name) else None
        if _HEAD.match(head, noise.end() if noise else 0):
            yield BundleDraft((DraftFile(name, file, "application/xml", "log"),))
