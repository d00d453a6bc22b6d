"""`wh sql`."""

from __future__ import annotations

import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Annotated, Any

import typer

from warehouse.cli.output import SCREEN, STDOUT, counted, is_on_terminal, is_verbose, notice, say, text_table, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode, naming
from warehouse.project.sql_limits import SqlLimits, size_bytes, timed_out

PAGE = "docs/models.md"
EXAMPLES = (
    "wh sql 'select * from indicator_results'",
    "wh sql --json 'select run_id, status from benchmark_run_fact'",
    "echo 'select count(*) from benchmark_run_fact' | wh sql -",
)

_ALL = "--format csv has all"
_GRACE_SECONDS = 2  # in which a query that is over its time may end by itself
_OWN_BYTES = 1 << 30  # that the process may take beside the engine's memory, for rows on their way out


class Form(StrEnum):
    """How a result is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"
    ARROW = "arrow"


def _limit(name: str, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of an option that sets a limit."""

    def value(text: str) -> Any:
        try:
            given = kind(text)
            replace(SqlLimits(), **{name: given})
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        return given

    return value


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="SQL; - reads it from standard input")],
    format: Annotated[Form | None, typer.Option("--format", help="default: table on a terminal, csv otherwise")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
    for_spreadsheet: Annotated[
        bool, typer.Option("--for-spreadsheet", help="CSV in which text that a spreadsheet would run as a formula begins with an apostrophe")
    ] = False,
    build: Annotated[
        str | None, typer.Option(metavar="ID", help="query an older build: the beginning of its digest (wh builds)")
    ] = None,
    failures: Annotated[bool, typer.Option("--failures", help="query the rows that broke tests of the last build")] = False,
    timeout: Annotated[
        float | None, typer.Option(parser=_limit("timeout", float), metavar="SECONDS", help="limit of time, up to the last row (600)")
    ] = None,
    memory: Annotated[str | None, typer.Option(parser=_limit("memory", str), metavar="SIZE", help="limit of the engine's memory (4GB)")] = None,
    spill: Annotated[
        str | None, typer.Option(parser=_limit("spill", str), metavar="SIZE", help="limit of temporary files (20GB)")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(parser=_limit("rows", int), metavar="N", help="limit of rows (1,000 in a table, any number otherwise)")
    ] = None,
) -> ExitCode:
    """One statement that reads: SELECT, FROM, VALUES, PIVOT, EXPLAIN, DESCRIBE, SHOW or SUMMARIZE. The limits have their defaults in [sql] of
    warehouse.toml."""
    from warehouse.alive.tables import LiveTables, live_tables
    from warehouse.project.project import find_project
    from warehouse.transform.finished.builds import current_build, find_build
    from warehouse.transform.finished.query import TABLE_ROWS, read_cells, run_query, write_result
    from warehouse.transform.incremental.aged_out import told_away
    from warehouse.transform.testing.run_tests import failures_path

    if build is not None and failures:
        raise usage("--build and --failures do not go together")
    if as_json and format not in (None, Form.JSON):
        raise usage(f"--json and --format {format} do not go together")
    text = sys.stdin.buffer.read().decode("utf-8", errors="replace") if query == "-" else query
    if for_spreadsheet and (as_json or format not in (None, Form.CSV)):
        raise usage("--for-spreadsheet is for CSV")
    form = Form.JSON if as_json else format or (Form.TABLE if sys.stdout.isatty() and not for_spreadsheet else Form.CSV)
    if form in (Form.PARQUET, Form.ARROW) and sys.stdout.isatty():
        raise usage(f"{form} is binary: send it to a file or a pipe")
    project = find_project()
    if failures:
        path = failures_path(project.builds)
    else:
        path = (current_build(project) if build is None else find_build(project, build)).path
    live = LiveTables({}) if failures or build else live_tables(project, text)  # they are of now
    for problem in live.problems:
        warn(problem)
    limits = project.sql_limits.changed(timeout, memory, spill, rows)
    with ExitStack() as session:
        session.enter_context(_bounded_memory(limits))
        scratch = Path(session.enter_context(TemporaryDirectory(prefix="wh-sql-")))
        session.enter_context(_hard_stop(limits, scratch))
        result = session.enter_context(run_query(path, text, limits, scratch, live.tables))
        if told := told_away(result, text):
            notice(told)
        if form == Form.TABLE:
            found = read_cells(result, limits.rows or TABLE_ROWS)
            shown = found.rows if limits.rows else _on_a_screen(found.names, found.rows)
            say(text_table(found.names, shown, rest=_ALL))
            if found.has_more or len(shown) < len(found.rows):
                notice(f"the first {counted(len(shown), 'row')}: --rows N shows more, --format csv all")
        else:
            with naming(STDOUT):
                write_result(result, text, form, sys.stdout, limits, for_spreadsheet=for_spreadsheet)
    return ExitCode.OK


def _on_a_screen(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The first rows, as many as fit a screen as a table; all with --verbose, and where no terminal shows them."""
    if is_verbose() or not is_on_terminal():
        return rows
    shown = rows[:SCREEN]
    while len(shown) > 1 and (height := text_table(names, shown, rest=_ALL).count("\n") + 1) > SCREEN:
        shown = shown[: min(len(shown) - 1, max(1, len(shown) * SCREEN // height))]
    return shown


@contextmanager
def _hard_stop(limits: SqlLimits, scratch: Path) -> Iterator[None]:
    """End the process, and remove what it spilled, when a query is over its time and cannot be interrupted: the engine looks at the clock
    between the parts of a query, not while it is planned, and planning a.a.a... of 20,000 parts takes minutes; nor inside sleep_ms()."""

    def stop() -> None:
        shutil.rmtree(scratch, ignore_errors=True)
        warn(timed_out(limits))
        sys.stderr.flush()
        os._exit(ExitCode.FAILED)

    timer = Timer(limits.timeout + _GRACE_SECONDS, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _bounded_memory(limits: SqlLimits) -> Iterator[None]:
    """Let the operating system hold the process to the engine's memory and some of its own: the engine does not count what
    functions on text make, and repeat('x', 500000000) of a hundred rows takes all there is. Linux alone knows how much is in use."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        yield
        return
    in_use = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData:"))
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = in_use + size_bytes(limits.memory) + _OWN_BYTES
    if all(limit == resource.RLIM_INFINITY or wanted < limit for limit in (before, most)):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))
