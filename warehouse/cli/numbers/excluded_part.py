"""What `wh lineage --excluded` adds: the runs that are left out of a number."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from warehouse.cli.numbers.lineage_parts import Part
from warehouse.errors import counted, printable

if TYPE_CHECKING:
    from warehouse.claims.numbers.exclusion import Excluded, Exclusion
    from warehouse.claims.numbers.lineage import Lineage
    from warehouse.project.project import Project

_LISTED = 12  # runs of each clause
_WITNESSES = 3
_OF_ROW = {True: "of this row by its grain", None: "of this row or another: which is not known", False: "of other rows by their grain"}


def excluded_part(project: "Project", number: "Lineage") -> Part:
    """The runs that did not contribute: all in the document, the first of each clause in the lines. Raises WH311."""
    from warehouse.claims.numbers.exclusion import excluded_by

    exclusion = excluded_by(project, number)
    return Part(asdict(exclusion), _lines(exclusion))


def _lines(exclusion: "Exclusion") -> list[str]:
    without = exclusion.population - exclusion.own
    lines = [f"excluded    {without} of {counted(exclusion.population, 'run')} of {', '.join(exclusion.tables) or 'no table of runs'}"]
    groups: dict[bool | None, dict[str, list[str]]] = {}
    for run in exclusion.excluded:
        groups.setdefault(run.is_of_row, {}).setdefault(_reason(run), []).append(_run(run))
    for is_of_row, reasons in groups.items():
        lines.append(f"            {_OF_ROW[is_of_row]}")
        for reason, runs in reasons.items():
            lines.append(f"              {len(runs)}  {printable(reason)}")
            lines += _listed(runs, "                 ")
    if exclusion.elsewhere:
        lines.append(f"            {len(exclusion.elsewhere)} in other rows of the result")
        rows = [(each.run_id, ", ".join(f"{name} = {value}" for name, value in each.grain.items())) for each in exclusion.elsewhere]
        lines += _listed([printable(f"{run}  {grain}") for run, grain in rows], "              ")
    return lines


def _reason(run: "Excluded") -> str:
    match run.reason:
        case "not determined":
            return f"not determined: no clause can be named in the block  {run.place}"
        case "where":
            return f"where {run.clause}  {run.place}"
        case _:
            return f"{run.clause}  {run.place}"


def _run(run: "Excluded") -> str:
    null = "  the condition is NULL" if run.is_null else ""
    more = f" and {len(run.witnesses) - _WITNESSES} more" if len(run.witnesses) > _WITNESSES else ""
    against = f"  against it: {', '.join(run.witnesses[:_WITNESSES])}{more}" if run.witnesses else ""
    decision = f"  {run.decision}" if run.decision else ""
    return printable(f"{run.run_id}{decision}{null}{against}")


def _listed(runs: list[str], indent: str) -> list[str]:
    lines = [indent + run for run in runs[:_LISTED]]
    return lines if len(runs) <= _LISTED else [*lines, f"{indent}and {len(runs) - _LISTED} more: --json lists all"]
