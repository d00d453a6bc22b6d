"""Known lines of logs: rules as data, one reader for the logs of every family, and the frequent lines that no rule knows."""
