"""How a store is opened: one function for every kind of place."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

from warehouse.address import shown_beside
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.base import UNREACHABLE
from warehouse.evidence.store import EvidenceStore, local_store


class StoreLocation(Protocol):
    """Where a store is, as a project says it: in the folder `store_root`, or, with a `store_url`, there; then the folder has
    only what is no evidence."""

    @property
    def store_root(self) -> Path: ...

    @property
    def store_url(self) -> str | None: ...

    @property
    def store_endpoint(self) -> str | None: ...

    @property
    def store_region(self) -> str | None: ...

    @property
    def store_lock_days(self) -> int: ...


def open_store(location: StoreLocation) -> EvidenceStore:
    """The store at a location, without asking whether it is there. Raises WH006 where its client is not installed, WH114 where
    something else lies there."""
    if location.store_url is None:
        # A link to a disk that is not mounted is no empty store.
        if os.path.lexists(location.store_root) and not location.store_root.is_dir():
            hint = "mount or repair the folder, or correct store.url in warehouse.toml"
            raise WarehouseError(UNREACHABLE, "the store is not a folder", str(location.store_root), hint)
        return local_store(location.store_root)
    if not location.store_url.startswith("s3://"):
        return _readable_store(location.store_url, location.store_root)
    # The variables that the client reads are part of what it is: another key, another client.
    variables = tuple(sorted((name, value) for name, value in os.environ.items() if name.startswith("AWS_")))
    return _bucket_store(
        location.store_url, location.store_endpoint, location.store_region, location.store_root, location.store_lock_days, variables
    )


@lru_cache(maxsize=8)  # likewise
def _readable_store(url: str, work: Path) -> EvidenceStore:
    try:
        from fsspec import get_filesystem_class

        get_filesystem_class(url.partition("://")[0])
    except ImportError as error:
        raise WarehouseError("WH006", f"a store there needs a client: {shown_beside(url, str(error))}", url, "install that package") from error
    from warehouse.evidence.objects.fsspec_urls import FsspecObjects

    return EvidenceStore(FsspecObjects(url, work / "cache"), work)


@lru_cache(maxsize=8)  # its clients keep their connections, and a command opens its store many times
def _bucket_store(
    url: str, endpoint: str | None, region: str | None, work: Path, lock_days: int, variables: tuple[tuple[str, str], ...]
) -> EvidenceStore:
    try:
        for client in ("botocore", "obstore"):  # asked for here so that the reason is reported once, with the way out
            import_module(client)
    except ImportError as error:
        raise WarehouseError("WH006", f"a store in S3 needs a client: {error}", url, "pip install 'perf-warehouse[s3]'") from error
    from warehouse.evidence.objects.s3 import S3Objects

    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    named = dict(variables)
    endpoint = endpoint or named.get("AWS_ENDPOINT_URL_S3") or named.get("AWS_ENDPOINT_URL")
    if endpoint and not _is_address(endpoint):  # obstore panics at one
        hint = "AWS_ENDPOINT_URL names it; an example is http://localhost:8100"
        raise WarehouseError(UNREACHABLE, f"the endpoint {endpoint!r} is not an http or https address", url, hint)
    objects = S3Objects(bucket, prefix.strip("/"), endpoint, region or named.get("AWS_REGION"), work / "cache", lock_days)
    return EvidenceStore(objects, work)


def _is_address(endpoint: str) -> bool:
    from urllib.parse import urlsplit

    from botocore.utils import is_valid_endpoint_url

    try:
        return urlsplit(endpoint).port != 0 and endpoint.startswith(("http://", "https://")) and bool(is_valid_endpoint_url(endpoint))
    except ValueError:  # of a port that is no number
        return False
