"""A state of a package index as `wh freshness --index-state` records it, with the file that was brought."""

from __future__ import annotations

import json
from pathlib import Path

STATE = {
    "format": "warehouse-index-state", "format_version": 1, "at": "2026-01-31T02:00:00+00:00", "source": "the file newest.txt",
    "newest": {"some-thing": "2.0", "vllm": "0.13.0"},
}


def write_all(folder: Path) -> None:
    (folder / "brought").mkdir(parents=True)
    (folder / "index-state.json").write_text(json.dumps(STATE, indent=2) + "\n")
    (folder / "brought" / "newest.txt").write_text("some_thing==2.0\nvllm==0.13.0\n")
