"""Column lineage: which columns each column is computed from."""
