"""A project and its file, where its store lies, its limits."""
