"""Models that a build makes side by side."""
