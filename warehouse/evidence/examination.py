"""What a store is proven to promise, by trying it: `wh doctor`. It writes small objects under `probes/` and removes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from warehouse.errors import WarehouseError
from warehouse.evidence.durable import unique_name
from warehouse.evidence.objects.base import Objects

PROVEN = "proven"
BROKEN = "broken"
SAID = "said"  # by the store, and not tried
_WRITERS = 8
_SKEW_S = 60  # more, and signatures of requests fail soon after (15 minutes), and ages are wrong before


@dataclass(frozen=True)
class Trial:
    """One promise, what was found of it (`PROVEN`, `BROKEN`, `SAID`), and how that shows."""

    promise: str
    state: str
    detail: str


def examine(objects: Objects) -> Iterator[Trial]:
    """Try what every store must do, one thing after another, and ask what protects its objects. What cannot be tried is
    broken; after the first such thing nothing else is tried. Raises nothing that the store does."""
    key = f"probes/{unique_name()}"
    for promise, tried in _promises(objects):
        try:
            finding = tried(objects, key)
        except (WarehouseError, OSError) as error:
            yield Trial(promise, BROKEN, error.message if isinstance(error, WarehouseError) else str(error.strerror or error))
            return
        yield Trial(promise, *finding)
    try:
        protections = objects.protections()
    except WarehouseError as error:  # not every key may ask
        protections = {"protection": f"not known: {error.message}"}
    for protection, detail in protections.items():
        yield Trial(protection, SAID, detail)


def _promises(objects: Objects) -> Iterator[tuple[str, Callable[[Objects, str], tuple[str, str]]]]:
    yield "list", _list
    if not objects.is_read_only:
        yield from (
            ("write", _write), ("read", _read), ("create if absent", _create_if_absent),
            ("create if absent, many at once", _race), ("clock", _clock), ("delete", _delete),
        )


def _list(objects: Objects, key: str) -> tuple[str, str]:
    found = objects.matching("probes/*")
    return PROVEN, f"{len(found)} earlier probes are left" if found else "it answers"


def _write(objects: Objects, key: str) -> tuple[str, str]:
    return (PROVEN, "an object was made") if objects.create(key, b"first") else (BROKEN, "a name that is new is taken")


def _read(objects: Objects, key: str) -> tuple[str, str]:
    return (PROVEN, "it has the bytes that were written") if objects.read(key) == b"first" else (BROKEN, "it has other bytes")


def _create_if_absent(objects: Objects, key: str) -> tuple[str, str]:
    was_made = objects.create(key, b"second")
    if was_made or objects.read(key) != b"first":
        return BROKEN, "a second object took the name of the first: evidence could be overwritten"
    return PROVEN, "a second object of the name was refused"


def _race(objects: Objects, key: str) -> tuple[str, str]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_WRITERS) as writers:
        made = list(writers.map(lambda number: objects.create(f"{key}-race", b"%d" % number), range(_WRITERS)))
    if sum(made) != 1 or objects.read(f"{key}-race") != b"%d" % made.index(True):
        return BROKEN, f"{sum(made)} of {_WRITERS} writers made the same name"
    return PROVEN, f"one of {_WRITERS} writers made the name, and its bytes are there"


def _clock(objects: Objects, key: str) -> tuple[str, str]:
    [entry] = [entry for entry in objects.entries("probes") if entry.key == key]
    ahead = (entry.modified_at - datetime.now(UTC)).total_seconds()
    told = f"{abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's"
    return (PROVEN, told) if abs(ahead) <= _SKEW_S else (BROKEN, told)


def _delete(objects: Objects, key: str) -> tuple[str, str]:
    for name in (key, f"{key}-race"):
        objects.remove(name)
    return (BROKEN, "what was removed is there") if objects.exists(key) else (PROVEN, "the probes are gone; wh removes evidence by policy only")
