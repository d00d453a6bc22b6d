"""SQL as HTML: words in their colours, comments kept, and the tables it reads as links.

Works from the tokens of `sql_text`; whatever the text holds, it comes out escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from warehouse.transform.sql.text import RESERVED, Token, tokens

if TYPE_CHECKING:
    from markupsafe import Markup

# Words that are keywords where they usually occur, though DuckDB lets some of them be names.
_KEYWORDS = RESERVED | frozenset(
    (
        "anti asof between by cross current exclude exists filter following full glob groups if ilike inner intersects "
        "interval is isnull join left like natural notnull nulls outer over partition positional preceding range "
        "recursive replace right rows sample semi similar struct tablesample timestamp try_cast unbounded values within"
    ).split()
)
_TAGS = {"keyword": "b", "function": "var", "text": "samp", "number": "data"}  # short, because a page of SQL has thousands
_BEFORE_TABLES = frozenset({"from", "join"})
_COMMENT = re.compile(r"--[^\n\r]*|/\*.*\*/", re.DOTALL)


def sql_markup(sql: str, links: Mapping[str, str]) -> "Markup":
    """`sql` as HTML. `links` gives the address of each table's page, by the name as SQL may write it, in lower case."""
    from markupsafe import Markup, escape

    found = tokens(sql)
    parts: list[str] = []
    end = 0
    for index, token in enumerate(found):
        parts.append(_between(sql[end : token.offset]))
        end = token.offset + len(token.text)
        address = links.get(_table_name(found, index))
        kind = _kind(found, index)
        text = str(escape(token.text))
        if address:
            parts.append(f'<a href="{escape(address)}">{text}</a>')
        else:
            tag = _TAGS.get(kind, "")
            parts.append(f"<{tag}>{text}</{tag}>" if tag else text)
    parts.append(_between(sql[end:]))
    return Markup("".join(parts))


def _between(text: str) -> str:
    """Blanks and comments between two tokens."""
    from markupsafe import escape

    return str(_COMMENT.sub(lambda match: f'<span class="comment">{match[0]}</span>', str(escape(text))))


def _kind(found: list[Token], index: int) -> str:
    token = found[index]
    if token.kind in ("text", "number"):
        return token.kind
    if token.kind != "word" or _text(found, index - 1) == ".":
        return ""
    if token.text.lower() in _KEYWORDS:
        return "keyword"
    return "function" if _text(found, index + 1) == "(" else ""


def _table_name(found: list[Token], index: int) -> str:
    """The table that a token names, by the token that ends the name; empty where it names none."""
    if found[index].kind not in ("word", "quoted") or _text(found, index + 1) == ".":
        return ""
    name, start = found[index].text.strip('"').lower(), index
    if _text(found, index - 1) == "." and index >= 2:
        name, start = f"{found[index - 2].text.strip(chr(34)).lower()}.{name}", index - 2
    return name if _text(found, start - 1).lower() in _BEFORE_TABLES else ""


def _text(found: list[Token], index: int) -> str:
    return found[index].text if 0 <= index < len(found) else ""
