"""Views of evidence: bundles and their files, what ingest found, and the ledger."""
