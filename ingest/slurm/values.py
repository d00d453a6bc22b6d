"""Slurm's ways to write a value: times without a zone, states with who cancelled, exit codes, resources in one text, numbers as objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from warehouse.landing.readers.json_text import is_lost_number, json_number
from warehouse.landing.readers.records import Flag, shown
from warehouse.landing.readers.text import clean, landed_text, number_in, whole

NOTHING = frozenset({"", "unknown", "none", "n/a", "(null)", "null", "(none)", "invalid", "none assigned", "unlimited"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MOMENT_S = 253_402_300_800  # the year 10000
_LONGEST_S = 1e9
_DURATION = re.compile(r"(?:(\d{1,5})-)?(?:(\d{1,4}):)?(\d{1,4}):(\d{1,2}(?:\.\d{1,6})?)", re.ASCII)
_CLOCK_CHANGES_S = frozenset({1800, 3600, 7200})  # Lord Howe Island, most zones, double summer time
_SECONDS = re.compile(r"[1-9]\d{8,9}", re.ASCII)  # since 1973
_EXIT = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)
_GPUS = re.compile(r"gres/gpu(:[^=,]+)?=([^,]*)")
_GRES_GPUS = re.compile(r"gpu(?::([^:,()]+))?:(\d{1,9})(?=[,(]|\Z)", re.ASCII)
_CANCELLED_BY = re.compile(r"(CANCELLED)\s+by\s+(\S+)")


def present(text: str | None) -> str | None:
    """The text, however long, or None where Slurm says that there is none."""
    if not text:  # most cells are empty
        return None
    text = clean(text).strip()
    return None if text.casefold() in NOTHING else text


def stated(text: str | None) -> str | None:
    """The text as it lands, or None where Slurm says that there is none."""
    text = present(text)
    return None if text is None else landed_text(text)


def moment(text: str | None, flag: Flag, name: str) -> tuple[datetime | None, bool | None]:
    """A time, and whether its zone was assumed: Slurm writes the local time of its machine, unless SLURM_TIME_FORMAT asks for the zone, or for
    seconds of the Unix epoch (%s)."""
    if (text := present(text)) is None:
        return None, None
    if _SECONDS.fullmatch(text):
        return _EPOCH + timedelta(seconds=int(text)), False
    try:
        found = datetime.fromisoformat(text)
        return (found.replace(tzinfo=UTC), True) if found.tzinfo is None else (found.astimezone(UTC), False)
    except (ValueError, OverflowError):
        flag("not-a-time", f"{name}: {text}"[:200])
        return None, None


def duration(text: str | None, flag: Flag, name: str) -> float | None:
    """Seconds, of `[DD-]HH:MM:SS`, `MM:SS.mmm` or a number of seconds."""
    if (text := present(text)) is None:
        return None
    if found := _DURATION.fullmatch(text):
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return days * 86_400 + hours * 3600 + minutes * 60 + seconds
    seconds_in = number_in(text)
    if seconds_in is None or not 0 <= seconds_in < _LONGEST_S:
        flag("impossible-duration" if seconds_in is not None else "not-a-number", f"{name}: {text}"[:200])
        return None
    return seconds_in


def settle_times(row: dict[str, Any], flag: Flag, *, is_local: bool) -> None:
    """Make a record's end follow from its start and its run time where both contradict it. Slurm counts the run time itself: end - start -
    time suspended (as_mysql_jobacct_process.c). Its local times do not: a clock that was set back shows an hour twice. An end before
    the start does not stand. `is_local`: start and end are local times without a zone."""
    started, ended, elapsed, suspended = (row.get(name) for name in ("started_at", "ended_at", "elapsed_s", "suspended_s"))
    if started is None or ended is None:
        return
    between = (ended - started).total_seconds()
    if elapsed is None:
        if between < 0:
            code = "ambiguous-time" if is_local else "impossible-time"
            flag(code, f"it ended at {ended:%H:%M:%S}, before its start at {started:%H:%M:%S}: its end is not known")
            row["ended_at"] = None
        return
    shift = elapsed + (suspended or 0) - between
    if abs(shift) <= 1:  # each is cut to whole seconds
        return
    is_clock = is_local and abs(shift) in _CLOCK_CHANGES_S
    if shift < 0 and suspended is None and not is_clock:
        row["suspended_s"] = -shift
        return
    row["ended_at"] = started + timedelta(seconds=elapsed + (suspended or 0))
    stated_times = f"{started:%H:%M:%S} to {ended:%H:%M:%S} is {between:g} s, but the job ran {elapsed:g} s"
    if is_clock:
        flag("ambiguous-time", f"{stated_times}: the clock was changed meanwhile, and the end is taken from the run time")
    else:
        flag("end-contradicted", f"{stated_times}: the end is taken from the run time")


def epoch(value: Any, flag: Flag, name: str) -> datetime | None:
    """A time in seconds of the Unix epoch, bare or as a number object; 0 is not set."""
    seconds = number(value, flag, name)
    if seconds is None or seconds == 0:
        return None
    if not 0 < seconds < _LAST_MOMENT_S:
        flag("impossible-time", f"{name}: {shown(value)}")
        return None
    return _EPOCH + timedelta(seconds=seconds)


def number(value: Any, flag: Flag, name: str) -> float | None:
    """A number of Slurm's JSON: bare, or {set, infinite, number} since 22.05. Not set and infinite are None."""
    if isinstance(value, dict):
        if "number" not in value:
            return None
        is_set = value.get("set", True) is True and value.get("infinite", False) is not True
        return number(value["number"], flag, name) if is_set else None
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING):
        return None
    found = json_number(value)
    if found is None:
        flag("non-finite-number" if is_lost_number(value) else "not-a-number", f"{name}: {shown(value)}")
    return found


def count(value: Any, flag: Flag, name: str) -> int | None:
    """A number of things, as `number` reads it."""
    found = number(value, flag, name)
    if found is None:
        return None
    if found < 0 or (counted := whole(found)) is None:
        flag("impossible-count", f"{name}: {shown(value)}")
        return None
    return counted


def count_in(text: str | None, flag: Flag, name: str) -> int | None:
    """A number of things in text."""
    if (text := present(text)) is None:
        return None
    found = whole(number_in(text))
    if found is None or found < 0:
        flag("impossible-count" if number_in(text) is not None else "not-a-number", f"{name}: {text}"[:200])
        return None
    return found


def state(text: str | None) -> tuple[str | None, str | None]:
    """A job's state, and who cancelled it: `CANCELLED by 1001`."""
    text = stated(text)
    if text is None:
        return None, None
    cancelled = _CANCELLED_BY.fullmatch(text)
    return (cancelled[1], cancelled[2]) if cancelled else (text.upper(), None)


def exit_columns(text: str | None, flag: Flag) -> dict[str, Any]:
    """`0:9`: the exit code, and the signal that ended the job; of 0 there was none."""
    if (text := present(text)) is None:
        return {}
    found = _EXIT.fullmatch(text)
    if found is None:
        flag("not-an-exit-code", text[:120])
        return {}
    return {"exit_code": int(found[1]), "exit_signal": int(found[2]) or None}


def exit_of(value: Any, flag: Flag) -> dict[str, Any]:
    """An exit code of Slurm's JSON: a wait status (21.08, slurm/slurm.h), {return_code, signal} since 23.02, with number objects
    since 23.11."""
    if isinstance(value, dict) and "return_code" in value:
        signal = value.get("signal")
        signal = signal.get("id", signal.get("signal_id")) if isinstance(signal, dict) else None
        return {
            "exit_code": count(value["return_code"], flag, "exit_code/return_code"),
            "exit_signal": count(signal, flag, "exit_code/signal") or None,
        }
    status = count(value, flag, "exit_code")
    if status is None or status >= 1 << 16:
        return {}
    return {"exit_code": status >> 8, "exit_signal": status & 0x7F or None}


def gpus(tres: str | None, gres: str | None, flag: Flag) -> int | None:
    """How many GPUs a text of trackable resources names (`cpu=96,gres/gpu=8`), else one of generic ones (`gpu:a100:8`). None: it names no
    GPUs, which is not the same as none."""
    if found := _GPUS.findall(tres or ""):
        if not all(amount.isascii() and amount.isdigit() and len(amount) < 10 for _, amount in found):
            flag("not-a-number", f"GPUs: {tres}"[:200])
            return None
        whole_counts = [int(amount) for kind, amount in found if not kind]
        return whole_counts[0] if whole_counts else sum(int(amount) for _, amount in found)
    generic = _GRES_GPUS.findall(gres or "")
    return sum(int(amount) for _, amount in generic) if generic else None


def resource(listed: Any, kind: str, name: str, flag: Flag) -> int | None:
    """How much of a resource a list of trackable ones has, as slurmdbd's JSON lists them: {type, name, count}. A GPU is counted once by itself
    and once by its type (gpu:a100). None: it is not in the list."""
    whole_counts: list[int | None] = []
    typed: list[int | None] = []
    for each in listed if isinstance(listed, list) else []:
        if not isinstance(each, dict) or each.get("type") != kind or not isinstance(each.get("name") or "", str):
            continue
        stated_name = each.get("name") or ""
        if stated_name == name or stated_name.startswith(f"{name}:"):
            (whole_counts if stated_name == name else typed).append(count(each.get("count"), flag, f"tres/{kind}"))
    stated_counts = [each for each in (whole_counts or typed) if each is not None]
    return sum(stated_counts) if stated_counts else None


def gpu_type(gres: str | None) -> str | None:
    """The type of GPU that generic resources name, where it is one: `gpu:ampere:8(IDX:0-7)`."""
    kinds = {kind for kind, _ in _GRES_GPUS.findall(gres or "") if kind}
    return kinds.pop() if len(kinds) == 1 else None


def words(value: Any) -> str | None:
    """One state or several (a list since 23.11), as Slurm's own text has them: IDLE+DRAIN."""
    some = value if isinstance(value, list) else [value]
    named = [each.strip().upper() for each in some if isinstance(each, str) and each.strip()]
    return stated(clean("+".join(named)))


def long_text(values: Mapping[str, Any], name: str) -> str | None:
    """The text at a key, however long."""
    value = values.get(name)
    return present(value) if isinstance(value, str) else None


def text_of(values: Mapping[str, Any], *names: str) -> str | None:
    """The first of some keys that states a text or number."""
    for name in names:
        value = values.get(name)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            continue
        if (found := stated(str(value))) is not None:
            return found
    return None

