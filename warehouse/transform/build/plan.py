"""What a build will do with every model, and why. A pure function of what the models are, what their inputs hold, and what
the last build holds.

The same decision is taken twice: by `wh plan`, for which the content of a table yet to be rebuilt is not known, and by
the build itself, which knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from warehouse.transform.build.state import Inputs, Logic, TableState, view_content
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.incremental.warm_tier import age_of

# Actions. A model that may be kept, when what it reads comes out the same, is planned as MAYBE.
BUILD, UPDATE, KEEP, MAYBE, DROP = "build", "update", "keep", "maybe", "drop"
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


def plan(
    checked: CheckedProject, logic: Mapping[str, Logic], inputs: Inputs, before: Mapping[str, TableState]
) -> list[Step]:
    """A step for every model in build order, then one for every table that no model makes any more."""
    contents: dict[str, str | None] = dict(inputs.content_ids())
    steps = []
    for name in checked.graph.order:
        step = decide(name, checked, logic[name], contents, inputs, before.get(name))
        if checked.models[name].materialized == "view":
            contents[name] = _content_of_view(name, checked, logic[name], contents)
        else:
            contents[name] = before[name].content_id if step.action == KEEP else None
        steps.append(replace(step, content_id=contents[name]))
    return steps + [Step(name, DROP, "no model makes it any more") for name in sorted(before.keys() - set(checked.graph.order))]


def decide(
    name: str, checked: CheckedProject, logic: Logic, contents: Mapping[str, str | None], inputs: Inputs,
    before: TableState | None,
) -> Step:
    """What to do with one model, given the content ids of what it reads (None: not known yet)."""
    if before is None:
        return Step(name, BUILD, "never built")
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
    if plan and plan.can_narrow and not plan.whole & set(other):
        return Step(name, UPDATE, reason, unknown)
    return Step(name, BUILD, reason, unknown)


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
    if source not in inputs.files and source not in inputs.landing:
        return f"{source} changed"
    now, then = inputs.by_file(source), before.files.get(source)
    if then is None:
        return f"files of {source} changed"
    come, gone = len(now.keys() - then.keys()), len(then.keys() - now.keys())
    other = sum(1 for path in now.keys() & then.keys() if now[path] != then[path])
    counts = [f"{count} {word}" for count, word in ((come, "new"), (other, "changed"), (gone, "removed")) if count]
    return f"files of {source}: {', '.join(counts) or 'reordered'}"


def _named(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
