"""`wh check`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warehouse.cli.output import NO_MODELS, notice, print_json
from warehouse.errors import ExitCode, WarehouseError

if TYPE_CHECKING:
    from warehouse.transform.check.project_check import Findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.publish.publishable import publishability
    from warehouse.project import find_project
    from warehouse.transform.check.project_check import check_project

    project = find_project()
    found = check_project(project)
    if not found.faults:
        faults, notes = publishability(project, found.checked)
        found = replace(found, faults=tuple(faults), notes=tuple(notes))
    queries = sum(model.schema == "rollup" for model in found.checked.models.values())
    models = sum(model.schema not in ("rollup", "feed") for model in found.checked.models.values())
    if args.json:
        findings = {"errors": found.faults, "warnings": found.warnings, "notes": found.notes}
        print_json({"models": models, "queries": queries, **{name: _documents(faults) for name, faults in findings.items()}})
    if not tell_findings(found):
        return ExitCode.FAILED
    notice(f"ok: {models} models, {queries} queries" if models or queries else NO_MODELS)
    return ExitCode.OK


def tell_findings(found: "Findings") -> bool:
    """Tell notes, warnings and faults; whether there are no faults."""
    for note in found.notes:
        notice(f"note {note}\n")
    for warning in found.warnings:
        notice(f"warning {warning}\n")
    for fault in found.faults:
        notice(f"{fault}\n")
    if found.faults:
        notice(f"{len(found.faults)} error{'s' if len(found.faults) > 1 else ''}")
    return not found.faults


def _documents(faults: Iterable[WarehouseError]) -> list[dict[str, Any]]:
    return [
        {"code": fault.code, "place": fault.place, "message": fault.message, "hint": fault.hint} for fault in faults
    ]
