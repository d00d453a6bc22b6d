"""`wh notify`: one digest for each address of what is new and what is over, sent through apprise. An address is only ever known by the name of the
environment variable that has it: neither a digest, an error nor a file says what it is."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from warehouse.alive.conditions import Conditions, conditions
from warehouse.alive.memory import Entry, Memory, alone, read_memory, write_memory
from warehouse.errors import ExitCode, WarehouseError, counted, printable
from warehouse.project.alive import BUILDS, DECISIONS, EVENTS, FRESHNESS, NOTICE_KINDS, VERIFICATIONS
from warehouse.project.project import Project

_MOST = 40  # entries of a digest
_HEADINGS = {
    BUILDS: "Builds", EVENTS: "What got worse", VERIFICATIONS: "Published numbers", DECISIONS: "Decisions that wait", FRESHNESS: "No longer fresh",
}


@dataclass(frozen=True)
class Digest:
    """What one address is told, or would be: `outcome` says what became of it."""

    variable: str
    title: str
    text: str
    entries: tuple[Entry, ...]
    outcome: Literal["sent", "nothing new", "quiet hours", "not delivered", "dry run"]
    problem: WarehouseError | None = None
    down_since: str | None = None  # since when it has not answered, if that was said before


@dataclass(frozen=True)
class Notified:
    """The digests, and the kinds of conditions that could not be looked at, with why."""

    digests: tuple[Digest, ...]
    now: Conditions


def notify(project: Project, now: datetime, *, is_dry: bool = False, is_of_all: bool = False) -> Notified:
    """Tell each address of the project's rules what is new to it and what is over, and remember that. A dry run only says what would be sent, and
    without rules shows all kinds. `is_of_all`: look at the conditions of all kinds, whoever is told of them. Raises WH114, and WH006 without
    apprise; an address that does not answer is a `problem` of its digest."""
    rules = project.notify
    to = dict(rules.to) or ({"(no address)": NOTICE_KINDS} if is_dry else {})
    found = conditions(project, NOTICE_KINDS if is_of_all else {kind for kinds in to.values() for kind in kinds}, now)
    if is_dry or not to:
        return Notified(tuple(_notified(project, found, now, to, read_memory(project), is_dry=True)), found)
    with alone(project):  # another run that sends the same waits, and has nothing new then
        memory = {variable: each for variable, each in read_memory(project).items() if variable in to}
        write_memory(project, memory)  # what cannot be remembered is not sent
        return Notified(tuple(_notified(project, found, now, to, memory, is_dry=False)), found)


def _notified(
    project: Project, found: Conditions, now: datetime, to: Mapping[str, Sequence[str]], memory: dict[str, Memory], *, is_dry: bool
) -> Iterator[Digest]:
    """Tell each address in turn. What became of it is remembered before the next one is told."""
    for variable, kinds in to.items():
        known = memory.get(variable, Memory({}, {}))
        entries = known.entries(found, kinds)
        title, text = render(project.name, entries)
        is_quiet = project.notify.is_quiet(now.astimezone(UTC))
        outcome, problem = _outcome(variable, title, text, is_empty=not entries, is_quiet=is_quiet, is_dry=is_dry)
        if outcome in ("sent", "nothing new"):
            memory[variable] = known.delivered(found, kinds)
        elif outcome != "dry run":
            memory[variable] = known.not_delivered(entries, now, is_down=outcome == "not delivered")
        if outcome != "dry run":
            write_memory(project, memory)
        yield Digest(variable, title, text, entries, outcome, problem, known.down_since)


def render(name: str, entries: Sequence[Entry]) -> tuple[str, str]:
    """The title and text of a digest."""
    new, over = (sum(each.what in whats for each in entries) for whats in (("new", "passed"), ("over",)))
    title = f"{name}: " + ", ".join([f"{new} new"] * bool(new) + [f"{over} over"] * bool(over) or ["nothing new"])
    lines: list[str] = []
    shown = sorted(entries, key=lambda each: ([*_HEADINGS].index(each.told.kind), each.what == "over"))[:_MOST]
    for kind, heading in _HEADINGS.items():
        if of_kind := [each for each in shown if each.told.kind == kind]:
            lines += ["", heading, *(line for each in of_kind for line in _lines(each))]
    if len(entries) > len(shown):
        lines += ["", f"and {len(entries) - len(shown)} more: wh status, wh changes and wh freshness list all"]
    return printable(title), "\n".join(lines).strip("\n")


def _lines(entry: Entry) -> Iterator[str]:
    since = f" (since {entry.told.since[:10]})" if entry.told.since and entry.told.since[:10] not in entry.told.title else ""
    if entry.what == "over":
        yield f"- over: {printable(entry.told.title)}"
    elif entry.condition is None:
        yield f"- came and went: {printable(entry.told.title)}{since}"
    else:
        yield f"- {printable(entry.told.title)}{since}"
        yield from (f"    {printable(line)}" for line in entry.condition.lines)
        yield from (f"    $ {printable(command)}" for command in entry.condition.commands[:1])


def _outcome(
    variable: str, title: str, text: str, *, is_empty: bool, is_quiet: bool, is_dry: bool
) -> tuple[Literal["sent", "nothing new", "quiet hours", "not delivered", "dry run"], WarehouseError | None]:
    if is_dry:
        return "dry run", None
    if is_empty:
        return "nothing new", None
    if is_quiet:
        return "quiet hours", None
    try:
        send(variable, title, text)
    except WarehouseError as error:
        if error.code != "WH561":
            raise
        return "not delivered", error
    return "sent", None


def send(variable: str, title: str, text: str) -> None:
    """Send a text to the address in an environment variable. Raises WH561, and WH006 without apprise."""
    try:
        from apprise import Apprise
    except ImportError as error:
        raise WarehouseError("WH006", "apprise is not installed", hint="pip install 'perf-warehouse[notify]'", exit_code=ExitCode.USAGE) from error
    address = os.environ.get(variable)
    if not address:
        raise WarehouseError("WH561", "the environment has no such variable", variable, f"export {variable}='ADDRESS', as apprise has it")
    with _silent():
        try:
            to = Apprise()
            is_known = to.add(address)
            is_sent = bool(is_known and to.notify(body=text, title=title, body_format="text"))
        except Exception as error:  # whatever a service's plugin raises; its words may have the address in them
            raise WarehouseError("WH561", f"it was not delivered ({type(error).__name__})", variable, _test(variable)) from None
    if not is_known:
        raise WarehouseError("WH561", "what it holds is no address that apprise knows", variable, _test(variable))
    if not is_sent:
        raise WarehouseError("WH561", "the service did not take it", variable, f"nothing is lost: it is sent next time. {_test(variable)}")


def _test(variable: str) -> str:
    return f'to see why: apprise -vv -b test "${variable}"'


@contextmanager
def _silent() -> Iterator[None]:
    """Without any log: that of apprise and those of what it sends with name addresses."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def counts(entries: Sequence[Entry]) -> str:
    """How many entries of which sort, in words."""
    kinds: Mapping[str, int] = {what: sum(each.what == what for each in entries) for what in ("new", "passed", "over")}
    return ", ".join(f"{count} {what}" for what, count in kinds.items() if count) or counted(0, "entry", "entries")
