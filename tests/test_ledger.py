"""The ledger: one file an event, in the order of time, append-only; a damaged event is reported and stops nobody."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ulid import ULID

from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import WarehouseError
from warehouse.evidence.finding import MISSING
from warehouse.evidence.ledger import events as ledger_module
from warehouse.evidence.ledger.events import ARRIVAL, PUBLICATION, Ledger, parse_event
from warehouse.evidence.ledger.run_decisions import NOTE, REINSTATEMENT, RETRACTION, decide, standing_now
from warehouse.evidence.ledger.summary import read_ledgered
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.location import open_store
from warehouse.maintenance.status import project_status
from warehouse.project.making import init_project

DIGEST, OTHER = "ab" * 32, "cd" * 32


def event_files(root: Path) -> list[Path]:
    return sorted((root / "ledger").rglob("*.json"))


def test_an_absent_ledger_has_no_events_and_reading_makes_none(tmp_path: Path) -> None:
    ledger = Ledger(LocalObjects(tmp_path / "store"))
    assert (list(ledger.events()), ledger.arrivals(), ledger.damaged) == ([], {}, [])
    assert not (tmp_path / "store").exists()


def test_an_arrival_says_what_when_by_whom_and_from_where(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    Ledger(LocalObjects(tmp_path)).arrived(DIGEST, "mlperf_inference", "../evidence")
    after = datetime.now(UTC)
    [path] = event_files(tmp_path)
    assert re.fullmatch(rf"ledger/\d{{4}}/\d\d/\d\d/[0-9A-HJKMNP-TV-Z]{{26}}-{bytes_digest(path.read_bytes())}\.json", path.relative_to(tmp_path).as_posix())
    document = json.loads(path.read_bytes())
    assert path.read_bytes() == canonical_json(document)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", document["at"])
    assert before <= datetime.fromisoformat(document["at"]) <= after
    assert path.parent.relative_to(tmp_path / "ledger").as_posix() == document["at"][:10].replace("-", "/")
    assert document["by"].endswith("@" + os.uname().nodename)
    [event] = Ledger(LocalObjects(tmp_path)).events()
    assert (event.kind, event.subject, event.at) == (ARRIVAL, DIGEST, document["at"])
    assert event.detail == {"family": "mlperf_inference", "from": "../evidence"}


def test_events_come_in_the_order_of_time_and_the_first_arrival_counts(tmp_path: Path) -> None:
    ledger = Ledger(LocalObjects(tmp_path))
    ledger.arrived(DIGEST, "f", "first")
    ledger.published(OTHER, "query", "build")
    ledger.arrived(OTHER, "f", "second")
    ledger.arrived(DIGEST, "f", "third")
    events = list(ledger.events())
    assert len(events) == 4
    firsts = {event.detail.get("from"): event.at for event in events}
    assert ledger.arrivals() == {DIGEST: firsts["first"], OTHER: firsts["second"]}
    [publication] = [event for event in events if event.kind == PUBLICATION]
    assert (publication.subject, publication.detail) == (OTHER, {"query": "query", "build_digest": "build", "without": []})


def test_events_of_other_days_come_first(tmp_path: Path) -> None:
    Ledger(LocalObjects(tmp_path)).arrived(DIGEST, "f", "now")
    [now] = event_files(tmp_path)
    document = {**json.loads(now.read_bytes()), "at": "2020-12-31T23:59:59.999999Z", "detail": {"from": "then"}}
    then = tmp_path / "ledger" / "2020" / "12" / "31" / "01ETXHX7ZZ0000000000000000.json"
    then.parent.mkdir(parents=True)
    then.write_bytes(canonical_json(document))
    assert [event.detail["from"] for event in Ledger(LocalObjects(tmp_path)).events()] == ["then", "now"]
    assert Ledger(LocalObjects(tmp_path)).arrivals() == {DIGEST: "2020-12-31T23:59:59.999999Z"}


@contextmanager
def clock_off(monkeypatch: pytest.MonkeyPatch, minutes: float) -> Iterator[None]:
    """A machine whose clock is ahead, as its ledger events are."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # what it gives is compared with others
            return datetime.now(tz) + timedelta(minutes=minutes)

    with monkeypatch.context() as patch:
        patch.setattr(ledger_module, "datetime", Clock)
        yield


def test_the_last_word_on_a_run_counts_whosever_clock_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = LocalObjects(tmp_path)

    def state() -> list[str]:
        return [decision.reason for decision in standing_now(objects).not_admitted.values()]

    with clock_off(monkeypatch, 10):
        decide(objects, RETRACTION, "r", "first")
    decide(objects, RETRACTION, "other", "meanwhile")
    decide(objects, REINSTATEMENT, "r", "second")
    assert state() == ["meanwhile"]
    with clock_off(monkeypatch, 9):
        decide(objects, RETRACTION, "r", "third")
    with clock_off(monkeypatch, 5):
        decide(objects, NOTE, "r", "fourth")
    assert sorted(state()) == ["meanwhile", "third"]
    decide(objects, REINSTATEMENT, "r", "fifth")
    with clock_off(monkeypatch, 60):
        assert state() == ["meanwhile"]
        decide(objects, RETRACTION, "r", "sixth")
    assert sorted(state()) == ["meanwhile", "sixth"]
    reasons = [event.detail["reason"] for event in Ledger(objects).decisions() if event.subject == "r"]
    assert reasons == ["first", "second", "third", "fourth", "fifth", "sixth"]


def test_a_decision_that_was_taken_away_is_missed_and_so_is_the_word_of_it(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path)
    events = [decide(objects, RETRACTION, run, "throttled") for run in ("r", "s", "t")]
    assert read_ledgered(objects).findings == ()
    for key in Ledger(objects).keys():
        data = objects.read(key)
        objects.remove(key)
        found = {(finding.kind, finding.key) for finding in read_ledgered(objects).findings}
        removed = parse_event(key, data)
        followers = {(MISSING, event.key) for event in Ledger(objects).events() if removed.sha256 in (event.follows or ())}
        number = next((number for number, event in enumerate(events) if event.key == key), None)
        if number is None:
            [told] = [event for event in events if event.sha256 == removed.subject]
            assert found == {("unprotected", told.key), *followers}
        else:
            assert found == {(MISSING, key), *followers, *((MISSING, event.key) for event in events[number + 1 : number + 2])}
        objects.create(key, data)
    assert read_ledgered(objects).findings == ()


def test_a_crash_before_the_word_of_a_decision_loses_no_decision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = LocalObjects(tmp_path)
    create = LocalObjects.create
    with monkeypatch.context() as patch:
        patch.setattr(LocalObjects, "create", lambda self, key, data: create(self, key, data) if ".decision" in key else 1 / 0)
        with pytest.raises(ZeroDivisionError):
            decide(objects, RETRACTION, "r", "throttled")
    assert list(standing_now(objects).not_admitted) == ["r"]
    [finding] = read_ledgered(objects).findings
    assert finding.kind == "unprotected"


def test_what_came_again_is_there_although_its_removal_has_a_later_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(LocalObjects(tmp_path))
    with clock_off(monkeypatch, -60 * 24 * 800):
        ledger.arrived(DIGEST, "f", "first")
        ledger.arrived(DIGEST, "f", "at once with it")
    last = ledger.history().last_arrivals[DIGEST]
    with clock_off(monkeypatch, 10):
        ledger.removed(DIGEST, {"last_arrived_at": last})
    assert (dict(ledger.arrivals()), set(ledger.history().removals)) == ({}, {DIGEST})
    ledger.arrived(DIGEST, "f", "again")
    assert set(ledger.arrivals()) == {DIGEST} and ledger.history().removals == {}
    assert ledger.arrivals()[DIGEST] > last
    found = read_ledgered(ledger.objects)
    assert (found.arrivals, found.removed) == (ledger.arrivals(), frozenset())


def test_no_event_is_ever_changed_by_another(tmp_path: Path) -> None:
    ledger = Ledger(LocalObjects(tmp_path))
    seen: dict[Path, bytes] = {}
    for number in range(5):
        ledger.arrived(DIGEST, "f", str(number))
        now = {path: path.read_bytes() for path in event_files(tmp_path)}
        assert len(now) == number + 1
        assert seen.items() <= now.items()
        seen = now


def test_events_written_at_once_are_all_kept(tmp_path: Path) -> None:
    ledger = Ledger(LocalObjects(tmp_path))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: ledger.arrived(f"{number:064x}", "f", "here"), range(80)))
    assert sorted(ledger.arrivals()) == [f"{number:064x}" for number in range(80)]


def test_nothing_of_an_event_stays_in_the_staging_area(tmp_path: Path) -> None:
    Ledger(LocalObjects(tmp_path)).arrived(DIGEST, "f", "here")
    assert [path for path in (tmp_path / "incoming").rglob("*") if path.name != ".lock"] == []


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"\xff", b"null", b"[]", b"7", b"{}", b"[" * 100_000,
        b'{"kind": "arrival", "subject": "ab", "detail": {}}',
        b'{"kind": "arrival", "subject": ["ab"], "at": "2026-01-01T00:00:00.000000Z", "detail": {}}',
        b'{"kind": "arrival", "subject": "ab", "at": 5, "detail": {}}',
        b'{"kind": "arrival", "subject": "ab", "at": "yesterday", "detail": {}}',
        b'{"kind": "arrival", "subject": "ab", "at": "2026-01-01T00:00:00.000000", "detail": {}}',
        b'{"kind": "arrival", "subject": "ab", "at": "2026-01-01T00:00:00.000000Z", "detail": "x"}',
    ],
)
def test_a_damaged_event_is_reported_with_its_place_and_the_others_are_read(tmp_path: Path, damage: bytes) -> None:
    ledger = Ledger(LocalObjects(tmp_path))
    ledger.arrived(DIGEST, "f", "before")
    ledger.arrived(OTHER, "f", "damaged")
    ledger.arrived("ef" * 32, "f", "after")
    path = next(path for path in event_files(tmp_path) if b"damaged" in path.read_bytes())
    path.write_bytes(damage)
    assert set(ledger.arrivals()) == {DIGEST, "ef" * 32}
    assert [(error.code, error.place) for error in ledger.damaged] == [("WH105", str(path))]
    # Of before names had digests: what can be read is believed.
    old = path.rename(path.with_name(f"{path.name[:26]}.json"))
    assert set(ledger.arrivals()) == {DIGEST, "ef" * 32}
    assert [(error.code, error.place) for error in ledger.damaged] == [("WH107", str(old))]
    old.unlink()
    assert len(ledger.arrivals()) == 2
    assert ledger.damaged == []


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=30).map(os.fsdecode))
def test_any_path_a_user_can_type_can_be_written_down(source: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(LocalObjects(Path(folder)))
        ledger.arrived(DIGEST, "f", source)
        [event] = ledger.events()
        assert event.detail["from"].isprintable()
        if source.isprintable():
            assert event.detail["from"] == source


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a user without a name")
def test_a_user_without_a_name_is_known_by_number() -> None:
    # `docker run --user 54321`: no line in /etc/passwd, no LOGNAME.
    code = """
import os, sys
from pathlib import Path
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects.local import LocalObjects
from warehouse.maintenance.status import project_status
from warehouse.project.making import init_project
from warehouse.evidence.objects.location import open_store
Ledger(LocalObjects(Path(sys.argv[1], "warm"))).arrived("ab" * 32, "f", "here")  # imports, while the interpreter can be read
os.setuid(54321)
Ledger(LocalObjects(Path(sys.argv[1], "store"))).arrived("ab" * 32, "f", "here")
"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", code, folder], check=True, env=environment)
        [path] = event_files(Path(folder) / "store")
        assert json.loads(path.read_bytes())["by"].startswith("54321@")


def test_a_ledger_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(b"a file where the folder should be")
    with pytest.raises(WarehouseError) as caught:
        Ledger(LocalObjects(tmp_path)).arrived(DIGEST, "f", "here")
    assert caught.value.code == "WH109"


def test_status_reads_each_event_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = init_project(tmp_path / "project", bare=True)
    for digest in (DIGEST, OTHER):
        Ledger(open_store(project).objects).arrived(digest, "mlperf_inference", "../evidence")
    read: list[str] = []
    whole = LocalObjects.read
    monkeypatch.setattr(LocalObjects, "read", lambda self, key: [read.append(key), whole(self, key)][1])
    project_status(project)
    assert len(read) == 2 and len(set(read)) == 2


@pytest.mark.parametrize("name", ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"])
def test_the_time_in_a_name_is_read_as_the_library_of_names_reads_it(name: str) -> None:
    assert ledger_module._milliseconds(name) == ULID.from_str(name).milliseconds
