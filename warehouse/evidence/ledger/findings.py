"""Marks on findings of `wh changes`: ledger events that say what became of one. The last mark of a finding counts.

A mark holds the finding itself as it was then: findings are derived anew by every scan, and what was marked must stay readable when the
evidence, the rule or the build has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.evidence.ledger.events import Event

FINDING = "finding"  # the kind of the event; its subject is the finding's id

OPEN, FIXED, FALSE_ALARM = "open", "fixed", "false-alarm"
# `open`: recorded, and not reviewed yet. All but `false-alarm` and `open` say that the change is real.
MARKS = (OPEN, "acknowledged", "explained", FIXED, FALSE_ALARM)


@dataclass(frozen=True)
class Mark:
    """What a finding was marked as, why, by which event; and the finding as it was then."""

    finding_id: str
    state: str
    reason: str
    finding: Mapping[str, Any]
    event: Event


def standing_marks(events: Iterable[Event]) -> dict[str, Mark]:
    """The last mark of each finding, by its id, of events that are given the oldest first."""
    marks = {}
    for event in events:
        if event.kind == FINDING:
            detail, finding = event.detail, event.detail.get("finding")
            marks[event.subject] = Mark(
                event.subject, str(detail.get("state")), str(detail.get("reason", "")), finding if isinstance(finding, dict) else {}, event
            )
    return marks
