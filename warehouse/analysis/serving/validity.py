"""Validity of runs: what a policy says of each load point by itself, before anything is compared or published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from warehouse.analysis.serving.load_points import chosen, has_result, labels, load_points, no_point
from warehouse.claims.gate.checks import OF_OBSERVATIONS, RELATIVE_TO_OTHERS
from warehouse.claims.gate.evidence import RUN_ID, Evidence, Observation
from warehouse.claims.gate.judgement import RuleVerdict, judge
from warehouse.claims.gate.observed import observed_columns, plain
from warehouse.claims.gate.policy import PROVISIONAL, PUBLISHABLE, Policy, load_policy
from warehouse.errors import WarehouseError
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build
from warehouse.transform.finished.role_tables import RoleTable
from warehouse.transform.project.claim import Claim, ClaimedNumber

if TYPE_CHECKING:
    import duckdb

VALID, NOT_PROVEN, FLAGGED, INVALID = "valid", "not proven", "flagged", "invalid"
HOLDS, FAILS, NO_EVIDENCE = "holds", "fails", "no evidence"
BESIDE = "not measured, which says nothing of the speed"
VERDICTS = (VALID, NOT_PROVEN, FLAGGED, INVALID)  # the best first
POLICY = "serving"
_PERCENTILE = 0.99  # of which rules on numbers of requests are judged


@dataclass(frozen=True)
class PointValidity:
    """One run at one load. `verdict`: `invalid` if a figure is within no bound of its rule, `flagged` if one is only provisional, `not
    proven` if the evidence of a rule is missing, else `valid`. `rules` has what each rule found, the worst first. A rule with a subject of
    its own, such as accuracy, has no part in the verdict: it says nothing of how fast the run was."""

    run_id: str
    load_kind: str | None
    load: float | None
    model: str | None
    labels: Mapping[str, Any]
    verdict: str
    rules: Sequence[RuleVerdict]

    @property
    def against(self) -> list[RuleVerdict]:
        """The rules whose figure makes it invalid or flagged."""
        return [each for each in self._of_measurement if each.verdict != PUBLISHABLE and each.figure is not None]

    @property
    def silent(self) -> list[RuleVerdict]:
        """The rules that would have to hold, and whose evidence is missing."""
        return [each for each in self._of_measurement if each.verdict != PUBLISHABLE and each.figure is None]

    @property
    def holding(self) -> list[RuleVerdict]:
        return [each for each in self._of_measurement if each.verdict == PUBLISHABLE and each.figure is not None]

    @property
    def unchecked(self) -> list[RuleVerdict]:
        """The rules that need not hold where their evidence is missing, and whose evidence is."""
        return [each for each in self._of_measurement if each.verdict == PUBLISHABLE and each.figure is None]

    @property
    def beside(self) -> list[RuleVerdict]:
        """The rules with a subject of their own that do not hold."""
        return [each for each in self.rules if each.rule.subject is not None and each.verdict != PUBLISHABLE]

    @property
    def _of_measurement(self) -> list[RuleVerdict]:
        return [each for each in self.rules if each.rule.subject is None]

    def document(self) -> dict[str, Any]:
        """What each rule found, for machines: it holds, fails, or lacks evidence, and what to record so that it has some."""
        return {
            "run_id": self.run_id, "load_kind": self.load_kind, "load": self.load, "model": self.model, "verdict": self.verdict,
            "rules": [
                {
                    "id": each.rule.id, "says": each.rule.says, "verdict": each.told, "figure": each.figure, "why": each.why,
                    "asked": str(each.rule.publishable), "subject": each.rule.subject, "record": each.rule.record,
                    "state": state_of(each),
                }
                for each in self.rules
            ],
        }

    def __str__(self) -> str:
        """What holds, fails and lacks evidence, in a line."""
        fails = [f"{each.rule.id}: {figure_text(each)}" for each in self.against]
        lacking = _names([*self.silent, *self.unchecked])
        parts = [("fails", fails), ("holds", _names(self.holding)), ("no evidence for", lacking)]
        said = [f"{what} {', '.join(names)}" for what, names in parts if names]
        return "; ".join([*said, *(f"{each.rule.subject} {BESIDE if each.figure is None else 'not shown'}" for each in self.beside)])


@dataclass(frozen=True)
class Validity:
    """The load points of one build that have a result, judged by `policy`."""

    build: str
    policy: Policy
    points: tuple[PointValidity, ...]


def validity(project: Project, where: str | None = None, policy: str = POLICY, run_ids: Collection[str] | None = None) -> Validity:
    """Judge each run of a load curve by those rules of a policy that look at one run (checks `observed` and `requests`). `where` is
    `name=value,name!=value` over columns of the load points; `run_ids` are the runs that are meant, all if None. Raises WH521 (no table has
    load points), WH522 (no such column, no point is meant, or the policy has no such rule), WH316, WH502, WH211, WH218."""
    build = current_build(project)
    table = load_points(build)
    rules = rules_of_one_run(project, table, policy)
    if not rules.rules:
        hint = f"a rule has check = {' or '.join(OF_OBSERVATIONS)}, and a column of {table.name}"
        raise WarehouseError("WH522", f"policy {policy} has no rule about one run", policy, hint)
    with open_build(build.path) as con:
        points = tuple(point_validity(row, rules) for row in _rows(con, table, where, run_ids))
        if not points:
            raise no_point(con, table, where)
    return Validity(build.digest, rules, tuple(sorted(points, key=lambda point: -VERDICTS.index(point.verdict))))


def validity_of_runs(project: Project, run_ids: Collection[str]) -> Validity | None:
    """The same of those runs that are in the load curves of the current build; None where none is, as of other benchmarks, or no
    policy can judge them."""
    try:
        return validity(project, run_ids=run_ids)
    except WarehouseError as error:
        if error.code in ("WH211", "WH316", "WH521", "WH522"):
            return None
        raise


def what_to_record(points: Sequence[PointValidity]) -> dict[str, list[str]]:
    """What to record so that the rules have evidence that lack it, and which rules; what most points lack comes first."""
    lacking = Counter(
        (each.rule.record, each.rule.id)
        for point in points for each in (*point.silent, *point.beside) if each.figure is None and each.rule.record
    )
    found: dict[str, list[str]] = {}
    for (record, rule), _ in lacking.most_common():
        found.setdefault(str(record), []).append(rule)
    return found


def state_of(each: RuleVerdict) -> str:
    """Whether a rule holds, fails, or lacks evidence. One without evidence never holds, whatever its policy makes of that."""
    return NO_EVIDENCE if each.figure is None else HOLDS if each.verdict == PUBLISHABLE else FAILS


def figure_text(each: RuleVerdict) -> str:
    """What a rule found, and what it asks for."""
    if each.rule.settings.get("over") == "false":  # a yes or no, not a figure
        return "no"
    return f"{each.figure:.4g} (asked: {each.rule.publishable})"


def rules_of_one_run(project: Project, table: RoleTable, policy: str = POLICY) -> Policy:
    """A policy with only those of its rules that look at one run, in columns that a table of load points has. Raises WH316."""
    found = load_policy(project, policy)
    return replace(found, rules=tuple(rule for rule in found.rules if rule.check in OF_OBSERVATIONS and _is_of_one_run(rule.settings, table)))


def _is_of_one_run(settings: Mapping[str, Any], table: RoleTable) -> bool:
    return settings.get("over") not in RELATIVE_TO_OTHERS and settings.get("column", "") in table.columns


def _rows(
    con: "duckdb.DuckDBPyConnection", table: RoleTable, where: str | None, run_ids: Collection[str] | None
) -> Iterator[dict[str, Any]]:
    cursor = con.execute(
        f"select * from {table.sql} as p where {chosen(table, where)} and {has_result()}"
        " and ($runs is null or list_contains($runs, p.run_id)) order by curve_key, load, run_id",
        {"runs": None if run_ids is None else sorted(run_ids)},
    )
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor.fetchall())


def point_validity(row: Mapping[str, Any], policy: Policy) -> PointValidity:
    """The validity of one row of a table of load points, by the rules of `rules_of_one_run`."""
    columns = {name: plain(row.get(name)) for name in observed_columns(policy)}
    claim = Claim(numbers={"run": ClaimedNumber("value", "", _PERCENTILE)})
    observation = Observation(str(row[RUN_ID]), 0.0, True, columns)
    judged = judge(Evidence("run", 0.0, claim, row, [observation], [], None, [], {}), policy)
    point = PointValidity(observation.run_id, row["load_kind"], row["load"], row.get("model"), labels(row), VALID, judged.rules)
    worst = {each.verdict for each in point.against}
    verdict = INVALID if worst - {PROVISIONAL} else FLAGGED if worst else NOT_PROVEN if point.silent else VALID
    return replace(point, verdict=verdict)


def _names(rules: Sequence[RuleVerdict]) -> list[str]:
    return sorted(each.rule.id for each in rules)
