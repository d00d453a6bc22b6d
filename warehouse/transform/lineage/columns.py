"""Column lineage: for every column of every model, the columns it is computed from and those that decide its rows.

A pure function of a checked project and the landing schemas; no build and no data is needed. A query whose plan is not
understood is reported as unknown, and then depends on all that it reads: too much is reported rather than too little.
"""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.errors import ExitCode, WarehouseError
from warehouse.transform.lineage.column_expressions import Note, NotUnderstood, nothing_else
from warehouse.transform.lineage.column_sources import query_relation
from warehouse.transform.lineage.derived import ROWS, ColumnRef, Relation
from warehouse.transform.project.feeds import FEED_SCHEMA
from warehouse.transform.sql.file_calls import file_calls, without_file_calls

if TYPE_CHECKING:
    import duckdb

    from warehouse.project.project import Project
    from warehouse.transform.check.checked_project import CheckedProject

VALUE = "value"  # the source flows into the value: copied, or through an expression, an aggregate, a window's argument
CONDITION = "condition"  # the source decides which rows there are, or which of them a value is taken from
UNKNOWN = "unknown"  # the query was not understood: the source is among all that it reads
KINDS = (VALUE, CONDITION, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Edge:
    """`target` is computed from `source`. `is_copy`: the value is taken over as it is."""

    source: ColumnRef
    target: ColumnRef
    kind: str
    is_copy: bool = False


@dataclass(frozen=True)
class ColumnGraph:
    """The columns of every table, in order, and the edges into every column of a model. A table's rows are a column of
    their own (`ROWS`): every column of a model has an edge from them. `unknown` says of which models nothing more is
    known than what they read, and why. Landing tables and calls that read files have no edges."""

    columns: Mapping[str, tuple[str, ...]]
    sources: Mapping[ColumnRef, tuple[Edge, ...]]
    unknown: Mapping[str, str]

    @cached_property
    def dependents(self) -> Mapping[ColumnRef, tuple[Edge, ...]]:
        """The edges out of every column."""
        found: dict[ColumnRef, list[Edge]] = {}
        for edges in self.sources.values():
            for edge in edges:
                found.setdefault(edge.source, []).append(edge)
        return {source: tuple(edges) for source, edges in found.items()}

    def walk(self, *starts: ColumnRef, down: bool = False, kinds: Container[str] = KINDS) -> Iterator[Edge]:
        """All edges of these kinds that lead to `starts`, at any distance, nearest first; with `down`, away from
        them."""
        edges = self.dependents if down else self.sources
        seen, waiting = set(starts), list(starts)
        for column in waiting:
            for edge in edges.get(column, ()):
                if edge.kind in kinds:
                    yield edge
                    following = edge.target if down else edge.source
                    if following not in seen:
                        seen.add(following)
                        waiting.append(following)

    def conditions(self, start: ColumnRef) -> list[ColumnRef]:
        """The columns and rows without sources of their own (of landing tables, of calls that read files) that decide
        where `start` has a value and from which rows it is taken: all that lie behind a condition."""
        values = {start, *(edge.source for edge in self.walk(start, kinds=(VALUE,)))}
        deciding = {edge.source for column in values for edge in self.sources.get(column, ()) if edge.kind != VALUE}
        behind = deciding.union(edge.source for edge in self.walk(*deciding))
        return sorted(column for column in behind if column not in self.sources)

    def find(self, text: str) -> tuple[str, str | None]:
        """The table, or table and column, that `text` names; the schema may be left out and case does not matter.
        Raises WH203 (no such table) and WH204 (no such column)."""
        tables = {table.lower(): table for table in self.columns}
        models = {column.table for column in self.sources}
        # By its bare name a feed is found last.
        for model in sorted(models, key=lambda model: model.startswith(f"{FEED_SCHEMA}.")):
            tables.setdefault(model.rpartition(".")[2].lower(), model)
        if text.lower() in tables:
            return tables[text.lower()], None
        head, _, column = text.rpartition(".")
        if head.lower() not in tables:
            is_schema = any(model.startswith(f"{head.lower()}.") for model in models)
            asked = text if is_schema or not head else head
            raise _not_found("WH203", f"no model, feed or landing table is named {asked}", text, asked, tables)
        table = tables[head.lower()]
        columns = {name.lower(): name for name in (*self.columns[table], ROWS)}
        if column.lower() not in columns:
            raise _not_found("WH204", f"{table} has no column {column}", text, column, columns)
        return table, columns[column.lower()]


def _not_found(code: str, message: str, text: str, asked: str, known: Iterable[str]) -> WarehouseError:
    near = difflib.get_close_matches(asked.lower(), known, n=1)
    return WarehouseError(code, message, text, f"did you mean {near[0]}?" if near else None, ExitCode.NOT_FOUND)


def project_columns(project: "Project") -> ColumnGraph:
    """The column lineage of a project as its files are now. Raises what the check raises."""
    from warehouse.transform.check.project_check import check_project
    from warehouse.transform.inputs.landing_tables import project_landing_types

    landing = project_landing_types(project)
    return column_graph(check_project(project, landing).sound(), landing, project.root)


def column_graph(
    checked: "CheckedProject", landing: Mapping[str, Mapping[str, str]], root: Path = Path(), values_of: ColumnRef | None = None
) -> ColumnGraph:
    """The column lineage of a checked project. `landing` gives the landing tables' columns (name to type); file paths are
    from `root`. With `values_of` only the models that a value of this column comes through are looked into."""
    from warehouse.transform.check.project_check import create_schemas
    from warehouse.transform.inputs.landing_tables import open_landing_table
    from warehouse.transform.inputs.sources import open_remote
    from warehouse.transform.sql.duck import connect, quote, quoted

    con = connect(files_root=root)
    create_schemas(con)
    for table, types in landing.items():
        open_landing_table(con, table, types, ())
    columns = {table: tuple(types) for table, types in landing.items()}
    sources: dict[ColumnRef, tuple[Edge, ...]] = {}
    unknown: dict[str, str] = {}
    for name in checked.graph.order:
        qualified, types = checked.models[name].qualified, checked.columns[name]
        columns[qualified] = tuple(types)
        listed = ", ".join(f"{quote(column)} {kind}" for column, kind in types.items())
        # A table also for a view: the lineage of what reads it must stop at its columns.
        con.execute(f"create table {quoted(qualified)} ({listed})")
    wanted = {values_of} if values_of else None
    for name in reversed(checked.graph.order) if wanted else checked.graph.order:
        model, types = checked.models[name], checked.columns[name]
        if wanted is not None and not any(ColumnRef(model.qualified, column) in wanted for column in types):
            continue
        for read in checked.graph.files[name]:
            open_remote(con, read.patterns)
        try:
            edges = _edges(model.qualified, tuple(types), relation_of(con, model.text))
        except NotUnderstood as reason:
            unknown[model.qualified] = str(reason)
            tables = [checked.models[parent].qualified for parent in checked.graph.models[name]]
            tables += [*checked.graph.landing[name], *file_calls(con, model.text)]
            everything = [ColumnRef(table, column) for table in tables for column in (*columns.get(table, ()), ROWS)]
            edges = _unknown_edges(model.qualified, tuple(types), sorted(everything))
        sources.update(edges)
        if wanted is not None:
            wanted |= {edge.source for target in wanted & edges.keys() for edge in edges[target] if edge.kind == VALUE}
    con.close()
    return ColumnGraph({**columns, **_called(sources, columns)}, sources, unknown)


def relation_of(con: "duckdb.DuckDBPyConnection", sql: str, note: Note = nothing_else) -> Relation:
    """The columns of one query, as `query_relation` gives them; of one that reads files, too. Raises `NotUnderstood`."""
    import duckdb

    try:
        return query_relation(con, sql, note)
    except NotUnderstood:
        if not file_calls(con, sql):
            raise
    try:
        return query_relation(con, without_file_calls(con, sql), note)
    except duckdb.Error as error:
        raise NotUnderstood("a call that reads files is not valid alone") from error


def _edges(table: str, names: tuple[str, ...], relation: Relation) -> dict[ColumnRef, tuple[Edge, ...]]:
    if len(relation.columns) != len(names):
        raise NotUnderstood(f"{len(relation.columns)} columns were found, not {len(names)}")
    if ROWS in names:
        raise NotUnderstood(f'a column is named "{ROWS}"')
    rows = ColumnRef(table, ROWS)
    edges = {}
    for name, found in zip(names, relation.columns, strict=True):
        target = ColumnRef(table, name)
        values = sorted(found.copied | found.computed)
        # What decides the table's rows reaches the column through them; said again only where there is nothing else.
        conditions = found.conditions - relation.rows if values else found.conditions
        edges[target] = (
            *(Edge(source, target, VALUE, is_copy=source not in found.computed) for source in values),
            *(Edge(source, target, CONDITION) for source in sorted(conditions)),
            Edge(rows, target, CONDITION),
        )
    return {**edges, rows: tuple(Edge(source, rows, CONDITION) for source in sorted(relation.rows))}


def _unknown_edges(table: str, names: tuple[str, ...], read: list[ColumnRef]) -> dict[ColumnRef, tuple[Edge, ...]]:
    targets = [ColumnRef(table, name) for name in (*names, ROWS)]
    return {target: tuple(Edge(source, target, UNKNOWN) for source in read) for target in targets}


def _called(
    sources: Mapping[ColumnRef, tuple[Edge, ...]], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """The calls that read files, and the columns of each that models use."""
    called: dict[str, set[str]] = {}
    for edge in (edge for edges in sources.values() for edge in edges):
        if edge.source.table not in known:
            called.setdefault(edge.source.table, set()).add(edge.source.column)
    return {call: tuple(sorted(used - {ROWS})) for call, used in sorted(called.items())}
