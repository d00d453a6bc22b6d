"""How the commands print: data to stdout, everything else to stderr; bars only on a terminal.

Everything that they print goes through here, with control and invisible characters escaped: names and values come from strangers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from warehouse.errors import WarehouseError, printable, printable_lines

NO_MODELS = "there are no models yet: write a select into models/NAME.sql, and wh build makes the table NAME"


_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_PLAIN = "\x1b[0m"


def say(text: object, *, flush: bool = False) -> None:
    """Lines on stdout."""
    print(printable_lines(str(text)), flush=flush)


def say_diff(diff: str) -> None:
    """A diff on stdout, in colours on a terminal."""
    lines = printable_lines(diff).split("\n")
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        lines = [f"{_COLOURS[line[0]]}{line}{_PLAIN}" if line[:1] in _COLOURS else line for line in lines]
    print("\n".join(lines))


def notice(text: object) -> None:
    """Lines for people, on stderr."""
    print(printable_lines(str(text)), file=sys.stderr)


def refused(error: OSError) -> WarehouseError:
    """What the operating system refused, as a WH005."""
    place = printable(str(error.filename)) if error.filename else None
    return WarehouseError("WH005", error.strerror or str(error), place)


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    from warehouse.transform.query import json_value, printable_json

    print(printable_json(json.dumps(json_value(document), ensure_ascii=False, indent=2)))


def print_json_line(document: Any) -> None:
    """One JSON document on one line of stdout, as one of many."""
    from warehouse.transform.query import json_value, printable_json

    print(printable_json(json.dumps(json_value(document), ensure_ascii=False)), flush=True)


def progress_bar(total: int, unit: str, *, scaled: bool = False) -> Any:
    """A tqdm bar on stderr, silent when stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, unit_scale=scaled, disable=not sys.stderr.isatty(), leave=False, file=sys.stderr)


@contextmanager
def parsing_bar() -> Iterator[Callable[[int, int], None]]:
    """A callback for how many bundles of how many are parsed, and a bar of them while there are any to parse."""
    bars: list[Any] = []  # one, made when the number of bundles is known

    def parsed(done: int, total: int) -> None:
        if not bars:
            bars.append(progress_bar(total, " bundles"))
        bars[0].update(done - bars[0].n)
        if done == total:
            bars[0].close()

    try:
        yield parsed
    finally:
        for bar in bars:
            bar.close()


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A plain table: numbers to the right, text to the left."""
    rows = [["" if cell is None else cell for cell in row] for row in rows]
    texts = [[_shown(cell) for cell in row] for row in rows]
    widths = [max(len(header), *(len(row[i]) for row in texts)) if texts else len(header) for i, header in enumerate(headers)]
    numeric = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width) for cell, width, right in zip(cells, widths, numeric, strict=True)
        ).rstrip()

    return "\n".join([line(headers), line(["-" * width for width in widths]), *map(line, texts)])


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
