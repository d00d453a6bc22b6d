"""Finds logs of nvidia-smi by their root element. A file is a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.landing.contract import BundleDraft, DraftFile, Tree

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)?<nvidia_smi_log\b", re.DOTALL)


def cut(tree: Tree) -> Iterator[BundleDraft]:
    """One draft a file."""
    for path, file in tree.files.items():
        if _HEAD.match(tree.head(path)):
            yield BundleDraft((DraftFile(path.rpartition("/")[2], file, "application/xml", "log"),))
