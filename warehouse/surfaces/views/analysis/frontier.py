"""Frontier: which configuration is the best for what load: one answer, then the points that no other beats on two axes, and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.analysis.metric_names import metric_names
from warehouse.analysis.names import SEPARATOR, load_words, model_name, tokens
from warehouse.analysis.serving.frontier import Frontier, Frontiers, Point, at_text, best_within, frontiers, scopes
from warehouse.analysis.serving.load_points import SCOPE, load_points
from warehouse.errors import counted
from warehouse.statistics.frontier import Better, non_dominated
from warehouse.statistics.interval import Interval
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.notebook.fragments import kind_of
from warehouse.surfaces.parts import Chart, Choice, Column, Entry, Facts, Form, Page, Part, Table
from warehouse.surfaces.view import Parameter, View, Visit
from warehouse.surfaces.views.analysis.wording import choices, configuration
from warehouse.surfaces.views.facts.reading import reader
from warehouse.transform.project.model import LOAD_POINTS

_PATH = "/frontier"
_RUN = "/runs/{run_id:path}"
_MOST_SCOPES = 10  # that the picker offers; the others are a table
_MOST_POINTS = 150
_NEXT = 3  # configurations beside the best one
_X, _Y = "interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s"
# Columns of load points that make sense as an axis end like this.
_ENDINGS = ("_per_s", "_ms", "_s", "_usd", "_rate", "_w", "_j", "_mj")
# The axes that people ask for, in a few words, with limits that they ask for.
_ACROSS = (
    ("speed a user", _X, (20.0, 50.0, 100.0)), ("TTFT, median", "ttft_p50_ms", (200.0, 500.0, 2000.0)),
    ("TTFT, p99", "ttft_p99_ms", (200.0, 500.0, 2000.0)), ("end to end", "e2e_p50_ms", (1000.0, 5000.0, 20_000.0)),
)
_UPWARDS = (
    ("tokens/s a GPU", _Y), ("tokens/s", "output_token_throughput_per_s"), ("$ a million tokens", "cost_per_million_output_tokens_usd"),
    ("J a token", "accelerator_energy_per_output_token_j"),
)
# What is picked one after the other: a title, and the parts of a scope.
_PICKED = (("model", "model"), ("lengths", "input_length", "output_length"), ("precision", "precision"))
_PARTS = frozenset(name for _, *names in _PICKED for name in names)
_MIDDLE = 1  # of the limits: the one that is meant where none is stated
_WORDS = {_X: ("Speed a user", "tokens/s"), _Y: ("Output a GPU", "tokens/s")}


@dataclass(frozen=True)
class _Axes:
    """The columns of load points as people call them: a name and a unit each."""

    named: Mapping[str, tuple[str, str | None]]

    def name(self, column: str) -> str:
        return self.named[column][0]

    def unit(self, column: str) -> str | None:
        return self.named[column][1]

    def value(self, column: str, value: float) -> str:
        return f"{rounded(value)} {self.unit(column) or ''}".strip()


def _answer(visit: Visit) -> Page:
    assert visit.build
    columns = sorted(name for name in load_points(visit.build).columns if name.endswith(_ENDINGS))
    scope = [each.strip() for each in visit["scope"].split(",") if each.strip()] if visit["scope"] is not None else None
    x = visit["x"].partition(":")[0]
    limit = visit["within"] if visit["within"] is not None else next((limits[_MIDDLE] for _, name, limits in _ACROSS if name == x), None)
    found = frontiers(visit.project, visit["x"], visit["y"], visit["where"], scope, visit["at"], visit["interpolate"] == "yes", limit)
    axes = _axes(visit, found)
    ordered = sorted(found.frontiers, key=lambda each: (-len(each.points), str(each.scope)))
    if visit["within"] is None and ordered and ordered[0].within is None:  # a limit that nobody stated, and that nothing meets
        found = replace(found, within=None)
    if not ordered:
        return Page("Frontier", (*_pickers(visit, columns), _form(visit, columns)), "no point is like that", (), _left_out(found.left_out, axes))
    first = ordered[0]
    offered = [(each.scope, len(each.points)) for each in ordered]
    if visit["where"]:  # a choice of one model must not hide the others
        offered = sorted(scopes(visit.project, visit["x"], visit["y"], scope), key=lambda each: (-each[1], str(each[0])))
    parts: list[Part] = [*_picked(visit, offered, first.scope), *_pickers(visit, columns, found.within)]
    parts += [_best(first, found, axes), _table(first, found, axes)]
    parts += [*_scopes([each for each in offered if each[0] != first.scope], found), _form(visit, columns)]
    said = f"{_scope(first.scope)} · {counted(len(first.points), 'point')}"
    return Page(
        "Frontier", tuple(parts), said, next_steps={"Which of these runs are valid": "/validity", "Which requests met an SLO": "/goodput"},
    )


def _axes(visit: Visit, found: Frontiers) -> _Axes:
    assert visit.build
    with reader(visit) as session:
        names, described = metric_names(session.con), session.described(load_points(visit.build).name)
    named = {}
    for column in (found.x.column, found.y.column):
        stated = described.get(column, (None, ""))[0]
        name, _, unit = names.of(column, stated)
        named[column] = _WORDS.get(column) or (name, unit)
    return _Axes(named)


def _left_out(counts: Mapping[str, int], axes: _Axes) -> tuple[str, ...]:
    words = {f"without {column}": f"without {name}" for column, (name, _) in axes.named.items()}
    return ("Not points: " + ", ".join(f"{count} {words.get(reason, reason)}" for reason, count in counts.items()),) if counts else ()


def _scope(scope: Mapping[str, Any]) -> str:
    """A scope as people name it: model, precision, lengths; what else it is of by its column."""
    known = {name: value for name, value in scope.items() if value is not None}
    words = [model_name(str(known.pop("model"))) if "model" in known else None, known.pop("precision", None)]
    if "input_length" in known and "output_length" in known:
        words.append(f"{tokens(known.pop('input_length'))} in / {tokens(known.pop('output_length'))} out")
    return SEPARATOR.join(map(str, filter(None, (*words, *(f"{name.replace('_', ' ')} {value}" for name, value in known.items()))))) or "all points"


def _where(scope: Mapping[str, Any]) -> str | None:
    """The scope as conditions: what is not stated is no value at all."""
    if any("," in str(value) or "*" in str(value) for value in scope.values()):
        return None
    return ",".join(f"{name}!=*" if value is None else f"{name}={value}" for name, value in scope.items()) or None


def _kept(visit: Visit) -> dict[str, Any]:
    """The parameters of the page, without what is so by default."""
    defaults = {each.name: each.default for each in VIEWS[0].parameters}
    return {name: None if value == defaults.get(name) else value for name, value in visit.values.items()}


def _picked(visit: Visit, offered: Sequence[tuple[Mapping[str, Any], int]], chosen: Mapping[str, Any]) -> Iterator[Facts]:
    """A picker for each part of a scope that has a choice: the model, then of that model the lengths, then the precision. Each leads to the scope
    with the most points that has the part, and what was chosen before it; the chosen one is offered however few points it has."""
    rest = tuple(name for name in chosen if name not in _PARTS)
    values, fixed = {**_kept(visit), "where": _where(chosen)}, tuple[str, ...]()
    for title, names in (*((title, names) for title, *names in _PICKED), ("of", rest)):
        names = [name for name in names if name in chosen]
        of_one: dict[str, tuple[str | None, int]] = {}
        for scope, points in offered:
            if all(scope[name] == chosen[name] for name in fixed):
                words = _scope({name: scope[name] for name in names})
                where, so_far = of_one.get(words, (_where(scope), 0))
                is_chosen = scope == chosen
                of_one[words] = (_where(scope) if is_chosen else where, so_far + points)
        own = _scope({name: chosen[name] for name in names})
        first = sorted(of_one.items(), key=lambda each: -each[1][1])
        shown = [*first[:_MOST_SCOPES], *(each for each in first[_MOST_SCOPES:] if each[0] == own)]
        if names and len(shown) > 1:
            links = [(words, where, points) for words, (where, points) in shown if where]
            yield replace(choices(f"scopes_{names[0]}", _PATH, values, "where", links), title=title)
        fixed = (*fixed, *names)


def _pickers(visit: Visit, columns: Sequence[str], limit: float | None = None) -> Iterator[Facts]:
    values = {**_kept(visit), "x": visit["x"].partition(":")[0], "y": visit["y"].partition(":")[0]}
    across = [(words, name, None) for words, name, _ in _ACROSS if name in columns]
    if len(across) > 1:
        yield replace(choices("across", _PATH, {**values, "within": None, "at": None}, "x", across), title="by")
    upwards = [(words, name, None) for words, name in _UPWARDS if name in columns]
    if len(upwards) > 1:
        yield replace(choices("upwards", _PATH, values, "y", upwards), title="best")
    limits = next((limits for _, name, limits in _ACROSS if name == values["x"]), ())
    if limits:
        chosen = {**values, "within": limit}
        words = "at {:,.0f} tokens/s or better" if values["x"] == _X else "within {:,.0f} ms"
        yield replace(choices("limits", _PATH, chosen, "within", [(words.format(each), each, None) for each in limits]), title="limit")


def _best(frontier: Frontier, found: Frontiers, axes: _Axes) -> Entry:
    """The one answer: the best point within the limit, what it depends on, and what the other configurations have."""
    x, y = found.x, found.y
    limit = "" if found.within is None else axes.value(x.column, found.within)
    limit = limit and (f"at {limit} or better" if x.better == "higher" else f"within {limit}")
    points = [point for point in frontier.points if point.validity != "invalid"] or frontier.points
    of_each: dict[str, Point] = {}
    for name in dict.fromkeys(map(_configuration, points)):
        own = [point for point in points if _configuration(point) == name]
        best = best_within(own, (x, y), found.within) if found.within is not None else _extreme(own, y.better)
        if best:
            of_each[name] = best
    ranked = sorted(of_each.items(), key=lambda each: -each[1].y if y.better == "higher" else each[1].y)
    if not ranked:
        return Entry("best", f"No measured point is {limit}", lines=_notes(frontier, found))
    name, point = ranked[0]
    rest = [f"{other} {_figure(each)} {axes.unit(y.column) or ''}".rstrip() + f" ({_worth(each)})" for other, each in ranked[1 : 1 + _NEXT]]
    at = SEPARATOR.join(filter(None, (_load(point), f"{axes.name(x.column)} {axes.value(x.column, point.x)}")))
    words = f"Best {limit}: {name}" if limit else f"Best: {name}"
    return Entry(
        "best", words, f"/runs/{point.run_ids[0]}", (point.validity,) if point.validity else (),
        tuple(filter(None, (at, f"next: {'; '.join(rest)}" if rest else "", *_notes(frontier, found)))), _figure(point),
        "warn" if kind_of(point.validity or "") == "warn" else "", axes.unit(y.column) or "", f"{axes.name(y.column)} · {_worth(point)}",
    )


def _extreme(points: Sequence[Point], better: str) -> Point | None:
    return (max if better == "higher" else min)(points, key=lambda point: point.y, default=None)


def _worth(point: Point) -> str:
    """On how many runs a point depends, what its interval is over, and what its runs are worth."""
    found = point.interval
    over = f"95 % over {counted(*next((count, level) for level, count in found.n.items()))}" if isinstance(found, Interval) else ""
    return ", ".join(filter(None, (counted(len(point.run_ids), "run"), over, point.validity)))


def _figure(point: Point) -> str:
    """Its y with half the width of its interval, where its runs support one."""
    half = _half(point)
    return rounded(point.y, half) + (f" ± {rounded(half, half)}" if half else "")


def _half(point: Point) -> float | None:
    found = point.interval
    return (found.high - found.low) / 2 or None if isinstance(found, Interval) else None


def _notes(frontier: Frontier, found: Frontiers) -> tuple[str, ...]:
    notes = [at_text(frontier.at, found)] if frontier.at is not None else []
    return (*notes, *([f"how sure the frontier is: {frontier.probability}"] if frontier.probability is not None else []))


def _configuration(point: Point) -> str:
    return configuration(point.labels) or f"curve {point.curve_key[:8]}"


def _load(point: Point) -> str:
    words = load_words({"load_kind": point.load_kind, "load": point.load})
    return words or ("load not stated" if point.load is None else f"{point.load_kind} {point.load:g}")


def _table(frontier: Frontier, found: Frontiers, axes: _Axes) -> Table:
    x, y = found.x, found.y
    columns = (
        Column("configuration"), Column("load"), Column("x", axes.name(x.column), kind="number", unit=axes.unit(x.column)),
        Column("y", axes.name(y.column), kind="number", unit=axes.unit(y.column), half="half"), Column("frontier", kind="state"),
        Column("probability", "would be again", kind="number"), Column("validity", kind="state"), Column("runs", kind="number", link=_RUN),
        Column("run_id", is_hidden=True),
        Column("is_on_frontier", is_hidden=True), Column("run_ids", is_hidden=True), Column("curve_key", is_hidden=True),
        Column("is_on_own", is_hidden=True), Column("half", is_hidden=True),
    )
    own = _best_of_own(frontier.points, (x.better, y.better))
    same = Counter((point.x, point.y) for point in frontier.points)
    rows = tuple(
        (
            _configuration(point), _load(point), point.x, point.y, _word(point.is_on_frontier, same[point.x, point.y]), point.probability,
            point.validity, len(point.run_ids), point.run_ids[0], point.is_on_frontier, ", ".join(point.run_ids), point.curve_key,
            point in own, _half(point) if point in own else None,
        )
        for point in sorted(frontier.points, key=lambda point: (not point.is_on_frontier, point.x))[:_MOST_POINTS]
    )
    chart = Chart(
        "steps", "x", "y", group="configuration", state="validity", hatched=("invalid", "flagged"), on_line="is_on_own", line="configuration",
        link=_RUN, better=x.better, details=("load", "frontier", "run_id"), label="configuration",
    )
    line = "Each line goes through the points of one configuration that none of its other points beats. Nothing between them is assumed"
    note = ". ".join([line, *_left_out(found.left_out, axes)])
    return Table("frontier_1", columns, rows, _scope(frontier.scope), note, total=len(frontier.points), chart=chart, is_folded=True)


def _best_of_own(points: Sequence[Point], better: tuple[Better, Better]) -> list[Point]:
    """The points that no other of the same configuration beats."""
    of_each: dict[str, list[Point]] = {}
    for point in points:
        of_each.setdefault(_configuration(point), []).append(point)
    return [
        point for of_one in of_each.values()
        for point, is_on in zip(of_one, non_dominated([(each.x, each.y) for each in of_one], better), strict=True) if is_on
    ]


def _word(is_on_frontier: bool, same: int) -> str:
    tie = f", tie of {same}" if same > 1 else ""
    return f"{'on the frontier' if is_on_frontier else 'beaten'}{tie}"


def _scopes(others: Sequence[tuple[Mapping[str, Any], int]], found: Frontiers) -> Iterator[Table]:
    if not others:
        return
    hidden = (Column(name, is_hidden=True) for name in ("x", "y", "where"))
    columns = (Column("scope", link="/frontier?x={x}&y={y}&where={where}"), Column("points", kind="number"), *hidden)
    axes = f"{found.x.column}:{found.x.better}", f"{found.y.column}:{found.y.better}"
    rows = tuple((_scope(scope), points, *axes, _where(scope)) for scope, points in others[:100])
    yield Table("scopes", columns, rows, "Other scopes", total=len(others), is_folded=True)


def _form(visit: Visit, columns: list[str]) -> Form:
    offered = tuple(dict.fromkeys([*columns, visit["x"], visit["y"]]))
    return Form("axes", _PATH, (
        Choice("x", value=visit["x"], choices=offered), Choice("y", value=visit["y"], choices=offered),
        Choice("where", value=visit["where"] or "", hint="model=*Qwen*,accelerator=H100*"),
        Choice("scope", "compete within", visit["scope"] if visit["scope"] is not None else "", hint=", ".join(SCOPE)),
        Choice("at", "y at x", f"{visit['at']:g}" if visit["at"] is not None else "", hint="a value of x"),
        Choice("within", "best y within x", f"{visit['within']:g}" if visit["within"] is not None else "", hint="a limit on x"),
        Choice("interpolate", value=visit["interpolate"], choices=("no", "yes")),
    ), title="Other axes and conditions", is_folded=True)


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
        ), menu="Frontier", is_further=True, is_costly=True, role=LOAD_POINTS,
    ),
)
