"""The host while a command runs: its counters since boot, as what happened in each window.

The baseline is read before the start and a last reading at the end, so the windows tile the run without a gap; each
row carries its own duration, so averages can be weighted by time. A counter that the host lacks is absent, never zero.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# device or interface -> bytes in (read, received) and bytes out (written, sent)
Traffic = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class HostReading:
    """Counters since boot at one moment. `cpus` holds idle and total seconds per logical CPU."""

    utc: datetime
    monotonic_s: float
    cpus: tuple[tuple[float, float], ...]
    memory_used_bytes: int
    memory_available_bytes: int
    disk: Traffic | None
    net_external: Traffic | None
    net_loopback: Traffic | None


def utc_text(moment: datetime) -> str:
    """ISO 8601 with microseconds and `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_host() -> HostReading:
    """The counters now."""
    import psutil

    memory = psutil.virtual_memory()
    external, loopback = _network(psutil)
    return HostReading(
        utc=datetime.now(UTC),
        monotonic_s=time.monotonic(),
        cpus=tuple(_idle_and_total(times) for times in psutil.cpu_times(percpu=True)),
        memory_used_bytes=memory.used,
        memory_available_bytes=memory.available,
        disk=_disks(psutil),
        net_external=external,
        net_loopback=loopback,
    )


def window(before: HostReading, after: HostReading) -> dict[str, Any]:
    """The row of `host.jsonl` for the time between two readings.

    A counter that went backwards, or whose devices changed, gives no value: its columns are named in
    `counter_resets`. CPU use is 100 minus idle and I/O wait, over the whole window; min and max are over CPUs.
    """
    row: dict[str, Any] = {
        "window_start": utc_text(before.utc),
        "window_end": utc_text(after.utc),
        "duration_s": after.monotonic_s - before.monotonic_s,
        "memory_used_bytes": after.memory_used_bytes,
        "memory_available_bytes": after.memory_available_bytes,
    }
    resets: list[str] = []
    row |= _cpu_columns(before.cpus, after.cpus, resets)
    row |= _traffic_columns(("disk_read_bytes", "disk_write_bytes"), before.disk, after.disk, resets)
    for scope in ("net_external", "net_loopback"):
        columns = (f"{scope}_recv_bytes", f"{scope}_sent_bytes")
        row |= _traffic_columns(columns, getattr(before, scope), getattr(after, scope), resets)
    return row | {"counter_resets": resets}


def _cpu_columns(
    before: Sequence[tuple[float, float]], after: Sequence[tuple[float, float]], resets: list[str]
) -> dict[str, float]:
    if len(before) != len(after):
        resets.append("cpu_pct")
        return {}
    use = []
    for (idle_before, total_before), (idle_after, total_after) in zip(before, after, strict=True):
        elapsed = total_after - total_before
        if elapsed <= 0:  # a window shorter than the kernel's tick
            return {}
        # The kernel's idle counters may step back by a tick (see psutil.cpu_percent): clamped.
        use.append(min(100.0, max(0.0, 100.0 * (1 - (idle_after - idle_before) / elapsed))))
    return {"cpu_mean_pct": sum(use) / len(use), "cpu_min_pct": min(use), "cpu_max_pct": max(use)} if use else {}


def _traffic_columns(
    columns: tuple[str, str], before: Traffic | None, after: Traffic | None, resets: list[str]
) -> dict[str, int]:
    if before is None or after is None:
        return {}
    found = {}
    for position, column in enumerate(columns):
        deltas = [after[name][position] - before[name][position] for name in before.keys() & after.keys()]
        if before.keys() != after.keys() or any(delta < 0 for delta in deltas):
            resets.append(column)
        else:
            found[column] = sum(deltas)
    return found


def _idle_and_total(times: Any) -> tuple[float, float]:
    values = times._asdict()
    # Linux counts guest time in user and nice already.
    total = sum(values.values()) - values.get("guest", 0.0) - values.get("guest_nice", 0.0)
    return values["idle"] + values.get("iowait", 0.0), total


def _disks(psutil: Any) -> Traffic | None:
    # nowrap=False: psutil would hide a reset from us. Only real disks: partitions, dm and md count the same bytes
    # again.
    counters = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
    real = {name for name in counters if Path("/sys/block", name.replace("/", "!"), "device").exists()}
    found = {name: (counters[name].read_bytes, counters[name].write_bytes) for name in real}
    if found:
        return found
    total = psutil.disk_io_counters(perdisk=False, nowrap=False)
    return None if total is None else {"all": (total.read_bytes, total.write_bytes)}


def _network(psutil: Any) -> tuple[Traffic | None, Traffic | None]:
    counters = psutil.net_io_counters(pernic=True, nowrap=False) or {}
    traffic = {name: (nic.bytes_recv, nic.bytes_sent) for name, nic in counters.items()}
    loopback = {name for name in traffic if name == "lo" or name.startswith(("lo0", "Loopback"))}
    external = outward(traffic.keys() - loopback)
    return {name: traffic[name] for name in external} or None, {name: traffic[name] for name in loopback} or None


def outward(interfaces: set[str], sys: Path = Path("/sys")) -> set[str]:
    """The interfaces at the host's edge: bridges, bonds, VLANs and veths would count the same packet again. Inside a
    container nothing is physical, and what is no bridge, bond or port of one is the edge."""

    def has(interface: str, *entries: str) -> bool:
        return any((sys / "class/net" / interface / entry).exists() for entry in entries)

    physical = {name for name in interfaces if has(name, "device")}
    return physical or {name for name in interfaces if not has(name, "bridge", "bonding", "brport")}


class HostWindows:
    """Called again and again, the rows of `host.jsonl`: none at first, then the window since the last call."""

    def __init__(self) -> None:
        self._before: HostReading | None = None

    def __call__(self) -> list[dict[str, Any]]:
        before, self._before = self._before, read_host()
        return [] if before is None else [window(before, self._before)]
