"""Numbers as C programs print them into JSON: `nan`, `-nan`, `inf`, `1.#QNAN`, and an exponent whose sign became a blank.

None of them is JSON, and none has a value. Each is reported at its place, and the rest of the document is read.
"""

from __future__ import annotations

import re

from warehouse.landing.readers.text import Report, clean

# What a document must contain to be looked at closer, which costs a hundred times as much.
_HINTS = (b"nan", b"NAN", b"-NaN", b"+NaN", b"inf", b"INF", b"+Inf", b".#", b"e 0", b"e 1", b"E 0", b"E 1")
_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*+"|(?<=[:,\[\s])(?P<token>'
    rb"[-+]?(?:nan|NAN)(?:\([^()\s\"]{0,20}\))?|[-+]NaN|[-+]?(?:inf|INF)(?:inity|INITY)?|\+Inf(?:inity)?|[-+]?\d+\.#\w+"
    rb"|[-+]?\d+(?:\.\d*)?[eE] +\d{1,3})(?=[\s,}\]])",
    re.DOTALL,
)


def mended(data: bytes, report: Report, start: tuple[int, int] = (0, 1)) -> bytes:
    """The document with an empty text, which states nothing, in place of each such number: every other value keeps its place.
    `start` is the byte offset and line number of `data` in its file."""
    if not any(hint in data for hint in _HINTS):
        return data
    parts: list[bytes] = []
    done = 0
    for found in _TOKEN.finditer(data):
        if (token := found["token"]) is None:
            continue
        parts += (data[done : found.start()], b'""'.ljust(len(token)))
        done = found.end()
        message = f"{clean(token.decode())} is not a JSON number and is read as missing"
        report("not-a-json-number", message, start[0] + found.start(), len(token), start[1] + data.count(b"\n", 0, found.start()), "error")
    return b"".join((*parts, data[done:])) if parts else data
