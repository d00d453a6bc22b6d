"""Commands that say what changed."""
