"""`wh validity`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import counted, notice, print_json, say, table
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.serving.validity import PointValidity
    from warehouse.claims.gate.judgement import RuleVerdict

PAGE = "docs/serving.md"
EXAMPLES = (
    "wh validity",
    "wh validity --where 'model=MiniMax*' --rules",
)


def command(
    where: Annotated[str | None, typer.Option(metavar="NAME=VALUE,...", help="only runs that match; * stands for any characters")] = None,
    policy: Annotated[str, typer.Option(metavar="NAME", help="the policy whose rules about one run are applied")] = "serving",
    rules: Annotated[bool, typer.Option("--rules", help="also list the rules that are met, with their figures")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print every run and rule as JSON")] = False,
) -> ExitCode:
    """Whether each run of a served model can be trusted: was the load as asked for, were requests sent when they should have been, was it
    steady, were answers whole. Prints the rules that a run breaks, with the figures."""
    from collections import Counter

    from warehouse.analysis.serving.validity import NOT_PROVEN, validity
    from warehouse.project.project import find_project

    found = validity(find_project(), where, policy)
    if as_json:
        print_json({"build": found.build, "policy": found.policy.reference, "points": [_document(point) for point in found.points]})
        return ExitCode.OK
    if judged := [point for point in found.points if point.verdict != NOT_PROVEN]:
        say(table(["verdict", "load", "because", "run"], [_row(point) for point in judged]))
    silent = Counter(_names(point.silent) for point in found.points if point.verdict == NOT_PROVEN)
    for names, count in silent.most_common():
        say(f"{counted(count, 'point')} {NOT_PROVEN}: no evidence for {names}")
    if rules:
        for point in found.points:
            say(f"\n{printable(point.run_id)}, {_load(point)}: {point.verdict}")
            say(table(["rule", "verdict", "finding"], [[each.rule.id, each.verdict, printable(str(each))] for each in point.rules]))
    for verdict, count in sorted(Counter(point.verdict for point in found.points).items()):
        notice(f"{counted(count, 'point')} {verdict} by policy {found.policy}")
    return ExitCode.OK


def _row(point: "PointValidity") -> list[Any]:
    because = [_finding(each) for each in point.against]
    if point.silent:
        because.append(f"no evidence for {_names(point.silent)}")
    return [point.verdict, _load(point), "; ".join(because), printable(point.run_id)]


def _finding(each: "RuleVerdict") -> str:
    if each.rule.settings.get("over") == "false":  # a yes or no, not a figure
        return f"{each.rule.id}: no"
    return f"{each.rule.id} {each.figure:.4g} (asked: {each.rule.publishable})"


def _names(rules: "Sequence[RuleVerdict]") -> str:
    return ", ".join(sorted(each.rule.id for each in rules))


def _load(point: "PointValidity") -> str:
    return "load not stated" if point.load is None else f"{point.load_kind} {point.load:g}"


def _document(point: "PointValidity") -> dict[str, Any]:
    return {
        "run_id": point.run_id, "load_kind": point.load_kind, "load": point.load, "model": point.model, "verdict": point.verdict,
        "rules": [
            {"id": each.rule.id, "says": each.rule.says, "verdict": each.verdict, "figure": each.figure, "why": each.why,
             "asked": str(each.rule.publishable)}
            for each in point.rules
        ],
    }
