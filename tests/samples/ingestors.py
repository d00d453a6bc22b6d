"""An ingestor as the engine loads it, and what a test asks of any: its drafts of a tree, the rows of a draft, and that damage
raises nothing."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft
from warehouse.landing.rows import ISSUE_SCHEMA

_INGEST = Path(__file__).resolve().parents[2] / "ingest"
Rows = dict[str, list[dict[str, Any]]]


class Subject:
    """The standard ingestor of a name."""

    def __init__(self, name: str) -> None:
        package = _INGEST / name
        spec = importlib.util.spec_from_file_location(
            f"test_{name}_package", package / "__init__.py", submodule_search_locations=[str(package)]
        )
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        self.ingestor = module.INGESTOR

    def drafts(self, path: Path) -> list[BundleDraft]:
        return list(self.ingestor.bundles(list_tree(path)))

    def stored(self, draft: BundleDraft, folder: Path, changed: dict[str, bytes] | None = None) -> Bundle:
        """The draft as a bundle in `folder`, with the `changed` bytes of some raw paths."""
        files = []
        for file in draft.files:
            data = (changed or {}).get(file.raw_path, file.file.source.read_bytes())
            (folder / file.raw_path).parent.mkdir(parents=True, exist_ok=True)
            (folder / file.raw_path).write_bytes(data)
            files.append(ManifestFile(file.raw_path, len(data), bytes_digest(data), file.media_type, file.role))
        manifest = Manifest(self.ingestor.name, tuple(files), draft.identity, draft.source)
        return Bundle(manifest.digest, manifest, folder)

    def parsed(self, bundle: Bundle) -> Rows:
        """All rows by table; every place lies in its file."""
        schemas = {**self.ingestor.tables, ISSUE_TABLE: ISSUE_SCHEMA}
        rows: Rows = {name: [] for name in schemas}
        for table, batch in self.ingestor.parse(bundle):
            assert batch.schema == schemas[table]
            rows[table] += batch.to_pylist()
        for table in rows.values():
            for row in table:
                size = bundle.manifest.by_path[row["raw_path"]].bytes
                assert 0 <= row["raw_offset"] <= row["raw_offset"] + row["raw_length"] <= size, row
        return rows

    def rows(self, tree: Path, folder: Path, index: int = 0) -> Rows:
        return self.parsed(self.stored(self.drafts(tree)[index], folder))

    def fuzz(self, tree: Path, folder: Path, rounds: int) -> None:
        """Damage every file of every bundle in turn; parsing must not raise, and places must stay in their files."""
        found = self.drafts(tree)
        assert found
        for seed in range(rounds):
            chance = random.Random(seed)
            draft = found[seed % len(found)]
            changed = {file.raw_path: _damaged(file.file.source.read_bytes(), chance) for file in draft.files}
            self.parsed(self.stored(draft, folder, changed))


def codes(rows: Rows) -> Counter[str]:
    return Counter(row["code"] for row in rows[ISSUE_TABLE])


def place(row: dict[str, Any], folder: Path) -> bytes:
    """The bytes that a row was read from."""
    data = (folder / row["raw_path"]).read_bytes()
    return data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]]


def _damaged(data: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(8)
    at = chance.randrange(len(data) + 1)
    if kind == 0:
        return data[:at]
    if kind == 1:
        flipped = bytearray(data)
        for _ in range(5):
            flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(flipped)
    if kind == 2:
        return data.replace(b": 0", b": NaN").replace(b": 1", b": -Infinity")
    if kind == 3:
        return data.replace(b": 2", b': "2').replace(b": 3", b": 3e999")
    if kind == 4:
        return data[:at] + b"[" * 100_000 + data[at:]
    if kind == 5:
        return data[:at] + data[max(0, at - 200) : at] + data[at:]
    if kind == 6:
        return data[:at] + b"\xff\xfe\x00" + data[at:]
    return data[:at] + b'{"a": ' * 2000 + data[at:]
