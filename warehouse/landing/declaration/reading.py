"""A declaration's file as a typed document with the line of every part: YAML as `yaml.safe_load` types it, but a date is
text, and what would make two readings of one file possible (a key stated twice, an alias, a second document) is a fault."""

from __future__ import annotations

from typing import Any

import yaml

from warehouse.landing.declaration.part import Faults, Part
from warehouse.landing.readers.text import clean
from warehouse.landing.readers.yaml_text import Node, yaml_tree

MAX_BYTES = 1 << 20  # declarations are written by hand: the longest of the templates has 6 kB
_TYPED = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}
# What the rest of a document can be judged beside; of one that cannot be read, the rest says nothing.
_AMBIGUOUS = {"duplicate-yaml-key": "a key is stated twice", "yaml-alias": "an alias is not followed"}


def read(data: bytes) -> Part:
    """The document in a file; its faults so far are reported. The value is None if the file cannot be read."""
    lines: dict[str, int] = {}
    faults = Faults(lines)
    unreadable: list[str] = []

    def report(code: str, message: str, offset: int, length: int, line_number: int | None, severity: str = "warning") -> None:
        lines["document"] = line_number or 1
        faults.tell("document", f"{_AMBIGUOUS.get(code, 'not readable as YAML')}: {message}")
        unreadable.extend([code] if code not in _AMBIGUOUS else [])

    nodes: list[Node] = []
    if len(data) > MAX_BYTES:
        faults.tell("document", f"{len(data)} bytes: a declaration has no more than {MAX_BYTES}")
    else:
        loader = yaml.SafeLoader("")
        nodes = yaml_tree(data, report, lambda event: _typed(loader, event))
    lines.pop("document", None)
    if len(nodes) > 1:
        faults.tell("document", "expected one YAML document")
    if unreadable or len(nodes) != 1:
        return Part(None, "", faults)
    _locate(nodes[0], lines)
    return Part(nodes[0].value, "", faults)


def _typed(loader: yaml.SafeLoader, event: yaml.ScalarEvent) -> Any:
    """A scalar's value: null, a boolean, a number or text."""
    tag = event.tag if event.tag not in (None, "!") else loader.resolve(yaml.ScalarNode, event.value, event.implicit)
    if tag in _TYPED:
        try:
            return loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark))
        except (ValueError, LookupError, ArithmeticError, yaml.YAMLError):  # `!!int many`, `!!float ""`, digits without end
            pass
    return clean(event.value)


def _locate(document: Node, lines: dict[str, int]) -> None:
    """Write down the line of every part."""
    pending = [("", document)]
    while pending:
        path, node = pending.pop()
        lines[path] = node.line + 1
        pending += [(f"{path}.{key}" if path else key, child) for key, child in node.pairs]
        pending += [(f"{path}[{index}]", child) for index, child in enumerate(node.items)]
