"""Bills of materials, and known vulnerabilities that the user brings: CycloneDX and SPDX documents as JSON, and OSV entries.

Nothing is asked of the network: what is not in the files is not known here.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema

_DOCUMENT = pa.field("document_key", pa.string(), nullable=False)

INGESTOR = Family(
    __name__,
    name="sbom",
    version=1,
    formats=("bills of materials: CycloneDX JSON, SPDX 2 JSON", "known vulnerabilities: OSV JSON"),
    tables={
        "sbom_document": landing_schema(
            _DOCUMENT, *(pa.field(name, pa.string()) for name in ("kind", "format_version", "name", "packages_digest")),
        ),
        "sbom_component": landing_schema(
            _DOCUMENT, *(pa.field(name, pa.string()) for name in ("component", "version", "purl", "sha256")),
        ),
        "osv_affected": landing_schema(
            pa.field("vulnerability_id", pa.string(), nullable=False),
            *(pa.field(name, pa.string()) for name in ("aliases", "summary", "modified", "withdrawn", "ecosystem", "package")),  # aliases: JSON
            *(pa.field(name, pa.string()) for name in ("versions", "ranges")),  # JSON, as the entry has them
        ),
    },
)
