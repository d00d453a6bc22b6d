"""How the commands print: data to stdout, everything else to stderr and to the log file; bars and colours only on a terminal.

Everything that they print goes through here, with control and invisible characters escaped: names and values come from strangers.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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
_LEAST = 8  # characters of a column that is cut to the terminal's width


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
    """Lines on stdout; a `state` that occurs in them is coloured on a terminal."""
    shown = printable_lines(str(text))
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


def next_step(text: str) -> None:
    """What to do next, in one line, for a person at a terminal."""
    if sys.stderr.isatty():
        notice(f"next: {text}")


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
        print(shown, file=sys.stderr)


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


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is, or those that COLUMNS names; None where nothing limits a line."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) > 0 else None


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A plain table: numbers to the right, text to the left. On a terminal long cells are cut to its width."""
    rows = [["" if cell is None else cell for cell in row] for row in rows]
    numeric = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(headers))]
    return text_table(headers, [[_shown(cell) for cell in row] for row in rows], numeric)


def text_table(headers: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """A table of text that is printable already. Where stdout is a terminal, its widest columns are cut until it fits; only a
    table with more columns than fit at all is printed one column a line."""
    widths = [max([len(header), *(len(row[i]) for row in rows)]) for i, header in enumerate(headers)]
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        if sum(min(width, _LEAST) + 2 for width in widths) - 2 > columns:
            return _records(headers, rows)
        while (excess := sum(widths) + 2 * len(widths) - 2 - columns) > 0:
            widest = widths.index(max(widths))
            others = [width for place, width in enumerate(widths) if place != widest]
            # Down to the next widest, but no further than needed and no narrower than can be read.
            widths[widest] = max(widths[widest] - excess, min(max(others, default=0), widths[widest] - 1), _LEAST)

    def line(cells: Sequence[str]) -> str:
        cut = (cell if len(cell) <= width else f"{cell[: width - 1]}…" for cell, width in zip(cells, widths, strict=True))
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(cut, widths, numeric, strict=True)
        ).rstrip()

    return "\n".join([line(headers), line(["-" * width for width in widths]), *map(line, rows)])


def _records(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    width = max(map(len, headers))
    return "\n".join(
        line
        for number, row in enumerate(rows, 1)
        for line in (f"-- row {number}", *(f"{name.ljust(width)}  {cell}" for name, cell in zip(headers, row, strict=True)))
    )


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
