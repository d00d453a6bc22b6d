"""`wh validity`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import SCREEN, counted, first_of, is_verbose, notice, print_json, say
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warehouse.analysis.serving.validity import PointValidity
    from warehouse.claims.gate.judgement import RuleVerdict

PAGE = "docs/serving.md"
_NOTICES = 11  # lines of what is said besides
_RUNS, _GROUPS, _RECORDS = 7, 1, 2  # that are listed where --verbose is not given
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
    steady, were answers whole. Prints the rules that a run breaks, with the figures, and what to record for those without evidence."""
    from collections import Counter

    from warehouse.analysis.serving.validity import NOT_PROVEN, validity, what_to_record
    from warehouse.project.project import find_project

    found = validity(find_project(), where, policy)
    if as_json:
        print_json({"build": found.build, "policy": found.policy.reference, "points": [point.document() for point in found.points]})
        return ExitCode.OK
    judged = [point for point in found.points if point.verdict != NOT_PROVEN]
    for point in () if rules else judged if is_verbose() else judged[:_RUNS]:
        for line in _lines(point):
            say(line)
    if rules:
        every = shlex.join(["wh", "validity", "-v", "--rules", *(["--where", where] if where else [])])
        for block in first_of([_rules(point) for point in found.points], SCREEN - _NOTICES, every):
            say(block)
    elif len(judged) > _RUNS and not is_verbose():
        say(f"and {len(judged) - _RUNS} more: wh validity -v")
    silent = Counter((_names(point.silent), _names(point.holding)) for point in found.points if point.verdict == NOT_PROVEN and not rules)
    groups = silent.most_common(None if is_verbose() else _GROUPS)
    for (names, holding), count in groups:
        say(f"{counted(count, 'point')} {NOT_PROVEN}: no evidence for {names}; {f'holds {holding}' if holding else 'no rule is shown to hold'}")
    if len(groups) < len(silent):
        others = silent.total() - sum(count for _, count in groups)
        say(f"and {others} more {NOT_PROVEN}, in {counted(len(silent) - len(groups), 'other way')}: wh validity -v")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(Counter(point.verdict for point in found.points).items()))
    notice(f"{counted(len(found.points), 'point')} by policy {found.policy}: {counts}")
    for subject, count in Counter(each.rule.subject for point in found.points for each in point.beside if each.figure is None).items():
        notice(f"{subject} was not measured for {counted(count, 'point')}: that is no verdict on speed")
    records = list(what_to_record(found.points).items())
    for record, closed in records if is_verbose() else records[:_RECORDS]:
        notice(f"record for {', '.join(closed)}: {record}")
    if len(records) > _RECORDS and not is_verbose():
        notice(f"and {len(records) - _RECORDS} more to record: wh validity -v")
    return ExitCode.OK


def _lines(point: "PointValidity") -> list[str]:
    """A run and load, and below it what is against it, with the figures."""
    from warehouse.analysis.serving.validity import figure_text

    because = [f"{each.rule.id}: {figure_text(each)}" for each in point.against]
    if point.silent:
        because.append(f"no evidence for {_names(point.silent)}" if is_verbose() else f"no evidence for {counted(len(point.silent), 'rule')}")
    return [f"{point.verdict:<8}  {load_text(point)}  {printable(point.run_id)}", f"          {'; '.join(because)}"]


def _rules(point: "PointValidity") -> str:
    """A run and load, and below it every rule with what it found."""
    rules = (f"  {each.told:<18}  {each.rule.id}: {printable(str(each))}" for each in point.rules)
    return "\n".join([f"{printable(point.run_id)}, {load_text(point)}: {point.verdict}", *rules])


def _names(rules: "Sequence[RuleVerdict]") -> str:
    return ", ".join(sorted(each.rule.id for each in rules))


def load_text(point: "PointValidity") -> str:
    return "load not stated" if point.load is None else f"{point.load_kind} {point.load:g}"
