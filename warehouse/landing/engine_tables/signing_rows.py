"""The landing table `evidence_signing`: what every parsed bundle's signatures were found to be when the build began.

It is the engine's own and no bundle's: signatures arrive after a bundle was parsed, and which keys are trusted is the
project's to say. So it is made anew whenever one of these changed, under the sha256 of its file. It is no evidence either:
a replay has none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from warehouse.evidence.signing.keys import PublicKey
from warehouse.evidence.signing.signatures import check_signatures, evidence_subject
from warehouse.evidence.store import EvidenceStore, manifest_key
from warehouse.landing.engine_tables.engine_table import write_own_table
from warehouse.landing.parse.batches import SIGNING_TABLE, LandingFile
from warehouse.landing.rows import SIGNING_SCHEMA


def write_signing(store: EvidenceStore, bundles: Iterable[str], trusted: Mapping[str, PublicKey]) -> LandingFile | None:
    """Check the signatures of these bundles and keep what was found, one row a bundle; None without bundles. Raises WH109."""
    rows = [_row(store, digest, trusted) for digest in sorted(bundles)]
    if not rows:
        return None
    return write_own_table(store, SIGNING_TABLE, pa.Table.from_pylist(rows, SIGNING_SCHEMA))


def _row(store: EvidenceStore, digest: str, trusted: Mapping[str, PublicKey]) -> dict[str, Any]:
    signing = check_signatures(store.objects, evidence_subject(digest), trusted)
    deciding = signing.deciding
    return {
        "signing_state": signing.state,
        "key_id": deciding.key_id if deciding else None,
        "key_name": deciding.key_name if deciding else None,
        "reason": signing.reason,
        "artifact_manifest_digest": digest,
        "raw_path": "manifest.json",  # what is signed
        "raw_offset": 0,
        "raw_length": _manifest_bytes(store, digest),
    }


def _manifest_bytes(store: EvidenceStore, digest: str) -> int:
    try:
        return store.objects.size(manifest_key(digest))
    except OSError:  # gone since its bundle was listed
        return 0
