"""JSON from strangers: every value with the exact bytes that state it, and an issue where a document is not JSON."""

from __future__ import annotations

import re
from typing import Any

import pytest

from warehouse.landing.readers.entries import element_entry, numeric
from warehouse.landing.readers.json_text import Json, json_elements, json_entries, json_pairs
from warehouse.landing.readers.records import Record
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer


class Issues(Report):
    """Collects codes with the place they are about."""

    def __init__(self) -> None:
        super().__init__(RowBuffer({}, "0" * 64), "file", None)
        self.found: list[tuple[str, int, int | None]] = []

    def __call__(self, code: str, message: str, offset: int = 0, length: int = 0, *rest: Any) -> None:
        self.found.append((code, offset, rest[0] if rest else None))


def test_a_pair_is_the_bytes_that_state_it() -> None:
    data = b'{"a": {"b": 1.50, "c": [1, 2]},\n "\xc3\xa9": "x"}'
    pairs = {pair.key: pair for pair in json_pairs(data, Issues(), depth=2)}
    stated = {key: data[pair.offset : pair.offset + pair.length] for key, pair in pairs.items()}
    assert stated == {"a/b": b'"b": 1.50', "a/c": b'"c": [1, 2]', "é": b'"\xc3\xa9": "x"'}
    assert pairs["é"].line_number == 2
    number, array = json_entries(b'{"a": 1.50, "b": [1, 2]}', Issues())
    assert (number.value, number.number) == ("1.50", 1.5)
    assert array.value == "[1, 2]" and array.number is None


def test_depth_one_keeps_objects_whole() -> None:
    (entry,) = json_entries(b'{"a": {"b": 1}}', Issues())
    assert (entry.key, entry.value) == ("a", '{"b": 1}')
    assert not list(json_entries(b'{"a": {"b": 1}}', Issues(), scalars_only=True))


def test_places_count_from_where_the_part_stands_in_its_file() -> None:
    (pair,) = json_pairs(b'{"a": 1}', Issues(), start=(100, 7))
    assert (pair.offset, pair.length, pair.line_number) == (101, 6, 7)


def test_elements_of_an_array() -> None:
    data = b'[{"a": 1},\n 2, []]'
    found = [(data[each.offset : each.offset + each.length], each.value) for each in json_elements(data, Issues())]
    assert found == [(b'{"a": 1}', {"a": 1}), (b"2", 2), (b"[]", [])]
    assert not list(json_elements(b" [ ] ", Issues()))


@pytest.mark.parametrize(
    ("data", "issues"),
    [
        (b'{"a": 1, "a": 2}', [("duplicate-json-key", 9, 1)]),
        (b'{"a": {"b": 1, "b": 2}}', [("duplicate-json-key", 1, 1)]),
        (b'{"a": NaN}', [("non-finite-number", 1, 1)]),
        (b'{"a": 1e999}', [("non-finite-number", 1, 1)]),
        (b'{"a": 1e-400, "b": 0e-400, "c": -0.0, "d": 5e-324}', [("too-small", 1, 1)]),
        (b'{"a": 1} 2', [("malformed-json", 9, 1)]),
        (b'{"a": 1,\n', [("malformed-json", 9, 2)]),
        (b"", [("malformed-json", 0, 1)]),
        (b"[1]", [("malformed-json", 0, 1)]),
        (b'{"a": "\xff"}', [("invalid-utf8", 7, 1)]),
        (b'{"a": ' + b"[" * 100_000, [("malformed-json", 6, 1)]),
        (b'{"a": 1}', []),
    ],
)
def test_what_is_not_json_is_told_with_its_place(data: bytes, issues: list) -> None:
    report = Issues()
    list(json_entries(data, report))
    assert report.found == issues


def test_a_number_that_a_double_does_not_hold_is_missing_or_told() -> None:
    report = Issues()
    data = b'{"a": 1e-400, "b": 0e-400, "c": "1e-400", "d": 9007199254740993, "e": 9007199254740992, "f": 0.1, "g": 0}'
    entries = [numeric(element_entry(pair, report), report) for pair in json_pairs(data, report)]
    assert [entry.number for entry in entries] == [None, 0, None, 9007199254740992, 9007199254740992, 0.1, 0]
    assert [code for code, _, _ in report.found if code != "not-a-number"] == ["too-small", "not-exact"]
    found: list[str] = []
    record = Record(Json().value(data.decode()), lambda code, message: found.append(code))
    assert [record.number(key) for key in "abc"] == [None, 0, None] and found == ["too-small", "not-a-number"]


@pytest.mark.parametrize("cut", ["1", "1.", "1.5", "1.5e", "1e+", "-1"])
def test_a_number_in_which_the_text_ends_may_have_been_longer(cut: str) -> None:
    issues = Issues()
    assert [entry.key for entry in json_entries(b'{"a": 5, "b": ' + cut.encode(), issues)] == ["a"]
    assert issues.found == [("malformed-json", 14, 1)]
    assert [entry.key for entry in json_entries(b'{"a": 5, "b": true', Issues())] == ["a", "b"]


def test_what_stands_before_a_break_is_kept() -> None:
    assert [pair.key for pair in json_pairs(b'{"a": 1, "b": {"c": 2, "d": tru', Issues(), depth=2)] == ["a", "b/c"]


@pytest.mark.parametrize("token", ["nan", "-nan", "inf", "-inf", "-nan(ind)", "1.#QNAN", "9.9995e 09"])
def test_a_number_as_c_programs_print_it_is_an_issue_and_the_rest_is_read(token: str) -> None:
    data = f'{{"a": 1.5,\n "b": {token}, "c": {{"d": {token}, "e": 2}}, "f": "is {token}, or not"}}'.encode()
    issues = Issues()
    found = {entry.key: (entry.value, entry.number) for entry in json_entries(data, issues)}
    assert (found["a"], found["b"], found["f"]) == (("1.5", 1.5), ("", None), (f"is {token}, or not", None)) and '"e": 2' in found["c"][0]
    places = [match.start() for match in re.finditer(re.escape(token.encode()), data)][:2]
    assert issues.found == [("not-a-json-number", places[0], 2), ("not-a-json-number", places[1], 2)]
