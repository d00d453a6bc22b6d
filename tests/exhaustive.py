"""Cases of which `make test` runs a few, and `make test-all` runs all.

CI runs a share of the others besides, chosen by the commit, so that all of them run over two weeks of commits.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

import pytest

SHARES = 48


def few(cases: Iterable[Any], count: int) -> list[Any]:
    """The cases as parameters of a test. `count` of them, evenly spread, always run; the others are marked exhaustive."""
    listed = list(cases)
    always = {number * len(listed) // count for number in range(count)}
    return [
        case if number in always else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive)
        for number, case in enumerate(listed)
    ]


def is_in_share(node_id: str, commit: str) -> bool:
    """Whether an exhaustive test is in the share of a commit."""
    return zlib.crc32(node_id.encode()) % SHARES == int(commit[:8], 16) % SHARES
