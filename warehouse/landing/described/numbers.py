"""Numbers as a described file states them, in the unit that is asked for. What cannot be used is reported, and missing."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from warehouse.landing.described import units
from warehouse.landing.described.expressions import Expression, Scope
from warehouse.landing.described.forms.nodes import Measured, Node, Number
from warehouse.landing.described.forms.values import number_of, text_of
from warehouse.landing.described.layout import Metric
from warehouse.landing.readers.entries import is_count
from warehouse.landing.readers.records import ABSENT
from warehouse.landing.readers.text import Report, is_non_finite, kept_number

_NO_NUMBER = ABSENT - {"nan"}
_WITH_COMMA = re.compile(r"[+-]?[\d.]*,[\d.,]*", re.ASCII)
_EXACT = 2**53
_ONE = Fraction(1)


def number(node: Node, key: str, by: Fraction, report: Report) -> float | None:
    """The number that a value is, times `by`."""
    value = node.value
    if _is_absent(value):
        return None
    if isinstance(value, float):
        return value * float(by) if math.isfinite(value) else None
    found = number_of(value)
    if found is not None and by != 1 and isinstance(value, str):
        found = units.converted(value, by)
    if found is None or not math.isfinite(found):
        text = text_of(value) or _shape(value)
        why = ": decimal or thousands says what a comma is" if _WITH_COMMA.fullmatch(text) else ""
        report.at("non-finite-number" if is_non_finite(text) else "not-a-number", f"{key[:80]}: {text[:100]}{why}"[:200], node, "error")
        return None
    if by is _ONE and 0 < abs(found) < _EXACT:  # as most are: nothing is lost
        return found
    return kept_number(found, value, key, node, report) if isinstance(value, str) else found


def _is_absent(value: Any) -> bool:
    return value is None or isinstance(value, str) and not isinstance(value, Number) and value.strip().casefold() in _NO_NUMBER


def _shape(value: Any) -> str:
    of_text = isinstance(value, dict) and "#text" in value
    return 'an element, whose text is NAME[]."#text"' if of_text else "a list or an object"


def why_missing(each: Expression, scope: Scope) -> str:
    """Why a text with values in it has none for one of them."""
    for path in each.paths:
        found = next((node.value for node in path.nodes(scope)), None)
        if isinstance(found, (dict, list)):
            first = found[0].value if isinstance(found, list) and found else found
            return f"{path.text} is {_shape(first)}"
    return "a part of it is not stated"


def count(each: Expression, scope: Scope, report: Report) -> int | None:
    """The whole number of 0 or more that an expression is."""
    node = each.one(scope)
    if node is None or node.value is None:
        return None
    found = number_of(node.value)
    if found is None or not is_count(found):
        report.at("impossible-count", f"{each.text}: {text_of(node.value)}"[:200], node, "error")
        return None
    return int(found)


def factor(metric: Metric, scope: Scope, place: Node, report: Report) -> Fraction | None:
    """By what a metric's numbers are multiplied; None, and an issue, where the unit that is stated is not known."""
    if metric.stated_in is None:
        return _own(metric, place, report)
    return _factor(metric, ", ".join(dict.fromkeys(stated_units(metric, scope))), place, report)


def factors(metric: Metric, scope: Scope, nodes: list[Node], report: Report) -> list[Fraction | None]:
    """By what each of several values is multiplied: by its own unit, where as many are stated."""
    if metric.stated_in is None:
        return [_own(metric, node, report) for node in nodes]
    stated = stated_units(metric, scope) if len(nodes) > 1 else []
    if len(stated) == len(nodes):
        return [_factor(metric, unit, node, report) for unit, node in zip(stated, nodes, strict=True)]
    by = factor(metric, scope, nodes[0], report)
    return [by] * len(nodes)


def stated_units(metric: Metric, scope: Scope) -> list[str]:
    return [text_of(node.value) or "" for node in metric.stated_in.of(scope)] if metric.stated_in is not None else []


def _own(metric: Metric, node: Node, report: Report) -> Fraction | None:
    """By what a number is multiplied of which the description does not say where its unit is stated: one cut from a text may state another one."""
    stated = node.value.unit if type(node.value) is Measured else ""
    if stated not in units.SAME and stated not in units.UNITS or units.factor(stated, metric.unit) == 1:
        return _ONE
    report.at("unknown-unit", f"{metric.name.text}: {stated}, which stated_in does not read"[:200], node, "error")
    return None


def _factor(metric: Metric, stated: str, place: Node, report: Report) -> Fraction | None:
    by = units.factor(stated, metric.unit)
    if by is None and _is_absent(place.value):  # NA has no unit, and needs none
        return _ONE
    if by is None:
        report.at("unknown-unit", f"{metric.name.text}: {stated or 'no unit is stated'}"[:200], place, "error")
    return by
