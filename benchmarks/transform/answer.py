"""What a tool's database holds, as one line: answer.py DATABASE SCHEMA. Equal for tools that built the same.

Counts and checksums of a fact and of a mart that rests on it; the sums are rounded, since in which order a tool adds
floats is its own affair.
"""

from __future__ import annotations

import sys

import duckdb


def main(database: str, schema: str) -> None:
    con = duckdb.connect(database, read_only=True)
    for name, what in (("fct_sample", "max(day), round(sum(score), 2)"), ("mart_regression", "round(sum(delta), 2)")):
        row = con.execute(f"select count(*), {what} from {schema}.{name}").fetchall()[0]
        print(name, *row, end="; ")


if __name__ == "__main__":
    main(*sys.argv[1:])
