"""What every kind of chart shares: the rows as marks, their words, links, shapes and colours, and the frame with its axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from markupsafe import Markup

from warehouse.errors import counted, printable_lines
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.html.charts.axes import number
from warehouse.surfaces.notebook.fragments import kind_of
from warehouse.surfaces.parts import Chart, Column, Table
from warehouse.surfaces.view import linked
from warehouse.transform.export.docs.published_pages import shown_value

MOST_GROUPS = 6  # with a shape and a colour of their own
MOST_POINTS = 200  # drawn one by one
BROAD = (1000, 330)
NOTHING = Markup("")
Drawn = tuple[Markup, list[str]]  # a drawing, and what it left out
SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "m-3.5-3.5h7v7h-7z", "m0-4.6 4.4 7.8h-8.8z", "m0-5 5 5-5 5-5-5z", "m0 4.6 4.4-7.8h-8.8z",
    "m-4-4 8 8m0-8-8 8",
)


@dataclass(frozen=True)
class Mark:
    """A row with the numbers that place it: None where the row has none, or the axis has no place for it."""

    record: Mapping[str, Any]
    x: float | None
    y: float | None
    group: int

    @property
    def is_placed(self) -> bool:
        return self.x is not None and self.y is not None


@dataclass(frozen=True)
class Plot:
    """A table with its chart, while it is drawn. `groups` are the values of its column `group`, in the order of the rows; `most` points
    are drawn one by one."""

    table: Table
    chart: Chart
    groups: tuple[Any, ...]
    pinned: Callable[[str], str]
    most: int = MOST_POINTS

    def marks(self, records: Sequence[Mapping[str, Any]]) -> list[Mark]:
        chart = self.chart
        return [
            Mark(record, self._number(record, chart.x, "x"), self._number(record, chart.y, "y") if chart.y else None, self.group(record))
            for record in records
        ]

    def _number(self, record: Mapping[str, Any], name: str, side: str) -> float | None:
        found = number(record[name])
        return None if found is not None and found <= 0 and side in self.chart.logs else found

    def group(self, record: Mapping[str, Any]) -> int:
        return min(self.groups.index(record[self.chart.group]), MOST_GROUPS) if self.chart.group else 0

    def bounds(self, record: Mapping[str, Any], side: str) -> tuple[float, float] | None:
        """The interval of a row, where it has one."""
        chart = self.chart
        low, high = (number(record[name]) if name else None for name in (chart.low, chart.high))
        return None if low is None or high is None or side in chart.logs and low <= 0 else (low, high)

    def is_hatched(self, record: Mapping[str, Any]) -> bool:
        return self.chart.state is not None and record[self.chart.state] in self.chart.hatched

    def tone(self, record: Mapping[str, Any], group: int) -> str:
        kind = kind_of(str(record[self.chart.state])) if self.chart.state else "plain"
        return f"s{group}" if kind == "plain" or self.chart.group else kind

    def heading(self, name: str) -> str:
        column = self._column(name)
        return column.heading if column else name

    def unit(self, name: str) -> str | None:
        chart, column = self.chart, self._column(name)
        return (chart.x_unit if name == chart.x else chart.y_unit if name == chart.y else None) or (column.unit if column else None)

    def _column(self, name: str) -> Column | None:
        return next((column for column in self.table.columns if column.name == name), None)

    def words(self, record: Mapping[str, Any]) -> str:
        """What a mark says when it is pointed at, or read aloud."""
        chart = self.chart
        said = [value_text(record[name]) for name in (chart.group, chart.state, chart.note) if name and record[name] is not None]
        for name in filter(None, (chart.value, chart.y, chart.x)):
            unit = f" {unit}" if (unit := self.unit(name)) and record[name] is not None else ""
            heading = "" if chart.kind == "trend" and record[name] is not None else f"{self.heading(name)} "  # the axes say it
            said.append(f"{heading}{value_text(record[name])}{unit}")
        if chart.low and chart.high and record[chart.low] is not None and record[chart.high] is not None:
            said.append(f"from {value_text(record[chart.low])} to {value_text(record[chart.high])}")
        said += [value_text(record[name]) for name in chart.details if record[name] is not None]
        return printable_lines("; ".join(said))

    def point(self, mark: Mark, x: float, y: float, more: Markup = NOTHING) -> Markup:
        """A mark at a pixel, as a link where its row has one. `more` is drawn with it."""
        hollow = " hollow" if self.is_hatched(mark.record) else ""
        place = f"M{x:g} {y:g}{SHAPES[mark.group % MOST_GROUPS]}"
        shape = Markup('<path class="point{} {}" d="{}"/>').format(hollow, self.tone(mark.record, mark.group), place)
        return self.door(mark.record, more + shape)

    def whisker(self, mark: Mark, path: str) -> Markup:
        return Markup('<path class="whisker {}" d="{}"/>').format(self.tone(mark.record, mark.group), path)

    def fixed(self, side: str) -> list[float]:
        """The values of the band and the mark, which an axis has to have."""
        chart = self.chart
        found = [*(chart.band or ()), *(() if chart.mark is None else (chart.mark,))]
        return [each for each in found if each > 0 or side not in chart.logs]

    def left_out(self, marks: Sequence[Mark], *names: str) -> list[str]:
        """Which rows have no place on the axes of these columns, and why; and what hollow points are."""
        chart, said = self.chart, []
        for name in names:
            values = [number(mark.record[name]) for mark in marks]
            if missing := sum(value is None for value in values):
                said.append(f"{counted(missing, 'row')} without {self.heading(name)}")
            is_log = ("x" if name == chart.x else "y") in chart.logs
            if low := sum(value is not None and value <= 0 for value in values) if is_log else 0:
                said.append(f"{counted(low, 'row')} with {self.heading(name)} of zero or less: a logarithmic axis has no place for it")
        if hatched := [str(mark.record[chart.state]) for mark in marks if chart.state and self.is_hatched(mark.record)]:
            said.append(f"hollow: {', '.join(f'{count} {word}' for word, count in sorted(Counter(hatched).items()))}")
        return said

    def door(self, record: Mapping[str, Any], drawn: Markup) -> Markup:
        words = self.words(record)
        titled = Markup("<title>{}</title>{}").format(words, drawn)
        if place := linked(self.chart.link, record):
            return Markup('<a href="{}" aria-label="{}">{}</a>').format(self.pinned(place), words, titled)
        return Markup('<g role="img" aria-label="{}">{}</g>').format(words, titled)

    def svg(self, width: int, height: int, inside: Iterable[Markup], name: str = "") -> Markup:
        """`name` is of one panel among several; else the drawing is wide."""
        words = " · ".join(filter(None, (self.chart.title or self.table.title or self.table.name, name)))
        kind = "" if name else " broad plane" if (width, height) == BROAD else " broad"
        stretched = Markup(' preserveAspectRatio="none"') if "plane" in kind else NOTHING  # a phone shows it twice as high
        return Markup('<svg class="chart{}" viewBox="0 0 {} {}"{} role="group" aria-label="{}">{}</svg>').format(
            kind, width, height, stretched, printable_lines(words), Markup("\n").join(inside)
        )


def value_text(value: Any) -> str:
    """A value in a few characters."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if value is None or isinstance(value, bool | str | date):
        return shown_value(value)
    return rounded(value) if hasattr(value, "__round__") else shown_value(value)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
