"""Commands that check, build and query models."""
