"""How the commands tell of signatures: what was checked, with which keys, and what was not."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse.claims.publish.signing import Signings
    from warehouse.evidence.signing.signatures import Signing


def signings_text(signings: "Signings | None") -> str | None:
    """The states under a number on one line, and the keys that decided them; None where nothing is signed and no key is
    trusted, so that projects without signatures do not show them."""
    if signings is None or not (signings.trusted or signings.is_signed):
        return None
    named = ", ".join(f"{key.name} {key.key_id[:12]}" for key in signings.trusted)
    return f"{signings}; trusted keys: {named or 'none'}"


def signings_document(signings: "Signings | None") -> dict[str, Any] | None:
    """All that was found of every signature; None where none was checked."""
    if signings is None:
        return None
    return {
        "trusted_keys": [{"name": key.name, "key_id": key.key_id, "public_key": key.text} for key in signings.trusted],
        "evidence": [{"artifact_manifest_digest": digest, **_document(found)} for digest, found in signings.evidence.items()],
        "decisions": [{"event_sha256": sha256, **_document(found)} for sha256, found in signings.decisions.items()],
        "publication": _document(signings.publication) if signings.publication else None,
        "checkpoint": _document(signings.checkpoint) if signings.checkpoint else None,
    }


def _document(signing: "Signing") -> dict[str, Any]:
    return {"state": signing.state, "signatures": [asdict(each) for each in signing.signatures]}
