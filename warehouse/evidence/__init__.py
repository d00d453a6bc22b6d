"""Immutable raw evidence: manifests, the store that keeps them, the ledger of what arrived."""
