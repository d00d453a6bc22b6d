"""Performance indicators of our own: small scripts that print one JSON object, in Thoth's contract, on stdout."""
