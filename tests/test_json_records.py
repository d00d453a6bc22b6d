"""Records that are read many at a time have the columns that each has by itself; whatever is odd among them is read as it is
one by one: the same values, their bytes, and the issues."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from warehouse.landing.readers import json_lines, json_records, json_stream
from warehouse.landing.readers import text as line_text
from warehouse.landing.readers.columns import never
from warehouse.landing.readers.json_records import Records
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

_PATHS = [
    (), ("a",), ("a", "n"), ("a", "i"), ("a", "big"), ("a", "o"), ("a", "o", "t"), ("a", "o", "u"), ("s",), ("z",), ("l",),
    ("w",), ("b",), ("e",), ("e", "k"), ("g",), ("absent",), ("a", "n", "absent"),
]


def _record(index: int, chance: random.Random) -> dict[str, Any]:
    """As a tool writes them: the same keys, some texts always the same, some numbers NULL, counts beyond a double's."""
    return {
        "a": {
            "n": chance.random() * 10.0 ** chance.randrange(-9, 9), "i": index, "big": 1_730_923_333_000_000_001 + index,
            "o": {"t": "ms", "u": f"id: {index} {{[é"},
        },
        "s": chance.choice([None, -1.5]), "z": -0.0, "l": [1, 2.5, None], "w": chance.choice(["", "x"]),
        "b": chance.choice([True, None]), "g": [chance.random() for _ in range(chance.randrange(3))], "e": None,
    }


# What stands in the middle of good records, made of one of them.
_ODD: dict[str, Callable[[str], str]] = {
    "a key twice": lambda text: text.replace('"z": -0.0', '"z": -0.0, "z": 1'),
    "a key twice for another": lambda text: text.replace('"e": null', '"z": null'),
    "an escaped key twice": lambda text: text.replace('"e": null', '"\\u007a": null'),
    "an unknown key": lambda text: text.replace('"e": null', '"e": null, "f": 1'),
    "a missing key": lambda text: text.replace(', "e": null', ""),
    "keys in another order": lambda text: text.replace('"z": -0.0, "l": [1, 2.5, null]', '"l": [1, 2.5, null], "z": -0.0'),
    "NaN": lambda text: text.replace("-0.0", "NaN"),
    "infinity": lambda text: text.replace("-0.0", "-Infinity"),
    "beyond a double": lambda text: text.replace("-0.0", "1e999"),
    "a number as a text": lambda text: text.replace("-0.0", '"1.5"'),
    "a large integer": lambda text: text.replace("-0.0", "9" * 30),
    "an endless integer": lambda text: text.replace("-0.0", "9" * 5000),
    "-0": lambda text: text.replace("-0.0", "-0"),
    "1.e5": lambda text: text.replace("-0.0", "1.e5"),
    "01": lambda text: text.replace("-0.0", "01"),
    "1.": lambda text: text.replace("-0.0", "1."),
    ".5": lambda text: text.replace("-0.0", ".5"),
    "+1": lambda text: text.replace("-0.0", "+1"),
    "0x10": lambda text: text.replace("-0.0", "0x10"),
    "1e5": lambda text: text.replace("-0.0", "1e5"),
    "a bare word": lambda text: text.replace("-0.0", "nul"),
    "nothing": lambda text: text.replace("-0.0", ""),
    "two numbers": lambda text: text.replace("-0.0", "1 2"),
    "true": lambda text: text.replace("-0.0", "true"),
    "a text": lambda text: text.replace("-0.0", '"-"'),
    "a quote in a text": lambda text: text.replace("id: ", 'i"d'),
    "an escaped quote in a text": lambda text: text.replace("id: ", 'i\\"d'),
    "a lone surrogate": lambda text: text.replace("id: ", "\\ud800"),
    "a control character in a text": lambda text: text.replace("id: ", "\x01"),
    "a tab in a text": lambda text: text.replace("id: ", "\t"),
    "a comma in a text": lambda text: text.replace("id: ", "a, b"),
    "a comma in a text, and a key less": lambda text: text.replace("id: ", "a, b").replace(', "e": null', ""),
    "an object": lambda text: text.replace('"e": null', '"e": {"k": 1}'),
    "an empty object": lambda text: text.replace('"e": null', '"e": {}'),
    "an object for an array": lambda text: text.replace("[1, 2.5, null]", "{}"),
    "a longer array": lambda text: text.replace("[1, 2.5, null]", "[1, 2.5, null, 1]"),
    "deep nesting": lambda text: text.replace('"e": null', '"e": ' + "[" * 300 + "]" * 300),
    "nesting without an end": lambda text: text.replace('"e": null', '"e": ' + "[" * 30_000 + "]" * 30_000),
    "a trailing comma": lambda text: text.replace("null}", "null,}"),
    "a comma too many": lambda text: text.replace(', "e"', ',, "e"'),
    "no end": lambda text: text[:-1],
    "text behind it": lambda text: text + " x",
    "blanks": lambda text: text.replace(", ", " ,\t").replace(": ", " : ") + "  ",
    "a number": lambda text: "7",
    "an array": lambda text: "[1]",
    "another record": lambda text: '{"a": {"n": 1}}',
    "a line end": lambda text: text.replace(', "e"', ',\n"e"'),
    "a blank line": lambda text: "\n" + text + "\n\r\n \n",
    "a byte order mark": lambda text: "\ufeff" + text,
    "a NUL in a key": lambda text: text.replace('"e": null', '"e\\u0000": {"k": 1}'),
    "a key twice, behind a NUL": lambda text: text.replace('"e": null', '"e": {"k": 1}, "e\\u0000": {"k": 1, "k": 2}'),
}


def _documents(odd: Callable[[str], str] | None, are_lines: bool) -> bytes:
    chance = random.Random(1)
    texts = [json.dumps(_record(index, chance), ensure_ascii=False) for index in range(90)]
    if odd is not None:
        assert odd(texts[57]) != texts[57]
        texts[57] = odd(texts[57])
    return "\n".join(texts).encode() if are_lines else f"[{', '.join(texts)}]".encode()


def _batches(data: bytes, are_lines: bool, report: Report) -> Iterator[tuple[Records, list[tuple[Any, ...]]]]:
    if are_lines:
        for lines in json_lines.json_lines(data, report):
            yield lines.records, [(line.number, line.offset, len(line.data), repr(value)) for line, value in lines]
        return
    with JsonStream(data, report) as stream:
        for several in stream.batches():
            places = zip(several.offsets, several.lengths, several.records.values, strict=True)
            yield several.records, [(offset, length, repr(value)) for offset, length, value in places]


def _read(data: bytes, are_lines: bool) -> tuple[list[Records], list[tuple[Any, ...]], list[dict[str, Any]]]:
    buffer = RowBuffer({}, "digest")
    batches = list(_batches(data, are_lines, Report(buffer, "file", None)))
    values = [value for _, several in batches for value in several]
    return [records for records, _ in batches], values, [row for _, batch in buffer.rest() for row in batch.to_pylist()]


def _shown(column: Any) -> Any:
    """A column with its types and the sign of its zeros; what a NaN stands for as it is."""
    if isinstance(column, pa.Array):
        return repr(column.to_pylist())
    return repr(column.tolist() if isinstance(column, np.ndarray) else column)


def _check_columns(records: Records) -> None:
    """The columns of some records are what `Record` gives of each. One that was read with care may state NaN."""
    if len(records) == 1:
        return
    for path in _PATHS:
        column = records.column(*path)
        assert (column is None) == any(not isinstance(value, dict) for value in records.values)
        if column is None or not path:
            continue
        each = [Record(value, never).within(*path[:-1]) for value in records.values]
        assert repr(column) == repr([record.values.get(path[-1]) for record in each])
        assert records.has(*path).tolist() == [path[-1] in record.values for record in each]
        for read, one in ((records.numbers, Record.number), (records.counts, Record.count), (records.texts, Record.text)):
            found = read(*path)
            if found is not None:
                expected = [one(record, path[-1]) for record in each]
                assert _shown(found) == _shown(np.array(expected, float) if one is Record.number else expected), (path, one)


def _read_with_care(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "plain", lambda _: None)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for reader in (line_text, json_stream):
        monkeypatch.setattr(reader, "_PIECE_BYTES", 2000)
        monkeypatch.setattr(reader, "_LARGEST_PIECE_BYTES", 4000)


@pytest.mark.parametrize("are_lines", [True, False])
def test_good_records_are_read_by_columns(are_lines: bool) -> None:
    batches, values, issues = _read(_documents(None, are_lines), are_lines)
    chance = random.Random(1)
    assert [value[-1] for value in values] == [repr(_record(index, chance)) for index in range(90)]
    assert not issues and max(map(len, batches)) > 5 and sum(len(each) == 1 for each in batches) < 10
    for each in batches:
        _check_columns(each)
    assert any(each.numbers("a", "n") is not None and each.texts("a", "o", "t") == ["ms"] * len(each) for each in batches)


@pytest.mark.parametrize("are_lines", [True, False])
@pytest.mark.parametrize("odd", _ODD)
def test_what_is_odd_among_them_is_read_as_it_is_one_by_one(odd: str, are_lines: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _documents(_ODD[odd], are_lines)
    batches, *found = _read(data, are_lines)
    for each in batches:
        _check_columns(each)
    assert any(len(each) > 1 for each in batches)
    _read_with_care(monkeypatch)
    one_by_one, *expected = _read(data, are_lines)
    assert all(len(each) == 1 for each in one_by_one)
    assert found == expected


@pytest.mark.parametrize("are_lines", [True, False])
def test_arrays_that_were_written_alike_have_no_columns(are_lines: bool) -> None:
    texts = [f"[{index}, 2.5, null]" for index in range(2000)]
    batches, values, issues = _read("\n".join(texts).encode() if are_lines else f"[{', '.join(texts)}]".encode(), are_lines)
    assert [value[-1] for value in values] == [f"[{index}, 2.5, None]" for index in range(2000)] and not issues
    assert {each.column("a") for each in batches} == {None}


def test_a_byte_order_mark_is_no_part_of_its_record() -> None:
    """As RFC 8259, 8.1, allows: at a file's beginning, and where another file was put behind it."""
    text = json.dumps({"a": 1})
    _, values, issues = _read("\n".join(["\ufeff" + text, text, "\ufeff" + text]).encode(), are_lines=True)
    assert values == [(1, 0, 11, "{'a': 1}"), (2, 12, 8, "{'a': 1}"), (3, 21, 11, "{'a': 1}")] and not issues


@pytest.mark.parametrize("are_lines", [True, False])
def test_invalid_utf8_among_them(are_lines: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = _documents(None, are_lines)
    place = data.index("é".encode(), len(data) // 2)
    data = data[:place] + b"\xff" + data[place + 2 :]
    _, *found = _read(data, are_lines)
    _read_with_care(monkeypatch)
    assert found == list(_read(data, are_lines)[1:]) and found[1][0]["code"] == "invalid-utf8"


def test_records_of_several_kinds_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_text, "_LARGEST_PIECE_BYTES", 8000)
    chance = random.Random(2)
    kinds = [
        lambda index: _record(index, chance), lambda index: {"a": {"n": index}, "w": "x"},
        lambda index: {"e": [index] * chance.randrange(4)},
    ]
    values = [chance.choice(kinds)(index) for index in range(600)]
    batches, found, issues = _read("\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode(), are_lines=True)
    assert [value[-1] for value in found] == list(map(repr, values)) and not issues
    assert sum(len(each) > 1 for each in batches) > 3
    for each in batches:
        _check_columns(each)


def test_a_number_that_a_double_cannot_tell_from_zero_is_missing_among_many() -> None:
    found: list[tuple[str, str]] = []

    class Told(Report):
        def __call__(self, code: str, message: str, *place: Any, **options: Any) -> None:
            found.append((code, message))

    lines = [json.dumps({"a": number / 7, "b": -345}) for number in range(40)]
    lines[7] = '{"a": 1e-400, "b": 1e-300}'
    data = "\n".join(lines).encode()
    report = Told(RowBuffer({}, ""), "f", None)
    numbers = [record.number("a") for part in json_lines.json_lines(data, report) for _, record in part.objects(report)]
    assert [place for place, number in enumerate(numbers) if number is None] == [7] and numbers[8] == 8 / 7
    with JsonStream(b"[%b]" % data.replace(b"\n", b",").replace(b"1e-400", b"0e-400"), report) as stream:
        assert [record.number("a") for _, _, record in stream.objects()][6:9] == [6 / 7, 0, 8 / 7]
    assert found == [("too-small", "a: 1e-400")]
