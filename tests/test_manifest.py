"""Manifests: canonical, the same whatever the order, closed under their own digest, and nothing else passes for one."""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warehouse.errors import WarehouseError
from warehouse.evidence.manifest import Manifest, ManifestFile, checked_raw_path, parse_manifest

LARGEST = 2**53 - 1
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name not in (".", "..")
)
RAW_PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
FILES = st.builds(
    ManifestFile,
    RAW_PATHS,
    st.integers(0, LARGEST),
    st.binary(min_size=32, max_size=32).map(bytes.hex),
    st.none() | st.text(),
    st.none() | st.text(),
)
MANIFESTS = st.builds(
    Manifest,
    st.text(),
    st.lists(FILES, min_size=1, max_size=5, unique_by=lambda file: file.raw_path).map(tuple),
    st.dictionaries(st.text(), JSON, max_size=3),
    st.dictionaries(st.text(), JSON, max_size=3),
)
ONE = Manifest("family", (ManifestFile("a/b.txt", 3, "ab" * 32, "text/plain", "log"),), {"round": "v5.1"}, {"url": "u"})


# On a busy machine the first manifest may take a second to be generated, which says nothing of the code.
PATIENTLY = settings(suppress_health_check=[HealthCheck.too_slow])


def sorted_files(manifest: Manifest) -> list[ManifestFile]:
    return sorted(manifest.files, key=lambda file: file.raw_path)


@PATIENTLY
@given(MANIFESTS)
def test_a_manifest_is_read_back_as_it_was_written(manifest: Manifest) -> None:
    again = parse_manifest(manifest.canonical, "here")
    assert list(again.files) == sorted_files(manifest)
    assert (again.family, again.identity, again.source) == (manifest.family, manifest.identity, manifest.source)
    assert (again.canonical, again.digest) == (manifest.canonical, manifest.digest)


@PATIENTLY
@given(MANIFESTS)
def test_the_digest_is_what_sha256sum_says_of_the_stored_bytes(manifest: Manifest) -> None:
    assert manifest.digest == hashlib.sha256(manifest.canonical).hexdigest()


@PATIENTLY
@given(MANIFESTS, st.randoms())
def test_the_order_of_files_and_keys_does_not_matter(manifest: Manifest, order: random.Random) -> None:
    def shuffled(values: Any) -> list[Any]:
        values = list(values)
        order.shuffle(values)
        return values

    other = Manifest(
        manifest.family,
        tuple(shuffled(manifest.files)),
        dict(shuffled(manifest.identity.items())),
        dict(shuffled(manifest.source.items())),
    )
    assert other.canonical == manifest.canonical


@PATIENTLY
@given(MANIFESTS)
def test_a_manifest_lists_its_files_and_never_itself(manifest: Manifest) -> None:
    document = json.loads(manifest.canonical)
    assert [item["path"] for item in document["files"]] == [file.raw_path for file in sorted_files(manifest)]
    assert manifest.digest not in manifest.canonical.decode()
    assert set(document) == {"manifest_version", "family", "identity", "source", "files"}


@pytest.mark.parametrize(
    "other",
    [
        Manifest("other", ONE.files, ONE.identity, ONE.source),
        Manifest("family", ONE.files, {"round": "v5.0"}, ONE.source),
        Manifest("family", ONE.files, {}, ONE.source),
        Manifest("family", ONE.files, ONE.identity, {}),
        Manifest("family", (), ONE.identity, ONE.source),
        Manifest("family", (ManifestFile("a/c.txt", 3, "ab" * 32, "text/plain", "log"),), ONE.identity, ONE.source),
        Manifest("family", (ManifestFile("a/b.txt", 4, "ab" * 32, "text/plain", "log"),), ONE.identity, ONE.source),
        Manifest("family", (ManifestFile("a/b.txt", 3, "ac" * 32, "text/plain", "log"),), ONE.identity, ONE.source),
        Manifest("family", (ManifestFile("a/b.txt", 3, "ab" * 32, None, "log"),), ONE.identity, ONE.source),
        Manifest("family", (ManifestFile("a/b.txt", 3, "ab" * 32, "text/plain", None),), ONE.identity, ONE.source),
    ],
)
def test_every_part_of_a_bundle_is_in_its_digest(other: Manifest) -> None:
    assert other.digest != ONE.digest


@given(RAW_PATHS)
def test_a_relative_normalised_path_is_taken_as_it_is(path: str) -> None:
    assert checked_raw_path(path) == path


@given(st.lists(NAMES, max_size=3), st.sampled_from(["", ".", ".."]), st.lists(NAMES, max_size=3))
def test_a_path_with_an_empty_or_dotted_part_is_refused(before: list[str], part: str, after: list[str]) -> None:
    with pytest.raises(WarehouseError) as caught:
        checked_raw_path("/".join([*before, part, *after]))
    assert caught.value.code == "WH103"


@pytest.mark.parametrize("path", ["", "/", "/etc/passwd", "a//b", "a/", "../a", "a/../../b", "./a", "a\0b", "a\udcffb"])
def test_a_path_that_escapes_or_cannot_be_written_is_refused(path: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        checked_raw_path(path)
    assert caught.value.code == "WH103"


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/../b", "a\0b", "a\udcffb"])
def test_a_stored_manifest_with_an_escaping_path_is_refused(path: str) -> None:
    document = json.loads(ONE.canonical)
    document["files"][0]["path"] = path
    with pytest.raises(WarehouseError) as caught:
        parse_manifest(json.dumps(document, separators=(",", ":"), sort_keys=True).encode(), "here")
    assert caught.value.code == "WH103"


def changed(**parts: Any) -> bytes:
    return json.dumps({**json.loads(ONE.canonical), **parts}, separators=(",", ":"), sort_keys=True).encode()


def with_file(**parts: Any) -> bytes:
    return changed(files=[{**json.loads(ONE.canonical)["files"][0], **parts}])


def test_the_forger_of_the_next_test_would_pass_if_it_changed_nothing() -> None:
    assert parse_manifest(changed(), "here") == parse_manifest(with_file(), "here") == ONE


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"\xff\xfe", b"null", b"[]", b"3", b'"text"', b"{}", b"[" * 100_000,
        changed(manifest_version=2), changed(manifest_version=None), changed(files=None), changed(files={"a": 1}),
        changed(files=["a"]), changed(files=[None]), changed(identity=[]), changed(identity=None), changed(source="u"),
        changed(family=None), changed(family=7), changed(extra=1),
        with_file(path=5), with_file(path=None), with_file(bytes="3"), with_file(bytes=3.5),
        with_file(bytes=-1), with_file(bytes=True), with_file(bytes=None), with_file(sha256="AB" * 32),
        with_file(sha256="ab" * 31), with_file(sha256="ab" * 32 + "\n"), with_file(sha256=None), with_file(role=5),
        with_file(media_type=[]), with_file(extra=1),
        changed(files=json.loads(ONE.canonical)["files"] * 2),
        ONE.canonical + b"\n", ONE.canonical.replace(b":", b": "), ONE.canonical.replace(b"a/b.txt", b"a/\\u0062.txt"),
        ONE.canonical[:-1],
    ],
)
def test_what_is_not_a_canonical_manifest_is_refused_with_its_place(data: bytes) -> None:
    with pytest.raises(WarehouseError) as caught:
        parse_manifest(data, "abc/manifest.json")
    assert (caught.value.code, caught.value.place) == ("WH107", "abc/manifest.json")


def test_files_out_of_order_are_not_canonical() -> None:
    files = [{**json.loads(ONE.canonical)["files"][0], "path": path} for path in ("b", "a")]
    with pytest.raises(WarehouseError) as caught:
        parse_manifest(changed(files=files), "here")
    assert caught.value.code == "WH107"
    assert [file.raw_path for file in parse_manifest(changed(files=files[::-1]), "here").files] == ["a", "b"]
