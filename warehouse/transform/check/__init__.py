"""The static check: every model bound as an empty table before any data is read."""
