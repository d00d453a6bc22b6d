"""The processes of a command, and those of the servers that it talks to."""
