"""Canonical JSON (RFC 8785) and every kind of digest the warehouse makes. The only place that hashes.

Each kind of document is hashed under its own domain, so that a digest of one kind can never be passed off as
another. Two kinds are plain sha256, as the design and every other tool in the field expect: the bytes of a file
and the canonical manifest (`sha256sum manifest.json` gives its place in the store).
"""

from __future__ import annotations

import hashlib
import json
import mmap
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BufferedReader
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

CHUNK_BYTES = 1 << 20
_FOUND_CANONICAL: set[str] = set()  # sha256 of bytes: to write a document again takes nine times as long as to read it
_MOST_FOUND = 50_000
_BASE32 = [one + other for one in "abcdefghijklmnopqrstuvwxyz234567" for other in "abcdefghijklmnopqrstuvwxyz234567"]  # RFC 4648, by ten bits
_EXACT_INTEGERS = 2**53  # a double holds every integer below


def canonical_json(document: Any) -> bytes:
    """RFC 8785 bytes of a JSON document. Raises `ValueError` for integers beyond 2**53, non-finite floats, keys that are not
    text, lone surrogates and types that JSON does not have."""
    return _canonical(document).encode()


def _canonical(value: Any) -> str:
    # Most of the time of publishing and verifying is spent here: this writes text, lists and objects in 0.4 of the time of
    # rfc8785, which writes everything else.
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is list or kind is tuple:
        parts = []  # a comprehension would be another frame a level, of the thousand that there may be
        for item in value:
            parts.append(encode_basestring(item) if type(item) is str else _canonical(item))
        return "[" + ",".join(parts) + "]"
    if kind is dict and all(type(key) is str for key in value):
        is_ascii = "".join(value).isascii()
        names = sorted(value) if is_ascii else sorted(value, key=lambda name: str(name).encode("utf-16-be"))
        members = []
        for name in names:
            members.append(f"{encode_basestring(name)}:{_canonical(value[name])}")
        return "{" + ",".join(members) + "}"
    if kind is int and -_EXACT_INTEGERS < value < _EXACT_INTEGERS:
        return str(value)
    import rfc8785

    return rfc8785.dumps(value).decode()


def canonical_document(data: bytes) -> Any:
    """The document that these bytes are the canonical JSON of. Raises `ValueError` for any other bytes, or `RecursionError`."""
    document = json.loads(data, parse_int=canonical_number)
    digest = bytes_digest(data)
    if digest not in _FOUND_CANONICAL:
        if canonical_json(document) != data:
            raise ValueError("it is not canonical JSON")
        if len(_FOUND_CANONICAL) >= _MOST_FOUND:
            _FOUND_CANONICAL.clear()
        _FOUND_CANONICAL.add(digest)
    return document


def canonical_number(text: str) -> int | float:
    """The value of an integer in canonical JSON."""
    # RFC 8785 writes the double 1e20 with all its digits: an integer too large to be exact was a double.
    number = int(text)
    return number if abs(number) < _EXACT_INTEGERS else float(number)


def file_hasher() -> "hashlib._Hash":
    """A running sha256 for a stream of a file's bytes."""
    return hashlib.sha256()


def bytes_digest(data: bytes | memoryview | mmap.mmap) -> str:
    """sha256 of bytes, 64 hex characters."""
    return hashlib.sha256(data).hexdigest()


def stream_digest(chunks: Iterable[bytes]) -> str:
    """sha256 of a stream of chunks, 64 hex characters."""
    hasher = hashlib.sha256()
    for chunk in chunks:
        hasher.update(chunk)
    return hasher.hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, read in chunks. Raises `OSError`."""
    with open(path, "rb") as stream:
        return open_file_digest(stream)


def open_file_digest(stream: BufferedReader) -> str:
    """sha256 of what is left of an open file: read into one buffer, which stays in a core's own cache. Raises `OSError`."""
    return hashlib.file_digest(stream, "sha256").hexdigest()


def manifest_digest(canonical: bytes) -> str:
    """`artifact_manifest_digest`: plain sha256 of the canonical manifest."""
    return bytes_digest(canonical)


def workload_spec_digest(document: dict[str, Any]) -> str:
    """sha256 of the canonical frozen workload document. Seed, host and time must not be in it."""
    return bytes_digest(canonical_json(document))


def domain_digest(domain: str, document: Any) -> str:
    """sha256 of a canonical document under a domain such as `wh/query-spec/1`, 64 hex characters."""
    return canonical_digest(domain, canonical_json(document))


def canonical_digest(domain: str, canonical: bytes) -> str:
    """`domain_digest` of a document by its canonical bytes."""
    return hashlib.sha256(domain.encode() + b"\0" + canonical).hexdigest()


def memo_digest(domain: str, document: Any) -> str:
    """sha256 of a JSON document under a domain, for what one machine remembers and no other compares: a fifth of the
    cost of `domain_digest`, but its form is that of Python's writer of JSON."""
    return hashlib.sha256(domain.encode() + b"\0" + json.dumps(document, sort_keys=True).encode()).hexdigest()


def number_id(query: str, canonical_text: str, grain: list[Any], column: str, value: Any) -> str:
    """`n-` and 12 base32 characters that commit to one published cell and its exact value.

    `grain` and `value` are exact JSON forms (see `exact.exact`); the query's own canonical text is in it, the
    digests of the models under it are not, so that a new ingestor does not rename every number (DESIGN.md, *Words*).
    """
    [found] = number_ids(query, canonical_text, grain, [(column, value)])
    return found


def number_ids(query: str, canonical_text: str, grain: list[Any], cells: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """The same of several cells (column, value) of one row: the query's text, which is long, is hashed once."""
    # The canonical JSON of a list of the five.
    row = _of_query(query, canonical_text).copy()
    row.update(b"," + canonical_json(grain))
    for column, value in cells:
        digest = row.copy()
        digest.update(b"," + canonical_json([column, value])[1:])
        bits = int.from_bytes(digest.digest()[:8], "big") >> 4
        yield "n-" + "".join(_BASE32[bits >> place & 1023] for place in (50, 40, 30, 20, 10, 0))


@lru_cache(maxsize=8)
def _of_query(query: str, canonical_text: str) -> "hashlib._Hash":
    return hashlib.sha256(b"wh/number/1\0" + canonical_json([query, canonical_text])[:-1])
