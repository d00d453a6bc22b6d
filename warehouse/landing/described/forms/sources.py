"""Files as trees of values: a document of JSON or XML, JSON lines, a table of cells, or lines of text that patterns recognise.

JSON lines, CSV, insertions of SQL and an array of records are one tree, a list of objects: one description reads all. Lines of text are an object
of lists, one for each pattern; a record also has, by their names, what the lines before it stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from warehouse.landing.described.forms.nodes import Fields, Node, begun_json, read_json
from warehouse.landing.described.forms.numerals import Numerals
from warehouse.landing.described.forms.sql import sql_tree
from warehouse.landing.described.forms.xml import begun_xml
from warehouse.landing.readers.text import Data, Line, Report, decoded, lines

JSON, JSON_LINES, CSV, TEXT, XML, SQL = "json", "json lines", "csv", "text", "xml", "sql"
FORMS = (JSON, JSON_LINES, CSV, TEXT, XML, SQL)
MAX_BYTES = 256 << 20  # of a file that is read whole
_HEADER_LINES = 200  # among which the header of a table is looked for
_LINE_CHARACTERS = 4096  # of a line that a pattern is tried on
_FIELD = re.compile(r"\{(\w*)(?::(word|number|text))?\}")
_RULE = re.compile(r"[\s|:+=-]*")


class PatternError(ValueError):
    """Why a pattern cannot be used."""


@dataclass(frozen=True)
class Pattern:
    """A form of line: `Copy: {rate:number} {time:number}`. Blanks stand for any blanks; a field is a `word`, a `number`, or `text` to the next
    fixed part. It is tried only under a line of the pattern `after`: below it, and above the next line of a pattern that is another's `after`."""

    name: str
    text: str
    after: str | None = None
    numerals: Numerals = Numerals()

    @cached_property
    def fields(self) -> tuple[tuple[str, bool], ...]:
        """The name of each field, and whether it is a number."""
        return tuple((found[1], found[2] == "number") for found in _FIELD.finditer(self.text))

    @cached_property
    def literal(self) -> str:
        """The longest fixed part, which a line must have."""
        return max((part.strip() for part in re.split(r"\{[^{}]*\}|\s+", self.text)), key=len, default="")

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Compiled when the first line is tried: most processes read files of few formats. Raises PatternError."""
        return re.compile(self.regex, re.ASCII)

    @property
    def regex(self) -> str:
        """Raises PatternError. All repeats but that of one text are possessive: the cost is at most that of the line's length squared."""
        if sum(found[2] in (None, "text") for found in _FIELD.finditer(self.text)) > 1:
            raise PatternError("more than one field of text; use word or number")
        if len(self.text) > 1000 or not self.text.strip() or "{" in _FIELD.sub("", self.text):
            raise PatternError("fields are written {name}, {name:word} or {name:number}")
        parts, last = [], 0
        for found in _FIELD.finditer(self.text):
            parts += [_fixed(self.text[last : found.start()]), self._field(found[2] or "text", self.text[found.end() : found.end() + 2])]
            last = found.end()
        return r"\s*+" + "".join([*parts, _fixed(self.text[last:])]) + r"\s*"

    def _field(self, kind: str, following: str) -> str:
        """A word ends before a blank, or before the mark that follows it."""
        mark = following[:1]
        if kind == "word" and mark == "{":
            raise PatternError("a word is followed by a blank or by what ends it, not by another field")
        return self.numerals.pattern(following) if kind == "number" else "(.*?)" if kind == "text" else rf"([^\s{re.escape(mark.strip())}]++)"


def _fixed(text: str) -> str:
    return r"\s++".join(re.escape(part) for part in re.split(r"\s+", text))


@dataclass(frozen=True)
class Dialect:
    """How cells are written: between them a `delimiter` (a blank: any blanks), lines that begin with `comment` are none. A table's first row
    names its columns, or `columns` does."""

    delimiter: str = ","
    comment: str | None = None
    columns: tuple[str, ...] = ()
    numerals: Numerals = Numerals()


def lines_tree(data: Data, report: Report) -> Node | None:
    """JSON lines as a list of their values. A line that breaks is reported and left out."""
    found = [node for line in lines(data, report) if (node := read_json(line.data, report, line.offset, line.number)) is not None]
    return Node(found, 0, len(data))


def json_tree(data: Data, report: Report) -> Node | None:
    """A document."""
    return read_json(bytes(data), report)


def table_tree(data: Data, report: Report, dialect: Dialect, required: frozenset[str]) -> Node | None:
    """A table as a list of objects. Its header is the first row that has the required columns. A row of another length is reported."""
    header: list[str] | None = list(dialect.columns) or None
    found: list[Node] = []
    for number, (line, cells) in enumerate(_rows(data, report, dialect)):
        names = [str(cell.value) for cell in cells]
        if header is None:
            if required.issubset(names):
                if len(set(names)) < len(names):
                    report.at("duplicate-column", ", ".join(sorted({name for name in names if names.count(name) > 1}))[:120], line, "error")
                    return None
                header = names
            elif number >= _HEADER_LINES:
                break
            continue
        if names == header or dialect.delimiter == "|" and _RULE.fullmatch(line.data.decode(errors="replace")):
            continue
        if len(cells) != len(header):
            report.at("columns-differ", f"{len(cells)} cells, {len(header)} columns", line, "error")
            continue
        if dialect.numerals != Numerals():
            cells = [cell._replace(value=dialect.numerals.plain(cell.value)) if isinstance(cell.value, str) else cell for cell in cells]
        found.append(Node(dict(zip(header, cells, strict=True)), line.offset, line.offset + line.length))
    return None if header is None else Node(found, 0, len(data))


def _rows(data: Data, report: Report, dialect: Dialect) -> Iterator[tuple[Line, list[Node]]]:
    """The rows, each with its cells; a row may have line ends inside of its quotes."""
    pending: Line | None = None
    for line in lines(data, report):
        if pending is not None:
            line = Line(pending.number, pending.offset, bytes(data[pending.offset : line.offset + line.length]))
        elif dialect.comment and line.data.lstrip().startswith(dialect.comment.encode()):
            continue
        if dialect.delimiter != " " and line.data.count(b'"') % 2:
            pending = line
            if line.length > 1 << 20:
                report.at("not-csv", "a quote is not closed", line, "error")
                return
            continue
        pending = None
        yield line, _cells(line, dialect, report)
    if pending is not None:
        report.at("not-csv", "a quote is not closed", pending, "error")


_QUOTED = re.compile(rb'\s*"((?:[^"]|"")*+)"\s*')


def _cells(line: Line, dialect: Dialect, report: Report) -> list[Node]:
    text, position = line.data, 3 if line.number == 1 and line.data.startswith(b"\xef\xbb\xbf") else 0
    decoded(line, report)
    if dialect.delimiter == " ":
        return [_cell(found[0], line.offset + found.start(), line.offset + found.end()) for found in re.finditer(rb"\S+", text[position:])]
    mark = dialect.delimiter.encode()
    found = []
    if b'"' not in text and mark != b"|":  # as most are: no cell needs a closer look
        start = line.offset + position
        for raw in text[position:].split(mark):
            cell = raw.strip()
            begin = start + (raw.find(cell) if cell is not raw else 0)
            found.append(Node(cell.decode(errors="replace").strip() or None, begin, begin + len(cell)))
            start += len(raw) + 1
        return found
    while True:
        if (quoted := _QUOTED.match(text, position)) and text[quoted.end() : quoted.end() + len(mark)] in (mark, b""):
            found.append(_cell(quoted[1].replace(b'""', b'"'), line.offset + quoted.start(1), line.offset + quoted.end(1)))
            stop = quoted.end()
        else:
            stop = text.find(mark, position)
            stop = len(text) if stop < 0 else stop
            raw = text[position:stop]
            cell = raw.strip()
            start = position + len(raw) - len(raw.lstrip())
            found.append(_cell(cell, line.offset + start, line.offset + start + len(cell)))
        if stop >= len(text):
            break
        position = stop + len(mark)
    if mark == b"|":  # as Markdown writes a table, with one at both ends
        found = found[1:] if found and found[0].value is None else found
        found = found[:-1] if found and found[-1].value is None else found
    return found


def _cell(text: bytes, start: int, stop: int) -> Node:
    return Node(text.decode(errors="replace").strip() or None, start, stop)


def text_tree(data: Data, report: Report, patterns: Sequence[Pattern]) -> Node:
    """Lines of text: an object with a list of records for each name whose pattern matched, of several the first."""
    found: dict[str, list[Node]] = {}
    latest: dict[str, Node] = {}
    headings, heading = {pattern.after for pattern in patterns}, None
    for line in lines(data, report):
        text = line.data.decode(errors="replace")
        if len(text) > _LINE_CHARACTERS:
            report.at("line-too-long", f"{len(text)} characters: no pattern is tried on it", line, "note")
            continue
        for pattern in patterns:
            if pattern.literal not in text or pattern.after and pattern.after != heading or not (matched := pattern.compiled.fullmatch(text)):
                continue
            name = pattern.name
            heading = name if name in headings else heading
            if not line.data.isascii():
                decoded(line, report)
            fields = {
                field: _field(matched, place, line, text, pattern.numerals if is_number else None)
                for place, (field, is_number) in enumerate(pattern.fields, 1) if field
            }
            before = {other: node for other, node in latest.items() if other != name and other not in fields}
            found.setdefault(name, []).append(Node(Fields(before, fields), line.offset, line.offset + line.length))
            latest[name] = Node(fields, line.offset, line.offset + line.length)
            break
    return Node({name: Node(records, records[0].start, records[-1].stop) for name, records in found.items()}, 0, len(data))


def _field(matched: re.Match[str], place: int, line: Line, text: str, numerals: Numerals | None) -> Node:
    start, stop = (len(text[:end].encode()) if not text.isascii() else end for end in matched.span(place))
    value = matched[place].strip()
    kept = value if numerals is None else numerals.plain(value)
    return Node(kept or None, line.offset + start, min(line.offset + stop, line.offset + line.length))


def begun_tree(
    head: bytes, is_whole: bool, form: str, dialect: Dialect, required: frozenset[str], patterns: Sequence[Pattern]
) -> Node | None:
    """What the beginning of a file states, for recognition: nothing is reported."""
    if form in (JSON, XML):
        return begun_json(head) if form == JSON else begun_xml(head)
    if form == JSON_LINES:
        first = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 50)
        nodes = [node for line in (first if is_whole else first[:-1])[:50] if line.strip() and (node := begun_json(line)) is not None]
        return Node(nodes, 0, len(head)) if nodes else None
    whole = head if is_whole else head[: head.rfind(b"\n") + 1]
    quiet = Quiet()
    if form == SQL:
        return sql_tree(head if is_whole else head[: head.rfind(b";") + 1], quiet)
    if form == CSV:
        return table_tree(whole, quiet, dialect, required)
    return text_tree(whole, quiet, patterns)


class Quiet(Report):
    """Reports to nobody."""

    def __init__(self) -> None:
        pass

    def __call__(self, *args: object, **options: object) -> None:
        pass
