"""Runs one ingestor on files without a warehouse: what it would cut, store and land."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft, Ingestor
from warehouse.landing.rows import ISSUE_SCHEMA, decoded_schema

INGESTORS = Path(__file__).resolve().parents[1] / "ingest"
Rows = dict[str, list[dict[str, Any]]]


def load(name: str) -> Ingestor:
    """The ingestor in `ingest/NAME/`, by itself."""
    package = INGESTORS / name
    unique = f"landed_{name}"
    location = [str(package)]
    spec = importlib.util.spec_from_file_location(unique, package / "__init__.py", submodule_search_locations=location)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    spec.loader.exec_module(module)
    return module.INGESTOR


def drafts(ingestor: Ingestor, path: Path) -> list[BundleDraft]:
    return [found for found in ingestor.bundles(list_tree(path)) if isinstance(found, BundleDraft)]


def stored(ingestor: Ingestor, draft: BundleDraft, folder: Path, contents: dict[str, bytes] | None = None) -> Bundle:
    """The draft as the store would hold it; `contents` by raw_path stand for those of its files."""
    files = []
    for file in draft.files:
        data = (contents or {}).get(file.raw_path, file.file.source.read_bytes())
        (folder / file.raw_path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.raw_path).write_bytes(data)
        files.append(ManifestFile(file.raw_path, len(data), bytes_digest(data), file.media_type, file.role))
    manifest = Manifest(ingestor.name, tuple(files), draft.identity, draft.source)
    return Bundle(manifest.digest, manifest, lambda file: folder / file.raw_path)


def parsed(ingestor: Ingestor, bundle: Bundle) -> Rows:
    """All landing rows; every batch has its table's schema, and every range lies in its file."""
    schemas = {**ingestor.tables, ISSUE_TABLE: ISSUE_SCHEMA}
    rows: Rows = {name: [] for name in schemas}
    for table, batch in ingestor.parse(bundle):
        assert decoded_schema(batch.schema) == schemas[table]
        batch.validate(full=True)
        rows[table] += batch.to_pylist()
    for row in (row for table in rows.values() for row in table):
        size = bundle.manifest.by_path[row["raw_path"]].bytes
        assert 0 <= row["raw_offset"] <= row["raw_offset"] + row["raw_length"] <= size
    return rows


def landed(ingestor: Ingestor, path: Path, folder: Path) -> Rows:
    """The rows of all bundles in a tree."""
    rows: Rows = {name: [] for name in (*ingestor.tables, ISSUE_TABLE)}
    for number, draft in enumerate(drafts(ingestor, path)):
        for table, found in parsed(ingestor, stored(ingestor, draft, folder / str(number))).items():
            rows[table] += found
    return rows


def codes(rows: Rows) -> Counter[str]:
    return Counter(row["code"] for row in rows[ISSUE_TABLE])


class Subject:
    """The standard ingestor of a name, with the functions above."""

    def __init__(self, name: str) -> None:
        self.ingestor = load(name)

    def drafts(self, path: Path) -> list[BundleDraft]:
        return drafts(self.ingestor, path)

    def stored(self, draft: BundleDraft, folder: Path, contents: dict[str, bytes] | None = None) -> Bundle:
        return stored(self.ingestor, draft, folder, contents)

    def parsed(self, bundle: Bundle) -> Rows:
        return parsed(self.ingestor, bundle)

    def rows(self, tree: Path, folder: Path, index: int = 0) -> Rows:
        return self.parsed(self.stored(self.drafts(tree)[index], folder))


def place(row: dict[str, Any], folder: Path) -> bytes:
    """The bytes that a row was read from."""
    data = (folder / row["raw_path"]).read_bytes()
    return data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]]
