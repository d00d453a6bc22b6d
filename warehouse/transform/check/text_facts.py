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

from warehouse.evidence.durable import replace_durably
from warehouse.transform.check.memory import key_of
from warehouse.transform.sql.duck import engine_version
from warehouse.version import __version__

if TYPE_CHECKING:
    from warehouse.project.project import Project

_FILE = ".text-facts.json"
_Fact = TypeVar("_Fact")  # JSON


class TextFacts:
    """The facts of one project."""

    def __init__(self, project: "Project") -> None:
        self._folder = project.builds
        self._made_by = [__version__, engine_version(), str(vars(sqlglot)["__version__"])]
        self._known: dict[str, Any] = {}
        self._used: dict[str, Any] = {}
        try:
            document = json.loads((self._folder / _FILE).read_bytes())
            if document["made_by"] == self._made_by:
                self._known = document["facts"]
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def recall(self, kind: str, follows_from: Sequence[Any], find: Callable[[], _Fact]) -> _Fact:
        """What `find` returns, or returned before. What it raises is not remembered."""
        key = key_of(kind, *follows_from)
        if key not in self._used:
            self._used[key] = self._known[key] if key in self._known else find()
        fact: _Fact = self._used[key]
        return fact

    def write(self, *, keeps_unused: bool) -> None:
        """Remember what was asked for, and with `keeps_unused` also what was remembered before."""
        facts = {**self._known, **self._used} if keeps_unused else self._used
        if facts != self._known and self._folder.is_dir():
            replace_durably(self._folder / _FILE, json.dumps({"made_by": self._made_by, "facts": facts}).encode())
