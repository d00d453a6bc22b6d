"""Campaigns as `wh matrix` writes them: the campaign, its choice of cells, a stack that was built and one that was not, and a recorded run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from samples.recording import write_recording

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


# -- a campaign whose runs are on two kinds of machine ---------------------------------------------------------------

MEASURED = "grouped-0123456789ab"
H100, A100 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"
# By GPU, session and cell. On one kind of machine the first stack is faster, on the other kind the second.
SECONDS = {
    H100: {1: (1.00, 1.30), 2: (1.02, 1.33), 3: (1.01, 1.32)},
    A100: {4: (2.00, 1.50), 5: (2.04, 1.52), 6: (2.02, 1.53)},
}


def write_measured(folder: Path) -> Path:
    """A campaign of two stacks in six sessions, three of them on each kind of machine; a run of c02 had another NumPy than was asked for,
    and session 5 was disturbed."""
    factors = [
        {"name": "numpy", "kind": "package", "target": "numpy", "values": ["2.1.3", "2.3.1"]},
        {"name": "python", "kind": "python", "target": "python", "values": ["3.11"]},
        {"name": "threads", "kind": "environment", "target": "OMP_NUM_THREADS", "values": ["4"]},
        {"name": "rows", "kind": "argument", "target": "--rows={}", "values": ["9"]},
        {"name": "driver", "kind": "driver", "target": "driver", "values": ["550.54"]},
    ]
    spec = {"name": "grouped", "sessions": 6, "repeats": 1, "warmups": 0, "seed": 7, "session_gap_s": 600.0, "factors": factors}
    values = [{"numpy": version, "python": "3.11", "threads": "4", "rows": "9", "driver": "550.54"} for version in factors[0]["values"]]
    cells = [{"cell": f"c0{number}", "values": each, "is_baseline": number == 1, "stack": str(number)} for number, each in enumerate(values, start=1)]
    _write(folder / "campaign.json", "campaign", {"campaign": MEASURED, "spec": spec, "files": {}, "cells": cells})
    for gpu, sessions in SECONDS.items():
        for session, seconds in sessions.items():
            for cell, elapsed, chosen in zip(cells, seconds, values, strict=True):
                name = f"{cell['cell']}-{session}"
                recording = write_recording(folder / name, f"01KCAMPA1GN{name.upper().replace('-', ''):0>15}", (elapsed,))
                version = "2.3.0" if (cell["cell"], session) == ("c02", 6) else chosen["numpy"]
                _change(recording / "machine.json", gpus=[{"name": gpu, "uuid": f"GPU-{gpu[7:11]}", "driver_version": "550.54"}])
                _change(recording / "software.json", python={"version": "3.11.9", "packages": [f"numpy=={version}"]})
                _change(recording / "recording.json", argv=["python", "group_by.py", "--rows=9"], environment={"OMP_NUM_THREADS": "4"})
                if session == 5:
                    _disturb(recording)
                add_slot(
                    recording, campaign=MEASURED, slot=f"s0{session}-r01-{cell['cell']}", session=session, cell=cell["cell"], values=chosen,
                    stack_digest=f"{cell['cell']}" * 8,
                )
    return folder


def _disturb(recording: Path) -> None:
    """The host was full, and the run took a twentieth of one of its two CPUs."""
    _change(recording / "machine.json", logical_cores=2)
    _change(recording / "run-01" / "run.json", user_cpu_s=0.1, system_cpu_s=0.0)
    window = {"window_start": "2026-01-31T02:01:00Z", "window_end": "2026-01-31T02:01:02Z", "duration_s": 2.0, "cpu_mean_pct": 99.0}
    (recording / "run-01" / "host.jsonl").write_text(json.dumps(window) + "\n")


def _change(path: Path, **changed: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
