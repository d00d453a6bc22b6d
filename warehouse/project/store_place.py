"""Where a store is: the folder that a place names, as a project's file or a person writes it, and its URL if it has one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from warehouse.errors import WarehouseError

# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html: no two dots together, and no address of IPv4.
_BUCKET = re.compile(r"(?!.*\.\.|\d+(?:\.\d+){3}$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_WORK = ".wh/work"  # for what a store in S3 has in the project's folder: landing tables, copies of objects


def store_at(root: Path, url: str, fault: Callable[[str, str], WarehouseError]) -> tuple[Path, str | None]:
    """The folder of the store that `url` is of, a path being from `root`, and its URL where it is in S3 or reached by fsspec; then
    the folder is for what is no evidence. Raises what `fault` makes of a message and an example of what would be right."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return root / url, None
    if scheme == "file":
        return Path("/", rest.removeprefix("localhost")), None
    if scheme in ("http", "https"):
        raise fault(f"{url!r}: a web server cannot list its files, and a store must be listed", '"s3://bucket/folder"')
    if scheme != "s3":
        if not _is_known_to_fsspec(scheme):
            raise fault(f"{url!r}: a store is a folder, an S3 bucket, or a URL that fsspec supports", '"s3://bucket/folder"')
        return root / _WORK, url
    bucket, _, prefix = rest.partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise fault(f"{url!r} names no bucket: a bucket name has 3 to 63 characters of a-z, 0-9, - and single dots", '"s3://bucket/folder"')
    if any(part in ("", ".", "..") for part in prefix.strip("/").split("/") if prefix.strip("/")) or not prefix.isprintable():
        raise fault(f"{url!r}: the part after the bucket is not a folder name", '"s3://bucket/folder"')
    return root / _WORK, url


def _is_known_to_fsspec(scheme: str) -> bool:
    try:
        from fsspec.registry import known_implementations
    except ImportError:  # it comes with an extra
        return False
    return scheme in known_implementations


def is_http_address(url: str) -> bool:
    """Whether a URL is one of http or https, with a host."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number
        return False
