"""Incremental tables: which keys changed, and how their rows are brought up to date; rows that retention leaves out."""
