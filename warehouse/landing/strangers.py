"""Why a file that no ingestor takes is not evidence, where its first bytes say so."""

from __future__ import annotations

import re

from warehouse.evidence.tree import Tree

_LFS = re.compile(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/v\d")
_ANNEX = re.compile(rb"/annex/objects/\S+\s*\Z")
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL)
_RESULTS = (".json", ".jsonl", ".csv")  # names of files that should not be empty
_POINTER_BYTES = 1024
_WHOLE_BYTES = 1 << 20  # of a JSON that is looked at to its end


def reason_of(tree: Tree, path: str) -> str | None:
    """What the file is instead, in a few words; None if nothing shows it."""
    size = tree.files[path].bytes
    name = path.rpartition("/")[2].casefold()
    if not size:
        return "the file is empty" if name.endswith(_RESULTS) else None
    head = tree.head(path)
    if size <= _POINTER_BYTES and _LFS.match(head):
        return "a Git LFS pointer: fetch the file itself with git lfs pull"
    if size <= _POINTER_BYTES and _ANNEX.search(head):
        return "a git-annex pointer: fetch the file itself with git annex get"
    if _HTML.match(head) and not name.endswith((".html", ".htm")):
        return "an HTML page, as a failed download leaves one"
    if name.endswith(".json") and size <= _WHOLE_BYTES and head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        text = tree.head(path, _WHOLE_BYTES).rstrip()
        return None if text[-1:] in (b"}", b"]") else "the JSON breaks off: copy the whole file"
    return None
