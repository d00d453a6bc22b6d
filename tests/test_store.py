"""The evidence store in a folder, where that is a thing of its own; what holds in every place is in test_store_places.py."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from places import FILES, faults, manifest_of, put
from stored import bundle_folder, root_of

from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence import barrier
from warehouse.evidence.barrier import Barrier
from warehouse.evidence.durable import create_if_absent
from warehouse.evidence.incoming import Incoming
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.objects import local
from warehouse.evidence.objects.base import Staged
from warehouse.evidence.store import MADE, EvidenceStore, local_store, raw_key
from warehouse.landing.contract import Bundle


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def staging_folders(store: EvidenceStore) -> list[Path]:
    return [path for path in (root_of(store) / "incoming").iterdir() if path.is_dir()]


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return local_store(tmp_path / "store")


@pytest.fixture
def digest(store: EvidenceStore, tmp_path: Path) -> str:
    assert put(store, FILES, tmp_path / "sources")
    return manifest_of(FILES).digest


def test_a_name_once_given_is_never_given_again(tmp_path: Path) -> None:
    path, scratch = tmp_path / "a" / "b" / "name", tmp_path / "scratch" / "s"
    assert create_if_absent(path, b"first", scratch) is True
    assert create_if_absent(path, b"second", scratch) is False
    assert path.read_bytes() == b"first"
    assert not scratch.exists()


def test_opening_and_asking_an_absent_store_makes_nothing(store: EvidenceStore) -> None:
    assert store.digests() == []
    with pytest.raises(WarehouseError) as caught:
        store.manifest("ab" * 32)
    assert (caught.value.code, caught.value.exit_code) == ("WH106", ExitCode.MISSING)
    assert not root_of(store).exists()


def test_a_bundle_lies_under_its_digest_with_its_manifest_beside_its_files(store: EvidenceStore, digest: str) -> None:
    folder = root_of(store) / "raw" / "sha256" / digest[:2] / digest
    assert contents(folder) == {
        **{f"files/{path}": data for path, data in FILES.items()}, "manifest.json": manifest_of(FILES).canonical
    }
    assert store.digests() == [digest]
    assert store.manifest(digest).digest == digest
    assert faults(store, digest) == []
    assert store.objects.uri(raw_key(digest, "log.txt")) == (folder / "files" / "log.txt").as_uri()


def test_staged_copies_are_hashed_and_gone_afterwards(store: EvidenceStore, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    with store.incoming() as incoming:
        [staged] = incoming.copy([tmp_path / "a"])
        assert isinstance(staged, Staged)
        assert (staged.bytes, staged.sha256, staged.read()) == (3, bytes_digest(b"abc"), b"abc")
    assert isinstance(staged.content, Path) and not staged.content.exists()
    assert staging_folders(store) == []


def test_a_file_that_cannot_be_read_is_reported_and_the_others_are_staged(store: EvidenceStore, tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("good")
    sources = [tmp_path / "absent\n", Path("/proc/self/mem"), tmp_path / "link", tmp_path, tmp_path / "good"]
    with store.incoming() as incoming:
        *failed, good = incoming.copy(sources)
        assert {error.code for error in failed} == {"WH102"}
        places = [f"{tmp_path}/absent\\n", "/proc/self/mem", f"{tmp_path}/link", str(tmp_path)]
        assert [error.place for error in failed] == places
        assert isinstance(good, Staged) and good.sha256 == bytes_digest(b"abc")


@pytest.mark.parametrize("source", [Path("/proc/version"), Path("/sys/kernel/mm/transparent_hugepage/enabled")])
def test_a_file_of_the_kernels_has_the_size_of_its_bytes(store: EvidenceStore, source: Path) -> None:
    if not source.exists():
        pytest.skip(f"this kernel has no {source}")
    data = source.read_bytes()
    assert source.stat().st_size != len(data) > 0
    with store.incoming() as incoming:
        [staged] = incoming.copy([source])
        assert isinstance(staged, Staged)
        assert (staged.bytes, staged.sha256) == (len(data), bytes_digest(data))


def test_small_files_are_held_in_memory_for_a_store_that_sends_them_and_never_many(tmp_path: Path) -> None:
    for number in range(70):
        (tmp_path / str(number)).touch()
        os.truncate(tmp_path / str(number), 1 << 20)
    (tmp_path / "large").write_bytes(bytes((1 << 20) + 1))
    (tmp_path / "empty").touch()
    (tmp_path / "incoming").mkdir()
    incoming = Incoming(tmp_path / "incoming", links_files=False)
    for _ in range(2):  # what was discarded leaves room for as many
        copies = [copy for copy in incoming.copy([tmp_path / str(number) for number in range(70)]) if isinstance(copy, Staged)]
        assert {copy.sha256 for copy in copies} == {bytes_digest(bytes(1 << 20))}
        held = [copy for copy in copies if isinstance(copy.content, bytes)]
        assert (len(held), len(copies), len(os.listdir(incoming.folder))) == (64, 70, 6)
        assert all(copy.read() == bytes(1 << 20) for copy in copies)
        incoming.discard(copies)
        assert os.listdir(incoming.folder) == []
    large, empty = incoming.copy([tmp_path / "large", tmp_path / "empty"])
    assert isinstance(large, Staged) and isinstance(large.content, Path) and large.bytes == (1 << 20) + 1
    assert isinstance(empty, Staged) and empty.read() == b""


@pytest.mark.parametrize("links_files", [True, False])
def test_a_file_that_grows_while_it_is_read_is_left_out(links_files: bool, tmp_path: Path) -> None:
    source, folder = tmp_path / "growing", tmp_path / "incoming"
    folder.mkdir()
    source.touch()
    os.truncate(source, 1 << 27)  # to read it takes the time of many writes
    # The writer sleeps between writes: the scheduler runs a sleeper as soon as it wakes, so it writes during the copy.
    code = "import sys, time\nwith open(sys.argv[1], 'ab', 0) as f:\n while True: f.write(b'x'); time.sleep(0.001)"
    with subprocess.Popen([sys.executable, "-c", code, str(source)]) as writer:
        try:
            while source.stat().st_size == 1 << 27:
                assert writer.poll() is None
                time.sleep(0.001)  # leaves the core to the writer
            [result] = Incoming(folder, links_files=links_files).copy([source])
        finally:
            writer.kill()
            source.unlink()
    assert os.listdir(folder) == []
    assert isinstance(result, WarehouseError)
    assert (result.code, result.place) == ("WH108", str(source))


def test_memory_does_not_grow_with_a_file(tmp_path: Path) -> None:
    code = """
import resource, sys
from pathlib import Path
from warehouse.evidence.store import local_store
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
with local_store(Path(sys.argv[1])).incoming() as incoming:
    incoming.copy([Path(sys.executable)])
    before = peak()
    [staged] = incoming.copy([Path(sys.argv[2])])
    print(staged.bytes, peak() - before)
"""
    big = tmp_path / "big"
    with open(big, "wb") as stream:
        stream.truncate(300 << 20)
    command = [sys.executable, "-c", code, tmp_path / "store", big]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    copied, grown_mib = map(int, done.stdout.split())
    assert copied == 300 << 20
    assert grown_mib < 30


@pytest.mark.parametrize("name", ["manifest.json", *(f"files/{path}" for path in FILES)])
def test_what_is_cut_grown_emptied_or_gone_is_found(store: EvidenceStore, digest: str, name: str) -> None:
    path = bundle_folder(store, digest) / name
    data = path.read_bytes()
    is_manifest = name == "manifest.json"
    for changed in (data[:-1], data + b"\0", data + b"\n", b""):
        if changed != data:
            path.write_bytes(changed)
            assert faults(store, digest) == ["WH107" if is_manifest and not changed else "WH105"]
    path.unlink()
    assert faults(store, digest) == ["WH106"]
    path.mkdir()
    assert faults(store, digest) == ["WH106"]


def test_a_bundle_under_the_wrong_digest_is_found(store: EvidenceStore, digest: str) -> None:
    wrong = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    bundle_folder(store, digest).rename(bundle_folder(store, wrong))
    assert faults(store, wrong) == ["WH105"]


def test_a_reader_of_a_bundle_never_gets_bytes_that_are_not_the_manifests(store: EvidenceStore, digest: str) -> None:
    bundle = Bundle(digest, store.manifest(digest), partial(store.local_file, digest))
    for path, data in FILES.items():
        assert bundle.read(path) == bytes(bundle.map(path)[:]) == data
    (bundle_folder(store, digest) / "files" / "log.txt").write_bytes(b"One\ntwo\n")
    (bundle_folder(store, digest) / "files" / "deep" / "blob").unlink()
    for path, code, status in (("log.txt", "WH105", ExitCode.TAMPERED), ("deep/blob", "WH106", ExitCode.MISSING)):
        for read in (bundle.read, bundle.map):
            with pytest.raises(WarehouseError) as caught:
                read(path)
            assert (caught.value.code, caught.value.exit_code) == (code, status)
            assert caught.value.place == f"{digest[:12]}/{path}"


def test_what_a_dead_ingest_staged_is_removed_and_what_a_living_one_stages_stays(
    store: EvidenceStore, tmp_path: Path
) -> None:
    code = """
import sys
from pathlib import Path
from warehouse.evidence.store import local_store
with local_store(Path(sys.argv[1])).incoming() as incoming:
    (incoming.folder / "half").write_bytes(b"half")
    print(incoming.folder, flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", code, str(root_of(store))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        staging = Path(other.stdout.readline().strip())
        with store.incoming():
            assert (staging / "half").read_bytes() == b"half"
        other.kill()
    assert (staging / "half").exists(), "a killed process tidies nothing"
    with store.incoming() as incoming:
        assert staging_folders(store) == [incoming.folder]
    assert staging_folders(store) == []


def test_a_name_of_a_process_that_lives_does_not_protect_what_a_dead_one_left(store: EvidenceStore) -> None:
    # After a restart of the machine or a container, the number of a killed ingest is soon somebody else's.
    left = root_of(store) / "incoming" / f"{os.getpid()}-01ARZ3NDEKTSV4RRFFQ69G5FAV"
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"half")
    with store.incoming():
        assert not left.exists()


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"a file where the folder should be")
    with pytest.raises(WarehouseError) as caught:
        put(local_store(tmp_path / "store"), FILES, tmp_path / "sources")
    assert caught.value.code == "WH109"
    assert caught.value.hint


def test_a_full_disk_is_the_stores_fault_and_leaves_no_visible_bundle(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from warehouse.errors import WarehouseError
from warehouse.evidence.store import local_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write beyond the limit fails as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
store = local_store(Path(sys.argv[1]))
try:
    with store.incoming() as incoming:
        incoming.copy([Path(sys.argv[2])])
except WarehouseError as error:
    print(error.code, store.digests(), [path.name for path in (Path(sys.argv[1]) / "incoming").iterdir() if path.is_dir()])
"""
    (tmp_path / "big").write_bytes(b"x" * 10_000)
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "store", tmp_path / "big"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "WH109 [] []\n"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("who runs the tests may not mount a disk")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_is_told_and_gone_on_with_when_there_is_room(small_disk: Path, tmp_path: Path) -> None:
    store = local_store(small_disk / "store")
    small, many = {"a": b"small"}, {f"part/{number}": random.Random(number).randbytes(100_000) for number in range(16)}
    assert put(store, small, tmp_path / "small")
    with pytest.raises(WarehouseError) as caught:
        with store.incoming() as incoming:
            for number, data in enumerate(many.values()):
                (tmp_path / str(number)).write_bytes(data)
            incoming.copy([tmp_path / str(number) for number in range(16)])
    error = caught.value
    assert (error.code, error.message) == ("WH109", "the store cannot be written: No space left on device")
    assert error.hint and error.hint.startswith("free space")
    assert store.digests() == [manifest_of(small).digest] and faults(store, manifest_of(small).digest) == []
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
    assert put(store, many, tmp_path / "again") and faults(store, manifest_of(many).digest) == []
    assert len(store.digests()) == 2 and not [path for path in (small_disk / "store" / "incoming").iterdir() if path.is_dir()]


def test_what_is_made_during_an_ingest_lies_in_its_own_folder_before(store: EvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    scratches: list[Path] = []
    made = local.create_if_absent
    monkeypatch.setattr(local, "create_if_absent", lambda path, data, scratch: [scratches.append(scratch.parent), made(path, data, scratch)][1])
    with store.incoming() as incoming:
        assert store.objects.create("raw/0", b"bytes") and not store.objects.create("raw/0", b"others")
    assert store.objects.create("raw/1", b"bytes") and store.objects.read("raw/0") == b"bytes"
    assert scratches[:2] == [incoming.folder] * 2 and scratches[2] != incoming.folder and staging_folders(store) == []


def test_nothing_is_named_before_what_it_refers_to_is_on_the_disk(store: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[set[str] | tuple[str, str]] = []  # what is put on the disk together, or a file and the name that it gets
    link = os.link
    monkeypatch.setattr(Barrier, "settle", lambda self, places: steps.append(set(map(str, places))))
    monkeypatch.setattr(os, "link", lambda source, target: [steps.append((str(source), str(target))), link(source, target)])
    bundles = [(manifest_of({f"deep/{data.decode()}": data, "b": data}), data) for data in (b"one", b"two", b"three")]
    with store.incoming() as incoming:
        copied = []
        for number, (manifest, data) in enumerate(bundles):
            (tmp_path / str(number)).write_bytes(data)
            staged = incoming.copy([tmp_path / str(number)] * 2)
            copied.append((manifest, [copy for copy in staged if isinstance(copy, Staged)]))
        assert store.commit_all(copied) == [MADE] * 3
        Ledger(store.objects).all_arrived({manifest.digest: ("test", []) for manifest, _ in bundles}, "here")
    ranks = {"files": 0, "manifest.json": 1, "ledger": 2}
    on_disk: set[str] = set()
    folders: dict[int, set[str]] = {rank: set() for rank in ranks.values()}
    for step in steps:
        if isinstance(step, set):
            on_disk |= step
            continue
        source, name = step
        rank = max(rank for part, rank in ranks.items() if part in name.removeprefix(str(root_of(store))).split("/"))
        assert source in on_disk and all(folders[lower] <= on_disk for lower in range(rank))
        folder = os.path.dirname(name)
        folders[rank].add(folder)
        on_disk.discard(folder)
    assert set().union(*folders.values()) <= on_disk and all(folders.values())


def test_a_barrier_puts_many_files_on_the_disk_at_once_where_that_is_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / str(number) for number in range(40)]
    synced: list[Path] = []
    monkeypatch.setattr(barrier, "_fsync", synced.append)
    with closing(Barrier(tmp_path)) as opened:
        for path in paths:
            path.write_bytes(b"x")
        opened.settle(paths[:3])
        assert sorted(synced) == paths[:3]
    monkeypatch.setattr(barrier, "_type_of", lambda descriptor: 0x65735546)  # FUSE
    with closing(Barrier(tmp_path)) as opened:
        opened.settle(paths)
    assert sorted(synced[3:]) == sorted(paths)
    monkeypatch.undo()
    with closing(Barrier(tmp_path)) as opened:
        opened.settle(paths)
        with pytest.raises(FileNotFoundError):
            opened.settle([tmp_path / "gone"])
