"""Commands that show the warehouse to others."""
