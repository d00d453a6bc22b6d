"""The ledger: append-only, chained events, and what they say about runs."""
