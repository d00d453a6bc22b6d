"""Decisions on runs: retracted, superseded by another run, reinstated; and which bundle's word on a run counts, where several
state different bytes of it. They are ledger events, and the last word on a run counts.

A decision takes nothing away: the run's evidence stays, and so does every publication that depends on it. What a number was
made with is a matter of record: a publication names the decisions by their events' sha256.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.ledger.events import Event, Ledger, parse_event
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.signing.keys import SigningKey
from warehouse.evidence.signing.signatures import DECISION, Subject, sign

RETRACTION = "retraction"
SUPERSESSION = "supersession"
REINSTATEMENT = "reinstatement"
SETTLEMENT = "settlement"
NOTE = "note"  # decides nothing

STATES = {RETRACTION: "retracted", SUPERSESSION: "superseded", SETTLEMENT: "settled"}


@dataclass(frozen=True)
class Decision:
    """What was decided of a run: its state (a value of `STATES`), the reason as it was given, the run that replaces it if
    any, and the ledger's event that says so. A settled run has also the `bundle` that is its evidence, and those that
    stated it too and are `set_aside`: of a bundle that arrives later nothing was decided."""

    run_id: str
    state: str
    reason: str
    superseded_by: str | None
    event: Event
    bundle: str | None = None
    set_aside: tuple[str, ...] = ()

    def __str__(self) -> str:
        by = f" by {self.superseded_by}" if self.superseded_by else f" for bundle {self.bundle[:12]}" if self.bundle else ""
        return printable(f"{self.state}{by} on {self.event.at} by {self.event.by}: {self.reason}")


@dataclass(frozen=True)
class Standing:
    """The decisions in force, by run id: on runs that are not admitted, and on runs whose evidence was settled. One run may
    have both."""

    not_admitted: Mapping[str, Decision] = field(default_factory=dict)
    settled: Mapping[str, Decision] = field(default_factory=dict)

    def all(self) -> tuple[Decision, ...]:
        return (*self.not_admitted.values(), *self.settled.values())


def decide(
    objects: Objects, kind: str, run_id: str, reason: str, detail: Mapping[str, Any] | None = None, key: SigningKey | None = None
) -> Event:
    """Write a decision on a run, or a note, into the ledger, and sign it with `key`. Raises WH109, WH113."""
    ledger = Ledger(objects)
    event = ledger.decided(kind, run_id, {"reason": reason, **(detail or {})})
    if key:
        sign(ledger, decision_subject(event), key)
    return event


def decision_subject(event: Event) -> Subject:
    """An event of a run as signatures are made of it: by the sha256 of its file."""
    return Subject(event.sha256, event.key, event.sha256, DECISION)


def is_of_run(event: Event) -> bool:
    """Whether an event is of a run: a decision, what takes it back, or a note."""
    return event.kind in (*STATES, REINSTATEMENT, NOTE)


def standing(events: Iterable[Event]) -> Standing:
    """The decisions in force after these events, the oldest first."""
    not_admitted: dict[str, Decision] = {}
    settled: dict[str, Decision] = {}
    for event in events:
        if event.kind == SETTLEMENT:
            settled[event.subject] = _decision(event)
        elif event.kind in STATES:
            not_admitted[event.subject] = _decision(event)
        elif event.kind == REINSTATEMENT:
            not_admitted.pop(event.subject, None)
    return Standing(not_admitted, settled)


def standing_now(objects: Objects) -> Standing:
    """The decisions in force now. Raises WH107 if an event cannot be read: it is then not known which runs are admitted."""
    ledger = Ledger(objects)
    found = standing(ledger.decisions())
    for damage in ledger.damaged:
        raise damage
    return found


def named_decisions(
    objects: Objects, references: Iterable[Mapping[str, str]]
) -> tuple[tuple[Decision, ...], tuple[WarehouseError, ...]]:
    """The decisions that a record names, and what is wrong with those that are not what it says: WH105 for an event that was
    altered, WH106 for one that is gone."""
    found, problems = [], []
    for reference in references:
        key = reference["key"]
        try:
            data = objects.read(key)
            if bytes_digest(data) != reference["sha256"]:
                raise ValueError("it is not the event of the record")
            found.append(_decision(parse_event(key, data)))
        except OSError as error:
            problems.append(_damaged("WH106", f"a decision cannot be read: {error.strerror}", key, ExitCode.MISSING))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            problems.append(_damaged("WH105", f"a decision was altered: {error}", key, ExitCode.TAMPERED))
    return tuple(found), tuple(problems)


def _decision(event: Event) -> Decision:
    by, bundle = event.detail.get("superseded_by"), None
    if event.kind == SETTLEMENT:
        bundle = str(event.detail.get("bundle", ""))
    return Decision(
        event.subject, STATES[event.kind], str(event.detail.get("reason", "")), None if by is None else str(by), event, bundle,
        tuple(map(str, event.detail.get("set_aside", ()))),
    )


def _damaged(code: str, message: str, key: str, exit_code: ExitCode) -> WarehouseError:
    return WarehouseError(code, message, printable(key), "restore the store from a copy", exit_code)
