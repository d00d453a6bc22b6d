"""Goodput: which share of requests met all limits of an SLO together, over the loads of each curve."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any

from warehouse.analysis.serving.load_points import SCOPE, chosen, column_of, labels, load_points, no_point, uncounted
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project.project import Project
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.statistics.shares import share_interval
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import RoleTable, role_table
from warehouse.transform.project.model import REQUESTS, SLOS
from warehouse.transform.sql.duck import quote, text_literal

if TYPE_CHECKING:
    import duckdb

_TARGET = 0.99  # of an SLO that is not named
_LIMIT = re.compile(r"\s*(?P<name>\w+)\s*(?:<=|=)\s*(?P<value>\d+(?:\.\d+)?)\s*")
_HINT = "write ttft_ms<=200,itl_mean_ms<=30, or the name of an SLO"
_BETWEEN_TOKENS = ("tpot_", "itl_")
_KEYS = ("run_id", "workload_point", "concurrency_point", "request_rate_per_s")  # what a request and a load point share


@dataclass(frozen=True)
class LoadGoodput:
    """One load of a curve: of `total` requests of all its runs, `met` met every limit. `share` is their share over runs, None where the
    evidence does not say it of each request: then `reason`. `goodput_per_s` is the mean over runs of requests that met it per second."""

    load: float | None
    run_ids: tuple[str, ...]
    met: int
    total: int
    share: float | None
    interval: Interval | NotSupported | None
    goodput_per_s: float | None
    reason: str | None


@dataclass(frozen=True)
class CurveGoodput:
    """The loads of one curve, the lightest first. `largest_load` is the largest measured one whose share meets the target, and
    `largest_sure_load` the largest one whose interval does; None where none does. `scope` and `labels` say what was served, and how."""

    curve_key: str
    load_kind: str | None
    scope: Mapping[str, Any]
    labels: Mapping[str, Any]
    loads: tuple[LoadGoodput, ...]
    largest_load: float | None
    largest_sure_load: float | None


@dataclass(frozen=True)
class Goodput:
    """What was found in one build. `slo` is as it was asked for, `limits` are by column of the requests; `left_out` counts runs that are no
    points, by the reason."""

    build: str
    slo: str
    limits: Mapping[str, float]
    target: float
    curves: tuple[CurveGoodput, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class _Slo:
    """Limits by column of the requests, the share of requests that must meet them, and the models that they are for; None: all."""

    limits: Mapping[str, float]
    target: float = _TARGET
    model_pattern: str | None = None


def goodput(project: Project, slo: str, where: str | None = None, target: float | None = None) -> Goodput:
    """The share of requests that meet all limits of `slo`, each request by itself: a failed request meets none, and an unfinished one is
    not counted. `slo` is `name<=value,name<=value` over columns of the requests, or the name of a row of the table of SLOs, which has its
    own target and models. `where` is `name=value,name!=value` over columns of the load points. Raises WH521 (no table has load points, or
    requests), WH522 (no such column or SLO, a limit that cannot be read, or no point is meant), WH502, WH211, WH218."""
    build = current_build(project)
    points, requests = load_points(build), role_table(build.path, REQUESTS)
    if requests is None:
        hint = f"give a model of one row per request `role: {REQUESTS}` (docs/models.md)"
        raise WarehouseError("WH521", "no table has the requests of runs", build.path.name, hint)
    with open_build(build.path) as con:
        meant = _Slo(_limits(requests, slo)) if re.search("[<=]", slo) else _named(con, role_table(build.path, SLOS), requests, slo)
        if not (rows := _rows(con, points, requests, meant, where)):
            raise no_point(con, points, where, slo if meant.model_pattern else None, meant.model_pattern)
    left_out = Counter(reason for row in rows if (reason := uncounted(row)))
    curves: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for row in rows:
        if not uncounted(row):
            curves.setdefault((row["curve_key"], row["load_kind"]), []).append(row)
    target = meant.target if target is None else target
    found = tuple(_curve(*key, of_curve, target) for key, of_curve in curves.items())
    return Goodput(build.digest, slo, meant.limits, target, found, dict(left_out))


def _limits(requests: RoleTable, slo: str) -> dict[str, float]:
    found = {}
    for part in slo.split(","):
        if not (match := _LIMIT.fullmatch(part)):
            raise WarehouseError("WH522", f"cannot read the limit {printable(part)!r}", printable(slo), _HINT, ExitCode.USAGE)
        found[column_of(requests, match["name"])] = float(match["value"])
    return found


def _named(con: "duckdb.DuckDBPyConnection", slos: RoleTable | None, requests: RoleTable, name: str) -> _Slo:
    """The SLO of a name. Its limits are in the columns that are named like those of the requests; NULL: no limit."""
    rows = con.execute(f"select * from {slos.sql}") if slos else None
    found = {row["slo"]: row for row in _dicts(rows)} if rows else {}
    if name not in found:
        hint = did_you_mean(name, found) or f"{_HINT}; named are: {', '.join(map(printable, sorted(found))) or 'none'}"
        raise WarehouseError("WH522", f"no SLO is named {printable(name)}", printable(name), hint, ExitCode.NOT_FOUND)
    row = found[name]
    limits = {column: float(value) for column, value in row.items() if column in requests.columns and value is not None}
    if not limits:
        raise WarehouseError("WH522", f"the SLO {printable(name)} has no limit", printable(name))
    target = row.get("target")
    return _Slo(limits, _TARGET if target is None else float(target), row.get("model_pattern"))


def _dicts(cursor: "duckdb.DuckDBPyConnection") -> list[dict[str, Any]]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _rows(
    con: "duckdb.DuckDBPyConnection", points: RoleTable, requests: RoleTable, slo: _Slo, where: str | None
) -> list[dict[str, Any]]:
    """One row per load point: how many of its requests there are, met the limits, and leave it open."""
    keys = [key for key in _KEYS if key in points.columns & requests.columns]
    same = " and ".join(f"p.{quote(key)} is not distinct from r.{quote(key)}" for key in keys)
    limits, has_tokens = slo.limits, "output_token_count" in requests.columns
    held = " and ".join(_held(name, value, has_tokens) for name, value in limits.items())
    has_status = "status" in requests.columns
    met = f"case when status = 'failed' then false else {held} end" if has_status else held
    finished = " where status is distinct from 'unfinished'" if has_status else ""  # what became of the others is not known
    missing = ", ".join(f"{quote(name)} := count(*) filter (met is null and {quote(name)} is null)" for name in limits)
    counted = (
        f"with judged as (select {', '.join(map(quote, keys))}, {', '.join(map(quote, limits))}, {met} as met from {requests.sql}{finished})"
        f" select {', '.join(map(quote, keys))}, count(*) as total, count(*) filter (met) as met, count(*) filter (met is null) as open,"
        f" struct_pack({missing}) as missing"
        " from judged group by all"
    )
    wanted = chosen(points, where)
    if slo.model_pattern is not None and "model" in points.columns:
        wanted += f" and coalesce(regexp_full_match(p.model, {text_literal(slo.model_pattern)}, 'i'), false)"
    return _dicts(con.execute(
        "select p.*, r.total, r.met, r.open, r.missing,"
        f" p.run_id in (select run_id from catalog.away where name = {text_literal(requests.name)}) as has_left"
        f" from {points.sql} as p left join ({counted}) as r on {same} where {wanted} order by p.curve_key, p.load, p.run_id"
    ))


def _held(name: str, limit: float, has_tokens: bool) -> str:
    """A limit as SQL. A request of one output token has no time between tokens that could be too long: it is within such a limit, as in
    vLLM's own goodput (vllm/benchmarks/serve.py, `calculate_metrics`, where its TPOT is 0)."""
    held = f"{quote(name)} <= {limit!r}"
    if has_tokens and name.startswith(_BETWEEN_TOKENS):
        return f"({held} or coalesce({quote(name)} is null and output_token_count <= 1, false))"
    return held


def _curve(curve_key: str, load_kind: str | None, rows: Sequence[dict[str, Any]], target: float) -> CurveGoodput:
    of_load: dict[float | None, list[dict[str, Any]]] = {}
    for row in rows:
        of_load.setdefault(row["load"], []).append(row)
    loads = tuple(_load(load, of_one) for load, of_one in of_load.items())
    scope = {name: rows[0][name] for name in SCOPE if rows[0].get(name) is not None}
    meeting = [each.load for each in loads if each.load is not None and each.share is not None and each.share >= target]
    sure = [each.load for each in loads if each.load is not None and isinstance(each.interval, Interval) and each.interval.low >= target]
    return CurveGoodput(curve_key, load_kind, scope, labels(rows[0]), loads, max(meeting, default=None), max(sure, default=None))


def _load(load: float | None, rows: Sequence[dict[str, Any]]) -> LoadGoodput:
    run_ids = tuple(dict.fromkeys(row["run_id"] for row in rows))
    if without := [row for row in rows if not row["total"]]:
        run = without[0]["run_id"]
        reason = f"the evidence of {run} has no request that ended"
        if without[0]["has_left"]:
            reason = f"the requests of {run} have left the database with age (keep_detail brings them back)"
        return LoadGoodput(load, run_ids, 0, 0, None, None, None, reason)
    total, met = sum(row["total"] for row in rows), sum(row["met"] for row in rows)
    if open_ones := [row for row in rows if row["open"]]:
        name, count = max(open_ones[0]["missing"].items(), key=lambda each: each[1])
        reason = f"{count} of {open_ones[0]['total']} requests of {open_ones[0]['run_id']} have no {name}"
        return LoadGoodput(load, run_ids, met, total, None, None, None, reason)
    by_run = {run: [row for row in rows if row["run_id"] == run] for run in run_ids}
    counts = [(sum(row["met"] for row in of_run), sum(row["total"] for row in of_run)) for of_run in by_run.values()]
    sessions = [of_run[0].get("session") for of_run in by_run.values()]
    interval = share_interval([good for good, _ in counts], [count for _, count in counts], sessions=sessions if None not in sessions else None)
    rates = [[_rate(row) for row in of_run] for of_run in by_run.values()]
    known = [mean(rate for rate in of_run if rate is not None) for of_run in rates if None not in of_run]
    return LoadGoodput(load, run_ids, met, total, met / total, interval, mean(known) if len(known) == len(rates) else None, None)


def _rate(row: Mapping[str, Any]) -> float | None:
    """Requests that met the SLO per second: those that met it, at the rate of the completed ones."""
    throughput, completed = row.get("request_throughput_per_s"), row.get("completed_count")
    return throughput * row["met"] / completed if throughput is not None and completed else None
