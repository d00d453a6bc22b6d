"""A report as it lies in a file: its record, and the figures of its tables, as text. For whoever did not make it: nothing here trusts it."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from warehouse.errors import ExitCode, WarehouseError, printable

REPORT_VERSION = 1
AUDIENCES = ("engineering", "product", "partner")
_MOST_BYTES = 64 << 20
_BEGINNING = 4096
_SIGN = re.compile(rb'<!-- wh-report \d+ -->|<meta name="generator" content="wh-report \d+">')
_RECORD = re.compile(r'<script type="application/json" id="wh-report">(.*?)</script>|^```json\n(\{.*?\})\n```$', re.DOTALL | re.MULTILINE)
NUMBER_ID = re.compile(r"\bn-[a-z2-7]{12}\b")
_VOID = frozenset({"br", "path", "circle", "rect", "wbr"})
# What exploratory sections are written with. A list of what is allowed: browsers know more ways out of a section than a list of what is not.
_TAGS = frozenset(
    "section h2 small p b br wbr span code pre time div dl dt dd ul li table thead tbody tr th td details summary figure figcaption"
    " svg g path text title rect circle".split()
)
_ATTRIBUTES = frozenset(
    "id class title datetime scope role tabindex aria-label aria-hidden data-name data-unit viewBox width height x y cx cy r d"
    " text-anchor dominant-baseline preserveAspectRatio".split()
)
_TAG = re.compile(r"<(/?)([A-Za-z0-9]+)((?: [A-Za-z-]+=\"[^\"<>]*\")*) ?/?>")
_ATTRIBUTE = re.compile(r" ([A-Za-z-]+)=\"([^\"]*)\"")
_LINE = re.compile(r"(?:### |- )?")
_SYNTAX = re.compile(r"[\\`*_\[\]#~$<>]|://|www\.|@")

@dataclass(frozen=True)
class ReportFile:
    """A file that says that it is a report, with its record."""

    path: Path
    text: str
    record: Mapping[str, Any]

    @property
    def is_html(self) -> bool:
        return self.text.lstrip()[:9].lower() == "<!doctype"


def is_report(path: Path) -> bool:
    """Whether a file says that it is a report, by its first bytes or its name."""
    with path.open("rb") as stream:
        beginning = stream.read(_BEGINNING)
    return bool(_SIGN.search(beginning)) or path.suffix.lower() in (".html", ".htm", ".md")


def read_report(path: Path) -> ReportFile:
    """Raises WH611 for what is no report, or has no record that can be read."""
    def unreadable(message: str, hint: str | None = None) -> WarehouseError:
        return WarehouseError("WH611", message, printable(str(path)), hint, ExitCode.TAMPERED)

    if path.stat().st_size > _MOST_BYTES:
        raise unreadable(f"it has more than {_MOST_BYTES >> 20} MiB")
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise unreadable("it is not UTF-8") from error
    found = _RECORD.findall(text)
    if not found:
        raise unreadable("it has no record of what it is of", "a report is written by wh report")
    try:
        record = json.loads(next(filter(None, found[-1])))
        is_known = record["report_version"] == REPORT_VERSION
        lists = [record[name] for name in ("scope", "publications", "left_out", "numbers")]
        is_whole = record["audience"] in AUDIENCES and all(isinstance(each, list) and all(isinstance(one, str) for one in each) for each in lists)
        is_whole = is_whole and all(record[name] is None or isinstance(record[name], str) for name in ("build", "until", "wh"))
    except (ValueError, KeyError, TypeError, RecursionError, StopIteration) as error:
        raise unreadable(f"its record cannot be read: {type(error).__name__}") from error
    if not is_known:
        raise unreadable(f"its form is {printable(str(record['report_version']))[:20]}, known is {REPORT_VERSION}")
    if not is_whole:
        raise unreadable("its record is not that of a report")
    return ReportFile(path, text, record)


def rows_of(report: ReportFile) -> Iterator[dict[str, str]]:
    """The rows of all tables, by their headings. A cell that has all of its digits as its title has them behind what it shows."""
    for headings, rows in _html_tables(report.text) if report.is_html else _markdown_tables(report.text):
        for row in rows:
            if len(row) == len(headings):
                yield dict(zip(headings, row, strict=True))


def titled(title: str) -> str:
    """The title of a cell as `rows_of` has it."""
    return f"[{title}]"


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[tuple[list[str], list[list[str]]]] = []
        self._cell: list[str] | None = None
        self._title = ""
        self._is_heading = self._is_sign = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append(([], []))
        elif tag == "tr" and self.tables:
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self._cell, self._title, self._is_heading = [], "", tag == "th"
        elif tag == "span" and self._cell is not None:
            self._is_sign = dict(attrs).get("aria-hidden") == "true"
            self._title += f" {titled(title)}" if (title := dict(attrs).get("title")) else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "span":
            self._is_sign = False
        if tag in ("td", "th") and self._cell is not None and self.tables and self.tables[-1][1]:
            text = " ".join("".join([*self._cell, self._title]).split())
            (self.tables[-1][0] if self._is_heading else self.tables[-1][1][-1]).append(text)
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None and not self._is_sign:
            self._cell.append(data)


def _html_tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    parser = _Tables()
    parser.feed(text)
    parser.close()
    return parser.tables


def _markdown_tables(text: str) -> list[tuple[list[str], list[list[str]]]]:
    tables: list[tuple[list[str], list[list[str]]]] = []
    lines = text.split("\n")
    is_in = False
    for place, line in enumerate(lines):
        if not line.startswith("| "):
            is_in = False
        elif not is_in and place + 1 < len(lines) and lines[place + 1].startswith("| ---"):
            tables.append((_markdown_cells(line), []))
            is_in = True
        elif is_in and not re.fullmatch(r"[|\s:-]+", line):
            tables[-1][1].append(_markdown_cells(line))
    return tables


def _markdown_cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
    return [html.unescape(re.sub(r"\\(.)", r"\1", cell.strip())) for cell in cells]


def exploratory_fault(text: str, *, is_html: bool) -> str | None:
    """Why the text between the marks of the exploratory section is more than that: it ends the section, has what `wh report` does not write,
    or takes the form of a published one."""
    fault = _html_fault(text) if is_html else _markdown_fault(text)
    if fault:
        return fault
    shown = html.unescape(_TAG.sub("", text) if is_html else re.sub(r"\\(?=\W)", "", text))
    if hidden := next((each for each in shown if each != "\n" and not each.isprintable()), None):
        return f"it has the character U+{ord(hidden):04X}, which does not show"
    if NUMBER_ID.search("".join(each for each in unicodedata.normalize("NFKD", shown) if unicodedata.category(each) != "Mn")):
        return "it has a number id: published figures belong in the published section"
    return None


def _html_fault(text: str) -> str | None:
    if re.search("[<>]", _TAG.sub("", text)):
        return "it has markup as no exploratory section has it"
    within: list[str] = []
    for is_end, tag, attributes in _TAG.findall(text):
        found = _ATTRIBUTE.findall(attributes)
        if tag not in _TAGS or any(name not in _ATTRIBUTES or (name, value) == ("id", "published") for name, value in found):
            return f"it has <{tag}> as no exploratory section has it"
        if any(name == "class" and "division" in html.unescape(value).split() for name, value in found):
            return "it has a heading of a section of its own"
        if is_end and (not within or within.pop() != tag):
            return f"it ends a <{tag}> that is not its own"
        if not is_end and tag not in _VOID:
            within.append(tag)
    return "it does not end what it begins" if within else None


def _markdown_fault(text: str) -> str | None:
    fence = None
    for line in text.split("\n"):
        mark = re.match(r"\s*(`{3,})", line)
        if fence is not None:
            if line == fence:
                fence = None
            elif mark and len(mark[1]) >= len(fence):
                return "it ends a block of code in another way"
        elif re.fullmatch("`{3,}", line):
            fence = line
        else:
            plain = _LINE.sub("", re.sub(r"\\[!-/:-@\[-`{-~]", "", line), count=1)
            if _SYNTAX.search(plain) or re.match(r"\s*(=+|-+)\s*$|\s+\S", line) or ("|" in plain and not line.startswith("|")):
                return "it has a heading, a link or markup as no exploratory section has it"
    return "it does not end what it begins" if fence else None
