"""Looks at a number: a person who saw a value and then adds runs, or gets rid of some, until it pleases measures something else than a fixed
number of runs does. A look is an earlier publication, or an attempt that its policy refused, or a `wh judge`; the ledger has the runs that were
in each number then, and the bundle that each was read from. So whatever changed since is found by comparing two sets, whether a run was
retracted, contradicted, replaced or added, and whatever the query is called now. Of what is read in SQL nothing is known. The ledger
also says when evidence arrived: a run cannot have started after that."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from warehouse.claims.gate.accounting import Sources
from warehouse.claims.gate.evidence import MISSING_REPEATS, STARTED_AT, TIME, LeftOut, Observation, RowEvidence, sessions_of, set_of
from warehouse.digest import bytes_digest, canonical_json
from warehouse.evidence.ledger.events import ARRIVAL, INTENT, JUDGED, PUBLICATION, PUBLISHING, SEEN, STOPPING, WITHOUT, Event, Ledger
from warehouse.evidence.ledger.run_decisions import REINSTATEMENT, RETRACTION, SUPERSESSION, standing
from warehouse.evidence.objects.base import Objects

# Zones reach 14 hours from UTC, and a zone may be assumed; clocks differ by much less.
_CLOCKS = timedelta(days=1)
_KEY_CHARACTERS = 16
_UNCLAIMED = ""  # in place of a row's key
Seen = dict[str, dict[str, list[str]]]  # runs by the key of their row and their bundle


@dataclass(frozen=True)
class RowNow:
    """A row that is judged: its grain's exact forms, its evidence, the bundle that each of its runs is read from, which bundles state runs, the
    rule for adding runs that its claim names, and how many runs and sessions its policy asks for."""

    grain: Mapping[str, Any]
    evidence: RowEvidence
    bundle_of: Mapping[str, str]
    sources: Sources
    stopping: str | None = None
    least_runs: float = 0
    least_sessions: float = 0

    @cached_property
    def key(self) -> str:
        return bytes_digest(canonical_json(dict(self.grain)))[:_KEY_CHARACTERS]

    @cached_property
    def used(self) -> dict[str, str]:
        """The runs that one of its claimed numbers depends on, each with its bundle."""
        places = frozenset[int]().union(*(column.used for column in self.evidence.columns.values()))
        runs = (run for place, (run, _) in enumerate(self.evidence.observed) if place in places)
        return {run: self.bundle_of[run] for run in runs if run in self.bundle_of}

    def is_enough(self, seen: Collection[str]) -> bool:
        """Whether a number of these of its runs could have been published: of fewer its policy asks for more. Where one does not state its
        session, their number is not known."""
        columns = self.evidence.columns.values()
        measured = [
            Observation(run, None, True, said) for place, (run, said) in enumerate(self.evidence.observed)
            if run in seen and any(column.values[place] is not None for column in columns)
        ]
        sessions = sessions_of(measured)
        return len(measured) >= self.least_runs and (None in sessions or len(set(sessions)) >= self.least_sessions)


@dataclass(frozen=True)
class Since:
    """What is otherwise in a row than at an earlier look at it: when it was first looked at (None if nothing was added since), the runs that were
    added, and by run what became of those that are not in it any more, and of those that are read from other evidence."""

    first_look: str | None = None
    later: frozenset[str] = frozenset()
    removed: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Look:
    at: str
    moment: datetime
    without: frozenset[str]
    stopping: str | None = None


@dataclass(frozen=True)
class _Sighting:
    """A run in a number that was looked at, and the bundle that it was read from. A look of before 0.4.0 names none: then those that had
    arrived."""

    look: _Look
    bundles: frozenset[str]


class Looks:
    """The looks at numbers, for one query, and when each bundle arrived; of the events of the ledger only those `known`, by sha256, where any
    are named."""

    def __init__(self, objects: Objects, query: str, known: Collection[str] | None = None) -> None:
        events = [event for event in Ledger(objects).events() if known is None or event.sha256 in known]
        intents = {event.sha256: event for event in events if event.kind == PUBLISHING}
        self._query = query
        self._arrivals: dict[str, datetime] = {}
        self._admissions: defaultdict[str, list[tuple[datetime, bool]]] = defaultdict(list)  # by run
        self._sightings: defaultdict[str, list[_Sighting]] = defaultdict(list)  # by run
        self._rows: defaultdict[str, set[str]] = defaultdict(set)  # the runs seen in rows of this query, by key
        self._looks: list[_Look] = []  # at this query
        self._unnamed: list[_Look] = []  # those of them by a version of wh that did not say which runs were seen
        self._known: set[tuple[str, str, str]] = set()
        for event in sorted(events, key=lambda event: _moment(event.at)):
            if event.kind == ARRIVAL:
                self._arrivals.setdefault(event.subject, _moment(event.at))
            elif event.kind in (RETRACTION, SUPERSESSION, REINSTATEMENT):
                self._admissions[event.subject].append((_moment(event.at), event.kind == REINSTATEMENT))
            elif event.kind in (PUBLICATION, JUDGED):
                self._add(event, intents.get(str(event.detail.get(INTENT)), event).detail)
        self._standing = standing(events)

    def _add(self, event: Event, said: Mapping[str, Any]) -> None:
        query, seen, rule = str(event.detail.get("query")), _triples(said.get(SEEN)), said.get(STOPPING)
        look = _Look(event.at, _moment(event.at), frozenset(map(str, event.detail.get(WITHOUT, ()))), str(rule) if rule else None)
        if query == self._query:
            self._looks.append(look)
            self._unnamed += [look] if seen is None else []
        for key, bundle, run in seen or ():
            if query == self._query or key != _UNCLAIMED:
                self._sightings[run].append(_Sighting(look, frozenset({bundle})))
            if query == self._query:
                self._rows[key].add(run)
                self._known.add((key, bundle, run))

    def unnamed(self, row: RowNow) -> Seen:
        """What a look at a row sees that no earlier look at the query names."""
        return self._unnamed_of(row.key, row.used)

    def unnamed_unclaimed(self, bundle_of: Mapping[str, str]) -> Seen:
        """The same of a query that claims nothing: then it is a look at its own runs, and at no number of another query."""
        return self._unnamed_of(_UNCLAIMED, bundle_of)

    def _unnamed_of(self, key: str, bundle_of: Mapping[str, str]) -> Seen:
        found: dict[str, list[str]] = {}
        for run, bundle in sorted(bundle_of.items()):
            if (key, bundle, run) not in self._known:
                found.setdefault(bundle, []).append(run)
        return {key: found} if found else {}

    def since(self, row: RowNow) -> Since:
        """What is otherwise in a row than at an earlier look at its runs."""
        first_look, later = self._later(row)
        return Since(first_look, later, self._removed(row), self._changed(row))

    def ahead(self, row: RowNow) -> frozenset[str]:
        """The runs that state a start more than a day after their evidence arrived."""
        found = set()
        for run, columns in row.evidence.observed:
            started, arrived = columns.get(STARTED_AT), self._arrivals.get(row.bundle_of.get(run, ""))
            if started is not None and arrived is not None and _moment(str(started)) > arrived + _CLOCKS:
                found.add(run)
        return frozenset(found)

    def later_by_name(self, bundle_of: Mapping[str, str]) -> frozenset[str]:
        """The runs, given with their bundles, that arrived after a look at the query of this name with the others: how the first version of
        the gate compared them."""
        for look in self._looks:
            if seen := {run for run, bundle in bundle_of.items() if self._there([bundle], look)}:
                return frozenset(bundle_of.keys() - seen)
        return frozenset()

    def _later(self, row: RowNow) -> tuple[str | None, frozenset[str]]:
        first, look = self._first(row)
        if look is None or _is_same(look.stopping, row.stopping):
            return None, frozenset()
        unseen = (run for run in row.used if run not in first or first[run].moment > look.moment)
        sets = {set_of(run) for run, at in first.items() if at.moment <= look.moment}
        declared = {  # that a recording said how many it was to have is known before they run
            run for run, columns in row.evidence.observed
            if columns.get(MISSING_REPEATS) is not None and set_of(run) in sets and not self._there(row.sources.stating.get(run, ()), look)
        }
        later = frozenset(run for run in unseen if run not in declared and not self._counted(run, row.sources, look))
        return (look.at if later else None), later

    def _first(self, row: RowNow) -> tuple[dict[str, _Look], _Look | None]:
        """When each run of a row was first seen, and the first look at so many of them that the number could have been published."""
        first = {run: found[0].look for run, _ in row.evidence.observed if (found := self._seen_as(run, row.sources))}
        for look in sorted(first.values(), key=lambda look: look.moment):
            seen = {run for run, at in first.items() if at.moment <= look.moment}
            if seen & row.used.keys() and row.is_enough(seen):
                return first, look
        return first, None

    def _removed(self, row: RowNow) -> dict[str, str]:
        left_out = {each.run_id: each for each in row.evidence.left_out if each.run_id not in row.used}
        found = {run: cause for run, each in left_out.items() if (cause := self._cause(run, row.sources, each))}
        in_row = self._rows.get(row.key, set())
        if in_row & row.used.keys():
            _, look = self._first(row)
            slides = look is not None and _is_same(look.stopping, row.stopping)  # a window over time
            without_value = {run for run, _ in row.evidence.observed} - left_out.keys()
            for run in in_row - row.used.keys() - without_value - found.keys():
                left = left_out.get(run)
                if slides and left and left.reads == TIME:
                    continue
                words = f"left out: {left.excuse or left.clause or left.reason}" if left else "it is in another row, or its evidence is gone"
                found[run] = self._cause(run, row.sources, left) or words
        return found

    def _changed(self, row: RowNow) -> dict[str, str]:
        return {run: cause for run, bundle in row.used.items() if (cause := self._replaced(run, bundle, row.sources))}

    def _seen_as(self, run: str, sources: Sources) -> Sequence[_Sighting]:
        """When a run was seen in a number, and as what, the first time first."""
        found, stating = self._sightings.get(run, []), sources.stating.get(run, frozenset())
        arrived = min((self._arrivals[bundle] for bundle in stating if bundle in self._arrivals), default=None)
        for look in self._unnamed[bisect_left(self._unnamed, arrived, key=lambda look: look.moment) :] if arrived else ():
            if self._is_admitted(run, look) and (there := self._there(stating, look)):
                return sorted([*found, _Sighting(look, there)], key=lambda sighting: sighting.look.moment)
        return found

    def _cause(self, run: str, sources: Sources, left_out: LeftOut | None) -> str | None:
        """What has become of a run since it was seen, as the ledger has it; None for what it has not, as the clauses of another query."""
        if not (seen := self._seen_as(run, sources)):
            return None
        decision = self._standing.not_admitted.get(run)
        if decision and _moment(decision.event.at) > seen[0].look.moment:
            return str(decision)
        others = sources.stating.get(run, frozenset()) - seen[0].bundles
        if left_out and left_out.has_conflict and len(seen[0].bundles) == 1 and others:
            last = max(sorted(others), key=lambda bundle: self._arrivals.get(bundle, seen[0].look.moment))
            when = f"arrived on {self._arrivals[last]:%Y-%m-%d %H:%M} UTC" if last in self._arrivals else "is here"
            return f"in conflict with bundle {last[:12]}, which {when}"
        return self._replaced(run, left_out.bundle if left_out else "", sources)

    def _replaced(self, run: str, bundle: str, sources: Sources) -> str | None:
        """Why the evidence of a run, a bundle, is not what it was when it was seen. One that says the same and more is no other."""
        stating = sources.stating.get(run, frozenset())
        agreeing = stating - sources.contradicting.get(run, frozenset())
        for sighting in self._seen_as(run, sources) if stating else ():
            if bundle in sighting.bundles:  # or it is again, whatever was seen between
                return None
            if not sighting.bundles & agreeing:
                settled = self._standing.settled.get(run)
                then = min(sighting.bundles)[:12]
                return str(settled) if settled else f"bundle {then}, which it was read from, is gone, or contradicts its evidence of now"
        return None

    def _counted(self, run: str, sources: Sources, look: _Look) -> bool:
        """Whether a run could have been in a number when that was looked at: its evidence was there, no decision and no conflict kept it out."""
        there, settled = self._there(sources.stating.get(run, ()), look), self._standing.settled.get(run)
        is_settled_since = settled is not None and _moment(settled.event.at) > look.moment and len(there) > 1
        return bool(there) and self._is_admitted(run, look) and not is_settled_since

    def _there(self, bundles: Iterable[str], look: _Look) -> frozenset[str]:
        arrived = ((bundle, self._arrivals.get(bundle)) for bundle in bundles)
        return frozenset(bundle for bundle, at in arrived if at and at <= look.moment and bundle not in look.without)

    def _is_admitted(self, run: str, look: _Look) -> bool:
        decided = [is_admitted for at, is_admitted in self._admissions.get(run, ()) if at <= look.moment]
        return decided[-1] if decided else True


def _is_same(rule: str | None, other: str | None) -> bool:
    """Whether both looks name a rule for adding runs, the same."""
    return bool(rule and other) and str(rule).split() == str(other).split()


def _triples(seen: Any) -> list[tuple[str, str, str]] | None:
    """Row, bundle and run of all that a look saw; None where its event does not say."""
    try:
        return [(str(key), str(bundle), str(run)) for key, bundles in seen.items() for bundle, runs in bundles.items() for run in runs]
    except (AttributeError, TypeError):
        return None


def _moment(at: str) -> datetime:
    moment = datetime.fromisoformat(at)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
