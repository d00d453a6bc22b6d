"""Addresses as they may be shown: without what only their owners know. A store's URL may carry a password or a signed
key, and errors, `wh doctor`, the ledger and lineage are read by others.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

# A password may have an @ in it, and, written badly, a slash. What is a number and ends there is a port: `//host:22/a@b`.
_PASSWORD = re.compile(r"(//[^\s/@:]*):(?!\d{1,5}(?:[/\s'\"?#,;)\]]|:\s|$))(?:[^/\n]*(?=@)|[^\n]*(?=@))")
_KEY = re.compile(r"([?&][^\s=&#]*(?:key|token|sig|secret|pass|pwd|auth|credential)[^\s=&#]*=)[^\s&#'\"]+", re.IGNORECASE)
_HIDDEN = "***"


def shown(text: str) -> str:
    """`text` without the passwords and signed keys of the URLs in it; a user's name stays."""
    if "://" not in text:
        return text
    return _KEY.sub(rf"\1{_HIDDEN}", _PASSWORD.sub(r"\1", text))


def shown_beside(url: str, text: str) -> str:
    """What a client at `url` says, without the secrets of that address, of which it may name parts."""
    found = [match[0].removeprefix(match[1])[1:] for match in _PASSWORD.finditer(url)]
    found += [match[0].removeprefix(match[1]) for match in _KEY.finditer(url)]
    for secret in sorted({form for each in found for form in (each, unquote(each), quote(each, safe="")) if form}, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return shown(text)
