"""The header of a model's file: a leading comment in YAML, whose every fault is reported at its line and column.

Knows how a header is written, not what its keys mean; that is the model's business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.sql.text import fault_at, first_token, line_and_column

if TYPE_CHECKING:
    import yaml

PathPart = str | int  # a key of a mapping, or the number of a list's item, from 0
_HEADER = re.compile(r"\s*/\*(.*?)\*/", re.DOTALL)

_TEXT_TAG = "tag:yaml.org,2002:str"
_NOT_TEXT = ""  # in a path: the first key that YAML does not read as text


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
            hint = "write one text" if isinstance(value, list | dict) else "put it in quotes"
            raise self.fault(f"{path[-1]} is text, not {value!r}", *path, hint=hint)
        return value

    def names(self, *path: PathPart) -> Sequence[str]:
        value = self.value(*path)
        if value is not None and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
            example = value if isinstance(value, str) else "run_id"
            raise self.fault(f"{path[-1]} is a list of names", *path, hint=f"write it like this: {path[-1]}: [{example}]")
        return value or ()

    def mapping(self, *path: PathPart, known: Collection[str] = ()) -> Mapping[str, Any]:
        """A mapping whose keys are text and, where `known` names any, among those."""
        value = self.value(*path)
        if value is not None and not isinstance(value, dict):
            raise self.fault(f"{path[-1]} is a mapping, not {value!r}", *path, hint=f"write it like this: {path[-1]}: {{key: value}}")
        for key in value or ():
            if not isinstance(key, str):
                hint = "YAML reads yes, no, on and off as booleans, and digits as numbers: put it in quotes"
                raise self.fault(f"{key!r} is no name", *path, _NOT_TEXT, hint=hint)
            if known and key not in known:
                raise self.unknown_key(key, *path, known=known)
        return value or {}

    def unknown_key(self, key: object, *path: PathPart, known: Collection[str]) -> WarehouseError:
        hint = did_you_mean(str(key), known) or f"known: {', '.join(sorted(known))}"
        return self.fault(f"unknown key {key!r} in the header", *path, str(key), hint=hint)

    def fault(self, message: str, *path: PathPart, hint: str | None = None, code: str = "WH201") -> WarehouseError:
        """An error at the last part of `path` that the header has: the key of a mapping or the item of a list. At the
        header's start when it has none of them, at the statement's when there is no header."""
        return fault_at(code, message, self.file, self.place, _offset_of(self.file, path), hint)


def place_of(file: str, place: str, path: Sequence[PathPart]) -> str:
    """`place` with the line and column of the last part of `path` that the header at the top of `file` has."""
    line, column = line_and_column(file, _offset_of(file, path))
    return f"{place}:{line}:{column}"


def text_offset(file: str, path: Sequence[PathPart]) -> int | None:
    """Where in `file` the text that `path` leads to begins; None when the file does not hold it character by character,
    as when it is folded or has escapes."""
    node = None
    for _, node in _steps(file, path):  # noqa: B007  # the last
        pass
    if node is None or not isinstance(node.value, str):
        return None
    start = file.find(node.value, _header_start(file) + node.start_mark.index)
    return start if 0 <= start <= _header_start(file) + node.end_mark.index - len(node.value) else None


def _offset_of(file: str, path: Sequence[PathPart]) -> int:
    match = _HEADER.match(file)
    offset = match[0].index("/*") if match else first_token(file)
    for offset, _ in _steps(file, path):  # noqa: B007  # the last
        pass
    return offset


def _steps(file: str, path: Sequence[PathPart]) -> Iterator[tuple[int, yaml.Node | None]]:
    """For each part of `path` that the header has: the offset of its key, or of the item of a list, and its value."""
    import yaml

    match = _HEADER.match(file)
    # The loader in Python: its places are in characters.
    node = yaml.compose(match[1], Loader=yaml.SafeLoader) if match else None
    for part in path:
        name, node = _child(node, part)
        if name is None:
            return
        yield _header_start(file) + name.start_mark.index, node


def _child(node: Any, part: PathPart) -> tuple[Any, Any]:
    """The node that names `part` in a mapping or a list, and the node of its value; None where there is none."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        named = (
            pair for pair in node.value if pair[0].value == part or (part == _NOT_TEXT and pair[0].tag != _TEXT_TAG)
        )
        return next(named, (None, None))
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return (node.value[part], node.value[part]) if part < len(node.value) else (None, None)
    for item in node.value if isinstance(node, yaml.SequenceNode) else ():
        if isinstance(item, yaml.ScalarNode) and item.value == part:
            return item, None
        if isinstance(item, yaml.MappingNode) and (found := _child(item, part))[0]:
            return found
    return None, None


def _header_start(file: str) -> int:
    match = _HEADER.match(file)
    return match.start(1) if match else 0


@lru_cache(maxsize=2048)
def read_header(file: str, place: str) -> Header:
    """The header at the top of a model's file; empty where there is none, or only an ordinary comment. Raises WH201 for
    what is not YAML."""
    match = _HEADER.match(file)
    if not match:
        return Header({}, file, place)
    import yaml  # 50 ms that a build with nothing to do need not pay

    try:
        values = yaml.load(match[1], Loader=_strict("CSafeLoader"))
    except (yaml.YAMLError, RecursionError):
        raise _not_yaml(match, file, place) from None
    return Header(values if isinstance(values, dict) else {}, file, place)


@cache
def _strict(name: str) -> Any:
    """A loader of plain values that takes no key twice: YAML's own would keep the last and say nothing."""
    import yaml

    loader: Any = getattr(yaml, name, yaml.SafeLoader)  # the C loader is not everywhere

    class Strict(loader):  # type: ignore[misc]  # which of them is known only here
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in keys:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key.value} is given twice", key.start_mark
                        )
                    keys.add(key.value)
            return super().construct_mapping(node, deep)

    return Strict


def _unclosed(text: str, error: Any) -> int | None:
    """Where the bracket or the quote is that a header which ends too early leaves open."""
    begun = error.context_mark.index if error.context_mark else len(text)
    if text[begun : begun + 1] in ("[", "{", "'", '"'):
        return int(begun)
    return max((index for index in (text.rfind("["), text.rfind("{")) if index >= 0), default=None)


def _not_yaml(match: re.Match[str], file: str, place: str) -> WarehouseError:
    """What is wrong with a header. The loader in Python is asked: its places are in characters, its words clearer."""
    import yaml

    hint, index = "keys of one level begin in the same column; put text with any of : # , [ ] { } in quotes", 0
    try:
        yaml.load(match[1], Loader=_strict("SafeLoader"))
        message = "it cannot be read"
    except yaml.MarkedYAMLError as error:
        message = str(error.problem)
        index = error.problem_mark.index if error.problem_mark else 0
        if "<stream end>" in message and (opened := _unclosed(match[1], error)) is not None:
            where = match.start(1) + opened
            return fault_at("WH201", "the header is not YAML: this is not closed", file, place, where, "close it")
        if message.endswith("given twice"):
            return fault_at("WH201", message, file, place, match.start(1) + index, "keep one of them")
    except yaml.reader.ReaderError as error:
        message, index = f"the character {chr(error.character)!r} is not allowed", error.position
        hint = "remove the character"
    except RecursionError:
        message, hint = "it is nested too deeply", "a header has at most four levels"
    return fault_at("WH201", f"the header is not YAML: {message}", file, place, match.start(1) + index, hint)
