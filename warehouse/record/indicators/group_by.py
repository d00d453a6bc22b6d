"""A performance indicator for DuckDB: sum and count of integers grouped by an integer key, in memory.

`elapsed_ms` is the median over `--repetitions` timed executions, after one that is not timed; `rows_per_s` follows
from it. Making the data is outside the timed part, and every result is fetched and checked.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

QUERY = "select group_key, count(*) as row_count, sum(amount) as total from amounts group by group_key"


def measure(rows: int, groups: int, threads: int, repetitions: int) -> dict[str, Any]:
    """The indicator document. Raises `ValueError` when a result is wrong: a wrong answer has no speed."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": str(threads)})
    # A multiplicative hash scatters the keys, so that neither sort order nor runs help.
    connection.execute(
        "create table amounts as select (i * 2654435761 % 4294967296) % $groups as group_key, i as amount"
        " from range($rows) numbers(i)",
        {"groups": groups, "rows": rows},
    )
    [(key_count,)] = connection.execute("select count(distinct group_key) from amounts").fetchall()
    elapsed_ms = [_timed_ms(connection, rows, key_count) for _ in range(repetitions + 1)][1:]
    median_ms = statistics.median(elapsed_ms)
    return {
        "name": "DuckdbGroupBy",
        "component": "duckdb",
        "component_version": duckdb.__version__,
        "@parameters": {"rows": rows, "groups": groups, "threads": threads, "repetitions": repetitions},
        "@result": {
            "elapsed_ms": median_ms,
            "elapsed_min_ms": min(elapsed_ms),
            "elapsed_max_ms": max(elapsed_ms),
            "rows_per_s": rows / (median_ms / 1000),
        },
    }


def _timed_ms(connection: Any, rows: int, key_count: int) -> float:
    started_ns = time.perf_counter_ns()
    found = connection.execute(QUERY).fetchall()
    elapsed_ms = (time.perf_counter_ns() - started_ns) / 1e6
    expected = (key_count, rows, rows * (rows - 1) // 2)
    if (len(found), sum(row[1] for row in found), sum(row[2] for row in found)) != expected:
        raise ValueError("the group-by gave a wrong result")
    return elapsed_ms


def main(arguments: list[str]) -> None:
    """Print the indicator's JSON object on stdout."""
    parser = argparse.ArgumentParser(prog="python -m warehouse.record.indicators.group_by", description=__doc__)
    for name, default in (("rows", 2_000_000), ("groups", 1_000), ("threads", 1), ("repetitions", 5)):
        parser.add_argument(f"--{name}", type=_positive, default=default)
    print(json.dumps(measure(**vars(parser.parse_args(arguments)))))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    main(sys.argv[1:])
