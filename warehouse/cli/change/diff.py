"""`wh diff`."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import counted, notice, print_json, say, say_diff, table
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.analysis.diff import BuildDiff, NumberDiff

PAGE = "docs/changes.md"
EXAMPLES = (
    "wh diff 'indicator_results[result_key=elapsed_ms].median' 'indicator_results[result_key=elapsed_ms].maximum'",
    "wh diff 'indicator_results[result_key=elapsed_ms].median' 'indicator_results[result_key=elapsed_ms].minimum' --json",
)
_BUILD = re.compile(r"[0-9a-f]{4,64}")
_RUNS = 5


def command(
    a: Annotated[str, typer.Argument(metavar="A", help="a number, as for wh lineage; or a kept build, by the beginning of its digest")],
    b: Annotated[str, typer.Argument(metavar="B", help="the other one")],
    as_json: Annotated[bool, typer.Option("--json", help="print the difference as JSON")] = False,
) -> ExitCode:
    """Of two numbers: what differs in value, SQL, runs, environment and evidence. Of two builds: which numbers moved, and why."""
    from warehouse.analysis.diff import diff_builds, diff_numbers
    from warehouse.project.project import find_project

    project = find_project()
    if _BUILD.fullmatch(a) and _BUILD.fullmatch(b) and _are_builds(a, b):
        builds = diff_builds(project, a, b)
        if as_json:
            print_json(asdict(builds))
        else:
            _print_builds(builds)
        return ExitCode.OK
    numbers = diff_numbers(project, a, b)
    if as_json:
        print_json(
            {
                "a": {"number_id": numbers.a.number_id, "key": numbers.a.key, "value": numbers.a.value},
                "b": {"number_id": numbers.b.number_id, "key": numbers.b.key, "value": numbers.b.value},
                "aspects": [{**asdict(each), "is_different": each.is_different} for each in numbers.aspects],
                "only_a": list(numbers.only_a), "only_b": list(numbers.only_b),
                "differences": [asdict(each) for each in numbers.differences], "sql": numbers.sql,
            }
        )
    else:
        _print_numbers(numbers)
    return ExitCode.OK


def _are_builds(a: str, b: str) -> bool:
    """Whether kept builds begin so: a number of digits alone, such as 8703, may be meant instead."""
    from warehouse.project.project import find_project
    from warehouse.transform.finished.builds import list_builds

    kept = [build.digest for build in list_builds(find_project())]
    found = [any(digest.startswith(each) for digest in kept) for each in (a, b)]
    if any(found) and not all(found) and not (a.isdigit() or b.isdigit()):
        missing = b if found[0] else a
        raise WarehouseError("WH214", "no kept build begins so", missing, "wh builds lists them", ExitCode.NOT_FOUND)
    return all(found)


def _print_numbers(found: "NumberDiff") -> None:
    rows = [[each.name, each.a, each.b, "differs" if each.is_different else ""] for each in found.aspects]
    rows += [[f"{each.kind} {each.name}", *(", ".join(side[:3]) for side in (each.base, each.head)), "differs"] for each in found.differences]
    say(table(["", "a", "b", ""], rows))
    for name, runs in (("a", found.only_a), ("b", found.only_b)):
        if runs:
            more = f" and {len(runs) - _RUNS} more" if len(runs) > _RUNS else ""
            say(f"only {name} uses {counted(len(runs), 'run')}: {printable(', '.join(runs[:_RUNS]))}{more}")
    if found.sql:
        say("")
        say_diff(found.sql)


def _print_builds(found: "BuildDiff") -> None:
    for each in found.moved:
        say(printable(f"{each.key}: {_shown(each.a)} -> {_shown(each.b)}"))
        for reason in each.reasons:
            say(f"  {printable(reason)}{'' if each.is_traced else '  (under the query; the cell was not traced)'}")
    notice(f"{counted(len(found.moved), 'number')} moved, {found.unmoved} did not")
    for word, bundles in (("only the first", found.bundles[0]), ("only the second", found.bundles[1])):
        if bundles:
            notice(f"{word} build has {counted(len(bundles), 'bundle')}: {', '.join(each[:12] for each in bundles[:5])}")


def _shown(value: object) -> str:
    return "nothing" if value is None else str(value)
