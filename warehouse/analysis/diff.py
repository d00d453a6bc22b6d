"""`wh diff`: what differs between two numbers, and which numbers moved between two builds, and why.

A number is a function of its SQL, of evidence, and of decisions on runs. So a number that moved has a reason among these three, and
each is looked up: the digests of the models, the bundles that the builds were made of, and the decisions that they knew.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.analysis.conditions import Difference, differences, read_conditions
from warehouse.analysis.measurements import measured
from warehouse.claims.numbers.lineage import Lineage, lineage_of
from warehouse.claims.numbers.search import FoundCell, asked_number, find_cell
from warehouse.claims.publish.specification import stored_specification
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.landing.parse.batches import BUNDLE_TABLE, DECISION_TABLE, SETTLEMENT_TABLE
from warehouse.project.project import Project
from warehouse.transform.finished.builds import Build, find_build, find_current
from warehouse.transform.finished.query import open_build
from warehouse.transform.inputs.landing_tables import built_rows
from warehouse.transform.project.model import BUNDLE_COLUMN
from warehouse.transform.sql.duck import quote

if TYPE_CHECKING:
    import duckdb

_TRACED = 20  # moved numbers of which the runs are compared; each costs two traces
_INTERVAL = ("interval_low", "interval_high")


@dataclass(frozen=True)
class Aspect:
    """One thing that two numbers have, each its own."""

    name: str
    a: str
    b: str

    @property
    def is_different(self) -> bool:
        return self.a != self.b


@dataclass(frozen=True)
class NumberDiff:
    """Two numbers side by side; the runs that only one of them has; what differs between all runs of one and of the other, as far as the
    current build knows them; and the difference of their SQL, empty where it is the same."""

    a: Lineage
    b: Lineage
    aspects: tuple[Aspect, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    differences: tuple[Difference, ...]
    sql: str


@dataclass(frozen=True)
class Moved:
    """A cell that two builds hold different numbers for; None where one has no such row. `reasons` are sentences, the exact ones first:
    `is_traced` says whether the cell's own runs were compared, or only what changed under its query."""

    key: str
    query: str
    column: str
    a: Any
    b: Any
    reasons: tuple[str, ...]
    is_traced: bool


@dataclass(frozen=True)
class BuildDiff:
    """What two builds differ in: numbers, bundles that only one has, decisions that only one knew, and queries with other SQL under them."""

    a: str
    b: str
    moved: tuple[Moved, ...]
    unmoved: int
    bundles: tuple[tuple[str, ...], tuple[str, ...]]
    decisions: tuple[tuple[str, ...], tuple[str, ...]]
    models: Mapping[str, tuple[str, ...]]


def diff_numbers(project: Project, a: str, b: str) -> NumberDiff:
    """What differs between two numbers, each given as for `wh lineage`. Raises WH304 to WH307."""
    cells = [find_cell(project, asked_number(project, each)) for each in (a, b)]
    first, second = (lineage_of(project, each) for each in cells)
    texts = [_sql(project, each) for each in (first, second)]
    aspects = [Aspect(name, value, other) for (name, value), (_, other) in zip(_aspects(first, cells[0]), _aspects(second, cells[1]), strict=True)]
    grain = {**first.grain, **second.grain}
    aspects += [Aspect(name, _text(first.grain.get(name)), _text(second.grain.get(name))) for name in grain]
    models = [dict(each.models) for each in (first, second)]
    aspects += [
        Aspect(f"model {name}", *(each.get(name, "(not read)")[:12] for each in models))
        for name in sorted({*models[0], *models[1]}) if models[0].get(name) != models[1].get(name)
    ]
    runs = [{str(run["run_id"]) for run in each.runs} for each in (first, second)]
    return NumberDiff(
        first, second, tuple(aspects), tuple(sorted(runs[0] - runs[1])), tuple(sorted(runs[1] - runs[0])),
        _run_differences(project, runs[0], runs[1]), "\n".join(difflib.unified_diff(texts[0], texts[1], "a", "b", lineterm="")),
    )


def _aspects(found: Lineage, cell: FoundCell) -> list[tuple[str, str]]:
    interval = [cell.row.cells[name].value for name in _INTERVAL if name in cell.row.cells]
    bundles = sorted({str(run.get(BUNDLE_COLUMN)) for run in found.runs} | {file.artifact_manifest_digest for file in found.raw_files})
    return [
        ("value", _text(found.value)),
        ("unit", _text(found.unit)),
        ("interval", f"{interval[0]} to {interval[1]}" if len(interval) == 2 and None not in interval else "none"),
        ("number", _text(found.number_id)),
        ("query", found.query),
        ("column", found.column),
        ("query_spec_digest", found.query_spec_digest[:12]),
        ("published", found.published.at if found.published else "no"),
        ("software of wh", ", ".join(f"{name} {version}" for name, version in found.software.items()) or "this build's"),
        ("runs", str(len(found.runs))),
        ("evidence", f"{len(found.raw_files)} files of {', '.join(digest[:12] for digest in bundles[:3])}{' and more' if len(bundles) > 3 else ''}"),
    ]


def _sql(project: Project, found: Lineage) -> list[str]:
    """The lines of the query's text."""
    if found.publication:
        document = stored_specification(project, found.query_spec_digest).document["document"]
        return str(document["sql"]).splitlines()
    build = find_current(project)
    if build is None:
        return []
    con = open_build(build.path)
    try:
        rows = con.execute("select sql from catalog.model where schema_name = 'rollup' and name = ?", [found.query]).fetchall()
    finally:
        con.close()
    return [line for (text,) in rows for line in text.splitlines()]


def _run_differences(project: Project, a: Iterable[str], b: Iterable[str]) -> tuple[Difference, ...]:
    """What differs between the runs of two numbers; nothing for a project without conditions, or without a build."""
    build = find_current(project)
    if build is None:
        return ()
    try:
        with measured(build) as found:
            conditions = read_conditions(found, {*a, *b})
    except WarehouseError as error:
        if error.code != "WH501":
            raise
        return ()
    sides = [[conditions[run] for run in side if conditions[run]] for side in (a, b)]
    return differences(*sides) if all(sides) else ()


def diff_builds(project: Project, a: str, b: str) -> BuildDiff:
    """Which numbers moved from one kept build to another, each given by the beginning of its digest, and why. Raises WH214, WH218, WH123."""
    builds = find_build(project, a), find_build(project, b)
    bundles, decisions = (_only(project, builds, kind) for kind in (_bundles, _decisions))
    con, other = (open_build(build.path) for build in builds)
    try:
        models = _changed_models(con, other)
        moved, unmoved = _moved_cells(con, other)
    finally:
        con.close()
        other.close()
    found = []
    for number, (query, grain, column, values, rows) in enumerate(moved):
        under = [f"new SQL: {', '.join(models[query])}"] if query in models else []
        traced = _traced_reasons(project, builds, query, column, rows, decisions[1]) if number < _TRACED else None
        reasons = [*(traced or ()), *under] if traced is not None else [*under, *_general(bundles, decisions)]
        key = f"{query}[{','.join(f'{name}={_text(value)}' for name, value in grain.items())}].{column}"
        reasons = reasons or ["the same SQL, evidence and decisions: another wh or engine"]
        found.append(Moved(key, query, column, *values, tuple(reasons), traced is not None))
    return BuildDiff(builds[0].digest, builds[1].digest, tuple(found), unmoved, bundles, decisions, models)


def _only(project: Project, builds: Sequence[Build], read: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, second = (read(project, build) for build in builds)
    return tuple(sorted(first - second)), tuple(sorted(second - first))


def _bundles(project: Project, build: Build) -> set[str]:
    return {row[BUNDLE_COLUMN] for row in built_rows(build.landing, open_store(project).landing, BUNDLE_TABLE, [BUNDLE_COLUMN])}


def _decisions(project: Project, build: Build) -> set[str]:
    """The decisions that a build knew, as sentences."""
    landing = open_store(project).landing
    states = built_rows(build.landing, landing, DECISION_TABLE, ["run_id", "state", "reason"])
    settled = built_rows(build.landing, landing, SETTLEMENT_TABLE, ["run_id", "reason", "is_evidence"])
    return {f"{row['run_id']} {row['state']}: {row['reason']}" for row in states} | {
        f"{row['run_id']} settled: {row['reason']}" for row in settled if row["is_evidence"]
    }


def _general(bundles: tuple[tuple[str, ...], tuple[str, ...]], decisions: tuple[tuple[str, ...], tuple[str, ...]]) -> list[str]:
    """What changed under all queries."""
    reasons = []
    for what, pair in (("evidence", bundles), ("decision", decisions)):
        for word, changed in zip(("no longer", "new"), pair, strict=True):
            if changed:
                named = ", ".join(each if what == "decision" else each[:12] for each in changed[:3])
                reasons.append(f"{word} {what}: {named}{' and more' if len(changed) > 3 else ''}")
    return reasons


def _changed_models(a: "duckdb.DuckDBPyConnection", b: "duckdb.DuckDBPyConnection") -> dict[str, tuple[str, ...]]:
    """For each query of both builds with other SQL under it: the models, itself among them, whose text differs."""
    sql = "select schema_name || '.' || name, sql, reads from catalog.model"
    first, second = ({name: (text, reads) for name, text, reads in con.execute(sql).fetchall()} for con in (a, b))
    changed = {name for name in {*first, *second} if first.get(name, ("",))[0] != second.get(name, ("",))[0]}
    found = {}
    for query in (name for name in second if name.startswith("rollup.")):
        under, pending = {query}, [query]
        while pending:
            for each in second.get(pending.pop(), ("", ()))[1]:
                if each not in under:
                    under.add(each)
                    pending.append(each)
        if names := tuple(sorted(changed & under)):
            found[query.partition(".")[2]] = names
    return found


_Cell = tuple[str, Mapping[str, Any], str, tuple[Any, Any], tuple[int | None, int | None]]


def _moved_cells(a: "duckdb.DuckDBPyConnection", b: "duckdb.DuckDBPyConnection") -> tuple[list[_Cell], int]:
    """The cells whose numbers differ: query, grain, column, the two values and the two rows; and how many did not move."""
    first, second = (_cells(con) for con in (a, b))
    moved: list[_Cell] = []
    unmoved = 0
    for key in {**first, **second}:
        left, right = first.get(key), second.get(key)
        if left and right and left[0] == right[0]:
            unmoved += left[0] is not None
            continue
        query, grain, column = key
        value = (left[1] if left else None, right[1] if right else None)
        moved.append((query, dict(grain), column, value, (left[2] if left else None, right[2] if right else None)))
    return sorted(moved, key=lambda cell: (cell[0], str(cell[1]), cell[2])), unmoved


def _cells(con: "duckdb.DuckDBPyConnection") -> dict[tuple[str, tuple[tuple[str, Any], ...], str], tuple[str | None, Any, int]]:
    """Every cell of the rollups of a build: its number id, value and row."""
    cells = {}
    for query, grain in con.execute("select name, grain from catalog.model where schema_name = 'rollup' order by name").fetchall():
        result = con.execute(f"select rowid, * exclude (query_spec_digest) from rollup.{quote(query)}")
        columns = [column[0] for column in result.description]
        for row in result.fetchall():
            values = dict(zip(columns, row, strict=True))
            rowid, ids = values.pop("rowid"), values.pop("number_ids")
            key = tuple((name, _hashable(values[name])) for name in grain)
            for column, number in ids.items():
                cells[query, key, column] = (number, values[column], rowid)
    return cells


def _hashable(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict) else value


def _traced_reasons(
    project: Project, builds: Sequence[Build], query: str, column: str, rows: tuple[int | None, int | None], decided: Sequence[str]
) -> list[str] | None:
    """Why one cell moved, by its own runs in both builds; None where it cannot be traced there, as when a build's landing rows are gone."""
    try:
        before, after = (_runs(project, build, query, column, row) for build, row in zip(builds, rows, strict=True))
    except WarehouseError:
        return None
    reasons = []
    new, gone = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    by_decision = [run for run in (*gone, *new) if any(each.startswith(f"{run} ") for each in decided)]
    for run in by_decision:
        reasons += [f"a decision: {each}" for each in decided if each.startswith(f"{run} ")]
    for word, runs in (("new evidence", new), ("no longer used", gone)):
        if left := [run for run in runs if run not in by_decision]:
            reasons.append(f"{word}: {', '.join(left[:3])}{f' and {len(left) - 3} more runs' if len(left) > 3 else ''}")
    changed = [run for run in before.keys() & after.keys() if before[run] != after[run]]
    if changed:
        reasons.append(f"other evidence of the same runs: {', '.join(sorted(changed)[:3])}")
    return reasons


def _runs(project: Project, build: Build, query: str, column: str, row: int | None) -> dict[str, str | None]:
    """The runs of one cell, each with its bundle; none where there is no such row."""
    from warehouse.claims.publish.freezing import Facts
    from warehouse.trace.catalog import open_trace_session
    from warehouse.trace.tracing import trace

    if row is None:
        return {}
    con, catalog = open_trace_session(build, project.store_root)
    try:
        traced = trace(con, catalog, query, [column], [row])
        runs = Facts(con, catalog, traced).runs_of(traced.row(row).runs_of(column))
        return {str(run["run_id"]): run.get(BUNDLE_COLUMN) for run in runs}
    finally:
        con.close()


def _text(value: Any) -> str:
    return "none" if value is None else str(value)
