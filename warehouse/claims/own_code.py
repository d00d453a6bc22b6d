"""The code of wh itself, for publications: two checkouts of one version may compute otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from warehouse.digest import domain_digest, file_digest
from warehouse.version import __version__


@cache
def code_digest() -> str:
    """The digest of every module of the package, by its path there. Ingestors have digests of their own; libraries are not covered."""
    folder = Path(__file__).parents[1]
    paths = (path.relative_to(folder) for path in folder.rglob("*.py"))
    return domain_digest("wh/own-code/1", {path.as_posix(): file_digest(folder / path) for path in paths if path.parts[0] != "standard"})


def recorded_code(record: Mapping[str, Any], here: str = __version__) -> tuple[str, str] | None:
    """The wh that made a publication and the wh here, each in words, from the publication's record; None where both have the same code. Code of
    one version is named by the beginning of its digest, which publications of before 0.4.0 lack. `here` is the version."""
    then, digest = str(record.get("wh") or "of an unknown version"), record.get("code")
    if then != here:
        return f"wh {then}", f"wh {here}"
    if digest == code_digest():
        return None
    return f"wh {then} (code {digest[:8]})" if isinstance(digest, str) else f"wh {then}", f"wh {here} (code {code_digest()[:8]})"
