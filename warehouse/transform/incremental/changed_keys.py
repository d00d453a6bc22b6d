"""From an incremental model down to the tables, landing tables and files whose changes say which of its keys changed.

Views store nothing, so the way goes through them, by the same proof of locality (`locality`). Pure: what there is to read
is given; nothing is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError
from warehouse.transform.incremental.locality import INPUT_ALIAS, KeyedInput, Locality, locality
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import quote
from warehouse.transform.sql.from_clause import ColumnsOf
from warehouse.transform.sql.text import body, first_token
from warehouse.transform.sql.tree_nodes import Node

if TYPE_CHECKING:
    import duckdb

FILE_COLUMN = "wh file"
# What tells a row's file must be the engine's own: an option of the call, or a column of the data, may have taken the name.
_FILE_NAME = re.compile(r"\bfilename\b", re.IGNORECASE)
_OWN_NAMES = frozenset(("filename", FILE_COLUMN))
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")  # each holds all of those before it

_COPIED = re.compile(rf'{INPUT_ALIAS}\."[^"]+"')

_Layer = tuple[tuple[str, str], ...]  # (SQL, name)


def of_any_row(key: str) -> str:
    """SQL for a key that is asked of rows, too, which its model leaves out before it computes the key: NULL where that fails."""
    return key if _COPIED.fullmatch(key) else f"try({key})"


@dataclass(frozen=True)
class KeyPath:
    """One way from a leaf to a model's key: projections from the leaf's rows upward, each a list of (SQL, name).

    `leaf` is a stored model, a landing table, or a call that reads files."""

    leaf: str
    layers: tuple[_Layer, ...]

    @property
    def is_copied(self) -> bool:
        """Whether the key is columns of the leaf as they are."""
        return all(_COPIED.fullmatch(sql) for layer in self.layers for sql, _ in layer)

    @property
    def leaf_columns(self) -> tuple[str, ...]:
        """The columns of the leaf that are the key; none where it is computed."""
        if not self.is_copied:
            return ()
        names = [name for _, name in self.layers[-1]]
        for layer in reversed(self.layers):
            copied = {name: sql.removeprefix(f"{INPUT_ALIAS}.")[1:-1] for sql, name in layer}
            names = [copied[name] for name in names]
        return tuple(names)

    def keys_of(self, rows: str) -> str:
        """SQL for the keys of a leaf's rows, with the file of each beside it; `rows` is a SELECT of the leaf's columns and
        of `FILE_COLUMN`."""
        for layer in self.layers:
            items = ", ".join(f"{of_any_row(sql)} as {quote(name)}" for sql, name in layer)
            rows = f"select {items}, {INPUT_ALIAS}.{quote(FILE_COLUMN)} from ({rows}) as {INPUT_ALIAS}"
        return f"select distinct * from ({rows})"


@dataclass(frozen=True)
class KeyPlan:
    """What an incremental model's update depends on: the inputs in its own text that are read by key, the paths from the
    leaves, and all that is read whole (models, views, landing tables, calls), at any depth. `whole_because`: why the text may not give
    the same for a key when those inputs are tables of the rows that carry it; empty where it does. `is_gathered`: whether its rows come
    out of a hash table, in no order."""

    inputs: tuple[KeyedInput, ...]
    paths: tuple[KeyPath, ...]
    whole: frozenset[str]
    whole_because: str = ""
    is_gathered: bool = False

    @property
    def can_narrow(self) -> bool:
        return not self.whole_because

    @property
    def reads_by_key(self) -> frozenset[str]:
        """What need not be there whole for an update."""
        return frozenset({found.name for found in self.inputs} | {path.leaf for path in self.paths})


def narrow_name(number: int) -> str:
    """The temporary table that replaces an input of which only some rows are wanted, quoted."""
    return quote(f"wh input {number}")


def narrowed(model: Model, inputs: Sequence[KeyedInput]) -> str:
    """A model's SQL with each of `inputs` replaced by the table of `narrow_name`."""
    text, start = body(model.text), first_token(model.text)
    for number, found in sorted(enumerate(inputs), key=lambda item: -item[1].start):
        written = model.text[found.start : found.end].partition("(")[0].rpartition(".")[2].strip().strip('"')
        alias = "" if found.is_aliased else f" as {quote(written)}"
        text = text[: found.start - start] + narrow_name(number) + alias + text[found.end - start :]
    return text


def key_plan(
    con: "duckdb.DuckDBPyConnection", name: str, models: Mapping[str, Model], graph: Graph, columns_of: ColumnsOf
) -> KeyPlan:
    """The plan of one incremental model. Raises WH221 with the clause, its own or a view's, that is not local."""
    resolve = _resolver(models)
    top = locality(con, models[name], graph.trees[name], models[name].key, columns_of)
    if not top.keyed:
        message = f"no input carries {', '.join(models[name].key)}"
        hint = "drop the key and `materialized: incremental` from the header"
        raise models[name].header_fault("WH221", message, "key", hint=hint)
    paths: list[KeyPath] = []
    whole = {resolve(found) for found in top.whole}
    # What the walk did not reach, such as a CTE that is not read, has no effect or is read whole: fail closed.
    whole |= _named(graph, name) - {resolve(found.name) for found in top.keyed}
    pending: list[tuple[KeyedInput, tuple[_Layer, ...]]] = [(found, (_layer(found, models[name].key),)) for found in top.keyed]
    while pending:
        found, layers = pending.pop()
        leaf = resolve(found.name)
        if leaf in models and models[leaf].materialized == "view":
            view = _view_locality(con, models[leaf], graph.trees[leaf], found, columns_of, models[name])
            whole |= {resolve(other) for other in view.whole}
            whole |= _named(graph, leaf) - {resolve(inner.name) for inner in view.keyed}
            pending += [(inner, (_layer(inner, found.columns), *layers)) for inner in view.keyed]
        elif any(read.call == leaf and not read.is_by_file for files in graph.files.values() for read in files):
            whole.add(leaf)
        elif leaf not in models and _hides_its_files(leaf, columns_of):
            whole.add(leaf)  # which file a row is from cannot be asked: the name means something else there
        else:
            paths.append(KeyPath(leaf, layers))
    both = whole & {path.leaf for path in paths}
    if both:
        message = f"{', '.join(sorted(both))} is read by key, and over all keys too"
        raise models[name].header_fault("WH221", message, "key", hint="read it once")
    _check_types(con, models[name], paths, columns_of)
    inputs = tuple(replace(found, name=resolve(found.name)) for found in top.keyed)
    return KeyPlan(inputs, tuple(paths), frozenset(whole), is_gathered=_is_gathered(graph.trees[name]["node"]))


def _is_gathered(node: Node) -> bool:
    is_distinct = any(modifier["type"] == "DISTINCT_MODIFIER" for modifier in node["modifiers"])
    return is_distinct or bool(node.get("group_expressions")) or node.get("aggregate_handling") == "FORCE_AGGREGATES"


def _view_locality(
    con: "duckdb.DuckDBPyConnection", view: Model, tree: Mapping[str, object], found: KeyedInput, columns_of: ColumnsOf,
    reader: Model,
) -> Locality:
    try:
        return locality(con, view, tree, found.columns, columns_of)
    except WarehouseError as error:
        message, _, pointed = error.message.partition("\n")
        told = f"{message} (so {reader.qualified}, which reads {view.qualified}, is not local to its key)"
        hint = f"rewrite the clause, or drop `materialized: incremental` and the key from the header of {reader.place}"
        raise replace(error, message=f"{told}\n{pointed}" if pointed else told, hint=hint) from error


def _hides_its_files(leaf: str, columns_of: ColumnsOf) -> bool:
    return bool(_FILE_NAME.search(leaf) or _OWN_NAMES & {column.lower() for column in columns_of(leaf) or ()})


def _named(graph: Graph, name: str) -> set[str]:
    """All that a model's text names: models, landing tables, calls."""
    return {*graph.models[name], *graph.landing[name], *(read.call for read in graph.files[name])}


def _check_types(
    con: "duckdb.DuckDBPyConnection", model: Model, paths: Sequence[KeyPath], columns_of: ColumnsOf
) -> None:
    """Refuse a key that has another type in an input: '01' and 1 are equal in a join, as keys they are not."""
    import duckdb

    own = {column.lower(): kind for column, kind in (columns_of(model.qualified) or {}).items()}
    for path in paths:
        if path.is_copied and _copied_types(path, columns_of(path.leaf) or {}) == [own[column.lower()] for column in model.key]:
            continue  # the engine need not be asked
        columns = [f"null::{kind} as {quote(column)}" for column, kind in (columns_of(path.leaf) or {}).items()]
        sql = path.keys_of(f"select {', '.join(columns)}, '' as {quote(FILE_COLUMN)}")
        try:
            kinds = list(map(str, con.sql(sql).types))
        except duckdb.Error as error:  # a macro that aggregates
            raise WarehouseError(
                "WH221", f"the key is not computed from one row of {path.leaf}", model.place, "compute it row by row"
            ) from error
        for column, kind, (written, _) in zip(model.key, kinds, path.layers[-1], strict=False):
            wanted = own[column.lower()]
            is_same = kind == wanted or written == "null"
            if not is_same and not (kind in _INTEGERS and wanted in _INTEGERS[_INTEGERS.index(kind) :]):
                message = f"key {column} is {wanted}, but {kind} in {path.leaf}"
                raise WarehouseError("WH221", message, model.place, "cast one: the key is of one type everywhere")


def _copied_types(path: KeyPath, types: Mapping[str, str]) -> list[str | None]:
    """The types of a path's key, all of whose steps copy columns."""
    found: dict[str, str | None] = {f"{INPUT_ALIAS}.{quote(column.lower())}": kind for column, kind in types.items()}
    for layer in path.layers:
        last = [found.get(sql.lower()) for sql, _ in layer]
        found = {f"{INPUT_ALIAS}.{quote(name.lower())}": kind for (_, name), kind in zip(layer, last, strict=True)}
    return last


def _layer(found: KeyedInput, names: Sequence[str]) -> _Layer:
    return tuple(zip(found.key, names, strict=True))


def _resolver(models: Mapping[str, Model]) -> Callable[[str], str]:
    """A table's name as SQL writes it to the key of `models`; what is no model stays."""
    qualified = {model.qualified: name for name, model in models.items()}
    return lambda written: qualified.get(written, written)
