"""`wh validate`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import counted, next_step, notice, print_json, say
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.landing.declaration.judged import Declaration

PAGE = "docs/declarations.md"
EXAMPLES = ("wh validate benchmark_run.yaml", "wh validate benchmark_run.yaml --json")


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a BenchmarkRun or a workload spec, in YAML")],
    as_json: Annotated[bool, typer.Option("--json", help="print the verdict, every error and the frozen document as JSON")] = False,
) -> ExitCode:
    from warehouse.landing.declaration.judged import judged

    place = printable(str(file))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise WarehouseError("WH004", f"cannot be read: {error.strerror}", place, "correct the path", exit_code=ExitCode.USAGE) from error
    declaration = judged(data)
    if as_json:
        _print_json(place, declaration)
    else:
        for fault in declaration.faults:
            say(f"{fault}  (line {fault.line})" if fault.line else fault)
    terms = declaration.terms
    if terms and terms.grade_reason:
        notice(f"counts as {terms.benchmark_grade}: {terms.grade_reason}")
    if declaration.faults:
        broken = f"{counted(len(declaration.faults), 'rule is', 'rules are')} broken"
        raise WarehouseError("WH125", broken, place)
    notice(f"valid: {declaration.kind}, declared_spec_digest {declaration.digest}")
    next_step(f"wh record --declaration {place} -- COMMAND")
    return ExitCode.OK


def _print_json(place: str, declaration: "Declaration") -> None:
    print_json(
        {
            "valid": not declaration.faults,
            "file": place,
            "kind": declaration.kind,
            "errors": [str(fault) for fault in declaration.faults],
            "lines": [fault.line for fault in declaration.faults],
            "summary": asdict(declaration.terms) if declaration.terms else None,
            "declared_spec_digest": declaration.digest,
            "document": json.loads(declaration.document) if declaration.document else None,
        }
    )
