"""Turns a bill of materials, or an OSV entry, into landing rows. A component without a name is an issue, and is left out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import clean
from warehouse.landing.rows import RowBuffer

from .bundles import CYCLONEDX, OSV, SPDX

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_MOST_DEPTH = 20  # components within components


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    path = next(path for path in (CYCLONEDX, SPDX, OSV) if path in bundle.manifest.by_path)
    try:
        document = json.loads(bundle.read(path).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        buffer.issue("not-readable", f"it cannot be read: {error}", path, severity="error")
        return
    if not isinstance(document, dict):
        buffer.issue("not-readable", "it is not an object", path, severity="error")
        return
    if path == OSV:
        _add_osv(document, bundle, buffer)
    else:
        _add_bill(path, document, bundle, buffer)
    yield from buffer.full()


def _add_bill(path: str, document: Mapping[str, Any], bundle: Bundle, buffer: RowBuffer) -> None:
    size, key = bundle.manifest.by_path[path].bytes, f"sbom/{bundle.digest[:16]}"
    if path == CYCLONEDX:
        subject = _object(_object(document.get("metadata")).get("component"))
        found, name, version = _cyclonedx(document, buffer), _text(subject.get("name")), _text(document.get("specVersion"))
    else:
        found, name, version = _spdx(document, buffer), _text(document.get("name")), _text(document.get("spdxVersion"))
    packages = sorted({(component, version or "") for component, version, _, _ in found})
    text = "\n".join("==".join(filter(None, each)) for each in packages)
    digest = hashlib.sha256(text.encode()).hexdigest() if packages else None
    kind = path.removesuffix(".json")
    buffer.add("sbom_document", path, 0, size, document_key=key, kind=kind, format_version=version, name=name, packages_digest=digest)
    for component, component_version, purl, sha256 in found:
        buffer.add("sbom_component", path, 0, size, document_key=key, component=component, version=component_version, purl=purl, sha256=sha256)
    if not found:
        buffer.issue("no-component", "it names no component", path)


def _cyclonedx(document: Mapping[str, Any], buffer: RowBuffer) -> list[tuple[str, str | None, str | None, str | None]]:
    found = []
    left = [(each, 0) for each in _list(document.get("components"), "components", CYCLONEDX, buffer)]
    while left:
        value, depth = left.pop(0)
        component = _object(value)
        name = _text(component.get("name"))
        if name is None:
            buffer.issue("no-name", "a component has no name, and is left out", CYCLONEDX)
            continue
        hashes = _list(component.get("hashes"), "hashes", CYCLONEDX, buffer)
        sha256 = next((_text(each.get("content")) for each in map(_object, hashes) if each.get("alg") == "SHA-256"), None)
        found.append((name.lower(), _text(component.get("version")), _text(component.get("purl")), _sha256(sha256, CYCLONEDX, buffer)))
        if depth < _MOST_DEPTH:
            left += [(each, depth + 1) for each in _list(component.get("components"), "components", CYCLONEDX, buffer)]
    return found


def _spdx(document: Mapping[str, Any], buffer: RowBuffer) -> list[tuple[str, str | None, str | None, str | None]]:
    found = []
    # What the document is about, such as an image, is a package in it, too: it is a component of itself, not of the stack.
    described = set(filter(None, map(_text, _list(document.get("documentDescribes"), "documentDescribes", SPDX, buffer))))
    for relation in map(_object, _list(document.get("relationships"), "relationships", SPDX, buffer)):
        if relation.get("relationshipType") == "DESCRIBES" and (about := _text(relation.get("relatedSpdxElement"))):
            described.add(about)
    packages = [_object(each) for each in _list(document.get("packages"), "packages", SPDX, buffer)]
    for package in packages:
        if len(packages) > len(described) and _text(package.get("SPDXID")) in described:
            continue
        name = _text(package.get("name"))
        if name is None:
            buffer.issue("no-name", "a package has no name, and is left out", SPDX)
            continue
        sums = [_object(each) for each in _list(package.get("checksums"), "checksums", SPDX, buffer)]
        sha256 = next((_text(each.get("checksumValue")) for each in sums if each.get("algorithm") == "SHA256"), None)
        references = [_object(each) for each in _list(package.get("externalRefs"), "externalRefs", SPDX, buffer)]
        purl = next((_text(each.get("referenceLocator")) for each in references if each.get("referenceType") == "purl"), None)
        found.append((name.lower(), _text(package.get("versionInfo")), purl, _sha256(sha256, SPDX, buffer)))
    return found


def _add_osv(document: Mapping[str, Any], bundle: Bundle, buffer: RowBuffer) -> None:
    size, identity = bundle.manifest.by_path[OSV].bytes, _text(document.get("id"))
    if identity is None:
        buffer.issue("no-name", "the entry has no id, and is left out", OSV, severity="error")
        return
    shared = {name: _text(document.get(name)) for name in ("summary", "modified", "withdrawn")}
    aliases = [each for each in map(_text, _list(document.get("aliases"), "aliases", OSV, buffer)) if each]
    for each in map(_object, _list(document.get("affected"), "affected", OSV, buffer)):
        package = _object(each.get("package"))
        name = _text(package.get("name"))
        if name is None:
            continue  # an entry may be of commits of a repository alone
        versions = [version for version in map(_text, _list(each.get("versions"), "versions", OSV, buffer)) if version]
        ranges = [_object(one) for one in _list(each.get("ranges"), "ranges", OSV, buffer)]
        buffer.add(
            "osv_affected", OSV, 0, size, vulnerability_id=identity, aliases=json.dumps(aliases), **shared, package=name,
            ecosystem=_text(package.get("ecosystem")), versions=json.dumps(versions), ranges=clean(json.dumps(ranges)),
        )


def _list(value: Any, name: str, path: str, buffer: RowBuffer) -> list[Any]:
    if value is not None and not isinstance(value, list):
        buffer.issue("wrong-type", f"{name} is not a list", path)
    return value if isinstance(value, list) else []


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return clean(value) if isinstance(value, str) and value.strip() else None


def _sha256(value: str | None, path: str, buffer: RowBuffer) -> str | None:
    if value is not None and not _SHA256.fullmatch(value):
        buffer.issue("not-a-digest", "a SHA-256 is not 64 hexadecimal digits", path)
        return None
    return value.lower() if value else None
