"""`wh sql`."""

from __future__ import annotations

import argparse
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any

from warehouse.cli.output import notice
from warehouse.errors import ExitCode
from warehouse.sql_limits import SqlLimits, size_bytes, timed_out

FORMATS = ("table", "csv", "json", "parquet", "arrow")
_GRACE_SECONDS = 5  # in which a query that is over its time may end by itself
_OWN_BYTES = 1 << 30  # that the process may take beside the engine's memory, for rows on their way out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="SQL; - reads it from standard input")
    parser.add_argument("--format", choices=FORMATS, help="default: table on a terminal, csv otherwise")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--build", metavar="ID", help="query an older build: the beginning of its digest (wh builds)")
    other.add_argument("--failures", action="store_true", help="query the rows that broke tests of the last build")
    limits = parser.add_argument_group("limits", "defaults: [sql] in warehouse.toml")
    limits.add_argument("--timeout", type=_limit("timeout", float), metavar="SECONDS", help="of the query, with its last row (600)")
    limits.add_argument("--memory", type=_limit("memory", str), metavar="SIZE", help="of the engine (4GB)")
    limits.add_argument("--spill", type=_limit("spill", str), metavar="SIZE", help="of temporary files, for what does not fit into memory (20GB)")
    limits.add_argument("--rows", type=_limit("rows", int), metavar="N", help="of the result (1,000 in a table, any number otherwise)")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.finished.builds import current_build, find_build
    from warehouse.transform.finished.query import run_query, write_result
    from warehouse.transform.incremental.aged_out import told_away
    from warehouse.transform.testing.run_tests import failures_path

    text = sys.stdin.buffer.read().decode("utf-8", errors="replace") if args.query == "-" else args.query
    form = args.format or ("table" if sys.stdout.isatty() else "csv")
    if form in ("parquet", "arrow") and sys.stdout.isatty():
        notice(f"{form} is binary: send it to a file or a pipe")
        return ExitCode.USAGE
    project = find_project()
    if args.failures:
        path = failures_path(project.builds)
    else:
        path = (current_build(project) if args.build is None else find_build(project, args.build)).path
    limits = project.sql_limits.changed(args.timeout, args.memory, args.spill, args.rows)
    with ExitStack() as session:
        session.enter_context(_bounded_memory(limits))
        with _hard_stop(limits):
            result = session.enter_context(run_query(path, text, limits))
        if told := told_away(result, text):
            notice(told)
        shown = write_result(result, form, sys.stdout, limits)
    if shown:
        notice(f"the first {shown:,} rows: --rows N shows more, --format csv all")
    return ExitCode.OK


@contextmanager
def _hard_stop(limits: SqlLimits) -> Iterator[None]:
    """End the process when a query is over its time and cannot be interrupted: the engine looks at the clock while a query
    runs, not while it is planned, and planning a.a.a... of 20,000 parts takes minutes."""

    def stop() -> None:
        notice(str(timed_out(limits)))
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


def _limit(name: str, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """What reads an option that sets a limit."""

    def value(text: str) -> Any:
        try:
            given = kind(text)
            replace(SqlLimits(), **{name: given})
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return given

    return value
