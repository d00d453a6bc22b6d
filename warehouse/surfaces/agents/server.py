"""Serves the tools by the Model Context Protocol: over standard input and output, or as a part of `wh serve`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import Server, ServerRequestContext

from warehouse.errors import WarehouseError
from warehouse.surfaces.agents.tools import PlainTool, all_tools, call_view, tool_named
from warehouse.surfaces.answering import Answers
from warehouse.surfaces.formats import error_document
from warehouse.version import __version__

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp

_INSTRUCTIONS = (
    "A warehouse of benchmark results in which every published number leads to its raw files. Find a number with `search`, and read what it is worth"
    " with `number` before you quote it: quote its value with its unit, interval, verdict and number id. What is not published is exploratory, and"
    " is to be called so. `truncated` says that there are more rows: ask for more, or narrow the question."
)
_READ_ONLY = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def mcp_server(answers: Answers) -> Server[Any]:
    """The server of one project."""
    listed = [
        types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.schema), annotations=_READ_ONLY)
        for tool in all_tools()
    ]

    async def list_tools(context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        state = context.request.scope.get("state", {}) if context.request is not None else {}
        try:
            return await anyio.to_thread.run_sync(_called, answers, params, state.get("visitor", "mcp"), state.get("role") or "read")
        except WarehouseError as error:
            document = error_document(error, answers.project)
            return types.CallToolResult(content=[types.TextContent(text=json.dumps(document, ensure_ascii=False))], is_error=True)

    return Server("wh", version=__version__, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _called(answers: Answers, params: types.CallToolRequestParams, visitor: str, role: str) -> types.CallToolResult:
    tool, arguments = tool_named(params.name), params.arguments or {}
    if isinstance(tool, PlainTool):
        return types.CallToolResult(content=[types.TextContent(text=tool.call(answers.project, arguments))])
    found = call_view(tool, answers, arguments, visitor, role)
    return types.CallToolResult(content=[types.TextContent(text=json.dumps(found, ensure_ascii=False))], structured_content=found)


def serve_stdio(answers: Answers) -> None:
    """Serve one client over standard input and output until it closes them."""
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        server = mcp_server(answers)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def http_application(answers: Answers) -> "StreamableHTTPASGIApp":
    """What answers MCP over HTTP: each request by itself, so that no state of a client is kept. Its `session_manager` runs beside the server."""
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    return StreamableHTTPASGIApp(StreamableHTTPSessionManager(mcp_server(answers), json_response=True, stateless=True))
