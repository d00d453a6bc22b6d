"""Looks at a number: who saw a value and adds runs until it pleases measures something else than a fixed number of runs does. A look is an
earlier publication of the query, or an attempt that its policy refused, as the ledger has it; of what is read in SQL nothing is known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from warehouse.evidence.ledger.events import ARRIVAL, JUDGED, PUBLICATION, WITHOUT, Event, Ledger
from warehouse.evidence.objects.base import Objects


class Looks:
    """The looks at one query, and when each bundle arrived; of the events of the ledger only those `known`, by sha256, where any are named."""

    def __init__(self, objects: Objects, query: str, known: Collection[str] | None = None) -> None:
        events = [event for event in Ledger(objects).events() if known is None or event.sha256 in known]
        self._arrivals: dict[str, str] = {}
        for event in events:
            if event.kind == ARRIVAL:
                self._arrivals.setdefault(event.subject, event.at)
        looks = (event for event in events if _is_look(event, query))
        found = [(event.at, frozenset(map(str, event.detail.get(WITHOUT, ())))) for event in looks]
        self._looks = sorted(found, key=lambda look: _moment(look[0]))

    def at(self, bundle_of: Mapping[str, str]) -> tuple[str | None, frozenset[str]]:
        """When some of these runs, given with their bundles, were first looked at, and those that arrived after. None and none where no run
        did: what is published again says the same again."""
        for when, without in self._looks:
            seen = {run for run, bundle in bundle_of.items() if self._is_seen(bundle, when, without)}
            if seen:
                later = frozenset(bundle_of.keys() - seen)
                return (when if later else None), later
        return None, frozenset()

    def _is_seen(self, bundle: str, when: str, without: Collection[str]) -> bool:
        arrived = self._arrivals.get(bundle)
        return arrived is not None and _moment(arrived) <= _moment(when) and bundle not in without


def _is_look(event: Event, query: str) -> bool:
    return event.kind in (PUBLICATION, JUDGED) and event.detail.get("query") == query


def _moment(at: str) -> datetime:
    return datetime.fromisoformat(at)
