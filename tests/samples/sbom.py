"""Bills of materials and OSV entries in their formats. All names of vulnerabilities are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CYCLONEDX: dict[str, Any] = {
    "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": {"type": "container", "name": "trainer", "version": "7"}},
    "components": [
        {
            "type": "library", "name": "numpy", "version": "2.1.3", "purl": "pkg:pypi/numpy@2.1.3", "hashes": [{"alg": "SHA-256", "content": "AB" * 32}],
            "components": [{"type": "library", "name": "OpenBLAS", "version": "0.3.27"}],
        },
        {"type": "library", "name": "tool-without-version"},
    ],
}
SPDX: dict[str, Any] = {
    "spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT", "name": "trainer-image", "dataLicense": "CC0-1.0",
    "packages": [
        {"SPDXID": "SPDXRef-image", "name": "trainer", "versionInfo": "7"},
        {
            "SPDXID": "SPDXRef-numpy", "name": "numpy", "versionInfo": "2.1.3", "checksums": [{"algorithm": "SHA256", "checksumValue": "cd" * 32}],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:pypi/numpy@2.1.3"}],
        },
    ],
    "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-image"}],
}


def osv(package: str, versions: list[str], identity: str = "EXAMPLE-2026-1", **more: Any) -> dict[str, Any]:
    affected = {"package": {"ecosystem": "PyPI", "name": package}, "versions": versions, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}
    return {
        "schema_version": "1.6.0", "id": identity, "modified": "2026-03-01T00:00:00Z", "aliases": ["CVE-0000-0001"], "summary": "It reads too far",
        "affected": [affected], **more,
    }


def write(folder: Path, name: str, document: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document, indent=2) + "\n")
    return folder / name


def write_all(folder: Path) -> None:
    write(folder, "bom.json", CYCLONEDX)
    write(folder, "image.spdx.json", SPDX)
    write(folder, "EXAMPLE-2026-1.json", osv("NumPy", ["2.1.2", "2.1.3"]))
