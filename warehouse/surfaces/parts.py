"""What a view answers: a page of parts. Each part is a value that every surface shows in its own way: HTML, JSON, CSV, Arrow, Markdown.

A chart is drawn from the rows of its table and from nothing else, so that nothing is in a picture that is not in the figures below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

Kind = Literal["text", "code", "number", "state", "moment", "bytes", "spark", "effect"]


@dataclass(frozen=True)
class Column:
    """A column of a table. `link` is the address that its values lead to, with the row's other columns in braces: `/runs/{run_id}`; a row
    in which one of these is None has no link. `is_hidden`: for links and charts, and in the data formats, but not in the table that people
    read. `is_minor`: the first to go on a narrow screen. The value of a `spark` is a mapping of `values` and the `place` of a change or
    None (and how many values `before` and `after` it are of its levels), that of an `effect` one of `ratio`, `low`, `high` (None without an
    interval) and `threshold`; `tone` names the column with the state word that colours these. `half` names the column with half the width of
    a number's interval, and `below` names the column with the id or path that stands small under a
    value. `note` says what the column means. `sort` is the address of the same table sorted by the column, and `order` how it is sorted by it
    now. Of a text `most` characters are shown, and all of it on hover."""

    name: str
    title: str = ""
    kind: Kind = "text"
    unit: str | None = None
    link: str | None = None
    is_hidden: bool = False
    is_minor: bool = False
    tone: str | None = None
    half: str | None = None
    below: str | None = None
    note: str = ""
    sort: str | None = None
    order: Literal["up", "down"] | None = None
    most: int | None = None

    @property
    def heading(self) -> str:
        return self.title or self.name.replace("_", " ")


@dataclass(frozen=True)
class Chart:
    """How a table's rows are drawn: the names of its columns. `dots` has values on one axis; `trend` values over time, with a line at
    each row whose `note` is not None; `effects` intervals by row; `steps` points of two axes, and a line through those whose `on_line` is
    true, one for each value of `line` if that is given; `bars` one bar a row; a `matrix` a cell for each pair of x and y, as dark as its
    `value` is great; a `grid` the same with columns of x and rows of y, in the order of the rows; a `timeline` a lane for each
    `group`, with the unit in `value` and its spans in a state of `hatched` marked. Rows of the same `group` belong together. `state` colours
    a point, and rows in a state of `hatched` are drawn hollow, with the word. `low` and `high` bound an interval; `band` is the interval of the
    whole, as two values. `link` is the address of a row, as in `Column`. Points of a `trend` are joined that have the same value of `line`, or
    else of `group`; with `middle`, in steps through the median of those with the same value of it, within the interval that the columns
    of `around` bound. Points of one line with the same value of `beside`, such as the repeats of a session, stand beside each other.
    Each value of `facet` has a panel of its own, all with the same axes unless `is_own`. `logs`: which axes are logarithmic.
    `details` are columns that a point says beside these, such as its run.
    `better` is the direction of x that is better, which the line of `steps` needs. `label` is written beside the first point of
    a line of `steps`, where there is room."""

    kind: Literal["dots", "trend", "effects", "steps", "bars", "matrix", "grid", "timeline"]
    x: str
    y: str = ""
    title: str = ""
    x_unit: str | None = None
    y_unit: str | None = None
    low: str | None = None
    high: str | None = None
    group: str | None = None
    state: str | None = None
    hatched: tuple[str, ...] = ()
    note: str | None = None
    on_line: str | None = None
    band: tuple[float, float] | None = None
    mark: float | None = None
    link: str | None = None
    line: str | None = None
    middle: str | None = None
    around: tuple[str, str] | None = None
    beside: str | None = None
    facet: str | None = None
    logs: tuple[Literal["x", "y"], ...] = ()
    better: Literal["higher", "lower"] = "lower"
    value: str | None = None
    is_own: bool = False
    details: tuple[str, ...] = ()
    label: str | None = None


@dataclass(frozen=True)
class Table:
    """Rows with named columns. `total` says how many rows there are in all where these are the first of them, and `more` where the next
    are; `is_cut`: there are more, and how many was not counted. `listed`: only so many of the rows are for reading, the chart and the data formats
    have all."""

    part: ClassVar[str] = "table"
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    note: str = ""
    empty: str = "none"
    total: int | None = None
    more: str | None = None
    is_cut: bool = False
    listed: int | None = None
    chart: Chart | None = None
    is_folded: bool = False

    def records(self, most: int | None = None) -> list[dict[str, Any]]:
        """All rows by the names of their columns, or the first of them."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows[:most]]


@dataclass(frozen=True)
class Fact:
    """One line of facts: its name, value and unit, and where it leads."""

    name: str
    value: Any
    unit: str | None = None
    link: str | None = None
    kind: Kind = "text"
    title: str = ""
    note: str = ""
    tone: str = ""

    @property
    def heading(self) -> str:
        return self.title or self.name.replace("_", " ")


@dataclass(frozen=True)
class Facts:
    """Named values that belong together. `steps`: drawn side by side, as stations of a way; `cards`: side by side, each value large before its
    words, in the colour of its `tone` (`good`, `warn`, `bad`); `links`: one after the other, as choices, of which those without a link are
    chosen, with the title before them."""

    part: ClassVar[str] = "facts"
    name: str
    items: tuple[Fact, ...]
    title: str = ""
    form: Literal["list", "steps", "links", "cards"] = "list"


@dataclass(frozen=True)
class Facets:
    """Groups of choices beside what follows on the page, which is narrowed or made by them. On a narrow screen `words` leads there."""

    part: ClassVar[str] = "facets"
    name: str
    groups: tuple[Facts, ...]
    words: str = "Filter"


@dataclass(frozen=True)
class Figure:
    """One value large, with its unit, its interval in words, and its states. `half` is half the width of the interval, which says how many
    digits the value has."""

    part: ClassVar[str] = "figure"
    kind: ClassVar[Kind] = "number"
    name: str
    value: Any
    unit: str | None = None
    interval: str = ""
    states: tuple[str, ...] = ()
    link: str | None = None
    half: float | None = None


@dataclass(frozen=True)
class Text:
    """Text as it is: prose, SQL, commands to run, or the content of a file. `links` are the pages of the tables that SQL names. `is_folded`: only
    how many lines it has shows at first."""

    part: ClassVar[str] = "text"
    name: str
    text: str
    form: Literal["prose", "sql", "commands", "raw"] = "prose"
    title: str = ""
    note: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    is_folded: bool = False


@dataclass(frozen=True)
class Excerpt:
    """Bytes that were read from a file, with those around them; each piece as text, or as hex where it is not text."""

    part: ClassVar[str] = "excerpt"
    name: str
    place: str
    offset: int
    length: int
    before: str
    cited: str
    after: str
    link: str | None = None
    title: str = ""


@dataclass(frozen=True)
class Choice:
    """One field of a filter or a form: a text field, or a choice. `words`: what people call a choice, where that is not itself."""

    name: str
    title: str = ""
    value: str = ""
    choices: tuple[str, ...] = ()
    form: Literal["line", "text", "hidden"] = "line"
    hint: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        return self.title or self.name.replace("_", " ")


@dataclass(frozen=True)
class Form:
    """Fields whose values become the parameters of a view, or with `method` post, of an act. `is_folded`: only its title shows at first."""

    part: ClassVar[str] = "form"
    name: str
    address: str
    fields: tuple[Choice, ...]
    button: str = "Show"
    title: str = ""
    method: Literal["get", "post"] = "get"
    is_folded: bool = False


@dataclass(frozen=True)
class Entry:
    """One thing of a list, with its answer: its states and title, what is to be known of it in lines, and its value, in the colour of `tone`
    (`good`, `warn`, `bad`), with its interval and a note. `figures` are tables of it, which the tables of the page have as well; `actions` lead on,
    or, as forms, decide about it."""

    part: ClassVar[str] = "entry"
    name: str
    title: str
    link: str | None = None
    states: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    value: str = ""
    tone: str = ""
    interval: str = ""
    note: str = ""
    figures: tuple[Table, ...] = ()
    actions: tuple[Fact | Form, ...] = ()


def without_empty(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> tuple[Column, ...]:
    """The columns, those hidden in which no row has a value: a reader gains nothing from them, a program may."""
    return tuple(
        replace(column, is_hidden=True) if rows and all(row[place] is None for row in rows) else column for place, column in enumerate(columns)
    )


Part = Table | Facts | Facets | Figure | Text | Excerpt | Form | Entry


@dataclass(frozen=True)
class Page:
    """What a view answers: a title, what is to be known first, and parts in the order in which they are read."""

    title: str
    parts: tuple[Part, ...]
    subtitle: str = ""
    states: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    crumbs: tuple[tuple[str, str], ...] = ()
    next_steps: Mapping[str, str] = field(default_factory=dict)  # what a reader may want next: words and address

    def table(self, name: str) -> Table | None:
        return next((part for part in self.parts if isinstance(part, Table) and part.name == name), None)

    @property
    def tables(self) -> Sequence[Table]:
        return [part for part in self.parts if isinstance(part, Table)]
