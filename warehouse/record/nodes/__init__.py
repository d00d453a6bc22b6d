"""Runs on several nodes."""
