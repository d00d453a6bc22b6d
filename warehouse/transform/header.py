"""The header of a model's file: a leading comment in YAML, whose every fault is told at its line and column.

Knows how a header is written, not what its keys mean; that is the model's business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.transform.sql_text import line_and_column

_HEADER = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)


@dataclass(frozen=True)
class Header:
    """A header's values and the file it heads. A key is given as the path that leads to it; what is not there is None
    or empty. Every fault is WH201 at the place of its key."""

    values: Mapping[str, Any]
    file: str
    place: str

    def value(self, *path: str) -> Any:
        found: Any = self.values
        for key in path:
            found = found.get(key)
        return found

    def text(self, *path: str) -> str | None:
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

    def fault(self, message: str, *path: str, hint: str | None = None) -> WarehouseError:
        """An error at the last key of `path` that the header has."""
        import yaml

        match = _HEADER.match(self.file)
        place, node = self.place, yaml.compose(match[1], Loader=yaml.SafeLoader) if match else None
        for key in path:
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            name, node = next(((name, value) for name, value in pairs if name.value == key), (None, None))
            if name and match:
                place = _place(self.place, self.file, match.start(1) + name.start_mark.index)
        return WarehouseError("WH201", message, place, hint)


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
