"""Looks at a number: a person who saw a value and adds or retracts runs until it pleases measures something else than a fixed number of runs
does. A look is an earlier publication of the query, or an attempt that its policy refused, as the ledger has it; of what is read in SQL
nothing is known. The ledger also says when evidence arrived: a run cannot have started after that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from warehouse.claims.gate.evidence import STARTED_AT, LeftOut
from warehouse.evidence.ledger.events import ARRIVAL, JUDGED, PUBLICATION, WITHOUT, Event, Ledger
from warehouse.evidence.ledger.run_decisions import REINSTATEMENT, RETRACTION, SUPERSESSION
from warehouse.evidence.objects.base import Objects

# Zones reach 14 hours from UTC, and a zone may be assumed; clocks differ by much less.
_CLOCKS = timedelta(days=1)


class Looks:
    """The looks at one query, and when each bundle arrived; of the events of the ledger only those `known`, by sha256, where any are named."""

    def __init__(self, objects: Objects, query: str, known: Collection[str] | None = None) -> None:
        events = [event for event in Ledger(objects).events() if known is None or event.sha256 in known]
        self._arrivals: dict[str, str] = {}
        self._removals: dict[str, str] = {}  # by run: since when it does not count
        for event in events:
            if event.kind == ARRIVAL:
                self._arrivals.setdefault(event.subject, event.at)
            elif event.kind in (RETRACTION, SUPERSESSION):
                self._removals.setdefault(event.subject, event.at)
            elif event.kind == REINSTATEMENT:
                self._removals.pop(event.subject, None)
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

    def removed(self, left_out: Iterable[LeftOut]) -> frozenset[str]:
        """Those of the runs that were left out that were retracted, or superseded, after a look at the number with them."""
        found = set()
        for each in left_out:
            since = self._removals.get(each.run_id)
            if since is not None and any(
                _moment(when) <= _moment(since) and self._is_seen(each.bundle, when, without) for when, without in self._looks
            ):
                found.add(each.run_id)
        return frozenset(found)

    def ahead(self, bundle_of: Mapping[str, str], observed: Iterable[tuple[str, Mapping[str, Any]]]) -> frozenset[str]:
        """The runs that state a start more than a day after their evidence arrived."""
        found = set()
        for run, columns in observed:
            started, arrived = columns.get(STARTED_AT), self._arrivals.get(bundle_of.get(run, ""))
            if started is not None and arrived is not None and _moment(str(started)) > _moment(arrived) + _CLOCKS:
                found.add(run)
        return frozenset(found)

    def _is_seen(self, bundle: str, when: str, without: Collection[str]) -> bool:
        arrived = self._arrivals.get(bundle)
        return arrived is not None and _moment(arrived) <= _moment(when) and bundle not in without


def _is_look(event: Event, query: str) -> bool:
    return event.kind in (PUBLICATION, JUDGED) and event.detail.get("query") == query


def _moment(at: str) -> datetime:
    moment = datetime.fromisoformat(at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
