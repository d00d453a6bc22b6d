"""The published sections of a report: pure functions from published numbers to parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from warehouse.claims.gate.policy import PUBLISHABLE
from warehouse.errors import counted
from warehouse.surfaces.parts import Chart, Column, Fact, Facts, Part, Table, Text, without_empty
from warehouse.surfaces.reports.glance import figures_that_matter, not_known
from warehouse.surfaces.reports.numbers_shown import Number, Selection, by_query
from warehouse.surfaces.reports.withholding import Withholding
from warehouse.surfaces.reports.wording import (
    AREAS,
    UNPUBLISHABLE,
    are_apart,
    area,
    half_of,
    impact,
    interval,
    measure,
    n_of,
    plain_title,
    standing,
    title,
    unit_of,
    way,
)
from warehouse.surfaces.views.analysis.wording import percent
from warehouse.surfaces.views.claims.number_runs import FAILED, LEFT_OUT, NOT_USED, USED
from warehouse.surfaces.views.results.facets import title as query_title
from warehouse.transform.export.docs.published_pages import short, shown_value

_MOST_DRAWN = 12  # numbers of a query whose runs are drawn
_MOST_DOTS = 600
_FIGURE = (
    Column("what"), Column("measure"), Column("value", kind="number", half="half"), Column("unit"), Column("interval"), Column("n"),
    Column("verdict", kind="state"), Column("standing", "may be quoted", "state"), Column("number", kind="code"),
    Column("half", is_hidden=True),
)



def summary(found: Selection, named: Callable[[str], str] = str) -> Iterator[Part]:
    """How many numbers there are and what they are worth, the few that matter, what is not known, and what is not shown. `named` is applied to
    each name of a row before it is shortened."""
    verdicts = Counter(each.worth.verdict for each in found.numbers)
    cut = f"the first {len(found.numbers)} are shown: --scope narrows it" if found.total > len(found.numbers) else ""
    facts = [Fact("numbers", found.total, note=cut)]
    facts += [Fact(verdict, count) for verdict, count in sorted(verdicts.items(), key=lambda item: (item[0] != PUBLISHABLE, -item[1], item[0]))]
    if found.others:
        facts.append(Fact("not_shown", found.others, note="settings and counts: cells that their query claims nothing of, or that have no unit"))
    yield Facts("summary", tuple(facts), "What is published")
    if found.numbers:
        shown = figures_that_matter(found.numbers)
        figures = tuple((plain_title(each, each.grain, named), *_figure(each, {})[1:]) for each in shown)
        yield Table("numbers-first", _FIGURE, figures, "Figures that matter")
        yield Text("not_known", "\n".join(not_known(found)) or "nothing that a rule asks for", "raw", "What is not known")
    columns = (Column("query"), Column("publication", kind="code"), Column("published_at", "published", "moment"))
    rows = tuple((query, digest, at) for digest, (query, at) in found.shown.items())
    yield Table("publications", columns, rows, "Publications", is_folded=True)
    if found.left_out:
        why = (Column("query"), Column("publication", kind="code"), Column("why", "why it is left out"))
        yield Table("left_out", why, tuple((each.query, each.publication, each.why) for each in found.left_out), "Publications left out")


def engineering(found: Selection) -> Iterator[Part]:
    """The numbers by query with the rules that they do not pass, and the runs under them as dots."""
    yield from summary(found)
    for place, (query, numbers) in enumerate(by_query(found.numbers), 1):
        varying = _varying(numbers)
        columns = (*_FIGURE, Column("against", "rules not passed"))
        rows = tuple((plain_title(each, {name: each.grain[name] for name in varying}), *_figure(each, {})[1:], _against(each)) for each in numbers)
        yield Table(f"numbers-{place}", columns, rows, query_title(query), _constant(numbers, varying))
        yield from _runs(place, query, numbers, varying)
    if found.numbers:
        first = found.numbers[0].number_id
        lines = f"wh verify {first}\nwh lineage {first} --rows --excluded\nwh audit-packet {first} -o number.whp"
        yield Text("repeat", lines, "commands", "Check a number", "For any number id of this report.")


def product(found: Selection) -> Iterator[Part]:
    """The numbers by what they say something about, and how they moved since the publication before."""
    yield from summary(found)
    of_area = {name: [each for each in found.numbers if area(each.column, each.unit) == name] for name in AREAS}
    moved = tuple(row for name in AREAS for each in of_area[name] if (row := _moved(name, each)))
    columns = (
        Column("area"), Column("what"), Column("direction", kind="state"), Column("change"), Column("impact", "expected user impact"),
        Column("confidence"), Column("next", "next step"), Column("number", kind="code"), Column("earlier", "number before", "code"),
    )
    note = "Each number against the one that the publication before held in its cell."
    yield Table("moved", columns, moved, "What moved between publications", note, "nothing was published twice, or nothing moved")
    for name in AREAS:
        if of_area[name]:
            rows = tuple((plain_title(each, each.grain), *_figure(each, {})[1:]) for each in of_area[name])
            yield Table(f"numbers-{name}", _FIGURE, rows, name.capitalize(), total=len(rows))


def partner(found: Selection, withheld: Withholding) -> Iterator[Part]:
    """The numbers by query, without the names of our machines, people, folders and jobs."""
    parts = list(summary(found, withheld.text))
    for place, (query, numbers) in enumerate(by_query(found.numbers), 1):
        # Withheld before it is shortened: the halves of a name are not recognised.
        rows = tuple((plain_title(each, each.grain, withheld.text), *_figure(each, {})[1:]) for each in numbers)
        parts.append(Table(f"numbers-{place}", _FIGURE, rows, query_title(query)))
    for part in parts:
        if isinstance(part, Table) and part.name.startswith("numbers-"):
            # Number ids and intervals are ours to show; the name of a row may also be one that only its whole makes.
            yield Table(part.name, part.columns, tuple((withheld.text(row[0]), *row[1:]) for row in part.rows), part.title)
        elif part.name == "left_out":
            yield withheld.part(part)
        else:
            yield part


def _varying(numbers: Sequence[Number]) -> list[str]:
    names = list(numbers[0].grain)
    found = [name for name in names if len({repr(each.grain.get(name)) for each in numbers}) > 1]
    return found or names


def _constant(numbers: Sequence[Number], varying: Sequence[str]) -> str:
    same = [f"{name} {short(value)}" for name, value in numbers[0].grain.items() if name not in varying and value is not None]
    return f"All of {', '.join(same)}." if same else ""


def _figure(number: Number, shown: Sequence[str] | Mapping[str, Any]) -> tuple[Any, ...]:
    grain = {name: number.grain[name] for name in number.grain if name in shown}
    return (
        title(number, grain), measure(number.column, number.unit), number.value, unit_of(number), interval(number.worth), n_of(number.worth),
        number.worth.verdict, standing(number.worth), number.number_id, half_of(number.worth),
    )


def _against(number: Number) -> str:
    if number.worth.policy is None or not number.worth.rules:
        return "no rule was applied"
    return "; ".join(f"{each.told}: {each}" for each in number.worth.rules if not each.is_met) or "all are passed"


def _moved(name: str, number: Number) -> tuple[Any, ...] | None:
    before = number.earlier
    if before is None or before.value == number.value:
        return None
    ratio = float(number.value) / float(before.value) if before.value and number.value and (before.value > 0) == (number.value > 0) else None
    apart = are_apart(number.worth, before.worth)
    confidence = {
        True: "their intervals are apart", False: "their intervals overlap: not shown to differ", None: "not known: one of them has no interval",
    }[apart]
    is_quotable = standing(number.worth) == standing(before.worth) == PUBLISHABLE
    said = way(name, ratio) if ratio and apart is not False else "not shown to differ" if apart is False else "changed"
    expected = impact(name, ratio) if ratio and apart else "none that is shown" if apart is False else "not known"
    step = "may be quoted" if apart and is_quotable else "more runs of both, in several sessions" if not apart else f"one of them is {UNPUBLISHABLE}"
    change = f"{shown_value(before.value)} → {shown_value(number.value)} {number.unit or ''}".strip() + (f" ({percent(ratio)})" if ratio else "")
    what = f"{plain_title(number, number.grain)} · {measure(number.column, number.unit)}"
    return name, what, said, change, expected, confidence, step, number.number_id, before.number_id


def _runs(place: int, query: str, numbers: Sequence[Number], varying: Sequence[str]) -> Iterator[Part]:
    """The values of the runs of each number, as far as its publication judged them. One table a unit: they share an axis."""
    judged = [each for each in numbers if each.worth.evidence and each.worth.evidence.observations]
    for column in dict.fromkeys(each.column for each in judged):
        of_column = [each for each in judged if each.column == column]
        unit = of_column[0].unit
        columns = (
            Column("of"), Column("number", kind="code"), Column("run_id", "run", "code"), Column("value", kind="number", unit=unit),
            Column("state", kind="state"), Column("why"),
        )
        rows = tuple(row for each in of_column[:_MOST_DRAWN] for row in _dots(each, varying))
        chart = Chart("dots", "value", title="Each dot is a run", x_unit=unit, state="state", hatched=(LEFT_OUT, FAILED, NOT_USED), facet="of")
        note = f"The first {_MOST_DRAWN} of {counted(len(of_column), 'number')}." if len(of_column) > _MOST_DRAWN else ""
        yield Table(
            f"runs-{place}-{column}", without_empty(columns, rows), rows[:_MOST_DOTS],
            f"The runs: {measure(column, unit)} · {query_title(query)}", note, total=len(rows), is_folded=True,
            chart=chart if any(row[3] is not None for row in rows) else None,
        )


def _dots(number: Number, varying: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    evidence = number.worth.evidence
    assert evidence
    name = title(number, {each: number.grain[each] for each in number.grain if each in varying})
    left_out = {each.run_id: each for each in evidence.left_out}
    for each in sorted(evidence.observations, key=lambda each: (not each.is_used, each.run_id)):
        told = left_out.pop(each.run_id, None)
        state = USED if each.is_used else FAILED if told and told.has_failed else LEFT_OUT if told and told.clause else NOT_USED
        yield name, number.number_id, each.run_id, each.value, state, told and (told.excuse or told.reason)
    for told in left_out.values():
        yield name, number.number_id, told.run_id, None, FAILED if told.has_failed else LEFT_OUT, told.excuse or told.reason
