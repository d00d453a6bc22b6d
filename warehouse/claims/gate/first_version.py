"""The checks of the first version of the gate, where they are others than those of now: what it judged is judged again as it was. The interval of
that version is in `evidence`."""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.claims.gate.checks import Check, Finding, Settings, drift_of, supported
from warehouse.claims.gate.evidence import DECLARED_REPEATS, RUN_ID, Evidence


def _two_levels(evidence: Evidence, settings: Settings) -> Finding:
    """The p-value of runs about one level, as if they were of one session and not rounded."""
    from warehouse.statistics.shape import two_levels_p

    return supported(two_levels_p(evidence.values, step=0), evidence)


def _drift(evidence: Evidence, settings: Settings) -> Finding:
    """The p-value of runs that come in no order, as if they were of one session."""
    return drift_of(evidence, None)


def _fixed(evidence: Evidence, settings: Settings) -> Finding:
    """The runs that were added after a look, where neither the count of all was declared nor a rule for adding is named, whenever that was."""
    declared = {each.columns.get(DECLARED_REPEATS) for each in evidence.used}
    rows = [{RUN_ID: run, "added after the look of": evidence.first_look} for run in evidence.later]
    return Finding(0 if evidence.claim.stopping or declared == {len(evidence.used)} else len(rows), rows)


FIRST_CHECKS: Mapping[str, Check] = {"two levels": Check(_two_levels), "drift": Check(_drift), "fixed": Check(_fixed)}
