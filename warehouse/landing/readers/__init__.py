"""Readers of text, JSON, YAML and columns for ingestors: every value with the exact bytes that state it."""
