"""Landing tables that the engine fills itself, from signatures and from decisions in the ledger."""
