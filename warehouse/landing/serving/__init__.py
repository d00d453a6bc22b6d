"""What all ingestors of serving benchmarks share: what names in a path tell, and which loads are of sessions."""
