"""What other programs read of a warehouse."""
