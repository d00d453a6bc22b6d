"""SQL as text: tokens with their places, the canonical form that digests cover, and where an error points.

The canonical form drops comments and formatting and nothing else: no rewriting, no library version in it, so a digest
made today is the same in ten years. What the SQL means is the engine's business, not this module's.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from warehouse.errors import WarehouseError

CANONICAL_FORM = "wh-tokens/2"

# DuckDB's own rules (checked against 2.0, tests/test_sql_text.py): these blanks and no others, any other character
# beyond ASCII belongs to a word, and an operator is the longest run of operator characters.
_BLANK = r" \t\n\r\f\v\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
_LETTER = rf"(?:[A-Za-z_]|[^\x00-\x7f{_BLANK}])"
_WORD = rf"{_LETTER}(?:{_LETTER}|[0-9$])*"
_TAG = rf"\$(?:{_LETTER}(?:{_LETTER}|[0-9])*)?\$"
_TOKEN = re.compile(
    rf"""
    (?P<space>[{_BLANK}]+|--[^\n\r]*)
  | (?P<comment>/\*)
  | (?P<text>[eE]'(?:[^'\\]|\\.|'')*'|[bBnNxX]?'(?:[^']|'')*'|(?P<dollar>{_TAG}).*?(?P=dollar))
  | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
  | (?P<word>{_WORD})
  | (?P<number>(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?(?:{_LETTER}|[0-9$])*)
  | (?P<parameter>\$(?:[0-9]+|{_WORD}))
  | (?P<operator>::|:=|[~!@\#^&|+\-*/%<>=]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SHOWN_CHARACTERS = 120
_AFTER_SELECT_LIST = frozenset("from where group having window qualify union intersect except order limit".split())
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


# DuckDB's reserved words (duckdb_keywords()): none can be a name, so their case is formatting.
RESERVED = frozenset(
    (
        "all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create "
        "default deferrable desc describe distinct do else end except false fetch for foreign from group having in "
        "initially intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer "
        "pivot_wider placing primary qualify references returning select show some summarize symmetric table then to "
        "trailing true union unique unpivot using variadic when where window with "
    ).split()
)


class Token(NamedTuple):
    """One token of SQL: its kind (`word`, `text`, `quoted`, `number`, `parameter`, `operator`), text and offset."""

    kind: str
    text: str
    offset: int


def tokens(sql: str) -> list[Token]:
    """The tokens of `sql`, comments and blanks left out."""
    return list(each_token(sql))


def each_token(sql: str) -> Iterator[Token]:
    """The same one by one, for who needs only the first."""
    offset = 0
    while match := _TOKEN.match(sql, offset):
        kind, text = match.lastgroup or "operator", match[0]
        if kind == "dollar":
            kind = "text"
        if kind == "comment":
            offset = _end_of_comment(sql, match.end())
            continue
        if kind == "operator":
            text = _operator(text)
        if kind != "space":
            yield Token(kind, text, offset)
        offset += len(text)


def _end_of_comment(sql: str, offset: int) -> int:
    """Where the block comment that was opened before `offset` ends: they nest."""
    depth = 1
    while depth and (edge := _COMMENT_EDGE.search(sql, offset)):
        depth += 1 if edge[0] == "/*" else -1
        offset = edge.end()
    return offset if not depth else len(sql)


def _operator(run: str) -> str:
    """The operator that a run of operator characters begins with: a comment ends it, and a sign after it belongs to the
    operand, except after characters that only operators of one's own have (PostgreSQL's rule, which DuckDB keeps)."""
    for opening in ("--", "/*"):
        run = run.partition(opening)[0]
    while len(run) > 1 and run[-1] in "+-" and not set(run[:-1]) & set("~!@#^&|%"):
        run = run[:-1]
    return run


@lru_cache(maxsize=2048)
def canonical(sql: str) -> str:
    """`sql` with one blank between tokens, reserved words in lower case, no comments and no closing semicolon.

    Other words keep their case: the engine ignores it in names, but it shows in the fields of a struct or of JSON, so it
    can be data. Two strings in a row, which SQL joins when a line ends between them, keep that line end.
    """
    found = tokens(sql)
    while found and found[-1].text == ";":
        found.pop()
    parts: list[str] = []
    for before, token in zip([None, *found], found, strict=False):
        if before:
            parts.append("\n" if before.text[-1] == "'" == token.text[0] else " ")
        lowered = token.text.translate(_LOWER) if token.kind == "word" else ""
        parts.append(lowered if lowered in RESERVED else token.text)
    return "".join(parts)


def comparable(sql: str) -> str:
    """A part of `sql` for comparison with what somebody else wrote, or with SQL that was recorded: blanks and case do not count."""
    return canonical(sql).lower()


def unended(sql: str) -> str:
    """`sql` to its last token, closing semicolons left out: more can follow."""
    found = tokens(sql)
    while found and found[-1].text == ";":
        found.pop()
    return sql[: found[-1].offset + len(found[-1].text)] if found else ""


@lru_cache(maxsize=1024)
def body(sql: str) -> str:
    """`sql` from its first token to its last, closing semicolons left out: it can be put in brackets."""
    if sql == sql.strip() and not any(mark in sql for mark in (";", "--", "/*")):
        return sql  # as recorded SQL is, of which a replay has 150
    return unended(sql)[first_token(sql) :]


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of an offset in characters."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def pointed(text: str, offset: int) -> str:
    """The line of `text` at `offset` and a caret under it; of a long line, what is around the caret."""
    line, column = line_and_column(text, offset)
    shown = text.split("\n")[line - 1].rstrip("\r")
    start = max(0, column - 1 - _SHOWN_CHARACTERS // 2) if len(shown) > _SHOWN_CHARACTERS else 0
    before = ("..." if start else "") + shown[start : column - 1]
    after = shown[column - 1 : start + _SHOWN_CHARACTERS]
    rest = "..." if len(shown) > start + _SHOWN_CHARACTERS else ""
    shown = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in f"{before}{after}{rest}")
    return f"{shown}\n{''.join(map(_blank, before))}^"


def _blank(character: str) -> str:
    """A blank as wide as `character`: a tab as it is, two columns for a wide letter, none for a combining mark."""
    if character == "\t":
        return "\t"
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "


def fault_at(
    code: str, message: str, text: str, place: str, offset: int, hint: str | None = None
) -> WarehouseError:
    """A fault at an offset (in characters) of a file: its line and column, and the line itself under the message."""
    line, column = line_and_column(text, offset)
    shown = pointed(text, offset)
    message = f"{message}\n{shown}" if shown.strip() != "^" else message
    return WarehouseError(code, message, f"{place}:{line}:{column}", hint)


def first_token(sql: str) -> int:
    """The offset of the first token of `sql`: where the statement begins, after a header and comments."""
    return next((token.offset for token in each_token(sql)), 0)


def output_column(sql: str, name: str, occurrence: int = 0) -> int | None:
    """The offset at which the outermost select list of `sql` names an output column (the given occurrence of it); None
    when the text does not name it, as with a star."""
    found, depth, in_list = [], 0, False
    for token, following in pairwise([*tokens(sql), Token("operator", ";", len(sql))]):
        word = token.text.lower() if token.kind == "word" else ""
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and word in ("select", "from"):
            in_list = word == "select"
        elif depth == 0 and in_list and token.kind in ("word", "quoted") and name_of(token) == name.lower():
            if following.text in (",", ";", ")") or following.text.lower() in _AFTER_SELECT_LIST:
                found.append(token.offset)
    return found[occurrence] if occurrence < len(found) else None


def name_of(token: Token) -> str:
    """The name that a word or a quoted name means, lower case."""
    quoted = token.kind == "quoted"
    return (token.text[1:-1].replace('""', '"') if quoted else token.text).lower()
