"""Names of the items of FROM by which their rows can be asked for: the engine takes the name of an item for a column, where a column has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from warehouse.trace.provenance.values import identifier


def rename_items_like_columns(tree: exp.Expr) -> None:
    """Give each item of FROM that is named like a column of the query another name, and the columns that are read of it by it."""
    columns = {column.name.lower() for column in tree.find_all(exp.Column) if column.table}
    columns |= {alias.alias.lower() for alias in tree.find_all(exp.Alias)}
    for number, block in enumerate(tree.find_all(exp.Select)):
        for position, item in enumerate(_items(block)):
            name = item.alias_or_name
            if name.lower() in columns and not item.args.get("pivots") and isinstance(item, (exp.Table, exp.Subquery)):
                _rename(block, item, f"__item_{number}_{position}")


def flat(items: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """The items of FROM, those in parentheses too."""
    for item in items:
        if isinstance(item, exp.Subquery) and not item.alias and isinstance(item.this, (exp.Table, exp.Subquery)):
            yield from flat([item.this])
        else:
            yield item
        yield from flat([join.this for join in item.args.get("joins") or []])


def _items(block: exp.Expr) -> list[exp.Expr]:
    origin = block.args.get("from_")
    written = [*([origin.this] if origin is not None else []), *(join.this for join in block.args.get("joins") or [])]
    return list(flat(written))


def _rename(block: exp.Select, item: exp.Expr, new: str) -> None:
    name, schema = item.alias_or_name.lower(), "" if item.alias else str(item.args["db"].name if item.args.get("db") is not None else "").lower()
    for column in list(block.find_all(exp.Column)):
        parts = [part.name.lower() for part in column.parts]
        if len(parts) > 1 and _is_of(column, block, name):
            if parts[0] == name:
                column.parts[0].replace(identifier(new))
            elif schema and parts[:2] == [schema, name] and len(parts) == 3:
                column.set("db", None)
                column.set("table", identifier(new))
    alias = item.args.get("alias")
    if alias is None:
        item.set("alias", exp.TableAlias(this=identifier(new)))
    else:
        alias.set("this", identifier(new))


def _is_of(column: exp.Expr, block: exp.Select, name: str) -> bool:
    """Whether no block between has an item of this name."""
    above = column.find_ancestor(exp.Select)
    while above is not None and above is not block:
        if any(item.alias_or_name.lower() == name for item in _items(above)):
            return False
        above = above.find_ancestor(exp.Select)
    return above is block
