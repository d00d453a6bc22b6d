"""What `nvidia-smi` says of GPUs, driver and CUDA. Where the tool is absent or fails the answer is None, never zero."""

from __future__ import annotations

import csv
import re
import subprocess
from typing import Any

MIB = 1 << 20
QUERY = "name,uuid,memory.total,driver_version"
_TIMEOUT_S = 20


def gpus() -> list[dict[str, Any]] | None:
    """One entry a GPU (`name`, `uuid`, `memory_bytes`, `driver_version`); None where nobody can be asked."""
    output = _nvidia_smi(f"--query-gpu={QUERY}", "--format=csv,noheader,nounits")
    return None if output is None else parse_gpus(output)


def parse_gpus(output: str) -> list[dict[str, Any]]:
    """The GPUs in the CSV that `--query-gpu=` with `QUERY` prints (memory in MiB). A field it cannot tell is None."""
    found = []
    for row in csv.reader(output.splitlines(), skipinitialspace=True):
        if len(row) == 4:
            name, uuid, memory_mib, driver = (_known(text) for text in row)
            memory = int(memory_mib) * MIB if memory_mib and memory_mib.isdigit() else None
            found.append({"name": name, "uuid": uuid, "memory_bytes": memory, "driver_version": driver})
    return found


def cuda_version() -> str | None:
    """The newest CUDA version the driver supports, as the header of `nvidia-smi` gives it; None if unknown."""
    # --query-gpu has no field for it; the header is the one form that old and new drivers share.
    found = re.search(r"CUDA Version\s*:\s*([0-9.]+)", _nvidia_smi() or "")
    return found.group(1) if found else None


def _known(text: str) -> str | None:
    return None if text.startswith("[") or text in ("", "N/A") else text


def _nvidia_smi(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["nvidia-smi", *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
