"""The process of one query: reads what to run from standard input, writes its result as an Arrow stream to standard output, and ends.

It knows nothing but the path of the build: no credentials, no project. What it may use is limited by the engine and by the system.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from warehouse.errors import WarehouseError
from warehouse.project.sql_limits import SqlLimits, size_bytes, too_many_bytes
from warehouse.transform.finished.query import read_first, run_query

REFUSED = 3  # exit status: standard output has the error as JSON
MOST_RESULT_BYTES = 64 << 20
_OWN_BYTES = 1 << 30  # beside the engine's memory, for rows on their way out


def main() -> int:
    asked = json.load(sys.stdin)
    limits = SqlLimits(**asked["limits"])
    _confine(limits)
    try:
        with run_query(Path(asked["path"]), asked["sql"], limits) as result:
            found = read_first(result, asked["sql"], limits.rows or 1)
        if found.table.nbytes > MOST_RESULT_BYTES:
            raise too_many_bytes(MOST_RESULT_BYTES)
    except WarehouseError as error:
        document = {"code": error.code, "message": error.message, "place": error.place, "hint": error.hint, "exit_code": int(error.exit_code)}
        print(json.dumps(document))
        return REFUSED
    import pyarrow as pa

    metadata = {**(found.table.schema.metadata or {}), b"has_more": b"1" if found.has_more else b""}
    with pa.ipc.new_stream(sys.stdout.buffer, found.table.schema.with_metadata(metadata)) as writer:
        writer.write_table(found.table)
    return 0


def _confine(limits: SqlLimits) -> None:
    """Limits of the system, for a query that gets past the engine's: CPU, memory, files."""
    memory = size_bytes(limits.memory) + _OWN_BYTES
    for kind, most in (
        (resource.RLIMIT_CPU, int(limits.timeout) * 4 + 10), (resource.RLIMIT_DATA, memory), (resource.RLIMIT_FSIZE, size_bytes(limits.spill)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    sys.exit(main())
