"""Runs data tests on built tables: every test, then one verdict; the rows that break one are shown and kept.

Kept rows lie in one database beside the builds, replaced whole by the next build. Nothing here writes into the tables
that are tested.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.errors import ExitCode, WarehouseError, counted
from warehouse.evidence.durable import fsync_folder
from warehouse.transform.finished.builds import FAILURES, FAILURES_SCRATCH
from warehouse.transform.project.data_tests import DataTest
from warehouse.transform.sql.duck import connect, quote
from warehouse.transform.sql.engine_faults import message_of
from warehouse.transform.sql.row_table import row_table

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

KEPT_ROWS = 1000
_SHOWN_ROWS = 3


@dataclass(frozen=True)
class TestResult:
    """What one test found. `status` is `pass`, `warn` or `fail`; `rows` are the first that break it, `kept` the first
    `KEPT_ROWS`; `error` says why a test could not run, which is a failure whatever its severity."""

    name: str
    model: str | None
    promise: str
    severity: str
    sql: str
    status: str = "pass"
    seconds: float = 0.0
    failing_rows: int = 0
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    kept: "pa.Table | None" = None
    place: str | None = None  # known only for a test that did not pass: to find it costs
    error: str | None = None

    def told(self) -> str:
        """What broke the promise, for people: a line, and the first rows as a table."""
        rows = f"{self.failing_rows} row{'s' * (self.failing_rows != 1)}"
        line = f"{self.status} {self.name} ({self.place}): {self.promise}: {self.error or f'broken by {rows}'}"
        if self.error:
            return line
        left = self.failing_rows - len(self.rows)
        return f"{line}\n{row_table(self.columns, self.rows, '  ')}" + (f"\n  and {left} more" if left else "")


def run_tests(
    con: "duckdb.DuckDBPyConnection",
    tests: Iterable[DataTest],
    on_result: Callable[[TestResult], None] = lambda result: None,
) -> tuple[TestResult, ...]:
    """Run every test; one that cannot run is a failure. Not for use in a transaction: an error would end it."""
    import duckdb

    results: list[TestResult] = []
    for test in tests:
        started = time.monotonic()
        try:
            result = _tested(con, test)
        except duckdb.Error as error:
            why = f"could not run: {message_of(error)}"
            result = replace(_passed(test), status="fail", place=test.place, error=why)
        results.append(replace(result, seconds=time.monotonic() - started))
        on_result(results[-1])
    return tuple(results)


def _passed(test: DataTest) -> TestResult:
    return TestResult(test.name, test.model, test.promise, test.severity, test.sql)


def _tested(con: "duckdb.DuckDBPyConnection", test: DataTest) -> TestResult:
    count = con.execute(f"select count(*) from (\n{test.sql}\n)").fetchall()[0][0]
    if not count:
        return _passed(test)
    # Without it HUGEINT and the like would be kept as floats.
    con.execute("set arrow_lossless_conversion = true")
    kept = con.sql(f"select * from (\n{test.sql}\n) limit {KEPT_ROWS}").to_arrow_table()
    first = [name for name in dict.fromkeys(test.telling) if name in kept.column_names]
    columns = [*first, *(name for name in kept.column_names if name not in first)]
    listed = ", ".join(map(quote, columns))
    rows = con.execute(f"select {listed} from (\n{test.sql}\n) limit {_SHOWN_ROWS}").fetchall()
    status = "fail" if test.severity == "error" else "warn"
    return replace(
        _passed(test), status=status, failing_rows=count, columns=tuple(columns), rows=tuple(rows), kept=kept,
        place=test.place,
    )


def keep_failures(folder: Path, results: Sequence[TestResult]) -> None:
    """Make the failing rows of `results` all that `folder` keeps: a table a test, and `catalog.test_result` with every
    test. It is there whole or not at all."""
    from warehouse.transform.check.project_check import create_schemas

    path = folder / FAILURES
    failing = [result for result in results if result.kept is not None]
    if not failing:
        path.unlink(missing_ok=True)
        return
    scratch = folder / f"{FAILURES_SCRATCH}{os.getpid()}.duckdb"
    scratch.unlink(missing_ok=True)
    con = connect(scratch)
    try:
        con.execute("begin")
        create_schemas(con)  # those that reading a build expects
        con.execute("create schema catalog")
        con.execute(
            "create table catalog.test_result (test varchar, model varchar, place varchar, promise varchar,"
            " severity varchar, status varchar, failing_rows bigint, kept_rows bigint, sql varchar)"
        )
        for result in results:
            kept = result.kept.num_rows if result.kept is not None else 0
            con.execute(
                "insert into catalog.test_result values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    result.name, result.model, result.place, result.promise, result.severity, result.status,
                    result.failing_rows, kept, result.sql,
                ],
            )
        for result in failing:
            con.register("kept_rows", result.kept)
            con.execute(f"create table main.{quote(result.name)} as select * from kept_rows")
            con.unregister("kept_rows")
        con.execute("commit")
    finally:
        con.close()
    os.replace(scratch, path)
    fsync_folder(folder)


def failures_path(folder: Path) -> Path:
    """The database of kept failing rows. Raises WH242 when none are kept."""
    path = folder / FAILURES
    if not path.exists():
        raise WarehouseError(
            "WH242", "no test of the last build was broken", str(path), exit_code=ExitCode.NOT_FOUND
        )
    return path


def refuse_failures(results: Sequence[TestResult], tests: int) -> None:
    """Raise WH210, one error for all tests that failed, when any of `results` did. `tests` is how many there are, with
    those that were known to hold and not run again."""
    failed = [result for result in results if result.status == "fail"]
    if not failed:
        return
    told = "\n".join(result.told() for result in failed)
    kept = [result.name for result in failed if result.kept is not None]
    hint = f"all rows: wh sql --failures {shlex.quote(f'from {quote(kept[0])}')}" if kept else None
    raise WarehouseError(
        "WH210", f"{len(failed)} of {counted(tests, 'test')} failed\n{told}", failed[0].place, hint
    )
