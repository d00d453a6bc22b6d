"""`wh test`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.completion import table_names
from warehouse.cli.output import counted, is_verbose, notice, print_json, say, table, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.transform.testing.run_tests import TestResult
    from warehouse.transform.testing.unit_tests import UnitResult

_SCREEN = 36  # lines, beside a heading and what is said of them all
_ENDED = {"pass": "passed", "warn": "warned", "fail": "failed"}


PAGE = "docs/models.md"
EXAMPLES = ("wh test", "wh test indicator_results", "wh test --unit", "wh test --equivalence")


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="a model or test; * and ? as in a shell", autocompletion=table_names)
    ] = None,
    unit: Annotated[bool, typer.Option("--unit", help="run the unit tests, which need no build and no data")] = False,
    equivalence: Annotated[
        bool, typer.Option("--equivalence", help="compare each table, brought up to date, with one built from nothing")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the results as JSON")] = False,
) -> ExitCode:
    if unit and equivalence:
        raise usage("--unit and --equivalence do not go together")
    if equivalence:
        if names:
            raise usage("--equivalence compares all tables: give no names")
        return _equivalence(as_json=as_json)
    return (_unit_tests if unit else _data_tests)(names or [], as_json=as_json)


def _data_tests(names: list[str], *, as_json: bool) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.testing.project_tests import rerun_data_tests

    results = rerun_data_tests(find_project(), names, _report)
    if as_json:
        print_json([_document(result) for result in results])
    else:
        _print([[result.name, result.status, result.failing_rows, result.seconds] for result in results])
    return _verdict(results)


def _unit_tests(names: list[str], *, as_json: bool) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.testing.project_tests import run_unit_tests

    results = run_unit_tests(find_project(), names, _report)
    if as_json:
        print_json([_unit_document(result) for result in results])
    else:
        named = ((f"{result.model}: {result.name}", result) for result in results)
        _print([[name, result.status, result.failures, result.seconds] for name, result in named])
    return _verdict(results)


def _equivalence(*, as_json: bool) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.testing.equivalence import check_equivalence, refuse_differences

    found = check_equivalence(find_project())
    if as_json:
        print_json([vars(table) for table in found])
    refuse_differences(found)
    notice(f"ok: {counted(len(found), 'table')}, {counted(sum(table.rows for table in found), 'row')}, updated as built from nothing")
    return ExitCode.OK


def _report(result: "TestResult | UnitResult") -> None:
    if result.status != "pass":
        warn(result.told())


def _print(rows: list[list[object]]) -> None:
    """A line a test; where these are more than a screen, of those that did not pass."""
    if not rows:
        notice("there are no tests")
    elif shown := rows if is_verbose() or len(rows) <= _SCREEN else [row for row in rows if row[1] != "pass"]:
        say(table(["test", "status", "failures", "seconds"], shown))


def _verdict(results: "Sequence[TestResult | UnitResult]") -> ExitCode:
    counts = Counter(result.status for result in results)
    if results:
        told = ", ".join(f"{counts[status]:,} {word}" for status, word in _ENDED.items() if counts[status])
        notice(f"{counted(len(results), 'test')}: {told}" + ("" if is_verbose() or len(results) <= _SCREEN else "; -v lists them"))
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
