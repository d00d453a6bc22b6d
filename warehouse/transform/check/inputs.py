"""The part of the static check that looks at inputs: are the files there, which columns have they, and is each incremental
model local to its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.check.memory import CheckMemory, key_of, plan_as_json, plan_from_json
from warehouse.transform.incremental.changed_keys import KeyPlan, key_plan, narrow_name, narrowed
from warehouse.transform.inputs.s3_sources import is_remote
from warehouse.transform.inputs.sources import file_stamps, has_match, open_remote
from warehouse.transform.project.graph import Graph, with_views
from warehouse.transform.project.model import Model, model_names
from warehouse.transform.sql.aggregates import adds_in_pieces, has_unsteady_window, sees_layout
from warehouse.transform.sql.tree import FileRead, fault

if TYPE_CHECKING:
    import duckdb


def check_files(
    con: "duckdb.DuckDBPyConnection", model: Model, files: Sequence[FileRead], root: Path,
    refused: dict[str, WarehouseError],
) -> None:
    """Raise WH220 at the first read of a model that no file answers to, or that cannot be looked at. `refused` are buckets
    (as URLs) that could not be listed: they are not asked again, and more are added."""
    for read in files:
        for pattern in read.patterns:
            try:
                is_there = _is_there(pattern, root, refused)
            except WarehouseError as found:
                raise fault(found.code, f"{found.place}: {found.message}", model, read.offset, found.hint) from found
            if not is_there:
                hint = None if is_remote(pattern) else f"paths are from the project's folder, {root.name or '.'}"
                raise fault("WH220", f"no file matches {pattern}", model, read.offset, hint)
        open_remote(con, read.patterns)


def _is_there(pattern: str, root: Path, refused: dict[str, WarehouseError]) -> bool:
    bucket = "/".join(pattern.split("/")[:3])
    if bucket in refused:
        raise refused[bucket]
    try:
        return has_match(pattern, root)
    except WarehouseError as found:
        if found.place == bucket:
            refused[bucket] = found
        raise


def stamp_of(read: FileRead, root: Path) -> str:
    """What their file system or store says of the files that a call reads; empty where they may have changed without a
    trace."""
    return key_of(stamps) if (stamps := file_stamps(read.patterns, root)) else ""


def key_plans(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], graph: Graph,
    columns: Mapping[str, Mapping[str, str]], file_columns: Mapping[str, Mapping[str, str]],
    landing: Mapping[str, Mapping[str, str]], keys: Mapping[str, str], memory: CheckMemory, give: Callable[[str], None],
) -> tuple[dict[str, KeyPlan], list[WarehouseError]]:
    """How the keys of every incremental model are found, and WH221 for those that are not local to theirs. `keys` are those
    under which the models were bound; `give` makes a model's inputs available to the session, as empty tables."""
    names = model_names(models)

    def columns_of(name: str) -> Mapping[str, str] | None:
        return file_columns.get(name) or columns.get(names.get(name, name), landing.get(name))

    plans: dict[str, KeyPlan] = {}
    faults: list[WarehouseError] = []
    for name in graph.order:
        if models[name].materialized != "incremental":
            continue
        known = memory.recall("plans", name, keys[name])
        if known:
            plans[name] = plan_from_json(known)
            continue
        try:
            found = key_plan(con, name, models, graph, columns_of)
            give(name)
            can_narrow = _can_narrow(con, models[name], found) and not _sees_other_keys(name, models, graph)
            plans[name] = replace(found, can_narrow=can_narrow)
        except WarehouseError as fault:
            faults.append(fault)
        else:
            memory.keep("plans", name, keys[name], plan_as_json(plans[name]))
    return plans, faults


def _can_narrow(con: "duckdb.DuckDBPyConnection", model: Model, plan: KeyPlan) -> bool:
    """Whether a model's text still binds over other tables in place of those it reads by key: it does not where it names
    one by its schema, or asks for a column that only reading a file gives."""
    import duckdb

    try:
        for number, found in enumerate(plan.inputs):
            written = model.text[found.start : found.end]
            con.execute(f"create or replace temp table {narrow_name(number)} as select * from {written} limit 0")
        con.sql(narrowed(model, plan.inputs))
    except duckdb.Error:
        return False
    return True


def _sees_other_keys(name: str, models: Mapping[str, Model], graph: Graph) -> bool:
    """Whether the rows of a key, local as they are, may come out otherwise over the inputs of some keys than over all: by a
    window that is not steady, where a view under the model adds floats of a stored table, or floats are added in pieces (`aggregates`)."""
    own = with_views(name, models, graph)
    views = own - {name}
    over_tables = any(models[other].materialized != "view" for view in views for other in graph.models[view])
    return any(has_unsteady_window(graph.trees[found]) or adds_in_pieces(graph.trees[found]) for found in own) or (
        over_tables and any(sees_layout(graph.trees[view]) for view in views)
    )
