"""SQL as text and as trees: what a statement names, reads and may do. No project and no build is known here."""
