"""One measured step of the store's benchmark, in a process of its own: prints seconds and peak memory as JSON.

The floors are the least that any program must do for the same promise, in plain Python: `sha256` and `disk` for large files,
`link` (temporary file, fsync, link) for small ones, `put` (obstore's own conditional PUT, on as many threads as serve it best) in S3.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path

CHUNK = 1 << 20
THREADS = 32  # as ours; of a server on two cores 16 got a tenth less, and 64, 128 and 256 got no more


def sha256(source: Path, target: str) -> None:
    """On one core."""
    for path in sorted(source.iterdir()):
        with open(path, "rb") as stream:
            hashlib.file_digest(stream, "sha256")


def disk(source: Path, target: str) -> None:
    """Write as many bytes, durably."""
    folder = Path(target)
    folder.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        chunk = os.urandom(CHUNK)
        with open(folder / path.name, "wb") as stream:
            for _ in range(path.stat().st_size // CHUNK):
                stream.write(chunk)
            os.fsync(stream.fileno())


def link(source: Path, target: str) -> None:
    """Each file durable under a name that was free, one after another."""
    folder = Path(target)
    folder.mkdir(parents=True)
    for path in sorted(source.iterdir()):
        scratch = folder / f".{path.name}"
        with open(scratch, "wb") as stream:
            stream.write(path.read_bytes())
            os.fsync(stream.fileno())
        os.link(scratch, folder / path.name)
        os.unlink(scratch)
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def put(source: Path, target: str) -> None:
    """Each file an object of its own name, on the condition that it is free."""
    import obstore
    from obstore.store import S3Store

    bucket, _, prefix = target.removeprefix("s3://").partition("/")
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    store = S3Store(
        bucket, prefix=prefix, endpoint=endpoint, region="us-east-1", client_options={"allow_http": endpoint.startswith("http:")}
    )
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda path: obstore.put(store, path.name, path.read_bytes(), mode="create"), sorted(source.iterdir())))


def ingest(source: Path, target: str) -> None:
    """What `wh ingest` does with files that no ingestor knows: one bundle."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.project.project import read_project

    [bundle] = ingest(plan_ingest(source, []), open_store(read_project(Path(target))), "benchmark").bundles
    assert bundle.status == "added", bundle


STEPS: dict[str, Callable[[Path, str], None]] = {step.__name__: step for step in (sha256, disk, link, put, ingest)}


def main() -> None:
    step, source, target = sys.argv[1:]
    # What is imported is no part of a rate.
    if step == "put":
        import_module("obstore.store")
    if step == "ingest":
        import warehouse.evidence.objects.location
        import warehouse.evidence.objects.s3
        import warehouse.landing.ingest  # noqa: F401

        with suppress(ImportError):  # a folder takes no client
            import_module("botocore.session")
            import_module("obstore.store")
    began = time.perf_counter()
    STEPS[step](Path(source), target)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": time.perf_counter() - began, "peak_mb": peak_mb}))


if __name__ == "__main__":
    main()
