"""Locks between processes that use evidence in a bucket and those that remove some, as the kernel's lock does for a folder: objects created
only if absent, under `holds/`.

A keeper (ingest, push, publish) puts a hold, and then lists the marks: it neither adds a marked bundle nor commits anything that depends
on it. A remover (retention, gc) puts a mark for every bundle that is to go, then lists the holds and waits until those that it found
are gone, then looks again what is to go, and removes only what it found both times. A listing has what was put before it (S3
says so since 2020, radosgw does it), so of a keeper and a remover one sees the other: where the mark was there when the keeper
listed, the keeper refuses; where it was not, the hold was there before it, and the remover waits and at its second look finds
what the keeper committed. Keepers never wait, and those that come later never keep a remover waiting.

A crash leaves holds and marks. A hold counts for a day, and its owner commits nothing after half of that; a mark has no end:
its bundle is neither added nor used until the next remover has removed it or taken the mark off. Removers take turns, or a
late deletion by one could hit what was added again after another had finished: a turn ends when it is marked as done, or
after an hour, and its owner removes only in the first half and takes the next turn for more. Turns are numbered and the highest
is never removed, so that a late process with a lower one sees it. All this depends on one assumption: no clock is wrong by
half an hour, and no process pauses for so long between looking at it and the end of one request.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

from warehouse.digest import canonical_json
from warehouse.errors import WarehouseError, printable
from warehouse.evidence.durable import unique_name
from warehouse.evidence.finding import AWAY, LEFTOVER, ORPHANED, Finding
from warehouse.evidence.objects.base import UNREACHABLE, Entry, Item, Objects

FOLDER = "holds"
_KEEPING, _MARKS, _TURNS = f"{FOLDER}/keeping", f"{FOLDER}/marks", f"{FOLDER}/turns"
_DONE = ".done"
_KEPT = timedelta(days=1)
_TURN = timedelta(hours=1)
_WAIT_S = 60  # for keepers: one that takes longer is named, and the user starts the removal again
_POLL_S = 0.2


class Holds:
    """The holds of one process on a bucket, whose threads share one. `put` creates an object that nothing protects from removal,
    `delete` removes one without asking here."""

    def __init__(self, objects: Objects, put: Callable[[str, bytes], bool], delete: Callable[[str], None]) -> None:
        self._objects = objects
        self._put = put
        self._delete = delete
        self._gate = threading.Lock()
        self._keepers = 0
        self._hold = ""
        self._held_since = datetime.min.replace(tzinfo=UTC)
        self._marked: frozenset[str] = frozenset()
        self._turn = 0  # none
        self._patience_s = _WAIT_S
        self._turn_since = self._held_since

    # -- keeping ------------------------------------------------------------------------------------------------

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Hold all bundles that have no mark. Raises WH114."""
        with self._gate:
            if not self._keepers:
                self._hold, self._held_since = f"{_KEEPING}/{unique_name()}", datetime.now(UTC)
                self._put(self._hold, _owner())
                self._marked = self._marks()
            self._keepers += 1
        is_reachable = True
        try:
            yield
        except WarehouseError as error:
            is_reachable = error.code != UNREACHABLE  # a bucket that does not answer is not waited for again: the hold ends by itself
            raise
        finally:
            with self._gate:
                self._keepers -= 1
                if not self._keepers and is_reachable:
                    with suppress(WarehouseError):
                        self._delete(self._hold)

    def check(self, digest: str) -> None:
        """Whether a bundle is held: asked before what depends on it is committed. Raises WH116."""
        if digest in self._marked:
            raise WarehouseError(
                "WH116", "it is being removed", digest[:12],
                "try again; if the removal was interrupted, wh retention apply or wh gc --apply completes it",
            )
        if datetime.now(UTC) - self._held_since > _KEPT / 2:
            raise WarehouseError("WH116", f"it was held for {_KEPT / 2}, and may be removed now", digest[:12], "do it again")

    # -- removing -----------------------------------------------------------------------------------------------

    @contextmanager
    def removing(self, *, waits: bool = True) -> Iterator["Holds"]:
        """Take a turn at removing; where it must not wait, keepers refuse it at once. Raises WH116 while another has it, WH114."""
        self._take_turn()
        self._patience_s = _WAIT_S if waits else 0
        try:
            yield self
        finally:
            with suppress(WarehouseError):
                self._put(f"{_turn_key(self._turn)}{_DONE}", b"{}")
            self._turn = 0

    def agreed(self, find: Callable[[], Sequence[Item]], bundle_of: Callable[[Item], str | None]) -> list[Item]:
        """What `find` wants removed and may be removed: unused bundles, and objects that belong to no bundle (`bundle_of`). Raises WH116
        where a keeper uses evidence for too long, and what `find` raises."""
        marked = {digest for digest in map(bundle_of, find()) if digest}
        try:
            self._mark(marked)
            self._wait()
            found = find()
        except BaseException:
            self._unmark(marked)
            raise
        self._unmark(self._marks() - {bundle_of(item) for item in found})  # also those that a crash has left
        return [item for item in found if (digest := bundle_of(item)) is None or digest in marked]

    def before_removal(self) -> None:
        """Asked before every removal: whether the turn is long enough for it, or the next can be had. Raises WH116."""
        if self._turn and datetime.now(UTC) - self._turn_since > _TURN / 2:
            self._take_turn()

    def done(self, digest: str) -> None:
        """Record that a bundle is removed and may be added again."""
        self._unmark([digest])

    def _take_turn(self) -> None:
        since, turns = datetime.now(UTC), self._turns()
        latest = max(turns, default=0)
        if latest not in (0, self._turn) and _ends(turns[latest], _TURN) > since and not self._objects.exists(f"{_turn_key(latest)}{_DONE}"):
            raise self._taken(latest)
        data = _owner()
        is_made = self._put(_turn_key(latest + 1), data) or self._objects.read(_turn_key(latest + 1)) == data  # an answer may be lost
        if not is_made or max(self._turns()) != latest + 1:
            raise self._taken(latest + 1)
        self._turn, self._turn_since = latest + 1, since
        for number in turns:
            for key in (_turn_key(number), f"{_turn_key(number)}{_DONE}"):
                self._delete(key)

    def _turns(self) -> dict[int, Entry]:
        found = {entry.key.rpartition("/")[2]: entry for entry in self._objects.entries(_TURNS)}
        return {int(name): entry for name, entry in found.items() if name.isdecimal()}

    def _taken(self, number: int) -> WarehouseError:
        by = self._owner_of(_turn_key(number))
        hint = "try again when that is done; if the process died, its turn ends an hour after it began, and the next command continues"
        return WarehouseError("WH116", f"evidence is being removed by {by}", self._objects.url, hint)

    def _mark(self, digests: Iterable[str]) -> None:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda digest: self._put(f"{_MARKS}/{digest}", _owner()), digests))

    def _unmark(self, digests: Iterable[str]) -> None:
        for digest in digests:
            self._delete(f"{_MARKS}/{digest}")

    def _marks(self) -> frozenset[str]:
        return frozenset(entry.key.rpartition("/")[2] for entry in self._objects.entries(_MARKS))

    def _wait(self) -> None:
        """Wait until those who may not have seen the marks are gone."""
        before, give_up = self._holding(), time.monotonic() + self._patience_s
        while waiting := before.keys() & self._holding().keys():
            if time.monotonic() > give_up:
                raise self._in_use([before[key] for key in sorted(waiting)])
            time.sleep(_POLL_S)  # nothing tells when an object is gone

    def _in_use(self, held: Sequence[Entry]) -> WarehouseError:
        by = ", ".join(f"{self._owner_of(entry.key)}, held until {_ends(entry, _KEPT):%Y-%m-%d %H:%M} UTC" for entry in held)
        hint = "try again when that is done; what has died holds until then, or until you who know it is dead remove"
        return WarehouseError("WH116", f"evidence is in use by {by}", self._objects.url, f"{hint} {', '.join(entry.key for entry in held)}")

    def _holding(self) -> dict[str, Entry]:
        """The holds that count, by their keys; those that do no longer are removed."""
        found, now = {}, datetime.now(UTC)
        for entry in list(self._objects.entries(_KEEPING)):
            if _ends(entry, _KEPT) < now:
                self._delete(entry.key)
            else:
                found[entry.key] = entry
        return found

    def _owner_of(self, key: str) -> str:
        with suppress(OSError, ValueError, KeyError, TypeError):  # gone meanwhile, or no word of ours
            said = json.loads(self._objects.read(key))
            return printable(f"{said['by']} since {said['at']}")
        return "somebody"


def inspect_holds(entries: Iterable[Entry]) -> Iterator[Finding]:
    """What crashes have left of objects under `holds/`. Their bytes are held against nothing: they are for people to read."""
    now = datetime.now(UTC)
    for entry in entries:
        folder = entry.key.rpartition("/")[0]
        if folder == _MARKS:
            message = "a bundle that is being removed, or whose removal was interrupted"
            yield Finding(LEFTOVER, entry.key, message, "wh retention apply, or wh gc --apply")
        elif folder == _KEEPING and _ends(entry, _KEPT) < now:
            yield Finding(LEFTOVER, entry.key, "the lock of a process that died", "wh retention apply, or wh gc --apply")
        elif folder not in (_KEEPING, _TURNS):
            yield Finding(ORPHANED, entry.key, "nothing of this name belongs here", AWAY)


def _turn_key(number: int) -> str:
    return f"{_TURNS}/{number:012d}"


def _ends(entry: Entry, after: timedelta) -> datetime:
    return entry.modified_at + after


def _owner() -> bytes:
    """Who this is, as no other is."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return canonical_json({"by": f"process {os.getpid()} on {socket.gethostname()}", "at": at, "token": unique_name()})
