"""How serious an issue is, by one rule for every ingestor.

An `error` says that rows or values were lost or are wrong. A `warning` says that the rows are there and worth a look. A `note`
is harmless and kept for the record.
"""

from __future__ import annotations

import re

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)

# Tools that round, or that interpolate a percentile in another way, are a few per cent apart. Two values of which one is
# more than twice the other are not the same quantity, or not in the same unit.
_NOTED, _ALARMING = 0.05, 0.5

_NAME = re.compile(r"[\W_]+")
_NO_NAMES = frozenset({"", "na", "none", "null", "unknown", "tbd", "todo", "undefined"})
_TEMPLATE = re.compile(r"placeholder|^\s*[<${\[].*[>}\]]\s*$", re.IGNORECASE)


def disagreement(stated: float, found: float) -> tuple[str, str]:
    """The severity of two values that should be equal, and how far apart they are in words: `2.1 % apart`, `a factor of 7
    apart`. Their relative difference is that of the larger one: up to 5 % is a note, up to 50 % a warning, more an error."""
    largest = max(abs(stated), abs(found))
    difference = abs(stated - found) / largest if largest else 0.0
    if difference <= _NOTED:
        return NOTE, f"{100 * difference:.2g} % apart"
    if difference <= _ALARMING:
        return WARNING, f"{100 * difference:.2g} % apart"
    smallest = min(abs(stated), abs(found))
    if stated * found > 0:
        return ERROR, f"a factor of {largest / smallest:.3g} apart"
    return ERROR, "one of them is 0" if smallest == 0 else "of opposite signs"


def identity_issue(part: str, stated: str | None, folder: str) -> tuple[str, str, str] | None:
    """(code, message, severity) of a file that names another submitter, division or benchmark than its path; None where both
    are the same name. A placeholder that was not filled in states nothing, so it contradicts nothing."""
    if stated is None or _folded(stated) == _folded(folder):
        return None
    if _folded(stated) in _NO_NAMES or _TEMPLATE.search(stated):
        return f"{part}-placeholder", f"the file says {stated[:120]!r}, which is no name; the folder is {folder!r}", NOTE
    return f"{part}-mismatch", f"the file says {stated[:120]!r}, the folder {folder!r}; the folder is taken", WARNING


def _folded(name: str) -> str:
    """Submitters write Red Hat, RedHat and Red_Hat."""
    return _NAME.sub("", name).casefold()
