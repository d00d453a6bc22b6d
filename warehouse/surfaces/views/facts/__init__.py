"""Views of what a build holds: runs, their dimensions, and its tables and metrics."""
