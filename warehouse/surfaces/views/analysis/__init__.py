"""Views of analysis: what changed, comparisons, series over time, and load curves."""
