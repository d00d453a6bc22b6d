"""Turns a campaign, its choice of cells, or a stack with its lock, into landing rows."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import clean
from warehouse.landing.rows import RowBuffer

from .bundles import CAMPAIGN, CHOICE, LOCK, STACK

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}-[0-9a-f]{12}")
_CELL = re.compile(r"c[0-9]{2,9}")
_MOST = 2**53
_COUNTS = ("sessions", "repeats", "warmups", "seed")
_MOST_RUNS = 1_000_000  # of a plan: each is a row, and a spec of more is refused


class _Stated:
    """The values of a JSON or TOML object; one of another type than asked for is None, with an issue that names it."""

    def __init__(self, document: Mapping[str, Any], flag: Callable[[str, str], None], where: str = "") -> None:
        self._document, self._flag, self._where = document, flag, where

    def text(self, key: str, pattern: re.Pattern[str] | None = None) -> str | None:
        value = self._of(key, str, "text")
        if value is not None and pattern and not pattern.fullmatch(value):
            self._flag("not-a-name", f"{self._where}{key} is not a valid name: {clean(value)[:100]}")
            return None
        return None if value is None else clean(value)

    def count(self, key: str) -> int | None:
        value = self._of(key, int, "a whole number")
        if value is not None and not 0 <= value < _MOST:
            self._flag("impossible-value", f"{self._where}{key} is out of range")
            return None
        return None if value is None else int(value)

    def number(self, key: str) -> float | None:
        value = self._document.get(key)
        if value is None:
            return None
        try:
            if not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value):
                return float(value)
        except OverflowError:
            pass
        self._flag("wrong-type", f"{self._where}{key} is no number")
        return None

    def truth(self, key: str) -> bool | None:
        value = self._document.get(key)
        if value is not None and not isinstance(value, bool):
            self._flag("wrong-type", f"{self._where}{key} is neither true nor false")
        return value if isinstance(value, bool) else None

    def json(self, key: str, kind: type) -> str | None:
        value = self._of(key, kind, "an object" if kind is dict else "a list")
        return None if value is None else clean(json.dumps(value, sort_keys=True, default=str))

    def within(self, key: str) -> "_Stated":
        """An object in it; one that is not there states nothing."""
        return _Stated(self._of(key, dict, "an object") or {}, self._flag, f"{self._where}{key}.")

    def each(self, key: str) -> Iterator["_Stated"]:
        """The objects of a list."""
        for number, value in enumerate(self._of(key, list, "a list") or [], start=1):
            where = f"{self._where}{key}[{number}]"
            if isinstance(value, dict):
                yield _Stated(value, self._flag, f"{where}.")
            else:
                self._flag("wrong-type", f"{where} is not an object")

    def unnamed(self, what: str) -> None:
        self._flag("no-name", f"{self._where.rstrip('.') or 'it'} names no {what}, and is left out")

    def _of(self, key: str, kind: type, words: str) -> Any:
        value = self._document.get(key)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self._flag("wrong-type", f"{self._where}{key} is not {words}")
            return None
        return value


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    path = next(path for path in (CAMPAIGN, CHOICE, STACK) if path in bundle.manifest.by_path)
    stated = _read(bundle, path, buffer, partial(json.loads, object_pairs_hook=partial(_object, path, buffer)))
    campaign = stated.text("campaign", _ID) if stated else None
    if stated and campaign is None:
        stated.unnamed("campaign")
    elif stated and campaign:
        {CAMPAIGN: _add_campaign, CHOICE: _add_choice, STACK: _add_stack}[path](stated, campaign, bundle, buffer)
    yield from buffer.full()


def _add_campaign(stated: _Stated, campaign: str, bundle: Bundle, buffer: RowBuffer) -> None:
    size = bundle.manifest.by_path[CAMPAIGN].bytes
    spec = stated.within("spec")
    counts = {name: spec.count(name) for name in _COUNTS}
    search = spec.within("search")
    counts["whole_sessions"] = 0 if search.json("command", list) not in (None, "[]") else 1 if search.text("metric") else counts["sessions"]
    counts["confirmation_sessions"] = spec.within("confirmation").count("sessions")
    cells = list(_cells(stated))
    runs = len(cells) * (counts["repeats"] or 0) * ((counts["sessions"] or 0) + (counts["confirmation_sessions"] or 0))
    if runs > _MOST_RUNS:
        buffer.issue("impossible-value", f"a plan of {runs:,} runs; its runs are not listed", CAMPAIGN, severity="error")
        counts["repeats"] = None
    buffer.add(
        "matrix_campaign", CAMPAIGN, 0, size, campaign_id=campaign, name=spec.text("name"), spec=stated.json("spec", dict),
        session_gap_s=spec.number("session_gap_s"), **counts,
    )
    for cell, name in cells:
        buffer.add(
            "matrix_cell", CAMPAIGN, 0, size, campaign_id=campaign, cell=name, factors=cell.json("values", dict),
            is_baseline=cell.truth("is_baseline"), stack=cell.text("stack"),
        )


def _add_choice(stated: _Stated, campaign: str, bundle: Bundle, buffer: RowBuffer) -> None:
    size = bundle.manifest.by_path[CHOICE].bytes
    session, method = stated.count("session"), stated.text("method")
    if session is not None and session > _MOST_RUNS:
        buffer.issue("impossible-value", f"session {session:,}; its runs are not listed", CHOICE, severity="error")
        return
    for cell, name in _cells(stated):
        value = cell.number("value")
        buffer.add("matrix_choice", CHOICE, 0, size, campaign_id=campaign, session=session, method=method, cell=name, value=value)


def _cells(stated: _Stated) -> Iterator[tuple[_Stated, str]]:
    """The cells that have a name of their own."""
    seen = set[str]()
    for cell in stated.each("cells"):
        name = cell.text("cell", _CELL)
        if name is None or name in seen:
            cell.unnamed("cell of its own")
        else:
            seen.add(name)
            yield cell, name


def _add_stack(stated: _Stated, campaign: str, bundle: Bundle, buffer: RowBuffer) -> None:
    size = bundle.manifest.by_path[STACK].bytes
    stack = stated.text("stack")
    if stack is None:
        stated.unnamed("stack")
        return
    texts = {name: stated.text(name) for name in ("status", "reason", "stack_digest", "python", "tool_version")}
    lists = {"requirements": stated.json("requirements", list), "resolving": stated.json("resolving", dict)}
    buffer.add("matrix_stack", STACK, 0, size, campaign_id=campaign, stack=stack, **texts, **lists)
    lock = _read(bundle, LOCK, buffer, tomllib.loads) if LOCK in bundle.manifest.by_path else None
    packages = [*lock.each("packages")] if lock else []
    if LOCK in bundle.manifest.by_path and len(packages) != (stated.count("locked_packages") or 0):
        buffer.issue("packages-missing", f"it has {len(packages)} packages, and {STACK} says otherwise", LOCK, severity="error")
    for package in packages:
        name = package.text("name")
        if name is None:
            package.unnamed("package")
            continue
        buffer.add(
            "matrix_locked_package", LOCK, 0, bundle.manifest.by_path[LOCK].bytes, campaign_id=campaign, stack=stack, package=name,
            version=package.text("version"), sha256s=json.dumps(_hashes(package)),
        )


def _hashes(package: _Stated) -> list[str]:
    files = [*package.each("wheels"), package.within("sdist"), package.within("archive")]
    return sorted({found for file in files if (found := file.within("hashes").text("sha256"))})


def _object(path: str, buffer: RowBuffer, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        buffer.issue("duplicate-key", "a key occurs twice; the last one counts", path)
    return found


def _read(bundle: Bundle, path: str, buffer: RowBuffer, load: Callable[[str], Any]) -> _Stated | None:
    try:
        document = load(bundle.read(path).decode())
    except (ValueError, RecursionError) as error:
        buffer.issue("not-readable", f"it cannot be read: {error}", path, severity="error")
        return None
    if not isinstance(document, dict):
        buffer.issue("not-readable", "it is not an object", path, severity="error")
        return None
    return _Stated(document, lambda code, message: buffer.issue(code, message, path))
