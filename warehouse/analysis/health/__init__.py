"""The health of a warehouse, for hot metrics."""
