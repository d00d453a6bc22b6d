"""`wh plan`: what a build would do with every model, why, and how its text differs from the last build's.

Nothing is built, and no reader or builder waits. New evidence is parsed into landing all the same: what it changes cannot
be known without.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.transform.build.build import Progress, gather_material
from warehouse.transform.build.material import Material
from warehouse.transform.build.plan import KEEP, plan
from warehouse.transform.build.state import TableState, read_passed, read_states, tests_to_run
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.finished.builds import find_current
from warehouse.transform.finished.query import open_build
from warehouse.transform.project.header import read_header
from warehouse.transform.project.model import Model
from warehouse.transform.project.model_patterns import select
from warehouse.transform.sql.text import canonical


@dataclass(frozen=True)
class PlannedModel:
    """What a build would do with one model, by its qualified name. `diff` is unified, from the last build's text to the
    file's as it is now; empty for a model that is kept or whose SQL and header say the same as before. `key` are the columns that a table is
    local to and is updated by; `whole_because` says why one is built whole whenever its input changes, with the clause. A view has neither."""

    name: str
    action: str
    reason: str
    key: tuple[str, ...] = ()
    whole_because: str = ""
    diff: str = ""


@dataclass(frozen=True)
class Preview:
    """What a build would do, model by model in build order, and the tests that it would run on tables that it keeps;
    `damaged` are bundles that could not be parsed."""

    models: tuple[PlannedModel, ...]
    tests: tuple[str, ...]
    damaged: tuple[WarehouseError, ...]


def preview(project: Project, patterns: Sequence[str] = (), progress: Progress = Progress()) -> Preview:
    """What `build` would do with the models that `patterns` select; without any, with all of them and with tables that
    no model makes any more. Raises what the static check raises, and WH225."""
    last = _last_build(project)
    states, texts = last.states, last.texts
    material = gather_material(project, progress)
    checked = material.checked
    changed = _changed(checked, texts)
    steps = plan(checked, material.logic, material.inputs, material.landing, states)
    if patterns:
        selected = select(patterns, checked.models, checked.graph, changed)
        steps = [step for step in steps if step.name in selected]
    contents = {step.name: step.content_id for step in steps if step.content_id is not None}
    known = [test for test in checked.tests if test.reads and test.reads <= contents.keys()]
    # A build of the same digest is not made again, and its tests are not run.
    tests = tests_to_run(last.passed, known, contents) if last.digest != material.digest else []
    planned = []
    for step in steps:
        model = checked.models.get(step.name)
        name = model.qualified if model else states[step.name].qualified
        is_shown = model and step.name in changed and name in texts and step.action != KEEP
        diff = _diff(texts[name], model) if model and is_shown else ""
        why = checked.whole_because.get(step.name, "")
        planned.append(PlannedModel(name, step.action, step.reason, model.key if model and not why else (), why, diff))
    return Preview(tuple(planned), tuple(test.name for test in tests), material.landing.damaged)


def chooser(project: Project, patterns: Sequence[str]) -> Callable[[Material], frozenset[str]]:
    """What chooses the models that `patterns` select, with all that they read, of what a build is made from. It raises WH225."""

    def choose(material: Material) -> frozenset[str]:
        checked = material.checked
        pending = list(select(patterns, checked.models, checked.graph, _changed(checked, _last_build(project).texts)))
        chosen = set[str]()
        while pending:
            name = pending.pop()
            if name not in chosen:
                chosen.add(name)
                pending += checked.graph.models[name]
        return frozenset(chosen)

    return choose


def _changed(checked: CheckedProject, texts: Mapping[str, str]) -> set[str]:
    """The models that say something else than in the last build, whose texts are given by qualified name."""
    return {name for name, model in checked.models.items() if _has_changed(texts.get(model.qualified), model)}


@dataclass(frozen=True)
class _LastBuild:
    """The current build: its digest, the states of its tables, the texts they were made from by qualified name, and the tests
    that passed on them."""

    digest: str | None = None
    states: Mapping[str, TableState] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    passed: Mapping[str, str] = field(default_factory=dict)


def _last_build(project: Project) -> _LastBuild:
    current = find_current(project)
    if current is None:
        return _LastBuild()
    con = open_build(current.path)
    try:
        states = read_states(con)
        if not states:  # made by another engine, which may have kept its catalog in another way; or of no models
            return _LastBuild(current.digest)
        texts = con.execute("select schema_name || '.' || name, sql from catalog.model").fetchall()
        return _LastBuild(current.digest, states, dict(texts), read_passed(con))
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
