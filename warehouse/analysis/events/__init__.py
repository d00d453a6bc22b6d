"""Events: findings that are one change, what was shown of them, what would settle them, and which series have gone silent."""
