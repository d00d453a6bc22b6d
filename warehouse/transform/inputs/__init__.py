"""What a build reads: landing tables and files, and how their content is told apart."""
