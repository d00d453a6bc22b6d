"""`wh check`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warehouse.cli.output import NO_MODELS, notice, print_json
from warehouse.errors import ExitCode, WarehouseError

if TYPE_CHECKING:
    from warehouse.transform.check import Findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.publishable import unpublishable
    from warehouse.claims.rollup import check
    from warehouse.project import find_project

    project = find_project()
    found = check(project)
    if not found.faults:
        found = replace(found, faults=tuple(unpublishable(project, found.checked)))
    queries = sum(model.schema == "rollup" for model in found.checked.models.values())
    models = sum(model.schema not in ("rollup", "feed") for model in found.checked.models.values())
    if args.json:
        faults = {"errors": _documents(found.faults), "warnings": _documents(found.warnings)}
        print_json({"models": models, "queries": queries, **faults})
    if not tell_findings(found):
        return ExitCode.FAILED
    notice(f"ok: {models} models, {queries} queries" if models or queries else NO_MODELS)
    return ExitCode.OK


def tell_findings(found: "Findings") -> bool:
    """Tell warnings and faults; whether there are no faults."""
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
