"""The part of the static check that looks at inputs: are the files there, which columns have they, and is each incremental
model local to its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.graph import Graph
from warehouse.transform.keys import KeyPlan, key_plan
from warehouse.transform.model import Model, model_names
from warehouse.transform.sources import has_match, open_remote
from warehouse.transform.sql_tree import FileRead, fault

if TYPE_CHECKING:
    import duckdb


def check_files(con: "duckdb.DuckDBPyConnection", model: Model, files: Sequence[FileRead], root: Path) -> None:
    """Raise WH220 at the first read of a model that no file answers to."""
    for read in files:
        open_remote(con, read.patterns)
        for pattern in read.patterns:
            if "://" not in pattern and not has_match(pattern, root):
                hint = f"paths are from the project's folder, {root.name or '.'}"
                raise fault("WH220", f"no file matches {pattern}", model, read.offset, hint)


def columns_of_calls(con: "duckdb.DuckDBPyConnection", graph: Graph) -> dict[str, dict[str, str]]:
    """The columns (name to type) of every call that reads files."""
    calls = sorted({read.call for files in graph.files.values() for read in files})
    return {
        call: {row[0]: row[1] for row in con.execute(f"describe select * from {call}").fetchall()} for call in calls
    }


def key_plans(
    con: "duckdb.DuckDBPyConnection", models: Mapping[str, Model], graph: Graph,
    columns: Mapping[str, Mapping[str, str]], file_columns: Mapping[str, Mapping[str, str]],
    landing: Mapping[str, Mapping[str, str]],
) -> tuple[dict[str, KeyPlan], list[WarehouseError]]:
    """How the keys of every incremental model are found, and WH221 for those that are not local to theirs."""
    incremental = [name for name in graph.order if models[name].materialized == "incremental"]
    if not incremental:
        return {}, []
    aggregates = {
        row[0] for row in con.execute(
            "select distinct function_name from duckdb_functions() where function_type = 'aggregate'"
        ).fetchall()
    }
    names = model_names(models)

    def columns_of(name: str) -> Mapping[str, str] | None:
        return file_columns.get(name) or columns.get(names.get(name, name), landing.get(name))

    plans, faults = {}, []
    for name in incremental:
        try:
            plans[name] = key_plan(con, name, models, graph, columns_of, aggregates)
        except WarehouseError as fault:
            faults.append(fault)
    return plans, faults
