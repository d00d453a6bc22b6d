"""One exception, one table of codes, one enum of exit statuses.

Every failure a user can cause or meet is a `WarehouseError` with a stable code, the place it happened
and, where there is one, the way out. Nothing in the library prints; the command line does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """What `wh` returns to the shell."""

    OK = 0  # done
    FAILED = 1  # the work could not be done; standard error says why
    USAGE = 2  # the command line itself was wrong
    TAMPERED = 3  # stored bytes differ from their digest
    MISSING = 4  # stored bytes that a number needs are not there
    NOT_FOUND = 5  # nothing carries the name, number or key that was asked for
    AMBIGUOUS = 6  # several things carry it; they are listed


CODES: dict[str, str] = {
    # project
    "WH001": "no project found here or in a parent folder",
    "WH002": "the project file is not valid",
    "WH003": "the folder already holds a project",
    "WH004": "a path that must exist does not",
    "WH005": "the operating system refused",
    # evidence
    "WH101": "nothing to ingest under this path",
    "WH102": "a file could not be read and was left out",
    "WH103": "a path escapes its bundle or is not normalised",
    "WH104": "a link or special file was left out",
    "WH105": "stored bytes differ from their digest",
    "WH106": "stored bytes are missing",
    "WH107": "a manifest is not valid",
    "WH108": "a file changed while it was read",
    "WH109": "the store could not be written",
    # ingestors and landing
    "WH120": "several ingestors claim the same file",
    "WH121": "an ingestor is not valid",
    "WH123": "a landing batch is damaged",
    # models
    "WH201": "a model's header is not valid",
    "WH202": "a model's SQL could not be parsed",
    "WH203": "a table that no model, feed or landing table provides",
    "WH204": "a model does not bind: unknown column, function or type",
    "WH205": "two models have the same name",
    "WH206": "models depend on each other in a circle",
    "WH207": "a model's columns differ from its contract",
    "WH208": "a feed is not valid",
    "WH209": "a model failed while it was built",
    "WH210": "a test on the built tables failed",
    "WH211": "there is no build yet",
    "WH212": "another build is running",
    "WH213": "the query could not be run",
    "WH218": "a build's database is not the one that was built",
    "WH220": "the folder for the documentation holds something else",
    "WH221": "lineage events could not be delivered",
    # claims
    "WH301": "no query spec has this name",
    "WH302": "a query spec's rows are not unique at its grain",
    "WH303": "the query gave another result than the build's rollup",
    "WH304": "no number matches",
    "WH305": "several numbers match",
    "WH306": "the SQL uses a construct that cannot be traced",
    "WH307": "a publication is damaged",
    "WH308": "a number rests on no evidence",
    # recorder
    "WH401": "the command could not be started",
}


@dataclass
class WarehouseError(Exception):
    """A failure with a code from `CODES`, a message, a place (`file:line:column`, a path or a key) and a hint."""

    code: str
    message: str
    place: str | None = None
    hint: str | None = None
    exit_code: ExitCode = ExitCode.FAILED

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown error code {self.code}")

    def __str__(self) -> str:
        where = f" {self.place}:" if self.place else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.code}{where} {self.message}{hint}"


def printable(text: str) -> str:
    """`text` on one line, with control characters escaped: file names come from strangers and reach terminals."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
