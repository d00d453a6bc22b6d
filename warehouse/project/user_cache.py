"""The folder of a user for what can be made again, outside of every project and store."""

from __future__ import annotations

import os
from pathlib import Path


def user_cache(name: str) -> Path:
    """The folder for one kind of things; it need not exist. Raises RuntimeError, as Python does, if there is no home folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))  # a relative one is invalid by the XDG specification, and to be ignored
    return (cache if cache.is_absolute() else Path.home() / ".cache") / "wh" / name
