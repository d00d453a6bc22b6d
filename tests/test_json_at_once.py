"""What reads JSON many values at a time gives what reads them with care, one by one: values, their bytes, and the issues, on
clean text and on damaged text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from landed import Subject
from samples import bench_serving, genai_perf, guidellm, inference_perf, llmperf

from warehouse.landing.readers import json_lines, json_records, json_stream, json_text
from warehouse.landing.readers import text as line_text
from warehouse.landing.readers.json_records import Plain, plain
from warehouse.landing.readers.json_stream import JsonStream
from warehouse.landing.readers.json_text import noted_object
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

Read = Callable[[bytes, Report], Iterator[Any]]
_DAMAGES = [b"{", b"}", b"[", b"]", b'"', b"\\", b":", b",", b"\n", b" ", b"\xff", b"\x01", b"\xc3\xa9", b"0", b"-", b"e", b"."]
_INSERTS = [b'"k": 1, ', b"NaN", b"1e999", b"null", b'"}{"', b"[[]]", b"9" * 5000, b"\xef\xbb\xbf", b'"\\ud800"', b"{}"]
_TEXTS = ["", "a", 'say "so"', "\\", "\\\\\"", "{[:", "é", "😀", "\n\t", "://", "\x7f"]


def _value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.randrange(10)
    if kind == 0 and depth < 4:
        return {chance.choice(["k", "n", "é", 'q"']) + str(index): _value(chance, depth + 1) for index in range(chance.randrange(4))}
    if kind == 1 and depth < 4:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return chance.choice([
        chance.random() * 10.0 ** chance.randrange(-30, 30), chance.randrange(-(10 ** chance.choice([2, 18, 25])), 10**6),
        None, True, False, -0.0, chance.choice(_TEXTS),
    ])


def _damaged(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice([0, 1, 1, 2])):
        place = chance.randrange(len(data) + 1)
        data = chance.choice([
            data[:place] + chance.choice(_DAMAGES) + data[place + 1 :], data[:place] + data[place + 1 :],
            data[:place] + chance.choice(_INSERTS) + data[place:], data[:place],
        ])
    return data


def _read(data: bytes, read: Read) -> tuple[str, list[dict[str, Any]]]:
    """All values with their types and places, and the issues."""
    buffer = RowBuffer({}, "digest")
    found = [repr(each) for each in read(data, Report(buffer, "file", None))]
    return "\n".join(found), [row for _, batch in buffer.rest() for row in batch.to_pylist()]


def _nothing(*_: object) -> None:
    return None


def _elements(data: bytes, report: Report) -> Iterator[Any]:
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key == "a":
                for several in stream.batches():
                    yield from zip(several.offsets, several.lengths, several.records.values, strict=True)


def _lines(data: bytes, report: Report) -> Iterator[Any]:
    return chain.from_iterable(json_lines.json_lines(data, report))


@pytest.mark.parametrize("window", [64, 700, 1 << 20])
def test_elements(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_WINDOW_BYTES", window)
    monkeypatch.setattr(json_stream, "_PIECE_BYTES", 100)
    chance = random.Random(window)
    taken = 0
    for _ in range(150):
        records = [{f"k{index}": _value(chance) for index in range(chance.randrange(5))} for _ in range(chance.randrange(12))]
        document = {"b": _value(chance), "a": records, "z": [records, {"a": 1}]}
        text = json.dumps(document, indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5)
        data = _damaged(text.encode(), chance)
        found: list[Plain | None] = []

        def noted(array: bytes, found: list[Plain | None] = found) -> Plain | None:
            found.append(plain(array))
            return found[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_records, "plain", noted)
            at_once = _read(data, _elements)
            patch.setattr(json_records, "plain", _nothing)
            assert at_once == _read(data, _elements), data
        taken += any(found)
    assert taken > 60


def test_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_text, "_PIECE_BYTES", 300)
    chance = random.Random(0)
    for _ in range(400):
        text = "\n".join(json.dumps(_value(chance), ensure_ascii=chance.random() < 0.5) for _ in range(chance.randrange(9)))
        data = _damaged(text.encode(), chance)
        at_once = _read(data, _lines)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_records, "plain", _nothing)
            assert at_once == _read(data, _lines), data


def test_pairs() -> None:
    chance = random.Random(0)
    for _ in range(600):
        document = {f"k{index}": _value(chance) for index in range(chance.randrange(6))}
        text = json.dumps(document, indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5)
        data, depth = _damaged(text.encode(), chance), chance.choice([1, 3])

        def entries(data: bytes, report: Report, depth: int = depth) -> Iterator[Any]:
            return ((*pair, json_text.json_text(pair.value)) for pair in json_text.json_pairs(data, report, depth=depth))

        at_once = _read(data, entries)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_text, "_PLAIN_PAIR", re.compile("(?!)"))
            assert at_once == _read(data, entries), data


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 2}', b'{"a": {"b": 1, "b": 2}}', b'{"b": [{"c": 1, "c": 1}]}', b'{"a": ":", "a": 1}', b"]",
        b'{"a": 1', b'{"a": NaN}', b'{"a": 1e999}', b'{"a": 01}', b'{"a": "\\ud800"}', b'{"a": 1.}', b'{"a": .5}', b'{"a": nul}',
        b'{"a": "\x01"}', b'{"a": 1,}', b"1,", b"1 2", b'{"a": "\xff"}', b'{"\xff": 1}', b'{"a": "\xed\xa0\x80"}', b"\xef\xbb\xbf1",
        b'{"\\u0061": 1, "a": 2}', b"[" * 20_000 + b"]" * 20_000, b'{"a" : 1, "a"\n: 2}', b'{"a": %b}' % (b"9" * 5000),
        b'{"x" : 1, "a": 1, "a": 2}', rb'{"x\\": 1, "a": 1, "a": 2}',
        rb'{"x": "\":", "a\\": 1, "a\\": 2}', b'{"x": " : ", "y": [1, {"a": 1, "a": 2}]}', b'{"a"%b: 1, "a": 2}' % (b" " * 100),
        b'{"%b": 1, "%b": 2}' % (rb"\\" * 50, rb"\\" * 50), rb'{"\\\\": 1, "\\\\"   : 2}', b'[{"k": [[{"n": 1, "n": 1}]]}]',
    ],
)
def test_what_is_not_plain_is_left_to_care(data: bytes) -> None:
    assert plain(b"[%b]" % data) is None


@pytest.mark.parametrize(
    "data",
    [
        rb'{"a": "b: c", "c" : "d :", "e": {"a": "\": ", "f": 1}}', rb'{"a": "\\\":", "b": ["a", {"b": 2}, [], {}], "c:": ""}',
        rb'{"a": "data: {\"a\": 1, \"a\": 2}", "b": [1, 2.5, true], "c": [null, [["\\"]]]}', rb'{"a\\": 1, "a": "\\\\\": b"}',
        rb'{"a": "{\"b\": \"{\\\"c\\\": 1}\"}", "b"	: "c : d"}', b'{"a": 9223372036854775808, "b": -0, "c": -0.0, "d": 1E5}', b"7, {}", b"",
    ],
)
def test_colons_in_texts_are_no_keys(data: bytes) -> None:
    found = plain(b"[%b, %b]" % (data, data) if data else b"[]")
    assert found is not None and repr(found.records.values) == repr(json.loads(b"[%b]" % data) * 2)


def test_places_are_those_of_the_whole_elements() -> None:
    elements = [r'{"a": "}\\"}', r'{"a": "😀", "b": [{"b": ":\"]"}]}', '{"a": { }}']
    data = '{"a": [' + elements[0] + " ," + ", ".join(elements[1:]) + "]}"
    report = Report(RowBuffer({}, "digest"), "file", None)
    found = [data.encode()[offset : offset + length].decode() for offset, length, _ in _elements(data.encode(), report)]
    assert found == elements


_KEYS = st.sampled_from(["a", "b", "\\u0061", "a\\\\", '\\"', ":", "\\\\\\\\", "é"])
_BLANKS = st.sampled_from(["", "", " ", "\n\t", " " * 70])
_SCALARS = st.sampled_from([
    "1", "-0", "0.1", "-2.5E-3", "1e400", "NaN", "-Infinity", "18446744073709551616", "null", "true", '""', '":"', '" : "', '"a\\":"', '"\\\\"',
    '"\\\\\\": \\\\"', '"{\\"a\\": 1}"', '"\\ud800"', '"\\ud83d\\ude00"', '"😀 :"', '"\t"', "01", '"a', "]", "}",
])


def _objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(_BLANKS, _KEYS, _BLANKS, _BLANKS, values).map(lambda found: '{}"{}"{}:{}{}'.format(*found))
    return st.lists(pair, max_size=4).map(lambda pairs: "{" + ",".join(pairs) + "}")


def _arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(_BLANKS, values, _BLANKS).map("".join), max_size=4).map(lambda found: "[" + ",".join(found) + "]")


_JSON = st.recursive(_SCALARS, lambda values: _objects(values) | _arrays(values), max_leaves=12)


@settings(deadline=None)
@given(st.lists(st.tuples(_BLANKS, _objects(_JSON) | _JSON, _BLANKS).map("".join), max_size=5))
def test_what_is_read_at_once_is_what_care_gives(elements: list[str]) -> None:
    """`plain` reads the values that Python's decoder reads, and never where that one meets a key twice."""
    text = "[" + ",".join(elements) + "]"
    found = plain(text.encode())
    if found is None:
        return
    duplicates: list[str] = []
    assert repr(found.records.values) == repr(json.loads(text, object_pairs_hook=partial(noted_object, duplicates)))
    assert not duplicates
    if len(found.lengths) == len(elements):
        assert found.lengths == [len(element.strip().encode()) for element in elements]


@settings(deadline=None)
@given(st.lists(_objects(_JSON), min_size=1, max_size=6), st.sampled_from([",", " ,\n "]), st.sampled_from([40, 200, 1 << 20]))
def test_elements_of_any_kind(elements: list[str], between: str, window: int) -> None:
    data = ('{"a": [' + between.join(elements) + "]}").encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_WINDOW_BYTES", window)
        at_once = _read(data, _elements)
        patch.setattr(json_records, "plain", _nothing)
        assert at_once == _read(data, _elements)


@settings(deadline=None)
@given(st.lists(_JSON | _objects(_JSON), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n", "\n\n", " \n"]))
def test_lines_of_any_kind(documents: list[str], end: str) -> None:
    data = end.join(documents).encode()
    at_once = _read(data, _lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "plain", _nothing)
        assert at_once == _read(data, _lines)


def test_an_array_over_several_lines_is_no_lines() -> None:
    """Joined by commas they would be as long as the lines are."""
    buffer = RowBuffer({}, "digest")
    assert not list(_lines(b"   [1\n2]\n1\n2\n", Report(buffer, "file", None)))[:-2]


def test_one_record_that_is_odd_does_not_slow_the_others() -> None:
    records = [{"a": index, "b": "x" * 100} for index in range(20_000)]
    records[10_000]["b"] = float("nan")
    found: list[Plain | None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_records, "plain", lambda array: found.append(plain(array)) or found[-1])
        assert len(_read(json.dumps({"a": records}).encode(), _elements)[0].splitlines()) == 20_000
    assert len(found) < 100


def _write_serving(folder: Path) -> None:
    requests = [*bench_serving.requests(30), bench_serving.FAILED]
    bench_serving.write(folder / "a.json", bench_serving.vllm_record(requests))
    bench_serving.write(folder / "b.jsonl", bench_serving.sglang_record(requests))


@pytest.mark.parametrize(
    ("family", "write", "careful"),
    [
        ("llmperf", lambda folder: llmperf.write(folder, llmperf.REQUESTS * 40), "readers.json_records.plain"),
        ("inference_perf", inference_perf.write, "readers.json_records.plain"),
        ("guidellm", guidellm.write, "readers.json_records.plain"),
        ("genai_perf", genai_perf.write, "readers.json_records.plain"),
        ("genai_perf", genai_perf.write_aiperf, "readers.json_records.plain"),
        ("bench_serving", _write_serving, "arrays._plain_rows"),
    ],
)
def test_rows_of_a_family(
    family: str, write: Callable[[Path], object], careful: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for reader in (json_stream, line_text):  # in pieces so small that the first ones teach what to expect of the others
        monkeypatch.setattr(reader, "_PIECE_BYTES", 1000)
        monkeypatch.setattr(reader, "_LARGEST_PIECE_BYTES", 12_000)
    subject = Subject(family)
    write(tmp_path / "tree")
    chance = random.Random(0)
    room, _, name = careful.rpartition(".")
    module = import_module(f"landed_{family}.{room}" if room == "arrays" else f"warehouse.landing.{room}")
    drafts = subject.drafts(tmp_path / "tree")
    for number in range(30):
        draft = chance.choice(drafts)
        file = chance.choice(draft.files)
        data = _damaged(file.file.source.read_bytes(), chance)
        bundle = subject.stored(draft, tmp_path / "stored" / str(number), {file.raw_path: data})
        at_once = subject.parsed(bundle)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, name, _nothing)
            assert repr(at_once) == repr(subject.parsed(bundle))
