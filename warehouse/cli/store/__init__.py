"""Commands that look after the store and its keys."""
