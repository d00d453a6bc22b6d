"""Why a file that no ingestor takes is not evidence, where its first bytes say so."""

from __future__ import annotations

import json
import re

from warehouse.evidence.archives import is_archive
from warehouse.evidence.tree import Tree
from warehouse.landing.described.forms.nodes import MAX_DEPTH

_LFS = re.compile(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/v\d")
_ANNEX = re.compile(rb"/annex/objects/\S+\s*\Z")
_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html)\b", re.IGNORECASE | re.DOTALL)
_RESULTS = (".json", ".jsonl", ".csv")  # names of files that should not be empty
_ARCHIVES = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\xfd7zXZ\0", b"BZh")
_BINARY = (  # what else has no text, by its first bytes
    (b"SQLite format 3\0", "a SQLite database: export its rows as CSV or JSON"), (b"PAR1", "a Parquet file: export its rows as CSV or JSON"),
    (b"ARROW1", "an Arrow file: export its rows as CSV or JSON"), (b"\x89HDF\r\n", "an HDF5 file: export its numbers as CSV or JSON"),
    (b"\x93NUMPY", "an array of NumPy: export its numbers as CSV or JSON"), (b"\x80\x04\x95", "a pickle of Python, which is not opened"),
    (b"PERFILE2", "perf.data: `perf stat -j` or `perf script` write text"), (b"%PDF-", "a PDF"),
    (b"\xff\xfe", "a text in UTF-16: save it in UTF-8"), (b"\xfe\xff", "a text in UTF-16: save it in UTF-8"),
)
_POINTER_BYTES = 1024
_JSON = (".json", ".jsonl")
_BLANK, _BEGINS = b"\xef\xbb\xbf \t\r\n", (b"{", b"[")
_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_BREAKS_OFF = "the JSON breaks off: copy the whole file"
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
    if head.startswith(_ARCHIVES) or is_archive(name):
        return "an archive that is not opened: unpack it and ingest the folder"
    if (found := next((what for start, what in _BINARY if head.startswith(start)), None)) is not None:
        return found
    if b"\0" in head and name.endswith(_RESULTS):
        return "binary data, not text: copy the file again, or unpack it"
    if not name.endswith(_JSON):
        return None
    return _too_deep(tree.head(path, _WHOLE_BYTES)) or (_json_fault(tree, path, size) if name.endswith(".json") else None)


def _too_deep(data: bytes) -> str | None:
    """Where a JSON document is nested deeper than is read: what follows is not looked at, so nothing can be said to lack."""
    depth = 0
    for found in _BRACKET.finditer(data) if data.lstrip(_BLANK)[:1] in _BEGINS else ():
        depth += found[0] in b"[{"
        depth -= found[0] in b"]}"
        if depth > MAX_DEPTH + 1:  # as the levels of the document's values are counted
            line, column = data.count(b"\n", 0, found.start()) + 1, found.start() - data.rfind(b"\n", 0, found.start())
            return f"nested too deeply: more than {MAX_DEPTH} levels at line {line}, column {column}"
    return None


def _json_fault(tree: Tree, path: str, size: int) -> str | None:
    """What is wrong with a JSON document; of a large one only whether it ends as one does."""
    if size > _WHOLE_BYTES and tree.head(path).lstrip(_BLANK)[:1] in _BEGINS:
        return None if tree.tail(path).rstrip()[-1:] in (b"}", b"]") else _BREAKS_OFF
    text = tree.head(path, _WHOLE_BYTES).decode("utf-8-sig", errors="replace").rstrip()
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":  # several documents, as JSON lines are
            return None
        is_cut = error.pos >= len(text) or error.msg.startswith("Unterminated string")
        return _BREAKS_OFF if is_cut else f"not valid JSON: line {error.lineno}, column {error.colno}: {error.msg.lower()}"
    except (RecursionError, ValueError):  # too deep, or a number of too many digits
        return None
    return None
