"""A project: a folder with `warehouse.toml` and its own `models/`, `queries/`, `ingest/`, laid over the standard ones.

Finds, reads and makes projects; knows where things lie. It opens no store and runs no SQL.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warehouse.errors import ExitCode, WarehouseError

PROJECT_FILE = "warehouse.toml"
KINDS = ("models", "queries", "ingest")
_DEFAULT_KEPT_BUILDS = 3

_TEMPLATE = """\
# A performance warehouse project. Paths are relative to this file.

[project]
name = "{name}"
standard = {standard}  # lay this project over the standard models, queries and ingestors

[store]
url = ".wh/store"  # raw evidence, the ledger, specs, publications: keep it, back it up

[build]
folder = ".wh/builds"  # databases made from the store: may be deleted
keep = {keep}  # how many of the last builds stay
"""


@dataclass(frozen=True)
class Project:
    """Where a project lies and what its file says."""

    root: Path
    name: str
    store_root: Path
    builds: Path
    kept_builds: int
    uses_standard: bool
    # Where a build tells OpenLineage events, if anywhere.
    lineage_file: Path | None = None
    lineage_url: str | None = None

    def layers(self, kind: str) -> tuple[Path, ...]:
        """The folders of one kind (`models`, `queries`, `ingest`), the standard one first. A file in a later layer
        replaces the one of the same name in an earlier layer."""
        own = self.root / kind
        standard = standard_folder() / kind
        layers = (standard, own) if self.uses_standard and standard.resolve() != own.resolve() else (own,)
        return tuple(folder for folder in layers if folder.is_dir())

    def files(self, kind: str, suffix: str) -> list[Path]:
        """All files of one kind, sorted by layer and path; hidden and private (`_`) names are left out, but for those that
        make a package."""
        return [
            path
            for layer in self.layers(kind)
            for path in sorted(layer.rglob(f"*{suffix}"))
            if not any(
                part.startswith((".", "_")) and part != "__init__.py" for part in path.relative_to(layer).parts
            )
        ]

    def shown(self, path: Path) -> str:
        """`path` as messages show it: relative to the project, or to the standard project."""
        for base, prefix in ((self.root, ""), (standard_folder(), "standard/")):
            if path.is_relative_to(base):
                return prefix + path.relative_to(base).as_posix()
        return str(path)


def standard_folder() -> Path:
    """The standard project: inside the installed package, or the source checkout itself."""
    installed = Path(__file__).parent / "standard"
    return installed if installed.is_dir() else Path(__file__).parent.parent


def find_project(start: Path | None = None) -> Project:
    """The project of `start`, of `WH_PROJECT`, or of the current folder, walking up. Raises WH001, WH002."""
    named = start or os.environ.get("WH_PROJECT")
    here = Path(named or ".").resolve()
    if named and not here.is_dir():
        raise WarehouseError("WH001", "no such folder", str(named), exit_code=ExitCode.USAGE)
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).is_file():
            return read_project(folder)
    raise WarehouseError(
        "WH001", f"no {PROJECT_FILE} in {here} or above", hint="make one with: wh init DIR", exit_code=ExitCode.USAGE
    )


def read_project(root: Path) -> Project:
    """The project in exactly this folder. Raises WH002 with the place when its file is not valid."""
    file = root / PROJECT_FILE
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        keep = _value(document, "build", "keep", int, _DEFAULT_KEPT_BUILDS)
        if keep < 1:
            raise ValueError("build.keep must be at least 1")
        url = _value(document, "store", "url", str, ".wh/store")
        if "://" in url:
            raise ValueError(f"store.url {url!r}: only a local folder can be written by this version")
        lineage_file = _value(document, "openlineage", "file", str, "")
        lineage_url = os.environ.get("OPENLINEAGE_URL") or _value(document, "openlineage", "url", str, "")
        if lineage_url and not _is_http_address(lineage_url):
            raise ValueError(f"openlineage.url {lineage_url!r} is no http or https address")
        return Project(
            root=root,
            name=_value(document, "project", "name", str, root.name),
            store_root=root / url,
            builds=root / _value(document, "build", "folder", str, ".wh/builds"),
            kept_builds=keep,
            uses_standard=_value(document, "project", "standard", bool, True),
            lineage_file=root / lineage_file if lineage_file else None,
            lineage_url=lineage_url or None,
        )
    except (OSError, ValueError) as error:
        raise WarehouseError("WH002", str(error), str(file)) from error


def _is_http_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number
        return False


def _value(document: Mapping[str, Any], section: str, key: str, kind: type, default: Any) -> Any:
    value = document.get(section, {}).get(key, default)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{section}.{key} must be of type {kind.__name__}, not {value!r}")
    return value


def init_project(root: Path, *, bare: bool = False) -> Project:
    """Make a project in `root`, which may exist but must hold no project yet (WH003)."""
    if (root / PROJECT_FILE).exists():
        raise WarehouseError("WH003", "a project is here already", str(root / PROJECT_FILE), exit_code=ExitCode.USAGE)
    try:
        for kind in KINDS:
            (root / kind).mkdir(parents=True, exist_ok=True)
        text = _TEMPLATE.format(
            name="".join(c for c in root.resolve().name if c.isprintable() and c not in '\\"'),
            standard="false" if bare else "true",
            keep=_DEFAULT_KEPT_BUILDS,
        )
        (root / PROJECT_FILE).write_text(text, encoding="utf-8")
        (root / ".gitignore").write_text(".wh/\n", encoding="utf-8")
    except OSError as error:
        raise WarehouseError("WH004", str(error), str(root)) from error
    return read_project(root.resolve())
