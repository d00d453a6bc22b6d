"""The tools that agents call: each a view, and the contract document. Answers are small, say what was cut, and name the build that they are of.

A tool never returns a figure without what proves it: rows have a number id or a run id, and the whole answer has the build's digest and an address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from warehouse.analysis.contracts.document import contracts_document, document_bytes
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.landing.declaration.generator import FIELDS, render_benchmark_run
from warehouse.project import Project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.answering import Answer, Answers
from warehouse.surfaces.formats import page_document
from warehouse.surfaces.html.pages import pinned_to
from warehouse.surfaces.parts import Form
from warehouse.surfaces.view import BUILD, Parameter, View, address

ROWS = 20  # of each table, unless more are asked for
MOST_ROWS = 200
_MOST_TEXT = 4000  # characters of one text
_TYPES: Mapping[type, str] = {str: "string", int: "integer", float: "number", date: "string"}
_COMMON = (
    Parameter(BUILD, "The beginning of the digest of a kept build; otherwise the current one."),
    Parameter("max_rows", "How many rows of each table to return at most.", int, ROWS, bounds=(1, MOST_ROWS)),
)


@dataclass(frozen=True)
class ViewTool:
    """A tool that asks a view. `parts`: the names, or beginnings of names, of those of the page's parts that it returns; empty: all."""

    name: str
    view: View
    description: str
    parts: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        parameters = [*self.view.parameters, *_COMMON]
        return {
            "type": "object", "properties": {each.name: _schema(each) for each in parameters}, "required": list(self.view.in_path),
            "additionalProperties": False,
        }


def _tool(name: str, view: str, description: str, *parts: str) -> ViewTool:
    return ViewTool(name, view_named(view), description, parts)


def view_tools() -> tuple[ViewTool, ...]:
    return (
        _tool("sql", "sql", (
            "Run one SQL query that reads the warehouse. The figures are exploratory: no policy has judged them; cite the query_digest and the"
            " build_digest."
        )),
    )


def _schema(each: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES[each.kind], "description": each.description}
    if each.choices:
        schema["enum"] = list(each.choices)
    if each.bounds:
        schema |= {"minimum": each.bounds[0], "maximum": each.bounds[1]}
    if each.default is not None:
        schema["default"] = each.default
    return schema


def call_view(tool: ViewTool, answers: Answers, arguments: Mapping[str, Any], visitor: str, role: str) -> dict[str, Any]:
    """What a tool returns. Raises WH601 for arguments, and what the view raises."""
    given = {name: _text(name, value) for name, value in arguments.items() if value is not None}
    most = _COMMON[1].read(given.pop("max_rows", str(ROWS)))
    missing = [name for name in tool.view.in_path if name not in given]
    if missing:
        raise WarehouseError("WH601", f"{tool.name} needs {', '.join(missing)}", missing[0], exit_code=ExitCode.USAGE)
    path = {name: given.pop(name) for name in tool.view.in_path}
    return envelope(tool, answers.answer(answers.question(tool.view, list(given.items()), path, visitor, role)), most)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise WarehouseError("WH601", f"{printable(name)} is not text or a number", printable(name), exit_code=ExitCode.USAGE)
    return str(value)


def envelope(tool: ViewTool, answer: Answer, most: int) -> dict[str, Any]:
    """An answer without what only people need, cut to so many rows a table."""
    page = page_document(answer.page)
    kept = [_small(part, most) for part in page["parts"] if part["part"] != Form.part and _is_wanted(tool, part["name"])]
    build = answer.build.digest if answer.build else None
    return {
        "tool": tool.name, "title": page["title"], "subtitle": page["subtitle"], "states": page["states"], "notices": page["notices"],
        "parts": kept, "truncated": any(part.get("truncated") for part in kept),
        "cite": {"build_digest": build, "address": pinned_to(build)(address(answer.view.path, **answer.values))},
    }


def _is_wanted(tool: ViewTool, name: str) -> bool:
    return not tool.parts or name.startswith(tool.parts)


def _small(part: dict[str, Any], most: int) -> dict[str, Any]:
    if part["part"] == "table":
        rows = part["rows"]
        units = {column["name"]: column["unit"] for column in part["columns"] if column["unit"]}
        return {
            "part": "table", "name": part["name"], "title": part["title"], "note": part["note"], "units": units, "rows": rows[:most],
            "total": part["total"], "truncated": part["truncated"] or len(rows) > most,
        }
    small = {name: value for name, value in part.items() if value not in (None, "", []) and name not in ("link", "kind", "form")}
    if len(str(small.get("text", ""))) > _MOST_TEXT:
        small |= {"text": small["text"][:_MOST_TEXT], "truncated": True}
    if "items" in small:
        small["items"] = [
            {name: value for name, value in item.items() if value not in (None, "") and name not in ("link", "kind")} for item in small["items"]
        ]
    return small


@dataclass(frozen=True)
class PlainTool:
    """A tool that is not a view."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[Project, Mapping[str, Any]], str]


def _contracts(project: Project, arguments: Mapping[str, Any]) -> str:
    if arguments:
        raise WarehouseError("WH601", "benchmark_contracts takes no arguments", exit_code=ExitCode.USAGE)
    return document_bytes(contracts_document(project)).decode()


def _render(project: Project, arguments: Mapping[str, Any]) -> str:
    return render_benchmark_run(project, dict(arguments)).text


PLAIN_TOOLS = (
    PlainTool(
        "benchmark_contracts", "The contract document: tables, identifiers, metrics, rules, policies, ingestors, and what is missing here.",
        {"type": "object", "properties": {}, "additionalProperties": False}, _contracts,
    ),
    PlainTool(
        "render_benchmark_run", "Render a BenchmarkRun in YAML that passes validation.",
        {
            "type": "object", "additionalProperties": False,
            "properties": {field.name: {"description": field.expected} for field in FIELDS},
        }, _render,
    ),
)


def all_tools() -> list[ViewTool | PlainTool]:
    return [*view_tools(), *PLAIN_TOOLS]


def tool_named(name: str) -> ViewTool | PlainTool:
    """Raises WH601."""
    found = {tool.name: tool for tool in all_tools()}
    if name not in found:
        raise WarehouseError("WH601", f"there is no tool {printable(name)!r}", "tool", did_you_mean(name, found), ExitCode.USAGE)
    return found[name]
