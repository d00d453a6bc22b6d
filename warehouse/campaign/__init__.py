"""`wh matrix`: software stacks as factors of a campaign; each cell resolved, built, and run in blocks by the recorder."""
