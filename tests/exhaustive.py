"""Cases of which `make test` runs a few, and `make test-all` runs all.

CI runs a share of the others besides. Each commit on the main branch takes the next share, so twenty commits run all of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import pytest

SHARES = 20


def few(cases: Iterable[Any], count: int) -> list[Any]:
    """The cases as parameters of a test. `count` of them, evenly spread, always run; the others are marked exhaustive."""
    listed = list(cases)
    always = {number * len(listed) // count for number in range(count)}
    return [
        case if number in always else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive)
        for number, case in enumerate(listed)
    ]


def is_in_share(node_id: str, number: int) -> bool:
    """Whether the commit of this number runs an exhaustive test. A test keeps its share when others come and go. Tests of one file
    that are not cases share a build or a publication of it, so they run together."""
    unit = node_id if "[" in node_id else node_id.partition("::")[0]
    return zlib.crc32(unit.encode()) % SHARES == number % SHARES
