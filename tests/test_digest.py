"""Canonical JSON against the vectors of RFC 8785, and every kind of digest: stable, domain-separated, sensitive."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warehouse
from warehouse.digest import (
    bytes_digest,
    canonical_json,
    domain_digest,
    manifest_digest,
    number_id,
    stream_digest,
    workload_spec_digest,
)

LARGEST = 2**53 - 1
SCALARS = st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.text()
JSON = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CELL = ("serving_by_platform", "select 1", ["v5.1", 8], "ttft_p99_ms", "495.036918")

# RFC 8785, appendix B: the bits of a double and its one text.
DOUBLES = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), DOUBLES.items())
def test_a_double_has_the_text_of_the_rfc(bits: str, text: str) -> None:
    [value] = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value) == text.encode()


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_what_is_not_finite_has_no_text(bits: str) -> None:
    with pytest.raises(ValueError):
        canonical_json(struct.unpack(">d", bytes.fromhex(bits)))


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**64 - 1])
def test_an_integer_that_a_double_cannot_tell_from_its_neighbour_is_refused(number: int) -> None:
    with pytest.raises(ValueError):
        canonical_json({"seed": number})
    assert canonical_json([LARGEST, -LARGEST]) == b"[9007199254740991,-9007199254740991]"


def test_the_document_of_the_rfc_has_the_text_of_the_rfc() -> None:
    # RFC 8785, section 3.2.2.
    document = json.loads(
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
    )
    text = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        r'"string":"€$\u000f\nA' + "'" + r'B\"\\\\\"/"}'
    )
    assert canonical_json(document) == text.encode()


def test_keys_are_in_the_order_of_their_utf_16_units() -> None:
    # RFC 8785, section 3.2.3: U+1F600 is a surrogate pair from 0xD83D, so it comes before U+FB33.
    expected = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    document = dict.fromkeys(sorted(expected), 0)
    assert list(document) != expected, "the order of code points is another one"
    assert list(json.loads(canonical_json(document))) == expected


def test_control_characters_have_their_short_or_their_long_escape_and_nothing_else_is_escaped() -> None:
    assert canonical_json("\b\t\n\f\r\"\\/\x00\x1f\x7f\u2028é") == (
        rb'"\b\t\n\f\r\"\\/\u0000\u001f' + '\x7f\u2028é"'.encode()
    )


@settings(deadline=None)
@given(JSON)
def test_canonical_json_is_json_of_the_same_document_and_a_fixed_point(document: Any) -> None:
    text = canonical_json(document)
    assert json.loads(text) == document
    assert canonical_json(json.loads(text)) == text


@settings(deadline=None)
@given(st.dictionaries(st.text(), SCALARS, min_size=2), st.randoms())
def test_the_order_of_keys_does_not_matter(document: dict[str, Any], random: Any) -> None:
    items = list(document.items())
    random.shuffle(items)
    assert canonical_json(dict(items)) == canonical_json(document)


def test_plain_digests_are_what_sha256sum_says() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-4
    assert (bytes_digest(b""), stream_digest([])) == (empty, empty)
    assert (bytes_digest(b"abc"), stream_digest([b"a", b"", b"bc"])) == (abc, abc)
    assert bytes_digest(memoryview(b"abc")) == abc
    assert manifest_digest(canonical_json({"b": 1, "a": []})) == bytes_digest(b'{"a":[],"b":1}')
    assert workload_spec_digest({"b": 1, "a": []}) == bytes_digest(b'{"a":[],"b":1}')


@settings(deadline=None)
@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_a_stream_has_the_digest_of_its_bytes_however_it_is_cut(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    assert stream_digest(chunks) == bytes_digest(b"".join(chunks))


def test_a_domain_is_written_before_the_document_with_a_zero_between() -> None:
    assert domain_digest("wh/a/1", {"x": 1}) == hashlib.sha256(b'wh/a/1\0{"x":1}').hexdigest()


@settings(deadline=None)
@given(JSON)
def test_one_document_has_other_digests_in_other_domains(document: Any) -> None:
    digests = {
        domain_digest("wh/query-spec/1", document),
        domain_digest("wh/query-spec/2", document),
        domain_digest("wh/build/1", document),
        bytes_digest(canonical_json(document)),
    }
    assert len(digests) == 4


def test_a_number_id_is_the_start_of_a_digest_of_the_whole_cell() -> None:
    text = b'wh/number/1\0["serving_by_platform","select 1",["v5.1",8],"ttft_p99_ms","495.036918"]'
    bits = f"{int(hashlib.sha256(text).hexdigest(), 16):0256b}"
    letters = "".join("abcdefghijklmnopqrstuvwxyz234567"[int(bits[i : i + 5], 2)] for i in range(0, 60, 5))
    assert number_id(*CELL) == f"n-{letters}"


@settings(deadline=None)
@given(st.text(), st.text(), st.lists(SCALARS), st.text(), SCALARS)
def test_a_number_id_can_be_typed(query: str, text: str, grain: list[Any], column: str, value: Any) -> None:
    assert re.fullmatch(r"n-[a-z2-7]{12}", number_id(query, text, grain, column, value))


@pytest.mark.parametrize(
    ("part", "other"),
    [
        (0, "serving_by_platforms"), (1, "select  1"), (2, ["v5.1", 9]), (2, ["v5.1", "8"]), (2, [8, "v5.1"]),
        (2, ["v5.1"]), (2, [["v5.1", 8]]), (3, "ttft_p50_ms"), (4, "495.036919"), (4, 495.036918), (4, None),
    ],
)
def test_every_part_of_a_cell_is_in_its_number_id(part: int, other: Any) -> None:
    changed = [*CELL[:part], other, *CELL[part + 1 :]]
    assert number_id(*changed) != number_id(*CELL)


@settings(deadline=None)
@given(*[st.tuples(st.text(), st.text(), st.lists(SCALARS), st.text(), SCALARS)] * 2)
def test_two_cells_share_a_number_id_only_when_they_are_one(left: tuple, right: tuple) -> None:
    assert (number_id(*left) == number_id(*right)) == (canonical_json(list(left)) == canonical_json(list(right)))


def test_parts_of_a_cell_cannot_be_shifted_into_one_another() -> None:
    assert number_id("ab", "c", [], "d", 1) != number_id("a", "bc", [], "d", 1)
    assert number_id("q", "t", ["a"], "b", 1) != number_id("q", "t", [], "a", "b")


def test_nothing_else_in_the_package_hashes() -> None:
    package = Path(warehouse.__file__).parent
    users = [path.name for path in package.rglob("*.py") if re.search(r"\bhashlib\b", path.read_text(encoding="utf-8"))]
    assert users == ["digest.py"]
