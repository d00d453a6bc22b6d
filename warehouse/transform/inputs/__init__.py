"""What a build reads: landing tables and files, and a digest of their content."""
