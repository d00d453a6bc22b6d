"""One thing that is no longer fresh, and what the warehouse knows from which such rows are made."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from warehouse.alive.index_state import IndexState, last_state
from warehouse.claims.gate.policy import Policy, load_policy
from warehouse.claims.publish.corrections import corrected
from warehouse.claims.publish.publication import RUN_LINES, PublishedRollup, stored_publications
from warehouse.errors import WarehouseError
from warehouse.evidence.ledger.events import PUBLICATION, Event
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.transform.finished.builds import Build, find_current

_RUN_ID = re.compile(rb'"run_id":("(?:[^"\\]|\\.)*")')  # of a line of canonical JSON
RECORDED = "recorded_run/"  # what `wh record` can run again


@dataclass(frozen=True)
class Row:
    """`key` is the same as long as it is about the same thing, `words` say what it is now, and `news` what of it is worth another notice when it
    changes; `since` is when it began, as far as that is known; `weight` orders rows of one kind, the greatest first; `remedy` is one command;
    `publication` is the digest of the publication that it is about."""

    kind: str
    key: str
    subject: str
    words: str
    remedy: str
    since: datetime | None = None
    evidence: tuple[str, ...] = ()
    weight: float = 0.0
    publication: str | None = None
    news: str = ""


@dataclass(frozen=True)
class Known:
    """A project as it stands at a time: its current build, the events of its ledger, and its publications that count."""

    project: Project
    now: datetime
    events: Sequence[Event]

    @cached_property
    def build(self) -> Build | None:
        return find_current(self.project)

    @cached_property
    def published_at(self) -> Mapping[str, datetime]:
        return {event.subject: datetime.fromisoformat(event.at).astimezone(UTC) for event in self.events if event.kind == PUBLICATION}

    @cached_property
    def not_corrected(self) -> Sequence[PublishedRollup]:
        """The publications that were not withdrawn or superseded, the last one first; without those that are damaged, which `wh verify` reports."""
        corrections = corrected(self.events)
        found = stored_publications(open_store(self.project).objects, self.events)
        return [each for each in found if each.digest not in corrections and not each.fault and each.query]

    @cached_property
    def counting(self) -> Sequence[PublishedRollup]:
        """The last of each query."""
        last: dict[str | None, PublishedRollup] = {}
        for each in self.not_corrected:
            last.setdefault(each.query, each)
        return [*last.values()]

    @cached_property
    def policies(self) -> dict[str, Policy | None]:
        """The policies of the project that were read, by name; None for one that is gone or not valid."""
        return {}

    def policy(self, name: str) -> Policy | None:
        if name not in self.policies:
            try:
                self.policies[name] = load_policy(self.project, name)
            except WarehouseError:
                self.policies[name] = None
        return self.policies[name]

    @cached_property
    def index(self) -> IndexState | None:
        return last_state(self.project, self.events)

    def is_older(self, at: datetime, days: int) -> bool:
        return self.now - at > timedelta(days=days)


def run_ids(publication: PublishedRollup) -> list[str]:
    """The runs that a publication depends on, which may be many. Raises WH307."""
    found = (_RUN_ID.search(line) for line in publication.lines(RUN_LINES))
    return [json.loads(each[1]) for each in found if each]


def again(run_id: str | None) -> str:
    """The command that runs a recorded run again; of another run, the one that shows what it was."""
    if run_id and run_id.startswith(RECORDED):
        return f"wh record --like {shlex.quote(run_id)}"
    return f"wh impact {shlex.quote(run_id)}" if run_id else "wh changes"


def publish_again(publication: PublishedRollup) -> str:
    """The command that publishes its query again, with the verdicts that its policy allowed then."""
    state = publication.record.get("published_as")
    return f"wh publish {publication.query}" + (f" --as {state}" if state else "")
