"""Recordings as `wh record` writes them, with fixed bytes: their runs and digests are known before they are ingested."""

from __future__ import annotations

import json
from pathlib import Path

RUN_SECONDS = (1.31, 1.28, 1.35, 1.3)


def write_recording(folder: Path, recording_id: str, seconds: tuple[float, ...] = RUN_SECONDS, first: int = 1) -> Path:
    """A recording of an indicator, `seconds` of each run; its runs are `recorded_run/<recording_id>/run-01` and so on."""
    _write(
        folder / "recording.json",
        {
            "format": "warehouse-recording", "format_version": 1, "recording_id": recording_id, "argv": ["python", "group_by.py"],
            "repeats": len(seconds), "script": "group_by.py", "script_sha256": "5" * 64, "sample_interval_s": 1.0,
            "working_folder": "/bench", "redacted": [],
        },
    )
    _write(folder / "machine.json", {"hostname": "node-1", "cpu_model": "Example CPU", "cpu_count": 64, "memory_bytes": 1 << 38})
    _write(folder / "software.json", {"python": "3.11.9"})
    for number, elapsed in enumerate(seconds, first):
        run = folder / f"run-{number:02}"
        _write(
            run / "run.json",
            {
                "repeat_index": number, "status": "succeeded", "exit_code": 0, "signal": None,
                "started_at": f"2026-01-31T02:{number:02}:00.000000Z", "ended_at": f"2026-01-31T02:{number:02}:02.000000Z", "wall_s": 2.0,
            },
        )
        indicator = {
            "name": "GroupBy", "component": "duckdb", "component_version": "2.0.0", "@parameters": {"rows": 20000},
            "@result": {"elapsed_ms": elapsed * 1000},
        }
        (run / "host.jsonl").write_text("")
        (run / "stdout.txt").write_text(json.dumps(indicator) + "\n")
    return folder


def _write(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")
