"""Care of a store: checks, removal by policy or of leftovers, and transfer between stores."""
