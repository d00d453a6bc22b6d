"""Verification: raw files are hashed again and the number is replayed from them, in the project or from a packet."""
