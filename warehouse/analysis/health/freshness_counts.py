"""What `wh freshness` counted last, by kind: a small file beside the builds, for hot metrics, which are asked too often to count it anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from warehouse.evidence.durable import replace_durably
from warehouse.project.project import Project

# In the order of their importance.
KINDS = (
    "failed verification", "another value", "query changed", "evidence expires", "no new data", "newer release", "not verified", "old lock",
    "package index",
)
_FILE = "freshness.json"


def remember_counts(project: Project, counts: Mapping[str, int], now: datetime) -> None:
    with suppress(OSError):  # a reader may not write here: then nothing is remembered
        replace_durably(project.builds / _FILE, json.dumps({"at": now.timestamp(), "rows": dict(counts)}, sort_keys=True).encode())


def last_counts(project: Project) -> tuple[float, dict[str, int]] | None:
    """When rows were counted (seconds since 1970), and how many of each kind there were. None where nothing is remembered."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # whatever lies there
        found = json.loads((project.builds / _FILE).read_bytes())
        return float(found["at"]), {kind: int(found["rows"].get(kind, 0)) for kind in KINDS}
    return None
