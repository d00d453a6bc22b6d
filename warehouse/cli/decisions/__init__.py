"""Commands that decide about runs, and list what was decided."""
