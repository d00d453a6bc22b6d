"""File systems of fsspec's for tests, each a folder under another name: one that keeps what it promises of a name that is taken, and
others that do not. The warehouse and its processes find them as they find any: by the entry points of an installed package."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from fsspec.implementations.local import LocalFileSystem


class Linked(LocalFileSystem):
    """Gives a name once: a temporary file, linked to its name."""

    protocol = "linked"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        scratch = Path(f"{os.path.dirname(path)}/.{uuid4().hex}")
        scratch.write_bytes(value)
        try:
            os.link(scratch, path) if mode == "create" else os.replace(scratch, path)
        finally:
            scratch.unlink(missing_ok=True)

    def find(self, path: str, *args: Any, **kwargs: Any) -> Any:
        return {name: info for name, info in super().find(path, *args, **kwargs).items() if "/." not in name}


class Heedless(Linked):
    """Takes the mode, and overwrites."""

    protocol = "heedless"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        super().pipe_file(path, value)


class Looking(Linked):
    """Looks for the name, and then writes."""

    protocol = "looking"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        if self.exists(path):
            raise FileExistsError(path)
        super().pipe_file(path, value)


class Halving(Linked):
    """Gives a name once, and then fills it, half by half."""

    protocol = "halving"

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        with open(self._strip_protocol(path), "xb") as stream:
            stream.write(value[: len(value) // 2])
            stream.flush()
            time.sleep(0.002)  # what a network takes to bring the rest
            stream.write(value[len(value) // 2 :])


class Belated(Linked):
    """Keeps a listing that it has made, and shows it again."""

    protocol = "belated"
    _listed: dict[str, Any] = {}

    def find(self, path: str, *args: Any, **kwargs: Any) -> Any:
        return self._listed.setdefault(path, super().find(path, *args, **kwargs))


class Timeless(Linked):
    """Does not say when a file was written."""

    protocol = "timeless"

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        return {name: value for name, value in super().info(path, **kwargs).items() if name not in ("mtime", "created")}


KINDS = (Linked, Heedless, Looking, Halving, Belated, Timeless)


def install(folder: Path) -> None:
    """Make a package of this module that declares them, in a folder, as if it were installed there."""
    told = folder / "file_systems-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: file-systems\nVersion: 1.0\n")
    (told / "top_level.txt").write_text("file_systems\n")
    names = "".join(f"{kind.protocol} = file_systems:{kind.__name__}\n" for kind in KINDS)
    (told / "entry_points.txt").write_text(f"[fsspec.specs]\n{names}")
