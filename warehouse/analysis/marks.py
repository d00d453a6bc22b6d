"""Decisions on findings: who said what about one, and how often the findings of each rule turned out to be real.

A mark is of one finding of one version of its rule. When a rule changes, its findings get other ids: earlier marks stay in the ledger and
in `regression_fact`, and no longer apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.analysis.events.event import Event as ChangeEvent
from warehouse.analysis.events.findings import finding_document
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.evidence.ledger.events import Event, Ledger
from warehouse.evidence.ledger.findings import FALSE_ALARM, FINDING, MARKS, OPEN, Mark, standing_marks
from warehouse.evidence.ledger.run_decisions import decide
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project

if TYPE_CHECKING:
    from warehouse.evidence.signing.keys import SigningKey


@dataclass(frozen=True)
class Precision:
    """How many findings of a rule, or events of them, people marked as real (acknowledged, explained, fixed), and how many as false alarms."""

    rule: str
    real: int
    false_alarms: int

    @property
    def share(self) -> float:
        return self.real / (self.real + self.false_alarms)


def decided_events(project: Project) -> list[Event]:
    """What people decided and noted, in that order. Raises WH107 where an event cannot be read."""
    ledger = Ledger(open_store(project).objects)
    events = ledger.decisions()
    for damage in ledger.damaged:
        raise damage
    return events


def read_marks(project: Project) -> dict[str, Mark]:
    """The last mark of each finding. Raises WH107 where an event cannot be read."""
    return standing_marks(decided_events(project))


def mark(
    project: Project, finding_id: str, state: str, reason: str, finding: Mapping[str, Any] | None, key: "SigningKey | None" = None,
    visitor: str = "",
) -> Event:
    """Mark a finding with its current data, which name its event where the event was marked. A finding that is no longer detected keeps the data of
    its last mark. `visitor`: who said so on a page; the ledger names the machine as well. Raises WH503 for a state that is not valid, an empty
    reason, or an unknown finding, and WH107, WH109, WH113."""
    if state not in MARKS:
        hint = did_you_mean(state, MARKS) or f"states are: {', '.join(MARKS)}"
        raise WarehouseError("WH503", f"{printable(state)!r} is not a state of a finding", finding_id, hint, ExitCode.USAGE)
    if not reason.strip():
        raise WarehouseError("WH503", "it needs a reason", printable(finding_id), exit_code=ExitCode.USAGE)
    if finding is None:
        earlier = read_marks(project).get(finding_id)
        if earlier is None:
            raise WarehouseError("WH503", "no finding has this id", printable(finding_id), "wh changes lists them", ExitCode.NOT_FOUND)
        finding = earlier.finding
    detail = {"state": state, "finding": dict(finding)} | ({"visitor": visitor} if visitor else {})
    return decide(open_store(project).objects, FINDING, finding_id, reason, detail, key)


def mark_event(
    project: Project, event: ChangeEvent | None, any_id: str, state: str, reason: str, key: "SigningKey | None" = None, visitor: str = ""
) -> dict[str, Event]:
    """Mark a finding, or all members of its event where the id is the event's: the ledger's events by finding. Raises what `mark` raises."""
    members = [*event.members, *event.returned] if event else []
    documents: dict[str, dict[str, Any] | None] = {each.finding_id: finding_document(each) for each in members if each.finding_id == any_id}
    if event and not documents:
        documents = {each.finding_id: {**finding_document(each), "event_id": event.event_id} for each in event.members}
    elif not documents:
        documents = {any_id: None}
    return {finding_id: mark(project, finding_id, state, reason, known, key, visitor) for finding_id, known in documents.items()}


def precision(marks: Iterable[Mark]) -> tuple[Precision, ...]:
    """The counts of each rule whose findings were marked as real or not. The members of one event count once."""
    counts: dict[str, tuple[set[str], set[str]]] = {}
    for each in marks:
        if each.state != OPEN:
            counts.setdefault(str(each.finding.get("rule")), (set(), set()))[each.state == FALSE_ALARM].add(
                str(each.finding.get("event_id") or each.finding_id)
            )
    return tuple(Precision(rule, len(real), len(false_alarms)) for rule, (real, false_alarms) in sorted(counts.items()))
