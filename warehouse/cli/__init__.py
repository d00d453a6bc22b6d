"""`wh`: parses arguments, calls the library, prints. No logic."""
