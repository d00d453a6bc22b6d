"""GPUs of this machine for one run: each is leased in the store, so that runs of all campaigns of one project never share one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from warehouse.campaign.leases import Leases
from warehouse.errors import ExitCode, WarehouseError, counted
from warehouse.evidence.objects.base import Objects
from warehouse.record.gpu import gpus

_NAME = "gpus"  # stands where leases on slots have their campaign
_POLL_S = 2.0


@contextmanager
def held_gpus(objects: Objects, count: int, on_wait: Callable[[str], None]) -> Iterator[tuple[str, ...]]:
    """The ids of `count` GPUs that nobody else has while it is open; it waits for them, and gives back what it has meanwhile. Raises WH403 if this
    machine has fewer."""
    known = sorted(gpu["uuid"] for gpu in gpus() or () if gpu["uuid"]) if count else []
    if len(known) < count:
        raise WarehouseError("WH403", f"a run needs {counted(count, 'GPU')}, and this machine has {len(known)}", "gpus", exit_code=ExitCode.FAILED)
    leases = Leases(objects, _NAME)
    is_told = False
    while True:
        with ExitStack() as stack:
            held: list[str] = []
            for uuid in known:
                if len(held) < count and stack.enter_context(leases.held(uuid)):
                    held.append(uuid)
            if len(held) == count:
                yield tuple(held)
                return
        if not is_told:
            on_wait(f"other runs have the GPUs: {counted(count, 'GPU')} of {len(known)} must be free")
            is_told = True
        time.sleep(_POLL_S)  # nothing tells when another run gives its GPUs back
