"""The functions of expressions: each makes values of the values of its arguments. A text that is cut keeps its bytes, where they are its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from statistics import fmean, median
from typing import Any

from warehouse.landing.described.forms.nodes import Measured, NoNumber
from warehouse.landing.described.forms.values import Values, flat, number_of, text_of

_MEASURE = re.compile(
    r"\s*(?P<number>[+-]?(?:\d(?:[\d.,]*\d)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"(?!\s*[-:/–]\s*\d|[A-Za-zµμ]+\d)\s*(?P<unit>[^\d\s.,].*?)?\s*", re.ASCII,  # 1-5, 12:30, 1m30s and 0x1F are no such text
)


def _statistic(rule: Callable[[list[float]], float]) -> Callable[[list[Values]], Values]:
    def of(arguments: list[Values]) -> Values:
        nodes = [each for argument in arguments for each in flat(argument)]
        numbers = [number for node in nodes if (number := number_of(node.value)) is not None]
        return [nodes[0]._replace(value=rule(numbers), stop=nodes[-1].stop)] if numbers and len(numbers) == len(nodes) else []

    return of


def _texts(rule: Callable[..., str | None]) -> Callable[[list[Values]], Values]:
    def of(arguments: list[Values]) -> Values:
        texts = [text_of(argument[0].value) if argument else None for argument in arguments]
        found = None if None in texts else rule(*texts)
        if found is None:
            return []
        first = arguments[0][0]
        return [first._replace(value=NoNumber(found) if type(first.value) is NoNumber else found)]

    return of


def _cut(text: str, mark: str = "", *_: str) -> tuple[str, str]:
    before, found, after = text.partition(mark) if mark else (text, "", "")
    return (before, after) if found else (text, "")


def _shortened(found: Values, arguments: list[Values]) -> Values:
    """A text that begins another has the first of its bytes, where those are the text itself."""
    if not found or not isinstance(text := arguments[0][0].value, str) or len(text.encode()) != found[0].length:
        return found
    return [found[0]._replace(stop=found[0].start + len(found[0].value.encode()))]


def _measure(of_number: bool) -> Callable[[list[Values]], Values]:
    """The numbers, or the units, of texts such as `1.5ms`. A text without a number stays as it is, and is reported as no number."""

    def of(arguments: list[Values]) -> Values:
        found = [(node, _measured(node.value)) for node in flat(arguments[0])]
        if of_number:
            return [node._replace(value=Measured(matched["number"], matched["unit"] or "")) if matched else node for node, matched in found]
        return [node._replace(value=(matched["unit"] or "") if matched else "") for node, matched in found]

    return of


def _measured(value: Any) -> re.Match[str] | None:
    return None if type(value) is NoNumber else _MEASURE.fullmatch(text_of(value) or "")


def _split(arguments: list[Values]) -> Values:
    """The parts of texts between a mark, each with its bytes where those are the text itself."""
    found: Values = []
    mark = (text_of(arguments[1][0].value) or "") if len(arguments) > 1 and arguments[1] else ""
    for node in flat(arguments[0]) if mark else ():
        text, position = text_of(node.value) or "", 0
        is_itself = len(text.encode()) == node.length
        for part in text.split(mark):
            start = node.start + position + len(part.encode()) - len(part.lstrip().encode())
            kept = part.strip()
            place = node._replace(start=start, stop=start + len(kept.encode())) if is_itself else node
            found += [place._replace(value=kept)] if kept else []
            position += len(part.encode()) + len(mark.encode())
    return found


def _first_of(arguments: list[Values]) -> Values:
    return next((found for found in arguments if found and any(node.value is not None and node.value != "" for node in found)), [])


FUNCTIONS: dict[str, Callable[[list[Values]], Values]] = {
    "mean": _statistic(fmean), "median": _statistic(median), "min": _statistic(min), "max": _statistic(max), "sum": _statistic(sum),
    "count": lambda arguments: [arguments[0][0]._replace(value=float(len(arguments[0])))] if arguments[0] else [],
    "first": _first_of, "split": _split, "number": _measure(of_number=True), "unit": _measure(of_number=False),
    "before": lambda arguments: _shortened(_texts(lambda text, mark="", *_: _cut(text, mark)[0].rstrip())(arguments), arguments),
    "after": _texts(lambda text, mark="", *_: _cut(text, mark)[1] or None),
    "lower": _texts(lambda text, *_: text.lower()),
    "plain": _texts(lambda text, *_: re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or None),
    "trim": _texts(lambda text, *_: text.strip()),
    "begins": lambda arguments: _texts(lambda text, mark="", *_: "true" if text.startswith(mark) else None)(arguments),
    "ends": lambda arguments: _texts(lambda text, mark="", *_: "true" if text.endswith(mark) else None)(arguments),
    "contains": lambda arguments: _texts(lambda text, mark="", *_: "true" if mark in text else None)(arguments),
}
