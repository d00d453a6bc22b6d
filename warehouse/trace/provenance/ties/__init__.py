"""Where an answer may depend on how a tie is broken."""
