"""Performance indicators that come with wh: programs that print one JSON object with `name`, `@parameters` and `@result`.

Each is a file that needs nothing of wh, because a campaign runs it in the environment of a cell. Thoth's indicators have Thoth's names, variables and
keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# By the name that the indicator states: its file, and the arguments before those of the campaign.
SUPPLIED: Mapping[str, tuple[str, ...]] = {
    "PiMatmul": ("arrays.py", "PiMatmul"),
    "PiConv1D": ("arrays.py", "PiConv1D"),
    "PiConv2D": ("arrays.py", "PiConv2D"),
    "PiPyBench": ("interpreter.py",),
    "MemoryBandwidth": ("memory.py",),
    "DiskThroughput": ("disk.py",),
    "DuckdbGroupBy": ("group_by.py",),
    "HttpServerLoad": ("http_load.py",),
}


def supplied_file(name: str) -> Path:
    """The file of the supplied indicator `name`."""
    return Path(__file__).with_name(SUPPLIED[name][0])
