"""`wh judge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.completion import query_names
from warehouse.cli.output import counted, next_step, notice, print_json, say, step_bar
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.claims.gate.gate import Judged, JudgedNumber

PAGE = "docs/claims.md"
EXAMPLES = ("wh judge indicator_results", "wh judge mlperf_training_results --policy mlperf-training --policy default")


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="the query spec's name", autocompletion=query_names)],
    policy: Annotated[list[str] | None, typer.Option(metavar="NAME", help="judge by this policy, not by the query's own; may be given again")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="every rule, also those that are met")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print every number and rule as JSON")] = False,
) -> ExitCode:
    """Judges the current build's numbers and publishes nothing. The ledger says that somebody looked: runs that are added after it are
    labelled when the number is published."""
    from warehouse.claims.numbers.search import cell_key
    from warehouse.claims.publish.publish import judge_query
    from warehouse.exact import exact, inexact
    from warehouse.project.project import find_project

    project = find_project()
    with step_bar() as on_step:
        judged = judge_query(project, query, policy or [None], on_step)
    if as_json:
        print_json([{"policy": each.policy.reference, "numbers": [_document(number) for number in each.numbers]} for each in judged])
        return ExitCode.OK
    for number in judged[0].numbers:
        grain = {name: inexact(exact(value)) for name, value in number.grain.items()}
        say(f"{number.number_id}  {printable(str(number.value))}  {printable(cell_key(query, grain, number.column))}")
        for each in judged:
            say("\n".join(_lines(each, next(other for other in each.numbers if other.number_id == number.number_id), rules)))
    for each in judged:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in each.verdicts.items())
        notice(f"policy {each.policy}: {counted(len(each.numbers), 'number')}" + (f", {counts}" if counts else " claimed by the query"))
    next_step(f"wh publish {query}" + (" --as provisional" if judged[0].against else ""))
    return ExitCode.OK


def _lines(judged: "Judged", number: "JudgedNumber", shows_all: bool) -> list[str]:
    from warehouse.claims.gate.judgement import interval_text

    judgement = number.judgement
    of = ", ".join(counted(count, level) for level, count in judgement.n.items())
    lines = [f"  {judged.policy.name}: {judgement.verdict}, {interval_text(judgement.interval)}, {of}"]
    return [*lines, *(f"    {each.told}: {printable(str(each))}" for each in (judgement.rules if shows_all else judgement.not_met))]


def _document(number: "JudgedNumber") -> dict[str, Any]:
    from warehouse.claims.gate.frozen import interval_document

    judgement = number.judgement
    return {
        "number_id": number.number_id, "grain": dict(number.grain), "column": number.column, "value": number.value,
        "verdict": judgement.verdict, "n": dict(judgement.n), **interval_document(judgement.interval),
        "rules": [
            {
                "id": each.rule.id, "verdict": each.told, "figure": each.figure, "why": each.why, "asked": str(each.rule.publishable),
                "rows": list(each.rows),
            }
            for each in judgement.rules
        ],
    }
