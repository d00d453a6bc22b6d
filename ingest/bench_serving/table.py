"""The table of a sweep: a CSV with a column for each of a record's keys, and a row for each run. Where the runs have no files of their own,
the rows are the runs.

A column that is no key of the clients states what was varied. It is taken for a setting of the server, which keeps rows apart that differ
in it, unless its name is that of a load, a measurement or a file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from warehouse.landing.readers.entries import possible
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Data, Entry, Line, Report, decoded, is_non_finite, landed_text, lines, number_in

from .formats import CLIENT_KEYS, RATE_WORDS, format_of, is_unknown_metric, kind_of, states_number

OVERRIDES = "serve_overrides/"
FILE_NAME = "filename"
_ENOUGH_KEYS = 5
_NO_SETTING = re.compile(
    r"|(?:file|run|result|output|test|exp\w*|bench\w*)?_?(?:name|path|file|folder|dir|id|number|index|idx)|label|tag|comment|notes?|timestamp|time|date\w*"
    r"|run|repeat|iteration|trial|unnamed_\w+|seed|qps|rps|rate|conc|users|best_of|tokenizer\w*|model\w*|hw|gpu\w*|num_gpus?|n_gpus|accelerator\w*"
    r"|hardware|framework|image|precision|quantization|version|(?:\w+_)?(?:ttft|tpot|itl|e2el?|latency|throughput|tput|goodput|duration|elapsed|error|errors"
    r"|rate|percentage|mean|median|std|avg|p\d+)(?:_\w+)?"
)
# How vLLM's client names a result (`vllm bench serve`, save_to_file): label or backend, rate, limit, the model's last name, the end.
_CLIENTS_NAME = re.compile(
    r"(?:.*/)?.+?-(?:inf|\d+(?:\.\d+)?)qps-(?:concurrency\d+-)?(?P<model>.+)-(?P<date>\d{8}-\d{6})(?:\.json)?", re.DOTALL
)


class Row(NamedTuple):
    """A run of a table: its line and what the cells state, by the keys of a record."""

    line: Line
    entries: list[Entry]
_LMDEPLOY = frozenset({"bs", "dataset_name", "sharegpt_output_len"})  # of its profile_restful_api.py, which has a description


def is_table(head: bytes) -> bool:
    """Whether a file's first bytes are those of such a table."""
    columns = _cells(head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace").rstrip("\r"))
    return len(CLIENT_KEYS.intersection(columns)) >= _ENOUGH_KEYS and not _LMDEPLOY.issubset(columns)


def rows(data: Data, report: Report) -> Iterator[Row]:
    """The rows that state a run. What cannot be read is reported."""
    columns: list[str] | None = None
    for line in lines(data, report):
        cells = _cells(decoded(line, report).lstrip("\ufeff"))
        if columns is None:
            columns = [_key(cell) for cell in cells]
        elif len(cells) != len(columns):
            report.at("malformed-csv", f"the row has {len(cells)} cells, the header {len(columns)}", line, "error")
        else:
            entries = {key: _entry(key, cell, line, report) for key, cell in zip(columns, cells, strict=True) if cell.strip()}
            if format_of(entries.keys()) is not None:
                yield Row(line, [*entries.values(), *_named(entries)])


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def _key(column: str) -> str:
    """A record's key, as it is written; a setting's as a failure of a sweep states it."""
    name = re.sub(r"\W+", "_", column.strip()).strip("_").casefold()
    if column in CLIENT_KEYS or states_number(column) or is_unknown_metric(column):
        return column
    return name if _NO_SETTING.fullmatch(name) or name in CLIENT_KEYS else OVERRIDES + name


def _entry(key: str, cell: str, line: Line, report: Report) -> Entry:
    text = cell.strip()
    number = number_in(text)
    is_missing = text.casefold() in ABSENT or (key == "request_rate" and text.casefold() in RATE_WORDS)
    if number is None and is_non_finite(text) and not is_missing:
        report.at("non-finite-number", key[:120], line, "error")
    elif number is None and states_number(key) and not is_missing:
        report.at("not-a-number", f"{key[:80]}: {text[:120]}", line, "error")
    value = None if text.casefold() in ABSENT and not states_number(key) else landed_text(text)
    return possible(Entry(line.offset, line.length, line.number, key[:200], value, number), report, kind_of(key))


def _named(entries: dict[str, Entry]) -> Iterator[Entry]:
    """What the name of a run's former file states, where no column does."""
    name = entries.get(FILE_NAME)
    found = _CLIENTS_NAME.fullmatch(name.value or "") if name else None
    for key, group in (("model_id", "model"), ("date", "date")):
        if name and found and key not in entries:
            yield name._replace(key=key, value=found[group], number=None)
