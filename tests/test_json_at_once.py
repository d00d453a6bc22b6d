"""What reads JSON many values at a time gives what reads them with care, one by one: values, their bytes, and the issues, on
clean text and on damaged text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from landed import Subject
from samples import bench_serving, genai_perf, guidellm, inference_perf, llmperf

from warehouse.landing.readers import json_lines, json_scan, json_stream, json_text
from warehouse.landing.readers import text as line_text
from warehouse.landing.readers.json_scan import Found, elements
from warehouse.landing.readers.json_stream import JsonStream
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


def _nothing(*_: object) -> Found:
    return Found(None, True)


def _elements(data: bytes, report: Report) -> Iterator[Any]:
    with JsonStream(data, report) as stream:
        for pair in stream.pairs():
            if pair.key == "a":
                yield from stream.values()


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
        asked: list[bool] = []

        def told(data: bytes, start: int, size: int, offset: int, asked: list[bool] = asked) -> Found:
            found = elements(data, start, size, offset)
            asked.append(found.elements is not None)
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_scan, "elements", told)
            at_once = _read(data, _elements)
            patch.setattr(json_scan, "elements", _nothing)
            assert at_once == _read(data, _elements), data
        taken += any(asked)
    assert taken > 60


def test_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_text, "_PIECE_BYTES", 300)
    chance = random.Random(0)
    for _ in range(400):
        text = "\n".join(json.dumps(_value(chance), ensure_ascii=chance.random() < 0.5) for _ in range(chance.randrange(9)))
        data = _damaged(text.encode(), chance)
        at_once = _read(data, _lines)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(json_scan, "line_records", lambda *_: None)
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
        b'{"a": 1, "a": 2}', b'{"a": {"b": 1, "b": 2}}', b'{"b": [{"c": 1, "c": 1}]}', b'{"a": ":", "a": 1}', b"7, {}",
        b"", b"]", b'{"a": 1', b'{"a": NaN}', b'{"a": 1e999}', b'{"a": 01}', rb'{"f\\": 1}', b'{"a": -0}', b'{"a": "\\ud800"}',
        b'{"a": 9223372036854775808}', b'{"a": 1.}', b'{"a": .5}', b'{"a": nul}', b'{"a": "\x01"}', b'{"a": 1,}', b"[1,]", b"[1 2]",
        b'{"\\u0061": 1, "a": 2}', b"[" * 200 + b"]" * 200,
        b"[1, " + b"[" * 200 + b"]" * 201, b'{"a" : 1, "a"\n: 2}',
        rb'{"x": "\":", "a\\": 1, "a\\": 2}', b'{"x": " : ", "y": [1, {"a": 1, "a": 2}]}',
    ],
)
def test_what_is_not_plain_is_left_to_care(data: bytes) -> None:
    assert elements(data, 0, len(data), 0).elements is None


@pytest.mark.parametrize(
    ("data", "stop", "is_odd"),
    [
        (b'{"a": 1}, {"b": [{"c": 1, "c": 1}]}', 8, True), (b'{"a": 1} "}{" {"b": 2}', 8, False), (b'{"a": 1}, {"a": ', 8, False),
        (b'{"a": 1}, 7', 8, True), (b'{"a": 1},', 8, False), (b'[{"a": 1}, {"a": 2}], [{"a": ["x"], "a": 2}]', 20, True),
    ],
)
def test_elements_before_what_is_not_plain_are_taken(data: bytes, stop: int, is_odd: bool) -> None:
    found = elements(data, 0, len(data), 0)
    assert found.elements is not None and (found.elements.stop, found.is_odd) == (stop, is_odd)


@pytest.mark.parametrize(
    "record",
    [
        rb'{"a": ": b", "c" : ":", "d"  : " :", "e": {"a": "\": ", "f": 1}}',
        rb'{"a": "\\\":", "b": ["a", {"b": 2}, [], {}], ":": ""}',
        rb'{"a": "data: {\"a\": 1, \"a\": 2}", "b": [1, 2.5, true], "c": [null, [["\\"]]]}',
    ],
)
def test_colons_in_texts_are_no_keys(record: bytes) -> None:
    data = b"%b, %b]" % (record, record)
    found = elements(data, 0, len(data), 0).elements
    assert found is not None and found.records.values() == [json.loads(record)] * 2


def test_places_are_those_of_the_whole_elements() -> None:
    data = rb'{"a": "}\\"} , [{"b": ":\"]"}],{ } , {"c": 1'
    found = elements(data, 0, len(data), 0).elements
    assert found is not None and [data[offset : offset + length] for offset, length, _ in found] == [
        rb'{"a": "}\\"}', rb'[{"b": ":\"]"}]', b"{ }"
    ]
    assert found.records.values() == [{"a": "}\\"}, [{"b": ':"]'}], {}]


def _write_serving(folder: Path) -> None:
    requests = [*bench_serving.requests(30), bench_serving.FAILED]
    bench_serving.write(folder / "a.json", bench_serving.vllm_record(requests))
    bench_serving.write(folder / "b.jsonl", bench_serving.sglang_record(requests))


@pytest.mark.parametrize(
    ("family", "write", "careful"),
    [
        ("llmperf", lambda folder: llmperf.write(folder, llmperf.REQUESTS * 40), "json_scan.elements"),
        ("inference_perf", inference_perf.write, "json_scan.elements"),
        ("guidellm", guidellm.write, "json_scan.elements"),
        ("genai_perf", genai_perf.write, "json_scan.elements"),
        ("genai_perf", genai_perf.write_aiperf, "json_scan.line_records"),
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
    room, _, name = careful.partition(".")
    module = import_module(f"landed_{family}.{room}" if room == "arrays" else f"warehouse.landing.{room}")
    drafts = subject.drafts(tmp_path / "tree")
    for number in range(30):
        draft = chance.choice(drafts)
        file = chance.choice(draft.files)
        data = _damaged(file.file.source.read_bytes(), chance)
        bundle = subject.stored(draft, tmp_path / "stored" / str(number), {file.raw_path: data})
        at_once = subject.parsed(bundle)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, name, _nothing if name == "elements" else lambda *_: None)
            assert repr(at_once) == repr(subject.parsed(bundle))
