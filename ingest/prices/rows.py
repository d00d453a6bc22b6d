"""The rows of a price list with the bytes that state each, and their values by type: what cannot be read is NULL and told."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple

from warehouse.landing.contract import Tree
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Data, Report, clean, decoded, landed_text, lines, number_in

COLUMNS = (
    "accelerator", "instance", "provider", "region", "unit", "accelerators", "price_usd_per_hour", "effective_date", "source",
    "provisioned_power_w",
)
_NEEDED = frozenset({"price_usd_per_hour", "unit", "effective_date"})
_UNITS = frozenset({"accelerator_hour", "instance_hour"})
_UNKNOWN = ABSENT - {"nan"}
_TABLES = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?[ \t]*(\[\[)")  # also a misspelled one
_TABLE = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?[ \t]*\[\[[ \t]*price[ \t]*\]\]")


class Row(NamedTuple):
    """A price as written, by column."""

    offset: int
    length: int
    line_number: int
    values: dict[str, str]


def looks_like_prices(path: str, tree: Tree) -> bool:
    """Whether a file opens with the columns of a price list, or with a table of one."""
    head = tree.head(path)
    if path.endswith(".toml"):
        return _TABLE.search(head) is not None and b"price_usd_per_hour" in head
    stated = (line for line in head.decode(errors="replace").lstrip("\ufeff").splitlines() if line.strip() and line[0] != "#")
    return _NEEDED <= set(_names(next(stated, "").split(",")))


def csv_rows(data: Data, report: Report) -> Iterator[Row]:
    """A row a line; a line that has not as many cells as the header is reported and left out. Comments begin with #."""
    header: list[str] | None = None
    for line in lines(data, report):
        text = decoded(line, report).lstrip("\ufeff")
        if text.startswith("#"):
            continue
        try:
            cells = next(csv.reader([text], strict=True), [])
        except csv.Error as error:
            report.at("malformed-row", str(error), line, "error")
            continue
        if header is None:
            header = _names(cells)
            for name in sorted({name for name in header if name in COLUMNS and header.count(name) > 1}):
                report.at("duplicate-column", f"{name}; the last one counts", line)
            _report_unknown(header, line.offset, len(line.data), line.number, report)
        elif len(cells) != len(header):
            report.at("malformed-row", f"{len(cells)} cells, the header has {len(header)}", line, "error")
        else:
            yield Row(line.offset, len(line.data), line.number, dict(zip(header, (cell.strip() for cell in cells), strict=True)))


def toml_rows(data: Data, report: Report) -> Iterator[Row]:
    """A row a `[[price]]` table. Each is read by itself, so that a broken one leaves the others; what looks like a price and
    is in none is reported."""
    starts = [found.start(1) for found in _TABLES.finditer(data)]
    for number, (start, stop) in enumerate(zip([0, *starts], [*starts, len(data)], strict=True)):
        block = data[start:stop].rstrip()
        place = (start, len(block), data[:start].count(b"\n") + 1)
        try:
            document = tomllib.loads(block.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            report("malformed-row", str(error)[:200], *place, "error")
            continue
        is_price = number > 0 and isinstance(document.get("price"), list)  # first: the list's own title and the like
        tables = document.pop("price") if is_price else []
        for name, value in document.items():
            if isinstance(value, (dict, list)) or name in COLUMNS:
                report("misplaced-key", f"{clean(name)[:120]} is in no [[price]]", *place)
        for table in tables:
            _report_unknown(list(table), *place, report)
            yield Row(*place, {key: str(value) for key, value in table.items()})


def typed(row: Row, report: Report) -> dict[str, Any]:
    """The columns of a row. A price that cannot be used because its unit, date or size is missing is reported."""
    texts = {name: clean(row.values.get(name, "")) for name in COLUMNS}
    known = {name: text if text.casefold() not in _UNKNOWN else None for name, text in texts.items()}
    values: dict[str, Any] = {name: landed_text(text) if text else None for name, text in known.items()}

    def reject(name: str) -> None:
        values[name] = None
        if known[name] is not None:
            report.at("wrong-value", f"{name}: {texts[name][:80]}", row, "error")

    price = number_in(known["price_usd_per_hour"] or "")
    values["price_usd_per_hour"] = price
    if price is None or price < 0:
        reject("price_usd_per_hour")
    power = number_in(known["provisioned_power_w"] or "")
    values["provisioned_power_w"] = power
    if power is None or power <= 0:
        reject("provisioned_power_w")
    count = number_in(known["accelerators"] or "")
    if count is not None and count.is_integer() and 0 < count < 1 << 31:
        values["accelerators"] = int(count)
    else:
        reject("accelerators")
    try:
        values["effective_date"] = date.fromisoformat(known["effective_date"] or "")
    except ValueError:
        reject("effective_date")
    if values["unit"] not in _UNITS:
        reject("unit")
    lacking = [name for name in ("price_usd_per_hour", "effective_date", "unit") if values[name] is None]
    lacking += ["accelerators"] if values["unit"] == "instance_hour" and values["accelerators"] is None else []
    lacking += [] if values["accelerator"] or values["instance"] else ["accelerator or instance"]
    if lacking:
        report.at("unusable-price", f"without {', '.join(lacking)}", row, "error")
    return values


def _names(cells: list[str]) -> list[str]:
    return [cell.strip(' \t"\ufeff').casefold() for cell in cells]


def _report_unknown(names: list[str], offset: int, length: int, line_number: int, report: Report) -> None:
    for name in names:
        if name not in COLUMNS:
            report("unknown-column", clean(name)[:120], offset, length, line_number)
