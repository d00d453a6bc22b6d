"""The components: each part of a page as HTML. All values are data and come out escaped, with characters that do not show made visible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from warehouse.errors import counted, printable_lines
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.html.charts import chart, effect, spark
from warehouse.surfaces.notebook.fragments import SIGNS, kind_of
from warehouse.surfaces.parts import Column, Fact, Figure, Table, Text
from warehouse.surfaces.view import linked
from warehouse.transform.export.docs.published_pages import is_digest, short, shown_value
from warehouse.transform.export.docs.sql_markup import sql_markup

if TYPE_CHECKING:
    import jinja2

_LONG, _SHORT = 32, 17  # characters
_MOST_OF_CODE = 56  # characters of an id or a path
_FOLDER = Path(__file__).parent
_BYTES = ("B", "kB", "MB", "GB", "TB")


@cache
def environment() -> "jinja2.Environment":
    import jinja2

    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined, finalize=_visible,
    )
    found.globals.update(
        chip=chip, fact=fact, figure_text=figure_text, breaks=breaks, chart=chart, linked=linked, sql_text=sql_text,
        table_rows=table_rows,
    )
    found.filters.update(counted=counted, moment=moment, count=lambda number: f"{number:,}")
    return found


def _visible(value: Any) -> Any:
    return value if hasattr(value, "__html__") else printable_lines(str(value)) if value is not None else ""


def sql_text(part: Text, pinned: Callable[[str], str]) -> Markup:
    return _sql_text(part.text, tuple((name, pinned(place)) for name, place in part.links.items()))


@lru_cache(maxsize=64)  # all numbers of a query show the same SQL
def _sql_text(text: str, links: tuple[tuple[str, str], ...]) -> Markup:
    return sql_markup(text, dict(links))


def chip(word: str) -> Markup:
    """A state: the word with its sign and colour."""
    kind = kind_of(word)
    return Markup(f'<span class="chip {escape(kind)}"><span aria-hidden="true">{escape(SIGNS[kind])}</span> {escape(printable_lines(word))}</span>')


def table_rows(part: Table, columns: Sequence[Column], pinned: Callable[[str], str]) -> Markup:
    """The rows of a table's body. What all cells of a column share is written once: a template took two thirds of a page's time for it."""
    around = []
    for column in columns:
        classes = f"{'right ' if column.kind in ('number', 'bytes') else ''}{'minor ' if column.is_minor else ''}"
        unit = f' data-unit="{escape(printable_lines(column.unit))}"' if column.unit and column.kind != "bytes" else ""
        around.append((column, f'<td class="{classes}', f'" data-name="{escape(printable_lines(column.heading))}"{unit}>'))
    rows = []
    for record in part.records(part.listed):
        rows.append("<tr>")
        for column, begin, end in around:
            rows.append(f"{begin}{breaks(record[column.name], column.kind)}{end}{cell(column, record, pinned)}</td>")
        rows.append("</tr>\n")
    return Markup("".join(rows))


def cell(column: Column, record: Mapping[str, Any], pinned: Callable[[str], str]) -> Markup:
    """One cell of a table, with where it leads."""
    value = record[column.name]
    if column.kind in ("spark", "effect"):
        tone = kind_of(str(record[column.tone])) if column.tone else "plain"
        shown = (spark if column.kind == "spark" else effect)(value, tone) if value else Markup("")
    elif column.most and isinstance(value, str) and len(value) > column.most:
        whole = printable_lines(value)
        shown = Markup('<span title="{}">{}…</span>').format(whole, whole[: column.most - 1])
    else:
        shown = formatted(value, column.kind, record[column.half] if column.half else None)
    shown = _door(shown, linked(column.link, record), pinned)
    under = record[column.below] if column.below else None
    return shown if under is None else shown + Markup('<small class="below">{}</small>').format(formatted(under, "code"))


def breaks(value: Any, kind: str) -> str:
    """How a cell's text may be broken: `long` anywhere, or a narrow column would break its words too; `whole` nowhere."""
    if not isinstance(value, str):
        return ""
    length = len(middle(value) if kind == "code" else value)
    return "long" if length > _LONG else "whole" if length <= _SHORT else ""


def fact(each: Fact, pinned: Callable[[str], str], is_door: bool = True) -> Markup:
    shown = _door(formatted(each.value, each.kind), each.link if is_door else None, pinned)
    return shown + Markup(" {}").format(each.unit) if each.unit and each.value is not None else shown


def figure_text(each: Figure) -> Markup:
    """A figure with the digits that its interval supports, and its unit."""
    is_number = not isinstance(each.value, bool | str) and hasattr(each.value, "__round__")
    shown = formatted(each.value, "text")
    if is_number:
        shown = Markup('<span title="{}">{}</span>').format(f"{each.value:,}", rounded(each.value, each.half))
    return shown + Markup(' <span class="of">{}</span>').format(each.unit) if each.unit and each.value is not None else shown


def _door(shown: Markup, address: str | None, pinned: Callable[[str], str]) -> Markup:
    return Markup(f'<a href="{escape(pinned(address))}">{escape(shown)}</a>') if address and shown else shown


def formatted(value: Any, kind: str, half: float | None = None) -> Markup:
    """A value as people read it. A number has the digits that half the width of its interval supports; all of them are its title."""
    if value is None:
        return Markup('<span class="null" title="NULL">–</span>')
    if kind == "state":
        return chip(str(value))
    if kind == "bytes" and isinstance(value, int):
        return escape(size(value))
    if kind == "moment":
        return Markup(f'<time datetime="{escape(str(value))}">{escape(moment(value))}</time>')
    if not isinstance(value, bool | str) and hasattr(value, "__round__"):
        text, whole = rounded(value, half), f"{value:,}"
        shown = escape(text) if text == whole else Markup('<span title="{}">{}</span>').format(whole, text)
        return shown if half is None else shown + Markup(' <span class="half">± {}</span>').format(rounded(half, half))
    if kind == "code":
        text = printable_lines(shown_value(value))
        cut = middle(short(text) if is_digest(text) else text)
        return Markup(f'<code title="{escape(text)}">{escape(cut)}</code>') if cut != text else Markup(f"<code>{escape(text)}</code>")
    return escape(printable_lines(shown_value(value)))


def middle(text: str, most: int = _MOST_OF_CODE) -> str:
    """A text with its beginning and its end, which tell ids and paths apart."""
    return text if len(text) <= most else f"{text[: most // 3].rstrip('…')}…{text[-(most - most // 3 - 1) :].lstrip('…')}"


def moment(value: Any) -> str:
    """A time to the minute, in UTC."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, date):
        return value.isoformat()
    return f"{printable_lines(str(value))[:16].replace('T', ' ')} UTC" if "T" in str(value) else printable_lines(str(value))


def size(count: float) -> str:
    for unit in _BYTES:
        if count < 1000 or unit == _BYTES[-1]:
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
