"""A command does not read again what one before it read of the ledger."""

from __future__ import annotations

import pytest
from bare_project import project
from stored import root_of

from warehouse.digest import bytes_digest
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.reading import Reading, known_events, read_ledger
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project

__all__ = ["project"]


def known(project: Project) -> Reading:
    return known_events(open_store(project).objects, project.builds)


@pytest.fixture
def of_many(project: Project) -> Project:
    """A project with a ledger that is worth remembering."""
    project.builds.mkdir(parents=True)
    ledger = Ledger(open_store(project).objects)
    for number in range(40):
        ledger.arrived(f"{number:064x}", "notes", "here")
    return project


def test_an_event_is_read_once(of_many: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = open_store(of_many).objects
    found = known(of_many)
    assert found == read_ledger(objects) and len(found[0]) == 40
    Ledger(objects).arrived("f" * 64, "notes", "here")
    read = list[str]()
    monkeypatch.setattr(Ledger, "event", lambda ledger, key, event=Ledger.event: read.append(key) or event(ledger, key))
    assert len(known(of_many)[0]) == 41 and len(read) == 1


def test_an_event_that_is_gone_is_not_known(of_many: Project) -> None:
    events, _ = known(of_many)
    (root_of(open_store(of_many)) / events[7].key).unlink()
    assert known(of_many)[0] == (*events[:7], *events[8:])


def test_a_memory_that_is_cut_short_is_none(of_many: Project) -> None:
    found = known(of_many)
    memory = of_many.builds / ".ledger.json"
    memory.write_bytes(memory.read_bytes()[:-200])
    assert known(of_many) == found


def test_a_memory_of_another_version_is_none(of_many: Project) -> None:
    found = known(of_many)
    memory = of_many.builds / ".ledger.json"
    body = memory.read_bytes().partition(b"\n")[2].replace(b'"subject"', b'"topic"', 1)
    memory.write_bytes(bytes_digest(body).encode() + b"\n" + body)
    assert known(of_many) == found
