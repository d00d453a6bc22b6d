"""YAML from strangers, for ingestors: every pair with the exact bytes that state it, and plain documents.

Parsed by events, not by recursion: depth costs no stack. An alias is reported and has no value, so that a document cannot
unfold without end. Scalars are text, as written, unless the caller of `yaml_tree` asks otherwise; null is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from warehouse.landing.readers.json_text import Element
from warehouse.landing.readers.text import Report, clean

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 500  # libyaml takes a time quadratic in the depth of brackets
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass
class Node:
    """A value, the characters it spans, its line from 0, and what it holds: a mapping's pairs, each value beginning at its
    key, a sequence's items."""

    value: Any
    start: int
    stop: int
    line: int
    pairs: list[tuple[str, "Node"]] = field(default_factory=list)
    items: list["Node"] = field(default_factory=list)


def _as_written(event: yaml.ScalarEvent) -> str | None:
    return None if event.implicit[0] and event.value in _NULLS else clean(event.value)


def yaml_tree(data: bytes, report: Callable[..., None], scalar: Callable[[yaml.ScalarEvent], Any] = _as_written) -> list[Node]:
    """The file's documents as nodes; `scalar` gives each scalar its value, `report` is called as a `Report` is. What stands
    before a break is given."""
    return _Reader(data, report, scalar).documents()


def yaml_documents(data: bytes, report: Report) -> list[Any]:
    """The file's documents as plain values: dicts, lists, strings, None. What comes before a break is returned."""
    return [node.value for node in _Reader(data, report).documents()]


def yaml_pairs(data: bytes, report: Report, *, depth: int = 1) -> Iterator[Element]:
    """The pairs of the mapping that the first document is. A mapping within it is a value, or, down to `depth` levels, walked
    too: its keys are named by their path, `a/b`. Sequences are values. As `json_text.json_pairs`."""
    reader = _Reader(data, report)
    nodes = reader.documents()
    if not nodes:
        return
    walked = [("", iter(nodes[0].pairs))]
    while walked:
        path, pairs = walked[-1]
        for key, node in pairs:
            if len(walked) < depth and isinstance(node.value, dict) and node.value:
                walked.append((f"{path}{key}/", iter(node.pairs)))
                break
            offset = reader.offset(node.start)
            yield Element(offset, reader.offset(node.stop) - offset, node.line + 1, path + key, node.value)
        else:
            walked.pop()


class _Reader:
    def __init__(self, data: bytes, report: Callable[..., None], scalar: Callable[[yaml.ScalarEvent], Any] = _as_written) -> None:
        self._report, self._scalar = report, scalar
        try:
            self._text, self._encoding = data.decode(), "utf-8"
        except UnicodeDecodeError as error:
            line_number = data.count(b"\n", 0, error.start) + 1
            report("invalid-utf8", f"{error.reason} at byte {error.start}", error.start, 1, line_number)
            # One character a byte: what is around the damage keeps its place.
            self._text, self._encoding = data.decode("latin-1"), "latin-1"

    def offset(self, character: int) -> int:
        return len(self._text[:character].encode(self._encoding))

    def documents(self) -> list[Node]:
        found: list[Node] = []
        open_nodes: list[tuple[Node, list[Node]]] = []  # a collection under way and its children
        try:
            for event in yaml.parse(self._text, Loader=_Loader):
                if len(open_nodes) > _MAX_DEPTH:
                    raise yaml.MarkedYAMLError(problem=f"more than {_MAX_DEPTH} levels", problem_mark=event.start_mark)
                node = self._finished(event, open_nodes)
                if node is None:
                    continue
                if open_nodes:
                    open_nodes[-1][1].append(node)
                else:
                    found.append(node)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            place, line = (self.offset(mark.index), mark.line + 1) if mark else (0, None)
            problem = getattr(error, "problem", None) or str(error)
            self._report("malformed-yaml", clean(str(problem))[:200], place, 0, line, "error")
            found += [self._cut_short(open_nodes)] if open_nodes else []
        return found

    def _finished(self, event: Any, open_nodes: list[tuple[Node, list[Node]]]) -> Node | None:
        """The node that an event completes."""
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            start = event.start_mark
            open_nodes.append((Node({} if is_mapping else [], start.index, start.index, start.line), []))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            # A block has no closing mark: it ends with its last child.
            mark, end = event.start_mark, event.end_mark
            return self._closed(*open_nodes.pop(), stop=end.index if end.index > mark.index else 0)
        elif isinstance(event, yaml.AliasEvent):
            mark = event.start_mark
            self._report("yaml-alias", clean(event.anchor)[:80], self.offset(mark.index), 0, mark.line + 1)
            return Node(None, mark.index, event.end_mark.index, mark.line)
        elif isinstance(event, yaml.ScalarEvent):
            return Node(self._scalar(event), event.start_mark.index, event.end_mark.index, event.start_mark.line)
        return None

    def _closed(self, node: Node, children: list[Node], stop: int = 0) -> Node:
        node.stop = max(node.start, stop, *(child.stop for child in children))
        if isinstance(node.value, list):
            node.items = children
            node.value += [child.value for child in children]
            return node
        for key, value in zip(children[::2], children[1::2], strict=False):
            name = key.value if isinstance(key.value, str) else str(key.value)[:80]
            value = Node(value.value, key.start, max(value.stop, key.stop), key.line, value.pairs, value.items)
            if name in node.value:
                offset = self.offset(key.start)
                self._report("duplicate-yaml-key", name[:120], offset, self.offset(value.stop) - offset, key.line + 1)
            node.value[name] = value.value
            node.pairs.append((name, value))
        return node

    def _cut_short(self, open_nodes: list[tuple[Node, list[Node]]]) -> Node:
        """The document that broke, as far as it came."""
        node = self._closed(*open_nodes.pop())
        while open_nodes:
            open_nodes[-1][1].append(node)
            node = self._closed(*open_nodes.pop())
        return node
