"""Parts and pages as Markdown, in the dialect of GitHub: the same figures as in HTML. Drawings are left out, what they are drawn from is not.

All values are data: nothing in them is markup, a link, or invisible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from warehouse.errors import printable, printable_lines
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.html.components import moment, size
from warehouse.surfaces.parts import Column, Entry, Excerpt, Facets, Fact, Facts, Figure, Page, Part, Table, Text
from warehouse.surfaces.view import linked
from warehouse.transform.export.docs.published_pages import short, shown_value

Leading = Callable[[str], str]  # from an address within these pages to the one that a link has; an empty one: no link
_DIGITS = 6  # of a number in a table that has no interval
_WIDTH = 120  # of prose on a page; a row of a table, a heading and code are one line whatever their length
_BEGINS_A_BLOCK = re.compile(r"^(\s*\d*)([-+=.)])(?=[-=]*(\s|$))")  # a list, or the line under a heading
_MARKED = re.compile(r"[\\`*_\[\]#|~$]")


def nowhere(place: str) -> str:
    """No value leads anywhere."""
    return ""


def page_markdown(page: Page, leads: Leading) -> str:
    """A page, whose values lead where `leads` says."""
    lines = [
        f"# {plain(page.title)}", plain(page.subtitle), ", ".join(map(plain, page.states)), *(f"> {plain(notice)}" for notice in page.notices),
        *(block for part in page.parts for block in part_markdown(part, leads)),
        "\n".join(f"- {_link(plain(words), place, leads)}" for words, place in page.next_steps.items()),
    ]
    return "\n\n".join(map(_wrapped, filter(None, lines))) + "\n"


def _wrapped(block: str) -> str:
    """A block whose prose is in lines of a width to read."""
    if block.startswith(("|", "#", "```")):
        return block
    return "\n".join(line for each in block.split("\n") for line in _lines(each))


def _lines(text: str) -> Iterator[str]:
    """A paragraph, an item or a quotation in lines; none of them begins another block."""
    begin = next((each for each in ("- ", "> ") if text.startswith(each)), "")
    found = wrap(text.removeprefix(begin), _WIDTH - len(begin), break_long_words=False, break_on_hyphens=False)
    for place, line in enumerate(found):
        yield begin + line if place == 0 else begin.replace("-", " ") + _BEGINS_A_BLOCK.sub(r"\1\\\2", line)


def part_markdown(part: Part, leads: Leading = nowhere, level: int = 2, is_exact: bool = False) -> Iterator[str]:
    """The blocks of a part, under a heading of that level. Fields to fill in have none. `is_exact`: numbers in tables have all digits."""
    if not isinstance(part, Figure | Entry | Facets) and part.title:
        yield f"{'#' * level} {plain(part.title)}"
    if isinstance(part, Table):
        yield from _table(part, leads, is_exact)
    elif isinstance(part, Facts):
        yield "\n".join(f"- {(_choice if part.form == 'links' else _fact)(each, leads)}" for each in part.items)
    elif isinstance(part, Figure):
        yield _link(plain(f"{shown_value(part.value)} {part.unit or ''} {part.interval} {', '.join(part.states)}".strip()), part.link, leads)
    elif isinstance(part, Facets):
        for group in part.groups:
            yield f"{plain(group.title or group.name)}: {', '.join(_choice(each, leads) for each in group.items)}"
    elif isinstance(part, Entry):
        yield from _entry(part, leads, level, is_exact)
    elif isinstance(part, Text):
        yield plain(part.note)
        yield plain(part.text) if part.form == "prose" else fenced(part.text)
    elif isinstance(part, Excerpt):
        yield f"{_link(plain(part.place), part.link, leads)}, bytes {part.offset:,} to {part.offset + part.length:,}"
        yield fenced(part.cited)


def _entry(each: Entry, leads: Leading, level: int, is_exact: bool) -> Iterator[str]:
    yield f"{'#' * level} {_link(plain(each.title), each.link, leads)}"
    yield plain(" · ".join(filter(None, (*each.states, f"{each.value} {each.interval}".strip(), each.note))))
    yield from map(plain, each.lines)
    for figures in each.figures:
        yield from part_markdown(figures, leads, level + 1, is_exact)
    yield " · ".join(_choice(action, leads) for action in each.actions if isinstance(action, Fact) and leads(action.link or ""))


def _fact(each: Fact, leads: Leading) -> str:
    words = [_value(each.value, each.kind), plain(each.unit or ""), f"({plain(each.note)})" if each.note else ""]
    return f"{plain(each.heading)}: {_link(' '.join(filter(None, words)), each.link, leads)}"


def _choice(each: Fact, leads: Leading) -> str:
    return f"{_link(plain(each.heading), each.link, leads)} {'' if each.value is None else _value(each.value, each.kind)}".strip()


def _table(table: Table, leads: Leading, is_exact: bool) -> Iterator[str]:
    yield plain(table.note)
    if not table.rows:
        yield plain(table.empty)
        return
    columns = [column for column in table.columns if not column.is_hidden and column.kind != "spark"]
    heading = "| " + " | ".join(plain(f"{each.heading} {each.unit or ''}".strip()) for each in columns) + " |"
    rule = "|" + "|".join(" ---: " if each.kind in ("number", "bytes") else " --- " for each in columns) + "|"
    records = table.records(table.listed)
    yield "\n".join([heading, rule, *("| " + " | ".join(_cell(each, record, leads, is_exact) for each in columns) + " |" for record in records)])
    if table.is_cut:
        yield f"the first {len(records):,} rows; there are more"
    elif (table.total or len(table.rows)) > len(records):
        count = f"{len(records):,} of {table.total or len(table.rows):,} rows"
        yield f"{count}, {_link('the next', table.more, leads)}" if table.more and leads(table.more) else count


def _cell(column: Column, record: Mapping[str, Any], leads: Leading, is_exact: bool) -> str:
    half = record[column.half] if column.half else None
    value = record[column.name]
    is_rounded = not is_exact and column.kind == "number" and not isinstance(value, bool | str) and hasattr(value, "__round__")
    words = plain(rounded(value, half, _DIGITS)) if is_rounded else _value(value, column.kind)
    words += f" ± {rounded(half, half)}" if half is not None else ""
    return _link(words, linked(column.link, record), leads)


def _link(words: str, place: str | None, leads: Leading) -> str:
    address = leads(place) if place else ""
    return f"[{words}](<{address}>)" if address and words else words


def _value(value: Any, kind: str) -> str:
    if value is None:
        return "NULL"
    if kind == "moment":
        return plain(moment(value))
    if kind == "bytes" and isinstance(value, int):
        return size(value)
    if kind == "effect":
        interval = "" if value["low"] is None else f" [{value['low']:.3g}, {value['high']:.3g}]"
        return plain(f"x {value['ratio']:.4g}{interval}")
    if not isinstance(value, bool | str) and hasattr(value, "__round__"):
        return plain(f"{value:,}")
    return plain(short(value) if kind == "code" else shown_value(value))


def plain(text: str) -> str:
    """Text on one line in which nothing is markup, a link, or invisible."""
    shown = printable(" ".join(text.split("\n")) if text.isprintable() else text)
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = _MARKED.sub(r"\\\g<0>", shown)
    shown = _BEGINS_A_BLOCK.sub(r"\1\\\2", shown)
    return shown.replace("://", "&#58;//").replace("@", "&#64;").replace("www.", "www&#46;")


def fenced(text: str) -> str:
    """Text between fences that it cannot end."""
    shown = printable_lines(text)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}"
