"""excluded-by."""
