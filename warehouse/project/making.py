"""Makes projects, and writes the keys that they trust into their files."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.project.file import PROJECT_FILE, read_project_file
from warehouse.project.project import DEFAULT_KEPT_BUILDS, DEFAULT_STORE, KINDS, Project, project_of_store, read_project
from warehouse.project.store_place import store_at

_KEY_NAME = re.compile(r"[A-Za-z0-9_-]+")

_TEMPLATE = """\
# A performance warehouse project. Paths are relative to this file.

[project]
name = "{name}"
standard = {standard}  # lay this project over the standard models, queries and ingestors

[store]
url = {store}  # raw evidence, the ledger, specs, publications: keep it, back it up

[build]
folder = ".wh/builds"  # databases made from the store: may be deleted
keep = {keep}  # how many of the last builds stay
"""


def init_project(
    root: Path, *, bare: bool = False, store: str = DEFAULT_STORE, check: Callable[[Project], object] = lambda project: None
) -> Project:
    """Make a project in `root`, which may exist, with its evidence at `store`: a URL, or a folder below the project's. `check` is
    asked first: what it raises leaves nothing behind. Raises WH002 for no place of a store, WH003 where a project is already."""

    def fault(message: str, hint: str) -> WarehouseError:
        return WarehouseError("WH002", message, printable(store), f"for example: {hint}", ExitCode.USAGE)

    place = store_at(root.resolve(), store, fault)
    if not store.isprintable():
        raise fault("a store's name cannot have invisible characters", '"s3://bucket/folder"')
    if (root / PROJECT_FILE).exists():
        raise WarehouseError("WH003", "there is a project here already", str(root / PROJECT_FILE), exit_code=ExitCode.USAGE)
    check(replace(project_of_store(place[0]), store_url=place[1]))
    try:
        for kind in KINDS:
            (root / kind).mkdir(parents=True, exist_ok=True)
        text = _TEMPLATE.format(
            name="".join(c for c in root.resolve().name if c.isprintable() and c not in '\\"'),
            standard="false" if bare else "true",
            store=json.dumps(store, ensure_ascii=False),
            keep=DEFAULT_KEPT_BUILDS,
        )
        (root / PROJECT_FILE).write_text(text, encoding="utf-8")
        (root / ".gitignore").write_text(".wh/\n", encoding="utf-8")
    except OSError as error:
        raise WarehouseError("WH004", str(error), str(root)) from error
    return read_project(root.resolve())


def trust_key(project: Project, name: str, key: str) -> Project:
    """Write a public key into the project's file, among its trusted ones, and read it again. The same key again is a no-op;
    raises WH002 for a name that another key has, or that is not a key in TOML."""
    if project.trusted_keys.get(name) == key:
        return project
    file, path = read_project_file(project.root), (project.root / PROJECT_FILE).resolve()
    if name in project.trusted_keys:
        raise file.fault("trusted_keys", name, f"another key is trusted as {name}", "choose another name, or remove its line")
    if not _KEY_NAME.fullmatch(name):
        raise file.fault("trusted_keys", None, f"{name!r} is not a name for a key", "use letters, digits, - and _")
    entry = f'{name} = "{key}"'
    text = file.text
    header = re.search(r"^[ \t]*\[trusted_keys\][^\n]*$", text, re.MULTILINE)
    if header:
        text = f"{text[: header.end()]}\n{entry}{text[header.end() :]}"
    else:
        text = f"{text.rstrip()}\n\n[trusted_keys]  # who signs evidence here\n{entry}\n"
    try:
        if tomllib.loads(text)["trusted_keys"][name] != key:
            raise KeyError(name)
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise file.fault("trusted_keys", None, "trusted_keys is not written as a section", f"add it by hand: {entry}") from error
    scratch = path.with_name(f".{PROJECT_FILE}.{os.getpid()}")
    try:
        scratch.write_text(text, encoding="utf-8")
        shutil.copymode(path, scratch)
        scratch.replace(path)
    except OSError as error:
        raise WarehouseError("WH004", str(error), str(path)) from error
    return read_project(project.root)
