"""A report as one HTML file, or as Markdown. Nothing in either loads anything, runs anything, or leads anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from warehouse.errors import printable, printable_lines
from warehouse.surfaces.html.components import environment, moment
from warehouse.surfaces.parts import Column, Fact, Facts, Figure, Part, Table, Text
from warehouse.surfaces.reports.report import Report
from warehouse.transform.export.docs.pages import asset_files
from warehouse.transform.export.docs.published_pages import short, shown_value

START, END = "<!--exploratory-->", "<!--/exploratory-->"
_ASSETS = Path(__file__).parents[1] / "html" / "assets"
_STYLE = """
.report .division { border-top: 2px solid var(--line); padding-top: 1.2rem; margin-top: 2.2rem; }
#published tr:has(td .chip):not(:has(.chip.good)) td.right { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--line) 5px 6px); }
@media (min-width: 52rem) { #published td code { white-space: nowrap; } }
.report pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.report main { overflow-x: clip; }
#exploratory { contain: paint; border-left: 3px solid var(--warn); padding-left: clamp(.6rem, 2vw, 1.4rem); }
@media print {
  details.folded > *, details.folded::details-content { display: block; content-visibility: visible; }
  .report tr, .report figure { break-inside: avoid; }
}
"""
_MARKED = re.compile(r"[\\`*_\[\]#|~$]")


def report_html(report: Report) -> str:
    """The report as one HTML file."""
    style = "\n".join([
        dict(asset_files())["assets/site.css"], *(path.read_text(encoding="utf-8") for path in sorted(_ASSETS.glob("*.css"))), _STYLE,
    ])
    return environment().get_template("report.html").render(
        page=report.page, exploratory=report.exploratory, record=report.record, json=Markup(_json(report.record)), style=Markup(style),
        pinned=lambda place: place,
    ).lstrip() + "\n"


def report_markdown(report: Report) -> str:
    """The same figures as Markdown, in the dialect of GitHub; drawings are left out, what they are drawn from is not."""
    lines = [
        f"<!-- wh-report {report.record['report_version']} -->", f"# {_text(report.page.title)}", _text(report.page.subtitle),
        "## Published",
        "Every figure here is in a publication, under the number id beside it. What is not publishable may not be quoted."
        " To check them all: `wh verify FILE`.",
        *(block for part in report.page.parts for block in _part(part)),
        "## Exploratory", "What the build says now. Nothing here is published or frozen, and `wh verify` does not check it.",
        START, *(block for part in report.exploratory for block in _part(part)), END,
        "## Record", f"```json\n{_json(report.record)}\n```",
    ]
    return "\n\n".join(filter(None, lines)) + "\n"


def _json(record: Mapping[str, Any]) -> str:
    """The record as JSON on one line, with nothing in it that ends a script, a comment or a fence."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return re.sub(r"[<>&`]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _part(part: Part) -> Iterator[str]:
    if isinstance(part, Table | Facts | Text) and part.title:
        yield f"### {_text(part.title)}"
    if isinstance(part, Table):
        yield from _table(part)
    elif isinstance(part, Facts):
        yield "\n".join(f"- {_text(each.heading)}: {_fact(each)}" for each in part.items)
    elif isinstance(part, Figure):
        yield _text(f"{shown_value(part.value)} {part.unit or ''} {part.interval} {', '.join(part.states)}".strip())
    elif isinstance(part, Text):
        yield _text(part.note)
        yield _text(part.text) if part.form == "prose" else _fenced(part.text)
    else:
        raise TypeError(f"a report has no {part.part}")


def _fact(each: Fact) -> str:
    words = [_value(each.value, each.kind), _text(each.unit or ""), f"({_text(each.note)})" if each.note else ""]
    return " ".join(filter(None, words))


def _table(table: Table) -> Iterator[str]:
    yield _text(table.note)
    if not table.rows:
        yield _text(table.empty)
        return
    columns = [column for column in table.columns if not column.is_hidden]
    heading = "| " + " | ".join(_text(f"{each.heading} {each.unit or ''}".strip()) for each in columns) + " |"
    rule = "|" + "|".join(" ---: " if each.kind == "number" else " --- " for each in columns) + "|"
    rows = ["| " + " | ".join(_cell(each, record) for each in columns) + " |" for record in table.records()]
    yield "\n".join([heading, rule, *rows])
    if table.total and table.total > len(table.rows):
        yield f"{len(table.rows):,} of {table.total:,} rows"


def _cell(column: Column, record: Mapping[str, Any]) -> str:
    return _value(record[column.name], column.kind)


def _value(value: Any, kind: str) -> str:
    if value is None:
        return "NULL"
    if kind == "moment":
        return _text(moment(value))
    if not isinstance(value, bool | str) and hasattr(value, "__round__"):
        return _text(f"{value:,}")
    return _text(short(value) if kind == "code" else shown_value(value))


def _text(text: str) -> str:
    """Text on one line in which nothing is markup, a link, or invisible."""
    shown = printable(" ".join(text.split("\n")) if text.isprintable() else text)
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = _MARKED.sub(r"\\\g<0>", shown)
    shown = re.sub(r"^(\s*\d*)([-+=.)])(?=[-=]*(\s|$))", r"\1\\\2", shown)  # a list, or the line under a heading
    return shown.replace("://", "&#58;//").replace("@", "&#64;").replace("www.", "www&#46;")


def _fenced(text: str) -> str:
    shown = printable_lines(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"
