"""CSV files that repeat a recognised JSON: what a tool wrote once more for spreadsheets.

No ingestor takes anything from them, and they are not unrecognised either. Each goes into a bundle of its own, of the family
that has the JSON, with the role `twin`: so the JSON's bundle and its runs do not depend on whether a CSV lay beside it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from warehouse.evidence.manifest import Manifest
from warehouse.landing.contract import BundleDraft, DraftFile, Tree

ROLE = "twin"
_JSON_SUFFIXES = (".json", ".jsonl")
_HEAD_BYTES = 1 << 16
_KEY = re.compile(rb'"([^"\\]{1,120})"\s*:')
_LEAST = 2  # columns that are keys of the JSON, too, and half of all columns


def twins(tree: Tree, claims: Iterable[tuple[str, BundleDraft]], leftovers: Iterable[str]) -> Iterator[tuple[str, BundleDraft]]:
    """A bundle for each of the leftover paths that is the twin of a claimed file: a CSV of its folder and name, with columns
    that are mostly its keys."""
    owners = {file.file.path: (family, file) for family, draft in claims for file in draft.files}
    for path in leftovers:
        stem, dot, suffix = path.rpartition(".")
        if f"{dot}{suffix}".casefold() != ".csv":
            continue
        owner = next((owners[stem + other] for other in _JSON_SUFFIXES if stem + other in owners), None)
        if owner is not None and _repeats(tree, path, owner[1].file.path):
            family, of = owner
            file = DraftFile(path.rpartition("/")[2], tree.files[path], "text/csv", ROLE)
            yield family, BundleDraft((file,), identity={"twin_of": of.file.path.rpartition("/")[2]})


def is_twin(manifest: Manifest) -> bool:
    """Whether a bundle has nothing to parse."""
    return all(file.role == ROLE for file in manifest.files)


def _repeats(tree: Tree, path: str, of: str) -> bool:
    try:
        columns = _columns(tree.head(path))
        keys = {_folded(key.decode(errors="replace")) for key in _KEY.findall(tree.head(of, _HEAD_BYTES))}
    except csv.Error:
        return False
    common = sum(_folded(column) in keys for column in columns)
    return common >= _LEAST and 2 * common >= len(columns)


def _columns(head: bytes) -> Sequence[str]:
    """The names in a CSV's first line."""
    first = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace")
    return [column for column in next(csv.reader([first.strip()]), []) if column.strip()]


def _folded(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
