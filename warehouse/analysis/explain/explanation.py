"""`wh explain RUN`: what of a run is slower than in comparable runs, and the answer of every check of every playbook, the likeliest cause first.

A check answers `found`, `not found`, or `evidence missing` with the families that would answer it. Nothing is concluded from what is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from warehouse.analysis.explain.playbooks import Check, read_playbooks
from warehouse.analysis.measurements import Measured, Measurement, measured
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.project import Project
from warehouse.transform.finished.builds import Build, current_build
from warehouse.transform.sql.engine_faults import translated
from warehouse.transform.sql.read_only import check_reads

if TYPE_CHECKING:
    import duckdb

State = Literal["found", "not found", "evidence missing", "broken"]
FOUND: State = "found"
NOT_FOUND: State = "not found"
MISSING: State = "evidence missing"
BROKEN: State = "broken"
_MOST_BASELINE = 10  # runs, the nearest in time
_MOST_ROWS = 10_000  # of one check
# What a check returns. Of these it may leave out those that are not needed.
_NEEDED = ("subject", "is_found", "score", "statement")
_COLUMNS = (*_NEEDED, "observed", "expected", "unit", "artifact_manifest_digest", "raw_path")


@dataclass(frozen=True)
class Finding:
    """One thing that a check looked at. `score` is how much of the trouble it would explain: 1 is all of it. The bundle and the file in it are
    the evidence; `is_found` is None where the evidence does not support an answer."""

    subject: str
    is_found: bool | None
    score: float
    statement: str
    observed: float | None
    expected: float | None
    unit: str | None
    artifact_manifest_digest: str | None
    raw_path: str | None


@dataclass(frozen=True)
class Answer:
    """What a check found: the things that it looked at, the worst first. `fault` says why a check is broken."""

    check: Check
    state: State
    findings: tuple[Finding, ...] = ()
    fault: str | None = None

    @property
    def score(self) -> float:
        return max((each.score for each in self.findings if each.is_found), default=0.0)


@dataclass(frozen=True)
class Change:
    """One metric of the run at one point, beside the median of the runs that it is compared with."""

    indicator: str
    metric: str
    point: str
    unit: str | None
    better: str
    observed: float
    expected: float

    @property
    def ratio(self) -> float | None:
        return self.observed / self.expected if self.expected else None

    @property
    def worse_by(self) -> float:
        """How many times worse it is; below 1 it is better. 1 for a metric without a direction."""
        if not self.ratio or self.ratio < 0 or self.better not in ("lower", "higher"):
            return 1.0
        return self.ratio if self.better == "lower" else 1 / self.ratio


@dataclass(frozen=True)
class Explanation:
    """A run, the runs that it was compared with and how these were chosen, what changed, and the answers of the checks by playbook."""

    run_id: str
    baseline: tuple[str, ...]
    chosen_by: str
    changes: tuple[Change, ...]  # the worst first
    answers: tuple[Answer, ...]

    def of_playbook(self, playbook: str, *, are_symptoms: bool) -> list[Answer]:
        return [each for each in self.answers if each.check.playbook == playbook and each.check.is_symptom == are_symptoms]

    def is_suspected(self, playbook: str) -> bool:
        """Whether a symptom of the playbook's scenario is found."""
        return any(each.state == FOUND for each in self.of_playbook(playbook, are_symptoms=True))

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
        """What was found, the likeliest cause first: of a suspected scenario before any other, then by score."""
        found = [each for each in self.answers if each.state == FOUND and not each.check.is_symptom]
        return sorted(found, key=lambda each: (not self.is_suspected(each.check.playbook), -each.score, each.check.order, each.check.name))


def explain(project: Project, run_id: str, baseline: Sequence[str] = (), playbook: str | None = None, build: Build | None = None) -> Explanation:
    """Ask the checks of all playbooks, or of one, about a run, in the current build or another. Without a `baseline`, the run is compared with the
    succeeded and admitted runs of its case, workload and machine that are nearest in time. Raises WH502 for a run that the build does not have,
    WH541 for an unknown playbook, WH201 for a check whose header is not valid, WH211, WH218, WH501."""
    checks = read_playbooks(project)
    names = sorted({check.playbook for check in checks})
    if playbook is not None and playbook not in names:
        hint = did_you_mean(playbook, names) or f"known: {', '.join(names)}"
        raise WarehouseError("WH541", "no playbook has this name", printable(playbook), hint, ExitCode.NOT_FOUND)
    with measured(build or current_build(project)) as found:
        runs = _runs(found)
        for asked in (run_id, *baseline):
            _check_known(found, runs, asked)
        chosen = tuple(dict.fromkeys(each for each in baseline if each != run_id)) or _nearest(found, runs, run_id)
        chosen_by = "given" if baseline else "the same case, workload and machine, nearest in time"
        changes = _changes(found, run_id, chosen)
        _create_explained(found.con, runs, run_id, chosen)
        _create_changed(found.con, changes)
        answers = tuple(_answered(found.con, check) for check in checks if playbook in (None, check.playbook))
        return Explanation(run_id, chosen, chosen_by, changes, answers)


def _runs(found: Measured) -> str:
    if found.runs is None:
        raise WarehouseError("WH501", "no table has the runs", found.build.path.name, "give a model of one row per run `role: runs` (docs/models.md)")
    return found.runs.sql


def _check_known(found: Measured, runs: str, run_id: str) -> None:
    if not found.con.execute(f"select 1 from {runs} where run_id = ?", [run_id]).fetchall():
        similar = found.con.execute(f"select run_id from {runs} order by levenshtein(run_id, ?), run_id limit 3", [run_id[:200]]).fetchall()
        hint = did_you_mean(run_id, [name for (name,) in similar])
        raise WarehouseError("WH502", "the build has no run with this id", printable(run_id), hint, ExitCode.NOT_FOUND)


def _nearest(found: Measured, runs: str, run_id: str) -> tuple[str, ...]:
    """Comparable runs, the nearest in time, those before the run if there are any."""
    columns = {name for (name, *_) in found.con.execute(f"describe from {runs}").fetchall()}
    same = [name for name in ("benchmark_case_id", "workload_spec_digest", "hardware_topology_key", "mode") if name in columns]
    where = [f"other.{name} is not distinct from run.{name}" for name in same]
    where += [f"other.{name} = '{value}'" for name, value in (("status", "succeeded"), ("state", "admitted")) if name in columns]
    distance = "abs(epoch(other.started_at) - epoch(run.started_at))" if "started_at" in columns else "0"
    is_after = "coalesce(other.started_at > run.started_at, true)" if "started_at" in columns else "true"
    rows = found.con.execute(
        f"select other.run_id, {is_after} as is_after from {runs} as run inner join {runs} as other on other.run_id <> run.run_id and"
        f" {' and '.join(where) or 'true'} where run.run_id = ? order by is_after, {distance}, other.run_id", [run_id],
    ).fetchall()
    before = [name for name, is_after in rows if not is_after]
    return tuple((before or [name for name, _ in rows])[:_MOST_BASELINE])


def _create_explained(con: "duckdb.DuckDBPyConnection", runs: str, run_id: str, baseline: Sequence[str]) -> None:
    con.execute(f"create temp table explained as select *, 'run' as role from {runs} where run_id = ?", [run_id])
    con.execute(f"insert into explained select *, 'baseline' as role from {runs} where run_id in (select unnest(?::varchar[]))", [list(baseline)])


def _create_changed(con: "duckdb.DuckDBPyConnection", changes: Sequence[Change]) -> None:
    con.execute(
        "create temp table changed (indicator varchar, metric varchar, point varchar, unit varchar, better varchar, observed double, expected double)"
    )
    rows = [[each.indicator, each.metric, each.point, each.unit, each.better, each.observed, each.expected] for each in changes]
    if rows:
        con.executemany("insert into changed values (?, ?, ?, ?, ?, ?, ?)", rows)


def _answered(con: "duckdb.DuckDBPyConnection", check: Check) -> Answer:
    import duckdb

    try:
        check_reads(con, check.sql)
        result = con.execute(check.sql)
        names = [column[0] for column in result.description or ()]
        lacking = [name for name in _NEEDED if name not in names]
        if lacking:
            return Answer(check, BROKEN, fault=f"{check.place}: the check has no column {', '.join(lacking)}")
        rows = [_finding(dict(zip(names, row, strict=True))) for row in result.fetchmany(_MOST_ROWS)]
    except duckdb.Error as error:
        return Answer(check, BROKEN, fault=str(translated(error, "WH541", check.sql, check.place)))
    except WarehouseError as error:
        return Answer(check, BROKEN, fault=f"{check.place}: {error}")
    state = MISSING
    if any(each.is_found is not None for each in rows):
        state = FOUND if any(each.is_found for each in rows) else NOT_FOUND
    return Answer(check, state, tuple(sorted(rows, key=lambda each: (not each.is_found, -each.score, each.subject))))


def _finding(row: Mapping[str, Any]) -> Finding:
    found = {name: row.get(name) for name in _COLUMNS}
    score = float(found["score"]) if found["score"] is not None else 0.0
    return Finding(
        str(found["subject"]), None if found["is_found"] is None else bool(found["is_found"]), score if isfinite(score) else 0.0,
        str(found["statement"]), _number(found["observed"]), _number(found["expected"]), found["unit"], found["artifact_manifest_digest"],
        found["raw_path"],
    )


def _number(value: Any) -> float | None:
    return float(value) if value is not None and isfinite(float(value)) else None


def _changes(found: Measured, run_id: str, baseline: Sequence[str]) -> tuple[Change, ...]:
    """The metrics that the run has in common with its baseline, at the same point, the worst first."""
    own = found.read("m.run_id = ?", [run_id])
    others: dict[tuple[str, str, str], list[Measurement]] = {}
    for each in found.read("m.run_id in (select unnest(?::varchar[]))", [list(baseline)]):
        others.setdefault(each.name, []).append(each)
    changes = [
        Change(each.indicator, each.metric, each.point, each.unit, each.better, each.value, median(other.value for other in others[each.name]))
        for each in own if each.name in others
    ]
    return tuple(sorted(changes, key=lambda each: (-each.worse_by, each.indicator, each.metric, each.point)))
