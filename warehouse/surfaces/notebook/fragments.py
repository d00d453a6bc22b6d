"""Values as fragments of HTML. A fragment is on its own in a page that it knows nothing of: it has no script, no style sheet and no address to
load from, takes its text colour and background from the page, and draws what has a colour of its own on a ground of its own."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from warehouse.errors import counted, printable_lines

if TYPE_CHECKING:
    import jinja2

# By the name of the class, so that what shows a number does not import what compares runs.
_TEMPLATES = {
    "FoundCell": "number.html", "Lineage": "lineage.html", "Verdict": "verdict.html", "Comparison": "comparison.html", "Frontiers": "frontiers.html",
}
LISTED = 5  # run ids, files, models
MOST_ROWS = 50  # of a table
MOST_SCOPES = 6  # of frontiers
# Each state word's kind: a colour of the site, and a sign for those who do not see it.
SIGNS = {"good": "✓", "warn": "!", "bad": "✕", "plain": "○"}
_KINDS = {
    **dict.fromkeys(("verified", "publishable", "equivalent", "better", "faster", "valid", "on the frontier"), "good"),
    **dict.fromkeys(("provisional", "unstable", "suspected", "stale", "retracted", "flagged", "not representative", "higher", "lower"), "warn"),
    **dict.fromkeys(
        (
            "worse", "slower", "failed", "invalid", "broken", "refused", "unsupported", "tampered", "missing", "not reproduced", "expired by policy",
            "withdrawn", "superseded",
        ), "bad"
    ),
    **{
        f"suspected {way}{more}": "warn" for way in ("better", "worse", "faster", "slower", "higher", "lower") for more in ("", " (exploratory)")
    },
    **{f"confirmed {way}": kind for way, kind in (("better", "good"), ("faster", "good"), ("worse", "bad"), ("slower", "bad"))},
    **{f"confirmed {way}{more}": "warn" for way in ("higher", "lower") for more in ("", " (exploratory)")},
    **{f"confirmed {way} (exploratory)": "warn" for way in ("better", "worse", "faster", "slower")},
    **dict.fromkeys(("whole", "valid", "signed"), "good"),
    **dict.fromkeys(("left out", "not published", "published as provisional", "untrusted key", "removed by policy"), "warn"),
    **dict.fromkeys(("warning", "differs", "stated twice"), "warn"),
    **dict.fromkeys(("altered", "damaged", "error", "signature invalid", "odd", "noisier"), "bad"),
}


_SINCE = re.compile(r" (?:since |\d+ (?:h|days) ago$|within the hour$).*")  # what a state says beside its word


def fragment(value: Any) -> str:
    """One of the values of `_TEMPLATES` as HTML. Raises KeyError for any other."""
    return _environment().get_template(_TEMPLATES[type(value).__name__]).render(found=value)


def kind_of(*words: str | None) -> str:
    """The kind of the first of the words that has one: `good`, `warn`, `bad`, else `plain`."""
    known = (_KINDS.get(word) or _KINDS.get(_SINCE.sub("", word)) for word in words if word)
    return next(filter(None, known), "plain")


def has_fragment(kind: type) -> bool:
    return kind.__name__ in _TEMPLATES


@cache
def _environment() -> "jinja2.Environment":
    import jinja2

    from warehouse.transform.export.docs.published_pages import shown_value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, finalize=_visible,
    )
    environment.globals.update(
        token=_tokens(), kind_of=kind_of, signs=SIGNS,
        listed=LISTED, most_rows=MOST_ROWS, most_scopes=MOST_SCOPES, plot=_plot, is_interval=lambda each: hasattr(each, "low"), **_wordings(),
    )
    environment.filters.update(value=shown_value, counted=counted, median=median, figure=lambda number: f"{number:.6g}")
    return environment


def _visible(value: Any) -> Any:
    """Text with control and invisible characters escaped, as on a terminal: they could turn a line around, or hide a part of it."""
    return value if hasattr(value, "__html__") else printable_lines(str(value)) if value is not None else ""


def _tokens() -> Mapping[str, str]:
    """The colours and fonts of the documentation site, by name, as on light paper."""
    from warehouse.transform.export.docs.pages import asset_files

    light = dict(asset_files())["assets/site.css"].partition(":root {")[2].partition("}")[0]
    return dict(re.findall(r"--([\w-]+): ([^;]+);", light))


def _wordings() -> Mapping[str, Callable[..., str]]:
    """Texts about parts of the values that other pages show too."""
    from warehouse.claims.publish.corrections import correction_text

    def at_text(answer: Any, found: Any) -> str:
        from warehouse.analysis.serving import frontier

        return frontier.at_text(answer, found)

    def within_text(point: Any, found: Any) -> str:
        from warehouse.analysis.serving import frontier

        return frontier.within_text(point, found)

    return {"correction_text": correction_text, "at_text": at_text, "within_text": within_text}


def _plot(found: Any, frontier: Any) -> str:
    """One frontier's drawing as an image within the page: its styles and names stay its own."""
    from warehouse.analysis.serving.drawing import frontiers_svg

    drawing = printable_lines(frontiers_svg(replace(found, frontiers=(frontier,))))  # in XML a control character is an error
    return f"data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}"
