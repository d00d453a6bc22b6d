"""Commands that collect evidence."""
