"""What a listing remembers is what lies there, and finding that out costs the same however many bundles there are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from places import Place, place

from warehouse.digest import bytes_digest
from warehouse.evidence import listing, stamps
from warehouse.evidence.ledger import events
from warehouse.evidence.ledger.events import LAST_ARRIVAL, Ledger
from warehouse.evidence.ledger.run_decisions import RETRACTION, decide
from warehouse.evidence.listing import FOLDER, Listing
from warehouse.evidence.memory_file import write_memory_file
from warehouse.evidence.objects.s3 import S3Objects
from warehouse.evidence.store import EvidenceStore, bundle_key, manifest_key

__all__ = ["place"]


@pytest.fixture
def store(place: Place, monkeypatch: pytest.MonkeyPatch) -> EvidenceStore:
    """With bundles in two folders. What is new in it may be remembered at once, and a page of a bucket is short."""
    monkeypatch.setattr(stamps, "_RACY_NS", 0)
    monkeypatch.setattr(listing, "_BUNDLES_A_PAGE", 1)
    for number in range(6):
        add(place.store, bundle(number))
    Ledger(place.store.objects).published("d" * 64, "claim", "b" * 64)
    return place.store


@pytest.fixture
def builds(tmp_path: Path) -> Path:
    (tmp_path / "builds").mkdir()
    return tmp_path / "builds"


def bundle(number: int) -> str:
    return f"{number % 2:02x}{number:062x}"


def add(store: EvidenceStore, digest: str, family: str = "notes") -> None:
    store.objects.create(manifest_key(digest), b"{}")
    Ledger(store.objects).arrived(digest, family, "here")


def content(found: Listing) -> dict[str, Any]:
    return {
        "bundles": found.bundles, "families": found.families, "last": found.last_arrival(), "events": found.events(),
        "of bundles": found.of_bundles([bundle(0)]), "of publications": found.of_publications(), "arrivals": found.arrivals(),
        "decisions": found.decisions(), "damaged": found.damaged,
    }


def check(store: EvidenceStore, builds: Path) -> Listing:
    """That what is found with the memory is what is found without one."""
    found, other = Listing(store, builds), Listing(store, builds / "none")
    assert content(found) == content(other)
    assert list(other.events()) == list(Ledger(store.objects).events())
    return found


def a_bundle_more(store: EvidenceStore) -> None:
    add(store, bundle(7), "other")


def the_same_arrives_again(store: EvidenceStore) -> None:
    add(store, bundle(1))


def a_removal_begun(store: EvidenceStore) -> None:
    Ledger(store.objects).removed(bundle(5), {LAST_ARRIVAL: Ledger(store.objects).arrivals()[bundle(5)]})


def a_bundle_removed(store: EvidenceStore) -> None:
    a_removal_begun(store)
    store.objects.remove_below(bundle_key(bundle(5)))


def a_decision(store: EvidenceStore) -> None:
    decide(store.objects, RETRACTION, "run-1", "a mistake")


def a_correction(store: EvidenceStore) -> None:
    Ledger(store.objects).corrected("d" * 64, "a mistake")


def one_by_a_clock_behind(store: EvidenceStore) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "datetime", Behind)
        add(store, bundle(8))


def events_brought(store: EvidenceStore) -> None:
    """Of long ago, as they come from another store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "datetime", LongAgo)
        add(store, bundle(8))
    Ledger(store.objects).brought("elsewhere", [])


def an_event_that_cannot_be_read(store: EvidenceStore) -> None:
    store.objects.create(f"{events.event_folder(datetime.now(UTC))}/{'7' * 26}-{'0' * 64}.json", b"{}")


def an_event_removed(store: EvidenceStore) -> None:
    store.objects.remove(next(event.key for event in Ledger(store.objects).events() if event.subject == bundle(2)))


class Behind(datetime):
    by = timedelta(hours=20)

    @classmethod
    def now(cls, tz: Any = None) -> "Behind":
        return cls.fromtimestamp(datetime.now(tz).timestamp() - cls.by.total_seconds(), tz)


class LongAgo(Behind):
    by = timedelta(days=300)


CHANGES = [
    a_bundle_more, the_same_arrives_again, a_bundle_removed, a_removal_begun, a_decision, a_correction, one_by_a_clock_behind, events_brought,
    an_event_that_cannot_be_read, an_event_removed,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_noticed(change: Callable[[EvidenceStore], None], store: EvidenceStore, builds: Path) -> None:
    before = content(check(store, builds))
    assert content(check(store, builds)) == before
    change(store)
    assert content(check(store, builds)) != before
    with suppress(FileNotFoundError):
        store.objects.remove_below(bundle_key(bundle(5)))
    a_bundle_more(store)  # beside it: the folder is listed again
    check(store, builds)


def test_what_comes_later_than_its_folder_is_noticed(builds: Path, place: Place, store: EvidenceStore) -> None:
    """A manifest is put last, and changes nothing of the folder of the bundles."""
    folder = "raw/sha256/00"
    place.write(f"{bundle_key(bundle(8))}/files/log.txt", b"")
    before, stamp = check(store, builds).bundles, store.objects.folder_stamp(folder)
    add(store, bundle(8))
    assert store.objects.folder_stamp(folder) == stamp
    assert check(store, builds).bundles != before


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_what_no_event_tells_is_noticed_in_a_folder(store: EvidenceStore, builds: Path, tmp_path: Path) -> None:
    found = [check(store, builds).bundles]
    store.objects.create(manifest_key(bundle(8)), b"{}")
    found.append(check(store, builds).bundles)
    shutil.rmtree(tmp_path / "store" / bundle_key(bundle(2)))
    found.append(check(store, builds).bundles)
    shutil.rmtree(tmp_path / "store" / "raw" / "sha256" / "01")
    found.append(check(store, builds).bundles)
    assert len(set(found)) == 4


@pytest.mark.parametrize("place", ["bucket"], indirect=True)
def test_what_no_event_tells_is_noticed_in_a_bucket_within_a_day(
    store: EvidenceStore, builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = check(store, builds).bundles
    store.objects.create(manifest_key(bundle(8)), b"{}")
    assert Listing(store, builds).bundles == before
    monkeypatch.setattr(listing, "_LISTED_FOR_S", 0)
    assert check(store, builds).bundles != before


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_what_has_just_changed_is_listed_again(store: EvidenceStore, builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its stamp may stay the same while more happens."""
    monkeypatch.setattr(stamps, "_RACY_NS", 3600 * 10**9)
    check(store, builds)
    monkeypatch.setattr(stamps, "stamp_of", lambda status: "always the same")
    a_bundle_more(store)
    check(store, builds)


def damages(file: Path) -> Iterator[Callable[[], object]]:
    whole = file.read_bytes()
    for damaged in (whole[:-9], whole[:20], whole.replace(b'"notes"', b'"other"').replace(b'"count":3', b'"count":2'), b"", b"{}"):
        yield lambda damaged=damaged: file.write_bytes(damaged)
    yield file.unlink


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_a_memory_that_was_altered_costs_time_alone(store: EvidenceStore, builds: Path) -> None:
    a_decision(store)
    check(store, builds)
    files = sorted((builds / FOLDER).iterdir())
    assert {file.name for file in files} >= {"00.json", "01.json", "decided.json", "index.json", "published.json"}
    for number, file in enumerate(files):
        for damage in damages(file):
            damage()
            check(store, builds)
        file.write_bytes(b"none")
        add(store, bundle(10 + number))
        check(store, builds)


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_a_memory_of_another_version_is_none(store: EvidenceStore, builds: Path) -> None:
    check(store, builds)
    index, part = builds / FOLDER / "index.json", builds / FOLDER / "00.json"
    document = index.read_bytes().partition(b"\n")[2]
    old = part.read_bytes().replace(b'"subject"', b'"topic"')
    write_memory_file(index, listing._FORM, document.replace(bytes_digest(part.read_bytes()).encode(), bytes_digest(old).encode()))
    part.write_bytes(old)
    check(store, builds)
    write_memory_file(index, listing._FORM, document.replace(b'"days":{', b'"days":[{'))
    check(store, builds)


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_an_event_is_read_once(store: EvidenceStore, builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Listing(store, builds)
    add(store, bundle(8))
    read = list[str]()
    monkeypatch.setattr(Ledger, "event", lambda ledger, key, event=Ledger.event: read.append(key) or event(ledger, key))
    assert (len(Listing(store, builds).events()), len(Listing(store, builds).events()), len(read)) == (8, 8, 1)


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_where_nothing_is_new_nothing_of_it_is_listed(store: EvidenceStore, builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def calls() -> int:
        Listing(store, builds)
        counted = list[str]()
        with monkeypatch.context() as patch:
            for function in (os.scandir, os.stat, os.open):
                patch.setattr(os, function.__name__, lambda *of, call=function, **how: counted.append(str(of[0])) or call(*of, **how))
            found = Listing(store, builds)
            assert found.families["notes"] >= 6 and found.last_arrival() and found.of_publications() and not found.decisions()
        return len(counted)

    few = calls()
    for number in range(10, 100):
        add(store, bundle(number))
    assert calls() == few < 30


@pytest.mark.parametrize("place", ["bucket"], indirect=True)
def test_where_nothing_is_new_a_bucket_is_asked_once(store: EvidenceStore, builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[tuple[str, ...]]()
    monkeypatch.setattr(S3Objects, "entries", lambda objects, *of, entries=S3Objects.entries: asked.append(of) or entries(objects, *of))
    Listing(store, builds)
    assert [prefix for prefix, *_ in asked] == ["ledger", "raw/sha256"]
    asked.clear()
    Listing(store, builds)
    assert asked == [("ledger", f"ledger/{datetime.now(UTC) - timedelta(days=2):%Y/%m/%d}")]
    add(store, bundle(8))
    asked.clear()
    Listing(store, builds)
    assert [prefix for prefix, *_ in asked] == ["ledger", "raw/sha256/00"]
