"""Dimensions: workloads, hardware and software. Each row with its columns and units, the runs that used it, and how its nearest sibling
differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.names import model_name
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.surfaces.parts import Column, Fact, Facts, Page, Part, Table, Text, without_empty
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.facts.reading import Reader, reader
from warehouse.surfaces.views.facts.run_names import named, run_names
from warehouse.surfaces.views.facts.runs import DIMENSIONS, STATE_SQL, label_sql, runs_table
from warehouse.transform.finished.role_tables import RoleTable
from warehouse.transform.project.model import RUNS
from warehouse.transform.sql.duck import quote

_MOST = 100
_SIBLINGS = 2000  # rows among which the nearest is looked for
_RUNS = 20


@dataclass(frozen=True)
class _Subject:
    """A dimension as pages show it: its name in `DIMENSIONS`, its address, what one and many are called, and the columns of its list."""

    name: str
    path: str
    one: str
    many: str
    listed: tuple[str, ...]

    @property
    def key(self) -> str:
        return DIMENSIONS[self.name][0]

    @property
    def table(self) -> str:
        return DIMENSIONS[self.name][1]


_SUBJECTS = (
    _Subject(
        "workload", "/workloads", "Workload", "Workloads", ("protocol", "deployment_model", "prompt_distribution", "completion_distribution")
    ),
    _Subject(
        "hardware", "/hardware", "Hardware", "Hardware",
        ("gpu_model", "gpu_count", "node_count", "system_name", "network_fabric"),
    ),
    _Subject(
        "software", "/software", "Software", "Software",
        ("server_version", "runtime_version", "cuda_version", "driver_version", "operating_system"),
    ),
)


def _list(subject: _Subject, visit: Visit) -> Page:
    with reader(visit) as found:
        runs, columns = runs_table(found), found.columns(subject.table)
        if subject.key not in columns:
            raise _no_table(subject)
        listed = [name for name in subject.listed if name in columns]
        label = label_sql(found, subject.name)
        used = f"select {subject.key} as key, count(*) as runs, max(started_at) as last_at from {runs.sql} group by 1"
        first = visit["offset"]
        order = "runs desc nulls last" if visit["sort"] == "runs" else "last_at desc nulls last"
        shown = ", ".join(f"{subject.name}.{quote(name)}" for name in listed)
        rows = found.rows(
            f"select {subject.name}.{subject.key} as key, {label} as name{', ' + shown if shown else ''},"
            " coalesce(used.runs, 0) as runs, used.last_at"
            f" from {subject.table} as {subject.name} left join ({used}) as used on used.key = {subject.name}.{subject.key}"
            f" order by {order}, key limit {_MOST} offset {first}"
        )
        ((total,),) = found.con.execute(f"select count(*) from {subject.table}").fetchall()
        units = found.described(subject.table)
    more = address(subject.path, **{**visit.values, "offset": first + _MOST}) if total > first + len(rows) else None
    table_columns = (
        Column("name", subject.one.lower(), link=f"{subject.path}/{{key}}"), Column("key", kind="code"),
        *(Column(name, unit=units.get(name, (None, ""))[0]) for name in listed),
        Column("runs", kind="number", link=f"/runs?{subject.name}={{key}}"), Column("last_at", "last run", kind="moment"),
    )
    shown_rows = tuple((_named(subject, row), *(row[column.name] for column in table_columns[1:])) for row in rows)
    order = "those with the most runs first" if visit["sort"] == "runs" else "the last used first"
    read = without_empty(table_columns, shown_rows)
    empty = "there are no more" if total else "no run states any"
    return Page(
        subject.many, (Table(subject.path[1:], read, shown_rows, total=total, more=more, empty=empty),),
        f"{total:,} that runs state, {order}", next_steps={"All runs": "/runs", "A metric over time": "/explore"},
    )


def _named(subject: _Subject, row: Mapping[str, Any], label: str | None = None) -> str:
    """What names a row, else the first of what is stated of it."""
    if found := label or row.get("name"):
        return model_name(str(found)) if subject.name == "workload" else str(found)
    names = [name for name in dict.fromkeys((*subject.listed, *row)) if not name.endswith(("key", "digest", "document", "name", "runs", "last_at"))]
    stated = [_said(name, row[name]) for name in names if row.get(name) not in (None, "")]
    return " · ".join(stated[:2]) or "not named"


def _said(name: str, value: Any) -> str:
    if name.endswith("_count") and isinstance(value, int):
        return counted(value, name.removesuffix("_count").replace("_", " ").replace("gpu", "GPU"))
    return f"{name.replace('_', ' ')} {value}"


def _one(subject: _Subject, visit: Visit) -> Page:
    with reader(visit) as found:
        runs, key = runs_table(found), visit["key"]
        if subject.key not in found.columns(subject.table):
            raise _no_table(subject)
        row = next(iter(found.by_key(subject.table, subject.key, key, 1)), None)
        if row is None:
            message = f"the build has no {subject.one.lower()} with this key"
            raise WarehouseError("WH502", message, printable(key), f"{subject.path} lists all", ExitCode.NOT_FOUND)
        described = found.described(subject.table)
        words = label_sql(found, subject.name)
        label = found.rows(f"select {words} as label from {subject.table} as {subject.name} where {subject.key} = ?", [key])
        parts: list[Part] = [_facts(subject, row, described), *_packages(subject, found, key), *_document(row)]
        parts += [_runs(subject, found, runs, key), *_sibling(subject, found, row, described)]
        missing = [name for name, value in row.items() if value is None]
    if missing:
        parts.append(Text("not_stated", ", ".join(name.replace("_", " ") for name in missing), title="What no evidence states of it"))
    return Page(
        _named(subject, row, label[0]["label"]), tuple(parts), f"{subject.one.lower()} {key}", crumbs=((subject.many, subject.path),),
        next_steps={"All its runs": address("/runs", **{subject.name: key}), "The table": address("/catalogue/{table}", table=subject.table)},
    )


def _no_table(subject: _Subject) -> WarehouseError:
    hint = f"{subject.table} with the column {subject.key} is where the standard project has it"
    return WarehouseError("WH501", f"this project has no table of its {subject.many.lower()}", subject.table, hint)


def _facts(subject: _Subject, row: Mapping[str, Any], described: Mapping[str, tuple[str | None, str]]) -> Facts:
    stated = [name for name, value in row.items() if value is not None and name not in ("workload_document",)]
    return Facts("row", tuple(
        Fact(
            name, row[name], described.get(name, (None, ""))[0], kind="code" if name == subject.key or name.endswith("digest") else "text",
            note=described.get(name, (None, ""))[1].partition(";")[0],
        )
        for name in stated
    ))


def _packages(subject: _Subject, found: Reader, key: str) -> Iterator[Table]:
    """The components of a software bundle."""
    rows = found.by_key("main.software_package_dim", "software_version_key", key, _MOST * 5) if subject.name == "software" else []
    if rows:
        columns = (Column("component"), Column("version"), Column("stated_as", "as stated"))
        yield Table("components", columns, tuple(tuple(row.get(column.name) for column in columns) for row in rows), "Components", listed=_MOST)


def _document(row: Mapping[str, Any]) -> Iterator[Text]:
    """A workload's frozen document, as it is digested, indented."""
    text = row.get("workload_document")
    if not isinstance(text, str):
        return
    try:
        shown = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        shown = text
    cut = shown if len(shown) <= 20_000 else f"{shown[:20_000]}\n… cut: the table has it whole"
    yield Text("document", cut, "raw", "The frozen document")


def _runs(subject: _Subject, found: Reader, table: RoleTable, key: str) -> Table:
    rows = found.rows(
        f"select run_id, started_at, {STATE_SQL} as state, benchmark_case_id as \"case\" from {table.sql} as run where {subject.key} = ?"
        f" order by started_at desc nulls last, run_id limit {_RUNS}", [key],
    )
    ((total,),) = found.con.execute(f"select count(*) from {table.sql} where {subject.key} = ?", [key]).fetchall()
    names = run_names(found, table, [row["run_id"] for row in rows])
    columns = (
        Column("name", "run", link="/runs/{run_id:path}", below="run_id"), Column("run_id", kind="code", is_hidden=True),
        Column("started_at", kind="moment"), Column("state", kind="state"), Column("case", is_minor=True),
    )
    more = address("/runs", **{subject.name: key}) if total > len(rows) else None
    shown = tuple((named(names, row["run_id"]), *row.values()) for row in rows)
    return Table("runs", columns, shown, "Its runs, the newest first", total=total, more=more)


def _sibling(
    subject: _Subject, found: Reader, row: Mapping[str, Any], described: Mapping[str, tuple[str | None, str]]
) -> Iterator[Table]:
    """The row that differs in the fewest columns, and in what."""
    names = [name for name in row if name != subject.key and "digest" not in name and name != "workload_document"]
    if not names:
        return
    unlike = " + ".join(f"({quote(name)} is distinct from ?)::int" for name in names)
    nearest = found.rows(
        f"select *, {unlike} as unlike from (from {subject.table} order by {subject.key} limit {_SIBLINGS}) where {subject.key} <> ?"
        f" order by unlike, {subject.key} limit 1", [*(row[name] for name in names), row[subject.key]],
    )
    if not nearest:
        return
    other = nearest[0]
    columns = (
        Column("called", "column"), Column("this"), Column("sibling", link=f"{subject.path}/{{key}}"), Column("unit"),
        Column("key", is_hidden=True), Column("name", is_hidden=True),
    )
    rows = tuple(
        (name.replace("_", " "), "not stated" if row[name] is None else row[name], "not stated" if other[name] is None else other[name],
         described.get(name, (None, ""))[0], other[subject.key], name)
        for name in names if row[name] != other[name]
    )
    if not rows and row.get("workload_document") != other.get("workload_document"):
        name = "workload_document"
        rows = ((name.replace("_", " "), "its own", "another, equal in these columns", None, other[subject.key], name),)
    yield Table("sibling", columns, rows, "What differs to its nearest sibling", empty="nothing but the digest")


def _views(subject: _Subject) -> tuple[View, ...]:
    return (
        View(
            subject.path[1:], subject.path, subject.many, f"The {subject.many.lower()} that runs state, with how many runs each has.",
            lambda visit: _list(subject, visit), (
                Parameter("sort", "What comes first: the most runs, or the last used.", default="runs", choices=("runs", "last")),
                OFFSET,
            ), menu=subject.many, is_further=True, role=RUNS,
        ),
        View(
            f"{subject.name}_row", f"{subject.path}/{{key}}", subject.one,
            f"One {subject.one.lower()}: everything stated of it, its runs, and how its nearest sibling differs.",
            lambda visit: _one(subject, visit), (Parameter("key", "Its key."),), role=RUNS,
        ),
    )


VIEWS = tuple(view for subject in _SUBJECTS for view in _views(subject))
