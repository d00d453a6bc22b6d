"""Parsing of bundles into landing batches, in one process or several."""
