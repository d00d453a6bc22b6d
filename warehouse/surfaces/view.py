"""A view: a question with an address. The pages, the API and the MCP tools are made from one table of views (`all_views.VIEWS`)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from warehouse.errors import ExitCode, WarehouseError, did_you_mean, printable
from warehouse.evidence.ledger.events import Event
from warehouse.evidence.ledger.reading import LedgerReading
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.surfaces.kept import Kept
from warehouse.surfaces.parts import Page
from warehouse.transform.finished.builds import Build

_LONGEST = 4096  # characters of a parameter
MOST_REMEMBERED = 1000  # things that follow from builds
BUILD = "build"
T = TypeVar("T")


_READERS: Mapping[type, Callable[[str], Any]] = {str: str, int: int, float: float, date: date.fromisoformat}
_SCHEMAS: Mapping[type, Mapping[str, str]] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, date: {"type": "string", "format": "date"},
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a view: text unless `kind` is another. Without a default it may be left out, and is None, unless it is part of the
    path. `bounds` are of a number."""

    name: str
    description: str
    kind: type[str] | type[int] | type[float] | type[date] = str
    default: Any = None
    choices: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    is_long: bool = False  # text of any length, such as SQL

    def read(self, text: str) -> Any:
        """The value that a text means. Raises WH601."""
        if len(text) > _LONGEST and not self.is_long:
            raise self._fault(f"is longer than {_LONGEST:,} characters")
        if "\0" in text:
            raise self._fault("has a NUL character")
        if self.choices and text not in self.choices:
            raise self._fault(f"is not {text!r}", did_you_mean(text, self.choices) or f"one of: {', '.join(self.choices)}")
        try:
            value = _READERS[self.kind](text)
        except ValueError as error:
            kinds = {int: "an integer", float: "a number", date: "a date such as 2026-01-31"}
            raise self._fault(f"is not {kinds[self.kind]}: {text!r}") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise self._fault(f"is not a number: {text!r}")
        if self.bounds and isinstance(value, int | float) and not self.bounds[0] <= value <= self.bounds[1]:
            raise self._fault(f"is {text}, not within {self.bounds[0]:g} and {self.bounds[1]:g}")
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its values."""
        schema: dict[str, Any] = dict(_SCHEMAS[self.kind])
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.bounds:
            schema |= {"minimum": self.bounds[0], "maximum": self.bounds[1]}
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def _fault(self, message: str, hint: str | None = None) -> WarehouseError:
        return WarehouseError("WH601", printable(f"{self.name} {message}"), self.name, hint, ExitCode.USAGE)


OFFSET = Parameter("offset", "How many rows to leave out at the beginning.", int, 0, bounds=(0, 1_000_000_000))


@dataclass(frozen=True)
class Visit:
    """One asking of a view: the project with the build that it is of (None where nothing is built, or the view needs none), its parameters
    by name, and the time that it is to count from (UTC); who asks, and with which role. `memory` is shared by all visits."""

    project: Project
    build: Build | None
    values: Mapping[str, Any]
    now: datetime
    visitor: str = ""
    role: str = "admin"
    ledger: LedgerReading = field(default_factory=LedgerReading)
    memory: Kept[Any] = field(default_factory=lambda: Kept(MOST_REMEMBERED))

    def of_build(self, name: str, make: Callable[[], T]) -> T:
        """What follows from the build alone, such as the names of its metrics: made for the first who asks, and remembered for the others."""
        assert self.build
        found: T = self.memory.get(f"{self.build.digest} {name}", make)
        return found

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def events(self) -> tuple[Event, ...]:
        """The ledger's events, the oldest first."""
        return self.ledger.events(open_store(self.project).objects)


@dataclass(frozen=True)
class View:
    """`path` has its parameters in braces, as in `/runs/{run_id}`; a parameter whose braces say `:path` may have slashes. `needs_build`: it
    cannot be answered where nothing is built. `menu` is its word in the menu, or with `is_further` in
    the menu's More. `is_costly`: few of it are answered at a time. `is_act`: it does
    something when it is asked, such as hashing files again: it is asked by POST. `is_fresh`: it depends on more than its key says, or may be
    large. No answer of either is kept. `is_by_role`: its page offers what the visitor's role may do.
    `says_checks`: it says when a number was last verified, and how many hours ago. `role`: that of the table without which it has no answer;
    of a build that lacks one, no page leads there."""

    name: str
    path: str
    title: str
    description: str
    answer: Callable[[Visit], Page]
    parameters: tuple[Parameter, ...] = ()
    menu: str | None = None
    is_further: bool = False
    needs_build: bool = True
    is_costly: bool = False
    is_act: bool = False
    is_fresh: bool = False
    is_by_role: bool = False
    says_checks: bool = False
    role: str | None = None

    @property
    def is_kept(self) -> bool:
        return not (self.is_act or self.is_fresh)

    @property
    def in_path(self) -> tuple[str, ...]:
        return tuple(name for name, _ in re.findall(r"\{(\w+)(:path)?\}", self.path))

    def read(self, given: Sequence[tuple[str, str]], path: Mapping[str, str]) -> dict[str, Any]:
        """The values of all parameters. Raises WH601 for what is unknown, repeated, or no such value."""
        known = {parameter.name: parameter for parameter in self.parameters}
        values = {name: parameter.default for name, parameter in known.items()}
        if repeated := [name for name, count in Counter(name for name, _ in given).items() if count > 1]:
            name = printable(repeated[0])
            raise WarehouseError("WH601", f"the parameter {name} is given twice", name, exit_code=ExitCode.USAGE)
        for name, text in given:
            if name not in known or name in path:
                hint = did_you_mean(name, known) or (f"it has: {', '.join(known)}" if known else "it has no parameters")
                raise WarehouseError("WH601", f"{self.name} has no parameter {printable(name)!r}", printable(name), hint, ExitCode.USAGE)
            if text != "":  # as an empty field of a form
                values[name] = known[name].read(text)
        return values | {name: known[name].read(text) for name, text in path.items()}


def address(path: str, **values: Any) -> str:
    """The address of a view: the values that its path has in braces in there, the others after it; None is left out."""
    place = re.sub(r"\{(\w+)(:path)?\}", lambda found: quote(str(values.pop(found[1])), safe="/" if found[2] else ""), path)
    rest = {name: value for name, value in values.items() if value not in (None, "")}
    return f"{place}?{urlencode(rest)}" if rest else place


def linked(link: str | None, row: Mapping[str, Any]) -> str | None:
    """The address that a link means for a row; None where the row lacks a value that it needs."""
    if link is None:
        return None
    names = re.findall(r"\{(\w+)(?::path)?\}", link)
    if any(row.get(name) in (None, "") for name in names):
        return None
    return re.sub(r"\{(\w+)(:path)?\}", lambda found: quote(str(row[found[1]]), safe="/" if found[2] else ""), link)


def beside(place: str, ending: str) -> str:
    """The address of the same page in another form: `/runs/a?build=b` as `/runs/a.md?build=b`."""
    parts = urlsplit(place)
    return parts._replace(path=parts.path + ending).geturl()


def utc_now() -> datetime:
    return datetime.now(UTC)
