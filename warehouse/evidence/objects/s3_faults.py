"""What goes wrong with a bucket, in words: every fault of the clients is one WH114 that names no key, secret or request.

WH114 says nothing of what is in the store: who meets it knows neither that an object is there nor that it is not.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.errors import WarehouseError, printable
from warehouse.evidence.objects.base import UNREACHABLE

_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_CAUSE = re.compile(r"kind: (\w+)")
_REFUSED = {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "401", "403", "NoCredentials"}
_FULL = {"QuotaExceeded", "507", "InsufficientCapacity"}
_TOO_LONG = {"KeyTooLongError", "InvalidObjectName", "InvalidURI"}
_ABSENT, _SLOW, _BROKEN = "no server answers there", "it does not answer in time", "the connection broke"
# What obstore and botocore call them.
_CAUSES = {
    "Connect": _ABSENT, "Timeout": _SLOW, "Interrupted": _BROKEN, "Request": _BROKEN, "Decode": _BROKEN,
    "EndpointConnectionError": _ABSENT, "ConnectTimeoutError": _SLOW, "ReadTimeoutError": _SLOW, "ConnectionClosedError": _BROKEN,
}


@contextmanager
def faults_told(store: str, key: str) -> Iterator[None]:
    """Raise what the clients raise inside as what `Objects` promises: `FileNotFoundError` for an object that is not there,
    WH103 for a key that can be no object's, WH114 for the rest. `store` is the store's URL."""
    try:
        yield
    except WarehouseError:
        raise
    except FileNotFoundError as error:
        if _code(error) == "NoSuchBucket":
            raise fault(store, "NoSuchBucket", "") from error
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), key) from error
    except Exception as error:
        told = _of_client(error, store, key)
        if told is None:
            raise
        raise told from error


def _of_client(error: Exception, store: str, key: str) -> Exception | None:
    """What to raise instead of what a client raised; None where no client did."""
    # Not while all is well: 10 us an object, of which thousands go at once.
    from botocore.exceptions import BotoCoreError, ClientError
    from obstore.exceptions import BaseError

    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code"))
        if code in ("NoSuchKey", "404"):
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), key)
        return _told(store, key, code, "")
    if isinstance(error, BaseError | BotoCoreError):
        said = str(error).partition("Debug source")[0]
        cause = _CAUSE.search(str(error))
        code = _code(error) or ("NoCredentials" if "redentials" in said else type(error).__name__)
        return _told(store, key, code, _CAUSES.get(cause[1] if cause else code, ""))
    if isinstance(error, ValueError):  # of a key with control characters
        return WarehouseError("WH103", "no object can have its name", printable(key)[-200:], "rename it")
    return None


def _code(error: Exception) -> str | None:
    """What the server calls its refusal, or the status that it gave none with."""
    found = _CODE.search(str(error)) or _STATUS.search(str(error))
    return found[1] if found else None


def _told(store: str, key: str, code: str, cause: str) -> WarehouseError:
    if code in _TOO_LONG:
        return WarehouseError("WH103", "too long for an object's name", printable(key)[-200:], "ingest from a shorter path")
    return fault(store, code, cause)


def fault(store: str, code: str, cause: str) -> WarehouseError:
    """WH114 of a store, by what the server calls it."""
    if code == "NoSuchBucket":
        hint = "create the bucket, or correct its name in store.url of warehouse.toml or on the command line"
        return WarehouseError(UNREACHABLE, "there is no such bucket", store, hint)
    if code in _REFUSED:
        hint = "check that AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set, and may list, read and write there"
        return WarehouseError(UNREACHABLE, f"the store refuses access ({code})", store, hint)
    if code in _FULL:
        return WarehouseError(UNREACHABLE, f"the store is full ({code})", store, "free space there and run the command again: the rest is stored")
    hint = "check that the server that AWS_ENDPOINT_URL or store.endpoint names is up, then run the command again: what is stored is kept"
    return WarehouseError(UNREACHABLE, f"the store cannot be used: {cause or code}", store, hint)
