"""Objects in S3 as file sources: which ones a URL or pattern names and each one's ETag, and the client by which the engine
reads them. The endpoint and the keys are those of the usual AWS variables and files.

Every fault is a WH220. Its place is the URL or pattern; the bucket's URL where it is about all that the bucket holds. A store
that does not answer is such a fault within `_ANSWER_S`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    import duckdb

_SCHEMES = ("s3", "s3a")
# For the first answer only: the client's own retries may take minutes, which long reads are worth and a typing slip is not.
_ANSWER_S = 10
_MAGIC = re.compile(r"[*?[]")
_PARAMETERS = re.compile(r"\?[^\" ]*")  # of a request's URL
_SHOWN = 200


def is_remote(pattern: str) -> bool:
    """Whether a path or pattern is a URL."""
    return "://" in pattern


def object_tags(pattern: str, *, as_last_listed: bool = False) -> dict[str, str]:
    """Size and ETag of every object that a URL or pattern names now, by URL as the engine reports it, in its order; with
    `as_last_listed`, as they were then. Raises WH220."""
    system = _client(pattern)
    if not as_last_listed:
        system.invalidate_cache()
    found = _listed(system, pattern)
    folder = next((name for name, info in found.items() if info["type"] != "file"), None)
    if folder is not None:
        raise WarehouseError(
            "WH220", f"it names a folder too, s3://{folder}: the engine would read that as a file", pattern,
            "name the files in it: */*.parquet, or **/*.parquet for all below",
        )
    return {f"s3://{name}": _tag(pattern, found[name]) for name in sorted(found, key=str.encode)}


def open_objects(con: "duckdb.DuckDBPyConnection", pattern: str) -> None:
    """Let a session read the store that a URL names."""
    if not con.filesystem_is_registered("s3"):
        con.register_filesystem(_client(pattern))


def _client(pattern: str) -> Any:
    if pattern.partition("://")[0] not in _SCHEMES:
        # Nothing in HTTP lists files or promises an ETag, so a build could not tell when they change.
        raise WarehouseError("WH220", "files are read from paths and s3:// only", pattern, "copy the files to a folder or a bucket")
    try:
        from s3fs import S3FileSystem
    except ImportError as error:
        raise WarehouseError("WH220", "reading from S3 needs a client", pattern, "pip install 'perf-warehouse[s3]'") from error
    # The engine asks for just the ranges it needs. With the client's own read-ahead of 50 MiB, one column of four in a
    # file of 72 MB took 229 MB; so it takes 16.
    # In its standard mode it tries three times within 3 s if no server answers; the older mode takes up to 15 s.
    return S3FileSystem(default_cache_type="none", config_kwargs={"retries": {"mode": "standard"}})


def _listed(system: Any, pattern: str) -> dict[str, dict[str, Any]]:
    """What the client says of everything that `pattern` names, by path."""
    from botocore.exceptions import BotoCoreError

    path = pattern.partition("://")[2]
    bucket, _, key = path.partition("/")
    if not bucket or _MAGIC.search(bucket):
        raise WarehouseError("WH220", "it names no bucket", pattern, "write it like this: s3://bucket/folder/*.parquet")
    try:
        if not _MAGIC.search(key):
            return {path: system.info(path, timeout=_ANSWER_S)}
        # A pattern in a bucket that is not there names nothing, and the client says no more than that.
        stem = _MAGIC.split(key)[0]
        system.call_s3("list_objects_v2", Bucket=bucket, Prefix=stem, MaxKeys=1, timeout=_ANSWER_S)
        return dict(system.glob(path, detail=True))
    except (OSError, BotoCoreError, ValueError) as error:
        code = _code(error)
        if isinstance(error, FileNotFoundError) and code != "NoSuchBucket":
            return {}
        raise _fault(error, code, f"s3://{bucket}") from error


def _code(error: Exception) -> str:
    """What the store calls its refusal; the client's name for a fault of its own."""
    answer = getattr(error.__cause__, "response", None) or {}
    return str(answer.get("Error", {}).get("Code") or type(error).__name__)


def _fault(error: Exception, code: str, store: str) -> WarehouseError:
    if code == "NoSuchBucket":
        return WarehouseError("WH220", "there is no such bucket", store, "AWS_ENDPOINT_URL names the store; without it: AWS")
    if isinstance(error, PermissionError) or "Credentials" in code:
        hint = "check that AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set, and may list and read there"
        return WarehouseError("WH220", f"the store refuses access ({code})", store, hint)
    said = " ".join(_PARAMETERS.sub("", str(error)).split())[:_SHOWN]
    if isinstance(error, TimeoutError):
        said = f"no answer within {_ANSWER_S} s"
    hint = "check that the server that AWS_ENDPOINT_URL names is up, and that the network reaches it"
    return WarehouseError("WH220", f"the store cannot be reached: {said or code}", store, hint)


def _tag(pattern: str, info: dict[str, Any]) -> str:
    if not info.get("ETag"):
        raise WarehouseError("WH220", "the store gives no ETag, so changes of a file cannot be detected", pattern)
    return f"{info['size']} {info['ETag']}"
