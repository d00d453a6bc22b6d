"""Publishing: rollups, their guarantees, the record that is frozen, and decisions that keep runs out."""
