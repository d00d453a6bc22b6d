"""Runs the queries of visitors, a few at a time, each in a process of its own that is killed when it takes too long or is cancelled.

Starting such a process takes some 0.4 s of CPU, so a few are started before they are needed. None runs a second query.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from warehouse.errors import ExitCode, WarehouseError
from warehouse.project.sql_limits import SqlLimits, timed_out
from warehouse.surfaces.workbench.process import OUTDATED, REFUSED
from warehouse.transform.finished.builds import POINTER

if TYPE_CHECKING:
    import pyarrow as pa

LIMITS = SqlLimits(timeout=30, memory="1GB", spill="2GB")
ROWS, MOST_ROWS = 500, 50_000  # of a result: by default, and at most
_AT_ONCE = 4
_MORE = "aggregate or filter first; wh sql, on the machine itself, may take more"
_OF_A_VISITOR = 2
_WAITING = 2  # processes without a query
_GRACE_SECONDS = 3.0  # in which a query that is over its time may end by itself


@dataclass(frozen=True)
class Worker:
    """A process for one query on a build, and the folder that is its own."""

    build: Path
    folder: TemporaryDirectory[str]
    process: subprocess.Popen[bytes]

    @property
    def can_run(self) -> bool:
        return self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()  # closes its pipes
        self.folder.cleanup()


@dataclass(frozen=True)
class Running:
    """A query at work: its id, whose it is, its SQL, and when it began (UTC)."""

    query_id: int
    visitor: str
    sql: str
    began_at: datetime
    worker: Worker


@dataclass
class Queries:
    """The queries of all visitors of one server."""

    _running: dict[int, Running] = field(default_factory=dict)
    _waiting: list[Worker] = field(default_factory=list)  # all for the build that was asked for last
    _ids: Iterator[int] = field(default_factory=lambda: count(1))
    _cancelled: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, build: Path, sql: str, rows: int = ROWS, visitor: str = "") -> "tuple[pa.Table, bool]":
        """The first rows of a query's result, at most `rows`, and whether there are more. Raises WH213 (it cannot be run, or does not
        only read), WH215 (it reached a limit), WH604 (too many at once), WH605 (it was cancelled, or its process died)."""
        with self._place(build.resolve(), sql, visitor) as running:
            process = running.worker.process
            try:
                out, _ = process.communicate(json.dumps({"sql": sql, "rows": rows}).encode(), LIMITS.timeout + _GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                raise timed_out(LIMITS) from None
        if running.query_id in self._cancelled:
            self._cancelled.discard(running.query_id)
            raise WarehouseError("WH605", "the query was cancelled", "query")
        if process.returncode == OUTDATED:  # just when the query came
            return self.run(build, sql, rows, visitor)
        if process.returncode == REFUSED:
            told = json.loads(out)
            hint = _MORE if told["code"] == "WH215" else told["hint"]
            raise WarehouseError(told["code"], told["message"], told["place"], hint, ExitCode(told["exit_code"]))
        if process.returncode:
            raise WarehouseError("WH605", "its process was ended: it took more than it may", "query", "aggregate or filter first")
        import pyarrow as pa

        with pa.ipc.open_stream(out) as reader:
            table = reader.read_all()
        return table, bool((table.schema.metadata or {}).get(b"has_more"))

    def running(self, visitor: str | None) -> list[Running]:
        """The queries of a visitor, or with None of all, the oldest first."""
        with self._lock:
            return [each for each in self._running.values() if visitor in (None, each.visitor)]

    def cancel(self, query_id: int, visitor: str | None) -> None:
        """End a query of a visitor, or with None anybody's. Raises WH601 where it does not run."""
        with self._lock:
            found = self._running.get(query_id)
            if found is None or visitor not in (None, found.visitor):
                raise WarehouseError("WH601", f"no query {query_id} of yours is running", "query_id", exit_code=ExitCode.NOT_FOUND)
            self._cancelled.add(query_id)
            found.worker.process.kill()

    def prepare(self, build: Path) -> None:
        """Start processes for the next queries on a build, and end those that wait for a query on another one."""
        path = build.resolve()
        with self._lock:
            others = [each for each in self._waiting if each.build != path or not each.can_run]
            self._waiting = [each for each in self._waiting if each not in others]
            self._waiting += [_start(path) for _ in range(_WAITING - len(self._waiting))]
        for each in others:
            each.end()

    @contextmanager
    def _place(self, build: Path, sql: str, visitor: str) -> Iterator[Running]:
        """A process that waits for its query, counted as at work. Raises WH604."""
        with self._lock:
            if len(self._running) >= _AT_ONCE or sum(each.visitor == visitor for each in self._running.values()) >= _OF_A_VISITOR:
                raise WarehouseError("WH604", "as many queries as may are at work", "query", "wait for one to end, or cancel it: /sql/running")
            worker = next((each for each in self._waiting if each.build == build and each.can_run), None)
            if worker:
                self._waiting.remove(worker)
            running = Running(next(self._ids), visitor, sql, datetime.now(UTC), worker or _start(build))
            self._running[running.query_id] = running
        try:
            yield running
        finally:
            running.worker.process.kill()
            with self._lock:
                del self._running[running.query_id]
            # To clear up and to start a process takes 15 ms, for which the visitor need not wait.
            threading.Thread(target=self._replace, args=(running.worker,), daemon=True).start()

    def _replace(self, worker: Worker) -> None:
        worker.end()
        self.prepare(worker.build)


def _start(build: Path) -> Worker:
    folder = TemporaryDirectory(prefix="wh-sql-")
    which = "current" if (build.parent / POINTER).resolve() == build else "another"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "warehouse.surfaces.workbench.process", str(build), str(os.getpid()), which, json.dumps(asdict(LIMITS))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder.name, env=_environment(folder.name),
        start_new_session=True,
    )
    return Worker(build, folder, process)


def _environment(folder: str) -> dict[str, str]:
    """Only what Python needs to find this package: none of the keys and secrets that the server may have."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    return kept | {"TMPDIR": folder, "HOME": folder}
