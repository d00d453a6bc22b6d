"""Views of published numbers: finding one, everything about it, and the publications that hold them."""
