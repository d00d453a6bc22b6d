"""What a check of the store finds: of which kind, where, and how bad it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.errors import ExitCode, printable

ALTERED = "altered"  # its bytes are not what a digest says
MISSING = "missing"  # something that is there, or the ledger, says that it should be there
ORPHANED = "orphaned"  # nothing says what it is for
INSERTED = "inserted"  # it says it is older than an event that does not know it
UNLEDGERED = "unledgered"  # it is whole, and the ledger has no word of it
UNPROTECTED = "unprotected"  # it may be whole: no digest tells
LEFTOVER = "leftover"  # of a crash, seen by no reader

RESTORE = "restore it from a copy of the store"
AWAY = "it is not read: move it away by hand"

# Kind to its code and to what `wh` returns for it; the worst first.
_KINDS = {
    ALTERED: ("WH105", ExitCode.TAMPERED),
    MISSING: ("WH106", ExitCode.MISSING),
    ORPHANED: ("WH117", ExitCode.FAILED),
    INSERTED: ("WH130", ExitCode.FAILED),
    UNLEDGERED: ("WH118", ExitCode.FAILED),
    UNPROTECTED: ("WH119", ExitCode.OK),
    LEFTOVER: ("WH126", ExitCode.OK),
}


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be: its kind (one of those above), the key of the object, what is wrong, and the
    way out."""

    kind: str
    key: str
    message: str
    hint: str | None = None

    @property
    def code(self) -> str:
        return _KINDS[self.kind][0]

    def __str__(self) -> str:
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.code} {printable(self.key)}: {self.kind}: {printable(self.message)}{hint}"


def worst(kinds: Iterable[str]) -> ExitCode:
    """What `wh` returns for findings of these kinds."""
    found = set(kinds)
    return next((status for kind, (_, status) in _KINDS.items() if kind in found), ExitCode.OK)
