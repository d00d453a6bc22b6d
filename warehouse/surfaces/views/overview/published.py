"""What is published, what it is worth, and whether the current build holds the same numbers."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import ROWS, PublishedRollup, publications
from warehouse.errors import WarehouseError, counted
from warehouse.surfaces.parts import Fact
from warehouse.surfaces.view import Visit, address
from warehouse.surfaces.views.facts.reading import Reader
from warehouse.transform.sql.duck import quote

_NUMBER = re.compile(rb'"number_id":"(n-[a-z0-9]+)"')
_MOST = 50  # publications that are compared with the build
_MOST_CELLS = 200_000  # of one publication, that are compared for a page


@dataclass(frozen=True)
class Stated:
    """The card of the published numbers, and what is to be decided about them: state, words, address."""

    card: Fact
    decisions: tuple[tuple[str, str, str], ...]


def published_numbers(visit: Visit, found: Reader) -> Stated:
    """The last publication of each query that counts, beside the same query of the build."""
    events = visit.events()
    corrections, standing, decisions = corrected(events), dict[str, PublishedRollup](), []
    for each in publications(visit.project, events):
        if each.fault:
            place = address("/publications/{publication}", publication=each.digest)
            decisions.append(("damaged", f"the publication {each.digest[:12]} of {each.query} is not what was published", place))
        elif each.query and each.digest not in corrections and len(standing) < _MOST:
            standing.setdefault(each.query, each)
    if not standing:
        none = Fact("published", 0, link="/results", title="published numbers", note="wh publish freezes a result with its evidence")
        return Stated(none, tuple(decisions))
    numbers = sum(each.record.get("numbers", 0) for each in standing.values())
    verdicts: Counter[str] = Counter()
    stale = not_compared = 0
    for query, each in standing.items():
        verdicts.update(each.record.get("verdicts", {}))
        gone = _gone(found, query, each)
        not_compared += gone is None
        if gone:
            stale += gone
            place = address("/publications/{publication}", publication=each.digest)
            told = f"{counted(gone, 'published number')} of {query} {'is' if gone == 1 else 'are'} not in the current build"
            decisions.append(("stale", told, place))
    words = [f"{stale:,} not in the current build" if stale else "the current build holds all of them" if not not_compared else ""]
    words += [f"{count:,} {verdict}" for verdict, count in verdicts.items()]
    tone = "bad" if any(state == "damaged" for state, _, _ in decisions) else "warn" if stale else "good"
    title = "published number" if numbers == 1 else "published numbers"
    return Stated(Fact("published", numbers, link="/numbers", title=title, tone=tone, note=" · ".join(filter(None, words))), tuple(decisions))


def _gone(found: Reader, query: str, publication: PublishedRollup) -> int | None:
    """How many of its numbers the build has not; None where there are too many to compare for a page."""
    if publication.record.get("numbers", 0) > _MOST_CELLS:
        return None
    try:
        ids = {each.decode() for line in publication.lines(ROWS) for each in _NUMBER.findall(line)}
    except WarehouseError:  # its own page says what is wrong
        return None
    if "number_ids" not in found.columns(f"rollup.{query}"):
        return len(ids)
    built = found.con.execute(f"select to_json(number_ids)::varchar from rollup.{quote(query)}").fetchall()
    return len(ids - {each for (text,) in built if text for each in re.findall(r'"(n-[a-z0-9]+)"', text)})
