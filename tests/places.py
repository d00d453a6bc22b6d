"""The two kinds of place that a store can be in, for tests that run on both: a folder, and a bucket of a real S3 server."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest
from s3_server import client_of

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.objects.base import Staged
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.s3 import S3Objects
from warehouse.evidence.store import WAS_THERE, EvidenceStore, local_store

FILES = {"log.txt": b"one\ntwo\n", "deep/er/empty": b"", "deep/blob": bytes(range(256)) * 40}


@dataclass(frozen=True)
class Place:
    """A store, and the way around it: what somebody else does to its objects."""

    store: EvidenceStore

    def keys(self) -> list[str]:
        """All keys of evidence, in order."""
        return [entry.key for entry in self.store.objects.entries("raw")]

    def write(self, key: str, data: bytes) -> None:
        """Put other bytes under a key."""
        objects = self.store.objects
        if isinstance(objects, LocalObjects):
            objects.path(key).parent.mkdir(parents=True, exist_ok=True)
            objects.path(key).write_bytes(data)
        else:
            assert isinstance(objects, S3Objects)
            client_of(os.environ["AWS_ENDPOINT_URL"]).pipe_file(f"{objects.bucket}/{objects.full_key(key)}", data)

    def read(self, key: str) -> bytes:
        objects = self.store.objects
        if isinstance(objects, LocalObjects):
            return objects.path(key).read_bytes()
        assert isinstance(objects, S3Objects)
        return bytes(client_of(os.environ["AWS_ENDPOINT_URL"]).cat_file(f"{objects.bucket}/{objects.full_key(key)}"))


def bucket_store(endpoint: str, bucket: str, work: Path) -> EvidenceStore:
    """A new store in a bucket, under a prefix of its own."""
    return EvidenceStore(S3Objects(bucket, f"of/{uuid.uuid4().hex}", endpoint, None, work / "cache", 730), work)


def manifest_of(files: dict[str, bytes]) -> Manifest:
    listed = (ManifestFile(path, len(data), bytes_digest(data)) for path, data in files.items())
    return Manifest("test", tuple(listed), {"round": "v5.1"})


def put(store: EvidenceStore, files: dict[str, bytes], sources: Path) -> bool:
    """Bring files into the store the way an ingest does; whether the bundle was new."""
    sources.mkdir(parents=True, exist_ok=True)
    for index, data in enumerate(files.values()):
        (sources / str(index)).write_bytes(data)
    with store.incoming() as incoming:
        copies = incoming.copy([sources / str(index) for index in range(len(files))])
        staged = [copy for copy in copies if isinstance(copy, Staged)]
        return store.commit(manifest_of(files), staged) != WAS_THERE


def faults(store: EvidenceStore, digest: str) -> list[str]:
    """The codes of all that is wrong with a bundle."""
    return [problem.code for problem in store.check_bundle(digest)]


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A store without evidence, in each of the two kinds of place."""
    if request.param == "folder":
        return Place(local_store(tmp_path / "store"))
    return Place(bucket_store(request.getfixturevalue("endpoint"), request.getfixturevalue("bucket_name"), tmp_path / "work"))
