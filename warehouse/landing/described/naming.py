"""The names of the runs of one file: what the evidence states, else a digest of what the records of the run say.

A digest is of values, not of bytes: a record has one name in every layout, in every file that repeats it, and in a file that grew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.landing.described.description import Layout
from warehouse.landing.described.expressions import Expression, Path, Scope, elements, number_of
from warehouse.landing.described.nodes import Node, Number
from warehouse.landing.readers.text import Data, Report, clean, loss_of


class Names:
    """Names the runs of a file in their order. Of equal records the second is another run, `/2`.

    `text` is a file of lines. What a program prints is often rounded and without a time, so two executions may print equal lines: the name
    is also of all that the file states up to the record, which stays the same in a file that grows.
    """

    def __init__(self, family: str, layout: Layout, text: Data | None) -> None:
        self._family, self._text = family, text
        self._outside = list(_outside(layout))
        self._read, self._stop = sha256(), 0
        self._seen: dict[str, int] = {}
        self.count = 0

    def __call__(self, stated: str | None, scopes: list[Scope], report: Report) -> str:
        self.count += 1
        name = f"{self._family}/{clean(stated)[:200] if stated else self._digest(scopes)}"
        self._seen[name] = self._seen.get(name, 0) + 1
        if self._seen[name] == 1:
            return name
        if stated:
            report.at("duplicate-run", f"{name} is stated {self._seen[name]} times", scopes[0].node, "warning")
        return f"{name}/{self._seen[name]}"

    def _digest(self, scopes: list[Scope]) -> str:
        first = scopes[0]
        said: list[Any] = [[_plain(scope.node) for scope in scopes]]
        for each, path in self._outside:
            scope = first if each is None else next(each.scopes(first), None)
            said.append([_plain(node) for node in path.nodes(scope)] if scope else None)
        if self._text is not None:
            said.append(self._before(first.node.stop))
        return bytes_digest(json.dumps(said, sort_keys=True, separators=(",", ":")).encode())[:16]

    def _before(self, stop: int) -> str:
        """A digest of the words of a text up to a byte."""
        assert self._text is not None
        if stop < self._stop:  # the records of another path begin
            self._read, self._stop = sha256(), 0
        for word in bytes(self._text[self._stop : stop]).split():
            self._read.update(word + b" ")
        self._stop = stop
        return self._read.hexdigest()


def _outside(layout: Layout) -> Iterator[tuple[Path | None, Path]]:
    """The paths of a description that lead out of the record, or read the key that it was found by; of a metric that has one with its `each`."""
    named = (layout.workload, layout.software, layout.hardware, layout.source, layout.texts)
    of_run = [
        *layout.group, *(each for some in named for each in some.values()), *(moment.value for moment in layout.moments.values()),
        layout.duration_s, layout.reason, *(condition for _, condition in layout.failed_if), layout.serving_point,
        *(each for _, each in layout.parameters),
    ]
    for path in _leading_out(of_run):
        yield None, path
    for metric in layout.metrics:
        for path in _leading_out((metric.each, metric.name, metric.value, metric.stated_in, metric.unit_from, metric.when)):
            yield None if path is metric.each else metric.each, path


def _leading_out(read: Iterable[Expression | Path | None]) -> Iterator[Path]:
    paths = (path for each in read if each for path in ((each,) if isinstance(each, Path) else each.paths))
    return (path for path in paths if path.start or ("key", "@key") in path.steps)


def _plain(node: Node) -> Any:
    """A value as JSON, without its place and its layout."""
    value = node.value
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if (several := elements(node)) is not None:
        return [_plain(each) for each in several]
    if isinstance(value, Number) and (number := number_of(value)) is not None and loss_of(value) is None:
        return number
    return value
