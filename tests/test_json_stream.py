"""The cursor over large JSON: every value with its bytes, whatever the window cuts; what breaks is reported where it breaks."""

from __future__ import annotations

import gc
import json
import math
import re
import weakref
from typing import Any

import pytest

from warehouse.landing.contract import ISSUE_TABLE
from warehouse.landing.readers import json_stream
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer


def _read(data: bytes) -> tuple[list[tuple[bytes, Any]], list[dict[str, Any]]]:
    """The elements of the array at `a`, each with its bytes, and the issues."""
    buffer = RowBuffer({}, "digest")
    found = []
    with JsonStream(data, Report(buffer, "file", None)) as stream:
        for pair in stream.pairs():
            if pair.key == "a":
                for offset in stream.elements():
                    value = stream.value()
                    found.append((data[offset : stream.offset], value))
    return found, [row for _, batch in buffer.rest() for row in batch.to_pylist()]


@pytest.mark.parametrize("window", [7, 16, 64, 1 << 20])
def test_values_and_their_bytes_do_not_depend_on_the_window(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_WINDOW_BYTES", window)
    values = [{"n": index * 1.5, "t": "ü€😀 [}\\\"" * index} for index in range(20)] + [17, -1.25e3, None, True, "x", []]
    for ascii_only in (True, False):
        data = json.dumps({"b": {"c": [1, {"d": "]"}]}, "a": values, "z": 1}, ensure_ascii=ascii_only, indent=1).encode()
        found, issues = _read(data)
        assert [value for _, value in found] == values and issues == []
        assert all(json.loads(part) == value for part, value in found)


def test_a_number_is_whole_wherever_the_window_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"b": [1.5, 2.25e+10, -30.5, 4E-2], "a": [1.5, 2.25e+10, -30.5, 4E-2]}'
    for window in range(4, len(data)):
        monkeypatch.setattr(json_stream, "_WINDOW_BYTES", window)
        found, issues = _read(data)
        assert [part for part, _ in found] == [b"1.5", b"2.25e+10", b"-30.5", b"4E-2"] and issues == []


def test_windows_are_let_go_with_the_stream() -> None:
    gc.disable()
    try:
        stream = JsonStream(b'{"a": [1]}', Report(RowBuffer({}, "digest"), "file", None))
        with stream:
            assert [stream.value() for pair in stream.pairs() for _ in stream.elements()] == [1]
        known = weakref.ref(stream)
        del stream
        assert known() is None
    finally:
        gc.enable()


def test_bytes_that_are_no_text_are_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"a": [%b"\xff", 1]}' % (b'"text", ' * 9)
    for window in range(4, len(data) + 1):
        monkeypatch.setattr(json_stream, "_WINDOW_BYTES", window)
        _, issues = _read(data)
        assert [(issue["code"], issue["raw_offset"]) for issue in issues] == [("invalid-utf8", data.index(b"\xff"))], window


@pytest.mark.parametrize(
    ("data", "code", "whole"),
    [
        (b'{"a": [1, 2', "malformed-json", [1]),  # of 25, say
        (b'{"a": [1, 2.', "malformed-json", [1]),
        (b'{"a": [1, 2.5E+', "malformed-json", [1]),
        (b'{"a": [1, 2 ', "malformed-json", [1, 2]),
        (b'{"a": [1, 2]', "malformed-json", [1, 2]),
        (b'{"a": [1, 2]} x', "malformed-json", [1, 2]),
        (b'{"a": [1, }', "malformed-json", [1]),
        (b'{"b": [}], "a": [1]}', "malformed-json", []),
        (b'{"a": [{"k": 1, "k": 2}]}', "duplicate-json-key", [{"k": 2}]),
        (b'{"b": 1, "b": 2, "a": [3]}', "duplicate-json-key", [3]),
        (b'{"a": ["\xff"]}', "invalid-utf8", ["\udcff"]),
        (b'{"a": [' + b"[" * 200_000, "malformed-json", []),
        (b'{"b": ' + b"[" * 200_000, "malformed-json", []),
        (b"", "malformed-json", []),
    ],
)
def test_what_breaks_is_told_and_what_stands_before_is_given(data: bytes, code: str, whole: list[Any]) -> None:
    found, issues = _read(data)
    assert [value for _, value in found] == whole
    assert [issue["code"] for issue in issues] == [code]
    assert 0 <= issues[0]["raw_offset"] <= len(data) and issues[0]["line_number"] == 1


def test_a_value_that_is_too_large_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_WINDOW_BYTES", 64)
    monkeypatch.setattr(json_stream, "MAX_VALUE_BYTES", 256)
    found, issues = _read(b'{"a": [1, "' + b"x" * 1000 + b'"]}')
    assert [value for _, value in found] == [1] and issues[0]["code"] == "malformed-json" and issues[0]["raw_offset"] == 10


def test_the_line_of_a_break() -> None:
    _, issues = _read(b'{"a":\n [1,\n  2,\n  oops]}')
    assert issues[0]["line_number"] == 4
    assert ISSUE_TABLE == "evidence_issue"


def test_an_integer_of_more_digits_than_the_interpreter_takes_is_infinite_as_it_is_as_a_double() -> None:
    digits = b"-" + b"9" * 6000
    assert _read(b'{"a": [%b, 1]}' % digits) == ([(digits, -math.inf), (b"1", 1)], [])


def test_bytes_that_are_no_utf8_are_told_by_their_place_whatever_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [b'{"text": "caf\xe9 %d", "n": %d}' % (index, index) for index in range(200)]
    data = b"[" + b", ".join(records) + b"]"
    places = [match.start() for match in re.finditer(b"\xe9", data)][:20]
    for window in (64, 1000, 1 << 20):
        monkeypatch.setattr(json_stream, "_WINDOW_BYTES", window)
        found, issues = _read(b'{"a": ' + data + b"}")
        assert [value["n"] for _, value in found] == list(range(200))
        assert [(issue["code"], issue["raw_offset"]) for issue in issues] == [("invalid-utf8", 6 + place) for place in places]
