"""What a store promises, wherever it is: each of these tests runs on a folder and on a bucket of a real S3 server."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path

import pytest
from exhaustive import few
from places import FILES, Place, bucket_store, faults, manifest_of, place, put

from warehouse.digest import bytes_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.finding import LEFTOVER
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.removal import remove_bundle
from warehouse.evidence.objects import holds as evidence_holds
from warehouse.evidence.objects.holds import inspect_holds
from warehouse.evidence.objects.s3 import S3Objects
from warehouse.evidence.part import part_of
from warehouse.evidence.store import EvidenceStore, bundle_key, manifest_key, raw_key
from warehouse.landing.contract import Bundle

__all__ = ["place"]


@pytest.fixture
def store(place: Place) -> EvidenceStore:
    return place.store


@pytest.fixture
def digest(store: EvidenceStore, tmp_path: Path) -> str:
    assert put(store, FILES, tmp_path / "sources")
    return manifest_of(FILES).digest


# --- what lies where ---------------------------------------------------------------------------------------------


def test_an_empty_store_has_nothing(store: EvidenceStore) -> None:
    assert (store.digests(), store.is_empty(), store.has("ab" * 32)) == ([], True, False)
    assert faults(store, "ab" * 32) == ["WH106"]
    with pytest.raises(FileNotFoundError):
        store.objects.read("nothing")


def test_a_bundle_lies_under_its_digest_with_its_manifest_beside_its_files(place: Place, digest: str) -> None:
    keys = sorted([*(raw_key(digest, path) for path in FILES), manifest_key(digest)])
    assert place.keys() == keys
    assert bundle_key(digest) == f"raw/sha256/{digest[:2]}/{digest}"
    assert {path: place.read(f"{bundle_key(digest)}/files/{path}") for path in FILES} == FILES
    assert bytes_digest(place.read(f"{bundle_key(digest)}/manifest.json")) == digest
    store = place.store
    assert (store.digests(), store.is_empty(), store.has(digest), faults(store, digest)) == ([digest], False, True, [])
    assert store.manifest(digest).canonical == manifest_of(FILES).canonical
    assert store.objects.uri(raw_key(digest, "log.txt")).endswith(f"{bundle_key(digest)}/files/log.txt")


def test_listings_come_in_the_order_of_keys_with_sizes_and_times(place: Place) -> None:
    names = ["a-b/x", "a.b", "a/b", "a/b-c", "a/é", "a0", "b/c d#%+?.txt"]
    for name in names:
        assert place.store.objects.create(f"top/{name}", name.encode())
    listed = list(place.store.objects.entries("top"))
    assert [entry.key for entry in listed] == sorted((f"top/{name}" for name in names), key=str.encode)
    assert [entry.bytes for entry in listed] == [len(entry.key.encode()) - 4 for entry in listed]
    assert all(abs(entry.modified_at.timestamp() - time.time()) < 3600 for entry in listed)
    assert place.store.objects.matching("top/*") == ["top/a.b", "top/a0"]
    assert place.store.objects.matching("top/*/*-c") == ["top/a/b-c"]
    assert place.store.objects.matching("top/a/b") == ["top/a/b"] and place.store.objects.matching("top/none") == []
    assert [entry.key for entry in place.store.objects.entries("top/a")] == ["top/a/b", "top/a/b-c", "top/a/é"]


def test_a_stamp_is_another_when_an_object_was_written_again(place: Place) -> None:
    objects = place.store.objects
    objects.create("a/x", b"1")
    [before] = objects.entries("a")
    [again] = objects.entries("a")
    place.write("a/x", b"2")
    [after] = objects.entries("a")
    assert before.stamp == again.stamp != after.stamp


# --- writing -----------------------------------------------------------------------------------------------------


def test_a_name_once_given_is_never_given_again(store: EvidenceStore, tmp_path: Path) -> None:
    (tmp_path / "second").write_bytes(b"second")
    assert store.objects.create("a/b/name", b"first") is True
    assert store.objects.create("a/b/name", b"second") is False
    with store.incoming() as incoming:
        [staged] = incoming.copy([tmp_path / "second"])
        assert not isinstance(staged, WarehouseError)
        assert store.objects.create_files({"a/b/name": staged, "a/c": staged}) == {"a/c"}
    assert (store.objects.read("a/b/name"), store.objects.read("a/c")) == (b"first", b"second")


def test_the_same_bundle_again_changes_nothing(store: EvidenceStore, digest: str, tmp_path: Path) -> None:
    before = list(store.objects.entries("raw"))
    assert put(store, FILES, tmp_path / "again") is False
    assert list(store.objects.entries("raw")) == before


def test_a_file_too_large_to_send_from_memory(store: EvidenceStore, tmp_path: Path) -> None:
    big = random.Random(1).randbytes((4 << 20) + 1)  # of a bucket's; in a folder no size is special
    files = {"big": big, "small": b"x"}
    assert put(store, files, tmp_path / "sources") is True
    assert put(store, files, tmp_path / "again") is False
    digest = manifest_of(files).digest
    assert faults(store, digest) == []
    assert store.local_file(digest, store.manifest(digest).by_path["big"]).read_bytes() == big


@pytest.mark.parametrize("damage", [b"", b"{", b"{}", manifest_of({"other": b"x"}).canonical])
def test_a_damaged_manifest_is_replaced_by_ingesting_again_and_kept_aside(
    place: Place, digest: str, tmp_path: Path, damage: bytes
) -> None:
    key = manifest_key(digest)
    place.write(key, damage)
    assert faults(place.store, digest) == ["WH105" if damage else "WH107"]
    assert put(place.store, FILES, tmp_path / "again") is True
    assert (place.store.digests(), faults(place.store, digest)) == ([digest], [])
    [aside] = [other for other in place.keys() if other.startswith(f"{key}.damaged-")]
    assert place.read(aside) == damage


@pytest.mark.parametrize("left", [0, 1, 3])
def test_files_without_a_manifest_are_invisible_and_completed_later(place: Place, tmp_path: Path, left: int) -> None:
    digest = manifest_of(FILES).digest
    for path, data in list(FILES.items())[:left]:
        place.write(raw_key(digest, path), data)
    assert (place.store.digests(), faults(place.store, digest)) == ([], ["WH106"])
    assert put(place.store, FILES, tmp_path / "sources") is True
    assert (place.store.digests(), faults(place.store, digest)) == ([digest], [])
    assert len(place.keys()) == len(FILES) + 1


def test_a_wrong_file_left_without_a_manifest_is_replaced_and_kept_aside(place: Place, tmp_path: Path) -> None:
    key = raw_key(manifest_of(FILES).digest, "log.txt")
    place.write(key, b"half")
    assert put(place.store, FILES, tmp_path / "sources") is True
    assert faults(place.store, manifest_of(FILES).digest) == []
    [aside] = [other for other in place.keys() if other.startswith(f"{key}.damaged-")]
    assert place.read(aside) == b"half"


@pytest.mark.parametrize("damage", [None, b"half", b"longer than it was\n"])
def test_what_a_bundle_lost_is_put_back_by_ingesting_again(place: Place, digest: str, tmp_path: Path, damage: bytes | None) -> None:
    key = raw_key(digest, "log.txt")
    place.store.objects.remove(key)
    if damage is not None:
        place.write(key, damage)
    assert put(place.store, FILES, tmp_path / "again") is True
    assert (faults(place.store, digest), put(place.store, FILES, tmp_path / "third")) == ([], False)
    assert [place.read(other) for other in place.keys() if other.startswith(f"{key}.damaged-")] == ([damage] if damage else [])


def test_a_file_that_is_called_as_the_manifest_is_lies_beside_it(place: Place, tmp_path: Path) -> None:
    files = {"manifest.json": b"{}", "deep/manifest.json": b"[]"}
    digest = manifest_of(files).digest
    assert put(place.store, files, tmp_path / "sources") is True
    assert (place.store.digests(), faults(place.store, digest)) == ([digest], [])
    assert {path: place.read(f"{bundle_key(digest)}/files/{path}") for path in files} == files
    assert len(place.keys()) == 3
    assert put(place.store, files, tmp_path / "again") is False


# --- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", few(range(6), 2))
def test_one_flipped_bit_anywhere_is_found(place: Place, digest: str, seed: int) -> None:
    chance = random.Random(seed)
    key = chance.choice([entry.key for entry in place.store.objects.entries("raw") if entry.bytes])
    data = bytearray(place.read(key))
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    place.write(key, bytes(data))
    assert faults(place.store, digest) == ["WH105"]


def test_a_reader_of_a_bundle_never_gets_bytes_that_are_not_the_manifests(place: Place, digest: str) -> None:
    def opened(path: str) -> bytes:
        bundle = Bundle(digest, place.store.manifest(digest), partial(place.store.local_file, digest))
        assert bundle.read(path) == bytes(bundle.map(path)[:])
        return bundle.read(path)

    place.write(raw_key(digest, "log.txt"), b"One\ntwo\n")
    place.store.objects.remove(raw_key(digest, "deep/blob"))
    for path, code in (("log.txt", "WH105"), ("deep/blob", "WH106")):
        with pytest.raises(WarehouseError) as caught:
            opened(path)
        assert caught.value.code == code
    assert opened("deep/er/empty") == b""


def test_a_part_of_a_store_has_its_bundles_and_nothing_else(store: EvidenceStore, digest: str, tmp_path: Path) -> None:
    other = {"x": b"x"}
    put(store, other, tmp_path / "other")
    Ledger(store.objects).arrived(digest, "test", "here")
    part = part_of(store, [digest], tmp_path / "part")
    assert (part.digests(), faults(part, digest)) == ([digest], [])
    assert faults(part, manifest_of(other).digest) == ["WH106"]
    assert Ledger(part.objects).arrivals() == {} and set(Ledger(store.objects).arrivals()) == {digest}
    with pytest.raises(WarehouseError, match="WH109"):
        put(part, {"y": b"y"}, tmp_path / "y")


def test_a_removed_bundle_is_gone(store: EvidenceStore, digest: str, tmp_path: Path) -> None:
    store.objects.remove(manifest_key(digest))
    assert (store.digests(), store.has(digest), store.is_empty()) == ([], False, False)
    store.objects.remove_below(bundle_key(digest))
    assert store.is_empty()
    assert put(store, FILES, tmp_path / "again") is True


# --- many at once, and crashes -----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def forks() -> Iterator[ForkServerContext]:
    """Processes that are forked from one that has imported what a writer needs and has talked to nobody: 50 of them cost 50
    forks, not 50 starts of an interpreter."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "obstore", "botocore.session", "warehouse.evidence.objects.s3_faults"])
    yield context


ROUNDS, PROCESSES, THREADS = 1, 4, 4  # of 16 writers


def _write(
    store: EvidenceStore, sources: Path, environment: dict[str, str], together: Barrier,
    results: "multiprocessing.Queue[list[list[bool | str]]]",
) -> None:
    os.environ.update(environment)  # that of the process it was forked from is older

    def outcome(number: int, thread: int) -> bool | str:
        try:
            return put(store, {**FILES, "round": b"%d" % number}, sources / f"{number}-{thread}")
        except Exception as error:
            return repr(error)

    outcomes = []
    with ThreadPoolExecutor(THREADS) as threads:
        for number in range(ROUNDS):
            together.wait()
            outcomes.append(list(threads.map(partial(outcome, number), range(THREADS))))
    results.put(outcomes)


def write_together(forks: ForkServerContext, store: EvidenceStore, sources: Path) -> list[list[bool | str]]:
    """What each of 16 writers, four in each of four processes, was told in each round; in a round all bring the same bundle."""
    together, results = forks.Barrier(PROCESSES), forks.Queue()
    writers = [
        forks.Process(target=_write, args=(store, sources / str(writer), dict(os.environ), together, results))
        for writer in range(PROCESSES)
    ]
    for writer in writers:
        writer.start()
    outcomes = [results.get(timeout=120) for _ in writers]
    for writer in writers:
        writer.join()
    return [[told for process in outcomes for told in process[number]] for number in range(ROUNDS)]


def test_of_sixteen_that_write_a_bundle_at_once_one_adds_it_and_none_fails(
    place: Place, tmp_path: Path, forks: ForkServerContext
) -> None:
    rounds = write_together(forks, place.store, tmp_path / "sources")
    assert [sorted(outcomes, key=repr) for outcomes in rounds] == [[False] * 15 + [True]] * ROUNDS
    assert len(place.store.digests()) == ROUNDS
    for digest in place.store.digests():
        assert faults(place.store, digest) == []
    assert len(place.keys()) == ROUNDS * (len(FILES) + 2)  # nothing was moved aside


def test_of_many_that_repair_a_bundle_at_once_none_fails_and_the_damaged_one_is_kept(
    place: Place, tmp_path: Path, forks: ForkServerContext
) -> None:
    bundles = [manifest_of({**FILES, "round": b"%d" % number}).digest for number in range(ROUNDS)]
    for digest in bundles:
        place.write(manifest_key(digest), b"")
        place.write(raw_key(digest, "log.txt"), b"half")
    rounds = write_together(forks, place.store, tmp_path / "sources")
    assert [set(outcomes) for outcomes in rounds] == [{True, False}] * ROUNDS
    assert place.store.digests() == sorted(bundles)
    keys = place.keys()
    for digest in bundles:
        assert faults(place.store, digest) == []
        for whole, damage in ((manifest_key(digest), b""), (raw_key(digest, "log.txt"), b"half")):
            assert damage in [place.read(key) for key in keys if key.startswith(f"{whole}.damaged-")]


KILLS, SMALL_FILES = 50, 6


def _killed_bundle(number: int) -> dict[str, bytes]:
    return {f"part/{i}": b"%d of %d\n" % (i, number) * 50 for i in range(SMALL_FILES)}


def _put_one(
    store: EvidenceStore, number: int, sources: Path, environment: dict[str, str], is_ready: Event
) -> None:
    os.environ.update(environment)  # that of the process it was forked from is older
    with suppress(WarehouseError):
        store.digests()  # its clients are made before it is watched
    is_ready.set()
    put(store, _killed_bundle(number), sources)


def test_a_writer_killed_at_any_point_leaves_nothing_that_a_second_ingest_does_not_complete(
    place: Place, tmp_path: Path, forks: ForkServerContext
) -> None:
    """50 writers of small bundles, each killed at a random moment of the time that a whole one takes."""
    chance = random.Random(0)
    store = place.store

    def started(number: int) -> ForkServerProcess:
        is_ready = forks.Event()
        writer = forks.Process(target=_put_one, args=(store, number, tmp_path / str(number), dict(os.environ), is_ready))
        writer.start()
        assert is_ready.wait(60)
        return writer

    assert put(store, _killed_bundle(-1), tmp_path / "first")  # the first one in a new bucket takes many times as long
    whole = started(-2)
    began = time.monotonic()
    whole.join()
    whole_s = time.monotonic() - began
    assert whole.exitcode == 0
    killed = 0
    for number in range(KILLS):
        writer = started(number)
        writer.join(chance.uniform(0, whole_s))
        writer.kill()
        writer.join()
        killed += writer.exitcode != 0
        digest = manifest_of(_killed_bundle(number)).digest
        if store.has(digest):  # it was done, or as good as
            assert faults(store, digest) == []
    assert killed > KILLS / 4  # else nothing was tried
    wanted = {manifest_of(_killed_bundle(number)).digest for number in range(-2, KILLS)}
    for number in range(KILLS):
        put(store, _killed_bundle(number), tmp_path / "again")
    assert set(store.digests()) == wanted
    assert [digest for digest in wanted if faults(store, digest)] == []
    assert len(place.keys()) == len(wanted) * (SMALL_FILES + 1)


# --- using and removing at once ----------------------------------------------------------------------------------


def claim(digest: str) -> str:
    return f"claims/{digest}"


def _remove(store: EvidenceStore, digest: str) -> bool:
    """Remove a bundle on which nothing rests, as retention does; whether it was."""

    def find() -> list[str]:
        return [digest] if store.has(digest) and not store.objects.exists(claim(digest)) else []

    with store.removing() as removal:
        for found in removal.agreed(find, str):
            remove_bundle(store, found)
            removal.done(found)
            return True
    return False


def _rest_on(store: EvidenceStore, number: int, sources: Path) -> bool:
    """Bring a bundle and rest something on it, as publishing does; whether it was not being removed."""
    digest = manifest_of(_killed_bundle(number)).digest
    try:
        with store.keeping():
            put(store, _killed_bundle(number), sources)
            store.objects.check_kept(digest)
            assert faults(store, digest) == []
            store.objects.create(claim(digest), b"")
    except WarehouseError as error:
        assert error.code == "WH116"
        return False
    return True


def _race(
    store: EvidenceStore, sources: Path, environment: dict[str, str], together: Barrier, is_remover: bool,
    results: "multiprocessing.Queue[list[bool | str]]",
) -> None:
    os.environ.update(environment)  # that of the process it was forked from is older
    chance, outcomes = random.Random(str(sources)), list[bool | str]()
    for number in range(RACES):
        together.wait()
        time.sleep(chance.uniform(0, 0.03))  # that they do not always begin in the same order
        try:
            digest = manifest_of(_killed_bundle(number)).digest
            outcomes.append(_remove(store, digest) if is_remover else _rest_on(store, number, sources))
        except Exception as error:
            outcomes.append(repr(error))
    results.put(outcomes)


RACES = 5


def test_what_something_rests_on_is_there_whoever_removes_meanwhile(place: Place, tmp_path: Path, forks: ForkServerContext) -> None:
    """Two that rest something on a bundle, and one that removes it unless something does, each in a process of its own."""
    store = place.store
    for number in range(RACES):
        put(store, _killed_bundle(number), tmp_path / "first")
    together, results = forks.Barrier(3), forks.Queue()
    racers = [
        forks.Process(target=_race, args=(store, tmp_path / str(racer), dict(os.environ), together, racer == 0, results))
        for racer in range(3)
    ]
    for racer in racers:
        racer.start()
    outcomes = [results.get(timeout=120) for _ in racers]
    for racer in racers:
        racer.join()
    assert {type(outcome) for each in outcomes for outcome in each} == {bool}, outcomes
    rested = [digest for number in range(RACES) if store.objects.exists(claim(digest := manifest_of(_killed_bundle(number)).digest))]
    assert rested and [faults(store, digest) for digest in rested] == [[]] * len(rested)
    for number in range(RACES):  # whatever was removed can be brought again: nothing is left of the removal
        assert _rest_on(store, number, tmp_path / "again")
    assert not any(_remove(store, digest) for digest in store.digests())


def test_who_removes_waits_for_those_that_were_there_before(store: EvidenceStore, digest: str) -> None:
    removed: list[bool] = []
    remover = threading.Thread(target=lambda: removed.append(_remove(store, digest)), daemon=True)
    with store.keeping():
        remover.start()
        remover.join(0.5)
        assert remover.is_alive() and faults(store, digest) == []
        store.objects.create(claim(digest), b"")
    remover.join(60)
    assert removed == [False] and faults(store, digest) == []


# --- the same in a bucket, where no kernel knows who has died ----------------------------------------------------


@pytest.fixture
def bucket(endpoint: str, bucket_name: str, tmp_path: Path) -> EvidenceStore:
    store = bucket_store(endpoint, bucket_name, tmp_path / "work")
    put(store, FILES, tmp_path / "sources")
    return store


def other_client(store: EvidenceStore) -> EvidenceStore:
    """The same store, as another process has it."""
    return EvidenceStore(pickle.loads(pickle.dumps(store.objects)), store.landing.parent)


def holds(store: EvidenceStore, folder: str) -> list[str]:
    return [entry.key for entry in store.objects.entries(f"holds/{folder}")]


def test_evidence_in_use_for_long_is_not_removed_and_a_dead_users_is_in_time(
    bucket: EvidenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, user = bucket.digests()[0], ExitStack()
    user.enter_context(other_client(bucket).keeping())
    monkeypatch.setattr(evidence_holds, "_WAIT_S", 0)
    [hold] = bucket.objects.entries("holds/keeping")
    until = f"{hold.modified_at + timedelta(days=1):%Y-%m-%d %H:%M} UTC"
    with pytest.raises(WarehouseError, match=f"WH116.*evidence is in use by process {os.getpid()} on .* since .*, held until {until}") as caught:
        _remove(bucket, digest)
    assert caught.value.hint and caught.value.hint.endswith(f"remove {hold.key}")
    assert (faults(bucket, digest), holds(bucket, "marks")) == ([], [])
    monkeypatch.setattr(evidence_holds, "_KEPT", timedelta(seconds=-60))  # a day later
    assert {finding.kind for finding in inspect_holds(bucket.objects.entries("holds"))} == {LEFTOVER}
    assert _remove(bucket, digest) and bucket.is_empty()
    assert list(inspect_holds(bucket.objects.entries("holds"))) == []
    user.close()


def test_a_hold_that_is_too_old_is_good_for_nothing(bucket: EvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with bucket.keeping():
        bucket.objects.check_kept(bucket.digests()[0])
        monkeypatch.setattr(evidence_holds, "_KEPT", timedelta(0))
        with pytest.raises(WarehouseError, match="WH116.*may be removed now"):
            bucket.objects.check_kept(bucket.digests()[0])


def test_a_removal_that_was_cut_short_keeps_its_bundle_from_use_until_another_ends_it(
    bucket: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest, dead = bucket.digests()[0], ExitStack()
    crashed = other_client(bucket)
    removal = dead.enter_context(crashed.removing())
    assert removal.agreed(crashed.digests, str) == [digest]
    crashed.objects.remove(manifest_key(digest))
    assert put(bucket, {"other": b"x"}, tmp_path / "other")  # nobody else waits
    with pytest.raises(WarehouseError, match=f"WH116 {digest[:12]}: it is being removed"):
        put(bucket, FILES, tmp_path / "again")
    with pytest.raises(WarehouseError, match=f"WH116.*evidence is being removed by process {os.getpid()} "):
        _remove(bucket, digest)
    assert [finding.key for finding in inspect_holds(bucket.objects.entries("holds"))] == [f"holds/marks/{digest}"]

    def half_made() -> list[str]:
        return [digest] if not bucket.has(digest) and any(bucket.objects.entries(bundle_key(digest))) else []

    monkeypatch.setattr(evidence_holds, "_TURN", timedelta(seconds=-60))  # an hour later
    with bucket.removing() as other:
        monkeypatch.setattr(evidence_holds, "_TURN", timedelta(hours=1))
        assert isinstance(crashed.objects, S3Objects)
        monkeypatch.setattr(crashed.objects._holds, "_turn_since", datetime.now(UTC) - timedelta(hours=1))
        with pytest.raises(WarehouseError, match="WH116"):  # the one that was thought dead comes too late
            crashed.objects.remove_below(bundle_key(digest))
        assert other.agreed(half_made, str) == [digest]
        remove_bundle(bucket, digest)
        other.done(digest)
    assert put(bucket, FILES, tmp_path / "again") and faults(bucket, digest) == []
    dead.close()


def test_a_long_removal_takes_turn_after_turn(bucket: EvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with bucket.removing() as removal:
        [digest] = removal.agreed(bucket.digests, str)
        before = holds(bucket, "turns")
        monkeypatch.setattr(evidence_holds, "_TURN", timedelta(0))
        remove_bundle(bucket, digest)
        assert holds(bucket, "turns") > before and bucket.is_empty()
