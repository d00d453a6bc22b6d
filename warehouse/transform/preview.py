"""`wh plan`: what a build would do with every model, why, and how its text differs from the last build's.

Nothing is built, and no reader or builder waits. New evidence is parsed into landing all the same: what it changes cannot
be told without.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warehouse.errors import WarehouseError
from warehouse.project import Project
from warehouse.transform.build import Progress, gather_material
from warehouse.transform.builds import find_current
from warehouse.transform.header import read_header
from warehouse.transform.model import Model
from warehouse.transform.plan import KEEP, plan
from warehouse.transform.query import open_build
from warehouse.transform.selection import select
from warehouse.transform.sql_text import canonical
from warehouse.transform.state import TableState, read_states


@dataclass(frozen=True)
class PlannedModel:
    """What a build would do with one model, by its qualified name. `diff` is unified, from the last build's text to the
    file's as it is now; empty for a model that is kept or whose SQL and header say the same as before."""

    name: str
    action: str
    reason: str
    diff: str = ""


@dataclass(frozen=True)
class Preview:
    """What a build would do, model by model in build order; `damaged` are bundles that could not be parsed."""

    models: tuple[PlannedModel, ...]
    damaged: tuple[WarehouseError, ...]


def preview(project: Project, patterns: Sequence[str] = (), progress: Progress = Progress()) -> Preview:
    """What `build` would do with the models that `patterns` select; without any, with all of them and with tables that
    no model makes any more. Raises what the static check raises, and WH225."""
    states, texts = _last_build(project)
    material = gather_material(project, progress)
    checked = material.checked
    changed = {name for name, model in checked.models.items() if _has_changed(texts.get(model.qualified), model)}
    steps = plan(checked, material.logic, material.inputs, states)
    if patterns:
        selected = select(patterns, checked.models, checked.graph, changed)
        steps = [step for step in steps if step.name in selected]
    planned = []
    for step in steps:
        model = checked.models.get(step.name)
        name = model.qualified if model else states[step.name].qualified
        is_shown = model and step.name in changed and name in texts and step.action != KEEP
        diff = _diff(texts[name], model) if model and is_shown else ""
        planned.append(PlannedModel(name, step.action, step.reason, diff))
    return Preview(tuple(planned), material.landing.damaged)


def _last_build(project: Project) -> tuple[Mapping[str, TableState], Mapping[str, str]]:
    """The states of the current build's tables, and the texts they were made from by qualified name."""
    current = find_current(project)
    if current is None:
        return {}, {}
    con = open_build(current.path)
    try:
        states = read_states(con)
        if not states:  # made by another engine, which may have kept its catalog in another way
            return {}, {}
        return states, dict(con.execute("select schema_name || '.' || name, sql from catalog.model").fetchall())
    finally:
        con.close()


def _has_changed(before: str | None, model: Model) -> bool:
    """Whether a model's SQL or header says something else than before: not its layout, not its comments."""
    if before is None:
        return True
    if before == model.text:
        return False
    headers = [read_header(text, model.place).values for text in (before, model.text)]
    return canonical(before) != model.canonical_sql or headers[0] != headers[1]


def _diff(before: str, model: Model) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), model.text.splitlines(), f"{model.qualified} (last build)", model.place, lineterm=""
    )
    return "\n".join(lines)
