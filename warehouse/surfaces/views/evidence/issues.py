"""Issues of ingest: what could not be read or looks odd, of one bundle or of all. In a project of its own there may be no table of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.surfaces.parts import Column, Table, without_empty
from warehouse.surfaces.view import Visit, address
from warehouse.surfaces.views.evidence.shown_bytes import FILE
from warehouse.transform.finished.query import open_build
from warehouse.transform.sql.duck import quoted

_TABLE = "ingest_issue"
_COLUMNS = ("severity", "code", "message", "raw_path", "line_number", "raw_offset", "run_id", "family", "artifact_manifest_digest")
_GROUP = ("severity", "family", "code")
_OF_GROUP = "/ingest?severity={severity}&family={family}&code={code}"
_ISSUES = 100
_SEVERITY = "array_position(['error', 'warning', 'note'], severity)"
_NO_TABLE = f"nothing is built, or this project has no table {_TABLE}"


def bundle_issues(visit: Visit, digest: str) -> Table:
    """The issues of one bundle."""
    return issue_list(visit, {"artifact_manifest_digest": digest}, 0, None)


def issue_list(visit: Visit, where: Mapping[str, str], offset: int, more: str | None) -> Table:
    """The issues whose columns have these values, the worst first; `more` is where the next are, with `{offset}` in it."""
    condition = " and ".join(f"{name} = ?" for name in where) or "true"
    listed = ", ".join(_COLUMNS)
    sql = (
        f"select {listed}, count(*) over () from {{table}} where {condition}"
        f" order by {_SEVERITY}, artifact_manifest_digest, raw_path, raw_offset, code, message limit {_ISSUES} offset {int(offset)}"
    )
    found = _rows(visit, sql, list(where.values()))
    rows = tuple(tuple(row[:-1]) for row in found or ())
    total = int(found[0][-1]) if found else 0
    columns = (
        Column("severity", kind="state"), Column("code", kind="code"), Column("message"),
        Column("raw_path", "file", link=FILE.replace("{bundle}", "{artifact_manifest_digest}") + "?offset={raw_offset}"),
        Column("line_number", "line", "number", is_minor=True), Column("raw_offset", "byte", "number", is_minor=True),
        Column("run_id", "run", "code", link="/runs/{run_id:path}", is_minor=True), Column("family", is_minor=True),
        Column("artifact_manifest_digest", "bundle", "code", link="/evidence/{artifact_manifest_digest}", is_hidden="family" not in where),
    )
    next_page = more.replace("{offset}", str(offset + _ISSUES)) if more and offset + _ISSUES < total else None
    empty = "no issue" if found is not None else _NO_TABLE
    return Table("issues", without_empty(columns, rows), rows, "Issues", empty=empty, total=total, more=next_page)


def issue_groups(visit: Visit) -> Table:
    """How many issues there are of each severity, family and code, and an example of a file."""
    sql = (
        f"select {', '.join(_GROUP)}, count(*), count(distinct artifact_manifest_digest), min(message), arg_min(raw_path, message) from {{table}}"
        f" group by {', '.join(_GROUP)} order by {_SEVERITY}, 4 desc, family, code"
    )
    found = _rows(visit, sql, [])
    columns = (
        Column("severity", kind="state"), Column("family"), Column("code", kind="code", link=_OF_GROUP),
        Column("issues", kind="number", link=_OF_GROUP), Column("bundles", kind="number"),
        Column("example", is_minor=True), Column("file", "in", is_minor=True),
    )
    rows = tuple(tuple(row) for row in found or ())
    return Table("groups", columns, rows, "Issues", empty="no issue" if found is not None else _NO_TABLE)


def filtered(given: Mapping[str, str | None], offset: int) -> tuple[dict[str, str], str]:
    """The columns that were asked for with their values, and the address of the next page with `{offset}` in it."""
    where = {name: value for name in _GROUP if (value := given.get(name))}
    return where, address("/ingest", **where, offset="OFFSET").replace("OFFSET", "{offset}")


def _rows(visit: Visit, sql: str, parameters: Sequence[str]) -> list[tuple[Any, ...]] | None:
    """What the build's table of issues says; None where there is none."""
    if visit.build is None:
        return None
    con = open_build(visit.build.path)
    try:
        found = con.execute(
            "select schema_name || '.' || name, (select list(column_name) from information_schema.columns where table_schema = schema_name"
            " and table_name = name) from catalog.model where name = ?", [_TABLE],
        ).fetchall()
        if not found or not set(_COLUMNS) <= set(found[0][1] or ()):
            return None
        rows: list[tuple[Any, ...]] = con.execute(sql.replace("{table}", quoted(found[0][0])), list(parameters)).fetchall()
        return rows
    finally:
        con.close()
