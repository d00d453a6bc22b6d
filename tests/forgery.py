"""A forger who can write into the store and makes every digest right."""

from __future__ import annotations

import shutil
from pathlib import Path

from warehouse.claims.publication import PUBLICATION_DOMAIN, PublishedRollup
from warehouse.digest import bytes_digest, canonical_json, domain_digest


def forge(publication: PublishedRollup, name: str, data: bytes) -> Path:
    """Put another content in one of a publication's files: its record, its digest and its folder follow. The new folder."""
    record = {**publication.record, "sha256": {**publication.record["sha256"], name: bytes_digest(data)}}
    forged = publication.folder.with_name(domain_digest(PUBLICATION_DOMAIN, record))
    shutil.move(publication.folder, forged)
    for path, content in ((forged / name, data), (forged / "publication.json", canonical_json(record))):
        path.chmod(0o644)
        path.write_bytes(content)
    return forged
