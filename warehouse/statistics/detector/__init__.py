"""What `change_points` judges with: steps, spreads, drifts and modes of the last points of a series."""
