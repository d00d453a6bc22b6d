"""Judges every claimed number of a traced rollup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.accounting import Accounts
from warehouse.claims.gate.evidence import ColumnEvidence, Evidence, RowEvidence
from warehouse.claims.gate.frozen import judged_line, told
from warehouse.claims.gate.history import History, health_rules, shows_sessions
from warehouse.claims.gate.judgement import Judgement, judge, rule_verdicts
from warehouse.claims.gate.looks import Looks, RowNow, Seen
from warehouse.claims.gate.observed import observed_columns, observed_rows, plain
from warehouse.claims.gate.policy import EXPLORATORY, EXPLORATORY_POLICY, PUBLISHABLE, Policy, load_policy
from warehouse.errors import WarehouseError, counted, printable
from warehouse.exact import exact, row_numbers
from warehouse.project.project import Project
from warehouse.transform.project.claim import Claim
from warehouse.transform.sql.duck import quote, quoted
from warehouse.transform.sql.text import canonical

if TYPE_CHECKING:
    import duckdb

    from warehouse.claims.publish.freezing import Facts
    from warehouse.trace.catalog import BuiltModel, Catalog
    from warehouse.trace.tracing import Traced


@dataclass(frozen=True)
class JudgedNumber:
    """One claimed number, its cell as it can be typed but for the query, and what the policy says of it."""

    number_id: str
    grain: Mapping[str, Any]
    column: str
    value: Any
    judgement: Judgement


@dataclass(frozen=True)
class Rollup:
    """A rollup in a session that has traced it: what the gate needs of it. `columns` are its own."""

    con: "duckdb.DuckDBPyConnection"
    catalog: "Catalog"
    spec: "BuiltModel"
    columns: list[str]
    traced: "Traced"
    facts: "Facts"
    guarantees: Mapping[str, Any]
    claim: Claim

    @cached_property
    def runs_of(self) -> Mapping[int, frozenset[str]]:
        """The runs of each row, by row id."""
        return {rowid: trace.all_runs() for part in self.traced.parts() for rowid, trace in part.items()}

    @cached_property
    def accounts(self) -> Accounts:
        """The runs that are in no claimed number."""
        traced = {
            rowid: set[str]().union(*map(trace.runs_of, self.claim.numbers))
            for part in self.traced.parts() for rowid, trace in part.items()
        }
        return Accounts(self.con, self.catalog, self.spec.name, self.claim, traced)


def policy_of(project: Project, claim: Claim, place: str, named: str | None = None) -> Policy:
    """The policy that judges a query: the one that is `named`, else that of its claim, else `exploratory`. Raises WH316, and WH317 where it
    has rules and the query claims no number."""
    policy = load_policy(project, named or claim.policy or EXPLORATORY_POLICY)
    if policy.rules and not claim.numbers:
        hint = "claim: {observations: MODEL, numbers: {COLUMN: {statistic: median, of: EXPRESSION}}}"
        raise WarehouseError("WH317", f"policy {policy.name} judges numbers, and the query claims none", place, hint)
    return policy


class Judged:
    """What a policy says of a rollup: the lines of `judgement.jsonl`, how many numbers have which verdict, those that are not publishable, and
    which runs are seen in a row of it for the first time. `stopping` is its claim's rule for adding runs."""

    def __init__(self, policy: Policy, stopping: str | None = None) -> None:
        self.policy, self.stopping = policy, stopping
        self.lines: list[bytes] = []
        self.verdicts: Counter[str] = Counter()
        self.numbers: list[JudgedNumber] = []
        self.seen: Seen = {}

    @property
    def against(self) -> list[JudgedNumber]:
        """The numbers that the policy does not let be published, the worst of each kind as they come."""
        return [each for each in self.numbers if each.judgement.verdict not in (PUBLISHABLE, EXPLORATORY)]


def judge_rollup(rollup: Rollup, policy: Policy, looks: Looks) -> Judged:
    """Judge the claimed numbers of a rollup. Raises WH317 where the claim does not fit its tables."""
    judged = Judged(policy, rollup.claim.stopping)
    if not rollup.claim.numbers:  # whoever publishes it has seen it all the same
        judged.seen.update(looks.unnamed_unclaimed(_bundles(rollup, rollup.facts.runs)))
        return judged
    rows = [
        (grain, row, replace(evidence, columns={column: own for column, own in evidence.columns.items() if numbers[column] is not None}), numbers)
        for grain, row, evidence, numbers in _rows(rollup, policy, looks, judged.seen)
    ]
    health = health_rules(policy)

    def healthy(row: Mapping[str, Any], evidence: RowEvidence) -> list[str]:
        said = {column: rule_verdicts(_cell(rollup, evidence, column, row), health) for column in evidence.columns}
        return [column for column, each in said.items() if shows_sessions({rule.rule.id: rule.verdict for rule in each}, health)]

    history = History((evidence, healthy(row, evidence)) for _, row, evidence, _ in rows)
    for grain, row, unrelated, numbers in rows:
        cells, evidence = {}, history.of(unrelated)
        for column in evidence.columns:
            judgement = judge(_cell(rollup, evidence, column, row), policy)
            cells[column] = told(judgement)
            judged.verdicts[judgement.verdict] += 1
            judged.numbers.append(JudgedNumber(numbers[column] or "", grain, column, row[column], judgement))
        if cells:
            forms = {name: exact(value) for name, value in grain.items()}
            judged.lines.append(judged_line(forms, evidence, cells))
    judged.lines.sort()
    return judged


def _cell(rollup: Rollup, evidence: RowEvidence, column: str, row: Mapping[str, Any]) -> Evidence:
    return evidence.of(column, row[column], {name: plain(value) for name, value in row.items()}, rollup.claim, rollup.guarantees)


def _bundles(rollup: Rollup, runs: Iterable[str]) -> dict[str, str]:
    """The bundle that each run is read from, by its id."""
    return {
        str(run["run_id"]): str(run["artifact_manifest_digest"])
        for run in rollup.facts.runs_of(runs) if run.get("artifact_manifest_digest")
    }


def _rows(
    rollup: Rollup, policy: Policy, looks: Looks, seen: Seen
) -> Iterator[tuple[dict[str, Any], dict[str, Any], RowEvidence, dict[str, str | None]]]:
    """The grain of each row, its values, the evidence of its claimed numbers, and its number ids. What this look sees first is added to
    `seen`."""
    spec, claim, con = rollup.spec, rollup.claim, rollup.con
    observed = dict(observed_rows(con, rollup.catalog, spec, claim, observed_columns(policy)))
    names, text = ", ".join(map(quote, rollup.columns)), canonical(spec.sql)
    unobserved = RowEvidence((), {column: ColumnEvidence((), frozenset()) for column in claim.numbers})
    for part in rollup.traced.parts():
        within = f"rowid between {min(part)} and {max(part)}"
        for rowid, *values in con.execute(f"select rowid, {names} from {quoted(spec.qualified)} where {within} order by rowid").fetchall():
            row = dict(zip(rollup.columns, values, strict=True))
            found, numbers = observed.get(rowid, unobserved), row_numbers(spec.name, text, spec.grain, rollup.columns, values)
            columns = {}
            for column, own in found.columns.items():
                if numbers[column] is not None:
                    runs = set(part[rowid].runs_of(column))
                    columns[column] = replace(own, used=frozenset(place for place, (run, _) in enumerate(found.observed) if run in runs))
            bundles = _bundles(rollup, rollup.runs_of[rowid])
            grain = {name: row[name] for name in spec.grain}
            unseen = replace(found, columns=columns, left_out=rollup.accounts.left_out(rowid))
            forms = {name: exact(value) for name, value in grain.items()}
            now = RowNow(forms, unseen, bundles, rollup.accounts.sources, claim.stopping, policy.least("runs"), policy.least("sessions"))
            since = looks.since(now)
            seen.update(looks.unnamed(now))
            evidence = replace(
                unseen, first_look=since.first_look, later=since.later, removed=since.removed, changed=since.changed, ahead=looks.ahead(now)
            )
            yield grain, row, evidence, numbers


def listed_numbers(numbers: Sequence[JudgedNumber], shown: int = 8) -> str:
    """Numbers and what is against them, for messages: those with the same words once."""
    of_words: dict[str, list[JudgedNumber]] = {}
    for each in numbers:
        words = "\n".join(f"      {rule.verdict}: {printable(str(rule))}" for rule in each.judgement.against)
        of_words.setdefault(f"{each.judgement.verdict}\n{words}", []).append(each)
    lines = []
    for words, same in list(of_words.items())[:shown]:
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        lines.append(f"  {same[0].number_id}{more}  {same[0].column}  {words}")
    if len(of_words) > shown:
        lines.append(f"  and {counted(len(of_words) - shown, 'other kind', 'other kinds')} of finding")
    return "\n".join(lines)

