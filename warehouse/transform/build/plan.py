"""What a build will do with every model, and why. A pure function of what the models are, what their inputs hold, and what
the last build holds.

The same decision is taken twice: by `wh plan`, for which the content of a table yet to be rebuilt is not known, and by
the build itself, which knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from warehouse.landing.parse.batches import REJECTED_TABLE
from warehouse.transform.build.state import Inputs, Logic, TableState, view_content
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.incremental.warm_tier import age_of
from warehouse.transform.inputs.landing_tables import LandingTables
from warehouse.transform.project.model import model_names
from warehouse.transform.sql.emptiness import holds

# Actions. EMPTY: a table that is not run, because what it reads has too few rows for it to have any (`sql.emptiness`). A model that may be
# kept, when what it reads comes out the same, is planned as MAYBE.
BUILD, UPDATE, EMPTY, KEEP, MAYBE, DROP = "build", "update", "empty", "keep", "maybe", "drop"
NEVER_BUILT = "never built"
LEAST_ROWS = 1000  # of a table without a key in its header: an update takes some twenty statements
_LEAST_READ = 100  # times as many rows that it reads: to read these takes as long
_SHOWN = 3
_OTHERS_AWAY = "other runs are past the warm tier's horizon"


@dataclass(frozen=True)
class Step:
    """One model's action and the reason for it. `unknown` are the inputs on whose content a MAYBE depends; `content_id` is
    that of what the model then holds, where it is known before."""

    name: str
    action: str
    reason: str
    unknown: tuple[str, ...] = ()
    content_id: str | None = None


class Emptiness:
    """Which models have no row for certain: by the landing tables, by the stored tables of which `has_no_rows` is true, and by whether
    the build `has_rejected` rows."""

    def __init__(
        self, checked: CheckedProject, landing: LandingTables, has_no_rows: Callable[[str], bool], has_rejected: Callable[[], bool]
    ) -> None:
        self._checked = checked
        self._landing = landing
        self._has_no_rows = has_no_rows
        self._has_rejected = has_rejected
        self._names = model_names(checked.models)
        self._views: dict[str, bool] = {}

    def of_model(self, name: str) -> bool:
        """Whether a model's SQL has no row for certain, all that it reads being made."""
        return holds(self._checked.empty_when(name), self._of_reference, self._has_column)

    def of_table(self, name: str) -> bool:
        """Whether a stored table need not be run. One that keeps which of its keys came from which file must learn that of new files."""
        return not (self._checked.keeps_keys(name) and file_leaves(self._checked, name)) and self.of_model(name)

    def _has_column(self, reference: str, column: str) -> bool:
        name = self._names.get(reference)
        if name is not None:
            return column in map(str.lower, self._checked.columns[name])
        table = self._landing.tables.get(reference)
        return table is not None and column in map(str.lower, table.types)

    def _of_reference(self, reference: str) -> bool:
        name = self._names.get(reference)
        if reference == REJECTED_TABLE:
            return not self._has_rejected()
        if name is None:
            table = self._landing.tables.get(reference)
            return table is not None and not any(file.rows for file in table.files)
        if self._checked.models[name].materialized == "view":
            if name not in self._views:
                self._views[name] = self.of_model(name)
            return self._views[name]
        return self._has_no_rows(name)


def run_over(checked: CheckedProject, landing: LandingTables) -> set[str]:
    """The tables that a build from nothing over these landing tables may run: those that are not empty for certain before any is made."""
    without_rows = set[str]()
    emptiness = Emptiness(checked, landing, without_rows.__contains__, lambda: True)
    stored = [name for name in checked.order if checked.models[name].materialized != "view"]
    for name in stored:
        if emptiness.of_table(name):
            without_rows.add(name)
    return set(stored) - without_rows


def plan(
    checked: CheckedProject, logic: Mapping[str, Logic], inputs: Inputs, landing: LandingTables, before: Mapping[str, TableState]
) -> list[Step]:
    """A step for every model in build order, then one for every table that no model makes any more."""
    contents: dict[str, str | None] = dict(inputs.content_ids())
    steps, without_rows = [], set[str]()
    none_rejected = contents.get(REJECTED_TABLE)
    emptiness = Emptiness(checked, landing, without_rows.__contains__, lambda: contents[REJECTED_TABLE] not in (None, none_rejected))
    for name in checked.order:
        if name in checked.late and REJECTED_TABLE in checked.graph.landing[name]:
            # What will be left out nobody knows; as a rule what was.
            contents[REJECTED_TABLE] = before[name].inputs.get(REJECTED_TABLE, none_rejected) if name in before else none_rejected
        step = decide(name, checked, logic[name], contents, inputs, before.get(name), partial(rows_read, name, checked, landing, before))
        if checked.models[name].materialized == "view":
            contents[name] = _content_of_view(name, checked, logic[name], contents)
        elif step.action == KEEP:
            contents[name] = before[name].content_id
            if has_no_rows(before[name]):
                without_rows.add(name)
        else:
            contents[name] = None
            if step.action != MAYBE and emptiness.of_table(name):
                step = as_empty(step)
                without_rows.add(name)
        steps.append(replace(step, content_id=contents[name]))
    return steps + [Step(name, DROP, "no model makes it any more") for name in sorted(before.keys() - set(checked.order))]


def decide(
    name: str, checked: CheckedProject, logic: Logic, contents: Mapping[str, str | None], inputs: Inputs,
    before: TableState | None, read_by: Callable[[], int],
) -> Step:
    """What to do with one model, given the content ids of what it reads (None: not known yet), and how many rows are `read_by` it."""
    if before is None:
        return Step(name, BUILD, NEVER_BUILT)
    if logic.sql != before.logic.sql:
        return Step(name, BUILD, "its SQL changed")
    if logic.own != before.logic.own and checked.models[name].schema == "rollup":
        return Step(name, BUILD, "its query_spec_digest changed: its header, or a model under it")
    if logic.own != before.logic.own:
        return Step(name, BUILD, "its header, or the schemas or the types of what it reads, changed")
    if checked.models[name].materialized == "view":
        return Step(name, KEEP, "its SQL is the same")
    changed = [view for view in logic.views if before.logic.views.get(view) != logic.views[view]]
    plan = checked.key_plans.get(name)
    if plan and changed:
        return Step(name, BUILD, f"view {_named(changed)} under it changed")
    read = inputs_of(name, checked)
    unknown = tuple(source for source in read if contents[source] is None)
    other = [source for source in read if contents[source] is not None and contents[source] != before.inputs.get(source)]
    if not other and not unknown:
        return Step(name, KEEP, "nothing it reads changed" if read else "it reads nothing")
    if not other:
        return Step(name, MAYBE, f"downstream of {_named(unknown)}: kept if that comes out the same", unknown)
    told = [source for source in other if source not in logic.views] or other
    reason = "; ".join(_change(source, inputs, before) if source != age_of(name) else _OTHERS_AWAY for source in told[:_SHOWN])
    if other == [age_of(name)] and not unknown:
        return Step(name, UPDATE, reason)
    is_followed = checked.keeps_keys(name) or not (is_small(before, read_by) or any(_has_lost(source, inputs, before) for source in other))
    if plan and plan.can_narrow and not plan.whole & set(other) and is_followed:
        return Step(name, UPDATE, reason, unknown)
    return Step(name, BUILD, reason, unknown)


def as_empty(step: Step) -> Step:
    """The step of a model that has no row for certain."""
    reason = "no evidence of its families" if step.reason == NEVER_BUILT else step.reason
    return Step(step.name, EMPTY, reason, content_id=step.content_id)


def has_no_rows(state: TableState | None) -> bool:
    """Whether a table is known to have no rows."""
    return state is not None and state.content is not None and not state.content.rows


def is_small(state: TableState, read_by: Callable[[], int]) -> bool:
    """Whether a table has so few rows, and reads so few, that to find its changed keys is more work than to build it."""
    is_short = state.content is None or state.content.rows < LEAST_ROWS
    return is_short and read_by() < _LEAST_READ * LEAST_ROWS


def rows_read(name: str, checked: CheckedProject, landing: LandingTables, states: Mapping[str, TableState]) -> int:
    """The rows of the largest table that a model reads, through views too, as far as they are known."""
    found = checked.with_views(name)
    models = (states.get(table) for view in found for table in checked.graph.models[view])
    landed = (landing.tables[table].files for view in found for table in checked.graph.landing[view] if table in landing.tables)
    counts = [state.content.rows for state in models if state and state.content] + [sum(file.rows for file in files) for files in landed]
    return max(counts, default=0)


def file_leaves(checked: CheckedProject, name: str) -> set[str]:
    """The leaves of a table that is local to a key which come as files: landing tables, and calls that read files."""
    plan = checked.key_plans.get(name)
    return {path.leaf for path in plan.paths} - checked.models.keys() if plan else set()


def inputs_of(name: str, checked: CheckedProject) -> list[str]:
    """All that a model reads: models, landing tables, calls; for an incremental one also what its views read."""
    graph, plan = checked.graph, checked.key_plans.get(name)
    found = {*graph.models[name], *graph.landing[name], *(read.call for read in graph.files[name])}
    if checked.models[name].retention_tier:
        found.add(age_of(name))
    return sorted(found | (plan.whole | {path.leaf for path in plan.paths} if plan else set()))


def _content_of_view(name: str, checked: CheckedProject, logic: Logic, contents: Mapping[str, str | None]) -> str | None:
    found = {source: contents[source] for source in inputs_of(name, checked)}
    known = {source: content for source, content in found.items() if content is not None}
    return view_content(logic, known) if len(known) == len(found) else None


def _change(source: str, inputs: Inputs, before: TableState) -> str:
    if source == REJECTED_TABLE:
        return "other rows break a test and are left out"
    if source not in inputs.files and source not in inputs.landing:
        return f"{source} changed"
    now, then = inputs.by_file(source), before.files.get(source)
    if then is None:
        return f"files of {source} changed"
    come, gone = len(now.keys() - then.keys()), len(then.keys() - now.keys())
    other = sum(1 for path in now.keys() & then.keys() if now[path] != then[path])
    counts = [f"{count} {word}" for count, word in ((come, "new"), (other, "changed"), (gone, "removed")) if count]
    return f"files of {source}: {', '.join(counts) or 'reordered'}"


def _has_lost(source: str, inputs: Inputs, before: TableState) -> bool:
    """Whether a file that a table was made from is gone, or other than it was."""
    now = inputs.by_file(source)
    return any(now.get(path) != content for path, content in before.files.get(source, {}).items())


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
