"""Answers as whole pages: the layout, the menu, the formats of the same figures, and the address that pins the build."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from warehouse.errors import WarehouseError
from warehouse.surfaces.all_views import VIEWS
from warehouse.surfaces.answering import Answer
from warehouse.surfaces.html.components import environment
from warehouse.surfaces.markdown import page_markdown
from warehouse.surfaces.view import BUILD, beside
from warehouse.transform.export.docs.pages import asset_files as site_assets
from warehouse.version import __version__

_ASSETS = Path(__file__).parent / "assets"
MARKDOWN = ".md"
_DIGITS = 12  # of a build's digest in an address


def assets() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file that pages load: the documentation site's style sheet, and what only these pages need."""
    yield "site.css", dict(site_assets())["assets/site.css"].encode()
    for path in sorted(_ASSETS.iterdir()):
        yield path.name, path.read_bytes()


def pinned_to(build: str | None) -> Callable[[str], str]:
    """Adds a build to an address within these pages; without one, addresses stay as they are."""
    def pinned(place: str) -> str:
        if not build or not place.startswith("/"):
            return place
        parts = urlsplit(place)
        query = urlencode([*(pair for pair in parse_qsl(parts.query) if pair[0] != BUILD), (BUILD, build[:_DIGITS])])
        return parts._replace(query=query).geturl()

    return pinned


def page_html(answer: Answer, project: str) -> str:
    """The page of an answer."""
    here = answer.address
    build = answer.build.digest if answer.build else None
    return _layout(
        "view.html", project, answer.view.path, answer.unanswered, page=answer.page, here=here, permalink=pinned_to(build)(here), now_link=here,
        pinned=pinned_to(build if answer.is_pinned else None), build=build, built_at=answer.built_at, is_pinned=answer.is_pinned,
        newer=answer.newer.digest if answer.newer else None, with_format=_with_format, is_act=answer.view.is_act,
        markdown_at=beside(pinned_to(build)(here), MARKDOWN),
    )


def markdown_text(answer: Answer) -> str:
    """The page of an answer as Markdown, whose links lead to Markdown too."""
    pinned = pinned_to(answer.build.digest if answer.build and answer.is_pinned else None)
    here = beside(answer.address, MARKDOWN)
    of_build = f"Build {answer.build.digest[:_DIGITS]}. " if answer.build else ""
    text = page_markdown(answer.page, lambda place: beside(pinned(place), MARKDOWN) if place.startswith("/") else "")
    return f"{text}\n{of_build}This page: {pinned(here)}, as data: {_with_format(pinned(answer.address), 'json')}\n"


def llms_text(project: str) -> str:
    """What `/llms.txt` says: which pages there are, for programs that read (llmstxt.org)."""
    pages = [f"- [{view.title}]({beside(view.path, MARKDOWN)}): {view.description}" for view in VIEWS if "{" not in view.path and not view.is_act]
    return "\n".join([
        f"# {project}", "",
        "> A performance warehouse: runs of benchmarks, what changed between them, and published numbers",
        "> with the raw evidence that proves them.", "",
        f"Each page is Markdown at the same address with {MARKDOWN}, and JSON under /api;",
        "tables are CSV, Parquet and Arrow there (?format=csv).",
        "Every answer names its build: add ?build=DIGEST for the same answer later. Agents can also use MCP under /mcp.", "",
        "## Pages", "", *pages, "", "## Data", "", "- [API](/api/openapi.json): every page as data", "",
    ])


def error_html(error: WarehouseError, status: int, project: str) -> str:
    return _layout("error.html", project, None, error=error, status=status, pinned=pinned_to(None), build=None)


def login_html(project: str, fault: str, to: str) -> str:
    return _layout("login.html", project, None, fault=fault, to=to, pinned=pinned_to(None), build=None)


def _layout(template: str, project: str, path: str | None, gone: Collection[str] = (), **values: Any) -> str:
    """A page in its frame. The menu marks the page with this path, or the one that it lies below: Runs for one run; it has none that are gone."""
    shown = [view for view in VIEWS if view.menu and view.path not in gone]
    entries, further = ([(view.menu, view.path) for view in shown if view.is_further is later] for later in (False, True))
    return environment().get_template(template).render(
        project=project, menu=entries, further=further, chosen=path, version=__version__, **{"built_at": None, "is_pinned": False, **values}
    )


def _with_format(place: str, form: str, table: str | None = None) -> str:
    """Where the same figures are in another format."""
    parts = urlsplit(place)
    query = [*parse_qsl(parts.query), *([] if form == "json" else [("format", form)]), *([("table", table)] if table else [])]
    return parts._replace(path=f"/api{parts.path.rstrip('/') or VIEWS[0].path}", query=urlencode(query)).geturl()


