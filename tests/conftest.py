"""Fixtures that several test files share. Real evidence is used where it is, and its absence shows as a skip."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
EVIDENCE = REPOSITORY.parent / "shared" / "evidence"


def unpacked_evidence(name: str) -> Path:
    """The unpacked archive `name` of the shared evidence; skips the test where that is absent."""
    archive = EVIDENCE / f"{name}.tar.gz"
    if not archive.is_file():
        pytest.skip(f"real evidence is not here: {archive}")
    folder = REPOSITORY / ".cache" / "evidence"
    subprocess.run([EVIDENCE / "unpack", folder, name], check=True)
    return folder / name


@pytest.fixture(scope="session")
def mlperf_evidence() -> Path:
    """MLPerf Inference submissions of rounds v4.1 and v5.1."""
    return unpacked_evidence("mlperf-inference")
