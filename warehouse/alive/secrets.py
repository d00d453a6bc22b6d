"""Takes secrets out of what is told to people: what looks like one, and whatever is part of an address that notices go to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from warehouse.project.project import Project
from warehouse.record.redaction import HIDDEN, redacted

_SEVERAL = re.compile(r"[\s,;]+(?=[a-z][a-z0-9+.-]*://)", re.IGNORECASE)  # what apprise takes for addresses in one text
_SHORTEST, _LONG = 5, 12  # characters of a part of an address that may be a secret: of a password, and of a part that may be a word


def without_secrets(project: Project, text: str) -> str:
    """A text without what looks like a secret, and without any part of an address that notices go to."""
    (text,), _ = redacted([text], project.redact)
    addresses = (each for name in project.notify.to for each in _SEVERAL.split(os.environ.get(name, "")))
    for secret in sorted({part for address in addresses for part in _parts(address)}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _parts(address: str) -> Iterator[str]:
    """An address, and what may be a secret in it: its password and user, a host that is no host's name but a token, as services of chats have it, and
    long parts of the path and values of the query."""
    if not address:
        return
    yield address
    try:
        place = urlsplit(address)
        parts = [place.password, place.username, *(each for each in place.path.split("/") if len(each) >= _LONG)]
        parts += [value for _, value in parse_qsl(place.query) if len(value) >= _LONG]
        parts.append(place.netloc.rpartition("@")[2] if "." not in place.netloc and ":" not in place.netloc else None)
    except ValueError:
        return
    for part in parts:
        if part and len(part) >= _SHORTEST and part != "localhost":
            yield part
            yield unquote(part)
