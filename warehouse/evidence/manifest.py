"""The manifest: canonical JSON that lists a bundle's files, its source and declared identity. It never lists itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from warehouse.digest import canonical_json, canonical_number, manifest_digest
from warehouse.errors import WarehouseError, printable

MANIFEST_VERSION = 1
UNRECOGNISED = "unrecognised"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class ManifestFile:
    """One file of a bundle: its `raw_path`, size, sha256, and what it is (`media_type`, `role`; both may be unknown)."""

    raw_path: str
    bytes: int
    sha256: str
    media_type: str | None = None
    role: str | None = None


@dataclass(frozen=True)
class Manifest:
    """A bundle's identity. `family` names the ingestor that cut it, or `unrecognised`; `identity` is what the evidence
    or its path declares (submitter, platform, ...); `source` is where it was published, never a local path."""

    family: str
    files: tuple[ManifestFile, ...]
    identity: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def by_path(self) -> dict[str, ManifestFile]:
        return {file.raw_path: file for file in self.files}

    @property
    def own_path(self) -> str:
        """What the manifest itself is called among its files' paths: what no file of the bundle can be called."""
        return "../manifest.json" if "manifest.json" in self.by_path else "manifest.json"

    @cached_property
    def canonical(self) -> bytes:
        """The bytes that are stored as `manifest.json` and hashed."""
        return canonical_json(self._document())

    @cached_property
    def digest(self) -> str:
        """`artifact_manifest_digest`, 64 hex characters."""
        return manifest_digest(self.canonical)

    def _document(self) -> dict[str, Any]:
        files = [
            {
                "path": file.raw_path,
                "bytes": file.bytes,
                "sha256": file.sha256,
                "media_type": file.media_type,
                "role": file.role,
            }
            for file in sorted(self.files, key=lambda file: file.raw_path)
        ]
        return {
            "manifest_version": MANIFEST_VERSION,
            "family": self.family,
            "identity": dict(self.identity),
            "source": dict(self.source),
            "files": files,
        }


def checked_raw_path(path: str) -> str:
    """`path` if it is UTF-8, relative, normalised and stays inside its bundle, else `WarehouseError` WH103."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts) or not is_utf8(path):
        raise WarehouseError("WH103", "paths in a bundle are UTF-8, relative and normalised", printable(path))
    return path


def is_utf8(text: str) -> bool:
    """Whether `text`, such as a file name from the disk, can be written as UTF-8 and so be in JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def parse_manifest(data: bytes, place: str) -> Manifest:
    """The manifest in `data`. Raises `WarehouseError` WH107 for anything but the canonical bytes of one, so that its
    digest is theirs, and WH103 for an escaping path."""
    try:
        document = json.loads(data, parse_int=canonical_number)
        if document["manifest_version"] != MANIFEST_VERSION:
            raise ValueError(f"manifest_version {document['manifest_version']!r} is not {MANIFEST_VERSION}")
        files = tuple(_parse_file(item) for item in document["files"])
        family = _value(document, "family", str)
        manifest = Manifest(family, files, _value(document, "identity", dict), _value(document, "source", dict))
        if len(manifest.by_path) != len(files):
            raise ValueError("it lists a path twice")
        if manifest.canonical != data:
            raise ValueError("it is not canonical JSON")
        return manifest
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WarehouseError("WH107", f"not a manifest: {error}", place, "ingest the evidence again") from error


def _parse_file(item: Mapping[str, Any]) -> ManifestFile:
    file = ManifestFile(
        checked_raw_path(_value(item, "path", str)),
        _value(item, "bytes", int),
        _value(item, "sha256", str),
        _value(item, "media_type", str | None),
        _value(item, "role", str | None),
    )
    if file.bytes < 0 or not _SHA256.fullmatch(file.sha256):
        raise ValueError("a file's size or sha256 is not valid")
    return file


def _value(item: Mapping[str, Any], key: str, kind: Any) -> Any:
    value = item[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{key} is {value!r}")
    return value
