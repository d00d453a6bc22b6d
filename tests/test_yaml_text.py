"""YAML with its bytes: pairs, documents, and what is damaged or hostile."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml

from warehouse.landing.readers.text import Report
from warehouse.landing.readers.yaml_text import yaml_documents, yaml_pairs
from warehouse.landing.rows import RowBuffer

TEXT = """# a comment
version: '0.1'
scenario:
  host: {type: [prefill, "dé code"], count: 3}
  note: |
    two
    lines
metrics:
  ttft: {units: ms, mean: 0.25}
  empty:
  nothing: {}
"""


def _issues(buffer: RowBuffer) -> Counter[str]:
    return Counter(row["code"] for _, batch in buffer.rest() for row in batch.to_pylist())


def test_pairs_are_the_documents_and_their_bytes_state_them() -> None:
    buffer = RowBuffer({}, "digest")
    data = TEXT.encode()
    found = {item.key: item for item in yaml_pairs(data, Report(buffer, "f", None), depth=3)}
    assert {key: item.value for key, item in found.items()} == {
        "version": "0.1", "scenario/host/type": ["prefill", "dé code"], "scenario/host/count": "3",
        "scenario/note": "two\nlines\n", "metrics/ttft/units": "ms", "metrics/ttft/mean": "0.25", "metrics/empty": None,
        "metrics/nothing": {},
    }
    for key, item in found.items():
        part = data[item.offset : item.offset + item.length].decode()
        assert part.startswith(key.rpartition("/")[2] + ":")
        plain = yaml.load(part, Loader=yaml.BaseLoader)  # it leaves every scalar the text it is
        assert plain[key.rpartition("/")[2]] == (item.value if item.value is not None else "")
        assert data[: item.offset].count(b"\n") + 1 == item.line_number
    assert not _issues(buffer)


@pytest.mark.parametrize(
    ("text", "code", "keys"),
    [
        ("a: 1\nb: [", "malformed-yaml", {"a", "b"}),
        ("a: 1\na: 2\n", "duplicate-yaml-key", {"a"}),
        ("a: &x [1]\nb: *x\n", "yaml-alias", {"a", "b"}),
        ("a: \t- x: [", "malformed-yaml", set()),
        ("[" * 100_000, "malformed-yaml", set()),
        ("a: \x00", "malformed-yaml", set()),
    ],
)
def test_what_is_damaged_is_told(text: str, code: str, keys: set[str]) -> None:
    buffer = RowBuffer({}, "digest")
    found = {item.key for item in yaml_pairs(text.encode(), Report(buffer, "f", None), depth=3)}
    assert keys <= found
    assert _issues(buffer)[code] >= 1


def test_an_alias_does_not_unfold() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))
    buffer = RowBuffer({}, "digest")
    (document,) = yaml_documents(f"l0: &l0 x\n{levels}\n".encode(), Report(buffer, "f", None))
    assert document["l11"] == [None] * 9


def test_several_documents() -> None:
    found: list[Any] = yaml_documents(b"kind: A\n---\nkind: B\n", Report(RowBuffer({}, "d"), "f", None))
    assert found == [{"kind": "A"}, {"kind": "B"}]
