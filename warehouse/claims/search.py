"""Finding the cell that a person means: by number id, by key, or by a number as printed somewhere.

Looks in the store's publications, the last one first, and in the current build's rollups. A cell found in both is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.claims.number import CellArgument, IdArgument, LiteralArgument, NumberArgument, carries, exact, inexact
from warehouse.claims.publication import PublishedCell, PublishedRollup, PublishedRow, publications
from warehouse.errors import ExitCode, WarehouseError
from warehouse.project import Project
from warehouse.transform.builds import find_current

if TYPE_CHECKING:
    import duckdb

_LISTED = 20


@dataclass(frozen=True)
class FoundCell:
    """A cell and where it was found: in a publication, or as a row of the current build's rollup."""

    query: str
    row: PublishedRow
    cell: PublishedCell
    publication: PublishedRollup | None
    rowid: int | None

    @property
    def key(self) -> str:
        """The cell as it can be typed."""
        grain = ",".join(f"{name}={_typed(value)}" for name, value in self.row.grain.items())
        return f"{self.query}[{grain}].{self.cell.column}"


def _typed(value: Any) -> str:
    text = "NULL" if value is None else str(value)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if set(text) & set(',]"=') or text != text.strip() else text


def find_cell(project: Project, argument: NumberArgument) -> FoundCell:
    """The one cell that is meant. Raises WH304 when there is none and WH305, listing them, when there are several."""
    match argument:
        case IdArgument(number_id):
            found = _by_id(project, number_id)
        case CellArgument():
            found = _by_key(project, argument)
        case LiteralArgument():
            found = _by_literal(project, argument)
    if not found:
        raise WarehouseError(
            "WH304", "no published or built cell carries it", _shown(argument),
            _known(project, argument),
            ExitCode.NOT_FOUND,
        )
    if len(found) > 1:
        listed = "\n".join(f"  {cell.cell.number_id}  {cell.cell.value}  {cell.key}" for cell in found[:_LISTED])
        more = f"\n  and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise WarehouseError(
            "WH305", f"{len(found)} cells carry it:\n{listed}{more}", _shown(argument), "name one of them", ExitCode.AMBIGUOUS
        )
    return found[0]


def _known(project: Project, argument: NumberArgument) -> str:
    """What there is instead: query specs, or the columns of the one that was named."""
    rows = {query: row for query, row, _ in _built_rows(project)}
    if isinstance(argument, CellArgument) and argument.query in rows:
        row = rows[argument.query]
        return f"keys: {', '.join(row.grain)}; columns: {', '.join(row.cells)}"
    return f"queries with rows: {', '.join(rows) or 'none'}"


def current_cell(project: Project, query: str, grain: Mapping[str, Any], column: str) -> FoundCell | None:
    """What the cell holds in the current build; None when there is no build or no such row any more."""
    wanted = {name: str(value) for name, value in grain.items() if value is not None}
    for _, row, rowid in _built_rows(project, query):
        if column in row.cells and {n: str(v) for n, v in row.grain.items() if v is not None} == wanted:
            return FoundCell(query, row, row.cells[column], None, rowid)
    return None


def current_numbers(project: Project, query: str) -> frozenset[str]:
    """The number ids that the current build's rollup of a query holds; none when there is no build."""
    cells = (cell for _, row, _ in _built_rows(project, query) for cell in row.cells.values())
    return frozenset(cell.number_id for cell in cells if cell.number_id)


def _shown(argument: NumberArgument) -> str:
    match argument:
        case IdArgument(number_id):
            return number_id
        case LiteralArgument(text, _):
            return text
        case CellArgument(query, grain, column):
            return f"{query}[{','.join(f'{k}={v}' for k, v in grain.items())}].{column}"


def _by_id(project: Project, number_id: str) -> list[FoundCell]:
    published = _published(project, number_id)
    if published:
        return [published]
    return [
        FoundCell(query, row, cell, None, rowid)
        for query, row, rowid in _built_rows(project)
        for cell in row.cells.values()
        if cell.number_id == number_id
    ][:1]


def _published(project: Project, number_id: str) -> FoundCell | None:
    for publication in publications(project):
        for row in publication.rows(carrying=number_id):
            for cell in row.cells.values():
                if cell.number_id == number_id:
                    return FoundCell(str(publication.record["query"]), row, cell, publication, None)
    return None


def _by_key(project: Project, argument: CellArgument) -> list[FoundCell]:
    """In the current build; where that has no such cell, in the last publication of the query."""

    def means(row: PublishedRow) -> bool:
        return argument.column in row.cells and all(_is(row, name, value) for name, value in argument.grain.items())

    found = [
        FoundCell(query, row, row.cells[argument.column], None, rowid)
        for query, row, rowid in _built_rows(project, argument.query)
        if means(row)
    ]
    if found:
        return [_published(project, cell.cell.number_id) or cell if cell.cell.number_id else cell for cell in found[: _LISTED + 1]]
    for publication in publications(project):
        if publication.record["query"] == argument.query:
            return [
                FoundCell(argument.query, row, row.cells[argument.column], publication, None)
                for row in publication.rows() if means(row)
            ]
    return []


def _is(row: PublishedRow, name: str, typed: str) -> bool:
    """Whether a row's column, of its grain or another, reads as typed; `NULL` names no value."""
    if name not in row.grain and name not in row.cells:
        return False
    value = row.grain[name] if name in row.grain else row.cells[name].value
    if value is None or isinstance(value, bool):
        return str(value).lower() == {"null": "none"}.get(typed.lower(), typed.lower())
    return str(value) == typed


def _by_literal(project: Project, argument: LiteralArgument) -> list[FoundCell]:
    found: dict[str, FoundCell] = {}
    for publication in publications(project):
        for row in publication.rows():
            for cell in row.cells.values():
                if cell.number_id and carries(cell.value, argument.value):
                    name = str(publication.record["query"])
                    found.setdefault(cell.number_id, FoundCell(name, row, cell, publication, None))
    for query, row, rowid in _built_rows(project):
        for cell in row.cells.values():
            if cell.number_id and carries(cell.value, argument.value):
                found.setdefault(cell.number_id, FoundCell(query, row, cell, None, rowid))
    return list(found.values())


def _built_rows(project: Project, query: str | None = None) -> Iterator[tuple[str, PublishedRow, int]]:
    """The rows of the current build's rollups, untraced: (query, row, row id)."""
    from warehouse.claims.catalog import read_catalog
    from warehouse.transform.query import open_build

    build = find_current(project)
    if build is None:
        return
    con = open_build(build.path)
    try:
        for model in read_catalog(con).models.values():
            if model.schema == "rollup" and query in (None, model.name):
                yield from _rollup_rows(con, model.name, model.grain)
    finally:
        con.close()


def _rollup_rows(
    con: "duckdb.DuckDBPyConnection", query: str, grain: tuple[str, ...]
) -> Iterator[tuple[str, PublishedRow, int]]:
    from warehouse.transform.duck import quote

    result = con.execute(f"select rowid, * exclude (query_spec_digest) from rollup.{quote(query)} order by rowid")
    columns = [column[0] for column in result.description]
    for row in result.fetchall():
        values = dict(zip(columns, row, strict=True))
        rowid, ids = values.pop("rowid"), values.pop("number_ids")
        cells = {
            name: PublishedCell(name, inexact(exact(value)), ids[name], (), exact(value))
            for name, value in values.items()
            if name not in grain
        }
        forms = {name: exact(values[name]) for name in grain}
        yield query, PublishedRow({name: inexact(form) for name, form in forms.items()}, cells, forms), rowid
