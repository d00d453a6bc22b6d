"""A proof that a name is given once under a URL of fsspec's: what `wh init` has tried there, kept in the store itself.

It counts for the URL and for the client, by its versions, that it was found with: copied to another store, or read by
another client, it is none. `warehouse.evidence.objects.probe` finds it; without one nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from warehouse.digest import bytes_digest, canonical_json
from warehouse.evidence.finding import ALTERED, AWAY, ORPHANED, Finding
from warehouse.evidence.objects.base import Entry, Objects

FOLDER = "proofs"


@dataclass(frozen=True)
class Proof:
    """What was tried: where, as it is shown, by which client, until when (UTC, ISO), how, and up to how large an object."""

    url: str
    client: Mapping[str, str]
    at: str
    how: str
    largest_bytes: int

    @property
    def data(self) -> bytes:
        return canonical_json(asdict(self))

    @property
    def key(self) -> str:
        """Its key in the store, which commits to its bytes."""
        return f"{FOLDER}/{bytes_digest(self.data)}.json"

    def __str__(self) -> str:
        return f"proven {self.at} by {client_text(self.client)}: {self.how}"


def client_of(url: str, files: Any) -> dict[str, str]:
    """What a file system of fsspec's is, and of which versions: another may do another thing with the same call."""
    import fsspec

    kind = type(files)
    return {
        "protocol": url.partition("://")[0], "class": f"{kind.__module__}.{kind.__qualname__}",
        "version": _version(kind.__module__.partition(".")[0]), "fsspec": fsspec.__version__,
    }


def client_text(client: Mapping[str, str]) -> str:
    return f"{client['class']} of {client['version']} for {client['protocol']}:// with fsspec {client['fsspec']}"


def _version(module: str) -> str:
    from importlib import import_module
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    try:
        return f"{module} {version(module)}"
    except PackageNotFoundError:  # its package has another name: to look for it takes a quarter of a second
        names = sorted(set(packages_distributions().get(module, ())))
    return " ".join(f"{name} {version(name)}" for name in names) or f"{module} {getattr(import_module(module), '__version__', 'unknown')}"


def find_proof(objects: Objects, client: Mapping[str, str]) -> Proof | None:
    """The proof in the store that counts for its URL and this client. Raises WH114."""
    for key in objects.matching(f"{FOLDER}/*.json"):
        proof = _parsed(objects.read(key))
        if proof and (proof.key, proof.url, proof.client) == (key, objects.url, client):
            return proof
    return None


def _parsed(data: bytes) -> Proof | None:
    try:
        return Proof(**json.loads(data))
    except (ValueError, TypeError):  # no word of ours: it proves nothing
        return None


def inspect_proofs(objects: Objects, entries: Iterable[Entry]) -> Iterator[Finding]:
    """Proofs that are not what their name says. Raises WH114."""
    for entry in entries:
        name = entry.key.removeprefix(f"{FOLDER}/")
        if name != f"{bytes_digest(objects.read(entry.key))}.json":
            yield Finding(ALTERED, entry.key, "the proof does not hash to its name", "wh init DIR --store URL tries it again")
        elif not _parsed(objects.read(entry.key)):
            yield Finding(ORPHANED, entry.key, "it is no proof", AWAY)
