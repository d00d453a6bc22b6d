"""What the engine's parser and binder say, turned into what an analyst can use: where it is, and the way out.

Every fault gets a place and a hint; the names of the check's own session and types never show. No SQL is run here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from warehouse.errors import WarehouseError, did_you_mean
from warehouse.transform.sql.engine_words import IN_WORDS, WAYS_OUT, WAYS_OUT_OF_KIND
from warehouse.transform.sql.text import RESERVED, Token, fault_at, first_token, line_and_column, tokens

_OPENING = {"(": ")", "[": "]", "{": "}"}
_STATEMENT_WORDS = RESERVED | {"by", "join", "left", "inner", "values", "over", "partition", "between", "is", "like"}
_NOT_SELECT = "Only SELECT statements can be serialized"
_WAY_HERE = "the SQL is valid up to this point: check this word and the one before it"
# Advice to change settings: they are pinned, so that a build does not depend on who makes it.
_SETTING = re.compile(r"\b(SET|PRAGMA)\b")
# The engine ran into an exception of Python, which only the client of a remote store raises.
_CLIENT_FAULT = "Traceback (most recent call last):"
# Its first line has only the line's number; the file comes at the end.
_CSV_FAULT = re.compile(r"CSV Error on Line: (\d+)\n(?:Original Line:.*\n)?(.+)")
_CSV_FILE = re.compile(r"^ *file = (.+)$", re.MULTILINE)
_TABLES = "wh tables --all lists the tables that there are"
_NAMED = re.compile(r"[\"']([^\"'\s]+)[\"']")


def translated(error: Exception, code: str, text: str, place: str, prefix: str = "") -> WarehouseError:
    """An engine's error about `prefix + text` as a fault at `place:line:column` of `text`."""
    return translated_within(error, code, prefix + text, text, place, -len(prefix))


def translated_within(
    error: Exception, code: str, statement: str, text: str, place: str, shift: int
) -> WarehouseError:
    """An engine's error about `statement`, a part of which is in the file `text`, `shift` characters further on, as a
    fault at `place:line:column` of that file."""
    return _told({"exception_message": str(error), **_document(error)}, code, statement, text, place, shift)


def translated_elsewhere(error: Exception, code: str, text: str, place: str) -> WarehouseError:
    """An engine's error about a statement that was made from the file `text`, so that its places are not the file's: at what
    it names there, else where the SQL begins."""
    document = {key: value for key, value in _document(error).items() if key != "position"}
    return _told({"exception_message": str(error), **document}, code, text, text, place, 0)


def message_of(error: Exception) -> str:
    """What the engine says, in one line."""
    document = {"exception_message": str(error), **_document(error)}
    return _message(str(document["exception_message"]).strip(), document)


def _told(
    document: Mapping[str, Any], code: str, statement: str, text: str, place: str, shift: int
) -> WarehouseError:
    said = str(document["exception_message"]).strip()
    if said.startswith(_CLIENT_FAULT):
        code, said = "WH220", _client_said(said)
    position = document.get("position")
    message = _message(said, document)
    # The engine counts bytes of the whole statement; people count characters of their file.
    offset = len(statement.encode()[: int(position)].decode(errors="replace")) + shift if position else None
    if offset is None or not 0 <= offset <= len(text):
        offset = _named_in(said, text)
    hint = _syntax_hint(text, offset) if said.startswith("syntax error") else _way_out(said, document, text, offset)
    return fault_at(code, message, text, place, offset, hint)


def parse_fault(document: Mapping[str, Any], text: str, place: str) -> WarehouseError:
    """WH202 for a text that the engine's parser does not take, from what `json_serialize_sql` says of it."""
    said = str(document["error_message"])
    if _NOT_SELECT in said:
        return _no_select(text, place)
    return _told({**document, "exception_message": said}, "WH202", text, text, place, 0)


def _no_select(text: str, place: str) -> WarehouseError:
    """For a statement that is no select, or several of which one is not."""
    found = tokens(text)
    if second_statement(found):
        return statements_fault(text, place)
    word = found[0].text.lower()
    if pivot := _free_pivot(found):
        return fault_at(
            "WH202", "a pivot's columns depend on the data", text, place, pivot.offset,
            "name its values: from t pivot (sum(x) for kind in ('a', 'b'))",
        )
    return fault_at(
        "WH202", f"a model is one select, not {word}", text, place, found[0].offset,
        "write the select alone: wh build makes the table, named as the file",
    )


def statements_fault(text: str, place: str) -> WarehouseError:
    """WH202 for a text of no statement or of more than one."""
    second = second_statement(tokens(text))
    if second is None:
        hint = "write one select, or delete the file"
        return fault_at("WH202", "the file has no SQL", text, place, first_token(text), hint)
    hint = "move it to a file of its own, or delete it"
    return fault_at("WH202", "a second statement: a model is one select", text, place, second.offset, hint)


def _free_pivot(found: list[Token]) -> Token | None:
    """The first `pivot` that begins a statement or what is in brackets: it takes its columns from the data. A `pivot` after a
    table lists them."""
    pairs = zip([None, *found], found, strict=False)
    words = ("pivot", "pivot_wider")
    return next((token for before, token in pairs if token.text.lower() in words and (not before or before.text == "(")), None)


def second_statement(found: list[Token]) -> Token | None:
    """The first token after a semicolon that ends a statement."""
    pairs = pairwise(found)
    return next((token for before, token in pairs if before.text == ";" != token.text and before is not found[0]), None)


def _document(error: Exception) -> dict[str, Any]:
    text = str(error)
    start = text.find('{"')
    try:
        document = json.loads(text[start:]) if start >= 0 else {}
    except ValueError:
        document = {}
    return document if isinstance(document, dict) else {}


def _client_said(traceback: str) -> str:
    """What a store's client raised: the first line of its traceback that belongs to no frame."""
    raised = next((line for line in traceback.splitlines()[1:] if line[:1].strip()), "")
    kind, _, words = raised.partition(": ")
    return f"a file in the store cannot be read: {words if words not in ('', 'None') else kind}"


def _message(said: str, document: Mapping[str, Any]) -> str:
    if call := document.get("call"):
        return f"no function takes these types: {_plain(str(call))}"
    if csv := _CSV_FAULT.match(said):
        file = _CSV_FILE.search(said)
        said = f"{file[1] if file else 'a CSV file'}, line {csv[1]}: {csv[2]}"
    head = _plain(said.splitlines()[0] if said else "the engine refused it").rstrip("!.:")
    for pattern, words in IN_WORDS:
        head = re.sub(pattern, words, head)
    return head[:300]


def _plain(text: str) -> str:
    """Without what only the check's session has: its database's name, the types of literals."""
    text = re.sub(r"\b(memory|system|temp)\.(?=main|staging|mart|rollup|feed)", "", text)
    return text.replace("STRING_LITERAL", "VARCHAR").replace("INTEGER_LITERAL", "INTEGER")


def _named_in(said: str, text: str) -> int:
    """Where `text` names what a message without a place quotes; else where the statement begins."""
    names = {name.lower().rpartition(".")[2] for name in _NAMED.findall(said)}
    found = tokens(text)
    if "parameters:" in said:
        places = [token.offset for token in found if token.text[0] in "?$"][:1]
    elif said.startswith("Set operations"):
        places = [token.offset for token in found if token.text.lower() in ("union", "intersect", "except")][:1]
    else:
        places = [token.offset for token in found if token.text.strip("\"'").lower() in names]
    if said.startswith("Duplicate CTE"):
        defined = [a.offset for a, b in pairwise(found) if a.offset in places and b.text.lower() == "as"]
        places = defined or places
    return places[-1] if places else first_token(text)


def _way_out(said: str, document: Mapping[str, Any], text: str, offset: int) -> str:
    name = str(document.get("name", ""))
    candidates = re.split(r",| or ", str(document.get("candidates", "")))
    _, _, listed = said.partition("Candidate")
    candidates = [_plain(word.strip()) for word in candidates if word.strip()] or re.findall(r'"([^"]+)"', listed)
    subtype = document.get("error_subtype")
    if subtype == "NO_MATCHING_FUNCTION":
        forms = [_plain(line.strip()) for line in said.splitlines() if "->" in line]
        return f"it takes: {'; '.join(forms)}" if len(forms) <= 3 else "cast to a type that it accepts: x::double"
    for pattern, way in WAYS_OUT:
        if re.search(pattern, said):
            return way
    if use := re.search(r"\(use: (.+)\)", said):
        return f"say which: {_plain(use[1])}".replace("'", "")
    if subtype == "MISSING_ENTRY":
        kind = str(document.get("type", "name")).lower()
        return did_you_mean(name, candidates) or (_TABLES if kind == "table" else f"DuckDB has no such {kind}: check the spelling")
    slip = name or next(iter(_NAMED.findall(said.splitlines()[0])[-1:]), "")
    if candidates and (near := did_you_mean(slip, candidates)):
        return near
    if text[offset : offset + 1] == '"' and "not found" in said:
        return "double quotes are for names: text goes in single quotes"
    if text[offset : offset + 1] in ("“", "”", "‘", "’"):
        return "SQL does not accept typographic quotes: use ' for text"
    if candidates and re.search(r"\bcolumn\b.*not found", said.splitlines()[0]):
        alike = [each for each in candidates if slip.lower() in each.lower()]
        return f"did you mean one of: {', '.join(alike)}?" if alike else "no column has a name like it: wh describe TABLE lists the columns"
    if candidates:
        return f"the nearest names are: {', '.join(candidates)}"
    advice = " ".join(map(str.strip, said.splitlines()[1:])).strip()
    if advice and not _SETTING.search(advice):
        return advice
    return WAYS_OUT_OF_KIND.get(str(document.get("exception_type")), "see DuckDB's documentation of this clause")


def _syntax_hint(text: str, offset: int) -> str:
    found = tokens(text)
    index = next((i for i, token in enumerate(found) if token.offset >= offset), len(found) - 1)
    if text.startswith(("{{", "{%"), offset):
        return "a model is plain SQL without templates: write bare table names"
    if (open_bracket := _unclosed(found)) is not None:
        line, column = line_and_column(text, open_bracket.offset)
        return f"the {open_bracket.text} at {line}:{column} is not closed"
    if not found:
        return _WAY_HERE
    token, before = found[index], found[index - 1].text.lower() if index else ""
    if token.text in _OPENING.values() and not _matched(found, index):
        return f"this {token.text} closes nothing"
    if token.text == before == ",":
        return "there is one comma too many"
    word = token.text.lower()
    if token.kind == "word" and word not in _STATEMENT_WORDS and (near := did_you_mean(word, _STATEMENT_WORDS)):
        return near
    # An unknown word after a name is read as an alias, and what comes next is the error.
    if index and token.kind == found[index - 1].kind == "word" and (slip := _slip(before)):
        return f"did you mean {slip}, not {before}?"
    if word in RESERVED and before in ("from", "join", "as", ".", ",", "select"):
        return f'{word} is an SQL keyword: as a name, put it in double quotes, "{word}"'
    if index == len(found) - 1 or found[index + 1].text == ";":
        return "the SQL ends before it is complete: something must come after this"
    return _WAY_HERE


def _slip(word: str) -> str | None:
    """The word of SQL that `word` is one slip away from: letters exchanged, one missing or one too many. None of a word of SQL itself."""
    if word in _STATEMENT_WORDS:
        return None
    near = get_close_matches(word, _STATEMENT_WORDS, n=1, cutoff=0.8)
    exchanged = [known for known in _STATEMENT_WORDS if len(word) > 2 and sorted(known) == sorted(word)]
    return next(iter([*near, *sorted(exchanged)]), None)


def _unclosed(found: list[Token]) -> Token | None:
    """The innermost bracket that is never closed; None when all are."""
    opened: list[Token] = []
    for token in found:
        if token.text in _OPENING:
            opened.append(token)
        elif opened and token.text == _OPENING[opened[-1].text]:
            opened.pop()
    return opened[-1] if opened else None


def _matched(found: list[Token], index: int) -> bool:
    depth = 0
    for token in found[: index + 1]:
        depth += (token.text in _OPENING) - (token.text in _OPENING.values())
    return depth >= 0
