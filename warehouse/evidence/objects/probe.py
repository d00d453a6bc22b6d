"""Tries whether a name is given once under a URL of fsspec's: `wh init`. What holds is kept in the store as its proof.

Writers in several processes make one name at the same moment, round after round, and larger objects too, while the name is watched.
A client that looks for a name and then writes passes some rounds, not all; and where fsspec says that it does so, none are tried. It
proves also what `evidence.objects.holds` rests on: a listing that was asked before has what was put since, and what it says of time is
right. Its objects lie under `probes/` and are removed.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import cycle
from threading import Event, Thread

from warehouse.errors import WarehouseError
from warehouse.evidence.durable import unique_name
from warehouse.evidence.objects.fsspec_urls import FsspecObjects
from warehouse.evidence.objects.proof import Proof

_START = "import sys; sys.path[:] = {path!r}; from warehouse.evidence.objects.probe_writer import serve; serve()"
_PROCESSES = 2
_WRITERS = 8  # in all of them together
_SMALL_BYTES = 64
# One round found out a client that looks and then writes within 30 us, on two busy cores, in 9 of 10 tries.
_ROUNDS = 10
_NAMES = 20  # in each
# Clients send what is larger by other calls (s3fs from 100 MiB on); an object has to fit into memory.
_LARGER_BYTES = (8 << 20, 64 << 20)
_LARGE_WRITERS = 2  # their bytes have to go over the network
_AHEAD_S = 0.03  # until a round begins, so that all know of it
_SKEW_S = 60  # as for any store, by which a hold's end is told


class _Refuted(Exception):
    """What does not hold."""


def prove(objects: FsspecObjects, rounds: int = _ROUNDS, larger: Sequence[int] = _LARGER_BYTES) -> str | None:
    """Try it, in so many rounds, and with objects of `larger` bytes. None when all holds, and the proof is in the store; else what does
    not, and the store can only be read. An earlier proof by the same client counts no more. Raises WH114 for a store that cannot
    be listed."""
    objects.matching("probes/*")
    if objects.looks_before_it_writes():
        return f"{objects.client['class']} looks whether a name is free, and then writes"
    stem = f"probes/{unique_name()}"
    tried: list[str] = []
    try:
        objects.forget_proof()
        with _writers(objects) as writers:
            for size, names, count in [(_SMALL_BYTES, _NAMES, _WRITERS)] * rounds + [(size, 1, _LARGE_WRITERS) for size in larger]:
                keys = [f"{stem}-{len(tried) + number}" for number in range(names)]
                tried += keys
                _try_round(objects, writers, keys, size, count)
        _remove(objects, tried)
        if {entry.key for entry in objects.entries("probes")} & set(tried):
            raise _Refuted("what was removed is listed")
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        largest = max(larger, default=_SMALL_BYTES)
        how = f"{rounds * _NAMES} times one of {_WRITERS} writers in {_PROCESSES} processes made a name; with up to {largest} bytes"
        proof = Proof(objects.url, objects.client, at, how, largest)
        if not objects.put(proof.key, proof.data) or objects.find_proof() != proof:
            raise _Refuted("the proof that was written is not there")
    except _Refuted as refuted:
        return str(refuted)
    except (WarehouseError, OSError) as error:
        return error.message if isinstance(error, WarehouseError) else str(error)
    finally:
        with suppress(WarehouseError, OSError):  # where nothing can be removed, wh fsck lists them
            _remove(objects, tried)
    return None


def payload(writer: int, size: int) -> bytes:
    """What a writer writes, as no other does."""
    return (b"%08d" % writer) * (size // 8)


def _try_round(objects: FsspecObjects, writers: Sequence[subprocess.Popen[str]], keys: Sequence[str], size: int, count: int) -> None:
    """Have names made by many at once, one after another, and look what there is. Raises `_Refuted`, WH114."""
    used = writers[: min(count, len(writers))]
    numbers = [list(range(first, count, len(used))) for first in range(len(used))]
    list(objects.entries("probes"))  # a client that keeps listings has one now without them
    with _watched(objects, keys) as seen:
        for process, own in zip(used, numbers, strict=True):
            _tell(process, {"keys": keys, "bytes": size, "writers": own})
        for process in used:
            _answer(process)  # they have their bytes at hand
        begin_at = time.monotonic() + _AHEAD_S  # of this machine, as they see it too
        for process in used:
            _tell(process, {"begin_at": begin_at})
        outcomes = {writer: made for process, own in zip(used, numbers, strict=True) for writer, made in zip(own, _answer(process), strict=True)}
    found = {entry.key: entry for entry in objects.entries("probes")}

    def check(number: int) -> None:
        made_by = _only_one({writer: made[number] for writer, made in outcomes.items()})
        entry = found.get(keys[number])
        if entry is None or entry.bytes != size:
            raise _Refuted("an object that was made is not in the listing")
        if abs((entry.modified_at - datetime.now(UTC)).total_seconds()) > _SKEW_S:
            raise _Refuted(f"the store says that an object was made {entry.modified_at:%Y-%m-%dT%H:%M:%SZ}, which is not now")
        if objects.put(keys[number], payload(count, size)):
            raise _Refuted("a later object took the name of the first")
        if objects.read(keys[number]) != payload(made_by, size):
            raise _Refuted("the bytes under the name are not those of the writer that made it")

    with ThreadPoolExecutor(_WRITERS) as threads:
        list(threads.map(check, range(len(keys))))
    if seen - {size}:
        raise _Refuted(f"an object of {size} bytes was seen with {min(seen - {size})}: it is not there as a whole")


def _only_one(outcomes: Mapping[int, bool | str]) -> int:
    """The writer that made the name, of all that have tried: True for one that did, False for one that was told that it is taken,
    or what else it was told."""
    for told in outcomes.values():
        if isinstance(told, str):
            raise _Refuted(f"a writer was told something else than that the name is taken: {told}")
    made_by = [writer for writer, made in outcomes.items() if made]
    if len(made_by) != 1:
        raise _Refuted(f"{len(made_by)} of {len(outcomes)} writers made the same name")
    return made_by[0]


def _remove(objects: FsspecObjects, keys: Sequence[str]) -> None:
    with ThreadPoolExecutor(_WRITERS) as threads:
        list(threads.map(objects.delete, keys))


@contextmanager
def _watched(objects: FsspecObjects, keys: Sequence[str]) -> Iterator[set[int]]:
    """The sizes that are seen under keys meanwhile."""
    seen: set[int] = set()
    is_over = Event()

    def watch() -> None:
        with suppress(WarehouseError):  # told by what is done next
            for key in cycle(keys):
                if is_over.is_set():
                    return
                with suppress(FileNotFoundError):
                    seen.add(objects.size(key))

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()


@contextmanager
def _writers(objects: FsspecObjects) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that write, each with a client of its own. Started afresh: no client survives a fork."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, process_group=0,  # Ctrl-C is for this process, which stops the others
        )
        for _ in range(_PROCESSES)
    ]
    try:
        for process in started:
            _tell(process, pickle.dumps(objects).hex())
        for process in started:
            _answer(process)
        yield started
    finally:
        for process in started:
            process.kill()
            with suppress(OSError), process:
                pass


def _tell(process: subprocess.Popen[str], word: object) -> None:
    assert process.stdin
    process.stdin.write(f"{json.dumps(word)}\n")
    process.stdin.flush()


def _answer(process: subprocess.Popen[str]) -> list[list[bool | str]]:
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise _Refuted("a process that writes there has ended")
    answer: list[list[bool | str]] = json.loads(line)
    return answer
