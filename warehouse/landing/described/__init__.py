"""Formats that are described, not programmed: a `format.toml` says what a file states, and one engine reads it.

A file of any form becomes a tree of values that know their bytes (`nodes`, `sources`); paths and conditions pick from it (`expressions`);
a description (`description`) says which of them are runs, parameters and metrics (`reading`).
"""
