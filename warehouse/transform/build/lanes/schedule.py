"""Models that a build makes beside each other: when each begins, and the threads in which long ones run.

A query still runs on one thread, so it gives what it gives alone. What is short is made by the build's own session, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.transform.build.plan import ModelResult
    from warehouse.transform.incremental.shares import SharedWork

_INTERRUPTED_EVERY_S = 0.05


class Beside(Protocol):
    """A session that makes models in a thread of its own."""

    def make_beside(self, name: str, work: SharedWork | None) -> ModelResult:
        """Make a model; in shares where it is `work` for several."""

    def make_shares(self, name: str, work: SharedWork) -> None:
        """Make shares of a model that another session makes."""

    def interrupt(self) -> None:
        """End the statement that runs, if one does."""

    def close(self) -> None: ...


class Builder(Protocol):
    """The build's own session."""

    def make(self, name: str) -> ModelResult: ...

    def is_long(self, name: str) -> bool:
        """Whether a model is worth a thread, and may have one."""

    def needs_quiet(self, name: str) -> bool:
        """Whether a model may only be begun while no other one is under way."""

    def prepare(self, name: str) -> SharedWork | None:
        """Make ready, and commit, all that a model reads and that sessions share. Returns its shares, if it is work for several."""

    def ended(self, result: ModelResult) -> None:
        """A model was made beside, which the session is to see."""


class Lanes:
    """`count` sessions in threads of their own, opened when the first work is given to them."""

    def __init__(self, count: int, open_session: Callable[[], Beside]) -> None:
        self.count, self._open_session = count, open_session
        self._sessions: list[Beside] = []
        self._free: SimpleQueue[Beside] = SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[Beside], Any]) -> Future[Any]:
        """Have a session do some work, as soon as one is free."""
        if not self._threads:
            self._threads = ThreadPoolExecutor(self.count)
            self._sessions = [self._open_session() for _ in range(self.count)]
            for session in self._sessions:
                self._free.put(session)
        return self._threads.submit(self._do, work)

    def _do(self, work: Callable[[Beside], Any]) -> Any:
        session = self._free.get()
        try:
            return work(session)
        finally:
            self._free.put(session)

    def close(self, unfinished: Collection[Future[Any]]) -> None:
        """End all. What is unfinished is given up."""
        for future in unfinished:
            future.cancel()
        while wait(unfinished, _INTERRUPTED_EVERY_S).not_done:  # an interrupt ends one statement, and there may be more
            for session in self._sessions:
                session.interrupt()
        if self._threads:
            self._threads.shutdown()
        for session in self._sessions:
            session.close()


class _Work:
    """The models that are under way in lanes."""

    def __init__(self, builder: Builder, lanes: Lanes) -> None:
        self._builder, self._lanes = builder, lanes
        self._models: dict[Future[ModelResult], str] = {}
        self._helpers: set[Future[None]] = set()  # what makes shares of them

    def __bool__(self) -> bool:
        return bool(self._models)

    @property
    def is_full(self) -> bool:
        """Whether no lane is left over."""
        return len(self._models) + len(self._helpers) >= self._lanes.count

    def begin(self, name: str) -> None:
        shared = self._builder.prepare(name)
        self._models[self._lanes.submit(lambda session: session.make_beside(name, shared))] = name
        if shared:
            self._helpers.update(self._lanes.submit(lambda session: session.make_shares(name, shared)) for _ in range(self._lanes.count - 1))

    @property
    def names(self) -> set[str]:
        return set(self._models.values())

    def ended(self) -> dict[str, Future[ModelResult]]:
        """The models that have ended, made or failed, once something has."""
        under_way: list[Future[Any]] = [*self._models, *self._helpers]
        done = wait(under_way, return_when=FIRST_COMPLETED).done
        self._helpers -= done
        return {self._models.pop(future): future for future in list(self._models) if future in done}

    def close(self) -> None:
        self._lanes.close([*self._models, *self._helpers])


def make_all(
    order: Sequence[str], reads: Callable[[str], Collection[str]], builder: Builder, lanes: Lanes
) -> list[ModelResult]:
    """Make models in an order in which each could be made; `reads` gives those that one reads. They are begun in this order, whatever could be
    begun before: when the engine takes statistics, and compresses, must not depend on how long a model takes. Raises the fault that comes
    first in the order: what is before it is made, as if one model was made after another."""
    work = _Work(builder, lanes)
    results: dict[str, ModelResult] = {}
    faults: dict[str, WarehouseError] = {}

    def end(name: str, result: Callable[[], ModelResult], then: Callable[[ModelResult], None] = lambda result: None) -> None:
        try:
            results[name] = result()
            then(results[name])
        except WarehouseError as fault:
            faults[name] = fault

    def end_while(is_waited_for: Callable[[], bool]) -> None:
        while is_waited_for():
            for name, future in work.ended().items():
                end(name, future.result, builder.ended)

    try:
        for name in order:
            read = reads(name)
            end_while(lambda read=read: not work.names.isdisjoint(read))  # type: ignore[misc]
            if work and builder.needs_quiet(name):
                end_while(lambda: bool(work))
            is_long = not faults and builder.is_long(name)
            if is_long:
                end_while(lambda: work.is_full)
            if faults:
                break
            if is_long:
                work.begin(name)
            else:
                end(name, partial(builder.make, name))
        end_while(lambda: bool(work))
    finally:
        work.close()
    if faults:
        raise faults[min(faults, key=order.index)]
    return [results[name] for name in order]
