"""The version of the package, for whoever records it."""

__version__ = "0.3.0"
