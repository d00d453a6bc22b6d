"""`wh explain RUN`: what of a run is slower than in comparable runs, and the answer of every check of every playbook, the likeliest cause first.

A check answers `found`, `not found`, or `evidence missing` with the families that would answer it. Nothing is concluded from what is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import exp, inf, isfinite, log, prod
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from warehouse.analysis.conditions import Difference, differences, read_conditions
from warehouse.analysis.explain.baseline import nearest
from warehouse.analysis.explain.circumstances import circumstances
from warehouse.analysis.explain.playbooks import Check, read_playbooks
from warehouse.analysis.explain.unjoined import Unjoined, as_notes, of_check, read_unjoined
from warehouse.analysis.explain.unread import read_unread, why_unread
from warehouse.analysis.measurements import Measured, Measurement, measured
from warehouse.analysis.similar import nearest_in_words
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project.project import Project
from warehouse.transform.finished.builds import Build, current_build
from warehouse.transform.finished.query import kept_open
from warehouse.transform.sql.engine_faults import translated
from warehouse.transform.sql.read_only import check_reads

if TYPE_CHECKING:
    import duckdb

    from warehouse.transform.finished.role_tables import RoleTable

State = Literal["found", "not found", "evidence missing", "broken"]
FOUND: State = "found"
NOT_FOUND: State = "not found"
MISSING: State = "evidence missing"
BROKEN: State = "broken"
_MOST_ROWS = 10_000  # of one check
# What was measured while the runs ran is what checks are about, no difference between what was asked of them.
_MEASURED_KINDS = frozenset({"host", "telemetry", "reported", "evidence"})
_PLACES = {True: 0, False: 1, None: 2}  # what is not answered comes last
# What a check returns. It may leave out those that are not needed.
_NEEDED = ("subject", "is_found", "statement")
_COLUMNS = (*_NEEDED, "score", "slowdown", "slowdown_least", "is_neighbour", "observed", "expected", "unit", "artifact_manifest_digest", "raw_path")
_LEAST_EFFECT = 1.02  # a run that is hardly slower has nothing of which a cause could have a share
_LEAST_SYMPTOM = 1.1
_ENOUGH_TO_DIFFER = 3  # runs of a baseline, that say how much such runs differ
_LARGE = re.compile(r"\b\d(?:\.\d+)?e\+(?:0\d|1[0-5])\b")
_NORMAL = 1.4826  # standard deviation of a normal distribution / the median distance from its median
_LEAST_REST = 1.1  # what causes account for is not known more exactly


@dataclass(frozen=True)
class Finding:
    """One thing that a check looked at. `score` is how much of the trouble it would explain: 1 is all of it. `slowdown` is how many times slower it
    can have made the run at most, and `slowdown_least` at least; None: the evidence does not bound it. Without a score of the check's own, the score
    follows from `slowdown`. `is_neighbour`: it is not the run's own, and was at its place. The bundle and the file in it are the evidence;
    `is_found` is None where the evidence does not support an answer."""

    subject: str
    is_found: bool | None
    score: float
    statement: str
    observed: float | None
    expected: float | None
    unit: str | None
    artifact_manifest_digest: str | None
    raw_path: str | None
    slowdown: float | None = None
    slowdown_least: float = 1.0
    is_neighbour: bool = False


@dataclass(frozen=True)
class Answer:
    """What a check found: the things that it looked at, the worst first, the run's own before those of neighbours. `fault` says why a check is
    broken, `unjoined` which evidence of the kind that it needs was ingested and belongs to no run, `unread` what of it the recorder could not
    read."""

    check: Check
    state: State
    findings: tuple[Finding, ...] = ()
    fault: str | None = None
    unjoined: str | None = None
    unread: str | None = None

    @property
    def found(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.is_found)

    @property
    def score(self) -> float:
        return max((each.score for each in self.found), default=0.0)

    @property
    def is_of_neighbours(self) -> bool:
        """Whether it was found of neighbours only: a possible influence on the run."""
        return bool(self.found) and all(each.is_neighbour for each in self.found)

    @property
    def bounds(self) -> tuple[float, float]:
        """How many times slower it made the run, at least and at most; what the evidence does not bound may be any factor."""
        least = max((each.slowdown_least for each in self.found), default=1.0)
        return least, max((each.slowdown or inf for each in self.found), default=inf)

    @property
    def unanswered(self) -> int:
        """How many of the things that it looked at have too little evidence for an answer."""
        return sum(each.is_found is None for each in self.findings)

    @property
    def said(self) -> str:
        """In one line: what the evidence says of the worst thing, or which evidence would answer."""
        if not self.findings:
            return self.fault or self.unjoined or f"needs {self.check.evidence}" + (f"; {self.unread}" if self.unread else "")
        return f"{self.findings[0].subject}: {self.findings[0].statement}"


@dataclass(frozen=True)
class Change:
    """One metric of the run at one point, beside the median of the runs that it is compared with. `usual_factor`: three robust standard deviations
    of these, as a factor; 1 where they are too few to show how much they differ."""

    indicator: str
    metric: str
    point: str
    unit: str | None
    better: str
    observed: float
    expected: float
    usual_factor: float = 1.0

    @property
    def ratio(self) -> float | None:
        return self.observed / self.expected if self.expected else None

    @property
    def worse_by(self) -> float:
        """How many times worse it is; below 1 it is better. 1 for a metric without a direction, or with a sign."""
        if self.better not in ("lower", "higher") or self.observed == self.expected or min(self.observed, self.expected) < 0:
            return 1.0
        worse, than = (self.observed, self.expected) if self.better == "lower" else (self.expected, self.observed)
        return worse / than if than else inf

    @property
    def is_apart(self) -> bool:
        """Whether it is worse by as much as a symptom needs."""
        return self.worse_by > max(_LEAST_SYMPTOM, self.usual_factor)

    @property
    def direction(self) -> str:
        """Whether it is worse, in a word."""
        if self.observed == self.expected:
            return "same"
        return "worse" if self.worse_by > 1 else "better" if self.worse_by < 1 else "not known"

    @property
    def distance(self) -> float:
        """How far it is from the baseline in either direction: of metrics without a direction, the most changed come first."""
        return abs(log(self.ratio)) if self.ratio and self.ratio > 0 else 0.0


@dataclass(frozen=True)
class Explanation:
    """A run, the runs that it was compared with and how these were chosen, what changed, and the answers of the checks by playbook. `differences`
    are those of what the runs were to do, on what and with what: they may be the cause. `notes` say what limits the answers."""

    run_id: str
    baseline: tuple[str, ...]
    chosen_by: str
    changes: tuple[Change, ...]  # the worst first
    answers: tuple[Answer, ...]
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def effect(self) -> float:
        """How many times slower the run is than its baseline; 1 where it is not."""
        return _effect(self.changes)

    def share(self, answer: Answer) -> str:
        """In words, how many times slower a cause can have made the run; empty where the run is hardly slower."""
        if self.effect < _LEAST_EFFECT:
            return ""
        least, most = answer.bounds
        of = f"of {self.effect:.3g} times slower"
        if most == inf:
            return f"may be all {of} (no evidence bounds it)"
        low, high = min(least, self.effect), min(most, self.effect)
        return f"at most {high:.3g} {of}" if low <= 1 else f"{low:.3g} to {high:.3g} {of}"

    def together(self) -> tuple[float, float]:
        """How many times slower the likeliest causes made the run together, at least and at most. Causes in one part of a run's time, such as the
        wait for its input, may be one cause seen twice, so the greatest counts; those of different parts multiply."""
        parts: dict[str, list[tuple[float, float]]] = {}
        for each in self.causes():
            if self.is_suspected(each.check.playbook) and not each.is_of_neighbours:
                parts.setdefault(each.check.part or each.check.name, []).append(each.bounds)
        least, most = ([max(each[place] for each in bounds) for bounds in parts.values()] for place in (0, 1))
        return prod(least), prod(most)

    def left_over(self) -> float | None:
        """How many times slower the run still is if the likeliest causes cost it as much as they can have; None where that is nothing, or one
        of them has no bound."""
        rest = self.effect / self.together()[1] if self.has_suspected_cause() else 1.0
        return rest if rest > _LEAST_REST else None

    def of_playbook(self, playbook: str, *, are_symptoms: bool) -> list[Answer]:
        return [each for each in self.answers if each.check.playbook == playbook and each.check.is_symptom == are_symptoms]

    def is_suspected(self, playbook: str) -> bool:
        """Whether a symptom of the playbook's scenario is found."""
        return any(each.state == FOUND for each in self.of_playbook(playbook, are_symptoms=True))

    def has_suspected_cause(self) -> bool:
        """Whether a check of a suspected playbook is found. Else what checks found may have cost nothing."""
        return any(self.is_suspected(each.check.playbook) for each in self.causes())

    def is_blind(self, playbook: str) -> bool:
        """Whether no check of the playbook had anything to look at."""
        return all(each.state == MISSING and not each.findings for each in self.answers if each.check.playbook == playbook)

    def suspicion(self, playbook: str) -> str:
        """Whether the playbook's scenario is the case, in words; without evidence of a symptom it is not known."""
        states = {each.state for each in self.of_playbook(playbook, are_symptoms=True)}
        return "suspected" if FOUND in states else "not suspected" if NOT_FOUND in states else "not known"

    def playbooks(self) -> list[str]:
        """Those with a symptom that was found first, then by their likeliest cause."""
        names = dict.fromkeys(each.check.playbook for each in self.answers)

        def place(name: str) -> tuple[bool, float, str]:
            return not self.is_suspected(name), -max((each.score for each in self.of_playbook(name, are_symptoms=False)), default=0.0), name

        return sorted(names, key=place)

    def causes(self) -> list[Answer]:
        """What was found, the likeliest cause first: of a suspected scenario before any other, the run's own before neighbours, then by explained
        share. A check of several playbooks is there once."""
        found = [each for each in self.answers if each.state == FOUND and not each.check.is_symptom]
        ranked = sorted(found, key=self._likelihood)
        first = {each.check.name: each for each in reversed(ranked)}
        return [each for each in ranked if first[each.check.name] is each]

    def _likelihood(self, each: Answer) -> tuple[bool, bool, float, float, int, str]:
        least, _ = each.bounds
        return not self.is_suspected(each.check.playbook), each.is_of_neighbours, -round(each.score, 2), -least, each.check.order, each.check.name


def explain(project: Project, run_id: str, baseline: Sequence[str] = (), playbook: str | None = None, build: Build | None = None) -> Explanation:
    """Ask the checks of all playbooks, or of one, about a run, in the current build or another. Without a `baseline`, the run is compared with the
    healthy runs of its case, workload, machine and place that are nearest in time (`baseline.py`). Raises WH502 for a run that the build does not
    have, or that is to be compared with itself, WH541 for an unknown playbook, WH201 for a check whose header is not valid, WH211, WH218, WH501."""
    checks = read_playbooks(project)
    names = sorted({check.playbook for check in checks})
    if playbook is not None and playbook not in names:
        hint = did_you_mean(playbook, names) or f"known: {', '.join(names)}"
        raise WarehouseError("WH541", "no playbook has this name", printable(playbook), hint, ExitCode.NOT_FOUND)
    build = build or current_build(project)
    with kept_open(build), measured(build) as found:
        runs = _runs(found)
        for asked in (run_id, *baseline):
            _check_known(found, runs, asked)
        if run_id in baseline:
            raise WarehouseError("WH502", "a run is not compared with itself", printable(run_id), "give other runs as the baseline", ExitCode.USAGE)
        chosen, chosen_by = (tuple(dict.fromkeys(baseline)), "given") if baseline else nearest(found, runs, run_id)
        changes = _changes(found, run_id, chosen)
        _create_explained(found.con, runs, run_id, chosen)
        _create_changed(found.con, changes)
        effect = _effect(changes)
        unjoined, unread = read_unjoined(found.con, run_id), read_unread(found.con, run_id)
        asked_checks = [check for check in checks if playbook in (None, check.playbook)]
        files = {check.place: check for check in asked_checks}  # a check of several playbooks is asked once
        answers = {place: _answered(found.con, check, effect, unjoined, unread) for place, check in files.items()}
        differing = _differences(found, run_id, chosen)
        notes = (*circumstances(found.con, runs, run_id, chosen), *as_notes(unjoined), *([] if chosen else nearest_in_words(found.con, run_id)))
        answered = tuple(replace(answers[check.place], check=check) for check in asked_checks)
        return Explanation(run_id, chosen, chosen_by, changes, answered, differing, notes)


def _runs(found: Measured) -> "RoleTable":
    if found.runs is None:
        raise WarehouseError("WH501", "no table has the runs", found.build.path.name, "give a model of one row per run `role: runs` (docs/models.md)")
    return found.runs


def _check_known(found: Measured, runs: "RoleTable", run_id: str) -> None:
    if not found.con.execute(f"select 1 from {runs.sql} where run_id = ?", [run_id]).fetchall():
        sql = f"select run_id from {runs.sql} group by run_id order by levenshtein(run_id, ?), run_id limit 3"
        similar = found.con.execute(sql, [run_id[:200]]).fetchall()
        names = [name for (name,) in similar]
        hint = did_you_mean(run_id, names) or (f"similar: {', '.join(map(printable, names))}" if names else "nothing ran yet: wh record -- COMMAND")
        raise WarehouseError("WH502", "the build has no run with this id", printable(run_id), hint, ExitCode.NOT_FOUND)


def _create_explained(con: "duckdb.DuckDBPyConnection", runs: "RoleTable", run_id: str, baseline: Sequence[str]) -> None:
    con.execute(f"create temp table explained as select *, 'run' as role from {runs.sql} where run_id = ?", [run_id])
    con.execute(f"insert into explained select *, 'baseline' as role from {runs.sql} where run_id in (select unnest(?::varchar[]))", [list(baseline)])


def _create_changed(con: "duckdb.DuckDBPyConnection", changes: Sequence[Change]) -> None:
    con.execute(
        "create temp table changed (indicator varchar, metric varchar, point varchar, unit varchar, better varchar, observed double, expected double,"
        " usual_factor double)"
    )
    rows = [[each.indicator, each.metric, each.point, each.unit, each.better, each.observed, each.expected, each.usual_factor] for each in changes]
    if rows:
        con.executemany("insert into changed values (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _answered(
    con: "duckdb.DuckDBPyConnection", check: Check, effect: float, unjoined: Sequence[Unjoined], unread: Mapping[str, str],
) -> Answer:
    import duckdb

    try:
        if not check.is_standard:
            check_reads(con, check.sql)
        result = con.execute(check.sql)
        names = [column[0] for column in result.description or ()]
        _check_columns(check, names)
        rows = [_finding(check, dict(zip(names, row, strict=True)), effect) for row in result.fetchmany(_MOST_ROWS)]
    except duckdb.Error as error:
        return Answer(check, BROKEN, fault=str(translated(error, "WH541", check.sql, check.place)))
    except WarehouseError as error:
        return Answer(check, BROKEN, fault=str(error) if error.place == check.place else f"{check.place}: {error}")
    state = MISSING
    if any(each.is_found is not None for each in rows):
        state = FOUND if any(each.is_found for each in rows) else NOT_FOUND
    rows.sort(key=lambda each: (_PLACES[each.is_found], each.is_neighbour, -each.score, each.subject))
    if state != MISSING:
        return Answer(check, state, tuple(rows))
    return Answer(check, state, tuple(rows), unjoined=of_check(unjoined, check.sql), unread=None if rows else why_unread(unread, check.sql))


def _check_columns(check: Check, names: Sequence[str]) -> None:
    lacking = [name for name in _NEEDED if name not in names]
    if not {"score", "slowdown"} & {*names}:
        lacking.append("score or slowdown")
    unknown = [name for name in names if name not in _COLUMNS]
    if lacking:
        raise WarehouseError("WH541", f"the check has no column {', '.join(lacking)}", check.place, did_you_mean(lacking[0], unknown))
    if unknown:
        hint = did_you_mean(unknown[0], _COLUMNS) or f"known: {', '.join(_COLUMNS)}"
        raise WarehouseError("WH541", f"the check has a column {printable(unknown[0])}, which says nothing here", check.place, hint)


def _finding(check: Check, row: Mapping[str, Any], effect: float) -> Finding:
    """A row of a check. Raises WH541 for a value of the wrong type, such as the text 'false' in is_found."""

    def kept(name: str, kinds: type | tuple[type, ...], words: str) -> Any:
        value = row.get(name)
        if value is None or (isinstance(value, kinds) and isinstance(value, bool) == (kinds is bool)):
            return value
        raise WarehouseError("WH541", f"{name} is {words}, not {printable(repr(value))}", check.place)

    def number(name: str) -> float | None:
        value = kept(name, (int, float, Decimal), "a number")
        return float(value) if value is not None and isfinite(value) else None

    def text(name: str) -> str | None:
        value: str | None = kept(name, str, "a text")
        return value

    slowdown, least, score = number("slowdown"), number("slowdown_least") or 1.0, number("score")
    if slowdown is not None:  # what makes nothing slower accounts for nothing
        slowdown = max(1.0, slowdown)
        least = min(least, slowdown)
    if score is None:
        score = 0.0 if slowdown is None else _share(slowdown, effect)
    return Finding(
        text("subject") or "", kept("is_found", bool, "true, false or NULL"), score, _in_digits(text("statement") or ""), number("observed"),
        number("expected"), text("unit"), text("artifact_manifest_digest"), text("raw_path"), slowdown, max(1.0, least),
        bool(kept("is_neighbour", bool, "true, false or NULL")),
    )


def _in_digits(statement: str) -> str:
    """Figures such as 2.6e+04, which printf makes of a large one, as people write them."""
    return _LARGE.sub(lambda found: f"{float(found[0]):.0f}", statement)


def _share(slowdown: float, effect: float) -> float:
    """How much of an effect a slowdown explains. Causes that act together multiply, so their logarithms add up."""
    return min(1.0, log(slowdown) / log(effect)) if effect > _LEAST_EFFECT else 0.0


def _effect(changes: Sequence[Change]) -> float:
    """How many times slower a run is: by its throughput where that fell, else by the metric that became worst. A throughput that differs no more
    than usual says nothing of a run whose tail is longer."""
    apart = [each for each in changes if each.is_apart] or changes
    lost = max((each.worse_by for each in apart if each.better == "higher" and each.metric.endswith("_per_s")), default=1.0)
    return lost if lost > _LEAST_EFFECT else max((each.worse_by for each in apart), default=1.0)


def _changes(found: Measured, run_id: str, baseline: Sequence[str]) -> tuple[Change, ...]:
    """The metrics that the run has in common with its baseline, at the same point, the worst first."""
    own = found.read("m.run_id = ?", [run_id])
    others: dict[tuple[str, str, str], list[Measurement]] = {}
    for each in found.read("m.run_id in (select unnest(?::varchar[]))", [list(baseline)]):
        others.setdefault(each.name, []).append(each)
    changes = [
        Change(
            each.indicator, each.metric, each.point, each.unit, each.better, each.value, median(other.value for other in others[each.name]),
            _usual_factor([other.value for other in others[each.name]]),
        )
        for each in own if each.name in others
    ]
    return tuple(sorted(changes, key=lambda each: (-each.worse_by, -each.distance, each.indicator, each.metric, each.point)))


def _usual_factor(values: Sequence[float]) -> float:
    """Three standard deviations of the logarithms, from the median of their distances to the median: one odd run does not widen it."""
    if len(values) < _ENOUGH_TO_DIFFER or min(values) <= 0:
        return 1.0
    middle = log(median(values))
    return exp(3 * _NORMAL * median(abs(log(value) - middle) for value in values))


def _differences(found: Measured, run_id: str, baseline: Sequence[str]) -> tuple[Difference, ...]:
    """What the run was to do, on what and with what, where that differs from the runs that it is compared with."""
    if not baseline:
        return ()
    conditions = read_conditions(found, {run_id, *baseline})
    differing = differences([conditions[each] for each in baseline], [conditions[run_id]])
    # A value that some run of the baseline has, too, does not set the run apart.
    return tuple(each for each in differing if each.kind not in _MEASURED_KINDS and not set(each.base) & set(each.head) and each.is_apart)
