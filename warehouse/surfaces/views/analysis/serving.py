"""Serving: which share of requests met an SLO, and which runs are valid by the policy for served models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from warehouse.analysis.names import SEPARATOR, load_words, model_name
from warehouse.analysis.serving.goodput import CurveGoodput, goodput
from warehouse.analysis.serving.validity import FAILS, HOLDS, NO_EVIDENCE, POLICY, VERDICTS, PointValidity, state_of, validity
from warehouse.errors import counted
from warehouse.statistics.interval import Interval
from warehouse.surfaces.parts import Chart, Choice, Column, Form, Kind, Page, Table
from warehouse.surfaces.view import OFFSET, Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import choices, configuration
from warehouse.surfaces.views.facts.reading import reader
from warehouse.surfaces.views.facts.run_names import named, run_names
from warehouse.transform.project.model import LOAD_POINTS, RUNS, SLOS

_RUN = "/runs/{run_id:path}"
_MOST_CURVES, _MOST, _LISTED = 12, 40, 6
_NEXT = {"The best measured points": "/frontier", "Which runs can be trusted": "/validity"}
_AGAINST = 1  # broken rules that a line names


def _goodput(visit: Visit) -> Page:
    form = Form("slo_asked", "/goodput", (
        Choice("slo", "SLO", visit["slo"] or "", hint="ttft_ms<=500,itl_mean_ms<=50"),
        Choice("target", "share of requests", f"{visit['target']:g}" if visit["target"] is not None else "", hint="0.99"),
        Choice("where", value=visit["where"] or "", hint="model=*Qwen*"),
    ))
    if not visit["slo"]:
        return Page("Goodput", (form, _slos(visit)), "Which share of requests is to meet which limits?", next_steps=_NEXT)
    found = goodput(visit.project, visit["slo"], visit["where"], visit["target"])
    ordered = sorted(found.curves, key=lambda each: (-sum(load.share is not None for load in each.loads), _curve(each)))
    names = _names(ordered)
    limits = ", ".join(
        f"{_SLO_WORDS.get(column, column)} at most {value:g}{' ms' if column.endswith('_ms') else ''}" for column, value in found.limits.items()
    )
    notices = ["Not points: " + ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())] if found.left_out else []
    return Page(
        "Goodput", (form, _curves(ordered, names), _loads(ordered[:_MOST_CURVES], names, found.target)),
        f"{limits}, for {found.target * 100:.4g} % of the requests",
        notices=tuple(notices), crumbs=(("Goodput", "/goodput"),), next_steps=_NEXT,
    )


_SLO_WORDS = {"slo": "SLO", "model_pattern": "names of models", "ttft_ms": "TTFT", "tpot_ms": "TPOT", "itl_mean_ms": "ITL, mean", "e2e_ms": "E2E"}


def _slos(visit: Visit) -> Table:
    with reader(visit) as found:
        table = found.role(SLOS)
        rows = found.rows(f"select * from {table.sql} order by all limit {_MOST}") if table and "slo" in table.columns else []
        described = found.described(table.name) if table else {}
    columns = []
    for name in rows[0] if rows else ["slo"]:
        unit, note = described.get(name, (None, ""))
        kind: Kind = "number" if any(isinstance(row[name], float) for row in rows) else "text"
        link = "/goodput?slo={slo}" if name == "slo" else None
        columns.append(Column(name, _SLO_WORDS.get(name, ""), kind, unit, link, note=note, most=24 if name == "model_pattern" else None))
    return Table("slos", tuple(columns), tuple(tuple(row.values()) for row in rows), "Named SLOs", empty="the project names no SLO")


def _curve(curve: CurveGoodput) -> str:
    """Model, lengths, precision and configuration."""
    scope = curve.scope
    model = scope.get("model")
    known = (model_name(str(model)) if model else None, load_words(scope), scope.get("precision"), configuration(curve.labels))
    return SEPARATOR.join(filter(None, known)) or f"curve {curve.curve_key[:8]}"


def _names(curves: list[CurveGoodput]) -> dict[str, str]:
    """The names of curves, those that share one told apart by their keys."""
    names = {each.curve_key: _curve(each) for each in curves}
    shared = Counter(names.values())
    return {key: f"{name}{SEPARATOR}curve {key[:8]}" if shared[name] > 1 else name for key, name in names.items()}


def _curves(curves: list[CurveGoodput], names: Mapping[str, str]) -> Table:
    columns = (
        Column("curve"), Column("load_kind", "load"), Column("largest_load", "largest that meets it", kind="number"),
        Column("largest_sure_load", "surely", kind="number"), Column("loads", kind="number"), Column("curve_key", is_hidden=True),
    )
    rows = tuple(
        (
            names[each.curve_key], each.load_kind and each.load_kind.replace("_", " "), each.largest_load, each.largest_sure_load,
            len(each.loads), each.curve_key,
        )
        for each in curves[:_MOST]
    )
    note = "Largest measured load whose share of good requests meets the target; surely: its 95 % interval does."
    return Table("curves", columns, rows, "The largest load that meets it", note, total=len(curves), listed=_LISTED)


def _loads(curves: list[CurveGoodput], names: Mapping[str, str], target: float) -> Table:
    columns = (
        Column("curve"), Column("load", kind="number"), Column("share", "share that met it", kind="number"),
        Column("low", "95 % from", kind="number", is_minor=True), Column("high", "to", kind="number", is_minor=True), Column("met", kind="number"),
        Column("total", "requests", kind="number"),
        Column("goodput_per_s", "goodput", kind="number", unit="1/s"), Column("runs", kind="number", link=_RUN), Column("run_id", is_hidden=True),
        Column("reason", "why not"),
    )
    rows: list[tuple[Any, ...]] = []
    for curve in curves:
        for each in curve.loads:
            low, high = (each.interval.low, each.interval.high) if isinstance(each.interval, Interval) else (None, None)
            why = each.reason or ("" if low is not None else f"no interval: {each.interval}")
            figures = (each.load, each.share, low, high, each.met, each.total, each.goodput_per_s)
            rows.append((names[curve.curve_key], *figures, len(each.run_ids), each.run_ids[0], why))
    title = "Share of requests that met the SLO, by load"
    chart = Chart("trend", "load", "share", title, low="low", high="high", group="curve", mark=target, link=_RUN)
    return Table("loads", columns, tuple(rows), "Loads", chart=chart, listed=_MOST, is_folded=len(rows) > _MOST)


def _validity(visit: Visit) -> Page:
    found = validity(visit.project, visit["where"], visit["policy"])
    counts = Counter(point.verdict for point in found.points)
    chosen = [point for point in found.points if visit["verdict"] in (None, point.verdict)]
    first = visit["offset"]
    shown = chosen[first : first + _MOST]
    with reader(visit) as session:
        table = session.role(RUNS)
        names = run_names(session, table, {point.run_id for point in shown}) if table else {}
    columns = (
        Column("name", "model · GPU · engine · load", link=_RUN, below="run_id"), Column("verdict", kind="state"), Column("line", "because"),
        *(Column(name, is_hidden=True) for name in ("run_id", "model", "load", "configuration", "broken", "silent")),
    )
    rows = tuple(
        (
            named(names, point.run_id), point.verdict, point_line(point).partition(": ")[2] or _counts(point), point.run_id, point.model,
            load_text(point), " ".join(str(value) for value in point.labels.values()), "; ".join(map(str, point.against)),
            ", ".join(each.rule.id for each in point.silent),
        )
        for point in shown
    )
    more = address("/validity", **{**visit.values, "offset": first + _MOST}) if len(chosen) > first + _MOST else None
    offered = [("any verdict", None, len(found.points)), *((word, word, counts[word]) for word in VERDICTS if counts[word])]
    form = Form("points_asked", "/validity", (
        Choice("where", value=visit["where"] or "", hint="model=*Qwen*"), Choice("policy", value=visit["policy"]),
        *((Choice("verdict", value=visit["verdict"], form="hidden"),) if visit["verdict"] else ()),
    ))
    return Page(
        "Validity",
        (
            choices("verdict", "/validity", {**visit.values, "offset": None}, "verdict", offered), form,
            Table("points", columns, rows, total=len(chosen), more=more, empty="no point is like that"), _rules(found.points),
        ),
        f"{len(found.points):,} load points judged by policy {found.policy}, each by itself",
        next_steps={"The best measured points": "/frontier", "All runs": "/runs"},
    )


def point_line(point: PointValidity) -> str:
    """A point's verdict in a line: what is against it, and how many rules hold or have no evidence."""
    words = [f"{point.verdict}: {'; '.join(map(str, point.against[:_AGAINST]))}" if point.against else point.verdict]
    if len(point.against) > _AGAINST:
        words.append(f"{len(point.against) - _AGAINST} more broken")
    return " · ".join([*words, _counts(point)])


def _counts(point: PointValidity) -> str:
    states = Counter(state_of(each) for each in point.rules)
    words = [f"{counted(states[HOLDS], 'rule')} {'holds' if states[HOLDS] == 1 else 'hold'}"]
    return " · ".join(words + [f"{states[NO_EVIDENCE]} without evidence"] * bool(states[NO_EVIDENCE]))


def _rules(points: tuple[PointValidity, ...]) -> Table:
    """What each rule found over all points."""
    found: dict[str, Counter[str]] = {}
    says: dict[str, str] = {}
    for point in points:
        for each in point.rules:
            result = {HOLDS: "holds", NO_EVIDENCE: "without evidence", FAILS: "broken"}[state_of(each)]
            found.setdefault(each.rule.id, Counter())[result] += 1
            says[each.rule.id] = each.rule.says
    columns = (
        Column("rule"), Column("says", "figure"), Column("broken", kind="number"), Column("without_evidence", kind="number"),
        Column("holds", kind="number"),
    )
    rows = tuple((rule, says[rule], counts["broken"], counts["without evidence"], counts["holds"]) for rule, counts in found.items())
    return Table("rules", columns, tuple(sorted(rows, key=lambda row: (-row[2], -row[3], row[0]))), "Rules", is_folded=True)


def load_text(point: PointValidity) -> str:
    return "not stated" if point.load is None else f"{(point.load_kind or 'load').replace('_', ' ')} {point.load:g}"


_WHERE = Parameter("where", "Only points for which name=value,name!=value holds; * stands for any characters.")
VIEWS = (
    View(
        "goodput", "/goodput", "Goodput", "Which share of requests met all limits of an SLO together, over the loads of each curve.", _goodput, (
            Parameter("slo", "Limits such as ttft_ms<=500,itl_mean_ms<=50, or the name of an SLO of the project."),
            Parameter("target", "The share of requests that must meet the SLO.", float, bounds=(0.0, 1.0)), _WHERE,
        ), menu="Goodput", is_further=True, is_costly=True, role=LOAD_POINTS,
    ),
    View(
        "validity", "/validity", "Validity", "Which runs of served models a policy calls valid, flagged, not proven or invalid, and by which rules.",
        _validity, (
            _WHERE, Parameter("policy", "The policy to judge by.", default=POLICY), Parameter("verdict", "Only points judged so.", choices=VERDICTS),
            OFFSET,
        ), menu="Validity", is_further=True, is_costly=True, role=LOAD_POINTS,
    ),
)
