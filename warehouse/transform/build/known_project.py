"""The project as an earlier build found it sound, so that a build of the same texts over more evidence reads and checks no model again.

It is known by all that the check depends on: every text, the columns of the landing tables, the versions of the parsers, of `wh` and of the
engine, and the stamps of the files that its SQL reads. It lies beside the builds and may be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.digest import bytes_digest, memo_digest
from warehouse.errors import WarehouseError
from warehouse.evidence.memory_file import read_memory_file, write_memory_file
from warehouse.transform.build.state import Logic, logics
from warehouse.transform.check.checked_project import CheckedProject, SqlFacts
from warehouse.transform.check.digests import Envelope, envelopes
from warehouse.transform.check.inputs import stamp_of
from warehouse.transform.check.project_check import LandingTypes, check_project
from warehouse.transform.finished.builds import FORM
from warehouse.transform.incremental.changed_keys import KeyPlan
from warehouse.transform.project.data_tests import FOLDER, DataTest, SqlTest
from warehouse.transform.project.graph import Graph
from warehouse.transform.project.header import PathPart
from warehouse.transform.project.header_tests import HeaderTest
from warehouse.transform.project.model import Model
from warehouse.transform.sql.duck import asking, engine_version
from warehouse.transform.sql.functions import TABLE_VERSION
from warehouse.transform.sql.tree import FileRead, parsed, statement
from warehouse.transform.sql.tree_nodes import Node
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.project.project import Project

FILE = ".project.json"
_TEXTS = ("models", "queries", FOLDER)


@dataclass(frozen=True)
class SoundProject:
    """A project that the check found sound, with the digests of its models. `key` is a digest of all that it follows from."""

    key: str
    checked: CheckedProject
    made: Mapping[str, Envelope]
    logic: Mapping[str, Logic]


@dataclass(frozen=True)
class _Test:
    """A data test; `source` is the name of the model whose header states it, or the number of the SQL test."""

    name: str
    promise: str
    sql: str
    source: str | int
    severity: str
    path: tuple[PathPart, ...]
    stated: HeaderTest | None
    reads: frozenset[str]
    telling: tuple[str, ...]
    breaks: str
    apart: tuple[str, ...]


@dataclass(frozen=True)
class _Document:
    """What is written. `stamps` are of the files that SQL reads."""

    stamps: tuple[str, ...]
    models: dict[str, Model]
    order: tuple[str, ...]
    reads: dict[str, frozenset[str]]
    landing: dict[str, frozenset[str]]
    files: dict[str, tuple[FileRead, ...]]
    columns: dict[str, dict[str, str]]
    file_columns: dict[str, dict[str, str]]
    key_plans: dict[str, KeyPlan]
    whole_because: dict[str, str]
    facts: dict[str, SqlFacts]
    sql_tests: tuple[SqlTest, ...]
    tests: tuple[_Test, ...]
    made: dict[str, Envelope]
    logic: dict[str, Logic]


def sound_project(project: "Project", landing: LandingTypes, leaves: Mapping[str, Mapping[str, Any]]) -> SoundProject:
    """The project, checked over landing tables of these types and leaves (`digests.landing_leaf`). Raises what the check raises."""
    key = _key(project, leaves)
    known = _read(project, key)
    if known:
        return known
    checked = check_project(project, landing).sound()
    made = envelopes(checked, leaves)
    found = SoundProject(key, checked, made, logics(checked, made))
    if _key(project, leaves) == key:  # no file was written meanwhile
        _write(project, found)
    return found


def _key(project: "Project", leaves: Mapping[str, Mapping[str, Any]]) -> str:
    texts = {project.shown(path): bytes_digest(path.read_bytes()) for kind in _TEXTS for path in project.files(kind, ".sql")}
    sources = {name: list(patterns) for name, patterns in project.sources.items()}
    return memo_digest("wh/sound-project/2", [texts, sources, leaves, FORM, __version__, engine_version(), TABLE_VERSION])


def _read(project: "Project", key: str) -> SoundProject | None:
    """What is remembered under a key; None where that is nothing, or damaged, or files that its SQL reads may have changed."""
    import msgspec

    text = read_memory_file(project.builds / FILE, key)
    if text is None:
        return None
    try:
        document = msgspec.json.decode(text, type=_Document)
        stamps = _stamps(document.files, project.root)
    except (OSError, WarehouseError, msgspec.MsgspecError):
        return None
    if stamps != document.stamps or not all(stamps):
        return None
    return _found(key, document)


def project_of(text: bytes) -> SoundProject:
    """What `document_of` wrote: for a worker that has no files of the project. Raises ValueError for anything else."""
    import msgspec

    return _found("", msgspec.json.decode(text, type=_Document))


def _found(key: str, document: _Document) -> SoundProject:
    graph = Graph(document.order, document.reads, document.landing, document.files, _Trees(document.models))
    tests = (
        DataTest(**{**vars(test), "source": document.models[test.source] if isinstance(test.source, str) else document.sql_tests[test.source]})
        for test in document.tests
    )
    checked = CheckedProject(
        document.models, graph, document.columns, document.file_columns, document.key_plans, tuple(tests), document.facts,
        document.whole_because,
    )
    return SoundProject(key, checked, document.made, document.logic)


def _write(project: "Project", found: SoundProject) -> None:
    stamps = _stamps(found.checked.graph.files, project.root)
    text = document_of(found, stamps) if all(stamps) else None
    if text:
        write_memory_file(project.builds / FILE, found.key, text)


def document_of(found: SoundProject, stamps: tuple[str, ...] = ()) -> bytes | None:
    """A project as text; None where it holds a value that JSON does not have, such as a date in a header."""
    import msgspec

    checked, graph = found.checked, found.checked.graph
    sql_tests = list(dict.fromkeys(test.source for test in checked.tests if isinstance(test.source, SqlTest)))
    tests = (
        _Test(**{**vars(test), "source": sql_tests.index(test.source) if isinstance(test.source, SqlTest) else test.source.name})
        for test in checked.tests
    )
    document = _Document(
        stamps, dict(checked.models), graph.order, dict(graph.models), dict(graph.landing), dict(graph.files),
        {name: dict(types) for name, types in checked.columns.items()}, {call: dict(types) for call, types in checked.file_columns.items()},
        dict(checked.key_plans), dict(checked.whole_because), {name: checked.facts(name) for name in graph.order}, tuple(sql_tests), tuple(tests),
        dict(found.made), dict(found.logic),
    )
    text = msgspec.json.encode(document)  # in their own order: that of columns counts
    return text if msgspec.json.decode(text, type=_Document) == document else None


def _stamps(files: Mapping[str, Sequence[FileRead]], root: Path) -> tuple[str, ...]:
    reads = {read.call: read for found in files.values() for read in found}
    return tuple(stamp_of(reads[call], root) for call in sorted(reads))


class _Trees(Mapping[str, Node]):
    """The trees of models, which are parsed when one is asked for: few builds do."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models

    @cached_property
    def _all(self) -> dict[str, Node]:
        con = asking()
        try:
            documents = parsed(con, [model.text for model in self._models.values()])
        finally:
            con.close()
        return {name: statement(document, model) for (name, model), document in zip(self._models.items(), documents, strict=True)}

    def __getitem__(self, name: str) -> Node:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)
