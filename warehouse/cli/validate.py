"""`wh validate`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json, say
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.landing.declaration.judged import Declaration


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a BenchmarkRun or a workload spec, in YAML")
    parser.add_argument("--json", action="store_true", help="print the verdict, every error and the frozen document as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.landing.declaration.judged import judged

    place = printable(str(args.file))
    try:
        data = args.file.read_bytes()
    except OSError as error:
        raise WarehouseError("WH004", f"cannot be read: {error.strerror}", place, exit_code=ExitCode.USAGE) from error
    declaration = judged(data)
    if args.json:
        _print_json(place, declaration)
    else:
        for fault in declaration.faults:
            say(f"{fault}  (line {fault.line})" if fault.line else fault)
    terms = declaration.terms
    if terms and terms.grade_reason:
        notice(f"counts as {terms.benchmark_grade}: {terms.grade_reason}")
    if declaration.faults:
        count = len(declaration.faults)
        raise WarehouseError("WH125", f"{count} rule{'s are' if count > 1 else ' is'} broken", place)
    notice(f"valid: {declaration.kind}, declared_spec_digest {declaration.digest}")
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
