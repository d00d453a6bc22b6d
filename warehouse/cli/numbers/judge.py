"""`wh judge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.completion import query_names
from warehouse.cli.output import counted, next_step, notice, print_json, say, step_bar
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.claims.gate.gate import Judged, JudgedNumber
    from warehouse.claims.gate.judgement import RuleVerdict

_LISTED, _RULES = 4, 6  # without --full: numbers and rules that are not met, each of some lines

PAGE = "docs/claims.md"
EXAMPLES = ("wh judge indicator_results", "wh judge mlperf_training_results --policy mlperf-training --policy default")


def command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="the query spec's name", autocompletion=query_names)],
    policy: Annotated[list[str] | None, typer.Option(metavar="NAME", help="judge by this policy, not by the query's own; may be given again")] = None,
    full: Annotated[bool, typer.Option("--full", help="every number, each with the rules that it does not meet")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="as --full, with the rules that are met too")] = False,
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
    is_full = full or rules
    for number in judged[0].numbers[: None if is_full else _LISTED]:
        grain = {name: inexact(exact(value)) for name, value in number.grain.items()}
        say(f"{number.number_id}  {printable(str(number.value))}  {printable(cell_key(query, grain, number.column))}")
        for each in judged:
            found = next(other for other in each.numbers if other.number_id == number.number_id)
            say("\n".join([_line(each, found), *(_rules(found, rules) if is_full else ())]))
    if not is_full and len(judged[0].numbers) > _LISTED:
        say(f"and {len(judged[0].numbers) - _LISTED} more: --full")
    for each in judged:
        if not is_full:
            for line in _against(each):
                say(line)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in each.verdicts.items())
        notice(f"policy {each.policy}: {counted(len(each.numbers), 'claimed number')}" + (f", {counts}" if counts else ""))
    next_step(f"wh publish {query}" + (" --as provisional" if judged[0].against else ""))
    return ExitCode.OK


def _line(judged: "Judged", number: "JudgedNumber") -> str:
    from warehouse.claims.gate.judgement import interval_text

    judgement = number.judgement
    of = ", ".join(counted(count, level) for level, count in judgement.n.items())
    return f"  {judged.policy.name}: {judgement.verdict}, {interval_text(judgement.interval)}, {of}"


def _rules(number: "JudgedNumber", shows_all: bool) -> list[str]:
    judgement = number.judgement
    return [f"    {each.told}: {printable(str(each))}" for each in (judgement.rules if shows_all else judgement.not_met)]


def _against(judged: "Judged") -> list[str]:
    """What is against the numbers, a line a rule: as it is found of the first of them, and how many others it is against. Then the rules that
    could not be checked: none of them failed."""
    from warehouse.claims.gate.judgement import NOT_CHECKED

    found: dict[tuple[str, str], list[RuleVerdict]] = {}
    for each in (each for number in judged.numbers for each in number.judgement.not_met if each.figure is not None and each.told != NOT_CHECKED):
        found.setdefault((each.rule.id, each.told), []).append(each)
    lines = []
    for (_, told), rules in found.items():
        texts = {printable(str(each)) for each in rules}
        others = f" ({counted(len(rules), 'number')}{', this of the first' * (len(texts) > 1)})" if len(judged.numbers) > 1 else ""
        lines.append(f"{judged.policy.name}, {told}: {printable(str(rules[0]))}{others}")
    if len(lines) > _RULES:
        lines[_RULES:] = [f"and {len(lines) - _RULES} more rules are not met: --full"]
    unknown: dict[str, dict[str, None]] = {}
    for each in (each for number in judged.numbers for each in number.judgement.not_met if each.figure is None or each.told == NOT_CHECKED):
        unknown.setdefault(each.told, {})[each.rule.id] = None
    for told, names in unknown.items():
        as_if = f", and so {told}" if told != NOT_CHECKED else ""
        lines.append(f"{judged.policy.name}, {NOT_CHECKED}{as_if}: {', '.join(names)} (--full says why)")
    return lines


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
