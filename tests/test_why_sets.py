"""Why-sets as publications keep them. The encodings are checked by hand, not by what the module says of itself."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode

import pytest
from forgery import encoded
from hypothesis import given
from hypothesis import strategies as st

from warehouse.claims.publish.why_sets import WhySets, why_digest
from warehouse.digest import bytes_digest


def runs(*ids: str) -> list[dict[str, str]]:
    return [{"run_id": run_id, "artifact_manifest_digest": run_id * 64} for run_id in ids]


def test_a_set_is_a_portable_roaring_bitmap_over_the_sorted_runs() -> None:
    dictionary, why = encoded([runs("c", "a"), runs("b", "a", "d", "c"), runs("c", "a")])
    assert [json.loads(line)["run_id"] for line in dictionary.splitlines()] == ["a", "b", "c", "d"]
    bitmaps = {line["why_digest"]: b64decode(line["runs"]) for line in map(json.loads, why.splitlines())}
    # RoaringFormatSpec: cookie 12346, one container: key 0, cardinality - 1; its offset 16; then {0, 2} as 16-bit integers.
    plain = bytes.fromhex("3a300000 01000000 0000 0100 10000000 0000 0200")
    # Cookie 12347 with one container less one, which has runs: key 0, cardinality - 1; one run from 0 and 3 more.
    run = bytes.fromhex("3b300000 01 0000 0300 0100 0000 0300")
    assert bitmaps == {why_digest(runs("a", "c")): plain, why_digest(runs("a", "b", "c", "d")): run}


def test_the_digest_is_of_the_runs_in_any_order_and_of_nothing_else() -> None:
    document = b'[{"artifact_manifest_digest":"' + b"a" * 64 + b'","run_id":"a"},{"artifact_manifest_digest":"' + b"b" * 64 + b'","run_id":"b"}]'
    expected = bytes_digest(b"wh/why-set/1\0" + document)
    assert why_digest(runs("b", "a")) == why_digest(runs("a", "b")) == expected
    assert why_digest([]) != why_digest(runs("a")) != why_digest(runs("b"))
    assert why_digest([{"run_id": "a"}]) != why_digest(runs("a"))


@given(st.lists(st.sets(st.integers(0, 70_000), max_size=40), max_size=6))
def test_what_is_written_is_read(sets: list[set[int]]) -> None:
    given_sets = [[{"run_id": f"r{number:05}"} for number in numbers] for numbers in sets]
    found = WhySets(*encoded(given_sets))
    assert {frozenset(run["run_id"] for run in members) for members in found.values()} == {
        frozenset(f"r{number:05}" for number in numbers) for numbers in sets
    }
    assert all(digest == why_digest(members) for digest, members in found.items())


def test_a_bitmap_of_other_runs_is_not_read() -> None:
    dictionary, why = encoded([runs("a"), runs("b")])
    first, second = map(json.loads, why.splitlines())
    first["runs"] = second["runs"]
    for forged, error in (
        (json.dumps(first).encode(), ValueError),
        (json.dumps({**first, "runs": b64encode(b"no bitmap").decode()}).encode(), ValueError),
        (b'{"runs": ""}', KeyError),
        (json.dumps({**first, "runs": ""}).encode(), IndexError),
    ):
        with pytest.raises(error):
            dict(WhySets(dictionary, forged))
    with pytest.raises(IndexError):
        dict(WhySets(dictionary.splitlines()[0], why))
