"""Compare: two sets of runs side by side, with only what differs, and the effect on each metric with its verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from warehouse.analysis.compare import BAD, THRESHOLD, Comparison, MetricComparison, compare
from warehouse.analysis.conditions import read_conditions
from warehouse.analysis.measurements import Measured, measured
from warehouse.analysis.names import SEPARATOR
from warehouse.analysis.sides import Side
from warehouse.errors import counted
from warehouse.statistics.interval import Interval
from warehouse.surfaces.notebook.fragments import kind_of
from warehouse.surfaces.parts import Chart, Choice, Column, Entry, Fact, Facts, Form, Page, Part, Table, Text
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import between, difference_words, differences_table, direction, percent
from warehouse.surfaces.views.facts.reading import reader
from warehouse.surfaces.views.facts.runs import DIMENSIONS, label_sql
from warehouse.transform.export.docs.published_pages import short

_PATH = "/compare"
_NEXT = {"What changed": "/changes", "All runs": "/runs"}
_MOST = 60  # runs, conditions
_MOST_METRICS = 40
_MOST_DRAWN = 20_000  # runs of one metric
_OFFERED = 15
_SAME = ("workload", "parameters", "hardware", "testbed")  # what a series holds equal
_LISTED = 15  # rows of all metrics, to read
_LONGEST = 48  # characters of a side in the title
_MOST_CARDS, _MOST_ENTRIES = 8, 6  # configurations
_LEADING, _MOST_REST, _FAMILIES = 5, 8, 6  # metrics of a configuration: shown, folded; families of those by name


def _answer(visit: Visit) -> Page:
    form = _form(visit)
    assert visit.build
    if not visit["base"] or not visit["head"]:
        with measured(visit.build) as found:
            said = "Which runs are to be compared? Base is what you know, head is what you ask about."
            return Page("Compare", (form, *_offers(visit, found)), said, next_steps=_NEXT)
    compared = compare(visit.project, visit["base"], visit["head"], visit["threshold"], visit["metric"], may_be_file=False)
    with measured(visit.build) as found:
        same = _same(found, compared)
    differing = differences_table(compared.differences, "What differs", ("base", "head"))
    parts: list[Part] = [
        form, *_verdicts(compared), *_configurations(compared), *_runs(compared), *_not_compared(compared), _sides(compared), _effects(compared),
        _reasons(compared), differing, same,
    ]
    worst = _worst(compared)
    verdicts = _summary(compared)
    swapped = address(_PATH, **{**visit.values, "base": visit["head"], "head": visit["base"], "threshold": _threshold(visit)})
    parts.insert(1, Facts("swap", (Fact("swap", None, link=swapped, title="swap the sides"),), form="links"))
    return Page(
        _title(visit), tuple(parts), verdicts, (worst,) if worst else (), crumbs=(("Compare", _PATH),),
        next_steps=_NEXT,
    )


def _title(visit: Visit) -> str:
    """The sides in words: what is asked of one and not of the other."""
    base, head = ([each.strip() for each in visit[side].split(",") if each.strip()] for side in ("base", "head"))
    sides = [_words(visit, [each for each in own if each not in other]) for own, other in ((base, head), (head, base))]
    return f"Compare {sides[0]} with {sides[1]}" if sides[0] != sides[1] and all(0 < len(each) <= _LONGEST for each in sides) else "Compare"


def _words(visit: Visit, asked: Sequence[str]) -> str:
    """A side as people call it: the values of its conditions, or how many runs it names."""
    if not all("=" in each for each in asked):
        return counted(len(asked), "run")
    said = []
    for each in asked:
        name, _, value = each.partition("=")
        plain = value.strip("'\"")
        said.append(_named(visit, name, {plain}).get(plain) or short(plain))
    return SEPARATOR.join(said)


def _threshold(visit: Visit) -> float | None:
    """The threshold, if it is not the usual one."""
    return None if visit["threshold"] == THRESHOLD else visit["threshold"]


def _worst(found: Comparison) -> str | None:
    """The worst headline, in the word of its metrics where they share one: slower, not worse."""
    headline, worst = found.worst_headline(), found.worst()
    if headline is None:
        return None
    ways = {direction(each.judged.outcome, each.unit) for each in found.metrics if each.judged.verdict == worst and each.judged.outcome in BAD}
    return headline.replace("worse", str(ways.pop())) if len(ways) == 1 else headline


def _summary(found: Comparison) -> str:
    said = [f"{count} {headline}" for headline, count in Counter(map(_headline, found.ranked())).items()]
    words = f"{counted(len(found.metrics), 'metric')}: {', '.join(said)}" if said else "the sides have no metric in common"
    more = len(found.differences) - _MOST_DIFFERENCES
    differs = [*map(difference_words, found.differences[:_MOST_DIFFERENCES]), *([f"and {more} more"] if more > 0 else [])]
    return SEPARATOR.join([words, *([f"what differs: {', '.join(differs)}"] if differs else [])])


def _form(visit: Visit) -> Form:
    fields = (
        Choice("base", value=visit["base"] or "", hint="run ids with commas, or software='vllm 0.6*'"),
        Choice("head", value=visit["head"] or "", hint="the same, of the runs to judge"),
        Choice("metric", value=visit["metric"] or "", hint="any; * stands for any characters"),
        Choice("threshold", "not worth acting on", f"{visit['threshold']:g}"),
    )
    is_asked = bool(visit["base"] and visit["head"])
    return Form("sides_asked", _PATH, fields, "Compare", title="Compare other runs" if is_asked else "", is_folded=is_asked)


def _sides(found: Comparison) -> Table:
    columns = (Column("name", "side"), Column("asked", "asked for"), Column("runs"), Column("uncounted", "runs that do not count"))
    rows = tuple((name, side.asked, _counts(side), _uncounted(side)) for name, side in (("base", found.base), ("head", found.head)))
    return Table("sides", columns, rows)


def _counts(side: Side) -> str:
    return f"{counted(len(side.run_ids), 'run')} in {counted(len({each.session for each in side.measurements}), 'session')}"


def _uncounted(side: Side) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in side.uncounted.items()) or "none"


_MOST_DIFFERENCES = 2  # that are said before all else
_HIDDEN = ("base", "head", "unit", "ratio", "low", "high", "p", "verdict", "is_exploratory", "metric", "point", "series_key")


def _effects(found: Comparison) -> Table:
    columns = (
        Column("label", "metric", link="/explore?series={series_key}"), Column("headline", "verdict", kind="state"),
        Column("way", "direction", kind="state"),
        Column("effect", kind="effect", is_hidden=True), Column("change"), Column("interval", "95 %"),
        Column("levels", "medians"), Column("runs"), *(Column(name, is_hidden=True) for name in _HIDDEN),
    )
    ranked = found.ranked()
    rows = tuple(tuple(record[column.name] for column in columns) for record in (_effect(each, found.threshold) for each in ranked[:_MOST_METRICS]))
    empty = "the sides have no metric in common"
    return Table("metrics", columns, rows, "All metrics", empty=empty, total=len(ranked), listed=_LISTED, is_folded=True)


def _by_configuration(found: Comparison) -> list[tuple[str, list[MetricComparison]]]:
    """The metrics of each configuration, the strongest verdict first, and the configurations likewise."""
    groups: dict[str, list[MetricComparison]] = {}
    for each in found.ranked():
        groups.setdefault(SEPARATOR.join(filter(None, (each.label.subject, each.label.gpu))) or "not stated", []).append(each)
    return list(groups.items())


def _verdicts(found: Comparison) -> Iterable[Facts]:
    """The verdict of each configuration, where there are several."""
    groups = _by_configuration(found)
    if len(groups) > 1:
        cards = (_card(name, metrics[0], f"#configuration-{place}") for place, (name, metrics) in enumerate(groups[:_MOST_CARDS], 1))
        yield Facts("verdicts", tuple(cards), form="cards")


def _card(name: str, first: MetricComparison, link: str) -> Fact:
    record = _effect(first, first.threshold)
    way = direction(first.judged.outcome, first.unit)
    settled = f"{first.judged.verdict}{' (exploratory)' if first.is_exploratory else ''}" if way else ""
    needed = first.needs and f"needs {first.needs}"
    note = ", ".join(filter(None, (settled, needed, record["change"] if way else "", first.label.metric)))
    return Fact("verdict", way or first.judged.verdict, link=link, title=name, note=note, tone=_tone(first))


def _tone(found: MetricComparison) -> str:
    """The colour of an effect: what is only suspected is neither good nor bad."""
    kind = kind_of(direction(found.judged.outcome, found.unit) or "")
    return "" if kind == "plain" else kind if found.judged.verdict == "confirmed" else "warn"


def _configurations(found: Comparison) -> Iterable[Entry]:
    """An entry for each configuration: its verdict, the strongest metric of each family, and the others folded."""
    groups = _by_configuration(found)
    for place, (name, metrics) in enumerate(groups[:_MOST_ENTRIES], 1):
        leading = list({each.label.family: each for each in reversed(metrics)}.values())[::-1][:_LEADING]
        rest = [each for each in metrics if all(each is not other for other in leading)]
        figures = [_metrics(leading, f"leading-{place}", "")]
        if rest:
            families = Counter(each.label.family for each in rest).most_common(_FAMILIES)
            words = ", ".join(f"{family} {count}" if count > 1 else family for family, count in families)
            title = f"{counted(len(rest), 'more metric')} of this configuration: {words}"
            figures.append(replace(_metrics(rest[:_MOST_REST], f"rest-{place}", title), total=len(rest)))
        first = metrics[0]
        record = _effect(first, found.threshold)
        is_known = first.judged.outcome is not None
        yield Entry(
            f"configuration-{place}", name, None, (_headline(first),), _said(metrics), record["change"] if is_known else "", _tone(first),
            record["interval"] if is_known else "", f"{first.label.metric}{f' · {first.label.load}' if first.label.load else ''}" if is_known else "",
            tuple(figures),
        )
    if len(groups) > _MOST_ENTRIES:
        yield Entry("more", f"and {counted(len(groups) - _MOST_ENTRIES, 'more configuration')}, in the table of all metrics below")


def _headline(found: MetricComparison) -> str:
    """The verdict and which way it went, in the words of all of this page: slower where a time or a rate is worse."""
    way = direction(found.judged.outcome, found.unit)
    return f"{found.judged.verdict}{f' {way}' if way else ''}{' (exploratory)' if found.is_exploratory else ''}"


def _said(metrics: Sequence[MetricComparison]) -> tuple[str, ...]:
    """On how many runs a verdict depends, what else differs, how much repeats differ, and what would have been found."""
    first = metrics[0]
    design = first.judged.design
    words = [
        f"{counted(len(first.base), 'run')} in {counted(design.base_sessions, 'session')} against {counted(len(first.head), 'run')} in"
        f" {counted(design.head_sessions, 'session')}",
        f"several things differ: {', '.join(first.variables)}" if first.is_exploratory else "",
        f"repeats differ by: {noise}" if (noise := _noise(first)) else "",
        f"a change of {(first.finds - 1) * 100:.1f} % would have been found" if first.finds else "",
        f"needs {first.needs}" if first.needs else "",
    ]
    verdicts = Counter(map(_headline, metrics))
    return " · ".join(filter(None, words)), ", ".join(f"{count} {word}" for word, count in verdicts.items())


def _metrics(found: Sequence[MetricComparison], name: str, title: str) -> Table:
    columns = (
        Column("metric", link="/explore?series={series_key}"), Column("base", kind="number"), Column("head", kind="number"), Column("unit"),
        Column("effect", "effect; grey: not worth acting on", kind="effect", tone="way", is_minor=True, is_hidden=bool(title)),
        Column("change"), Column("interval", "95 %"), Column("verdict", kind="state"), Column("way", is_hidden=True),
        Column("series_key", is_hidden=True),
    )
    rows = []
    for each in found:
        record = _effect(each, each.threshold)
        label = SEPARATOR.join(filter(None, (each.label.metric, each.label.load, each.label.apart)))
        rows.append((
            label, record["base"], record["head"], each.label.unit, record["effect"], record["change"], record["interval"], record["headline"],
            record["way"], record["series_key"],
        ))
    return Table(name, columns, tuple(rows), title, is_folded=bool(title))


def _reasons(found: Comparison) -> Table:
    """Why each verdict is what it is, what a comparison of this size would find, and how much repeats differ."""
    columns = (
        Column("label", "metric"), Column("verdict"), Column("why"), Column("settles", "what would settle it"),
        Column("finds", "smallest effect that it finds in four of five cases"), Column("noise", "repeats differ by (A/A)"),
    )
    rows = []
    for each in found.ranked()[:_MOST_METRICS]:
        judged = each.judged
        notes = [note for note in each.notes if not note.startswith(judged.verdict)]
        finds = f"{(each.finds - 1) * 100:.1f} %" if each.finds else ""
        rows.append((str(each.label), _headline(each), "; ".join([judged.reason, *notes]), each.needs, finds, _noise(each)))
    return Table("reasons", columns, tuple(rows), "Why", total=len(found.metrics), empty="nothing was judged", listed=_LISTED, is_folded=True)


def _effect(found: MetricComparison, threshold: float) -> dict[str, Any]:
    judged = found.judged
    ratio = judged.ratio if isinstance(judged.ratio, Interval) else None
    base, head = (median(each.value for each in side) for side in (found.base, found.head))
    estimate = ratio.estimate if ratio else head / base if base > 0 else None
    low, high = (ratio.low, ratio.high) if ratio else (None, None)
    unit = f" {found.unit}" if found.unit else ""
    return {
        "metric": found.metric, "point": found.point, "verdict": judged.verdict, "headline": _headline(found),
        "way": direction(judged.outcome, found.unit) or "not known",
        "effect": {"ratio": estimate, "low": low, "high": high, "threshold": threshold} if estimate else None,
        "change": percent(estimate) or "no ratio", "interval": between(low, high) or "no interval", "base": base, "head": head, "unit": found.unit,
        "levels": f"{base:,.6g} → {head:,.6g}{unit}",
        "runs": f"{len(found.base)} v {len(found.head)}; {judged.design.base_sessions} v {judged.design.head_sessions} sessions",
        "label": str(found.label), "ratio": estimate, "low": low, "high": high, "series_key": found.head[0].series_key,
        "is_exploratory": found.is_exploratory, "p": judged.p,
    }


def _noise(found: MetricComparison) -> str:
    if found.noise is None:
        return ""
    parts = (("runs", found.noise.run), ("sessions", found.noise.session))
    return ", ".join(f"{name} {share * 100:.1f} %" for name, share in parts if share is not None)


def _runs(found: Comparison) -> Iterable[Table]:
    """The runs of the metric with the strongest verdict, each as a dot."""
    ranked = found.ranked()
    if not ranked:
        return
    first = ranked[0]
    columns = (
        Column("side"), Column("run_id", "run", kind="code", link="/runs/{run_id:path}"), Column("started_at", kind="moment"),
        Column("session", is_minor=True), Column("node", is_minor=True), Column("value", first.label.metric, kind="number", unit=first.label.unit),
    )
    rows = tuple(
        (side, each.run_id, each.started_at, each.session, each.node, each.value)
        for side, measurements in (("base", first.base), ("head", first.head)) for each in measurements
    )
    chart = Chart("dots", "value", group="side", details=("run_id",), link="/runs/{run_id:path}", title=f"Each run: {first.label}")
    yield Table("runs", columns, rows[:_MOST_DRAWN], "The runs", total=len(rows), listed=_MOST, chart=chart, is_folded=True)


def _not_compared(found: Comparison) -> Iterable[Text]:
    if found.left_out:
        yield Text("not_compared", "\n".join(found.left_out), title="Not compared")


def _same(found: Measured, compared: Comparison) -> Table:
    """The conditions that all runs of both sides share."""
    conditions = read_conditions(found, {*compared.base.run_ids[:_MOST], *compared.head.run_ids[:_MOST]})
    values: dict[tuple[str, str], set[str]] = {}
    for of_run in conditions.values():
        for name, (text, number) in of_run.items():
            if number is None:
                values.setdefault(name, set()).add(text)
    shared = [
        (*name, next(iter(texts))) for name, texts in sorted(values.items())
        if len(texts) == 1 and all(name in of_run for of_run in conditions.values())
    ]
    columns = (Column("kind"), Column("name"), Column("value", "both sides"))
    title, empty = "The same on both sides", "nothing is stated of all runs"
    return Table("same", columns, tuple(shared[:_MOST]), title, total=len(shared), empty=empty, is_folded=True)


def _offers(visit: Visit, found: Measured) -> Iterable[Table]:
    """Comparisons that are worth a look: software, hardware and sessions that followed each other where all else that makes a series was the same."""
    sources = (
        ("software", "Software versions of one case", "software versions"), ("hardware", "Hardware of one case", "kinds of hardware"),
        ("session", "Sessions of one case", "sessions"),
    )
    for name, title, several in sources:
        same = ", ".join(("benchmark_case_id", *(each for each in _SAME if each != name)))
        rows = found.con.execute(
            f"with side as (select {same}, {name} as side, count(distinct run_id) as runs, max(started_at) as last_at,"
            f" min(started_at) as first_at from {found.measurements.sql} where {name} is not null and benchmark_case_id is not null group by all),"
            " pair as (select benchmark_case_id, lag(side) over following as base, lag(runs) over following as base_runs, side, runs, last_at"
            " from side"
            f" window following as (partition by {same} order by first_at nulls first, side) qualify base is not null and base <> side)"
            " select benchmark_case_id, base, max(base_runs), side, max(runs), max(last_at) as last_at from pair"
            " group by benchmark_case_id, base, side"
            f" order by last_at desc nulls last, benchmark_case_id, side limit {_OFFERED + 1}"
        ).fetchall()
        named = _named(visit, name, {each for row in rows for each in (row[1], row[3])})
        columns = (
            Column("case", link=f"/compare?base=benchmark_case_id={{case}},{name}={{base}}&head=benchmark_case_id={{case}},{name}={{head}}"),
            Column("from", below="base_below"), Column("to", below="head_below"), Column("runs"), Column("last_run_at", "last run", kind="moment"),
            *(Column(each, is_hidden=True) for each in ("base", "head", "base_below", "head_below")),
        )
        empty = f"no case has runs of two {several} with the same workload"
        yield Table(f"by_{name}", columns, tuple(_offer(row, named) for row in rows[:_OFFERED]), title, empty=empty)


def _named(visit: Visit, dimension: str, keys: Collection[str]) -> dict[str, str]:
    """What people call the sides, where a dimension names them."""
    if dimension not in DIMENSIONS:
        return {}
    key, table, _ = DIMENSIONS[dimension]
    with reader(visit) as found:
        if key not in found.columns(table):
            return {}
        sql = f"select {key} as key, {label_sql(found, dimension)} as label from {table} as {dimension} where list_contains(?, {key})"
        return {row["key"]: row["label"] for row in found.rows(sql, [sorted(keys)]) if row["label"]}


def _offer(row: Sequence[Any], named: Mapping[str, str]) -> tuple[Any, ...]:
    """Two sides of one name have their keys below it."""
    case, base, base_runs, head, runs, last = row
    names = [named.get(each) or short(each) for each in (base, head)]
    below = [base, head] if names[0] == names[1] else [None, None]
    return case, *names, f"{base_runs} v {runs}", last, base, head, *below


VIEWS = (
    View(
        "compare", _PATH, "Compare",
        "Two sets of runs compared: what differs between them, and for each metric the effect with its interval and verdict.",
        _answer, (
            Parameter("base", "Run ids with commas, or conditions such as software='vllm 0.6*', cluster=node-1."),
            Parameter("head", "The same, of the runs to judge."),
            Parameter("threshold", "Effects of at most this share are not worth acting on.", float, THRESHOLD, bounds=(0.0, 10.0)),
            Parameter("metric", "Only metrics of this name; * stands for any characters."),
        ), menu="Compare", is_costly=True,
    ),
)
