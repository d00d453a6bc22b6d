"""Finished builds: where they lie, how they travel, and how they are queried."""
