"""A part of a store: some of its bundles, in a store of their own that owns none of their bytes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from warehouse.evidence.durable import make_folder
from warehouse.evidence.store import LocalStore


def part_of(store: LocalStore, digests: Iterable[str], root: Path) -> LocalStore:
    """A store in the folder `root` that holds just these bundles: copies of their manifests, links to their files. Whoever
    reads a file there checks it against its manifest as in every store."""
    part = LocalStore(root)
    for digest in digests:
        folder = part.folder(digest)
        make_folder(folder)
        shutil.copyfile(store.folder(digest) / "manifest.json", folder / "manifest.json")
        os.symlink((store.folder(digest) / "files").resolve(), folder / "files")
    return part
