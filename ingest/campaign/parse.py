"""Turns a campaign, or a stack with its lock, into landing rows."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.text import clean
from warehouse.landing.rows import RowBuffer

from .bundles import CAMPAIGN, CHOICE, LOCK, STACK

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}-[0-9a-f]{12}")
_CELL = re.compile(r"c[0-9]{2,}")
_MOST = 2**53


def landed(bundle: Bundle, buffer: RowBuffer) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Add all rows of a bundle; yields batches that are full."""
    path = next(path for path in (CAMPAIGN, CHOICE, STACK) if path in bundle.manifest.by_path)
    document = _document(bundle, path, buffer)
    campaign = _text(document.get("campaign"))
    if campaign is None or not _ID.fullmatch(campaign):
        buffer.issue("no-campaign", "the file names no campaign", path, severity="error")
        return
    if path == CAMPAIGN:
        _add_campaign(bundle, campaign, document, buffer)
    elif path == CHOICE:
        _add_choice(bundle, campaign, document, buffer)
    else:
        _add_stack(bundle, campaign, document, buffer)
    yield from buffer.full()


def _add_campaign(bundle: Bundle, campaign: str, document: dict[str, Any], buffer: RowBuffer) -> None:
    size = bundle.manifest.by_path[CAMPAIGN].bytes
    spec = document.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    confirmation = spec.get("confirmation")
    confirmation = confirmation if isinstance(confirmation, dict) else {}
    buffer.add(
        "matrix_campaign", CAMPAIGN, 0, size, campaign_id=campaign, name=_text(spec.get("name")), spec=_json(spec),
        session_gap_s=_number(spec.get("session_gap_s")), confirmation_sessions=_count(confirmation.get("sessions")),
        **{name: _count(spec.get(name)) for name in ("sessions", "repeats", "warmups", "seed")},
    )
    cells = document.get("cells")
    seen = set[str]()
    for number, cell in enumerate(cells if isinstance(cells, list) else [], start=1):
        name = _text(cell.get("cell")) if isinstance(cell, dict) else None
        if name is None or not _CELL.fullmatch(name) or name in seen:
            buffer.issue("no-cell", f"cell {number} has no name of its own", CAMPAIGN, severity="error")
            continue
        seen.add(name)
        is_baseline = cell.get("is_baseline")
        buffer.add(
            "matrix_cell", CAMPAIGN, 0, size, campaign_id=campaign, cell=name, factors=_json(cell.get("values")),
            is_baseline=is_baseline if isinstance(is_baseline, bool) else None, stack=_text(cell.get("stack")),
        )


def _add_choice(bundle: Bundle, campaign: str, document: dict[str, Any], buffer: RowBuffer) -> None:
    cells, seen = document.get("cells"), set[str]()
    for number, cell in enumerate(cells if isinstance(cells, list) else [], start=1):
        name = _text(cell.get("cell")) if isinstance(cell, dict) else None
        if name is None or not _CELL.fullmatch(name) or name in seen:
            buffer.issue("no-cell", f"cell {number} has no name of its own", CHOICE, severity="error")
            continue
        seen.add(name)
        size = bundle.manifest.by_path[CHOICE].bytes
        buffer.add("matrix_choice", CHOICE, 0, size, campaign_id=campaign, cell=name, value=_number(cell.get("value")))


def _add_stack(bundle: Bundle, campaign: str, document: dict[str, Any], buffer: RowBuffer) -> None:
    stack = _text(document.get("stack"))
    if stack is None:
        buffer.issue("no-stack", "the file names no stack", STACK, severity="error")
        return
    texts = {name: _text(document.get(name)) for name in ("status", "reason", "stack_digest", "python", "tool_version")}
    lists = {name: _json(document.get(name)) for name in ("requirements", "resolving")}
    buffer.add("matrix_stack", STACK, 0, bundle.manifest.by_path[STACK].bytes, campaign_id=campaign, stack=stack, **texts, **lists)
    if LOCK not in bundle.manifest.by_path:
        return
    try:
        packages = tomllib.loads(bundle.read(LOCK).decode()).get("packages", [])
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        buffer.issue("not-toml", f"not a lock: {error}", LOCK, severity="error")
        return
    for package in packages if isinstance(packages, list) else []:
        name = _text(package.get("name")) if isinstance(package, dict) else None
        if name is None:
            buffer.issue("no-package", "a package of the lock has no name", LOCK)
            continue
        buffer.add(
            "matrix_locked_package", LOCK, 0, bundle.manifest.by_path[LOCK].bytes, campaign_id=campaign, stack=stack, package=name,
            version=_text(package.get("version")), sha256s=_json(_hashes(package)),
        )


def _hashes(package: dict[str, Any]) -> list[str]:
    wheels = package.get("wheels")
    files = [*(wheels if isinstance(wheels, list) else []), package.get("sdist"), package.get("archive")]
    hashes = (file.get("hashes") for file in files if isinstance(file, dict))
    found = (each.get("sha256") for each in hashes if isinstance(each, dict))
    return sorted({clean(each) for each in found if isinstance(each, str)})


def _document(bundle: Bundle, path: str, buffer: RowBuffer) -> dict[str, Any]:
    try:
        document = json.loads(bundle.read(path))
    except (ValueError, RecursionError) as error:
        buffer.issue("not-json", f"not valid JSON: {error}", path, severity="error")
        return {}
    if not isinstance(document, dict):
        buffer.issue("not-json", "not a JSON object", path, severity="error")
        return {}
    return document


def _text(value: Any) -> str | None:
    return clean(value) if isinstance(value, str) and value else None


def _json(value: Any) -> str | None:
    return None if value is None else clean(json.dumps(value, sort_keys=True))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST else None
