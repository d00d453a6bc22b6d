"""The process of one query: opens the build that its argument names, waits for a query on standard input, writes the result as an Arrow
stream to standard output, and ends.

It knows nothing but the path of the build, whether that is the current one, the limits, and the process id of its server: no credentials, no
project. The folder that it runs in is its own. What the query may use is limited by the engine and by the system, before it comes. The process
ends with its server, and, while it waits, when another build becomes the current one.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.project.sql_limits import SqlLimits, size_bytes, too_many_bytes
from warehouse.transform.finished.builds import POINTER
from warehouse.transform.finished.query import confined, read_first, running

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.finished.query import FirstRows

REFUSED = 3  # exit status: standard output has the error as JSON
OUTDATED = 4  # exit status: no query came before another build did
MOST_RESULT_BYTES = 64 << 20
_FIRST = "select name from catalog.model limit 1"
_WATCH_S = 0.5
_OWN_BYTES = 1 << 30  # beside the engine's memory, for rows on their way out


def main(build: Path, limits: SqlLimits, has_query: threading.Event, session: ExitStack) -> int:
    """Answer the one query in a session that ends with `session`, and say so when the query is there; returns the exit status."""
    try:
        con = session.enter_context(confined(build, limits))
        # What the engine and the libraries load for their first query is loaded before a visitor waits for it.
        with suppress(WarehouseError):
            _answer(con, _FIRST, 1, limits)
        _confine(limits)
        text = sys.stdin.read()
        has_query.set()
        if not text:  # the server ended; killed, it removed nothing
            shutil.rmtree(Path.cwd(), ignore_errors=True)
            return 0
        asked = json.loads(text)
        found = _answer(con, asked["sql"], asked["rows"], limits)
    except WarehouseError as error:
        document = {"code": error.code, "message": error.message, "place": error.place, "hint": error.hint, "exit_code": int(error.exit_code)}
        print(json.dumps(document))
        return REFUSED
    import pyarrow as pa

    metadata = {**(found.table.schema.metadata or {}), b"has_more": b"1" if found.has_more else b""}
    with pa.ipc.new_stream(sys.stdout.buffer, found.table.schema.with_metadata(metadata)) as writer:
        writer.write_table(found.table)
    return 0


def _watch(server: int, build: Path, was_current: bool, has_query: threading.Event) -> None:
    """End when the server has died, which killed removes nothing, and while no query is there when another build became the current one:
    the file of the old one would stay open."""
    pointer = build.parent / POINTER
    while os.getppid() == server:
        if was_current and not has_query.is_set() and pointer.resolve() != build:
            break
        time.sleep(_WATCH_S)  # nothing tells a process that its parent has ended: it has to look
    shutil.rmtree(Path.cwd(), ignore_errors=True)
    os._exit(OUTDATED)


def _answer(con: "duckdb.DuckDBPyConnection", sql: str, rows: int, limits: SqlLimits) -> "FirstRows":
    with running(con, sql, limits):
        found = read_first(con, sql, rows)
    if found.table.nbytes > MOST_RESULT_BYTES:
        raise too_many_bytes(MOST_RESULT_BYTES)
    return found


def _confine(limits: SqlLimits) -> None:
    """Limits of the system, for a query that gets past the engine's: CPU, memory, files."""
    memory = size_bytes(limits.memory) + _OWN_BYTES
    for kind, most in (
        (resource.RLIMIT_CPU, int(limits.timeout) * 4 + 10), (resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, size_bytes(limits.spill)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    path, has_query = Path(sys.argv[1]), threading.Event()
    threading.Thread(target=_watch, args=(int(sys.argv[2]), path, sys.argv[3] == "current", has_query), daemon=True).start()
    with ExitStack() as session:
        status = main(path, SqlLimits(**json.loads(sys.argv[4])), has_query, session)
        sys.stdout.flush()
        os._exit(status)  # to close the engine and Python takes 20 ms, for which the visitor would wait
