"""The performance indicator in a result, in long form, so that a new indicator needs no change here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from warehouse.landing.readers.json_text import Element, Json, is_lost_number, json_number, json_text
from warehouse.landing.readers.text import MAX_KEY_CHARACTERS, Report, clean, exact_number, landed_text
from warehouse.landing.rows import RowBuffer

_STDOUT = "stdout"
_SECTIONS = {"@parameters": "parameter", "@result": "result"}
_TYPES = {bool: "boolean", str: "string", int: "integer", dict: "json", list: "json", type(None): "null"}
DEPTH = 20  # objects nested deeper stay JSON text
_DEEPEST = 100  # of the values in a workload document, whose canonical form is made by recursion


@dataclass(frozen=True)
class Indicator:
    """What a run's row states of it; `parameters` is None unless there are some."""

    name: str | None
    component: str | None
    parameters: dict[str, Any] | None


@dataclass(frozen=True)
class Pair:
    """A value of a result: its kind, its key as it lands, and its place."""

    kind: str
    key: str
    element: Element


def pairs_of_output(elements: dict[str, Element], report: Report) -> list[Pair]:
    """The values of the indicator that a run printed: an object, or a string that states one, as older versions of Amun left it."""
    whole = elements.get(_STDOUT)
    if whole is not None:
        text = whole.value if isinstance(whole.value, str) else ""
        if not text.strip():
            return []
        if not text.lstrip().startswith("{"):
            report.at("no-indicator", "standard output is not a JSON object", whole)
            return []
        inner = _decoded(text, whole, report)
    else:
        start = f"{_STDOUT}/"
        inner = {key.removeprefix(start): element for key, element in elements.items() if key.startswith(start)}
    pairs = []
    for key, element in inner.items():
        section, _, rest = key.partition("/")
        if section in _SECTIONS and rest:
            pairs.append(Pair(_SECTIONS[section], rest, element))
        elif section in _SECTIONS and element.value is not None:
            report.at("indicator-section-not-an-object", f"{section} is not an object", element)
            pairs.append(Pair(_SECTIONS[section], section, element))
        else:
            pairs.append(Pair("score" if key == "overall_score" else "other", key, element))
    return pairs


def _decoded(text: str, whole: Element, report: Report) -> dict[str, Element]:
    """The values of an object that a string states, by their path, all at the place of the string."""
    decoder = Json()
    try:
        rest = [("", decoder.value(text))]
    except (ValueError, RecursionError) as error:
        report.at("no-indicator", f"standard output is not valid JSON: {str(error)[:120]}", whole)
        return {}
    if decoder.duplicates:
        report.at("duplicate-json-key", ", ".join(decoder.duplicates)[:120], whole)
    found = {}
    while rest:
        path, value = rest.pop()
        if isinstance(value, dict) and path.count("/") < DEPTH:
            rest += [(f"{path}{key}/", inner) for key, inner in reversed(value.items())]
        else:
            found[path[:-1]] = whole._replace(key=path[:-1], value=value)
    return found


def indicator_of(pairs: list[Pair], report: Report) -> Indicator | None:
    """Who printed the values, and with which parameters. Until thoth-storages 20 the component was the `framework`, and at first
    name and framework were parameters."""
    if not pairs:
        return None
    by_key = {(pair.kind, pair.key): pair.element for pair in pairs}

    def text(*places: tuple[str, str]) -> str | None:
        values = (by_key[place].value for place in places if place in by_key)
        return next((landed_text(clean(value)) for value in values if isinstance(value, str) and value), None)

    name = text(("other", "name"), ("parameter", "name"))
    component = text(("other", "component"), ("other", "framework"), ("parameter", "framework"))
    kinds = {pair.kind for pair in pairs}
    missing = [section for section, kind in _SECTIONS.items() if kind not in kinds] + ["name"] * (name is None)
    if missing:
        report.at("indicator-keys-missing", f"no {', '.join(missing)}", pairs[0].element)
    shared = sorted(key for kind, key in by_key if kind == "parameter" and ("result", key) in by_key)
    if shared:
        report.at("indicator-keys-overlap", f"@parameters and @result share {', '.join(shared)[:200]}", by_key["result", shared[0]])
    try:
        parameters = _nested(pair for pair in pairs if pair.kind == "parameter")
    except RecursionError:
        report.at("workload-not-canonical", "the parameters are nested too deep", pairs[0].element)
        parameters = {}
    return Indicator(name, component, parameters or None)


def add_values(
    buffer: RowBuffer, raw_path: str, run_id: str, indicator: Indicator | None, pairs: Iterable[Pair], report: Report
) -> None:
    """Add a row for each value. Of two keys that land under one name the first counts."""
    taken = set()
    for pair in pairs:
        value, key = pair.element.value, landed_key(pair.key)
        if (pair.kind, key) in taken:
            report.at("duplicate-key", f"{key[:120]}: another key has this name here; the first counts", pair.element)
            continue
        taken.add((pair.kind, key))
        number = None if isinstance(value, str) else json_number(value)
        if is_lost_number(value):
            report.at("non-finite-number", pair.key[:120], pair.element, "error")
        elif pair.kind == "result" and number is None and isinstance(value, str | dict | list):
            severity = "note" if isinstance(value, list) else "warning"  # lists of values, as pyperformance writes, stay JSON
            report.at("not-a-number", f"{pair.key[:80]}: {(json_text(value) or '')[:80]}", pair.element, severity)
        text = json_text(value)
        buffer.add(
            "thoth_indicator_entry", raw_path, pair.element.offset, pair.element.length, run_id=run_id,
            indicator_name=indicator.name if indicator else None, component=indicator.component if indicator else None,
            kind=pair.kind, key=key, value_type=_type(value),
            value_text=None if text is None else landed_text(clean(text)), value_number=number,
        )


def landed_key(key: str) -> str:
    """A key as its row has it."""
    return clean(key).replace("/", "__")[:MAX_KEY_CHARACTERS]


def _type(value: Any) -> str:
    return _TYPES.get(type(value), "float")


def _nested(pairs: Iterable[Pair]) -> dict[str, Any]:
    """Parameters as the script wrote them, as a workload document states them: the same as of a recording."""
    found: dict[str, Any] = {}
    for pair in pairs:
        *outer, key = clean(pair.key).split("/")
        place = found
        for name in outer:
            inner = place.setdefault(name, {})
            place = inner if isinstance(inner, dict) else {}
        place[key] = _plain(pair.element.value)
    return found


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_plain(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {clean(key): _plain(each, depth + 1) for key, each in value.items()}
    number = json_number(value)
    return None if number is None else exact_number(number)
