"""A guess at the description of a text: lines such as `Requests/sec: 12.5`, other lines with numbers by their form, and the rest as comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warehouse.errors import printable
from warehouse.landing.described.units import factor, suffix_unit, unit_of
from warehouse.starting.guess import BY_HAND, MOST_REQUIRED, Guess, better_of, fault, label_unit, toml, without_unit

_MOST_KEYS, _MOST_FORMS, _MOST_COMMENTS = 40, 12, 20
_MOST_TOKENS = 30
_RESERVED = ("and", "or", "not", "in", "is", "true", "false")
_KEY = r"\s*(?P<key>[A-Za-z][\w /().%-]{0,60}?)(?P<mark>\s*[:=]\s*)"
_KEY_TEXT = re.compile(_KEY + r"(?P<text>\S.*?)\s*")
_WITH_COMMA = re.compile(r"(?<![\w.,])(?:\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:\.\d{3})+,\d+)(?![\d.,])")
_WITH_POINT = re.compile(r"(?<![\w.,])(?:\d+\.(?:\d{1,2}|\d{4,})|\d{1,3}(?:,\d{3})+\.\d+)(?![\d.,])")
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_CELLS = re.compile(r"[^,;\t]*(?:([,;\t])[^,;\t]*)(?:\1[^,;\t]*)+")


@dataclass(frozen=True)
class _Token:
    """A word of a line; one with a number has what is around the number, `(min=1.5ms,`."""

    text: str
    before: str = ""
    unit: str = ""
    after: str = ""
    is_number: bool = False

    @property
    def kind(self) -> tuple[object, ...]:
        return (True, self.before, self.after, bool(self.unit)) if self.is_number else (False,)


@dataclass
class _Value:
    """A number of a form: its field, and its unit or the field that states it."""

    field: str
    unit: str | None = None
    unit_field: str | None = None
    is_named: bool = True


@dataclass
class _Form:
    """Lines that differ in their numbers and some words alone."""

    lines: list[list[_Token]]
    samples: set[int]
    name: str = ""
    pattern: str = ""
    values: list[_Value] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def takes(self, line: list[_Token]) -> bool:
        words = [(one.text, other.text) for one, other in zip(self.lines[0], line, strict=True) if not one.is_number]
        return not words or 2 * sum(one == other for one, other in words) >= len(words) and (len(words) > 1 or words[0][0] == words[0][1])


def text_of_lines(name: str, suffixes: list[str], samples: Sequence[Sequence[str]], place: Path) -> Guess:
    """The description. Raises WH007 where no line has a number."""
    together = "\n".join(line for sample in samples for line in sample)
    is_with_comma = bool(_WITH_COMMA.search(together)) and not _WITH_POINT.search(together)
    number = r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?" if is_with_comma else r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
    keys, forms, texts = _sorted_lines(samples, number)
    for form in forms:
        _finish(form, _unused({*keys, *_RESERVED, *(each.name for each in forms)}))
    active = sorted(forms, key=lambda form: -len(form.lines))[:_MOST_FORMS]
    kept = dict(list(keys.items())[:_MOST_KEYS])
    if not kept and not active:
        is_table = sum(bool(_CELLS.fullmatch(line)) for line in samples[0]) * 2 > len(samples[0])
        if is_table:
            hint = f'write ingest/{name}/format.toml by hand, with form = "csv" and [csv] columns: {BY_HAND}'
            raise fault("it is a table without a header", place, hint)
        raise fault("it is not JSON or CSV, and no line of it has a number", place, f"write ingest/{name}/format.toml by hand: {BY_HAND}")
    seen_in = {key: seen for key, (_, _, seen) in kept.items()} | {form.name: form.samples for form in active}
    everywhere = [each for each, seen in seen_in.items() if len(seen) == len(samples)]
    required = everywhere or [*seen_in]
    grouped = ['thousands = ","  # guess: 1,500 is 1500'] if _GROUPED.search(together) else []
    written = ['decimal = ","  # guess: 1.234,5 is 1234.5'] if is_with_comma else grouped
    others = {form.name: form.pattern for form in forms if form not in active} | texts
    unread = [f"{key} = {toml(text)}" for key, text in others.items()]
    lines = [
        "[format]", f"name = {toml(name)}", f'about = "What {name} prints"', f"files = {toml(suffixes)}", 'form = "text"',
        f"requires = {toml([f'{each}[]' for each in required[:MOST_REQUIRED]])}", "", *(["[text]", *written, ""] if written else []), "[lines]",
        *(f"{key} = {toml(text)}" for key, (text, _, _) in kept.items()), *(f"{form.name} = {toml(form.pattern)}" for form in active),
        *(["# Other lines, for parameters and the like:", *(f"# {printable(each)}" for each in unread[:_MOST_COMMENTS])] if unread else []), "",
        "[run]", "# guess: what is measured. A file is one run, unless `each` is a form of line, such as", *_each_example(active, kept),
        f"case = {toml(name)}",
    ]
    doubtful = []
    for key, (_, unit, _) in kept.items():
        lines += _metric(key, f"{key}[].value", unit)
        doubtful += [] if unit else [key]
    if active:
        lines += ["", "# guess: each number of these lines is a result. Delete what is not."]
    for form in active:
        for value in form.values:
            if value.is_named or value.unit:
                lines += _metric_of_form(form, value)
                doubtful += [] if value.unit else [f"{form.name}[].{value.field}"]
    return Guess("\n".join(lines) + "\n", without_unit(doubtful))


def _each_example(active: Sequence[_Form], kept: dict[str, tuple[str, str | None, set[int]]]) -> list[str]:
    name = active[0].name if active else next(iter(kept))
    return [f'# each = "{name}[]"']


def _sorted_lines(
    samples: Sequence[Sequence[str]], number: str
) -> tuple[dict[str, tuple[str, str | None, set[int]]], list[_Form], dict[str, str]]:
    """The lines that are `key: number`, by key: their pattern, unit, and the samples that have it. Other lines with numbers by form. Patterns of
    lines `key: text`."""
    key_number = re.compile(_KEY + rf"(?!0[xX])(?P<number>{number})(?![\d.,:^x-])(?P<rest>\s*[^\d\s]\S*)?\s*")
    token = re.compile(
        rf"(?P<before>[(\[<]*(?:[A-Za-z_][\w.-]*[=:])?)(?P<number>{number})(?P<unit>[A-Za-zµμ%][A-Za-zµμ%/]*)?(?P<after>[,;:)\]>]*)"
    )
    keys: dict[str, tuple[str, str | None, set[int]]] = {}
    by_kind: dict[tuple[object, ...], list[_Form]] = {}
    texts: dict[str, str] = {}
    for place, line in ((place, line) for place, sample in enumerate(samples) for line in sample if not {"{", "}"} & set(line)):
        if found := key_number.fullmatch(line):
            rest = (found["rest"] or "").strip()
            unit = unit_of(rest) if rest else label_unit(found["key"])
            apart = " " if rest and (found["rest"] or "")[0].isspace() else ""
            text = f"{found['key']}{_blank(found['mark'])}{{value:number}}{apart}{rest}"
            keys.setdefault(_name(found["key"]), (text, unit, set()))[2].add(place)
            continue
        tokens = [_token(word, token) for word in line.split()]
        if any(each.is_number for each in tokens) and len(tokens) <= _MOST_TOKENS:
            alike = by_kind.setdefault(tuple(each.kind for each in tokens), [])
            form = next((form for form in alike if form.takes(tokens)), None)
            if form is None:
                alike.append(form := _Form([], set()))
            form.lines.append(tokens)
            form.samples.add(place)
        elif found := _KEY_TEXT.fullmatch(line):
            texts.setdefault(_name(found["key"]), f"{found['key']}{_blank(found['mark'])}{{value}}")
    return keys, [form for alike in by_kind.values() for form in alike], {key: text for key, text in texts.items() if key not in keys}


def _token(word: str, pattern: re.Pattern[str]) -> _Token:
    found = pattern.fullmatch(word)
    is_number = found is not None and (not found["unit"] or unit_of(found["unit"]) is not None)  # 2xx and 1st are words
    return _Token(word, found["before"], found["unit"] or "", found["after"], True) if found and is_number else _Token(word)


def _finish(form: _Form, unused: Callable[[str], str]) -> None:
    """Name a form and its fields, and write its pattern."""
    columns = [list(column) for column in zip(*form.lines, strict=True)]
    are_paths = [any(each.text[:1] == "/" and len(each.text) > 1 for each in column) for column in columns]  # of one machine
    is_fixed = [
        not column[0].is_number and not is_path and len({each.text for each in column}) == 1
        for column, is_path in zip(columns, are_paths, strict=True)
    ]
    taken = {*_RESERVED}
    parts = []
    for place, column in enumerate(columns):
        first = column[0]
        if is_fixed[place]:
            parts.append(first.text)
            continue
        label = first.before or next((each[0].text for each in columns[place - 1 : place] if is_fixed[place - 1]), "")
        if not first.is_number and form.values and not form.values[-1].unit and (unit := _one_unit([each.text for each in column])):
            form.values[-1].unit, form.values[-1].unit_field = unit, f"{form.values[-1].field}_unit"
            parts.append(f"{{{form.values[-1].unit_field}:word}}")
            continue
        is_of_unit = bool(form.values) and form.values[-1].unit is not None and _unit(label) is not None
        following = columns[place + 1][0].text if place + 1 < len(columns) and is_fixed[place + 1] else ""
        called = _name("" if is_of_unit else label) or ("" if _unit(following) or _is_label(following) else _name(following))
        name = _unused(taken)("path" if are_paths[place] else called or ("n" if first.is_number else "word"))
        taken.add(name)
        if not first.is_number:
            form.words += [] if are_paths[place] else [name]
            parts.append(f"{{{name}:word}}")
            continue
        value = _Value(name, is_named=bool(called))
        form.values.append(value)
        attached = ""
        if first.unit:
            value.unit = _one_unit([each.unit for each in column])
            is_one = len({each.unit for each in column}) == 1
            value.unit_field = None if is_one or not value.unit else f"{name}_unit"
            attached = first.unit if is_one else f"{{{name}_unit:word}}"
        elif following:
            value.unit = _unit(following)
        parts.append(f"{first.before}{{{name}:number}}{attached}{first.after}")
    form.pattern = " ".join(parts)
    form.name = unused(_name(" ".join(each[0].text for each, fixed in zip(columns, is_fixed, strict=True) if fixed))[:30].strip("_") or "row")


def _one_unit(stated: Sequence[str]) -> str | None:
    """The unit of the first, if all are units of one quantity."""
    units = [unit_of(each) for each in stated]
    first = units[0]
    return first if first and all(unit and factor(unit, first) is not None for unit in units) else None


def _metric_of_form(form: _Form, value: _Value) -> Iterator[str]:
    name = f"{form.name}_{value.field}" if not form.name.endswith(value.field) else form.name
    if not form.words:
        yield from _metric(name, f"{form.name}[].{value.field}", value.unit, f"{form.name}[].{value.unit_field}" if value.unit_field else None)
        return
    called = "_".join(f"{{plain({word})}}" for word in form.words)
    yield from _metric(f"{value.field}_{called}", value.field, value.unit, value.unit_field, f"{form.name}[]")


def _metric(name: str, value: str, unit: str | None, stated_in: str | None = None, each: str | None = None) -> Iterator[str]:
    ending = suffix_unit(name)
    name = f"{name}_value" if unit and ending and ending != unit and factor(unit, ending) is not None else name
    yield from ("", "[[metric]]", f"name = {toml(name)}")
    if each:
        yield f"each = {toml(each)}"
    yield f"value = {toml(value)}"
    yield f"unit = {toml(unit or '1')}{'' if unit else '  # not stated: no unit'}"
    if stated_in:
        yield f"stated_in = {toml(stated_in)}"
    yield f"better = {toml(better_of(unit))}  # guess"


def _is_label(text: str) -> bool:
    return text.endswith((":", "="))


def _unit(text: str) -> str | None:
    """The unit that a word is, if it is no label of what follows it."""
    return None if _is_label(text) else unit_of(text.strip("()[]<>,;"))


def _blank(mark: str) -> str:
    return re.sub(r"\s+", " ", mark)


def _name(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return plain if plain[:1].isalpha() or not plain else f"n_{plain}"


def _unused(taken: set[str]) -> Callable[[str], str]:
    def found(name: str) -> str:
        return next(each for each in (name, *(f"{name}_{number}" for number in range(2, 10_000))) if each not in taken)

    return found
