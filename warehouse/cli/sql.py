"""`wh sql`."""

from __future__ import annotations

import argparse
import sys

from warehouse.cli.output import notice
from warehouse.errors import ExitCode

FORMATS = ("table", "csv", "json", "parquet", "arrow")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="SQL; - reads it from standard input")
    parser.add_argument("--format", choices=FORMATS, help="default: table on a terminal, csv otherwise")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--build", metavar="ID", help="query an older build: the beginning of its digest (wh builds)")
    other.add_argument("--failures", action="store_true", help="query the rows that broke tests of the last build")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.away import told_away
    from warehouse.transform.builds import current_build, find_build
    from warehouse.transform.query import run_query, write_result
    from warehouse.transform.run_tests import failures_path

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
    with run_query(path, text) as result:
        if told := told_away(result, text):
            notice(told)
        write_result(result, form, sys.stdout)
    return ExitCode.OK
