"""The verdict of `wh verify` on a number: its state, why, and where the number is published."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.claims.publish.publication import PublishedRow
from warehouse.claims.publish.signing import Signings
from warehouse.claims.verify.retrace import CellRecord
from warehouse.errors import ExitCode, WarehouseError, printable
from warehouse.trace.determinism import Determinism

VERIFIED = "verified"  # its files are unchanged, and a replay of them gives it
STALE = "stale"  # as verified, but the current build holds another number in its cell, or none
TAMPERED = "tampered"  # a file, its publication or its spec differs from its digest
MISSING = "missing"  # one of these is gone
NOT_REPRODUCED = "not reproduced"  # its files are unchanged, but a replay of them here gives another value
REFUSED = "refused"  # wh cannot judge it: it cannot be replayed here, or depends on no evidence
EXPIRED = "expired by policy"  # its evidence is gone, and the ledger says that retention policy removed it
RETRACTED = "retracted"  # it reproduces, but a run under it was retracted or superseded since
STATES = (TAMPERED, MISSING, NOT_REPRODUCED, REFUSED, EXPIRED, RETRACTED, STALE, VERIFIED)  # the worst first

STALE_BECAUSE = "the current build holds another number in its cell, or none"
NO_BUILD = "there is no build to compare it with"
_VERSION = r"([0-9]{1,4}(?:\.[0-9]{1,4}){1,3}(?:\.?(?:a|b|rc|dev|post)[0-9]{1,6}){0,2})"
_RECORDED_ENGINE, _RECORDED_WH = re.compile(rf"duckdb {_VERSION}", re.ASCII), re.compile(rf"wh {_VERSION}", re.ASCII)
_RECORDED_CHECKOUT = re.compile(rf"wh {_VERSION} \(code [0-9a-f]{{8}}\)", re.ASCII)
_EXIT_CODES = {
    TAMPERED: ExitCode.TAMPERED, MISSING: ExitCode.MISSING, EXPIRED: ExitCode.MISSING, VERIFIED: ExitCode.OK,
    STALE: ExitCode.OK, RETRACTED: ExitCode.OK,
}


@dataclass(frozen=True)
class Claim:
    """A number as it is claimed: its cell, its exact form, its runs, and the bundles that these and its value depend on.
    `is_read`: whether its value was read from any file; `stale_because`: why the current build does not confirm it, None where
    the build holds it; `determinism`: how exactly a replay must give it; `record`: what else its publication states of it, and `row`
    the whole row; None for a number that is not published."""

    number_id: str | None
    key: str
    column: str
    grain_forms: Mapping[str, Any]
    form: Any
    runs: tuple[str, ...]
    bundles: frozenset[str]
    is_read: bool
    stale_because: str | None
    determinism: Determinism
    record: CellRecord | None
    row: PublishedRow | None = None


@dataclass(frozen=True)
class CellNumber:
    """A number that a cell holds, and the publication that holds it: its digest, and its time as ISO 8601, UTC. Both are None for
    a number that is not published, the time also where the ledger has no event of the publication."""

    number_id: str | None
    value: Any
    publication: str | None = None
    published_at: str | None = None

    def __str__(self) -> str:
        return f"{self.number_id} ({printable(str(self.value))})" if self.number_id else "no value"

    @property
    def place(self) -> str:
        """When and in which publication it was published, in words."""
        publication = f"publication {str(self.publication)[:12]}"
        return f"on {self.published_at} ({publication})" if self.published_at else f"in {publication}"


@dataclass(frozen=True)
class Engines:
    """The engine that a number was recorded with, and the one that is installed here and replays it: each a name and a version; and the
    settings that the record is without, because they came later."""

    recorded: str
    here: str
    later_settings: tuple[str, ...] = ()

    @property
    def differ(self) -> bool:
        return self.recorded != self.here or bool(self.later_settings)

    @property
    def what(self) -> str:
        """What differs, in words."""
        return "another engine" if self.recorded != self.here else "other settings of the engine"

    def __str__(self) -> str:
        count, names = len(self.later_settings), ", ".join(self.later_settings)
        without = f" without the setting{'s' * (count > 1)} {names}" if count else ""
        return f"recorded with {printable(self.recorded)}{without}, replayed with {self.here}"

    @property
    def way_back(self) -> str:
        """For the reason of what was not reproduced: both engines, and how to install the recorded one; nothing where they are the same."""
        if not self.differ:
            return ""
        # A person runs what stands here, and a packet's record is a stranger's.
        version = _RECORDED_ENGINE.fullmatch(self.recorded) if self.recorded != self.here else None
        way = f'; to replay it with the engine of then: pip install "duckdb=={version[1]}"' if version else ""
        return f"; by {self.what} here: {self}{way}"


@dataclass(frozen=True)
class Code:
    """The code that a number's evidence was parsed and traced by when it was recorded, and that judged it, and the code here: wh and
    ingestors, each a name and a version, as far as they differ; of the same version also the beginning of the digest of the code."""

    recorded: tuple[str, ...] = ()
    here: tuple[str, ...] = ()

    @property
    def differ(self) -> bool:
        return self.recorded != self.here

    def __str__(self) -> str:
        return f"recorded with {printable(', '.join(self.recorded))}, replayed with {', '.join(self.here)}"

    @property
    def way_back(self) -> str:
        """For the reason of what was not reproduced: both codes, and how to get the recorded one; nothing where they are the same."""
        if not self.differ:
            return ""
        versions = [found for each in self.recorded if (found := _RECORDED_WH.fullmatch(each))]
        ingestors = printable(", ".join(each for each in self.recorded if not _is_engines_own(each)))
        ways = [f'pip install "perf-warehouse=={version[1]}"' for version in versions]
        ways += [f"install the {printable(each)}, as `wh --version` prints it" for each in self.recorded if _RECORDED_CHECKOUT.fullmatch(each)]
        ways += [f"put back the ingestor {ingestors}"] if ingestors else []
        return f"; by other code here: {self}" + (f"; to replay it with the code of then: {', and '.join(ways)}" if ways else "")


def _is_engines_own(code: str) -> bool:
    return code.startswith(("wh ", "warehouse "))  # both come with the package


@dataclass(frozen=True)
class Verdict:
    """The state of one number (one of `STATES`) and why; how many raw files were hashed, and what is wrong with which;
    where it was reproduced, the bundles that a replay needs; the signatures under it, None where they were not checked; and the
    engines and the code, None where its record is damaged.

    `is_published` is None where a damaged record leaves that open. `now` and `published_instead` are looked up for a single number
    only: what the current build, and the last publication of its cell, hold where that is another number."""

    number_id: str | None
    key: str
    value: Any
    state: str
    reason: str
    files_checked: int = 0
    problems: tuple[WarehouseError, ...] = ()
    evidence: frozenset[str] = frozenset()
    signings: Signings | None = None
    is_published: bool | None = None
    publication: str | None = None
    published_at: str | None = None
    now: CellNumber | None = None
    published_instead: CellNumber | None = None
    engines: Engines | None = None
    code: Code | None = None

    @property
    def other_software(self) -> str:
        """What replayed the number other than recorded it, in words; nothing where that is the same."""
        return other_software(self.engines, self.code)


def other_software(engines: Engines | None, code: Code | None) -> str:
    """By which engine and code a number was replayed, in words, as far as they are not the recorded ones."""
    others = [f"by {engines.what}: {engines}" if engines and engines.differ else "", f"by other code: {code}" if code and code.differ else ""]
    return ", ".join(filter(None, others))


def exit_code(states: Iterable[str], *, is_strict: bool = False) -> ExitCode:
    """The exit code of the worst of some states. Where it `is_strict`, only `verified` is a success."""
    worst = STATES[min((STATES.index(state) for state in states), default=STATES.index(VERIFIED))]
    code = _EXIT_CODES.get(worst, ExitCode.FAILED)
    return ExitCode.FAILED if is_strict and code == ExitCode.OK and worst != VERIFIED else code


def state_of(problems: Sequence[WarehouseError]) -> str:
    """A bundle that policy removed is `expired by policy`, another missing file `missing`, any other difference `tampered`;
    the worst outweighs the others."""
    if any(problem.exit_code != ExitCode.MISSING for problem in problems):
        return TAMPERED
    return EXPIRED if all(problem.code == "WH112" for problem in problems) else MISSING
