"""Answers of views: which build one is of, what it depends on, and a bounded memory of those that were given.

An answer depends on the view, its parameters, the build, the ledger, the policies of the project, and the day, from which age is counted; all of that
is in its key. So an answer that is kept is the answer that would be computed again, and its key serves as the ETag.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from warehouse.claims.gate.policy import policies_state
from warehouse.claims.verify.last_checks import checks_state
from warehouse.digest import domain_digest
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.reading import LedgerReading
from warehouse.evidence.objects.location import open_store
from warehouse.project.project import Project
from warehouse.surfaces.all_views import VIEWS
from warehouse.surfaces.kept import Kept
from warehouse.surfaces.links import unanswered, without_links
from warehouse.surfaces.parts import Page
from warehouse.surfaces.view import BUILD, MOST_REMEMBERED, View, Visit, address, utc_now
from warehouse.transform.finished.builds import Build, check_current, current_build, find_build, find_current
from warehouse.transform.finished.query import json_value, open_build
from warehouse.version import __version__

if TYPE_CHECKING:
    import duckdb

_LEDGER_SECONDS = 1.0  # for so long the ledger's last state serves: listing it takes a request to the store
_MOST_ANSWERS = 300
_MOST_BODY_BYTES = 64 << 20
_COSTLY_AT_ONCE = 2
_MADE_AT_ONCE = 4  # more would only take turns on the interpreter, and keep answers that are there from being sent


@dataclass(frozen=True)
class Answer:
    """A page with the view and build that it is of. `is_pinned`: the visitor asked for that build; `newer` is the current build if that is
    another. `unanswered` are the paths of pages that this build has no answer for."""

    view: View
    page: Page
    build: Build | None
    built_at: datetime | None
    is_pinned: bool
    newer: Build | None
    key: str
    values: Mapping[str, Any]
    unanswered: frozenset[str] = frozenset()

    @property
    def address(self) -> str:
        """Where it is, without what is so by default."""
        defaults = {parameter.name: parameter.default for parameter in self.view.parameters}
        return address(self.view.path, **{name: value for name, value in self.values.items() if value != defaults[name]})


@dataclass(frozen=True)
class Question:
    """A view that is asked with its values, and the key of its answer."""

    view: View
    visit: Visit
    is_pinned: bool
    newer: Build | None
    key: str


def _build_of(given: Sequence[tuple[str, str]]) -> tuple[str | None, list[tuple[str, str]]]:
    """The requested build, and the other parameters. Raises WH601."""
    builds = [text for name, text in given if name == BUILD]
    if len(builds) > 1:
        raise WarehouseError("WH601", f"the parameter {BUILD} is given twice", BUILD, exit_code=ExitCode.USAGE)
    return (builds[0] or None) if builds else None, [pair for pair in given if pair[0] != BUILD]


@dataclass
class Answers:
    """Answers the views of one project, from many threads. The last answers are kept, and what was made of them."""

    project: Project
    _bodies: Kept[bytes] = field(default_factory=lambda: Kept(_MOST_BODY_BYTES, len))
    _pages: Kept[Page] = field(default_factory=lambda: Kept(_MOST_ANSWERS))
    _of_builds: Kept[Any] = field(default_factory=lambda: Kept(MOST_REMEMBERED))
    _costly: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_COSTLY_AT_ONCE))
    _made: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_MADE_AT_ONCE))
    _ledger: tuple[float, str] = (float("-inf"), "")
    _had_events: bool = False
    _events: LedgerReading = field(default_factory=LedgerReading)
    _open: "tuple[str, duckdb.DuckDBPyConnection] | None" = None  # a session on the last build, so that others on it open at once (2 ms, not 35)

    def question(
        self, view: View, given: Sequence[tuple[str, str]], path: Mapping[str, str], visitor: str = "", role: str = "admin"
    ) -> Question:
        """What is asked. Raises WH601 for its parameters, WH211 (nothing built), WH214 (no such build), WH218."""
        pinned, rest = _build_of(given)
        values = view.read(rest, path)
        current = find_current(self.project)
        build = current
        if pinned is not None:
            build = find_build(self.project, pinned)
        elif view.needs_build and build is None:
            build = current_build(self.project)
        elif build is None:
            check_current(self.project)
        project = replace(self.project, pinned_build=build.digest) if build else self.project
        now = utc_now()
        key = domain_digest("wh/answer/1", [
            __version__, view.name, json_value(values), build.digest if build else None, pinned is not None,
            current.digest if current else None, self.ledger_state(), now.date().isoformat(),
            policies_state(self.project), role if view.is_by_role else None, *([now.hour, checks_state(self.project)] if view.says_checks else ()),
        ])
        newer = current if pinned is not None and build and current and current.digest != build.digest else None
        return Question(view, Visit(project, build, values, now, visitor, role, self._events, self._of_builds), pinned is not None, newer, key)

    def answer(self, asked: Question) -> Answer:
        """Raises what the view raises."""
        page = self._page(asked)
        build = asked.visit.build
        built_at = datetime.fromtimestamp(build.path.stat().st_mtime, UTC).replace(microsecond=0) if build and build.path.exists() else None
        gone = unanswered(VIEWS, build)
        return Answer(asked.view, without_links(page, gone), build, built_at, asked.is_pinned, asked.newer, asked.key, asked.visit.values, gone)

    def body(self, view: View, key: str, make: Callable[[], bytes]) -> bytes:
        """What is sent of an answer: kept, or made by `make`, few at once. A view that is not kept may wait for another process, and a costly one
        waits for its turn as it is computed: neither keeps others from being made."""
        if not view.is_kept:
            return make()

        def in_turn() -> bytes:
            with nullcontext() if view.is_costly else self._made:
                return make()

        return self._bodies.get(key, in_turn)

    def ledger_state(self) -> str:
        """A digest of the names of the ledger's events, which have the digests of their content. Raises WH114, also where the ledger was emptied:
        a store that is gone must not look like one in which nothing happened."""
        at, state = self._ledger
        if time.monotonic() - at > _LEDGER_SECONDS:
            objects = open_store(self.project).objects
            keys = list(Ledger(objects).keys())
            if self._had_events and not keys:
                raise WarehouseError("WH114", "its ledger had events, and has none now", objects.url)
            self._had_events = bool(keys)
            state = domain_digest("wh/ledger-state/1", keys)
            self._ledger = time.monotonic(), state
        return state

    def _keep_open(self, build: Build | None) -> None:
        """Keep a session on a build open until another build is asked for. The views report a build that cannot be opened."""
        if build and (self._open is None or self._open[0] != build.digest):
            with suppress(WarehouseError):
                self._open = build.digest, open_build(build.path)

    def _page(self, asked: Question) -> Page:
        if not asked.view.is_kept:
            return self._computed(asked)
        return self._pages.get(asked.key, lambda: self._computed(asked))

    def _computed(self, asked: Question) -> Page:
        self._keep_open(asked.visit.build)
        if not asked.view.is_costly:
            return asked.view.answer(asked.visit)
        with self._costly:
            return asked.view.answer(asked.visit)
