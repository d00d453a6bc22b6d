"""What a description says of a record: paths to values, texts with values in them, and conditions. Small, total and bounded: no regular
expression, no loop, and no name that reaches outside of the file.

A path is keys with dots (`context.date`), `[]` for each element, `[0]` for one, `.*` for each value of an object, `"a b"` for any other key.
`**` is a value and all that is in it. A path begins at the record; `$` is the document, `^` the element that the record is in. `@key` is
the key, or the place from 0, that a record was found by, `@value` the record itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from warehouse.landing.described.forms.functions import FUNCTIONS
from warehouse.landing.described.forms.nodes import Fields, Node, Number
from warehouse.landing.described.forms.values import Values, elements, flat, number_of, text_of
from warehouse.landing.readers.text import number_in

MAX_CHARACTERS = 1000
_MAX_TERMS = 200
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>'[^']*')|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w"])"""
    r"""|(?P<path>(?:(?:\$|\^+)\.?)?@?(?:"[^"]*"|[A-Za-z_][\w-]*|\[\d*\]|\*(?=[\[.]))(?:\.(?:"[^"]*"|[A-Za-z_@][\w-]*|\d+|\*\*?)|\[\d*\])*|\$|\^+|\*(?=\s*$))"""
    r"""|(?P<mark>!=|<=|>=|[=<>()+*/,-]))""",
    re.ASCII,
)
_ROOTED = re.compile(r"(\$|\^+)\.")
_STEP = re.compile(r"""\.?(?:"(?P<quoted>[^"]*)"|(?P<name>@?[A-Za-z_][\w-]*|\d+)|\[(?P<index>\d*)\]|(?P<deep>\*\*)|(?P<each>\*))""", re.ASCII)
_PART = re.compile(r"\{([^{}]*)\}")
_WORDS = frozenset({"and", "or", "not", "in", "is"})
_CONSTANTS = {"true": True, "false": False}
_ARITHMETIC = re.compile(r"\s[-+*/]\s")


class ExpressionError(ValueError):
    """Why a text is no expression."""


class Scope(NamedTuple):
    """A record: its node, what it was found by, and the records that it is in, the nearest last."""

    node: Node
    key: str
    above: tuple["Scope", ...] = ()

    def under(self, node: Node, key: str) -> "Scope":
        return Scope(node, key, (*self.above, self))


Evaluate = Callable[[Scope], Values]


@dataclass(frozen=True)
class Expression:
    """An expression as written; `of` gives its values in a scope: none where the file states none. `paths` are those that it reads."""

    text: str
    of: Evaluate
    paths: tuple["Path", ...] = ()
    parts: tuple["str | Expression", ...] = ()  # of a text with values in it

    def filled(self, scope: Scope, missing: str) -> str:
        """The text, with `missing` in place of each value that the record does not state."""
        return "".join(part if isinstance(part, str) else _joined(part.of(scope)) or missing for part in self.parts)

    def one(self, scope: Scope) -> Node | None:
        """The one value; the first of several."""
        found = self.of(scope)
        return found[0] if found else None

    @property
    def is_computed(self) -> bool:
        """Whether it computes a number of others: then it has no value where one of them is none."""
        return len(self.paths) > 1 or "(" not in self.text and bool(_ARITHMETIC.search(self.text))

    def holds(self, scope: Scope) -> bool:
        return any(_is_true(node.value) for node in self.of(scope))


@dataclass(frozen=True)
class Path:
    """A path: where it begins (empty, `$`, or as many `^` as levels), and its steps: a key, an index, `[]` and `*`, or `**`."""

    text: str
    start: str
    steps: tuple[tuple[str, Any], ...]

    def scopes(self, scope: Scope) -> Iterator[Scope]:
        """The records that the path leads to."""
        return self._walk(self._begin(scope), self.steps)

    def nodes(self, scope: Scope) -> Values:
        if self.keys is None:
            return [found.node for found in self.scopes(scope)]
        node = scope.node
        for key in self.keys:
            if not isinstance(node.value, dict) or (found := node.value.get(key)) is None:
                return []
            node = found
        return [node]

    @cached_property
    def keys(self) -> tuple[str, ...] | None:
        """The keys that a path from the record is, if it is keys alone: most are, and then no scope is needed on the way."""
        is_plain = not self.start and all(kind == "key" and name not in ("@key", "@value") for kind, name in self.steps)
        return tuple(name for _, name in self.steps) if is_plain else None

    def _begin(self, scope: Scope) -> Scope:
        if self.start == "$":
            return scope.above[0] if scope.above else scope
        return scope.above[max(0, len(scope.above) - len(self.start))] if self.start and scope.above else scope

    def _walk(self, scope: Scope, steps: tuple[tuple[str, Any], ...], inner: Node | None = None) -> Iterator[Scope]:
        node, key, above = inner or scope.node, scope.key, scope.above
        for place, (kind, name) in enumerate(steps):
            value = node.value
            if kind == "key" and name in ("@key", "@value"):
                yield Scope(Node(key, node.start, node.stop) if name == "@key" else node, key, above)
                return
            if kind == "key" and isinstance(value, dict) and name in value:
                node = value[name]
            elif kind == "index" and (listed := elements(node)) is not None and name < len(listed):
                node = listed[name]
            elif kind == "each" and (several := _each(node)) is not None:
                rest = steps[place + 1 :]
                for under, child in several:
                    if rest:
                        yield from self._walk(scope.under(child, under), rest)
                    else:
                        yield scope.under(child, under)
                return
            elif kind == "deep":
                for found in _all_in(node):
                    yield from self._walk(scope, steps[place + 1 :], found)
                return
            else:
                return
        yield Scope(node, key, above)


def _each(node: Node) -> Iterable[tuple[str, Node]] | None:
    if isinstance(node.value, dict):
        return node.value.own.items() if isinstance(node.value, Fields) else node.value.items()
    found = elements(node)
    return None if found is None else ((str(place), each) for place, each in enumerate(found))


def _all_in(node: Node) -> Iterator[Node]:
    """The objects and lists of a value, with itself, as they are written."""
    yield node
    for _, child in _each(node) or ():
        if isinstance(child.value, (dict, list)):
            yield from _all_in(child)


def path_of(text: str) -> Path:
    """A path alone. Raises ExpressionError."""
    found = parsed(text)
    if len(found.paths) != 1 or found.paths[0].text != text.strip():
        raise ExpressionError(f"not a path: {text}")
    return found.paths[0]


def value(text: str) -> Expression:
    """A text with `{expressions}`, or an expression alone."""
    return template(text) if "{" in text else parsed(text)


def template(text: str) -> Expression:
    """A text with `{expressions}`: one text, or none where one of them has no value."""
    parts = _PART.split(text)
    inner = [parsed(part) for part in parts[1::2]]
    if not inner:
        return Expression(text, lambda scope: _made(text, scope))

    def of(scope: Scope) -> Values:
        found = [each.of(scope) for each in inner]
        texts = [_joined(nodes) for nodes in found]
        if not all(texts):
            return []
        joined = "".join(fixed + filled for fixed, filled in zip(parts[::2], [*texts, ""], strict=True))
        return [found[0][0]._replace(value=joined)]

    pieces = tuple(piece if place % 2 == 0 else inner[place // 2] for place, piece in enumerate(parts))
    return Expression(text, of, tuple(path for each in inner for path in each.paths), pieces)


def _joined(nodes: Values) -> str:
    return ", ".join(filter(None, (text_of(node.value) for node in nodes)))


def parsed(text: str) -> Expression:
    """An expression. Raises ExpressionError."""
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"longer than {MAX_CHARACTERS} characters")
    reader = _Reader(text)
    evaluate = reader.either()
    if reader.kind:
        raise ExpressionError(f"{text}: unexpected {reader.token}")
    return Expression(text, evaluate, tuple(reader.paths))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._position, self._terms = text, 0, 0
        self.paths: list[Path] = []
        self.kind: str | None = None
        self.token = ""
        self._advance()

    def _advance(self) -> None:
        found = _TOKEN.match(self._text, self._position)
        self._terms += 1
        if not found and not self._text[self._position :].strip():
            self.kind, self.token = None, ""
            return
        if not found or self._terms > _MAX_TERMS:
            raise ExpressionError(f"{self._text}: cannot be read from {self._text[self._position :][:20]!r}")
        self._position = found.end()
        self.kind, self.token = str(found.lastgroup), found[found.lastgroup or 0]

    def _took(self, *tokens: str) -> str | None:
        if self.kind in ("mark", "path") and self.token in tokens:
            token = self.token
            self._advance()
            return token
        return None

    def either(self) -> Evaluate:
        left = self._both()
        while self._took("or"):
            left = _choice(left, self._both(), any)
        return left

    def _both(self) -> Evaluate:
        left = self._negated()
        while self._took("and"):
            left = _choice(left, self._negated(), all)
        return left

    def _negated(self) -> Evaluate:
        if self._took("not"):
            inner = self._negated()
            return lambda scope: _truth(not any(_is_true(node.value) for node in inner(scope)), scope)
        return self._compared()

    def _compared(self) -> Evaluate:
        left = self._sum()
        if self._took("is"):
            wanted = self._took("not") is None
            if not self._took("missing"):
                raise ExpressionError(f"{self._text}: `is` is followed by `missing` or `not missing`")
            return lambda scope: _truth(all(node.value is None or node.value == "" for node in left(scope)) == wanted, scope)
        if self._took("in"):
            several = self._arguments()
            if (texts := _plain_texts(several)) is not None:
                return lambda scope: _truth(any(text_of(one.value) in texts for one in left(scope)), scope)
            return lambda scope: _truth(any(_compare("=", one, other) for one in left(scope) for each in several for other in each(scope)), scope)
        mark = self._took("=", "!=", "<", "<=", ">", ">=")
        if mark is None:
            return left
        right = self._sum()
        return lambda scope: _truth(any(_compare(mark, one, other) for one in left(scope) for other in right(scope)), scope)

    def _sum(self) -> Evaluate:
        left = self._product()
        while mark := self._took("+", "-"):
            left = _computed(mark, left, self._product())
        return left

    def _product(self) -> Evaluate:
        left = self._atom()
        while mark := self._took("*", "/"):
            left = _computed(mark, left, self._atom())
        return left

    def _arguments(self) -> list[Evaluate]:
        if not self._took("("):
            raise ExpressionError(f"{self._text}: expected (")
        found = [self.either()]
        while self._took(","):
            found.append(self.either())
        if not self._took(")"):
            raise ExpressionError(f"{self._text}: expected )")
        return found

    def _atom(self) -> Evaluate:
        kind, token = self.kind, self.token
        if token == "(" and kind == "mark":
            return self._arguments()[0]
        if token == "-" and kind == "mark":
            self._advance()
            inner = self._atom()
            return _computed("-", lambda scope: _made(0.0, scope), inner)
        if kind not in ("text", "number", "path") or token in _WORDS:
            raise ExpressionError(f"{self._text}: expected a value{', not ' + token if token else ''}")
        self._advance()
        if kind == "text":
            return partial(_made, token[1:-1])
        if token in _CONSTANTS:
            return lambda scope: _made(_CONSTANTS[token], scope)
        if kind == "number":
            return lambda scope: _made(Number(token), scope)
        if self.kind == "mark" and self.token == "(":
            if token not in FUNCTIONS:
                raise ExpressionError(f"{self._text}: no function {token}; there are {', '.join(sorted(FUNCTIONS))}")
            function, arguments = FUNCTIONS[token], self._arguments()
            return lambda scope: function([argument(scope) for argument in arguments])
        path = _path(token)
        self.paths.append(path)
        return path.nodes


def _path(text: str) -> Path:
    rooted = _ROOTED.match(text)
    start = rooted[1] if rooted else text if set(text) <= {"$"} or set(text) <= {"^"} else text[: len(text) - len(text.lstrip("$^"))]
    rest = text[rooted.end() if rooted else len(start) :]
    steps: list[tuple[str, Any]] = []
    for found in _STEP.finditer(rest):
        if found["index"] is not None:
            steps.append(("each", None) if not found["index"] else ("index", int(found["index"][:9])))
        elif found["deep"]:
            if ("deep", None) in steps:
                raise ExpressionError(f"{text}: one ** at most")
            steps.append(("deep", None))
        elif found["each"]:
            steps.append(("each", None))
        else:
            steps.append(("key", found["quoted"] if found["quoted"] is not None else found["name"]))
    return Path(text, start, tuple(steps))


def _made(value: Any, scope: Scope) -> Values:
    """A value that the description states, at the place of the record."""
    return [Node(value, scope.node.start, scope.node.stop)]


def _plain_texts(several: list[Evaluate]) -> frozenset[str] | None:
    """The texts of a list, if it has constant texts alone and none is a number: a value is looked up among them, not compared with each."""
    texts = [each.args[0] for each in several if isinstance(each, partial)]
    return frozenset(texts) if len(texts) == len(several) and all(number_in(text.strip()) is None for text in texts) else None


def _truth(value: bool, scope: Scope) -> Values:
    return _made(value, scope)


def _is_true(value: Any) -> bool:
    return value is not None and value is not False and value != ""


def _choice(left: Evaluate, right: Evaluate, rule: Callable[[Iterable[bool]], bool]) -> Evaluate:
    return lambda scope: _truth(rule(any(_is_true(node.value) for node in each(scope)) for each in (left, right)), scope)


def _compare(mark: str, left: Node, right: Node) -> bool:
    if left.value is None or right.value is None:
        return False
    one: Any = number_of(left.value)
    other: Any = number_of(right.value)
    if one is None or other is None:
        one, other = text_of(left.value), text_of(right.value)
        if one is None or other is None:
            return False
    return bool({"=": one == other, "!=": one != other, "<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[mark])


def _computed(mark: str, left: Evaluate, right: Evaluate) -> Evaluate:
    """Of two numbers one; of several and one, each with it."""

    def of(scope: Scope) -> Values:
        one, other = flat(left(scope)), flat(right(scope))
        if not one or not other or 1 not in (len(one), len(other)):
            return []
        if len(one) == len(other):
            found = _number(mark, one[0], other[0])
            return [] if found is None else [(one[0] if one[0].length <= other[0].length else other[0])._replace(value=found)]
        several = one if len(one) > 1 else other
        numbers = [_number(mark, first, second) for first in one for second in other]
        return [] if None in numbers else [node._replace(value=number) for node, number in zip(several, numbers, strict=True)]

    return of


def _number(mark: str, one: Node, other: Node) -> float | None:
    first, second = number_of(one.value), number_of(other.value)
    if first is None or second is None or mark == "/" and not second:
        return None
    return first + second if mark == "+" else first - second if mark == "-" else first * second if mark == "*" else first / second
