"""Builds: what is to be made, how it is made in a shadow file, and how a finished build is published and read."""
