"""`wh plan`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.models.selecting import MoreModels, Select, selected
from warehouse.cli.output import NO_MODELS, SCREEN, counted, counting_bar, next_step, notice, print_json, say, say_diff, table_of_first, warn
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.transform.build.preview import PlannedModel, Preview

_PLANNED = {"build": "to build", "update": "to update", "empty": "empty", "drop": "to drop", "maybe": "maybe", "keep": "kept"}
_SHOWN_TESTS = 5


PAGE = "docs/models.md"
EXAMPLES = ("wh plan", "wh plan --select +indicator_results", "wh plan --select staging.* changed --json")


def command(
    select: Select = None,
    more: MoreModels = None,
    as_json: Annotated[bool, typer.Option("--json", help="print all models as JSON")] = False,
) -> ExitCode:
    from warehouse.project.project import find_project
    from warehouse.transform.build.build import Progress
    from warehouse.transform.build.preview import preview

    patterns = selected(select, more)
    with counting_bar("bundles") as parsed:
        found = preview(find_project(), patterns, Progress(parsed=parsed))
    for error in found.damaged:
        warn(error)
    if as_json:
        print_json({"models": [vars(model) for model in found.models], "tests": found.tests})
    else:
        _print([model for model in found.models if model.action != "keep"])
    notice(_summary(found, is_selected=bool(patterns)))
    next_step("wh build")
    return ExitCode.OK


def _print(models: "Sequence[PlannedModel]") -> None:
    if models:
        rows = [[model.name, model.action, model.reason, _updated_by(model)] for model in models]
        say(table_of_first(["table", "action", "why", "updated by"], rows, SCREEN - 3, "wh plan -v"))
    for model in models:
        if model.diff:
            say_diff("\n" + model.diff)


def _updated_by(model: "PlannedModel") -> str:
    return ", ".join(model.key) or (f"none: {model.whole_because}" if model.whole_because else "")


def _summary(found: "Preview", *, is_selected: bool) -> str:
    if not found.models:
        return "no model matches all of that" if is_selected else NO_MODELS
    counts = Counter(model.action for model in found.models)
    told = ", ".join(f"{counts[action]:,} {words}" for action, words in _PLANNED.items() if counts[action])
    if found.tests:
        tests = f"{counted(len(found.tests), 'test')} to run on tables that are kept"
        return f"{told}; {tests}: {', '.join(found.tests[:_SHOWN_TESTS])}{', ...' * (len(found.tests) > _SHOWN_TESTS)}"
    return told if counts.keys() != {"keep"} else f"nothing to do: {told}"
