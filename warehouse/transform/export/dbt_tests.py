"""What a test in a header is called in dbt: the generic test that says the same, and the name dbt derives from it."""

from __future__ import annotations

import re
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.transform.export.description import Promise, Table

_LONGEST_NAME = 63


def test_name(table: Table, promise: Promise) -> str:
    """The name of the test as dbt derives it; a long one is cut, and its digest tells it from others."""
    kind = generic_test(table, promise)
    if kind is None:
        return re.sub(r"\W+", "_", f"{table.bare_name}_{promise.text}").strip("_")[:_LONGEST_NAME]
    prefix = f"{kind['namespace']}_{kind['name']}" if kind["namespace"] else kind["name"]
    arguments = [value for name, value in sorted(kind["kwargs"].items()) if name != "model"]
    flat = [str(item) for value in arguments for item in (value if isinstance(value, list) else [value])]
    name = f"{prefix}_{table.bare_name}_" + "__".join(re.sub(r"[^0-9a-zA-Z_]+", "_", item) for item in flat)
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{prefix}_{table.bare_name}"[:30] + f"_{bytes_digest(name.encode())[:32]}"


def generic_test(table: Table, promise: Promise) -> dict[str, Any] | None:
    """The generic test of dbt, or of its usual package, that checks the same; None where there is none."""
    column = {"column_name": promise.column} if promise.column else {}
    name: str | None = promise.test
    namespace: str | None = None
    arguments: dict[str, Any] = {}
    match promise.test, promise.argument:
        case ("not_null" | "unique"), _:
            pass
        case "accepted_values", values:
            arguments = {"values": list(values)}
        case "relationships", other:
            model, _, key = str(other).rpartition(".")
            arguments = {"to": f"ref('{model.rpartition('.')[2]}')", "field": key}
        case "range", bounds:
            name, namespace = "accepted_range", "dbt_utils"
            arguments = {f"{bound}_value": value for bound, value in bounds.items()}
        case None, [*grain] if grain:
            name, namespace = "unique_combination_of_columns", "dbt_utils"
            arguments = {"combination_of_columns": grain}
        case _:
            return None
    of_model = {"model": "{{ get_where_subquery(ref('" + table.bare_name + "')) }}"}
    return {"name": name, "namespace": namespace, "kwargs": {**arguments, **column, **of_model}}
