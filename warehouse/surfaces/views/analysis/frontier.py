"""Frontier: the load points that no other point beats on two axes, how sure that is, and whether their runs are valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from warehouse.analysis.serving.frontier import Frontier, Frontiers, at_text, frontiers, within_text
from warehouse.analysis.serving.load_points import SCOPE, load_points
from warehouse.surfaces.parts import Chart, Choice, Column, Form, Page, Table
from warehouse.surfaces.view import Parameter, View, Visit

_PATH = "/frontier"
_RUN = "/runs/{run_id:path}"
_MOST = 6  # frontiers that are drawn
_MOST_POINTS = 150
_X, _Y = "interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s"
# Columns of load points that make sense as an axis end like this.
_ENDINGS = ("_per_s", "_ms", "_s", "_usd", "_rate", "_w", "_j", "_mj")


def _answer(visit: Visit) -> Page:
    assert visit.build
    columns = sorted(name for name in load_points(visit.build).columns if name.endswith(_ENDINGS))
    scope = [each.strip() for each in visit["scope"].split(",") if each.strip()] if visit["scope"] is not None else None
    found = frontiers(
        visit.project, visit["x"], visit["y"], visit["where"], scope, visit["at"], visit["interpolate"] == "yes", visit["within"]
    )
    units = _units(visit)
    ordered = sorted(found.frontiers, key=lambda each: (-len(each.points), str(each.scope)))
    tables = [_table(each, found, units, place) for place, each in enumerate(ordered[:_MOST])]
    notices = [_left_out(found.left_out)] if found.left_out else []
    points = sum(len(each.points) for each in found.frontiers)
    said = f"{points} points in {len(ordered)} scopes · {found.x.column} {found.x.better} is better, {found.y.column} {found.y.better} is better"
    return Page(
        "Frontier", (_form(visit, columns), *tables, *_scopes(ordered, found)), said, notices=tuple(notices),
        next_steps={"Which of these runs are valid": "/validity", "Which requests met an SLO": "/goodput"},
    )


def _units(visit: Visit) -> Mapping[str, str | None]:
    from warehouse.surfaces.views.facts.reading import reader

    assert visit.build
    with reader(visit) as found:
        return {name: unit for name, (unit, _) in found.described(load_points(visit.build).name).items()}


def _left_out(counts: Mapping[str, int]) -> str:
    return "Not points: " + ", ".join(f"{count} {reason}" for reason, count in counts.items())


def _scope(scope: Mapping[str, Any]) -> str:
    return " · ".join(f"{name.replace('_', ' ')} {value}" for name, value in scope.items() if value is not None) or "all points"


def _table(frontier: Frontier, found: Frontiers, units: Mapping[str, str | None], place: int) -> Table:
    x, y = found.x, found.y
    columns = (
        Column("configuration"), Column("load"), Column("x", x.column, kind="number", unit=units.get(x.column)),
        Column("y", y.column, kind="number", unit=units.get(y.column)), Column("frontier", kind="state"),
        Column("probability", "would be again", kind="number"), Column("validity", kind="state"), Column("runs", kind="number", link=_RUN),
        Column("run_id", is_hidden=True),
        Column("is_on_frontier", is_hidden=True), Column("run_ids", is_hidden=True), Column("curve_key", is_hidden=True),
    )
    same = Counter((point.x, point.y) for point in frontier.points)
    rows = tuple(
        (
            " ".join(str(value) for value in point.labels.values()) or f"curve {point.curve_key[:8]}",
            "not stated" if point.load is None else f"{point.load_kind} {point.load:g}", point.x, point.y,
            _word(point.is_on_frontier, same[point.x, point.y]), point.probability, point.validity, len(point.run_ids), point.run_ids[0],
            point.is_on_frontier, ", ".join(point.run_ids), point.curve_key,
        )
        for point in sorted(frontier.points, key=lambda point: (not point.is_on_frontier, point.x))[:_MOST_POINTS]
    )
    notes = [at_text(frontier.at, found)] if frontier.at is not None else []
    notes += [within_text(frontier.within, found)] if found.within is not None else []
    notes += [f"how sure the frontier is: {frontier.probability}"] if frontier.probability is not None else []
    chart = Chart(
        "steps", "x", "y", group="configuration", state="validity", hatched=("invalid", "flagged"), on_line="is_on_frontier", link=_RUN,
        better=x.better,
    )
    return Table(
        f"frontier_{place + 1}", columns, rows, _scope(frontier.scope), ". ".join(notes), total=len(frontier.points), chart=chart,
        is_folded=len(rows) > 20,
    )


def _word(is_on_frontier: bool, same: int) -> str:
    tie = f", tie of {same}" if same > 1 else ""
    return f"{'on the frontier' if is_on_frontier else 'beaten'}{tie}"


def _scopes(ordered: list[Frontier], found: Frontiers) -> Iterator[Table]:
    if len(ordered) <= _MOST:
        return
    hidden = (Column(name, is_hidden=True) for name in ("x", "y", "where"))
    columns = (Column("scope", link="/frontier?x={x}&y={y}&where={where}"), Column("points", kind="number"), *hidden)
    rows = []
    for each in ordered[_MOST : _MOST + 100]:
        where = ",".join(f"{name}={value}" for name, value in each.scope.items() if value is not None)
        rows.append((_scope(each.scope), len(each.points), f"{found.x.column}:{found.x.better}", f"{found.y.column}:{found.y.better}", where))
    yield Table("scopes", columns, tuple(rows), "Other scopes", total=len(ordered) - _MOST)


def _form(visit: Visit, columns: list[str]) -> Form:
    offered = tuple(dict.fromkeys([*columns, visit["x"], visit["y"]]))
    return Form("axes", _PATH, (
        Choice("x", value=visit["x"], choices=offered), Choice("y", value=visit["y"], choices=offered),
        Choice("where", value=visit["where"] or "", hint="model=*Qwen*,accelerator=H100*"),
        Choice("scope", "compete within", visit["scope"] if visit["scope"] is not None else "", hint=", ".join(SCOPE)),
        Choice("at", "y at x", f"{visit['at']:g}" if visit["at"] is not None else "", hint="a value of x"),
        Choice("within", "best y within x", f"{visit['within']:g}" if visit["within"] is not None else "", hint="a limit on x"),
        Choice("interpolate", value=visit["interpolate"], choices=("no", "yes")),
    ))


VIEWS = (
    View(
        "frontier", _PATH, "Frontier",
        "The measured load points that no other point beats on two axes, with how sure that is and whether their runs are valid.",
        _answer, (
            Parameter("x", "The column across, with :higher or :lower behind it where its name does not tell which is better.", default=_X),
            Parameter("y", "The column upwards, likewise.", default=_Y),
            Parameter("where", "Only points for which name=value,name!=value holds; * stands for any characters."),
            Parameter("scope", "Columns, with commas, within whose values points compete; otherwise model, lengths and precision."),
            Parameter("at", "What the frontier has at this value of x.", float),
            Parameter("within", "The best point whose x is at least so good.", float),
            Parameter("interpolate", "Whether `at` may lie between measured points.", default="no", choices=("no", "yes")),
        ), is_costly=True,
    ),
)
