"""Commands that publish numbers and prove them."""
