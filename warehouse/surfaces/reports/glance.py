"""A report at a glance: the few figures that matter, what moved, and what is not known, on one page or in 25 lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.claims.gate.judgement import NOT_CHECKED
from warehouse.claims.gate.policy import PUBLISHABLE
from warehouse.errors import counted
from warehouse.statistics.interval import Interval
from warehouse.surfaces.figures import rounded
from warehouse.surfaces.markdown import plain
from warehouse.surfaces.reports.exploratory import Findings, change_words
from warehouse.surfaces.reports.numbers_shown import Number, Selection
from warehouse.surfaces.reports.wording import OTHER, are_apart, area
from warehouse.surfaces.views.analysis.wording import percent

MOST_FIGURES = 5
_MOST_UNMET = 1
_MOST_MOVED = 2
_MOST_EVENTS = 2


def figures_that_matter(numbers: Sequence[Number]) -> list[Number]:
    """At most five: those that moved first, then those that may be quoted, then those that say something about speed, cost or failures; among
    equals first a column, then an area, then a row of which none is chosen yet."""
    rank = {each.number_id: (not has_moved(each), each.worth.verdict != PUBLISHABLE, area(each.column, each.unit) == OTHER) for each in numbers}
    left, shown = list(numbers), list[Number]()

    def order(number: Number) -> tuple[Any, ...]:
        of_column = sum((each.query, each.column) == (number.query, number.column) for each in shown)
        of_area = sum(area(each.column, each.unit) == area(number.column, number.unit) for each in shown)
        return (*rank[number.number_id], of_column, of_area, sum(each.grain == number.grain for each in shown))

    while left and len(shown) < MOST_FIGURES:
        shown.append(min(left, key=order))
        left.remove(shown[-1])
    return shown


def has_moved(number: Number) -> bool:
    """Whether it is shown to differ from what the publication before held."""
    return number.earlier is not None and are_apart(number.worth, number.earlier.worth) is True


def not_known(found: Selection, most: int | None = None) -> Iterator[str]:
    """What a reader must not take for known: the rules that are against numbers, the most frequent first, at most so many; then the rest."""
    rules = [rule for each in found.numbers for rule in each.worth.rules if not rule.is_met]
    unknown = Counter(rule.rule.says for rule in rules if rule.figure is None or rule.told == NOT_CHECKED)
    unmet = Counter(rule.rule.says for rule in rules) - unknown
    for says, count in unmet.most_common(most):
        yield f"{says}: against {counted(count, 'number')}"
    if unknown:
        yield f"{counted(len(unknown), 'rule')} that could not be checked, such as: {', '.join(says for says, _ in unknown.most_common(2))}"
    unjudged = sum(not each.worth.rules for each in found.numbers)
    if unjudged:
        yield f"what {counted(unjudged, 'number')} {'is' if unjudged == 1 else 'are'} worth: no rule was applied"
    if found.left_out:
        yield f"what {counted(len(found.left_out), 'publication')} said that {'does' if len(found.left_out) == 1 else 'do'} not count any more"


def value_words(number: Number) -> str:
    """Value and unit with its interval, in as many digits as the interval supports."""
    found, unit = number.worth.interval, f" {number.unit}" if number.unit else ""
    if not isinstance(found, Interval):
        return f"{rounded(number.value)}{unit}"
    half = (found.high - found.low) / 2
    return f"{rounded(number.value, half)}{unit} [{rounded(found.low, half)}, {rounded(found.high, half)}]"


def glance_markdown(title: str, scope: str, found: Selection, events: Findings, names: Sequence[str]) -> str:
    """At most 25 lines. `names` are those of `found.numbers`, as this audience may read them."""
    name_of = {each.number_id: name for each, name in zip(found.numbers, names, strict=True)}
    quotable = sum(each.worth.verdict == PUBLISHABLE for each in found.numbers)
    of_first = f"of the first {len(found.numbers)} " if found.total > len(found.numbers) else ""
    shown = figures_that_matter(found.numbers)
    check = f" Check one with `wh verify {shown[0].number_id}`." if shown else ""
    lines = [f"# {plain(title)}", "", f"{scope}{counted(found.total, 'published number')}, {of_first}{quotable} may be quoted.{check}"]
    moved = [each for each in found.numbers if has_moved(each)]
    lines += ["", f"**Moved since the publication before:** {len(moved)} of {sum(each.earlier is not None for each in found.numbers)}"]
    lines += [f"- {plain(name_of[each.number_id])}: {_moved(each)}" for each in moved[:_MOST_MOVED]]
    if shown:
        lines += ["", "**Figures that matter:**"]
        lines += [f"- {plain(name_of[each.number_id])}: {plain(value_words(each))}, {each.worth.verdict}, `{each.number_id}`" for each in shown]
    unknown = list(not_known(found, _MOST_UNMET))
    lines += ["", f"**Not known:**{'' if unknown else ' nothing that a rule asks for'}", *(f"- {plain(each)}" for each in unknown)]
    total = counted(events.total, "open event") if not events.why_none else events.why_none
    lines += ["", f"**In the build, not published:** {total}"]
    lines += [f"- {plain(events.name(each))}: {plain(change_words(each))}" for each in events.findings[:_MOST_EVENTS]]
    return "\n".join(lines) + "\n"


def _moved(number: Number) -> str:
    assert number.earlier
    before = float(number.earlier.value)
    ratio = float(number.value) / before if before and (before > 0) == (number.value > 0) else None
    change = f" ({percent(ratio)})" if ratio else ""
    return plain(f"{rounded(before)} → {value_words(number)}{change}")
