"""Making evidence: run a command under observation and keep what was seen."""
