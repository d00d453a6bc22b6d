"""Objects that are decoded into structures have the columns that they have as dicts; what is not plain is never taken for it."""

from __future__ import annotations

import json
import random
from itertools import chain
from typing import Any

import msgspec
import pytest

from warehouse.landing import json_lines, json_stream
from warehouse.landing.json_records import Decoded, Expected, Records, Shaped
from warehouse.landing.json_stream import JsonStream
from warehouse.landing.rows import RowBuffer
from warehouse.landing.text import Report

_PATHS = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "d"), ("e",), ("e", "b"), ("f",), ("g",), ("h",), ("absent", "b")]


def _record(chance: random.Random) -> dict[str, Any]:
    """As tools write them: mostly the same keys, now and then one less, or something else under one."""
    text = chance.choice(["", "a", "a: b", "[", '"', "\\", "é", "{}"])
    found = {
        "a": {"b": {"c": chance.random()}, "d": chance.choice([1, None])},
        "e": chance.choice([None, None, None, {"b": text}]),
        "f": [chance.random() for _ in range(chance.randrange(3))],
        "g": [{"k": text}, {"k": 1}][: chance.randrange(3)],
        "h": text,
    }
    if chance.random() < 0.003:
        found[chance.choice([*found, "z"])] = chance.choice([None, 1, [], {}, "x", [[1]], ["x"], [None], {"b": 1}, 10**30])
    if chance.random() < 0.1:
        del found[chance.choice(list(found))]
    return found


def _plain(value: Any) -> Any:
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


def _check_columns(records: Records, values: list[Any]) -> None:
    decoded = Decoded(values)
    for path in _PATHS:
        assert records.has(*path) == decoded.has(*path)
        for one, other in zip(records.column(*path) or (), decoded.column(*path) or (), strict=True):
            # Under what was expected to hold objects stand structures: of those only is asked what stands within.
            assert isinstance(one, msgspec.Struct | list) or repr(_plain(one)) == repr(other)


@pytest.mark.parametrize("are_lines", [True, False])
def test_columns_are_those_of_dicts(are_lines: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = json_lines if are_lines else json_stream
    monkeypatch.setattr(reader, "_PIECE_BYTES", 400)
    monkeypatch.setattr(reader, "_LARGEST_PIECE_BYTES", 1000)
    chance = random.Random(1)
    kinds: list[type] = []
    for _ in range(6):
        values = [_record(chance) for _ in range(300)]
        if are_lines:
            data = "\n".join(map(json.dumps, values)).encode()
            batches = [each.records for each in json_lines.json_lines(data, Report(RowBuffer({}, ""), "", None))]
        else:
            data = json.dumps(values, indent=chance.choice([None, 1])).encode()
            with JsonStream(data, Report(RowBuffer({}, ""), "", None)) as stream:
                batches = [each.records for each in stream.batches()]
        assert list(chain.from_iterable(batch.values() for batch in batches)) == values
        for batch in batches:
            _check_columns(batch, batch.values())
        kinds += map(type, batches)
    assert kinds.count(Shaped) > len(kinds) / 3


@pytest.mark.parametrize(
    "odd",
    [
        '{"a": 1, "a": 1, "t": ""}', '{"a": 1, "t": "", "t": ""}', '{"\\u0061": 1, "a": 1, "t": ""}',
        '{"a": 1, "t": "", "o": {}}',
        '{"a": {"x": 1}, "t": ""}', '{"a": 1, "t": "\\u003a", "t": ""}', '{"a": [[1]], "t": ""}', '{"a": NaN, "t": ""}',
        '{"a": 1, "t": ""} ', '{"a": 1, "t": {"a": 1, "a": 1}}', '{"a": 1, "t": "', "7",
        '{"a": 1, "t": "", "l": ["x"]}', '{"a": 1, "t": "", "l": [{"a": 1, "a": 1}]}', '{"a": 1, "t": "", "l": [[1]]}',
    ],
)
def test_what_is_not_plain_is_not_taken(odd: str) -> None:
    expected = Expected()
    plain = '{"a": 1, "t": ":", "l": [1, 2]}'
    expected.learn([json.loads(plain), {"a": 1, "t": ""}])
    assert expected.lines([plain.encode()], list) is not None
    is_same = odd.rstrip() == '{"a": 1, "t": ""}'
    assert (expected.lines([plain.encode(), odd.encode()], list) is not None) == is_same
    pairs = odd.count('": ') + plain.count('": ')
    taken = expected.array(f"{plain}, {odd}".encode(), pairs, list)
    assert (taken is not None) == (is_same or odd.startswith('{"a": [['))  # how deep an array's elements are was looked at


def test_a_file_of_ever_new_objects_is_given_up() -> None:
    expected = Expected()
    for number in range(100):
        value = {f"k{number}": 1}
        assert expected.lines([json.dumps(value).encode()], list) is None
        expected.learn([value])
    assert expected.lines([b'{"k0": 1}'], list) is not None
    for odd in ({f"k{number}": 1 for number in range(1000)}, {'"': 1}, {"\n": 1}, {"k0": {"\\": 1}}):
        expected = Expected()
        expected.learn([odd])
        assert expected.lines([json.dumps(odd).encode()], list) is None
        expected.learn([{"k0": 1}])
        assert expected.lines([b'{"k0": 1}'], list) is None
