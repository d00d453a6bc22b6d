"""SQL as text: tokens with their places, the canonical form that digests cover, and where an error points.

The canonical form drops comments and formatting and nothing else: no rewriting, no library version in it, so a digest
made today is the same in ten years. What the SQL means is the engine's business, not this module's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CANONICAL_FORM = "wh-tokens/1"

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<text>[eE]?'(?:[^']|'')*'|(?P<dollar>\$[A-Za-z_]*\$).*?(?P=dollar))
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<word>[^\W\d]\w*)
  | (?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?\w*)
  | (?P<parameter>\$\w+)
  | (?P<operator><>|!=|<=|>=|==|\|\||::|->>|->|=>|:=|//|\*\*|<<|>>|!~~\*?|~~\*?|!~\*?|~\*|\^@|@>|<@|&&|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """One token of SQL: its kind (`word`, `text`, `quoted`, `number`, `parameter`, `operator`), text and offset."""

    kind: str
    text: str
    offset: int


def tokens(sql: str) -> list[Token]:
    """The tokens of `sql`, comments and blanks left out."""
    found = []
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup if match.lastgroup != "dollar" else "text"
        if match["text"] is not None:
            kind = "text"
        if kind not in ("space", "comment"):
            found.append(Token(kind or "operator", match[0], match.start()))
    return found


def canonical(sql: str) -> str:
    """`sql` with one blank between tokens, unquoted words in lower case, no comments and no closing semicolon.

    Unquoted words are case-insensitive in DuckDB; a word in an output alias keeps its meaning but not its case, which
    the contract's column names fix.
    """
    words = [token.text.lower() if token.kind == "word" else token.text for token in tokens(sql)]
    while words and words[-1] == ";":
        words.pop()
    return " ".join(words)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """1-based line and column of an offset in characters."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def pointed(text: str, offset: int) -> str:
    """The line of `text` at `offset` and a caret under it."""
    line, column = line_and_column(text, offset)
    return f"{text.splitlines()[line - 1] if text.strip() else ''}\n{' ' * (column - 1)}^"
