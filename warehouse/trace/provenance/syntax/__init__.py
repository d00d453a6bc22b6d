"""The syntax that provenance takes: what is admitted, what is written as something else, and what is refused."""
