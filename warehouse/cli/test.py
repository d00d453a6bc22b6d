"""`wh test`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json, say, table
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.transform.testing.run_tests import TestResult
    from warehouse.transform.testing.unit_tests import UnitResult

_ENDED = {"pass": "passed", "warn": "warned", "fail": "failed"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="a model or test; * and ? as in a shell")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--unit", action="store_true", help="run the unit tests: no build and no data are needed")
    kind.add_argument(
        "--equivalence", action="store_true", help="compare each table, brought up to date, with one built from nothing"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if args.equivalence:
        return _equivalence(args)
    return _unit_tests(args) if args.unit else _data_tests(args)


def _data_tests(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.testing.project_tests import rerun_data_tests

    results = rerun_data_tests(find_project(), args.names, _tell)
    if args.json:
        print_json([_document(result) for result in results])
    else:
        _print([[result.name, result.status, result.failing_rows, result.seconds] for result in results])
    return _verdict(results)


def _unit_tests(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.testing.project_tests import run_unit_tests

    results = run_unit_tests(find_project(), args.names, _tell)
    if args.json:
        print_json([_unit_document(result) for result in results])
    else:
        named = ((f"{result.model}: {result.name}", result) for result in results)
        _print([[name, result.status, result.failures, result.seconds] for name, result in named])
    return _verdict(results)


def _equivalence(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.testing.equivalence import check_equivalence, refuse_differences

    if args.names:
        notice("--equivalence compares all tables: give no names")
        return ExitCode.USAGE
    found = check_equivalence(find_project())
    if args.json:
        print_json([vars(table) for table in found])
    refuse_differences(found)
    notice(f"ok: {len(found)} tables, {sum(table.rows for table in found):,} rows, updated as built from nothing")
    return ExitCode.OK


def _tell(result: "TestResult | UnitResult") -> None:
    if result.status != "pass":
        notice(result.told())


def _print(rows: list[list[object]]) -> None:
    if rows:
        say(table(["test", "status", "failures", "seconds"], rows))
    else:
        notice("there are no tests")


def _verdict(results: "Sequence[TestResult | UnitResult]") -> ExitCode:
    counts = Counter(result.status for result in results)
    if results:
        told = ", ".join(f"{counts[status]:,} {word}" for status, word in _ENDED.items() if counts[status])
        notice(f"{len(results):,} test{'s' * (len(results) != 1)}: {told}")
    return ExitCode.FAILED if counts["fail"] else ExitCode.OK


def _document(result: "TestResult") -> dict[str, object]:
    return {
        "name": result.name,
        "model": result.model,
        "place": result.place,
        "promise": result.promise,
        "severity": result.severity,
        "status": result.status,
        "failures": result.failing_rows,
        "error": result.error,
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "sql": result.sql,
        "seconds": round(result.seconds, 4),
    }


def _unit_document(result: "UnitResult") -> dict[str, object]:
    return {
        "name": result.name,
        "model": result.model,
        "place": result.place,
        "status": result.status,
        "error": result.error,
        "columns": list(result.columns),
        "missing": [list(row) for row in result.missing],
        "unexpected": [list(row) for row in result.unexpected],
        "seconds": round(result.seconds, 4),
    }
