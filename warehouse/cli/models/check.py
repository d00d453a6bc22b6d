"""`wh check`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import NO_MODELS, counted, next_step, notice, print_json, warn
from warehouse.errors import ExitCode, WarehouseError, together

if TYPE_CHECKING:
    from warehouse.transform.check.project_check import Findings


PAGE = "docs/models.md"
EXAMPLES = ("wh check", "wh check --json")


def command(as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON")] = False) -> ExitCode:
    """Parses and binds every model, query spec and test, and reports whether the query specs can be published. Reads the samples beside the
    project's descriptions of formats."""
    from warehouse.claims.publish.publishable import publishability
    from warehouse.landing.registry import descriptions_without_sample, faults_of_descriptions
    from warehouse.project.project import find_project
    from warehouse.transform.check.project_check import check_project

    project = find_project()
    described = faults_of_descriptions(project)
    try:
        found = check_project(project)
    except WarehouseError as error:
        if str(error) not in map(str, described):
            raise
        raise together(described) from error
    found = replace(found, faults=(*found.faults, *described))
    if not found.faults:
        faults, notes = publishability(project, found.checked)
        found = replace(found, faults=tuple(faults), notes=tuple(notes))
    queries = sum(model.schema == "rollup" for model in found.checked.models.values())
    models = sum(model.schema not in ("rollup", "feed") for model in found.checked.models.values())
    if as_json:
        findings = {"errors": found.faults, "warnings": found.warnings, "notes": found.notes}
        print_json({"models": models, "queries": queries, **{name: _documents(faults) for name, faults in findings.items()}})
    if not report_findings(found):
        return ExitCode.FAILED
    for place in descriptions_without_sample(project):
        notice(f"note {place}: no sample beside it, so nothing was read with it")
    notice(f"ok: {counted(models, 'model')}, {counted(queries, 'query', 'queries')}" if models or queries else NO_MODELS)
    next_step("wh build")
    return ExitCode.OK


def report_findings(found: "Findings") -> bool:
    """Print notes, warnings and faults; returns whether there are no faults."""
    for note in found.notes:
        notice(f"note {note}\n")
    for warning in found.warnings:
        warn(f"warning {warning}\n")
    for fault in found.faults:
        warn(f"{fault}\n")
    if found.faults:
        warn(counted(len(found.faults), "error"))
    return not found.faults


def _documents(faults: Iterable[WarehouseError]) -> list[dict[str, Any]]:
    return [
        {"code": fault.code, "place": fault.place, "message": fault.message, "hint": fault.hint} for fault in faults
    ]
