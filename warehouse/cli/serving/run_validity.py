"""The validity of the runs of a publication or a number, for the commands that show one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from warehouse.cli.output import counted
from warehouse.cli.serving.validity import load_text
from warehouse.errors import printable

if TYPE_CHECKING:
    from warehouse.analysis.serving.validity import Validity
    from warehouse.project.project import Project

_LISTED = 12


def runs_validity(project: "Project", run_ids: Collection[str]) -> "Validity | None":
    """What the policy for served runs says of them in the current build; None where none of them is of a served model."""
    from warehouse.analysis.serving.validity import validity_of_runs

    return validity_of_runs(project, run_ids) if run_ids else None


def validity_document(found: "Validity | None") -> dict[str, Any] | None:
    from warehouse.analysis.serving.validity import what_to_record

    if found is None:
        return None
    return {
        "build": found.build, "policy": found.policy.reference, "points": [point.document() for point in found.points],
        "record": [{"rules": rules, "record": record} for record, rules in what_to_record(found.points).items()],
    }


def validity_lines(found: "Validity | None") -> list[str]:
    """How many are valid, what each rule says of each, the worst first, and what to record."""
    from warehouse.analysis.serving.validity import what_to_record

    if found is None:
        return []
    counts = Counter(point.verdict for point in found.points)
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [f"validity of {counted(len(found.points), 'run and load', 'runs and loads')} by policy {found.policy}: {parts}"]
    lines += [f"  {point.verdict}  {load_text(point)}  {printable(point.run_id)}: {point}" for point in found.points[:_LISTED]]
    if len(found.points) > _LISTED:
        lines.append(f"  and {len(found.points) - _LISTED} more: wh validity lists all")
    lines += [f"  record for {', '.join(rules)}: {record}" for record, rules in what_to_record(found.points).items()]
    return lines
