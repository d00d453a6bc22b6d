"""A report as one HTML file, or as Markdown. Nothing in either loads anything, runs anything, or leads anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from warehouse.surfaces.html.components import environment
from warehouse.surfaces.markdown import part_markdown, plain
from warehouse.surfaces.reports.report import Report
from warehouse.transform.export.docs.pages import asset_files

START, END = "<!--exploratory-->", "<!--/exploratory-->"
_ASSETS = Path(__file__).parents[1] / "html" / "assets"
_STYLE = """
.report .division { border-top: 2px solid var(--line); padding-top: 1.2rem; margin-top: 2.2rem; }
#published tr:has(td .chip):not(:has(.chip.good)) td.right { background: repeating-linear-gradient(135deg, transparent 0 5px, var(--line) 5px 6px); }
@media (min-width: 52rem) { #published td code { white-space: nowrap; } }
.report table { font-size: .8rem; } .report td code { font-size: .74rem; } .report td:not(:first-child):not(.long) { min-width: 3rem; }
@media (min-width: 72rem) { .report td.long { min-width: 13rem; } .report td.whole:not(:has(.chip, code)):not(.right) { white-space: normal; } }
@media (min-width: 52rem) { /* nine columns fit: words wrap between words */
  .report.top td:is(.long, .whole, :first-child, :not(.long)) { min-width: 0; } .report td.whole:has(.chip), .report td .chip { white-space: normal; }
  .report.top td:has(.chip), .report td .chip { overflow-wrap: normal; } .report td .chip { border-radius: 8px; }
  .report.top td:not(:last-child), .report.top th:not(:last-child) { padding-right: .55rem; }
}
.report pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.report main { overflow-x: clip; }
#exploratory { contain: paint; border-left: 3px solid var(--warn); padding-left: clamp(.6rem, 2vw, 1.4rem); }
@media print {
  details.folded > *, details.folded::details-content { display: block; content-visibility: visible; }
  .report tr, .report figure { break-inside: avoid; }
}
"""


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
        f"<!-- wh-report {report.record['report_version']} -->", f"# {plain(report.page.title)}", plain(report.page.subtitle),
        "## Published",
        "Every figure here is in a publication, under the number id beside it. What is not publishable may not be quoted."
        " To check them all: `wh verify FILE`.",
        *(block for part in report.page.parts for block in part_markdown(part, level=3, is_exact=True)),
        "## Exploratory", "What the build says now. Nothing here is published or frozen, and `wh verify` does not check it.",
        START, *(block for part in report.exploratory for block in part_markdown(part, level=3, is_exact=True)), END,
        "## Record", f"```json\n{_json(report.record)}\n```",
    ]
    return "\n\n".join(filter(None, lines)) + "\n"


def _json(record: Mapping[str, Any]) -> str:
    """The record as JSON on one line, with nothing in it that ends a script, a comment or a fence."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return re.sub(r"[<>&`]", lambda found: f"\\u{ord(found[0]):04x}", text)
