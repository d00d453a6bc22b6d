"""The part of the static check that finds out which models are local to a key, and can be brought up to date by it.

An incremental model states its key, and is refused (WH221) where it is not local to that. Every other table is tried with the keys by which
evidence comes, the run and the bundle, and where it is local to one is updated by that; else it is built whole, and the reason is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.landing.parse.batches import REJECTED_TABLE
from warehouse.transform.check.checked_project import CheckedProject
from warehouse.transform.check.memory import CheckMemory, plan_as_json, plan_from_json
from warehouse.transform.incremental.changed_keys import KeyPlan, key_plan, narrow_name, narrowed
from warehouse.transform.incremental.row_order import has_grain_over_key
from warehouse.transform.project.graph import Graph, constant_models, with_views
from warehouse.transform.project.model import BUNDLE_COLUMN, RUN_COLUMN, Model, model_names
from warehouse.transform.sql.aggregates import adds_in_pieces, disordered, has_unsteady_window, sees_layout, takes_disordered_rows
from warehouse.transform.sql.tree_nodes import has_order

if TYPE_CHECKING:
    import duckdb

_EVIDENCE_KEYS = ((RUN_COLUMN,), (BUNDLE_COLUMN,))
_NAMES_SCHEMA = re.compile(r'\b(staging|feed|source|mart|rollup|main|temp)"?\s*\.', re.IGNORECASE)
_ROLLUP = "a rollup is made whole, with its number ids"


@dataclass(frozen=True)
class LocalModels:
    """The models, each of those that are local to a key with that key; how their keys are found; and for every other table why it is
    built whole."""

    models: Mapping[str, Model]
    plans: Mapping[str, KeyPlan]
    reasons: Mapping[str, str]

    def of(self, checked: CheckedProject) -> CheckedProject:
        """The project, with what was found beside what it has."""
        plans, reasons = {**checked.key_plans, **self.plans}, {**checked.whole_because, **self.reasons}
        return replace(checked, models=self.models, key_plans=plans, whole_because=reasons)


def local_models(
    con: "duckdb.DuckDBPyConnection", checked: CheckedProject, asked: Iterable[str], landing: Mapping[str, Mapping[str, str]],
    keys: Mapping[str, str], memory: CheckMemory, give: Callable[[str], None],
) -> tuple[LocalModels, list[WarehouseError]]:
    """Those of the tables `asked` that are local to a key, and WH221 for the incremental models that are not local to theirs. `keys` are
    those under which the models were bound; `give` makes a model's inputs available to the session, as empty tables."""
    models, graph, columns, names = checked.models, checked.graph, checked.columns, model_names(checked.models)

    def columns_of(name: str) -> Mapping[str, str] | None:
        return checked.file_columns.get(name) or columns.get(names.get(name, name), landing.get(name))

    def proven(name: str, key: tuple[str, ...]) -> KeyPlan:
        keyed = {**models, name: replace(models[name], key=key)}
        return key_plan(con, name, keyed, graph, columns_of)

    local, plans, reasons, constant = dict(models), dict[str, KeyPlan](), dict[str, str](), constant_models(graph)
    faults: list[WarehouseError] = []
    for name in asked:
        model = models[name]
        if model.materialized == "view":
            continue
        known = memory.recall("plans", name, keys[name])
        if known is None:
            try:
                key, found = (model.key, proven(name, model.key)) if model.key else _inferred(model, columns[name], proven, graph, constant)
            except WarehouseError as fault:
                faults.append(fault)
                continue
            if isinstance(found, KeyPlan):
                found = _usable(con, replace(model, key=key), found, models, graph, give)
            known = {"why": found} if isinstance(found, str) else {"key": list(key), "plan": plan_as_json(found)}
            memory.keep("plans", name, keys[name], known)
        if "why" in known:
            reasons[name] = known["why"]
        else:
            local[name] = replace(model, key=tuple(known["key"]))
            plans[name] = plan_from_json(known["plan"])
            if plans[name].whole_because:
                reasons[name] = plans[name].whole_because
    return LocalModels(local, plans, reasons), faults


def _inferred(
    model: Model, columns: Mapping[str, str], proven: Callable[[str, tuple[str, ...]], KeyPlan], graph: Graph, constant: set[str]
) -> tuple[tuple[str, ...], KeyPlan | str]:
    """The key of evidence that a table is local to, and its plan; or why it is to none. If it is local to several, the first by which all
    its inputs are read that evidence changes: a table is built whole when what it reads whole changes, and partitions have no whole tables."""
    if model.schema == "rollup":
        return (), _ROLLUP
    if has_order(graph.trees[model.name]):
        return (), "its rows are in an order of their own"
    candidates = [key for key in _EVIDENCE_KEYS if set(key) <= columns.keys()]
    if model.retention_tier:
        candidates = [key for key in candidates if key == (RUN_COLUMN,)]
    if not candidates:
        return (), f"it has no {RUN_COLUMN} and no {BUNDLE_COLUMN}"
    reasons: list[str] = []
    usable: list[tuple[tuple[str, ...], KeyPlan]] = []
    for key in candidates:
        try:
            found = proven(model.name, key)
        except WarehouseError as fault:
            reasons.append(_clause(fault))
            continue
        if model.grain and not has_grain_over_key(replace(model, key=key)):
            reasons.append(f"its grain leaves out {key[0]}")
        elif not found.paths:
            reasons.append("it reads files whose columns only all of them tell")
        elif any(path.leaf == REJECTED_TABLE for path in found.paths):
            reasons.append("it reads the rows that a build leaves out")
        else:
            usable.append((key, found))
    if not usable:
        return (), reasons[0]
    return next((pair for pair in usable if constant.issuperset(pair[1].whole)), usable[0])


def _clause(fault: WarehouseError) -> str:
    return f"{fault.message.partition(chr(10))[0]} ({fault.place})"


def _usable(
    con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, models: Mapping[str, Model], graph: Graph, give: Callable[[str], None]
) -> KeyPlan | str:
    """A plan that was proven, if the table may be updated by it; one of an incremental model says where it may not be."""
    why = next(_sees_other_keys(model.name, models, graph), "")
    if not why and not _can_narrow(con, model, plan, give):
        why = "it reads a table by its schema, or a column that only reading a file gives"
    if model.materialized == "incremental":
        return replace(plan, whole_because=why)
    return why or plan


def _can_narrow(con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan, give: Callable[[str], None]) -> bool:
    """Whether a model's text still binds over other tables in place of those it reads by key: it does not where it names
    one by its schema, or asks for a column that only reading a file gives."""
    import duckdb

    if all(model.text[found.start : found.end].isidentifier() for found in plan.inputs) and not _NAMES_SCHEMA.search(model.text):
        return True
    try:
        give(model.name)
        for number, found in enumerate(plan.inputs):
            written = model.text[found.start : found.end]
            con.execute(f"create or replace temp table {narrow_name(number)} as select * from {written} limit 0")
        con.sql(narrowed(model, plan.inputs))
    except duckdb.Error:
        return False
    return True


def _sees_other_keys(name: str, models: Mapping[str, Model], graph: Graph) -> Iterator[str]:
    """Why the rows of a key, local as they are, may come out otherwise over the inputs of some keys than over all."""
    own = with_views(name, models, graph)
    views = own - {name}
    over_tables = any(models[other].materialized != "view" for view in views for other in graph.models[view])
    trees = [graph.trees[found] for found in sorted(own)]
    if any(map(has_unsteady_window, trees)):
        yield "a window numbers rows, takes a neighbour's value or adds, for which rows of other keys count"
    if any(map(adds_in_pieces, trees)):
        yield "it adds floats beside an aggregate that keeps its rows: the engine does it in pieces"
    if over_tables and any(sees_layout(graph.trees[view]) for view in views):
        yield "a view under it adds floats of a table"
    without_order = set[str]()
    for view in sorted(views, key=graph.order.index):
        if disordered(graph.trees[view], without_order):
            without_order.add(models[view].name.lower())
    if any(takes_disordered_rows(tree, without_order) for tree in trees):
        yield "it adds floats, or takes a first row, of joined or grouped rows, in no order: say order by in the aggregate, sum(x order by x)"
