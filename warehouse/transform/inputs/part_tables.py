"""Tables of a build that stay in Parquet parts, which its database shows as views, and what it knows of the keys in them.

Parts lie beside the builds, under `parts/<table>/<sha256>.parquet`, and builds share them. A view names them from the folder of the builds,
so that a project may be moved.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.digest import file_digest
from warehouse.evidence.durable import fsync_folder, make_folder
from warehouse.project.project import Project
from warehouse.transform.finished.builds import checked_parts, copy_file, is_whole, part_path, part_pattern
from warehouse.transform.inputs.made_elsewhere import MadeElsewhere, PartFile, missing
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import parquet, parquet_at, quote, quoted, text_literal

if TYPE_CHECKING:
    import duckdb


def find_parts(con: "duckdb.DuckDBPyConnection", root: Path, builds: Path) -> None:
    """Let a session find files by paths from a project and from the folder of its builds."""
    con.execute(f"set file_search_path = {text_literal(f'{root.resolve()},{builds.resolve()}')}")


def place_parts(made: MadeElsewhere, tables: Mapping[str, str], project: Project) -> None:
    """Put the parts of the tables that stay in parts beside the builds; `tables` are their qualified names. Raises WH105, WH106."""
    checked = checked_parts(project) if made.as_parts else ()
    for name in sorted(made.as_parts):
        for part in made.tables[name]:
            to = project.builds / part_path(tables[name], part.sha256)
            if not is_whole(to, part.sha256, checked):
                _place(part, to)


def _place(part: PartFile, to: Path) -> None:
    """Copy a part. It is no second name of the same file: the store's may be damaged, and goes when nothing needs it there, which would change
    the stamp of this one."""
    make_folder(to.parent)
    scratch = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        try:
            copy_file(part.path, scratch)  # which shares the blocks where the file system can
        except FileNotFoundError as error:
            raise missing(str(part.path)) from error
        except OSError:  # it is on another file system
            shutil.copyfile(part.path, scratch)
        if file_digest(scratch) != part.sha256:
            raise part.altered()
        with open(scratch, "rb") as stream:
            os.fsync(stream.fileno())
        scratch.chmod(0o444)
        os.replace(scratch, to)
    finally:
        scratch.unlink(missing_ok=True)
    fsync_folder(to.parent)


def show_parts(con: "duckdb.DuckDBPyConnection", model: Model, types: Mapping[str, str], parts: Sequence[PartFile]) -> None:
    """Make a view of a table's parts."""
    columns = ", ".join(f"{quote(name)}::{kind} as {quote(name)}" for name, kind in types.items())
    con.execute(f"create view {quoted(model.qualified)} as select {columns} from {rows_of(model.qualified, [part.sha256 for part in parts])}")


def rows_of(table: str, digests: Sequence[str]) -> str:
    """SQL for the rows of some parts of a table."""
    return parquet_at(text_literal(part_pattern(table, sha256)) for sha256 in digests)


def record_keys(con: "duckdb.DuckDBPyConnection", made: MadeElsewhere, tables: Mapping[str, str]) -> None:
    """Record which part has which key (`trace.part_rows`): of partitions that were recorded before nothing is read."""
    con.execute(
        "create table if not exists state.part (task varchar, read varchar, file varchar);"
        "create table if not exists state.part_key (task varchar, path varchar, key ubigint);"
        "create table if not exists state.part_way (path varchar, reader varchar, read varchar, key varchar[], columns varchar[])"
    )
    former = {path for (path,) in con.execute("select path from state.part_way").fetchall()}
    if {way.path for way in made.ways} - former:  # partitions that were recorded before have no keys of it
        con.execute("delete from state.part_key")
    con.execute("delete from state.part; delete from state.part_way")
    parts = [(part.task, tables[name], part.sha256) for name in sorted(made.as_parts) for part in made.tables[name]]
    parts += [(task, table, file) for task, files in made.inputs.items() for table, file in files]
    _insert(con, "state.part", 3, parts)
    con.executemany("insert into state.part_way values (?, ?, ?, ?, ?)", [
        (way.path, way.reader, way.read, list(way.key), list(way.columns)) for way in made.ways
    ])
    now = {part.task: part for part in made.keys}
    con.execute(
        "delete from state.part_key where task not in (select unnest(?::varchar[])) or path not in (select path from state.part_way)", [list(now)]
    )
    there = {task for (task,) in con.execute("select distinct task from state.part_key").fetchall()}
    for task in sorted(now.keys() - there):
        now[task].check()
        con.execute(
            f"insert into state.part_key select ?, path, key from {parquet([now[task].path])}"
            " where path in (select path from state.part_way)", [task],
        )


def forget_keys(con: "duckdb.DuckDBPyConnection") -> None:
    """A build without parts has no keys of them."""
    for name in ("part", "part_key", "part_way"):
        con.execute(f"drop table if exists state.{name}")


def _insert(con: "duckdb.DuckDBPyConnection", table: str, columns: int, rows: Collection[Sequence[str]]) -> None:
    if rows:
        values = [list(column) for column in zip(*rows, strict=True)]
        con.execute(f"insert into {table} select {', '.join(['unnest(?::varchar[])'] * columns)}", values)
