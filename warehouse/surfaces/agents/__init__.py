"""The MCP server: the views as tools for agents."""
