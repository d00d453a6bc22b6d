"""A parsed document, read part by part: each part knows its path, and every broken rule is reported with it, all of them at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_LAST_STEP = re.compile(r"(?:\.[^.\[\]]*|\[\d+\]|[^.\[\]]+)$")


@dataclass(frozen=True)
class Fault:
    """A rule that a document breaks. `line` is that of the part, or of the nearest one around it that is there, from 1.
    `costs_grade`: the document holds without it, but for its grade."""

    path: str
    message: str
    line: int | None = None
    costs_grade: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass
class Faults:
    """Collects the faults of one document, in the order of its rules. `lines` has the line of every part by its path."""

    lines: Mapping[str, int]
    found: list[Fault] = field(default_factory=list)

    def tell(self, path: str, message: str, *, costs_grade: bool = False) -> None:
        self.found.append(Fault(path, message, self._line(path), costs_grade))

    def _line(self, path: str) -> int | None:
        while path and path not in self.lines:
            path = _LAST_STEP.sub("", path)
        return self.lines.get(path)


@dataclass(frozen=True)
class Part:
    """One value of a document. A part that is not there has the value None, and so have the parts of what is no mapping."""

    value: Any
    path: str
    faults: Faults

    def __getitem__(self, key: str) -> "Part":
        value = self.value.get(key) if isinstance(self.value, dict) else None
        return Part(value, f"{self.path}.{key}" if self.path else key, self.faults)

    def broken(self, message: str, *, costs_grade: bool = False) -> None:
        self.faults.tell(self.path or "document", message, costs_grade=costs_grade)

    def mapping(self) -> "Part":
        """Itself, which must be a mapping."""
        if not isinstance(self.value, dict):
            self.broken("expected mapping")
        return self

    def items(self) -> list["Part"]:
        """The items of what must be a list."""
        if not isinstance(self.value, list):
            self.broken("expected list")
            return []
        return [Part(item, f"{self.path}[{index}]", self.faults) for index, item in enumerate(self.value)]

    def values(self) -> list[Any]:
        """The values of what must be a list."""
        return [item.value for item in self.items()]

    def text(self, *, costs_grade: bool = False) -> str | None:
        """What must be a string with something in it."""
        if isinstance(self.value, str) and self.value:
            return self.value
        self.broken("expected non-empty string", costs_grade=costs_grade)
        return None

    def choice(self, allowed: Sequence[str]) -> str | None:
        """What must be one of these words."""
        if isinstance(self.value, str) and self.value in allowed:
            return self.value
        self.broken(f"expected one of {', '.join(allowed)}")
        return None

    def boolean(self) -> bool | None:
        if not isinstance(self.value, bool):
            self.broken("expected boolean")
            return None
        return self.value

    def true(self, why: str = "", *, costs_grade: bool = False) -> None:
        if self.value is not True:
            self.broken(f"must be true{why}", costs_grade=costs_grade)

    def integer(self, at_least: int) -> int | None:
        """What must be an integer of this size or more."""
        if isinstance(self.value, int) and not isinstance(self.value, bool) and self.value >= at_least:
            return self.value
        self.broken("must be a positive integer" if at_least == 1 else f"must be an integer >= {at_least}")
        return None

    def number(self) -> float | None:
        """A number, if it is one."""
        return self.value if isinstance(self.value, int | float) and not isinstance(self.value, bool) else None

    def includes(self, required: Sequence[str], what: str) -> None:
        """What must be a list with all of these in it."""
        found = self.values()
        missing = [name for name in required if name not in found]
        if missing:
            self.broken(f"missing {what} {', '.join(missing)}")
