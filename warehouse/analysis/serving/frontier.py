"""Frontiers of load curves: which measured points no other point beats on two axes, and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import mean
from typing import TYPE_CHECKING, Any

from warehouse.analysis.serving.load_points import SCOPE, chosen, column_of, labels, load_points, no_point, uncounted
from warehouse.analysis.serving.validity import VERDICTS, point_validity, rules_of_one_run
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.project.project import Project
from warehouse.statistics.frontier import Better, OnFrontier, Outside, membership, non_dominated, value_at
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.transform.finished.builds import Build, current_build
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import RoleTable

if TYPE_CHECKING:
    import duckdb

# The better direction of a quantity, by the end of its name.
_ENDINGS: tuple[tuple[str, Better], ...] = (
    ("_per_s", "higher"), ("_tokens_per_s", "higher"), ("_rate", "lower"), ("_ms", "lower"), ("_s", "lower"), ("_usd", "lower"), ("_mj", "lower"),
    ("_j", "lower"), ("_w", "lower"),
)
_VALIDITY = " validity"  # of a row; no column has this name


@dataclass(frozen=True)
class Axis:
    """A column of the load points, and in which direction it is better."""

    column: str
    better: Better


@dataclass(frozen=True)
class Point:
    """One load of one curve: the means over its runs on the two axes, `labels` that say which configuration it is. `probability`: of being
    on the frontier if all points were measured again; None where that is not supported. `validity`: the worst verdict on one of its runs
    (`validity.VERDICTS`); None where the table has no column that a rule judges. `values` are the y of its runs, each of the session beside it."""

    curve_key: str
    load_kind: str | None
    load: float | None
    x: float
    y: float
    run_ids: tuple[str, ...]
    labels: Mapping[str, Any]
    is_on_frontier: bool
    probability: float | None
    validity: str | None
    values: tuple[float, ...] = ()
    sessions: tuple[str | None, ...] = ()

    @property
    def interval(self) -> Interval | NotSupported:
        """The interval of its y: over sessions where its runs are of several, else over its runs."""
        from warehouse.statistics.means import mean_interval

        are_known = None not in self.sessions and len(set(self.sessions)) > 1
        return mean_interval(self.values, sessions=self.sessions if are_known else None)


@dataclass(frozen=True)
class Frontier:
    """The points that compete within one scope, sorted by x. `probability` says why points have none. `at` is the frontier's y at the x that
    was asked for; `within` the point with the best y among those whose x is at least as good as a limit, None if there is none."""

    scope: Mapping[str, Any]
    points: tuple[Point, ...]
    probability: NotSupported | None
    at: OnFrontier | Outside | None
    within: Point | None


@dataclass(frozen=True)
class Frontiers:
    """What was found in one build. `within` is the limit on x that was asked for; `left_out` counts rows that are no points, by the reason."""

    build: str
    x: Axis
    y: Axis
    within: float | None
    frontiers: tuple[Frontier, ...]
    left_out: Mapping[str, int]

    @property
    def limit(self) -> str:
        """The limit on x in words."""
        return f"{self.x.column} {'>=' if self.x.better == 'higher' else '<='} {self.within:g}"


def frontiers(
    project: Project, x: str, y: str, where: str | None = None, scope: Sequence[str] | None = None, at: float | None = None,
    interpolate: bool = False, within: float | None = None,
) -> Frontiers:
    """The frontiers of the load points of the current build on two axes, each a column, with `:higher` or `:lower` behind it where its name
    does not tell which is better. `where` is `name=value,name!=value`, with * in values. A point is the mean of its runs; a run that
    has a load twice counts once. `at` and `interpolate`: the y at an x, not outside of the measured range; `within`: the best measured point
    whose x is at least that good. Raises WH521 (no table has load points), WH522 (no such column, or no point is meant), WH502 (`where`
    cannot be read), WH211, WH218."""
    build = current_build(project)
    table = load_points(build)
    axes = _axis(table, x), _axis(table, y)
    of_scopes, left_out = _by_scope(build, table, axes, where, scope)
    rules = rules_of_one_run(project, table)
    found = []
    for of_one, rows in of_scopes:
        for row in rows:
            row[_VALIDITY] = point_validity(row, rules).verdict if rules.rules else None
        found.append(_frontier(of_one, rows, axes, at, interpolate, within))
    return Frontiers(build.digest, *axes, within, tuple(found), left_out)


def scopes(project: Project, x: str, y: str, scope: Sequence[str] | None = None) -> list[tuple[Mapping[str, Any], int]]:
    """The scopes that have points on two axes, and how many, whatever `where` chooses of them. Raises what `frontiers` does."""
    build = current_build(project)
    table = load_points(build)
    of_scopes, _ = _by_scope(build, table, (_axis(table, x), _axis(table, y)), None, scope)
    return [(of_one, len({(row["curve_key"], row["load_kind"], row["load"]) for row in rows})) for of_one, rows in of_scopes]


def _by_scope(
    build: Build, table: RoleTable, axes: tuple[Axis, Axis], where: str | None, scope: Sequence[str] | None
) -> tuple[list[tuple[dict[str, Any], list[dict[str, Any]]]], dict[str, int]]:
    """The rows that are points, by their scope, and how many are none, by the reason."""
    names = [column_of(table, name) for name in scope] if scope is not None else [name for name in SCOPE if name in table.columns]
    with open_build(build.path) as con:
        if not (rows := _rows(con, table, where)):
            raise no_point(con, table, where)
    left_out: Counter[str] = Counter()
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if reason := _not_counted(row, axes):
            left_out[reason] += 1
        else:
            found.setdefault(tuple(row[name] for name in names), []).append(row)
    ordered = sorted(found.items(), key=lambda item: tuple(map(str, item[0])))
    return [(dict(zip(names, values, strict=True)), of_one) for values, of_one in ordered], dict(left_out)


def best_at(found: Frontiers, frontier: Frontier, x: float, interpolate: bool = False) -> OnFrontier | Outside:
    """What one of the frontiers found has at a value of x: by default the best y that was measured at it or a better one."""
    points = [(point.x, point.y) for point in frontier.points]
    return value_at(points, (found.x.better, found.y.better), x, interpolate)


def best_of(frontier: Frontier, found: Frontiers) -> Point | None:
    """The answer of one scope: the point with the best y, within the limit if there is one; None where no point is."""
    if found.within is not None:
        return frontier.within
    return max(frontier.points, key=lambda point: point.y if found.y.better == "higher" else -point.y)


def at_text(answer: OnFrontier | Outside, found: Frontiers) -> str:
    """What a frontier has at the x that was asked for, in words."""
    if isinstance(answer, Outside):
        return f"at {found.x.column}: {answer}"
    label = "interpolated, not measured" if answer.is_interpolated else "measured"
    return f"at {found.x.column} {answer.x:g}: {found.y.column} {answer.y:.6g} ({label}; {answer.method})"


def within_text(point: Point | None, found: Frontiers) -> str:
    """The best point within the limit on x that was asked for, in words."""
    if point is None:
        return f"no measured point has {found.limit}"
    load = "load not stated" if point.load is None else f"{point.load_kind} {point.load:g}"
    measured = f"measured at {found.x.column} {point.x:.6g}, {load}, curve {point.curve_key[:8]}"
    return f"best within {found.limit}: {found.y.column} {point.y:.6g} ({measured})"


def _axis(table: RoleTable, asked: str) -> Axis:
    name, _, better = asked.partition(":")
    column_of(table, name)
    if not better:
        better = max((each for each in _ENDINGS if name.endswith(each[0])), key=lambda each: len(each[0]), default=("", ""))[1]
    if better not in ("higher", "lower"):
        message = f"it is not known which is better of {printable(name)}"
        raise WarehouseError("WH522", message, printable(asked), f"write {name}:higher or {name}:lower", ExitCode.USAGE)
    return Axis(name, "higher" if better == "higher" else "lower")


def _rows(con: "duckdb.DuckDBPyConnection", table: RoleTable, where: str | None) -> list[dict[str, Any]]:
    cursor = con.execute(f"select * from {table.sql} as p where {chosen(table, where)} order by run_id, load")
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def _not_counted(row: Mapping[str, Any], axes: tuple[Axis, Axis]) -> str | None:
    """Why a row does not count as a point on these axes. Returns None if it counts."""
    if reason := uncounted(row):
        return reason
    missing = [axis.column for axis in axes if row[axis.column] is None or not isfinite(row[axis.column])]
    return f"without {missing[0]}" if missing else None


def _frontier(
    scope: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], axes: tuple[Axis, Axis], at: float | None, interpolate: bool,
    within: float | None,
) -> Frontier:
    better = axes[0].better, axes[1].better
    points: dict[tuple[Any, ...], dict[str, list[Mapping[str, Any]]]] = {}  # by curve and load, by run
    for row in rows:
        points.setdefault((row["curve_key"], row["load_kind"], row["load"]), {}).setdefault(row["run_id"], []).append(row)
    of_runs = [
        [[mean(float(row[axis.column]) for row in of_run) for axis in axes] for of_run in runs.values()] for runs in points.values()
    ]
    means = [[mean(run[place] for run in runs) for place in (0, 1)] for runs in of_runs]
    on = non_dominated(means, better)
    sure = membership(of_runs, better)
    probabilities = [None] * len(means) if isinstance(sure, NotSupported) else sure
    found = [
        Point(
            curve, kind, load, x, y, tuple(runs), labels(next(iter(runs.values()))[0]), bool(is_on), probability, _worst(runs),
            tuple(own_y for _, own_y in own), tuple(of_run[0].get("session") for of_run in runs.values()),
        )
        for ((curve, kind, load), runs), (x, y), is_on, probability, own in zip(points.items(), means, on, probabilities, of_runs, strict=True)
    ]
    answer = value_at(means, better, at, interpolate) if at is not None else None
    ordered = tuple(sorted(found, key=lambda point: (point.x, point.y, point.curve_key)))
    best = None if within is None else best_within(ordered, axes, within)
    return Frontier(scope, ordered, sure if isinstance(sure, NotSupported) else None, answer, best)


def _worst(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> str | None:
    verdicts = [row[_VALIDITY] for rows in runs.values() for row in rows]
    return None if None in verdicts else max(verdicts, key=VERDICTS.index)


def best_within(points: Sequence[Point], axes: tuple[Axis, Axis], limit: float) -> Point | None:
    """The point with the best y of those whose x is at least as good as a limit."""
    x, y = axes
    met = [point for point in points if (point.x >= limit if x.better == "higher" else point.x <= limit)]
    return max(met, key=lambda point: point.y if y.better == "higher" else -point.y, default=None)

