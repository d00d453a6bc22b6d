"""How much the sessions of a testbed differ, as the other numbers of a publication show it: with two or three sessions of its own a number
cannot say. All of it follows from the judged rows, so that anybody can compute it again. A number that is refused or not representative says nothing,
nor does a run whose files or figures are those of another: what was copied agrees with itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from warehouse.claims.gate.comparing import copies
from warehouse.claims.gate.evidence import (
    DAY,
    FIGURES,
    METRIC,
    OUTCOME_DIGEST,
    SESSION,
    TESTBED,
    ColumnEvidence,
    Observation,
    RowEvidence,
    rounded,
    sessions_of,
    testbed_of_day,
)
from warehouse.claims.gate.policy import NOT_REPRESENTATIVE, REFUSED, Policy, Rule
from warehouse.statistics.interval import SessionNoise

_MOST = 300  # numbers that count: more say no more
_UNHEALTHY = (NOT_REPRESENTATIVE, REFUSED)
_Key = tuple[str, tuple[str, ...], tuple[str, ...]]  # column, metrics and testbeds
_Values = Mapping[str, list[float]]  # by session


def health_rules(policy: Policy) -> list[Rule]:
    """The rules of a policy that can say of a number that it is no measurement of its testbed, whatever its spread. Those of width and spread
    cannot: without the wide ones a history would be too quiet."""
    return [rule for rule in policy.rules if {rule.otherwise, rule.missing} & {*_UNHEALTHY} and rule.check not in ("interval", "spread")]


def shows_sessions(said: Mapping[str, str], rules: Iterable[Rule]) -> bool:
    """Whether a number shows how sessions differ, by what each of the `health_rules` says of it, by its id."""
    return not any(said.get(rule.id) in _UNHEALTHY for rule in rules)


@dataclass(frozen=True)
class _Number:
    runs: tuple[str, ...]
    values: _Values


class History:
    """Of judged rows, each with the columns that show how sessions differ: what the numbers of one column, metric and testbed say together."""

    def __init__(self, rows: Iterable[tuple[RowEvidence, Collection[str]]]) -> None:
        from warehouse.statistics.sessions import Pool, spread_of

        numbers: defaultdict[_Key, list[_Number]] = defaultdict(list)
        rows = list(rows)
        copied = _copies(row for row, _ in rows)
        for row, columns in rows:
            if row.removed:  # the spread of what somebody left
                continue
            for column in columns:
                key, number = _number(row, column, copied)
                if len(number.values) > 1:
                    numbers[key].append(number)
        self._numbers = {key: sorted(found, key=lambda each: each.runs)[:_MOST] for key, found in numbers.items()}
        self._pools = {key: Pool(filter(None, (spread_of(each.values) for each in found))) for key, found in self._numbers.items()}
        self._places: dict[_Key, dict[str, set[int]]] = {}
        for key, found in self._numbers.items():
            places = self._places[key] = defaultdict(set)
            for place, each in enumerate(found):
                for session in each.values:
                    places[session].add(place)
        self._known: dict[tuple[_Key, frozenset[str]], SessionNoise | None] = {}

    def of(self, row: RowEvidence) -> RowEvidence:
        """A row whose columns have the noise that the others show: of sessions that are not its own."""
        return replace(row, columns={column: replace(own, noise=self._noise(row, column)) for column, own in row.columns.items()})

    def _noise(self, row: RowEvidence, column: str) -> SessionNoise | None:
        from warehouse.statistics.sessions import spread_of

        key, number = _number(row, column)
        if key not in self._pools:
            return None
        own = frozenset(number.values)
        if (key, own) not in self._known:
            pool = self._pools[key]
            changes = []
            for place in set[int]().union(*(self._places[key].get(session, ()) for session in own)):
                values = self._numbers[key][place].values
                rest = {session: each for session, each in values.items() if session not in own}
                changes += [(spread_of(values), -1), (spread_of(rest), 1)]
            for spread, times in changes:
                if spread:
                    pool.add(spread, times)
            noise = pool.noise
            for spread, times in changes:
                if spread:
                    pool.add(spread, -times)
            self._known[key, own] = replace(noise, spread=rounded(noise.spread), of_runs=rounded(noise.of_runs)) if noise else None
        return self._known[key, own]


def _copies(rows: Iterable[RowEvidence]) -> frozenset[str]:
    """The runs that share the digest of their files, or most of their figures, with another."""
    runs: defaultdict[str, set[str]] = defaultdict(set)
    figures: dict[str, Any] = {}
    for row in rows:
        for run, columns in row.observed:
            if (digest := columns.get(OUTCOME_DIGEST)) is not None:
                runs[str(digest)].add(run)
            figures[run] = columns.get(FIGURES)
    names = list(figures)
    alike = copies(list(figures.values()))
    return frozenset().union(*(found for found in runs.values() if len(found) > 1), (names[place] for pair in alike.items() for place in pair))


def _number(row: RowEvidence, column: str, without: Collection[str] = ()) -> tuple[_Key, _Number]:
    own: ColumnEvidence = row.columns[column]
    measured = [
        Observation(run, own.values[place], True, columns)
        for place, (run, columns) in enumerate(row.observed) if place in own.used and own.values[place] is not None
    ]
    values: defaultdict[str, list[float]] = defaultdict(list)
    for each, session in zip(measured, sessions_of(measured), strict=True):
        if session is not None and each.value is not None and each.run_id not in without:
            values[session].append(each.value)
    metrics = {str(each.columns.get(METRIC)) for each in measured}
    testbeds = {_testbed(each) for each in measured}
    return (column, tuple(sorted(metrics)), tuple(sorted(testbeds))), _Number(tuple(each.run_id for each in measured), values)


def _testbed(observation: Observation) -> str:
    stated, session = observation.columns.get(TESTBED), str(observation.columns.get(SESSION))
    return str(stated) if stated is not None else testbed_of_day(session) if session.startswith(DAY) else ""
