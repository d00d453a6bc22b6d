"""The performance indicator in a run's standard output (Thoth's contract: one JSON object with `@parameters` and
`@result`), in long form, so that a new indicator needs no change here.

Which object is the indicator: if standard output as a whole is a JSON object, that one; else, of the objects that begin
a line and end one, the last with `@parameters` or `@result`. Text around it is ignored.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

from warehouse.landing.contract import Bundle
from warehouse.landing.rows import RowBuffer

from .bundles import RECORDING
from .files import clean, finite

SEARCHED_BYTES = 8 << 20  # an indicator is looked for in this much of standard output's end
FAILED_PARSE_BYTES = 1 << 30  # hostile output: give up after this much in attempts that came to nothing
DEEPEST = 20  # objects nested deeper stay JSON text

# Structure only: numbers stay text here, so that no number, however long, can fail.
_SHAPE = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
_BEFORE_TEXT = "\xef\xbb\xbf \t\r\n"  # a byte order mark, read as latin-1, and JSON's white space
# With the character after the brace: lines such as {'loss': 1.2}, common in training logs, are not even tried.
_LINE_START_OBJECT = re.compile(r"^(?:\xef\xbb\xbf)?[ \t]*(\{)(?=[ \t\r\n]*[\"}])", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_REST_OF_LINE = re.compile(r"[ \t\r]*(\n|\Z)")
_VALUE_TYPES = {'"': "string", "{": "json", "[": "json", "t": "boolean", "f": "boolean", "n": "null"}


@dataclass(frozen=True)
class Indicator:
    """What a run's row says of the indicator; `parameters` is None unless it is an object."""

    name: str | None
    component: str | None
    score: float | None
    parameters: dict[str, Any] | None


@dataclass(frozen=True)
class _Member:
    """A `"key": value` pair and its places in the text it was found in."""

    key: str
    start: int
    value_start: int
    end: int


@dataclass
class _Output:
    """The end of standard output, from byte `base` on, as text with one character a byte (latin-1): every place in it
    is a byte offset. `rows` are the members to add, by kind and flattened key."""

    raw_path: str
    run_id: str
    base: int
    text: str
    buffer: RowBuffer
    rows: dict[tuple[str, str], _Member] = field(default_factory=dict)

    def source(self, start: int, end: int) -> str:
        return self.text[start:end].encode("latin-1").decode("utf-8", "replace")

    def flag(self, code: str, message: str, start: int, end: int, severity: str = "warning") -> None:
        self.buffer.issue(
            code, clean(message), self.raw_path, self.base + start, end - start, severity=severity,
            line_number=None if self.base else self.text.count("\n", 0, start) + 1, run_id=self.run_id,
        )

    def flag_duplicate(self, key: str, replaced: _Member) -> None:
        message = f"{key} occurs twice; the last one counts"
        self.flag("duplicate-key", message, replaced.start, replaced.end, "error")


def read_indicator(bundle: Bundle, path: str, run_id: str, buffer: RowBuffer) -> Indicator | None:
    """Add the rows of the indicator that a run printed, and return it. None, without an issue, if it printed none."""
    if path not in bundle.manifest.by_path:
        buffer.issue("file-missing", f"{path} is not in the bundle", RECORDING, run_id=run_id)
        return None
    data = bundle.map(path)
    base = max(0, len(data) - SEARCHED_BYTES)
    tail = bytes(data[base:])
    output = _Output(path, run_id, base, tail.decode("latin-1"), buffer)
    span = _find_document(output)
    if span is None:
        return None
    try:
        tail[span[0] : span[1]].decode("utf-8")
    except UnicodeDecodeError as error:
        output.flag("not-utf8", f"not valid UTF-8: {error.reason}", span[0] + error.start, span[0] + error.end)
    try:
        return _add_values(output, *span)
    except RecursionError:  # its shape could just be read, its values are one call deeper; no row was added yet
        output.flag("indicator-damaged", "nested too deep to be read", *span, "error")
        return None


def _find_document(output: _Output) -> tuple[int, int] | None:
    """Start and end of the indicator's JSON object; the module's docstring has the rule."""
    text, found, position, wasted = output.text, None, 0, 0
    whole_start = len(text) - len(text.lstrip(_BEFORE_TEXT))
    while wasted <= FAILED_PARSE_BYTES and (opening := _LINE_START_OBJECT.search(text, position)):
        start = opening.start(1)
        try:
            document, position = _SHAPE.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError) as error:
            # Not from `start` on: making the error counts the lines from the beginning.
            wasted += getattr(error, "pos", len(text))
            position = start + 1
            continue
        if start == whole_start and not text[position:].strip(_BEFORE_TEXT):
            return start, position
        if _REST_OF_LINE.match(text, position) and ("@parameters" in document or "@result" in document):
            found = start, position
    if found is None and (mark := re.search(r'"@(parameters|result)"', text)):
        message = "the object that holds it is cut off, not valid JSON or nested too deep"
        if wasted > FAILED_PARSE_BYTES:
            message = "the search for it was given up: too much before it is not valid JSON"
        output.flag("indicator-damaged", message, mark.start(), mark.end(), "error")
    elif found is None and output.base:
        output.flag("indicator-not-found", f"only the last {SEARCHED_BYTES} bytes were searched", 0, 0)
    return found


def _add_values(output: _Output, start: int, end: int) -> Indicator:
    top = _members(output, start)
    # Since thoth-storages PR 1387 the key is `component`; before, and in Thoth's docs still, `framework`.
    name = _string(output, top.get("name"))
    component_key = next((key for key in ("component", "framework") if _string(output, top.get(key)) is not None), None)
    component = _string(output, top[component_key]) if component_key else None
    for key, member in top.items():
        if key in ("@parameters", "@result"):
            _collect_section(output, key, member)
        elif key != component_key and (key != "name" or name is None):
            _collect(output, "score" if key == "overall_score" else "other", key, member, 1)
    parameters = top.get("@parameters")
    # Integers beyond 400 digits are infinite as a double, and Python would refuse to read still longer ones.
    parameters_value = parameters and json.loads(
        output.source(parameters.value_start, parameters.end),
        parse_int=lambda digits: int(digits) if len(digits) < 400 else math.inf,
    )
    if not isinstance(parameters_value, dict):
        parameters_value = None
    missing = [key for key in ("@parameters", "@result") if key not in top] + ["name"] * (name is None)
    if missing:
        output.flag("indicator-keys-missing", f"no {', '.join(missing)}", start, end)
    _flag_overlap(output)
    score = None
    for (kind, key), member in output.rows.items():
        number = _add_value(output, kind, key, member, name, component)
        score = number if (kind, key) == ("score", "overall_score") else score
    return Indicator(name, component, score, parameters_value)


def _collect_section(output: _Output, section: str, member: _Member) -> None:
    kind = section.removeprefix("@").removesuffix("s")
    if output.text[member.value_start] == "{":
        for key, inner in _members(output, member.value_start).items():
            _collect(output, kind, key, inner, 1)
    else:
        output.flag("indicator-section-not-an-object", f"{section} is not an object", member.start, member.end)
        _collect(output, kind, section, member, 1)


def _collect(output: _Output, kind: str, key: str, member: _Member, depth: int) -> None:
    """Put a member, or the members in it as `outer__inner`, among the rows to add."""
    is_object = output.text[member.value_start] == "{"
    inner = _members(output, member.value_start) if is_object and depth < DEEPEST else {}
    for inner_key, inner_member in inner.items():
        _collect(output, kind, f"{key}__{inner_key}", inner_member, depth + 1)
    if inner:
        return
    if is_object and depth == DEEPEST:
        output.flag("nested-too-deep", f"{key} is kept as JSON text", member.start, member.end)
    if replaced := output.rows.get((kind, key)):
        output.flag_duplicate(key, replaced)
    output.rows[kind, key] = member


def _members(output: _Output, start: int) -> dict[str, _Member]:
    """The members of the object that begins at `start`, which is known to be valid JSON. Of a key given twice the last
    one counts, as in every JSON library, and an issue says so."""
    text = output.text
    found: dict[str, _Member] = {}
    at = _behind_space(text, start + 1)
    while text[at] != "}":
        if text[at] == ",":
            at = _behind_space(text, at + 1)
        key_end = _SHAPE.raw_decode(text, at)[1]
        value_start = _behind_space(text, _behind_space(text, key_end) + 1)
        end = _SHAPE.raw_decode(text, value_start)[1]
        key = clean(json.loads(output.source(at, key_end)))
        if key in found:
            output.flag_duplicate(key, found[key])
        found[key] = _Member(key, at, value_start, end)
        at = _behind_space(text, end)
    return found


def _behind_space(text: str, at: int) -> int:
    blank = _SPACE.match(text, at)
    return blank.end() if blank else at


def _string(output: _Output, member: _Member | None) -> str | None:
    if member is None or output.text[member.value_start] != '"':
        return None
    return clean(json.loads(output.source(member.value_start, member.end)))


def _flag_overlap(output: _Output) -> None:
    # Thoth serialises both into one record: which of the two a shared key means there is not known.
    results = {key: member for (kind, key), member in output.rows.items() if kind == "result"}
    shared = sorted(key for kind, key in output.rows if kind == "parameter" and key in results)
    if shared:
        first = results[shared[0]]
        message = f"@parameters and @result share {', '.join(shared)}"
        output.flag("indicator-keys-overlap", message, first.start, first.end)


def _add_value(
    output: _Output, kind: str, key: str, member: _Member, name: str | None, component: str | None
) -> float | None:
    """Add a row, and return its number."""
    written = output.source(member.value_start, member.end)
    value_type = _VALUE_TYPES.get(written[0]) or ("integer" if re.fullmatch(r"-?[0-9]+", written) else "float")
    text: str | None = written
    number = None
    if value_type in ("integer", "float"):
        number = finite(float(written))
        if number is None:
            output.flag("non-finite-value", f"{key} is not a finite number", member.start, member.end, "error")
    elif value_type == "string":
        text = _string(output, member)
    elif value_type == "null":
        text = None
    output.buffer.add(
        "recorded_indicator_value", output.raw_path, output.base + member.start, member.end - member.start,
        run_id=output.run_id, indicator_name=name, component=component, kind=kind, key=key, value_type=value_type,
        value_text=text, value_number=number,
    )
    return number
