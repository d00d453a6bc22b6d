"""Finding the cell that a person means: by number id, by key, or by a number as printed somewhere.

Looks in the store's publications, the last one first, and in the current build's rollups. A cell found in both is one.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from warehouse.claims.numbers.number import CellArgument, IdArgument, LiteralArgument, NumberArgument, parse_argument
from warehouse.claims.publish.publication import PublishedCell, PublishedRollup, PublishedRow, publications, whole_publications
from warehouse.claims.publish.specification import Units, stored_specification, units_of
from warehouse.digest import canonical_json
from warehouse.errors import ExitCode, WarehouseError, counted, did_you_mean
from warehouse.exact import exact, inexact
from warehouse.project.project import Project
from warehouse.transform.finished.builds import check_current, find_current

if TYPE_CHECKING:
    import duckdb

_LISTED = 20
_OFFERED = 3  # cells of a query
_NEAREST = 6  # numbers; one that is published and built counts twice


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
        return cell_key(self.query, self.row.grain, self.cell.column)


def cell_key(query: str, grain: Mapping[str, Any], column: str) -> str:
    """A cell as it can be typed; times in `grain` are text."""
    keys = ",".join(f"{name}={_typed(value)}" for name, value in grain.items())
    return f"{query}[{keys}].{column}"


def _typed(value: Any) -> str:
    text = "NULL" if value is None else str(value)
    is_text = value is not None and text.lower() == "null"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' if is_text or set(text) & set(',]"=') or text != text.strip() else text


def asked_number(project: Project, text: str) -> NumberArgument:
    """What a person typed, as `parse_argument` has it. Raises WH304; of the name of a query alone, with cells of it."""
    try:
        return parse_argument(text)
    except WarehouseError as error:
        query = text.strip()
        cells = [FoundCell(query, row, cell, None, None) for _, row, _ in built_rows(project, query) for cell in row.cells.values() if cell.number_id]
        if not cells:
            raise
        measured = sorted(cells, key=lambda found: not isinstance(found.cell.value, float))
        listed = "".join(f"\n  {found.cell.number_id}  {found.cell.value}  {found.key}" for found in measured[:_OFFERED])
        others = f"\n  and {len(cells) - _OFFERED:,} more: wh sql 'select * from {query}'" if len(cells) > _OFFERED else ""
        message = "this is a query; a number is one of its cells"
        raise WarehouseError(error.code, message, query, f"name one, such as{listed}{others}", error.exit_code) from None


def find_cell(project: Project, argument: NumberArgument, published: Sequence[PublishedRollup] | None = None) -> FoundCell:
    """The one cell that is meant. `published` are all publications, where the caller has listed them. Raises WH304 when there is none,
    WH305, listing them, when there are several, and WH307 when it may be in a publication that is damaged, and is in none that is
    whole, WH218 when the build is altered."""
    published = publications(project) if published is None else published
    found = find_cells(project, argument, published)
    if len(found) > 1:
        listed = "\n".join(f"  {cell.cell.number_id}  {cell.cell.value}  {cell.key}" for cell in found[:_LISTED])
        more = f"\n  and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise WarehouseError(
            "WH305", f"{len(found)} cells match:\n{listed}{more}", _shown(argument), "name one of them", ExitCode.AMBIGUOUS
        )
    if found[0].publication is None:
        for publication in _of_query(published, found[0].query):  # only when these are whole is it known not to be published
            publication.check()
    return found[0]


def find_cells(project: Project, argument: NumberArgument, published: Sequence[PublishedRollup]) -> list[FoundCell]:
    """All cells that may be meant, at least one. Raises WH304, WH307 and WH218, as `find_cell`."""
    match argument:
        case IdArgument(number_id):
            found = _by_id(project, published, number_id)
        case CellArgument():
            found = _by_key(project, published, argument)
        case LiteralArgument():
            found = _by_literal(project, published, argument)
    if not found:
        damaged = whole_publications(published)[1]
        if damaged:
            count = f"{len(damaged)} publication{'s are' if len(damaged) > 1 else ' is'}"
            raise WarehouseError(
                "WH307", f"no whole publication and no build holds it, and {count} damaged", _shown(argument),
                exit_code=damaged[0].exit_code, also=tuple(damaged),
            )
        check_current(project)  # of a build that is altered nothing is read
        raise WarehouseError(
            "WH304", "no published or built cell holds it", _shown(argument),
            isinstance(argument, LiteralArgument) and _nearest(project, published, argument) or _known(project, argument),
            ExitCode.NOT_FOUND,
        )
    return found


def _known(project: Project, argument: NumberArgument) -> str:
    """What there is instead: query specs, or the columns of the one that was named."""
    rows = {query: row for query, row, _ in built_rows(project)}
    if isinstance(argument, CellArgument) and argument.query in rows:
        row = rows[argument.query]
        if argument.column not in row.cells:
            return _names_like(argument.column, "column", row.cells, argument.query)
        for name in argument.grain:
            if name not in row.grain and name not in row.cells:
                return _names_like(name, "key", row.grain, argument.query)
        return f'no row has these keys: wh sql "select * from {argument.query}" lists the rows'
    slip = did_you_mean(argument.query, rows) if isinstance(argument, CellArgument) else None
    return slip or f"queries with rows: {', '.join(rows) or 'none'}"


def _names_like(name: str, kind: str, known: Collection[str], query: str) -> str:
    """The one of `known` that `name` is a slip for, or the few that are nearest to it."""
    from difflib import get_close_matches  # 5 ms that only a fault needs

    near = get_close_matches(name, known, n=_NEAREST, cutoff=0)
    others = f", and {counted(len(known) - len(near), 'other')}: wh describe {query} lists all" if len(known) > len(near) else ""
    return did_you_mean(name, known) or f"there is no {kind} {name}; the nearest are: {', '.join(near)}{others}"


def current_cell(project: Project, query: str, grain: Mapping[str, Any], column: str) -> FoundCell | None:
    """What the cell holds in the current build; None when there is no build or no such row any more."""
    wanted = _stated(grain)
    for _, row, rowid in built_rows(project, query, lambda found: _stated(found) == wanted, grain, column=column):
        if column in row.cells:
            return FoundCell(query, row, row.cells[column], None, rowid)
    return None


def _stated(grain: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in grain.items() if value is not None}


def current_numbers(project: Project, query: str) -> frozenset[str]:
    """The number ids that the current build's rollup of a query has; none when there is no build."""
    from warehouse.transform.finished.query import open_build
    from warehouse.transform.sql.duck import quote

    build = find_current(project)
    if build is None:
        return frozenset()
    con = open_build(build.path)
    try:
        numbers = set[str]()
        if not con.execute("select 1 from catalog.model where schema_name = 'rollup' and name = ?", [query]).fetchall():
            return frozenset()
        found = con.execute(f"select number_ids from rollup.{quote(query)}")
        while rows := found.fetchmany(1000):
            numbers.update(number for (ids,) in rows for number in ids.values() if number)
        return frozenset(numbers)
    finally:
        con.close()


def _shown(argument: NumberArgument) -> str:
    match argument:
        case IdArgument(number_id):
            return number_id
        case LiteralArgument():
            return argument.text
        case CellArgument(query, grain, column):
            return f"{query}[{','.join(f'{k}={_typed(v)}' for k, v in grain.items())}].{column}"


def _by_id(project: Project, published: Sequence[PublishedRollup], number_id: str) -> list[FoundCell]:
    cell = published_number(published, number_id)
    if cell:
        return [cell]
    return [
        FoundCell(query, row, cell, None, rowid)
        for query, row, rowid in built_rows(project, number_id=number_id)
        for cell in row.cells.values()
        if cell.number_id == number_id
    ][:1]


def published_cell(published: Sequence[PublishedRollup], cell: FoundCell) -> FoundCell | None:
    """What a cell holds in the last of the publications of its query that has the cell; None when none has. Raises WH307 when one
    that may be later is damaged."""
    forms, column = cell.row.grain_forms, cell.cell.column
    for publication in _of_query(published, cell.query):
        publication.check()
        for row in publication.rows(carrying=canonical_json(dict(forms)).decode()):
            if row.grain_forms == forms and column in row.cells:
                return FoundCell(cell.query, row, row.cells[column], publication, None)
    return None


def _of_query(published: Sequence[PublishedRollup], query: str) -> list[PublishedRollup]:
    """The publications of a query, and those so damaged that nothing says which query they are of."""
    return [each for each in published if each.query in (None, query)]


def published_number(published: Sequence[PublishedRollup], number_id: str) -> FoundCell | None:
    """The number in the first of the publications that holds it and is whole."""
    for publication in published:
        with suppress(WarehouseError):
            for row in publication.rows(carrying=number_id):
                publication.check()  # only one that holds it: to hash all of them takes long
                for cell in row.cells.values():
                    if cell.number_id == number_id:
                        return FoundCell(str(publication.record["query"]), row, cell, publication, None)
    return None


def _by_key(project: Project, published: Sequence[PublishedRollup], argument: CellArgument) -> list[FoundCell]:
    """The cells that are meant, as the query's last publication holds them, and those that only the current build holds; if
    it holds none, those of the last publication that has any. Raises WH307 when a publication that may be later is damaged."""

    def means(row: PublishedRow) -> bool:
        return argument.column in row.cells and all(_is(row, name, value) for name, value in argument.grain.items())

    built = [
        FoundCell(query, row, row.cells[argument.column], None, rowid)
        for query, row, rowid in built_rows(project, argument.query)
        if means(row)
    ]
    found: dict[frozenset[tuple[str, str]], FoundCell] = {}
    if not (len(built) == 1 and argument.grain.keys() == built[0].row.grain.keys()):  # else no other cell can be meant
        for publication in _of_query(published, argument.query):
            publication.check()
            for row in publication.rows():
                if means(row):
                    found[_cell_key(row)] = FoundCell(argument.query, row, row.cells[argument.column], publication, None)
            if found or built:
                break
    for cell in built:
        found.setdefault(_cell_key(cell.row), cell)
    cells = list(found.values())
    if len(cells) == 1 and cells[0].publication is None:  # an earlier publication may have it
        return [published_cell(published, cells[0]) or cells[0]]
    return cells


def _cell_key(row: PublishedRow) -> frozenset[tuple[str, str]]:
    return frozenset(_stated(row.grain).items())


def _is(row: PublishedRow, name: str, typed: str | None) -> bool:
    """Whether a row's column, of its grain or another, reads as typed; None is no value."""
    if name not in row.grain and name not in row.cells:
        return False
    value = row.grain[name] if name in row.grain else row.cells[name].value
    if value is None or typed is None:
        return value is typed
    return str(value).lower() == typed.lower() if isinstance(value, bool) else str(value) == typed


def _by_literal(project: Project, published: Sequence[PublishedRollup], argument: LiteralArgument) -> list[FoundCell]:
    """In every whole publication, and in the current build: the cells that hold just this number, or else those that read as it."""
    exactly: dict[str | None, FoundCell] = {}
    rounded: dict[str | None, FoundCell] = {}
    for each, unit in _numbers(project, published):
        if argument.carried_by(each.cell.value, unit):
            (exactly if argument.is_just(each.cell.value, unit) else rounded).setdefault(each.cell.number_id, each)
    return list((exactly or rounded).values())


def _nearest(project: Project, published: Sequence[PublishedRollup], argument: LiteralArgument) -> str:
    """The cells whose values are nearest to a number that none carries, as a hint."""
    by_distance = (
        (distance, found) for found, unit in _numbers(project, published)
        if (distance := argument.distance(found.cell.value, unit)) is not None
    )
    nearest = heapq.nsmallest(_NEAREST, by_distance, key=lambda pair: pair[0])
    listed = dict.fromkeys(f"\n  {found.cell.number_id}  {found.cell.value}  {found.key}" for _, found in nearest)
    return f"the nearest are:{''.join(listed)}" if listed else ""


def _numbers(project: Project, published: Sequence[PublishedRollup]) -> Iterator[tuple[FoundCell, str | None]]:
    """Every number of the whole publications and of the current build, with its unit."""
    for publication in whole_publications(published)[0]:
        units = units_of(stored_specification(project, str(publication.record["query_spec_digest"])).document)
        for row in publication.rows():
            for cell in row.cells.values():
                if cell.number_id:
                    yield FoundCell(str(publication.record["query"]), row, cell, publication, None), units.of_cell(cell.column, row)
    built = _built_units(project)
    for query, row, rowid in built_rows(project):
        for cell in row.cells.values():
            if cell.number_id:
                yield FoundCell(query, row, cell, None, rowid), built[query].of_cell(cell.column, row)


def units_by_cell(project: Project) -> Callable[[FoundCell], Units]:
    """What gives the units of a found cell's query: by the spec of its publication, or of the current build."""
    built: dict[str, Units] = {}

    def units(found: FoundCell) -> Units:
        if found.publication:
            return units_of(stored_specification(project, str(found.publication.record["query_spec_digest"])).document)
        if found.query not in built:
            built.update(_built_units(project, found.query))
        return built.get(found.query, Units())

    return units


def _built_units(project: Project, query: str | None = None) -> Mapping[str, Units]:
    """The units of the current build's rollups, or of one, by query."""
    from warehouse.transform.finished.query import open_build

    if (build := find_current(project)) is None:
        return {}
    con = open_build(build.path)
    try:
        sql = "select name, specification from catalog.model where schema_name = 'rollup' and name = coalesce(?, name)"
        found = con.execute(sql, [query]).fetchall()
        return {name: units_of(json.loads(specification)) for name, specification in found}
    finally:
        con.close()


def built_rows(
    project: Project, query: str | None = None, is_wanted: Callable[[Mapping[str, Any]], bool] = lambda grain: True,
    texts: Mapping[str, Any] = MappingProxyType({}), number_id: str = "", column: str | None = None,
) -> Iterator[tuple[str, PublishedRow, int]]:
    """The rows of the current build's rollups whose grain is wanted, untraced: (query, row, row id), of all cells or that of one column. Of
    `texts`, those that are text must be in the columns of the grain that they name, and some number's id must have `number_id` in it: this
    the engine finds, without reading other rows."""
    from warehouse.transform.finished.query import open_build

    build = find_current(project)
    if build is None:
        return
    con = open_build(build.path)
    try:
        rollups = con.execute("select name, grain from catalog.model where schema_name = 'rollup' order by rowid").fetchall()
        for name, grain in rollups:
            if query in (None, name):
                yield from _rollup_rows(con, name, tuple(grain), is_wanted, texts, number_id, column)
    finally:
        con.close()


def _rollup_rows(
    con: "duckdb.DuckDBPyConnection", query: str, grain: tuple[str, ...], is_wanted: Callable[[Mapping[str, Any]], bool],
    texts: Mapping[str, Any], number_id: str, column: str | None,
) -> Iterator[tuple[str, PublishedRow, int]]:
    from warehouse.transform.sql.duck import quote, text_literal

    given = {name: value for name, value in texts.items() if name in grain and isinstance(value, str)}
    # A value of another type reads as text in another way here than in the engine.
    same = [f"(typeof({quote(name)}) <> 'VARCHAR' or {quote(name)} = ?)" for name in given]
    conditions = [*same, *(["contains(number_ids::varchar, ?)"] if number_id else [])]
    narrowed = f"where {' and '.join(conditions)}" if conditions else ""
    read = "* exclude (query_spec_digest)"
    if column is not None:  # all columns take the engine twice as long
        read = f"columns(lambda name: name in [{', '.join(map(text_literal, (*grain, column, 'number_ids')))}])"
    result = con.execute(
        f"select rowid, {read} from rollup.{quote(query)} {narrowed} order by rowid",
        [*given.values(), *([number_id] if number_id else [])],
    )
    columns = [column[0] for column in result.description]
    for row in result.fetchall():
        values = dict(zip(columns, row, strict=True))
        rowid, ids = values.pop("rowid"), values.pop("number_ids")
        forms = {name: exact(values[name]) for name in grain}
        found = {name: inexact(form) for name, form in forms.items()}
        if not is_wanted(found):
            continue
        cells = {
            name: PublishedCell(name, inexact(exact(value)), ids[name], (), exact(value))
            for name, value in values.items()
            if name not in grain
        }
        yield query, PublishedRow(found, cells, forms), rowid
