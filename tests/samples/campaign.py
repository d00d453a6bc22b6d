"""Campaigns as `wh matrix` writes them: the campaign, its choice of cells, a stack that was built and one that was not, and a recorded run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CAMPAIGN = "matmul-0123456789ab"
LOCK = """lock-version = "1.0"
created-by = "uv"
requires-python = ">=3.11"

[[packages]]
name = "numpy"
version = "2.1.3"
wheels = [{ url = "https://index.example/numpy-2.1.3.whl", size = 10, hashes = { sha256 = "%s" } }]
""" % ("ab" * 32)


def write_all(folder: Path) -> None:
    """Everything but the runs."""
    spec = {
        "name": "matmul", "sessions": 2, "repeats": 1, "warmups": 0, "seed": 7, "session_gap_s": 600.0,
        "confirmation": {"metric": "elapsed", "front_runners": 2, "sessions": 3},
    }
    cells = [
        {"cell": "c01", "values": {"numpy": "2.1.3"}, "is_baseline": True, "stack": "aaaaaaaaaaaa"},
        {"cell": "c02", "values": {"numpy": "9.9"}, "is_baseline": False, "stack": "bbbbbbbbbbbb"},
    ]
    _write(folder / "campaign.json", "campaign", {"spec": spec, "files": {}, "cells": cells})
    _write(folder / "chosen" / "choice.json", "campaign-choice", {"cells": [{"cell": "c01", "value": 12.5}]})
    resolving = {"exclude_newer": "2026-11-01T00:00:00+00:00", "python": None, "index": None, "torch_backend": None, "allow_source": False}
    _write(folder / "built" / "stack.json", "stack", {
        "stack": "aaaaaaaaaaaa", "status": "built", "reason": None, "stack_digest": "cd" * 32, "python": "3.11", "requirements": ["numpy==2.1.3"], "locked_packages": 1,
        "resolving": resolving, "tool_version": "uv 0.13.9",
    })
    (folder / "built" / "pylock.toml").write_text(LOCK)
    _write(folder / "not-resolved" / "stack.json", "stack", {
        "stack": "bbbbbbbbbbbb", "status": "not resolved", "reason": "there is no version of numpy==9.9", "stack_digest": None, "python": "3.11",
        "requirements": ["numpy==9.9"], "locked_packages": None, "resolving": resolving, "tool_version": "uv 0.13.9",
    })
    (folder / "not-resolved" / "resolve.log").write_text("error: there is no version of numpy==9.9\n")


def add_slot(recording: Path, **stated: Any) -> None:
    """Make a recording the run of a slot."""
    _write(recording / "slot.json", "campaign-slot", {
        "slot": "s01-r01-c01", "session": 1, "number": 1, "is_warmup": False, "cell": "c01", "values": {"numpy": "2.1.3"}, "attempt": 1,
        "stack_digest": "cd" * 32, **stated,
    })
    (recording / "pylock.toml").write_text(LOCK)


def _write(path: Path, kind: str, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"format": f"warehouse-{kind}", "format_version": 1, "campaign": CAMPAIGN, **document}, indent=2) + "\n")
