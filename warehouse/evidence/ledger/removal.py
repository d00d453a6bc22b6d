"""Removing evidence: only what the ledger has said first, so that what is gone by policy is known from what was lost."""

from __future__ import annotations

from collections.abc import Iterable

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.store import EvidenceStore, bundle_key, manifest_key


def remove_bundle(store: EvidenceStore, digest: str) -> None:
    """Remove a bundle that the ledger says is removed: its manifest first, so that no reader sees half of it. What a crash
    leaves is removed by the next call. Raises WH109."""
    place = f"{store.objects.url}/{bundle_key(digest)}"
    try:
        if store.has(digest):
            store.objects.remove(manifest_key(digest))
        store.objects.remove_below(bundle_key(digest))
    except FileNotFoundError:
        return
    except OSError as error:
        raise WarehouseError("WH109", f"cannot be removed: {error.strerror}", str(error.filename or place)) from error


def removed_bundles(store: EvidenceStore, digests: Iterable[str]) -> dict[str, Event]:
    """The bundles of these that are gone because policy removed them, and the ledger's event of it. The ledger is read only
    when one is gone."""
    gone = [digest for digest in digests if not store.has(digest)]
    removals = Ledger(store.objects).history().removals if gone else {}
    return {digest: removals[digest] for digest in gone if digest in removals}


def expired(removal: Event) -> WarehouseError:
    """WH112 for a bundle that is gone by policy."""
    return WarehouseError("WH112", removal_text(removal), removal.subject[:12], exit_code=ExitCode.MISSING)


def removal_text(removal: Event) -> str:
    """By which policy, when and by whom, as the ledger has it."""
    said = removal.detail
    return printable(
        f"removed by retention policy ({said.get('tier')} tier: {said.get('days')} days, it arrived {said.get('arrived_at')})"
        f" on {removal.at} by {removal.by}"
    )
