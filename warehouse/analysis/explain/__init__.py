"""`wh explain`: why a run is slower than others, through playbooks of checks in SQL."""
