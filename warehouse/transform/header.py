"""The header of a model's file: a leading comment in YAML, whose every fault is told at its line and column.

Knows how a header is written, not what its keys mean; that is the model's business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError
from warehouse.transform.sql_text import line_and_column

if TYPE_CHECKING:
    import yaml

PathPart = str | int  # a key of a mapping, or the number of a list's item, from 0
_HEADER = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)


@dataclass(frozen=True)
class Header:
    """A header's values and the file it heads. A key is given as the path that leads to it; what is not there is None
    or empty. Every fault is WH201 at the place of its key."""

    values: Mapping[str, Any]
    file: str
    place: str

    def value(self, *path: PathPart) -> Any:
        found: Any = self.values
        for part in path:
            found = found[part] if isinstance(part, int) else found.get(part)
        return found

    def text(self, *path: PathPart) -> str | None:
        value = self.value(*path)
        if value is not None and not isinstance(value, str):
            raise self.fault(f"{path[-1]} is text, not {value!r}", *path, hint="put it in quotes")
        return value

    def names(self, *path: str) -> Sequence[str]:
        value = self.value(*path)
        if value is not None and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            raise self.fault(f"{path[-1]} is a list of names", *path, hint=f"{path[-1]}: [run_id]")
        return value or ()

    def mapping(self, *path: str, known: Collection[str] = ()) -> Mapping[str, Any]:
        """A mapping whose keys are text and, where `known` names any, among those."""
        value = self.value(*path)
        if value is not None and not isinstance(value, dict):
            raise self.fault(f"{path[-1]} is a mapping, not {value!r}", *path, hint=f"{path[-1]}: {{key: value}}")
        for key in value or ():
            if not isinstance(key, str):
                hint = "YAML reads yes, no, on and off as truth: put it in quotes"
                raise self.fault(f"{key!r} is no name", *path, hint=hint)
            if known and key not in known:
                raise self.fault(f"unknown key {key!r}", *path, key, hint=f"known: {', '.join(sorted(known))}")
        return value or {}

    def fault(self, message: str, *path: PathPart, hint: str | None = None) -> WarehouseError:
        """An error at the last part of `path` that the header has."""
        return WarehouseError("WH201", message, place_of(self.file, self.place, path), hint)


def place_of(file: str, place: str, path: Sequence[PathPart]) -> str:
    """`place` with the line and column of the last part of `path` that the header at the top of `file` has."""
    offset = None
    for offset, _ in _steps(file, path):
        pass
    return place if offset is None else _place(place, file, offset)


def text_offset(file: str, path: Sequence[PathPart]) -> int | None:
    """Where in `file` the text that `path` leads to begins; None when the file does not hold it character by character,
    as when it is folded or has escapes."""
    node = None
    for _, node in _steps(file, path):
        pass
    if node is None or not isinstance(node.value, str):
        return None
    start = file.find(node.value, _header_start(file) + node.start_mark.index)
    return start if 0 <= start <= _header_start(file) + node.end_mark.index - len(node.value) else None


def _steps(file: str, path: Sequence[PathPart]) -> Iterator[tuple[int, yaml.Node]]:
    """For each part of `path` that the header has: the offset of its key, or of the item of a list, and its value."""
    import yaml

    match = _HEADER.match(file)
    node = yaml.compose(match[1], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if match else None
    for part in path:
        if isinstance(part, int) and isinstance(node, yaml.SequenceNode) and part < len(node.value):
            key = node = node.value[part]
        elif isinstance(node, yaml.MappingNode):
            found = [pair for pair in node.value if pair[0].value == part]
            if not found:
                return
            key, node = found[0]
        else:
            return
        yield _header_start(file) + key.start_mark.index, node


def _header_start(file: str) -> int:
    match = _HEADER.match(file)
    return match.start(1) if match else 0


def read_header(file: str, place: str) -> Header:
    """The header at the top of a model's file; empty where there is none, or only an ordinary comment. Raises WH201 for
    what is not YAML."""
    match = _HEADER.match(file)
    if not match:
        return Header({}, file, place)
    import yaml  # 50 ms that a build with nothing to do need not pay

    try:
        values = yaml.load(match[1], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        index = error.problem_mark.index if error.problem_mark else 0
        where = _place(place, file, match.start(1) + index)
        raise WarehouseError("WH201", f"not YAML: {error.problem}", where) from error
    except yaml.YAMLError as error:  # a character that YAML does not allow
        index = getattr(error, "position", 0)
        raise WarehouseError("WH201", f"not YAML: {error}", _place(place, file, match.start(1) + index)) from error
    return Header(values if isinstance(values, dict) else {}, file, place)


def _place(place: str, text: str, offset: int) -> str:
    line, column = line_and_column(text, offset)
    return f"{place}:{line}:{column}"
