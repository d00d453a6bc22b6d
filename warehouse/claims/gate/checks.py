"""What the rules of a policy look at. A check gives a figure and the rows that it comes from; what the figure must be, the policy says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.claims.gate.comparing import copies, differing, in_words
from warehouse.claims.gate.evidence import (
    DECLARED_REPEATS,
    NOT_DETERMINED,
    REQUESTS,
    RUN_ID,
    SESSION,
    STARTED_AT,
    TOO_LARGE,
    Evidence,
    Observation,
    set_of,
)
from warehouse.statistics.interval import Interval, NotSupported
from warehouse.transform.project.claim import WORDS

Settings = Mapping[str, Any]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """What a check found: a figure, None where the evidence does not tell it, and `why` not; the rows that it comes from.
    `is_partial`: some of these do not tell it. `detail`: what the figure counts, by name, or what can be done about it."""

    figure: Any
    rows: Sequence[Row] = ()
    why: str | None = None
    is_partial: bool = False
    detail: str | None = None


@dataclass(frozen=True)
class Check:
    """A check, None where it does not apply to a number; the keys that a rule says it with, and those of them that may be absent."""

    find: Callable[[Evidence, Settings], Finding | None]
    settings: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


def _statistic(evidence: Evidence, settings: Settings) -> Finding:
    """By how much the published value differs from the statistic of its observations, relative to the larger."""
    again = evidence.statistic
    if isinstance(again, NotSupported):
        return Finding(None, why=str(again))
    if evidence.value is None:
        return Finding(None, why="the value is not a finite number")
    largest = max(abs(again), abs(evidence.value))
    difference = abs(again - evidence.value) / largest if largest else 0.0
    return Finding(difference, [{"published": evidence.value, evidence.number.statistic: again}], TOO_LARGE)


def _method(evidence: Evidence, settings: Settings) -> Finding:
    """How many of the words are missing that say how the number was made."""
    missing = [word for word in WORDS if word not in evidence.claim.words]
    return Finding(len(missing), [{"missing": word} for word in missing])


def _runs(evidence: Evidence, settings: Settings) -> Finding:
    """The runs that the number depends on: those with a value; for an olympic mean, all that were launched."""
    counted = evidence.used if evidence.number.statistic == "olympic mean" else evidence.measured
    return Finding(len(counted), rows_of(counted))


def _sessions(evidence: Evidence, settings: Settings) -> Finding:
    """The sessions that its runs are of: scheduler jobs, or days."""
    sessions = evidence.session_of
    rows = [{RUN_ID: each.run_id, SESSION: session} for each, session in zip(evidence.measured, sessions, strict=True)]
    known = {session for session in sessions if session is not None}
    why = f"no run states its {SESSION}: neither a scheduler job nor when it started"
    return Finding(len(known) or None, rows, why, is_partial=bool(known) and None in sessions)


def _balance(evidence: Evidence, settings: Settings) -> Finding | None:
    """The number of equal sessions that would share out the runs as well (Kish's effective number); not of one session, or where a run does not
    state its own."""
    sizes = Counter(evidence.session_of)
    if None in sizes or len(sizes) < 2:
        return None
    rows = [{SESSION: name, "runs": size} for name, size in sorted(sizes.items(), key=str)]
    return Finding(sizes.total() ** 2 / sum(size**2 for size in sizes.values()), rows)


def _spread(evidence: Evidence, settings: Settings) -> Finding:
    """The coefficient of variation over runs."""
    from warehouse.statistics.summaries import variation

    if evidence.is_too_large:
        return Finding(None, why=TOO_LARGE)
    if len(evidence.values) > 1 and not any(evidence.values):
        return Finding(None if evidence.gate == 1 else 0.0, why="the mean is zero")
    if evidence.values and not sum(evidence.values):
        return Finding(None, why="the mean is zero")
    return supported(variation(evidence.values), evidence)


def _interval(evidence: Evidence, settings: Settings) -> Finding:
    """Half the width of the interval, relative to the value."""
    interval = evidence.interval
    if isinstance(interval, Interval):
        return Finding(evidence.width, rows_of(evidence.measured, SESSION), _of_zero(interval))
    return Finding(None, why=str(interval))


def _of_zero(interval: Interval) -> str:
    """Why the width of an interval about zero is not known, and what can be said."""
    if interval.low < 0 or not interval.high:
        return "the estimate is zero"
    return (
        f"none was seen, so there are at most {interval.high:.2g} in a run ({interval.confidence:.0%}), and a width relative to 0 has no meaning:"
        " claim the share of requests (quantity: share), with how many requests there were"
    )


def _requests(evidence: Evidence, settings: Settings) -> Finding | None:
    """How many requests of the run with the fewest lie beyond the percentile: 10 of 1,000 for p99. `column` has the number of requests."""
    percentile = evidence.number.percentile
    if percentile is None:
        return None
    return _over(evidence.measured, settings.get("column", REQUESTS), lambda known: round(min(known) * (1 - percentile), 9))


def _two_levels(evidence: Evidence, settings: Settings) -> Finding:
    """The p-value of runs about one level, against two, within sessions."""
    from warehouse.statistics.shape import two_levels_p

    if evidence.is_too_large:
        return Finding(None, why=TOO_LARGE)
    return supported(two_levels_p(evidence.values, evidence.sessions), evidence, SESSION)


def _drift(evidence: Evidence, settings: Settings) -> Finding:
    """The p-value of runs that come in no order, against a rise or a fall over time, within sessions."""
    return drift_of(evidence, evidence.sessions)


def drift_of(evidence: Evidence, sessions: Sequence[str] | None) -> Finding:
    """The same, of runs of these sessions; None: of one."""
    from warehouse.statistics.shape import trend_p

    started = [str(each.columns[STARTED_AT]) for each in evidence.measured if each.columns.get(STARTED_AT) is not None]
    if len(started) < len(evidence.measured):
        return Finding(None, why="the evidence does not say when each run started")
    places = {at: place for place, at in enumerate(sorted(set(started)))}
    if len(places) == 1 < len(started):
        return Finding(None, rows_of(evidence.measured, STARTED_AT), "all runs started at the same time")
    return supported(trend_p(evidence.values, [places[at] for at in started], sessions), evidence, STARTED_AT)


def _accounted(evidence: Evidence, settings: Settings) -> Finding:
    """The runs that were launched and left out without a stated reason."""
    left_out = [each for each in evidence.left_out if not (each.is_excused if evidence.gate > 1 else each.excuse is not None)]
    undetermined = [each for each in left_out if each.reason == NOT_DETERMINED]
    rows = [{RUN_ID: each.run_id, "left out by": each.clause or each.reason, "at": each.place} for each in left_out]
    if undetermined and len(undetermined) == len(left_out):
        return Finding(None, rows, "it is not known which clause leaves them out")
    by_reason = Counter(f"{each.clause}: {each.excuse}" for each in evidence.left_out if each.clause and each.excuse and not each.has_failed)
    launched = len({each.run_id for each in evidence.left_out} | {each.run_id for each in evidence.used})
    said = "; ".join(f"{count} of {launched} left out: {reason}" for reason, count in by_reason.most_common())
    return Finding(len(left_out), rows, detail=said or None)


def _failures(evidence: Evidence, settings: Settings) -> Finding:
    """The share of the launched runs that failed."""
    failed = [each.run_id for each in evidence.left_out if each.has_failed]
    failed += [each.run_id for each in evidence.used if each.value is None]
    launched = len(failed) + len(evidence.measured)
    return Finding(len(failed) / launched if launched else None, [{RUN_ID: run} for run in failed], "there is no run")


def _fixed(evidence: Evidence, settings: Settings) -> Finding:
    """The runs that were added after a look at the number, but for those that a recording of which some were seen then had declared."""
    sets: dict[str, list[Observation]] = {}
    for each in evidence.used:
        sets.setdefault(set_of(each.run_id), []).append(each)
    declared = {each.run_id for repeats in sets.values() if _are_declared(repeats, evidence.later) for each in repeats}
    rows = [{RUN_ID: run, "added after the look of": evidence.first_look} for run in evidence.later if run not in declared]
    return Finding(len(rows), rows, detail=_WAY_OUT if rows else None)


def _are_declared(repeats: Sequence[Observation], later: Collection[str]) -> bool:
    """Whether how many these repeats of one set are was declared, and a look saw some of them."""
    counted = {each.columns.get(DECLARED_REPEATS) for each in repeats} == {len(repeats)}
    return counted and not all(each.run_id in later for each in repeats)


def _removed(evidence: Evidence, settings: Settings) -> Finding:
    """The runs that were in the number at a look and are not now, or are read from other evidence."""
    causes = {**evidence.removed, **evidence.changed}
    return Finding(len(causes), [{RUN_ID: run, HAPPENED: cause} for run, cause in sorted(causes.items())])


def _ahead(evidence: Evidence, settings: Settings) -> Finding:
    """The runs that state a start after the arrival of their evidence."""
    rows = [{RUN_ID: each.run_id, STARTED_AT: each.columns.get(STARTED_AT)} for each in evidence.used if each.run_id in evidence.ahead]
    return Finding(len(rows), rows)


def _complete(evidence: Evidence, settings: Settings) -> Finding | None:
    """Of a geometric mean, the parts without a value: the mean of the others is of another set."""
    if evidence.number.statistic != "geometric mean":
        return None
    without = [each.run_id for each in evidence.used if each.value is None] + [each.run_id for each in evidence.left_out if each.has_failed]
    return Finding(len(without), [{RUN_ID: run} for run in without])


def _copies(evidence: Evidence, settings: Settings) -> Finding:
    """The runs whose measured figures, in the array `column`, are those of another run, but for a few that may have been edited."""
    column = settings["column"]
    stated = [each for each in evidence.used if any(figure is not None for figure in each.columns.get(column) or ())]
    if not stated:
        return Finding(None, why=f"no run states its {column}" if evidence.used else "there is no run")
    found = copies([each.columns[column] for each in stated])
    rows = [
        {RUN_ID: stated[run].run_id, "copies": stated[first].run_id, column: stated[run].columns[column]} for run, first in sorted(found.items())
    ]
    return Finding(len(found), rows, is_partial=len(stated) < len(evidence.used))


def _settings(evidence: Evidence, settings: Settings) -> Finding:
    """How many settings, of those in `columns`, have several values over the runs."""
    columns = settings["columns"]
    observed = [each.columns for each in evidence.used]
    states = [any(row.get(column) is not None for column in columns) for row in observed]
    if not any(states):
        return Finding(None, why=f"no run states its {' or '.join(columns)}" if observed else "there is no run")
    found = differing(observed, columns)
    rows = [{"setting": name, "values": values} for name, values in found.items()]
    return Finding(len(found), rows, is_partial=not all(states), detail=in_words(found) or None)


def _lineage(evidence: Evidence, settings: Settings) -> Finding:
    """Whether guarantees hold of the number's lineage."""
    rows = [{"guarantee": name, "holds": evidence.guarantees.get(name, {}).get("holds")} for name in settings["guarantees"]]
    unproven = [row for row in rows if row["holds"] != "yes"]
    return Finding(len(unproven), unproven or rows)


def _observed(evidence: Evidence, settings: Settings) -> Finding | None:
    """A column of the observations, over the runs that the number depends on; not over those whose column `when` is false."""
    column, pattern = settings["column"], re.compile(settings.get("matching", ""))
    counted = [each for each in evidence.used if "when" not in settings or each.columns.get(settings["when"]) is not False]
    if evidence.used and not counted:
        return None
    return _over(counted, column, lambda known: _OVER[settings["over"]](known, pattern))


def _column(evidence: Evidence, settings: Settings) -> Finding | None:
    """A column of the published row; not where the column `when` is false."""
    name = settings["column"]
    if "when" in settings and evidence.row.get(settings["when"]) is False:
        return None
    why = f"{name} is NULL" if name in evidence.row else f"the query has no column {name}"
    return Finding(evidence.row.get(name), [{name: evidence.row.get(name)}], why)


_WAY_OUT = "allowed where the claim named a stopping rule before the first look; else publish as provisional"
HAPPENED = "what happened"  # to a run since a look, in the rows of `removed`
NOT_MATCHING = "not matching"  # the one of `_OVER` that needs a pattern
# How one figure is made of a column's values.
_OVER: Mapping[str, Callable[[list[Any], re.Pattern[str]], Any]] = {
    "greatest": lambda known, pattern: _outermost(max, known),
    "least": lambda known, pattern: _outermost(min, known),
    "range": lambda known, pattern: _range(known),
    "repeated": lambda known, pattern: len(known) - len(set(map(str, known))),
    "distinct": lambda known, pattern: len(set(map(str, known))),
    # What is no boolean counts against the number.
    "true": lambda known, pattern: sum(value is not False for value in known),
    "false": lambda known, pattern: sum(value is not True for value in known),
    NOT_MATCHING: lambda known, pattern: sum(not pattern.search(str(value)) for value in known),
}

CHECKS: Mapping[str, Check] = {
    "statistic": Check(_statistic),
    "method": Check(_method),
    "runs": Check(_runs),
    "sessions": Check(_sessions),
    "balance": Check(_balance),
    "spread": Check(_spread),
    "interval": Check(_interval),
    "requests": Check(_requests, frozenset({"column"}), frozenset({"column"})),
    "two levels": Check(_two_levels),
    "drift": Check(_drift),
    "accounted": Check(_accounted),
    "failures": Check(_failures),
    "fixed": Check(_fixed),
    "removed": Check(_removed),
    "ahead": Check(_ahead),
    "complete": Check(_complete),
    "copies": Check(_copies, frozenset({"column"})),
    "settings": Check(_settings, frozenset({"columns"})),
    "lineage": Check(_lineage, frozenset({"guarantees"})),
    "observed": Check(_observed, frozenset({"column", "over", "matching", "when"}), frozenset({"matching", "when"})),
    "column": Check(_column, frozenset({"column", "when"}), frozenset({"when"})),
}
OVER = tuple(_OVER)
RELATIVE_TO_OTHERS = ("repeated", "distinct", "range")  # those of `OVER` that compare runs with each other
OF_OBSERVATIONS = ("observed", "requests", "copies", "settings")  # the checks whose `column`, or `columns`, are of the observations
GUARANTEES = ("G1", "G2", "G3", "G4")  # what `lineage` can ask for


def _over(observations: Sequence[Observation], column: str, figure: Callable[[list[Any]], Any]) -> Finding:
    rows = rows_of(observations, column)
    known = [row[column] for row in rows if row[column] is not None]
    why = f"no run states its {column}" if rows else "there is no run"
    return Finding(figure(known) if known else None, rows, why, is_partial=0 < len(known) < len(rows))


def _outermost(which: Callable[[list[Any]], Any], known: list[Any]) -> Any:
    try:
        return which(known)
    except TypeError:  # structs have no order; no bound holds for one
        return known[0]


def _range(known: list[Any]) -> Any:
    """By which share the least value is below the greatest; what is no number counts against the number."""
    if not all(isinstance(value, int | float) and value >= 0 for value in known):
        return 1.0
    return 1 - min(known) / max(known) if max(known) else 0.0


def supported(figure: float | NotSupported, evidence: Evidence, *columns: str) -> Finding:
    rows = rows_of(evidence.measured, *columns)
    return Finding(None, rows, str(figure)) if isinstance(figure, NotSupported) else Finding(figure, rows)


def rows_of(observations: Iterable[Observation], *columns: str) -> list[Row]:
    return [{RUN_ID: each.run_id, "value": each.value} | {name: each.columns.get(name) for name in columns} for each in observations]
