"""Objects in a bucket of S3: each made by one PUT on the condition that its name is free.

One PUT, never a multipart upload: radosgw 16.2 ignores the condition (If-None-Match) when an upload of several parts is
completed, and overwrites. obstore sends small objects, many at once; it would hold a large one in memory, so botocore streams
those. What is read for its bytes is kept in a local cache by digest.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from warehouse.digest import CHUNK_BYTES, bytes_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.durable import unique_name
from warehouse.evidence.objects.base import UNREACHABLE, Entry, Staged
from warehouse.evidence.objects.remote import RemoteObjects
from warehouse.evidence.objects.s3_faults import faults_told

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config, S3Store

_THREADS = 32  # requests at once: a server on the same two cores spends a tenth less on each than with 16, and with 64 no less
_SMALL_BYTES = 2 << 20  # of the largest object that is sent from memory, of which each thread may hold one
_LARGEST_BYTES = 5 << 30  # of one PUT, by the API's own rule
_CONNECT_S = 5
_ANSWER_S = 60  # for a small request, or between two reads of a large one
# The name is taken, or is just being taken: another request finds out which.
_TAKEN = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
_NO_LOCK = ("ObjectLockConfigurationNotFoundError", "NotImplemented", "MethodNotAllowed", "AccessDenied")
_RETRIES = 4
_RETRY_S = 30
_KEYS_LAST = timedelta(minutes=1)  # of keys that end some day: then botocore, which renews them in time, is asked again


class S3Objects(RemoteObjects):
    """`Objects` under `prefix` in a bucket. The endpoint and region are AWS's own where they are None; keys come from wherever
    AWS's own tools find them. Copies lie in the folder `cache`. What is made in a bucket that has Object Lock is locked: by the
    bucket's own rule, and where that has none for `lock_days`, so that no version of it can be deleted before."""

    is_read_only = False

    def __init__(self, bucket: str, prefix: str, endpoint: str | None, region: str | None, cache: Path, lock_days: int) -> None:
        self.bucket = bucket
        self.prefix = prefix
        self._endpoint = endpoint
        self._region = region
        super().__init__(cache)
        self.lock_days = lock_days
        self._gives_versions: bool | None = None  # as the last object that was made here has shown

    def __reduce__(self) -> tuple[Any, ...]:
        # Clients do not travel to other processes.
        return S3Objects, (self.bucket, self.prefix, self._endpoint, self._region, self._cache_folder, self.lock_days)

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    @cached_property
    def _session(self) -> Any:
        from botocore.session import get_session

        return get_session()

    @cached_property
    def _store(self) -> "S3Store":
        return self._opened({"timeout": timedelta(seconds=_ANSWER_S)})

    @cached_property
    def _stream_store(self) -> "S3Store":
        """As `_store`, for answers that may take as long as they like while they keep coming."""
        return self._opened({"timeout": timedelta(days=1), "read_timeout": timedelta(seconds=_ANSWER_S)})

    def _opened(self, timeouts: "ClientConfig") -> "S3Store":
        from obstore.store import S3Store

        # A bucket with Object Lock takes nothing without a checksum.
        config: S3Config = {"region": self._region_name, "checksum_algorithm": "SHA256"}
        if self._endpoint:
            config |= {"endpoint": self._endpoint, "virtual_hosted_style_request": False}
        is_plain = (self._endpoint or "").startswith("http://")
        options: ClientConfig = {"allow_http": is_plain, "connect_timeout": timedelta(seconds=_CONNECT_S), **timeouts}
        return S3Store(
            self.bucket, prefix=self.prefix or None, config=config, client_options=options, credential_provider=self._credentials,
            retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_S)},
        )

    @property
    def _region_name(self) -> str:
        return str(self._region or self._session.get_config_variable("region") or "us-east-1")

    def _credentials(self) -> Any:
        from botocore.credentials import RefreshableCredentials

        found = self._session.get_credentials()
        if found is None:
            hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
            raise WarehouseError(UNREACHABLE, "there are no keys for the store", self.url, hint)
        frozen = found.get_frozen_credentials()
        # Without an end obstore would never ask again, and be refused when a role's keys have expired.
        end = datetime.now(UTC) + _KEYS_LAST if isinstance(found, RefreshableCredentials) else None
        return {"access_key_id": frozen.access_key, "secret_access_key": frozen.secret_key, "token": frozen.token, "expires_at": end}

    @cached_property
    def client(self) -> Any:
        """botocore's client, for what obstore does not do."""
        from botocore.config import Config

        config = Config(
            connect_timeout=_CONNECT_S, read_timeout=_ANSWER_S, retries={"mode": "standard", "total_max_attempts": _RETRIES + 1},
            s3={"addressing_style": "path" if self._endpoint else "auto"}, max_pool_connections=_THREADS,
            # The checksum that is sent is ours; radosgw 16.2 takes none that comes after the body.
            request_checksum_calculation="when_required", response_checksum_validation="when_required",
        )
        return self._session.create_client("s3", endpoint_url=self._endpoint, region_name=self._region_name, config=config)

    def _told(self, key: str) -> AbstractContextManager[None]:
        return faults_told(self.url, key)

    def full_key(self, key: str) -> str:
        """An object's key in the bucket."""
        return f"{self.prefix}/{key}".lstrip("/")

    # -- reading ------------------------------------------------------------------------------------------------

    def read(self, key: str) -> bytes:
        import obstore

        with self._told(key):
            return bytes(obstore.get(self._store, key).bytes())

    def chunks(self, key: str) -> Iterator[bytes]:
        import obstore

        with self._told(key):
            for chunk in obstore.get(self._stream_store, key).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    def size(self, key: str) -> int:
        import obstore

        with self._told(key):
            return obstore.head(self._store, key)["size"]

    def fetch(self, wanted: Mapping[str, str]) -> None:
        def copied(key: str) -> None:
            try:
                self.local_copy(key, wanted[key])
            except FileNotFoundError:
                pass
            except WarehouseError as error:
                if error.code != "WH105":
                    raise

        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(copied, [key for key, sha256 in wanted.items() if not self._cache.path(sha256).exists()]))

    def matching(self, pattern: str) -> list[str]:
        parts = pattern.split("/")
        stem = parts[: next((i for i, part in enumerate(parts) if "*" in part), len(parts))]
        if len(stem) == len(parts):
            return [pattern] if self.exists(pattern) else []
        keys = (entry.key for entry in self.entries("/".join(stem)))
        return sorted(key for key in keys if _matches(key.split("/"), parts))

    def entries(self, prefix: str, after: str = "") -> Iterator[Entry]:
        import obstore

        with self._told(prefix):
            for page in obstore.list(self._store, prefix or None, offset=after or None, chunk_size=1000):
                for found in page:
                    stamp = f"{found['size']} {found['e_tag']} {found['last_modified'].isoformat()}"
                    yield Entry(found["path"], found["size"], found["last_modified"], stamp)

    def uri(self, key: str) -> str:
        return f"{self.url}/{key}"

    def protections(self) -> Mapping[str, str]:
        with self._told(""):
            versioning = self.client.get_bucket_versioning(Bucket=self.bucket).get("Status", "none")
        lock = self.object_lock()
        if lock is None:
            told = "none: who may delete there may delete evidence"
        elif rule := lock.get("Rule", {}).get("DefaultRetention"):
            told = f"{rule['Mode']} for {rule.get('Days') or rule.get('Years')} {'days' if 'Days' in rule else 'years'}, by the bucket's own rule"
        else:
            told = f"COMPLIANCE for {self.lock_days} days, which wh asks for with every object"
        return {"object lock": told, "versioning": versioning.lower()}

    # -- writing ------------------------------------------------------------------------------------------------

    def create(self, key: str, data: bytes) -> bool:
        if self._must_lock:  # which obstore cannot ask for
            return self._send(key, data, bytes_digest(data))
        return self.put(key, data)

    def put(self, key: str, data: bytes) -> bool:
        import obstore

        with self._told(key):
            try:
                made = obstore.put(self._store, key, data, mode="create")
            except Exception as error:
                from obstore.exceptions import AlreadyExistsError  # not while all is well: 5 us an object

                if isinstance(error, AlreadyExistsError):
                    return False
                raise
            self._gives_versions = made["version"] is not None
            return True

    def create_files(self, files: Mapping[str, Staged]) -> set[str]:
        with ThreadPoolExecutor(_THREADS) as threads:
            made = threads.map(lambda key: self._create_file(key, files[key]), files)
            return {key for key, is_made in zip(files, made, strict=True) if is_made}

    def _create_file(self, key: str, staged: Staged) -> bool:
        if staged.bytes <= _SMALL_BYTES:
            data = staged.read()
            return self._send(key, data, staged.sha256) if self._must_lock else self.put(key, data)
        if staged.bytes > _LARGEST_BYTES:
            message = f"{staged.bytes} bytes, and one PUT to S3 takes {_LARGEST_BYTES}"
            raise WarehouseError("WH115", message, key.partition("/files/")[2] or key, "split it, or use a store in a folder")
        with staged.opened() as body:
            return self._send(key, body, staged.sha256)

    def _send(self, key: str, body: "bytes | BinaryIO", sha256: str) -> bool:
        from botocore.exceptions import ClientError

        checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
        with self._told(key):
            try:
                self.client.put_object(
                    Bucket=self.bucket, Key=self.full_key(key), Body=body, IfNoneMatch="*", ChecksumSHA256=checksum, **self._lock()
                )
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in _TAKEN:
                    return False
                raise
            return True

    def _lock(self) -> dict[str, Any]:
        if not self._must_lock:
            return {}
        return {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": datetime.now(UTC) + timedelta(days=self.lock_days)}

    @cached_property
    def _must_lock(self) -> bool:
        # Object Lock takes versions (S3's user guide), and every object is given one there: if one has none, no request is needed
        # by botocore's client, which costs 0.2 s.
        lock = None if self._gives_versions is False else self.object_lock()
        return lock is not None and "Rule" not in lock

    def object_lock(self) -> Mapping[str, Any] | None:
        """The bucket's Object Lock as S3 describes it; None where it has none, or it is not known."""
        from botocore.exceptions import ClientError

        with self._told(""):
            try:
                answer = self.client.get_object_lock_configuration(Bucket=self.bucket)
            except ClientError as error:
                # Not every server knows of it, and not every key may ask: who may not ask cannot lock either.
                if error.response.get("Error", {}).get("Code") in _NO_LOCK:
                    return None
                raise
        found = answer.get("ObjectLockConfiguration", {})
        return found if found.get("ObjectLockEnabled") == "Enabled" else None

    def move_aside(self, key: str) -> None:
        import obstore

        try:
            with self._told(key):
                obstore.copy(self._store, key, f"{key}.damaged-{unique_name()}")
                obstore.delete(self._store, key)
        except FileNotFoundError:
            pass  # another was first

    def delete(self, key: str) -> None:
        import obstore

        with self._told(key):
            obstore.delete(self._store, key)


def _matches(parts: list[str], patterns: list[str]) -> bool:
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))
