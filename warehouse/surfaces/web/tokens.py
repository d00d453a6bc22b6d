"""Who may come in: bearer tokens with a role. Their file has the digest of each and never a token itself."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from warehouse.digest import bytes_digest
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.evidence.durable import make_folder, replace_durably
from warehouse.project.project import Project

ROLES = ("read", "admin")
_FILE = ".wh/tokens.json"
_PREFIX = "wh_"


@dataclass(frozen=True)
class Token:
    """A token as its file has it: the name that it was given, its role (`ROLES`), the sha256 of its text, and when it was made (UTC)."""

    name: str
    role: str
    sha256: str
    made_at: str


class Tokens:
    """The tokens of a project, as its file says now: one that is removed from it stops working at once."""

    def __init__(self, project: Project) -> None:
        self.path = project.root / _FILE
        self._stamp: tuple[int, int] | None = None
        self._found: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Raises WH602 when the file is not valid: then all requests are refused."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return ()
        stamp = (stat.st_mtime_ns, stat.st_size)
        if stamp != self._stamp:
            try:
                self._found = tuple(_token(each) for each in json.loads(self.path.read_bytes()))
            except (ValueError, TypeError, KeyError) as error:
                hint = "remove it, and make the tokens again: wh token new"
                raise WarehouseError("WH602", f"it cannot be read: {error}", str(self.path), hint) from error
            self._stamp = stamp
        return self._found

    def holder(self, text: str) -> Token | None:
        """Whose token a text is. Takes the same time whichever it is, or none."""
        digest = bytes_digest(text.encode("utf-8", "surrogateescape"))
        found = None
        for each in self.all():
            if hmac.compare_digest(each.sha256, digest):
                found = each
        return found

    def make(self, name: str, role: str) -> str:
        """A new token, which is shown now and never again. Raises WH602 when the name is taken."""
        if any(each.name == name for each in self.all()):
            hint = f"wh token revoke {printable(name)}"
            raise WarehouseError("WH602", f"there is a token {printable(name)!r}", str(self.path), hint, ExitCode.USAGE)
        text = _PREFIX + secrets.token_urlsafe(32)
        token = Token(name, role, bytes_digest(text.encode()), f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        self._write((*self.all(), token))
        return text

    def revoke(self, name: str) -> None:
        """Raises WH602 when no token has the name."""
        rest = [each for each in self.all() if each.name != name]
        if len(rest) == len(self.all()):
            hint = f"there are: {', '.join(printable(each.name) for each in rest)}" if rest else None
            raise WarehouseError("WH602", f"no token is named {printable(name)!r}", str(self.path), hint, ExitCode.NOT_FOUND)
        self._write(rest)

    def _write(self, tokens: Any) -> None:
        make_folder(self.path.parent)
        replace_durably(self.path, json.dumps([asdict(each) for each in tokens], indent=1).encode())
        os.chmod(self.path, 0o600)


def _token(record: dict[str, Any]) -> Token:
    token = Token(**record)
    if token.role not in ROLES or len(token.sha256) != 64 or not all(isinstance(value, str) for value in record.values()):
        raise ValueError(f"{token.name!r} is not a token")
    return token


