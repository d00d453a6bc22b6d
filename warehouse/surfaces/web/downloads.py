"""Raw files as downloads: the bytes of what a manifest names, hashed first, as an attachment that no browser takes for a page."""

from __future__ import annotations

import os
import re
import stat
import threading
from base64 import b64encode
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.responses import Response, StreamingResponse

from warehouse.digest import CHUNK_BYTES, stream_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.manifest import ManifestFile
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import proof_key
from warehouse.project.project import Project
from warehouse.surfaces.views.evidence.file import RAW, stored_file

_AT_ONCE = threading.Semaphore(2)  # hashed: a file may have many gigabytes
_LONGEST_NAME = 120


def add_downloads(app: FastAPI, project: Project) -> None:
    """Add the route of raw files."""

    def download(bundle: str, raw_path: str) -> Response:
        digest, file = stored_file(project, bundle, raw_path)
        with _AT_ONCE:
            stream = _opened(project, digest, file)
        headers = {
            "Content-Disposition": disposition(file.raw_path), "Content-Length": str(file.bytes), "ETag": f'"{file.sha256}"',
            "Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private, no-cache",
            "Repr-Digest": f"sha-256=:{b64encode(bytes.fromhex(file.sha256)).decode()}:",
        }
        return StreamingResponse(_chunks(stream), media_type="application/octet-stream", headers=headers)

    app.add_api_route(RAW, download, methods=["GET"], include_in_schema=False, name="download")


def _opened(project: Project, digest: str, file: ManifestFile) -> BinaryIO:
    """The file, hashed, at its beginning. Raises WH105 where it is another than its manifest says, WH106 where it is gone."""
    place = f"{digest[:12]}/{printable(file.raw_path)}"
    try:
        path = open_store(project).objects.local_copy(proof_key(digest, file.raw_path, file.sha256), file.sha256)
        # Neither followed nor waited for: whatever was put in the file's place.
        stream = open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise WarehouseError("WH106", f"cannot be read: {error.strerror}", place, exit_code=ExitCode.MISSING) from error
    is_file = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    if not is_file or stream_digest(iter(lambda: stream.read(CHUNK_BYTES), b"")) != file.sha256:
        stream.close()
        raise WarehouseError("WH105", "another file lies in its place", place, exit_code=ExitCode.TAMPERED)
    stream.seek(0)
    return stream


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    with stream:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def disposition(raw_path: str) -> str:
    """An attachment under the file's own name (RFC 6266): in ASCII, and whole in UTF-8 (RFC 8187). Nothing of it is a path, a control or an
    invisible character, a quote or a line break."""
    name = re.sub(r'[\\/"<>|:*?]', "_", printable(raw_path.rpartition("/")[2]))[-_LONGEST_NAME:].lstrip(". ") or "file"
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
