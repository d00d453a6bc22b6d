"""A package index on loopback with small wheels made here, as uv asks for them (PEP 691 and 700: JSON, with upload times)."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UPLOADED = "2026-01-01T00:00:00Z"


def wheel(name: str, version: str, files: Mapping[str, str]) -> bytes:
    """A wheel of pure Python."""
    info = f"{name}-{version}.dist-info"
    members = {
        **files, f"{info}/METADATA": _metadata(name, version),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*members, f"{info}/RECORD"])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, text in {**members, f"{info}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return stream.getvalue()


@contextmanager
def package_index(packages: Mapping[str, Mapping[str, bytes]]) -> Iterator[str]:
    """The URL of an index that has these wheels, by package and version."""
    files = {f"{name}-{version}-py3-none-any.whl": data for name, versions in packages.items() for version, data in versions.items()}
    # What resolving asks for instead of the wheel (PEP 658).
    metadata = {f"{file}.metadata": _metadata(*file.split("-")[:2]).encode() for file in files}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            last = self.path.strip("/").rpartition("/")[2]
            if last in files or last in metadata:
                self._answer(files.get(last) or metadata[last], "application/octet-stream")
            elif last in packages:
                listed = [
                    {
                        "filename": file, "url": f"/files/{file}", "hashes": {"sha256": hashlib.sha256(data).hexdigest()}, "upload-time": UPLOADED,
                        "size": len(data), "core-metadata": True,
                    }
                    for file, data in files.items() if file.startswith(f"{last}-")
                ]
                document = {"meta": {"api-version": "1.1"}, "name": last, "versions": list(packages[last]), "files": listed}
                self._answer(json.dumps(document).encode(), "application/vnd.pypi.simple.v1+json")
            else:
                self.send_error(404)

        def _answer(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    finally:
        server.shutdown()
        thread.join()


def _metadata(name: str, version: str) -> str:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
