"""The TOML document that a description is, with what it extends: a standard description, of which it states only what is other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError, did_you_mean

READER_VERSION = 4  # of how descriptions are read: raised with what they give, so that stores parse again
MAX_BYTES = 256 << 10
NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


def document_of(place: str, own: bytes, base: bytes | None) -> dict[str, Any]:
    """The document that a file states, together with the standard one that it extends. Raises WH121."""
    document = _document(own, place)
    return document if base is None else _together(_document(base, place), document)


def texts_of(path: Path, place: str, standard: Path | None) -> tuple[bytes, bytes | None]:
    """A file, and that of the description that it extends in the folder `standard`. Raises WH121."""
    own = _bytes(path, place)
    head = _document(own, place).get("format") if b"extends" in own else None
    if not isinstance(head, dict) or "extends" not in head:
        return own, None
    base = extended(path, standard)
    if base is None or not base.is_file():
        name = str(head["extends"])[:100]
        hint = did_you_mean(name, [each.parent.name for each in standard.glob(f"*/{path.name}")]) if standard else None
        raise WarehouseError("WH121", f"format.extends: no standard description {name!r}", place, hint)
    return own, _bytes(base, base.parent.name)


def extended(path: Path, standard: Path | None) -> Path | None:
    """The file of the standard description that one extends."""
    try:
        head = tomllib.loads(path.read_text()).get("format")
    except (OSError, ValueError, RecursionError):
        return None
    name = head.get("extends") if isinstance(head, dict) else None
    return standard / name / path.name if standard and isinstance(name, str) and NAME.fullmatch(name) else None


def _bytes(path: Path, place: str) -> bytes:
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else b""
    except OSError as error:
        raise WarehouseError("WH121", f"cannot be read: {error.strerror}", place) from error
    if not data:
        raise WarehouseError("WH121", f"is empty, or larger than {MAX_BYTES} bytes", place)
    return data


def _document(data: bytes, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise WarehouseError("WH121", f"is not TOML: {error}", place, "docs/ingestors.md shows a description") from error


def _together(base: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A description that extends another: its keys in place of those of the other, its metrics in place of those of the same name."""
    found = dict(base)
    for key, said in own.items():
        if isinstance(said, dict) and isinstance(base.get(key, {}), dict):
            found[key] = {**base.get(key, {}), **said}
        elif key in ("metric", "series") and isinstance(said, list):
            found[key] = [*_renewed(base.get(key, []), said), *(each for each in said if not _named(base.get(key, []), each))]
        else:
            found[key] = [*base.get(key, []), *said] if key in ("check", "refuse") and isinstance(said, list) else said
    for version in found.get("version", []):
        version |= {"metric": _renewed(version["metric"], own.get("metric", []))} if "metric" in version else {}
    return found


def _renewed(metrics: list[Any], own: list[Any]) -> list[Any]:
    return [next(iter(_named(own, each)), each) for each in metrics]


def _named(metrics: list[Any], like: Any) -> list[Any]:
    return [each for each in metrics if isinstance(each, dict) and isinstance(like, dict) and each.get("name") == like.get("name")]
