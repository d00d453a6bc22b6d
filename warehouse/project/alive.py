"""What a project says of keeping a warehouse alive: from when on something is too old, and who is told of what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time

from warehouse.errors import did_you_mean
from warehouse.project.file import ProjectFile

EVENTS, BUILDS, VERIFICATIONS, DECISIONS, FRESHNESS = "events", "builds", "verifications", "decisions", "freshness"
NOTICE_KINDS = (EVENTS, BUILDS, VERIFICATIONS, DECISIONS, FRESHNESS)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_MOST_DAYS = 36_500


@dataclass(frozen=True)
class FreshnessLimits:
    """In days: how long ago a publication may have been verified, how long before evidence expires it is listed, and how old the lock of a
    stack and the state of the package index may be."""

    verified_days: int = 30
    expiry_days: int = 60
    lock_days: int = 90
    index_days: int = 7


@dataclass(frozen=True)
class NotifyRules:
    """Which kinds of notices (of `NOTICE_KINDS`) go to which address, each address by the environment variable that has it; and when (UTC)
    nothing is sent."""

    to: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    quiet_hours: tuple[time, time] | None = None

    def is_quiet(self, now: datetime) -> bool:
        if self.quiet_hours is None:
            return False
        begin, end = self.quiet_hours
        at = now.time()
        return begin <= at < end if begin <= end else at >= begin or at < end


def read_freshness_limits(file: ProjectFile) -> FreshnessLimits:
    """Raises WH002."""
    found = {}
    for key, default in vars(FreshnessLimits()).items():
        found[key] = file.value("freshness", key, int, default)
        if not 0 <= found[key] <= _MOST_DAYS:
            raise file.fault("freshness", key, f"freshness.{key} is a number of days from 0 to {_MOST_DAYS}", f"for example: {key} = {default}")
    return FreshnessLimits(**found)


def read_notify_rules(file: ProjectFile) -> NotifyRules:
    """Raises WH002."""
    said = file.value("notify", "quiet_hours", str, "")
    hours = _HOURS.fullmatch(said) if said else None
    if said and hours is None:
        raise file.fault("notify", "quiet_hours", f"notify.quiet_hours {said!r} is not a span of the day", 'for example: quiet_hours = "20:00-06:00"')
    quiet = (time(int(hours[1]), int(hours[2])), time(int(hours[3]), int(hours[4]))) if hours else None
    stated = file.section("notify").get("to", {})
    hint = 'write it like this: to = {WH_NOTIFY_TEAM = ["events", "builds"]}'
    if not isinstance(stated, dict):
        raise file.fault("notify", "to", "notify.to has the kinds of notices by environment variable", hint)
    return NotifyRules({name: _kinds(file, name, kinds) for name, kinds in stated.items()}, quiet)


def _kinds(file: ProjectFile, name: str, kinds: object) -> tuple[str, ...]:
    if not _VARIABLE.fullmatch(name):  # what is shown of a name that may be an address is nothing
        message = "a key of notify.to is the name of an environment variable, never the address itself"
        raise file.fault("notify", "to", message, 'write it like this: to = {WH_NOTIFY_TEAM = ["events", "builds"]}')
    if not isinstance(kinds, list) or not kinds:
        raise file.fault("notify", "to", f"notify.to.{name} is a list of kinds", f"kinds are: {', '.join(NOTICE_KINDS)}")
    for kind in kinds:
        if kind not in NOTICE_KINDS:
            known = did_you_mean(str(kind), NOTICE_KINDS) or f"kinds are: {', '.join(NOTICE_KINDS)}"
            raise file.fault("notify", "to", f"{kind!r} is not a kind of notice", known)
    return tuple(kind for kind in NOTICE_KINDS if kind in kinds)
