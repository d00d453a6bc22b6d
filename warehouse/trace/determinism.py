"""How exactly a published value is determined by its evidence: to the last bit (E), within a tolerance (T), or by no rule (U).

A float sum is (a + b) + c or a + (b + c): its last bits depend on the order of adding, which the engine does not promise across
plans, threads and machines. What is made of one and is no float, as its text, has no tolerance: nothing determines its last digits (U).
All else is exact: integers, decimals, minima, quantiles, counts, arithmetic on one row. A sample, an approximation and a tie are refused.
`claims.publish.operations` tells which is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isclose, isfinite
from typing import Any

from warehouse.exact import inexact

EXACT = "E"
TOLERANT = "T"
UNDETERMINED = "U"
# Relative to the larger of two values.
DEFAULT_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Determinism:
    """The class of one column: EXACT, TOLERANT, or UNDETERMINED for what is made of a sum of floats and is no float; by how much,
    relative to the larger, a replayed value may differ, None: not at all; and what it depends on, as `avg in main.energy`."""

    determinism: str
    tolerance: float | None = None
    why: str | None = None

    def document(self) -> dict[str, Any]:
        """As a publication keeps it."""
        return asdict(self)

    def __str__(self) -> str:
        """As it is shown: `class T, sum in main.energy`."""
        return f"class {self.determinism}" + (f", {self.why}" if self.why else "")


# Nothing is recorded of a number that was never published: any float may be a sum.
UNRECORDED = Determinism(TOLERANT, DEFAULT_TOLERANCE)


def recorded(publication: Mapping[str, Any], column: str, is_exact: bool) -> Determinism:
    """What the record of a publication says of a cell: of its column, but for one that `is_exact` by its own path."""
    if is_exact:
        return Determinism(EXACT)
    return Determinism(**publication["columns"][column]) if column in publication.get("columns", {}) else UNRECORDED


def equals(form: Any, claimed: Any, determinism: Determinism) -> str | None:
    """How a replayed value equals the one claimed; None when it does not."""
    known = "" if determinism is UNRECORDED else f" ({determinism})"
    if form == claimed:
        return f"equal{known}"
    if determinism.tolerance and _is_within(form, claimed, determinism.tolerance):
        return f"equal within {determinism.tolerance:g}, {inexact(form)!r}{known}"
    one, other = (_number(form), _number(claimed)) if determinism.determinism != EXACT else (None, None)
    if one is not None and other is not None and isclose(one, other, rel_tol=DEFAULT_TOLERANCE):
        return f"as a number equal within {DEFAULT_TOLERANCE:g}, {inexact(form)!r}{known}"
    return None


def _number(form: Any) -> float | None:
    """The number that a text states; None for a form of anything else."""
    try:
        number = float(form[1]) if form and form[0] == "text" else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None


def _is_within(form: Any, claimed: Any, tolerance: float) -> bool:
    """Whether floats, or lists of them, differ by no more than the tolerance allows."""
    if not form or not claimed or form[0] != claimed[0] or len(form) != len(claimed):
        return bool(form == claimed)
    if form[0] == "list":
        return all(_is_within(one, other, tolerance) for one, other in zip(form[1:], claimed[1:], strict=True))
    if form[0] != "double":
        return bool(form == claimed)
    return isclose(inexact(form), inexact(claimed), rel_tol=tolerance)
