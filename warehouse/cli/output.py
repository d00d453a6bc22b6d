"""How the commands print: data to stdout, everything else to stderr and to the log file; bars and colours only on a terminal.

Everything that they print goes through here, with control and invisible characters escaped: names and values come from strangers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from textwrap import TextWrapper
from typing import Any, TextIO

from warehouse.errors import WarehouseError, naming, printable, printable_lines
from warehouse.errors import counted as counted

NO_MODELS = "there are no models yet: write a select into models/NAME.sql, and wh build makes the table NAME"

STDOUT = "standard output"  # the place of an error in writing there

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_GREEN, _YELLOW, _RED, _PLAIN = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
_STATES = {
    **dict.fromkeys(("verified", "pass", "holds", "current", "up to date"), _GREEN),
    **dict.fromkeys(
        ("stale", "retracted", "withdrawn", "superseded", "warn", "warning", "unsigned", "unknown", "needs a decision", "maybe"), _YELLOW
    ),
    **dict.fromkeys(
        ("tampered", "missing", "expired by policy", "not reproduced", "refused", "fail", "broken", "altered", "damaged", "error"), _RED
    ),
}
_LEAST_CUT, _LEAST_FOLDED = 12, 24  # characters of a column that is cut to the terminal's width, or goes on in more lines
_FOLDS = 4  # lines of a cell in such a column
_LEAST_HEADER = 12
SCREEN = 36  # lines of a list on a terminal of 40: the others are for what stands above and below it
_NOT_SHOWN = 12  # columns that are named
_LEAD = re.compile(r"[ │├└─]*")  # of a line, as a tree has it
_LABEL = re.compile(r"\S+(?: \S+)? {2,}")  # before what a line says
_WORD = re.compile(r"[^_ ]*[_ ]?")  # of a heading
_FIGURE = re.compile(r"(?:[-+]?[\d.,]+(?:e[-+]?\d+)?|NULL|nan|-?inf)?", re.IGNORECASE)


@dataclass(frozen=True)
class _Output:
    is_quiet: bool = False
    is_verbose: bool = False
    is_project_given: bool = False
    log: Path | None = None


_output = _Output()


def reset_output() -> None:
    """Forget what an earlier command line asked for."""
    global _output
    _output = _Output()


def set_output(**asked: Any) -> None:
    """Print as the options of every command ask. Raises OSError when the log file cannot be written."""
    global _output
    _output = replace(_output, **asked)
    if "log" in asked:
        _log("")


def is_verbose() -> bool:
    return _output.is_verbose


def is_project_given() -> bool:
    """Whether --project names the project."""
    return _output.is_project_given


# --- stdout ------------------------------------------------------------------------------------------------------


def say(text: object, *, flush: bool = False, state: str = "") -> None:
    """Lines on stdout, which go on in the next where the terminal ends; a `state` that occurs in them is coloured on a terminal."""
    shown = folded(printable_lines(str(text)), _room(sys.stdout))
    if state in _STATES and _has_colours():
        shown = shown.replace(state, f"{_STATES[state]}{state}{_PLAIN}", 1)
    _print(shown, flush=flush)


def write(text: str) -> None:
    """Text for other programs on stdout, character by character; escaped only on a terminal."""
    with naming(STDOUT):
        sys.stdout.write(printable_lines(text) if sys.stdout.isatty() else text)


def say_diff(diff: str) -> None:
    """A diff on stdout, in colours on a terminal."""
    lines = printable_lines(diff).split("\n")
    if _has_colours():
        lines = [f"{_COLOURS[line[0]]}{line}{_PLAIN}" if line[:1] in _COLOURS else line for line in lines]
    _print("\n".join(lines))


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    from warehouse.transform.finished.query import json_value, printable_json

    _print(printable_json(json.dumps(json_value(document), ensure_ascii=False, indent=2)))


def print_json_line(document: Any) -> None:
    """One JSON document on one line of stdout, as one of many."""
    from warehouse.transform.finished.query import json_value, printable_json

    _print(printable_json(json.dumps(json_value(document), ensure_ascii=False)), flush=True)


def _print(text: str, *, flush: bool = False) -> None:
    with naming(STDOUT):
        print(text, flush=flush)


def _has_colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


# --- stderr ------------------------------------------------------------------------------------------------------


def notice(text: object) -> None:
    """Lines for people, on stderr, unless --quiet."""
    _to_stderr(text, is_shown=not _output.is_quiet)


def warn(text: object) -> None:
    """What is wrong, on stderr."""
    _to_stderr(text, is_shown=True)


def next_step(command: str, why: str = "") -> None:
    """What to do next, for a person at a terminal: a command line as it can be typed, and behind # what it does."""
    if sys.stderr.isatty():
        notice(f"next: {command}" + (f"  # {why}" if why else ""))


def refused(error: OSError) -> WarehouseError:
    """What the operating system refused, as a WH005."""
    place = printable(str(error.filename)) if error.filename else None
    return WarehouseError("WH005", error.strerror or str(error), place)


def _to_stderr(text: object, *, is_shown: bool) -> None:
    shown = printable_lines(str(text))
    try:
        _log(shown)
    except OSError as error:  # the log is full: the work goes on without it
        warn(refused(error))
    if is_shown:
        print(folded(shown, _room(sys.stderr)), file=sys.stderr)


def _log(text: str) -> None:
    global _output
    if _output.log is None:
        return
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    try:
        with naming(_output.log), _output.log.open("a", encoding="utf-8") as file:
            file.writelines(f"{now} {line}\n" for line in text.splitlines() if line)
    except OSError:
        _output = replace(_output, log=None)  # or reporting this error would fail, too
        raise


def progress_bar(total: int | None, unit: str, *, scaled: bool = False) -> Any:
    """A tqdm bar on stderr, silent with --quiet and when stderr is no terminal."""
    from tqdm import tqdm

    is_silent = _output.is_quiet or not sys.stderr.isatty()
    return tqdm(total=total, unit=unit, unit_scale=scaled, disable=is_silent, leave=False, file=sys.stderr)


@contextmanager
def counting_bar(unit: str) -> Iterator[Callable[[int, int], None]]:
    """A callback for how many of how many are done, and a bar of them while there are any to do."""
    bars: list[Any] = []  # one, made when the number is known

    def on_done(done: int, total: int) -> None:
        if not bars:
            bars.append(progress_bar(total, f" {unit}"))
        bars[0].update(done - bars[0].n)
        if done == total:
            bars[0].close()

    try:
        yield on_done
    finally:
        for bar in bars:
            bar.close()


@contextmanager
def step_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A callback for which step of a long work is under way, and how many of how many parts of it are done; and a bar of that."""
    with progress_bar(1, "") as bar:

        def on_step(step: str, done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.set_description(step)  # which draws it, at once

        yield on_step


# --- text --------------------------------------------------------------------------------------------------------


def is_on_terminal() -> bool:
    """Whether a person reads what is printed, and no program."""
    return sys.stdout.isatty()


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is, or those that COLUMNS names; None where nothing limits a line."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else None


def _room(stream: TextIO) -> int | None:
    return shutil.get_terminal_size().columns if stream.isatty() else None  # a pipe takes all


def folded(text: str, room: int | None) -> str:
    """The lines of a text, those that are longer than a terminal is wide going on in the next one, below what they say and not below its
    label. A line of one word, such as a path, stays: programs read it."""
    if room is None:
        return text
    return "\n".join(each for line in text.split("\n") for each in (_folded_line(line, room) if " " in line.strip() else [line]))


def _folded_line(line: str, room: int) -> list[str]:
    if len(line) <= room:
        return [line]
    found = _LEAD.match(line)
    lead = found[0] if found else ""
    label = _LABEL.match(line, len(lead))
    column = label.end() if label and label.end() <= room // 3 else len(lead) + 2
    below = lead.translate({ord("├"): "│", ord("└"): " ", ord("─"): " "}).ljust(column)
    return wrapped(line, room, below)


def wrapped(text: str, room: int, indent: str = "") -> list[str]:
    """The lines of a text. What is longer than a line goes on after a comma or a slash in it, or where the line ends."""
    return _Wrapper(room, subsequent_indent=indent, break_on_hyphens=False).wrap(text)


class _Wrapper(TextWrapper):
    def _split(self, text: str) -> list[str]:
        room = self.width - len(self.subsequent_indent)
        return [
            part for chunk in super()._split(text)
            for part in (re.findall(r"[^,/]*[,/]|[^,/]+", chunk) if len(chunk) > room else [chunk])
        ]


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, rest: str = "--json has all") -> str:
    """A plain table: numbers to the right, text to the left. On a terminal long text is cut to its width, and no number: columns that do not
    fit are left out and named, with how to see the `rest`."""
    rows = [["" if cell is None else cell for cell in row] for row in rows]
    numeric = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(headers))]
    shown = [[_shown(cell) for cell in row] for row in rows]
    return _table(headers, shown, numeric, folds=False, rest=rest)


def text_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, rest: str) -> str:
    """A table of text that is printable already. On a terminal nothing is cut: text goes on in the next line, and columns that do not fit are
    left out and named, with how to see the `rest`."""
    return _table(headers, rows, [False] * len(headers), folds=True, rest=rest)


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool], *, folds: bool, rest: str) -> str:
    room = _room(sys.stdout)
    longest = [max((len(row[place]) for row in rows), default=0) for place in range(len(headers))]
    widths = {place: max(len(header), longest[place]) for place, header in enumerate(headers)}
    if room is not None and sum(widths.values()) + 2 * len(widths) - 2 > room:
        widths = _fitted(headers, rows, longest, room, folds=folds)

    def line(cells: Sequence[str], room_of: Callable[[str, int], list[str]]) -> list[str]:
        parts = [room_of(cells[place], width) for place, width in widths.items()]
        return [
            "  ".join(
                (part[at] if at < len(part) else "").rjust(width) if numeric[place] else (part[at] if at < len(part) else "").ljust(width)
                for part, (place, width) in zip(parts, widths.items(), strict=True)
            ).rstrip()
            for at in range(max(map(len, parts)))
        ]

    lines = [*line(headers, _header_lines), *line(["-" * widths.get(place, 0) for place in range(len(headers))], _cut)]
    for row in rows:
        lines += line(row, _cell_lines if folds else _cut)
    left = [header for place, header in enumerate(headers) if place not in widths]
    if left:
        named = ", ".join(left[:_NOT_SHOWN]) + (f" and {len(left) - _NOT_SHOWN} more" if len(left) > _NOT_SHOWN else "")
        lines.append(f"not shown in {room} columns: {named} ({rest})")
    return "\n".join(lines)


def _fitted(
    headers: Sequence[str], rows: Sequence[Sequence[str]], longest: Sequence[int], room: int, *, folds: bool
) -> dict[int, int]:
    """The widths of the columns that fit, by their places: text may be narrower than it is, figures may not."""
    least = _LEAST_FOLDED if folds else _LEAST_CUT
    # A heading goes on in the next line, but is not cut in a word.
    words = [min(len(header), max(_LEAST_HEADER, *map(len, _WORD.findall(header)))) for header in headers]
    natural = [max(longest[place], words[place]) for place in range(len(headers))]
    figures = [all(_FIGURE.fullmatch(row[place]) for row in rows) for place in range(len(headers))]
    needed = [width if figures[place] else max(min(width, least), words[place]) for place, width in enumerate(natural)]
    is_empty = [folds and all(row[place] in ("", "NULL") for row in rows) for place in range(len(headers))]
    kept = [place for place, width in enumerate(natural) if not folds or (width <= _FOLDS * least and not is_empty[place])] or [0]
    while len(kept) > 1 and sum(needed[place] + 2 for place in kept) - 2 > room:
        kept.pop()
    widths = {place: natural[place] for place in kept}
    while (excess := sum(widths.values()) + 2 * len(widths) - 2 - room) > 0:
        able = [place for place in kept if widths[place] > needed[place]]
        if not able:
            widths[kept[0]] = max(1, room)
            break
        widest = max(able, key=lambda place: widths[place])
        others = [widths[place] for place in able if place != widest]
        # Down to the next widest, but no further than needed.
        widths[widest] = max(widths[widest] - excess, min(max(others, default=0), widths[widest] - 1), needed[widest])
    return widths


def _cut(cell: str, width: int) -> list[str]:
    return [cell if len(cell) <= width else f"{cell[: width - 1]}…"]


def _cell_lines(cell: str, width: int) -> list[str]:
    return wrapped(cell, width) if len(cell) > width else [cell]


def _header_lines(header: str, width: int) -> list[str]:
    """A name goes on in the next line after one of its words."""
    if len(header) <= width:
        return [header]
    lines = [""]
    for word in _WORD.findall(header):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [part for each in lines for part in wrapped(each, width)]


def table_of_first(headers: Sequence[str], rows: Sequence[Sequence[Any]], most: int, rest: str) -> str:
    """A table of the first rows, and below it how many more there are, as `first_of` has it."""
    shown = first_of([""] * len(rows), most, rest)
    if len(shown) < len(rows):
        return f"{table(headers, rows[: len(shown) - 1], rest=rest)}\n{shown[-1]}"
    return table(headers, rows)


def first_of(lines: Sequence[str], most: int, rest: str) -> list[str]:
    """A list for people at a terminal: as many of its entries as fit so many lines there, then how many more there are and the command that
    shows the `rest`. With --verbose, and where no terminal limits it, all."""
    room = _room(sys.stdout)
    if room is None or is_verbose():
        return list(lines)
    heights = list(accumulate(len(folded(printable_lines(line), room).split("\n")) for line in lines))
    if not heights or heights[-1] <= most:
        return list(lines)
    count = max(1, sum(height < most for height in heights))
    return [*lines[:count], f"and {len(lines) - count:,} more: {rest}"]


def size(count: int) -> str:
    """A byte count for people: 42.1 MB."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def _shown(cell: Any) -> str:
    return f"{cell:.2f}" if isinstance(cell, float) else printable(str(cell))
