"""Which processes are on each GPU, the command's own or others: the rows of `gpu_processes.jsonl`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.record.host import utc_text
from warehouse.record.kernel import text
from warehouse.record.nvml import asked, handles, nvml


class GpuProcesses:
    """Called again and again, a row for each process on each GPU. `own` returns the processes of the command."""

    def __init__(self, own: Callable[[], frozenset[int]]) -> None:
        self._own = own
        self._seen_us: dict[str, int] = {}  # by GPU: the last moment for which the driver gave a process's utilisation

    def __call__(self) -> list[dict[str, Any]]:
        return [row for handle in handles() for row in self._of_gpu(handle)]

    def _of_gpu(self, handle: Any) -> Iterator[dict[str, Any]]:
        driver, own = nvml(), self._own()
        identity = {
            "sampled_at": utc_text(datetime.now(UTC)),
            "gpu_index": asked(driver.nvmlDeviceGetIndex, handle),
            "gpu_uuid": asked(driver.nvmlDeviceGetUUID, handle),
        }
        lists = (asked(driver.nvmlDeviceGetComputeRunningProcesses, handle), asked(driver.nvmlDeviceGetGraphicsRunningProcesses, handle))
        memory = {each.pid: each.usedGpuMemory for listed in lists for each in listed or ()}
        used = self._utilisation(handle, str(identity["gpu_uuid"]))
        for pid in sorted(memory.keys() | used.keys()):
            sm, copies = used.get(pid, (None, None))
            # The driver may name a process by its number outside of our container: then it is not known whose it is.
            is_visible = Path(f"/proc/{pid}").exists()
            values = {
                "is_own": pid in own if is_visible else None,
                "process_name": text(Path(f"/proc/{pid}/comm")) if is_visible else None,
                "memory_used_bytes": memory.get(pid), "sm_util_pct": sm, "memory_copy_util_pct": copies,
            }
            yield identity | {"pid": pid} | {name: value for name, value in values.items() if value is not None}

    def _utilisation(self, handle: Any, uuid: str) -> dict[int, tuple[float, float]]:
        """The mean use of the SMs and of the memory by each process since the last call, in percent, as the driver samples them."""
        driver = nvml()
        samples = asked(driver.nvmlDeviceGetProcessUtilization, handle, self._seen_us.get(uuid, 0)) or []
        fresh = [each for each in samples if each.timeStamp > self._seen_us.get(uuid, 0)]
        self._seen_us[uuid] = max((each.timeStamp for each in fresh), default=self._seen_us.get(uuid, 0))
        by_pid: dict[int, list[Any]] = {}
        for each in fresh:
            by_pid.setdefault(each.pid, []).append(each)
        return {pid: (_mean(each.smUtil for each in listed), _mean(each.memUtil for each in listed)) for pid, listed in by_pid.items()}


def _mean(values: Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
