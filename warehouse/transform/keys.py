"""From an incremental model down to the tables, landing tables and files whose changes say which of its keys changed.

Views store nothing, so the way goes through them, by the same proof of locality (`locality`). Pure: what there is to read
is given; nothing is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.duck import quote
from warehouse.transform.graph import Graph
from warehouse.transform.locality import INPUT_ALIAS, ColumnsOf, KeyedInput, Locality, locality
from warehouse.transform.model import Model

if TYPE_CHECKING:
    import duckdb

FILE_COLUMN = "wh file"


@dataclass(frozen=True)
class KeyPath:
    """One way from a leaf to a model's key: projections from the leaf's rows upward, each a list of (SQL, name).

    `leaf` is a stored model, a landing table, or a call that reads files."""

    leaf: str
    layers: tuple[tuple[tuple[str, str], ...], ...]

    def keys_of(self, rows: str) -> str:
        """SQL for the keys of a leaf's rows, with the file of each beside it; `rows` is a SELECT of the leaf's columns and
        of `FILE_COLUMN`."""
        for layer in self.layers:
            items = ", ".join(f"{sql} as {quote(name)}" for sql, name in layer)
            rows = f"select {items}, {INPUT_ALIAS}.{quote(FILE_COLUMN)} from ({rows}) as {INPUT_ALIAS}"
        return f"select distinct * from ({rows})"


@dataclass(frozen=True)
class KeyPlan:
    """What an incremental model's update rests on: the inputs in its own text that are read by key, the paths from the
    leaves, and all that is read whole (models, views, landing tables, calls), at any depth."""

    inputs: tuple[KeyedInput, ...]
    paths: tuple[KeyPath, ...]
    whole: frozenset[str]


def key_plan(
    con: "duckdb.DuckDBPyConnection", name: str, models: Mapping[str, Model], graph: Graph, columns_of: ColumnsOf,
    aggregates: Collection[str],
) -> KeyPlan:
    """The plan of one incremental model. Raises WH221 with the clause, its own or a view's, that is not local."""
    resolve = _resolver(models)
    top = locality(con, models[name], graph.trees[name], models[name].key, columns_of, aggregates)
    if not top.keyed:
        message = f"no input carries {', '.join(models[name].key)}"
        hint = "drop the key and `materialized: incremental` from the header"
        raise models[name].header_fault("WH221", message, "key", hint=hint)
    paths: list[KeyPath] = []
    whole = {resolve(found) for found in top.whole}
    pending = [(found, (_layer(found, models[name].key),)) for found in top.keyed]
    while pending:
        found, layers = pending.pop()
        leaf = resolve(found.name)
        if leaf in models and models[leaf].materialized == "view":
            view = _view_locality(con, models[leaf], graph.trees[leaf], found, columns_of, aggregates, models[name])
            whole |= {resolve(other) for other in view.whole}
            pending += [(inner, (_layer(inner, found.columns), *layers)) for inner in view.keyed]
        elif any(read.call == leaf and not read.is_by_file for files in graph.files.values() for read in files):
            whole.add(leaf)
        else:
            paths.append(KeyPath(leaf, layers))
    both = whole & {path.leaf for path in paths}
    if both:
        message = f"{', '.join(sorted(both))} is read by key, and over all keys too"
        raise models[name].header_fault("WH221", message, "key", hint="read it once")
    inputs = tuple(replace(found, name=resolve(found.name)) for found in top.keyed)
    return KeyPlan(inputs, tuple(paths), frozenset(whole))


def _view_locality(
    con: "duckdb.DuckDBPyConnection", view: Model, tree: Mapping[str, object], found: KeyedInput, columns_of: ColumnsOf,
    aggregates: Collection[str], reader: Model,
) -> Locality:
    try:
        return locality(con, view, tree, found.columns, columns_of, aggregates)
    except WarehouseError as error:
        message, _, pointed = error.message.partition("\n")
        told = f"{message} (so {reader.qualified}, which reads {view.qualified}, is not local to its key)"
        hint = f"rewrite the clause, or drop `materialized: incremental` and the key from the header of {reader.place}"
        raise replace(error, message=f"{told}\n{pointed}" if pointed else told, hint=hint) from error


def _layer(found: KeyedInput, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(found.key, names, strict=True))


def _resolver(models: Mapping[str, Model]) -> Callable[[str], str]:
    """A table's name as SQL writes it to the key of `models`; what is no model stays."""
    qualified = {model.qualified: name for name, model in models.items()}
    return lambda written: qualified.get(written, written)
