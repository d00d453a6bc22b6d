"""`wh plan`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.cli.output import NO_MODELS, notice, parsing_bar, print_json, say, say_diff, table
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.transform.build.preview import PlannedModel, Preview

_PLANNED = {"build": "to build", "update": "to update", "drop": "to drop", "maybe": "maybe", "keep": "kept"}
_SHOWN_TESTS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--select", metavar="MODELS", nargs="+", action="extend", default=[],
        help="only these: names and globs, +run (with all it reads), run+ (with all that reads it), tag:nightly,"
        " path:models/marts, changed; a comma means both",
    )
    parser.add_argument("--json", action="store_true", help="print all models as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.build.build import Progress
    from warehouse.transform.build.preview import preview

    with parsing_bar() as parsed:
        found = preview(find_project(), args.select, Progress(parsed=parsed))
    for error in found.damaged:
        notice(str(error))
    if args.json:
        print_json({"models": [vars(model) for model in found.models], "tests": found.tests})
    else:
        _print([model for model in found.models if model.action != "keep"])
    notice(_summary(found, is_selected=bool(args.select)))
    return ExitCode.OK


def _print(models: "Sequence[PlannedModel]") -> None:
    if models:
        say(table(["table", "action", "why"], [[model.name, model.action, model.reason] for model in models]))
    for model in models:
        if model.diff:
            say_diff("\n" + model.diff)


def _summary(found: "Preview", *, is_selected: bool) -> str:
    if not found.models:
        return "no model meets all of that" if is_selected else NO_MODELS
    counts = Counter(model.action for model in found.models)
    told = ", ".join(f"{counts[action]:,} {words}" for action, words in _PLANNED.items() if counts[action])
    if found.tests:
        tests = f"{len(found.tests):,} test{'s' * (len(found.tests) != 1)} to run on tables that are kept"
        return f"{told}; {tests}: {', '.join(found.tests[:_SHOWN_TESTS])}{', ...' * (len(found.tests) > _SHOWN_TESTS)}"
    return told if counts.keys() != {"keep"} else f"nothing to do: {told}"
