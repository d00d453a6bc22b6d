"""When numbers of publications were last verified here, and what came out: shown to people, and never a proof.

A small file beside the builds, which anyone may delete or forge: nothing but a page reads it. It has an entry for each publication that was
verified as a whole, and one for each number that was verified by itself since.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warehouse.evidence.durable import replace_durably
from warehouse.project.project import Project

STATE_FILE = "verified.json"


@dataclass(frozen=True)
class LastCheck:
    """The state of a number (`verdict.STATES`) when it was last verified, and when that was; `doubt` is the state of its publication as a whole, if
    that was not all that its query gives."""

    state: str
    at: datetime
    doubt: str | None = None

    def age(self, now: datetime) -> str:
        """How long ago it was, to the hour."""
        hours = int((now - self.at).total_seconds() // 3600)
        return "within the hour" if hours < 1 else f"{hours} h ago" if hours < 48 else f"{hours // 24} days ago"


def remember_number(project: Project, publication: str, number_id: str, state: str) -> None:
    """Remember that one number was verified now."""
    found = _read(project)
    found.setdefault(publication, {}).setdefault("numbers", {})[number_id] = {"at": _now(), "state": state}
    _write(project, found)


def remember_publication(project: Project, publication: str, states: Mapping[str, str], doubt: str | None) -> None:
    """Remember that all numbers of a publication, by their ids, were verified now, and the `doubt` about it as a whole."""
    if not states:
        return
    ((most, _),) = Counter(states.values()).most_common(1)
    others = {number_id: state for number_id, state in states.items() if state != most}
    found = _read(project)
    found[publication] = {"at": _now(), "state": most, "others": others, "doubt": doubt}
    _write(project, found)


def last_check(project: Project, publication: str, number_id: str) -> LastCheck | None:
    """When a number was last verified here, as far as anything remembers it."""
    with suppress(KeyError, TypeError, ValueError, AttributeError):  # whatever lies there
        of_publication = _read(project)[publication]
        own = of_publication.get("numbers", {}).get(number_id)
        state = own["state"] if own else of_publication["others"].get(number_id, of_publication["state"])
        doubt = of_publication.get("doubt")
        return LastCheck(str(state), datetime.fromisoformat((own or of_publication)["at"]), str(doubt) if doubt else None)
    return None


def publication_check(project: Project, publication: str) -> tuple[LastCheck, Counter[str]] | None:
    """When a publication was last verified here as a whole, and how many of its numbers are in another state than most of them are; numbers that were
    verified by themselves since count with the state that they have now."""
    with suppress(KeyError, TypeError, ValueError, AttributeError):  # whatever lies there
        of_publication = _read(project)[publication]
        doubt = of_publication.get("doubt")
        others = {str(number): str(state) for number, state in of_publication["others"].items()}
        others |= {str(number): str(each["state"]) for number, each in of_publication.get("numbers", {}).items()}
        check = LastCheck(str(of_publication["state"]), datetime.fromisoformat(of_publication["at"]), str(doubt) if doubt else None)
        return check, Counter(state for state in others.values() if state != check.state)
    return None


def number_checks(project: Project, publication: str) -> list[LastCheck]:
    """What was found of the numbers of a publication that were verified by themselves, after it was verified as a whole if it ever was."""
    with suppress(KeyError, TypeError, ValueError, AttributeError):  # whatever lies there
        numbers = _read(project)[publication]["numbers"]
        return [LastCheck(str(each["state"]), datetime.fromisoformat(each["at"])) for each in numbers.values()]
    return []


def checks_state(project: Project) -> str:
    """What changes when anything is verified."""
    try:
        found = _path(project).stat()
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_size}"


def _path(project: Project) -> Path:
    return project.builds / STATE_FILE


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(project: Project) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(_path(project).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and all(isinstance(each, dict) for each in found.values()) else {}


def _write(project: Project, found: Mapping[str, Any]) -> None:
    with suppress(OSError):  # a reader may not write here: then nothing is remembered
        replace_durably(_path(project), json.dumps(found, sort_keys=True).encode())
