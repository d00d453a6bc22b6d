"""What `wh verify` says of a number: its state, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.claims.publish.signing import Signings
from warehouse.claims.trace.determinism import Determinism
from warehouse.claims.verify.retrace import CellRecord
from warehouse.errors import ExitCode, WarehouseError

VERIFIED = "verified"  # its files are whole, and replayed they give it
STALE = "stale"  # so it is, but the current build holds another number in its place, or none
TAMPERED = "tampered"  # a file, its publication or its spec differs from its digest
MISSING = "missing"  # one of these is gone
NOT_REPRODUCED = "not reproduced"  # all is whole, but replayed it gives another value
REFUSED = "refused"  # nobody can tell: it cannot be replayed here, or rests on no evidence
EXPIRED = "expired by policy"  # its evidence is gone, and the ledger says that retention policy removed it
RETRACTED = "retracted"  # it reproduces, but the ledger says now that a run under it is retracted, or another takes its place
STATES = (TAMPERED, MISSING, NOT_REPRODUCED, REFUSED, EXPIRED, RETRACTED, STALE, VERIFIED)  # the worst first

STALE_BECAUSE = "; the current build holds another number, or none"
_EXIT_CODES = {
    TAMPERED: ExitCode.TAMPERED, MISSING: ExitCode.MISSING, EXPIRED: ExitCode.MISSING, VERIFIED: ExitCode.OK,
    STALE: ExitCode.OK, RETRACTED: ExitCode.OK,
}


@dataclass(frozen=True)
class Claim:
    """A number as it is claimed: where it stands, its exact form, its runs, and the bundles that these and its value rest on.
    `is_read`: whether its value was read from any file; `is_current`: whether the current build holds it; `determinism`: how
    exactly a replay must give it; `record`: what a publication says of it beside, None when it has none."""

    number_id: str | None
    key: str
    column: str
    grain_forms: Mapping[str, Any]
    form: Any
    runs: tuple[str, ...]
    bundles: frozenset[str]
    is_read: bool
    is_current: bool
    determinism: Determinism
    record: CellRecord | None


@dataclass(frozen=True)
class Verdict:
    """The state of one number (one of `STATES`) and why; how many raw files were hashed, and what is wrong with which;
    where it was reproduced, the bundles that a replay needs; and what the signatures under it are, None where they were not
    checked."""

    number_id: str | None
    key: str
    value: Any
    state: str
    reason: str
    files_checked: int = 0
    problems: tuple[WarehouseError, ...] = ()
    evidence: frozenset[str] = frozenset()
    signings: Signings | None = None


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
