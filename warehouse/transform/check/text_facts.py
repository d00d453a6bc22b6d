"""What was worked out about SQL texts before, each fact under the digest of all that it follows from: the texts, and the types of what
they read.

One file beside the builds, which may be deleted; facts of other versions of wh, the engine or the parser are not there. Verification
does not use it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import sqlglot

from warehouse.evidence.memory_file import read_memory_file, write_memory_file
from warehouse.transform.check.memory import key_of
from warehouse.transform.sql.duck import engine_version
from warehouse.transform.sql.functions import TABLE_VERSION
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.project.project import Project

_FILE = ".text-facts.json"
_KEPT_BYTES = 16 << 20  # a query has up to one megabyte; to read as many takes 0.15 s
_Fact = TypeVar("_Fact")  # JSON


class TextFacts:
    """The facts of one project."""

    def __init__(self, project: "Project") -> None:
        self._file = project.builds / _FILE
        self._made_by = key_of(__version__, engine_version(), str(vars(sqlglot)["__version__"]), TABLE_VERSION)
        text = read_memory_file(self._file, self._made_by)
        self._known: dict[str, Any] = json.loads(text) if text else {}
        self._used: dict[str, Any] = {}

    def recall(self, kind: str, follows_from: Sequence[Any], find: Callable[[], _Fact]) -> _Fact:
        """What `find` returns, or returned before. What it raises is not remembered."""
        key = key_of(kind, *follows_from)
        if key not in self._used:
            self._used[key] = self._known[key] if key in self._known else find()
        fact: _Fact = self._used[key]
        return fact

    def write(self) -> None:
        """Remember what was asked for, beside what was remembered before unless that has become too much."""
        facts = {**self._known, **self._used}
        if facts != self._known:
            text = json.dumps(facts)
            write_memory_file(self._file, self._made_by, (text if len(text) <= _KEPT_BYTES else json.dumps(self._used)).encode())
