"""What keeps a warehouse alive: what is no longer fresh, and who is told of it."""
