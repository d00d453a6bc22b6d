"""Runs tasks as Ray Core tasks: of a cluster that is there, or of one on this machine. Ray places and repeats them; no row passes through it.

Whoever reaches a Ray cluster runs code on it. So a cluster that is not on this machine is used only with a token.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from secrets import token_hex
from statistics import median
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.scale.engines.local import ATTEMPTS, died, result_of
from warehouse.scale.task import Place, Result, Task, encoded
from warehouse.scale.worker import run_encoded

_STORE_BYTES = 100 << 20  # of Ray's object store, on this machine: tasks and receipts are all that is in it
_OWN_ADDRESS = "127.0.0.2"  # Ray puts the address of an interface in place of 127.0.0.1
_POLL_S = 1.0
SLOW_S, SLOW_TIMES = 30.0, 4  # a task is run a second time when it takes longer than this, and than so many others


@dataclass(frozen=True)
class RayExecutor:
    """A Ray cluster (`Executor`): `address` is its host and port, or empty for one of this process."""

    place: Place
    address: str = ""

    def map(self, tasks: Sequence[Task]) -> Iterator[Result]:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        check_token(self.address)
        if not self.address:  # its ports are open on every interface, whatever address it has; Ray reads this when it is imported
            os.environ.setdefault("RAY_AUTH_MODE", "token")
            os.environ.setdefault("RAY_AUTH_TOKEN", token_hex(32))
        try:
            import ray
        except ImportError as error:
            raise WarehouseError("WH006", f"--engine ray needs Ray: {error}", hint="pip install 'perf-warehouse[ray]'") from error
        self._connect(ray)
        try:
            yield from self._results(ray, tasks)
        finally:
            ray.shutdown()

    def _connect(self, ray: Any) -> None:
        own: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _STORE_BYTES, "_node_ip_address": _OWN_ADDRESS}
        own["num_cpus"] = len(os.sched_getaffinity(0))
        try:
            ray.init(address=self.address or "local", log_to_driver=False, logging_level="error", **({} if self.address else own))
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            told = f"Ray cannot be reached: {str(error).splitlines()[0]}"
            raise WarehouseError("WH253", told, self.address or "local", "see: ray status") from error

    def _results(self, ray: Any, tasks: Sequence[Task]) -> Iterator[Result]:
        from ray.exceptions import RayError, RayTaskError

        # Of a task that raised, a retry would raise again; of a worker or a node that died, Ray makes another.
        remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1, retry_exceptions=False)(run_encoded)
        place = ray.put(self.place)
        running = {remote.remote(place, encoded(task)): task for task in tasks}
        began, seconds, doubled, waiting = time.monotonic(), list[float](), set[str](), {task.digest for task in tasks}
        while waiting:
            done, _ = ray.wait(list(running), timeout=_POLL_S)
            for reference in done:
                task = running.pop(reference)
                if task.digest not in waiting:
                    continue  # its twin was first
                try:
                    result = result_of(ray.get(reference))
                except RayTaskError:
                    raise
                except RayError as error:
                    raise died(task) from error
                waiting.discard(task.digest)
                began = time.monotonic()
                seconds.append(getattr(result, "seconds", 0.0))
                yield result
            last = max(SLOW_S, SLOW_TIMES * median(seconds)) if seconds else None
            if last and len(waiting) <= max(1, len(tasks) // 4) and time.monotonic() - began > last:
                # As with Spark's speculation, a twin on another node may be done before a slow one.
                for task in [task for task in running.values() if task.digest in waiting - doubled]:
                    doubled.add(task.digest)
                    running[remote.remote(place, encoded(task))] = task
        for reference in running:
            ray.cancel(reference, force=True)


def check_token(address: str) -> None:
    """Raise WH253 for a cluster of other machines that is to be used without a token."""
    host = address.removeprefix("ray://").rpartition(":")[0].strip("[]")
    if not address or _is_loopback(host) or os.environ.get("RAY_AUTH_MODE") == "token":
        return
    hint = "set RAY_AUTH_MODE=token here and on every node, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH to the cluster's token"
    raise WarehouseError("WH253", "a Ray cluster of other machines is used only with a token", address, hint)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
