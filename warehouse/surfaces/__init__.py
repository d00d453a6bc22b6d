"""Where people and programs meet the warehouse: pages, HTTP, MCP, reports and hot metrics, all made of the same views."""
