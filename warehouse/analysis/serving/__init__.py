"""Load curves of served models: frontiers and goodput."""
