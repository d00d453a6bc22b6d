"""The tools that agents call: each a view, and the contract document. Answers are small, say what was cut, and name the build that they are of.

A tool never returns a figure without what proves it: rows have a number id or a run id, and the whole answer has the build's digest and an address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.contracts.document import contracts_document, document_bytes
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.landing.declaration.generator import FIELDS, render_benchmark_run
from warehouse.project.project import Project
from warehouse.surfaces.all_views import view_named
from warehouse.surfaces.answering import Answer, Answers
from warehouse.surfaces.formats import page_document
from warehouse.surfaces.html.pages import pinned_to
from warehouse.surfaces.parts import Entry, Facets, Form
from warehouse.surfaces.view import BUILD, Parameter, View

ROWS = 20  # of each table, unless more are asked for
MOST_ROWS = 200
_MOST_TEXT = 4000  # characters of one text
_NAVIGATION = "links"  # the form of facts that only lead elsewhere
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
            "type": "object", "additionalProperties": False, "required": list(self.view.in_path),
            "properties": {each.name: each.schema | {"description": each.description} for each in parameters},
        }


def _tool(name: str, view: str, description: str, parts: tuple[str, ...] = ()) -> ViewTool:
    return ViewTool(name, view_named(view), description, parts)


def view_tools() -> tuple[ViewTool, ...]:
    return (
        _tool("overview", "overview", (
            "Begin here: what moved, new runs, what needs a decision, which published numbers hold, and the best results of each kind of evidence."
        )),
        _tool("search", "numbers", (
            "Find published numbers: by number id, by cell (query[key=value].column), or by a value as it is printed, such as 8.7k tok/s."
            " Without q: the last published numbers of each query."
        )),
        _tool(
            "number", "number", "What a number is worth: value, unit, interval, verdict, each rule of its policy, its history, and how to cite it.",
            ("number", "about", "gate", "history", "citation", "commands"),
        ),
        _tool(
            "lineage", "number", "The way of a number to its bytes: its runs, used and left out, its raw files, the cited bytes, and its SQL.",
            ("number", "runs", "steps", "bytes_", "files", "digests", "models", "sql", "conditions"),
        ),
        _tool("excluded", "excluded", "Which runs a number left out, by which clause, and why."),
        _tool("verify", "verify", "Hash a number's raw files again and compute it again from them; returns the verdict. It changes nothing."),
        _tool("publications", "publications", "List what was published, when, by whom, and what became of it."),
        _tool("publication", "publication", "The rows of one publication with the number ids of their values."),
        _tool("changes", "changes", "What changed over time: confirmed and suspected events, and series that are stale or could not be judged."),
        _tool("compare", "compare", (
            "Compare two sets of runs, metric by metric: effect with interval, verdict, and what else differs. A side is run ids with commas, or"
            " conditions such as software_version_key=...; without sides it lists which there are."
        )),
        _tool("explain", "explain", (
            "Why a run is slower than comparable runs: the answer of each check of the playbooks (found, not found, evidence missing), the likeliest"
            " cause first, with the bundle and file that say so."
        )),
        _tool("freshness", "freshness", (
            "What is no longer fresh: published numbers with newer releases, changed queries, other values, no recent verification or expiring"
            " evidence; series without new data; old locks. Each row has the command that ends it."
        ), ("rows", "how")),
        _tool("frontier", "frontier", "Of measured points of served models, those that no other point beats on two axes."),
        _tool("goodput", "goodput", "The share of requests that meet the limits of an SLO, load by load; without an SLO, which are named."),
        _tool("validity", "validity", "Which runs of served models can be trusted, and which rules the others break."),
        _tool("results", "results", (
            "The results that most people ask for, each figure with its number, and which queries have results."
        ), ("rollups", "rows")),
        _tool("results_of", "results_of", (
            "The results of one query: its rows, chosen by facets and sorted, each figure with its number. Exploratory unless published."
        )),
        _tool("runs", "runs", "List runs, the newest first, by state, case, model, hardware or software."),
        _tool("run", "run", "One run: what it ran on and with, what it measured, its evidence, and the published numbers that depend on it."),
        _tool("series", "explore", "The measurements of a metric over time; without a metric, which metrics there are."),
        _tool("evidence", "evidence", "List the bundles of raw evidence, the last arrived first."),
        _tool("bundle", "bundle", "The files of a bundle with their digests, the runs that it states, and what is wrong with it."),
        _tool("raw_file", "file", "A window of the bytes of one raw file, which was hashed first."),
        _tool("ingest", "ingest", "What arrived last, what was not recognised, and the issues that ingestors found."),
        _tool("audit_log", "audit", "The ledger: what arrived, was published, decided or signed, when and by whom."),
        _tool("tables", "catalogue", "What each metric means, and which tables the build has."),
        _tool("table", "table", "The columns of a table with types and units, its tests, its SQL, and some of its rows."),
        _tool("sql", "sql", (
            "Run one SQL query that reads the warehouse. The figures are exploratory: no policy has judged them; cite the query_digest and the"
            " build_digest."
        )),
    )


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
    kept = [
        _small(part, most) for part in page["parts"]
        if part["part"] not in (Form.part, Entry.part, Facets.part) and _is_wanted(tool, part)
    ]
    build = answer.build.digest if answer.build else None
    return {
        "tool": tool.name, "title": page["title"], "subtitle": page["subtitle"], "states": page["states"], "notices": page["notices"],
        "parts": kept, "truncated": any(part.get("truncated") for part in kept),
        "cite": {"build_digest": build, "address": None if answer.view.is_act else pinned_to(build)(answer.address)},
    }


def _is_wanted(tool: ViewTool, part: Mapping[str, Any]) -> bool:
    return part["name"].startswith(tool.parts) if tool.parts else part.get("form") != _NAVIGATION


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
