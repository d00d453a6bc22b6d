"""A query as one syntax tree, with the models that it is read through in it: each part knows which text it is from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from warehouse.trace.catalog import BuiltModel, Catalog
from warehouse.trace.inlined_views import is_cte
from warehouse.trace.provenance.syntax.spelling import respelled

if TYPE_CHECKING:
    from sqlglot import exp

SOURCE = "source"  # the key in a tree node's `meta` of the model whose text has the node and those below it


def expanded(model: BuiltModel, catalog: Catalog, is_read_through: Callable[[BuiltModel], bool]) -> "exp.Expr":
    """The syntax tree of a model, in which every model it reads that `is_read_through` is a derived table. The root of each
    model's part carries the model as `meta[SOURCE]`."""
    import sqlglot
    from sqlglot import exp

    tree = respelled(sqlglot.parse_one(model.sql, dialect="duckdb"))
    for node in tree.walk():
        node.pop_comments()  # the words of a header are no columns that the SQL reads
    for table in list(tree.find_all(exp.Table)):
        name = catalog.resolve(".".join(filter(None, (table.db, table.name))))
        if not is_cte(table) and name in model.reads and name in catalog.models and is_read_through(catalog.models[name]):
            inner = expanded(catalog.models[name], catalog, is_read_through)
            # What is written behind the view's name stays: a column list, joins in its parentheses, a PIVOT.
            kept = {part: value for part, value in table.args.items() if value and part not in ("this", "db", "catalog")}
            if not kept.keys() & {"alias", "pivots"}:
                kept["alias"] = exp.TableAlias(this=exp.to_identifier(table.name))
            table.replace(exp.Subquery(**{**kept, "this": inner}))
    tree.meta[SOURCE] = model
    return tree
