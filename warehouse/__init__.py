"""A performance warehouse: published numbers that walk back to their raw bytes."""

__version__ = "0.1.0"
