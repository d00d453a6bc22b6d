"""Finds the ingestors: the standard ones, the project's own, and those installed by entry point."""

from __future__ import annotations

import importlib.util
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import NoReturn, cast

from warehouse.digest import domain_digest, file_digest
from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable, together
from warehouse.landing.contract import Ingestor
from warehouse.landing.described.description import read_description
from warehouse.landing.described.document import READER_VERSION, extended
from warehouse.landing.described.ingestor import DescribedIngestor, described_ingestor
from warehouse.landing.described.recognition import Formats
from warehouse.landing.logs.reader import LogReader
from warehouse.landing.logs.rules import RULES_FILE, check_rules
from warehouse.project.project import Project, refuse_special, standard_folder
from warehouse.version import __version__

DESCRIPTION, DESCRIPTION_SUFFIX = "format.toml", ".toml"
ENTRY_POINT_GROUP = "perf_warehouse.ingestors"


@dataclass(frozen=True)
class Source:
    """Where an ingestor is loaded from, by any process: a module's file or an entry point. `origin` is standard, project
    or installed; `place` is how messages show it."""

    origin: str
    place: str
    target: Path | str

    def load(self) -> Ingestor:
        """The ingestor. Raises WH121."""
        if isinstance(self.target, str):
            from importlib.metadata import EntryPoint  # 25 ms that a parsing process of the standard ones need not pay

            return _checked(EntryPoint("", self.target, ENTRY_POINT_GROUP).load(), self.place)
        refuse_special(self.target, self.place)
        if self.target.name == RULES_FILE:
            return LogReader(self._rule_files(self.target))
        if self.target.suffix == DESCRIPTION_SUFFIX:
            return described_ingestor(self.target, self.place, standard_folder() / "ingest")
        name = self.target.parent.name if self.target.name == "__init__.py" else self.target.stem
        return _checked(_load(self.target, name, SourceFileLoader if self.origin == "standard" else _AsWritten), self.place)

    def code_digest(self) -> str:
        """The digest of the code that parses: every file of the ingestor's package by its path there, or its one file, and the
        version of wh. What the package imports from elsewhere is not covered."""
        module = self.target if isinstance(self.target, Path) else _module_file(self.target.partition(":")[0])
        folder = module.parent
        paths: Iterable[Path] = [module]
        if module.name == RULES_FILE:
            return domain_digest("wh/log-rules/1", [[file_digest(path) for path in self._rule_files(module)], __version__])
        if module.name == "__init__.py":
            paths = (path for path in folder.rglob("*") if _is_code(path.relative_to(folder)))
        files = {path.relative_to(folder).as_posix(): file_digest(path) for path in paths if path.is_file()}
        if module.name == DESCRIPTION:
            files["reader"] = str(READER_VERSION)
        if module.name == DESCRIPTION and (base := extended(module, standard_folder() / "ingest")) is not None and base.is_file():
            files["extends"] = file_digest(base)
        return domain_digest("wh/ingestor-code/1", [files, __version__])

    def _rule_files(self, target: Path) -> list[Path]:
        """The rules of a project are added to the standard ones."""
        standard = standard_folder() / "ingest" / RULES_FILE
        return [target] if self.origin == "standard" else [standard, target]


def _is_code(path: Path) -> bool:
    return path.suffix != ".pyc" and not any(part == "__pycache__" or part.startswith(".") for part in path.parts)


def _module_file(name: str) -> Path:
    """The file of an installed module, or of the package that it lies in."""
    found = importlib.util.find_spec(name.partition(".")[0])
    assert found and found.origin  # it was imported
    return Path(found.origin)


@dataclass(frozen=True)
class RegisteredIngestor:
    """An ingestor that a project has."""

    ingestor: Ingestor
    source: Source

    @cached_property
    def parser(self) -> str:
        """What a landing table's rows are parsed by: `name version+code digest`."""
        return f"{self.ingestor.name} {self.ingestor.version}+{self.source.code_digest()}"


@dataclass(frozen=True)
class FaultyDescription:
    """A project's description that cannot be used, and the patterns of the files that may be of it."""

    fault: WarehouseError
    files: tuple[str, ...]

    def may_be_of(self, path: str) -> bool:
        return any(fnmatchcase(path.rpartition("/")[2], pattern) for pattern in self.files)


def find_ingestors(project: Project) -> dict[str, RegisteredIngestor]:
    """All ingestors by name; a project's own replaces a standard one of the same name. Raises WH121 with the faults of all descriptions."""
    found, faulty = usable_ingestors(project)
    if faulty:
        raise together(each.fault for each in faulty)
    return found


def usable_ingestors(project: Project) -> tuple[dict[str, RegisteredIngestor], tuple[FaultyDescription, ...]]:
    """The ingestors by name, and the project's descriptions that cannot be used. Raises WH121 for an ingestor in code: which files it would take
    is not known."""
    found: dict[str, RegisteredIngestor] = {}
    faulty: list[FaultyDescription] = []
    for source in _sources(project):
        try:
            ingestor = source.load()
        except WarehouseError as fault:
            if not isinstance(source.target, Path) or source.target.name != DESCRIPTION:
                raise
            faulty.append(FaultyDescription(fault, _patterns(source.target)))
            continue
        if isinstance(ingestor, LogReader) and source.origin == "project":
            ingestor.rules  # noqa: B018  # a fault in a user's own file is told at once
        found[ingestor.name] = RegisteredIngestor(ingestor, source)
    ingestors: list[object] = [each.ingestor for each in found.values()]
    described = [each for each in ingestors if isinstance(each, DescribedIngestor)]
    of_all = Formats([each.description for each in described])
    for each in described:
        each.together = of_all
    return found, tuple(faulty)


def _patterns(file: Path) -> tuple[str, ...]:
    """The `files` of a description that is not valid: any, where it does not state them."""
    try:
        refuse_special(file, str(file))
        stated = tomllib.loads(file.read_text(encoding="utf-8"))["format"]["files"]
    except (WarehouseError, OSError, ValueError, LookupError, TypeError, RecursionError):
        return ("*",)
    patterns = [stated] if isinstance(stated, str) else stated
    return tuple(patterns) if isinstance(patterns, list) and patterns and all(isinstance(each, str) for each in patterns) else ("*",)


def faults_of_descriptions(project: Project) -> list[WarehouseError]:
    """What is wrong in the project's own descriptions, also by the samples beside them, and in its log rules by their examples."""
    from warehouse.landing.described.checking import description_faults

    found: list[WarehouseError] = []
    for source in _sources(project):
        if source.origin != "project" or not isinstance(source.target, Path) or source.target.name not in (DESCRIPTION, RULES_FILE):
            continue
        try:
            refuse_special(source.target, source.place)
            if source.target.name == RULES_FILE:
                found += check_rules(source.target, source.place)
                continue
            description = read_description(source.target, source.place, standard_folder() / "ingest")
            found += description_faults(description, source.target.parent, source.place)
        except WarehouseError as fault:
            found.append(fault)
    return found


def descriptions_without_sample(project: Project) -> list[str]:
    """Where the project's own descriptions are that have no sample beside them: nothing shows whether their paths lead anywhere."""
    from warehouse.landing.described.checking import samples_of

    found = []
    for source in _sources(project):
        if source.origin == "project" and isinstance(source.target, Path) and source.target.name == DESCRIPTION:
            description = read_description(source.target, source.place, standard_folder() / "ingest")
            found += [] if samples_of(description, source.target.parent) else [source.place]
    return found


def load_ingestors(project: Project) -> dict[str, Ingestor]:
    """The ingestors that recognise evidence, by name, without where they are from."""
    return {name: found.ingestor for name, found in find_ingestors(project).items() if not isinstance(found.ingestor, LogReader)}


def check_name(name: str, ingestors: Mapping[str, object]) -> None:
    """Raises WH122 when no ingestor has this name."""
    if name not in ingestors:
        hint = did_you_mean(name, ingestors) or "wh ingestors lists them"
        raise WarehouseError("WH122", f"no ingestor has the name {name!r}", hint=hint, exit_code=ExitCode.NOT_FOUND)


def _sources(project: Project) -> Iterator[Source]:
    folders = tuple((place, os.stat(place).st_mtime_ns) for place in (each or "." for each in sys.path) if os.path.isdir(place))
    for entry in _installed(folders):
        yield Source("installed", entry, entry)
    for layer in project.layers("ingest"):
        origin = "standard" if layer == standard_folder() / "ingest" else "project"
        for path in sorted(layer.iterdir()):
            module = path / "__init__.py" if path.is_dir() else path
            if path.is_dir() and not module.exists():
                module = path / DESCRIPTION
            if path.name.startswith((".", "_")) or module.suffix not in (".py", DESCRIPTION_SUFFIX) or not module.exists():
                continue
            yield Source(origin, project.shown(module), module)


@lru_cache(maxsize=1)
def _installed(folders: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
    """The entry points of the packages in `folders` with the times of their last changes. To read those of 130 packages takes 10 ms."""
    from importlib.metadata import entry_points

    return tuple(entry.value for entry in entry_points(group=ENTRY_POINT_GROUP))


def _checked(ingestor: object, place: str) -> Ingestor:
    missing = [name for name in ("name", "version", "tables", "bundles", "parse") if not hasattr(ingestor, name)]
    if missing:
        raise WarehouseError("WH121", f"the ingestor lacks {', '.join(missing)}", place)
    found = cast(Ingestor, ingestor)
    if "," in str(found.name):  # specs list the names of those that give a table (`batches`)
        raise WarehouseError("WH121", f"the ingestor's name has a comma: {printable(str(found.name))}", place)
    return found


class _AsWritten(SourceFileLoader):
    """Takes no bytecode from a cache: that knows a source by its size and its second, and an edit may change neither."""

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("ask nothing of the file: what get_code() takes as no cache to be had")


def _load(module: Path, name: str, loader_of: type[SourceFileLoader]) -> object:
    """The `INGESTOR` of a module loaded from its file, under a name that nothing else imports by."""
    unique = f"warehouse_ingest_{name}"
    folder = [str(module.parent)] if module.name == "__init__.py" else None
    loader = loader_of(unique, str(module))
    spec = importlib.util.spec_from_file_location(unique, module, loader=loader, submodule_search_locations=folder)
    assert spec and spec.loader
    # Loaded again in one process (`wh build --watch`): its own modules may have been edited since.
    for stale in [other for other in sys.modules if other.startswith(f"{unique}.")]:
        del sys.modules[stale]
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[unique] = loaded
    try:
        spec.loader.exec_module(loaded)
        return loaded.INGESTOR
    except Exception as error:  # a user's own file: whatever it raises is a fault in that file
        raise WarehouseError("WH121", f"cannot be loaded: {type(error).__name__}: {error}", str(module)) from error
