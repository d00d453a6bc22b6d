"""A model with one typed column for each parameter and result that the current build has of a performance indicator."""

from __future__ import annotations

import json
import re

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import run_query
from warehouse.transform.sql.text import RESERVED

# For each key: its kind, the JSON types of its values, and its unit where its own name does not state it.
_SEEN = """
select
    fact.kind,
    fact.key,
    list(distinct fact.value_type order by fact.value_type) filter (where fact.value_type <> 'null') as types,
    min(known.unit) as unit
from performance_indicator_fact as fact
left join staging.indicator_unit as known
    on
        known.indicator = fact.indicator
        and known.key = fact.key
        and fact.kind = 'result'
where
    fact.kind in ('parameter', 'result', 'score')
    and fact.indicator = {indicator}
group by
    fact.kind,
    fact.key
order by
    fact.kind,
    fact.key
"""
_READ = {"bigint": "try_cast({} as bigint)", "boolean": "try_cast({} as boolean)"}
_FIRST = ("run_id", "component", "script_sha256")


def indicator_text(project: Project, indicator: str) -> str:
    """The model's text. Raises WH004 for an indicator of which the build has nothing."""
    with run_query(current_build(project).path, _SEEN.format(indicator=_literal(indicator))) as found:
        seen = found.fetchall()
    if not seen:
        message = "the current build has no performance indicator of this name"
        hint = 'wh sql "select distinct indicator from performance_indicator_fact" lists them'
        raise WarehouseError("WH004", message, printable(indicator), hint, ExitCode.USAGE)
    columns, selected, taken = "", "", set(_FIRST)
    for kind, key, types, unit in seen:
        name = _column(key, kind, unit, taken)
        taken.add(name)
        type_ = _type(types)
        stated = f", unit: {json.dumps(unit)}" if unit else ""
        columns += f"  {name}: {{type: {type_}{stated}, description: {json.dumps(f'The {kind} {key}', ensure_ascii=False)}}}\n"
        value = "value_number" if type_ in ("bigint", "double") else "value_text"
        read = f"max({value}) filter (where kind = '{kind}' and key = {_literal(key)})"
        selected += f",\n    {_READ.get(type_, '{}').format(read)} as {name}"
    return (
        f"/*\ndescription: {json.dumps(f'One row per run of {indicator}, with its parameters and results.', ensure_ascii=False)}\n"
        "materialized: view\ngrain: [run_id]\ncolumns:\n"
        '  run_id: {type: varchar, description: "The run"}\n  component: {type: varchar, description: "The component under test"}\n'
        f'  script_sha256: {{type: varchar, description: "The script that measured"}}\n{columns}*/\nselect\n'
        f"    run_id,\n    min(component) as component,\n    min(script_sha256) as script_sha256{selected}\n"
        f"from performance_indicator_fact\nwhere indicator = {_literal(indicator)}\ngroup by run_id\n"
    )


def _column(key: str, kind: str, unit: str | None, taken: set[str]) -> str:
    """A name for the column: the key, with its unit at the end, and its kind where two keys would have one name."""
    suffix = "" if unit is None else "_" + re.sub(r"[^a-z0-9]+", "_", unit.lower().replace("/", "_per_"))
    name = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_") + suffix
    if not name[:1].isalpha() or name in RESERVED:
        name = f"{kind}_{name}"
    for number in range(1, len(taken) + 2):
        if name not in taken:
            break
        name = f"{name}_{kind}" if number == 1 else f"{name}_{number}"
    return name


def _type(types: list[str] | None) -> str:
    kinds = set(types or ())
    if kinds == {"integer"}:
        return "bigint"
    if kinds and kinds <= {"integer", "float", "number"}:
        return "double"
    return "boolean" if kinds == {"boolean"} else "varchar"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
