"""`wh impact`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from warehouse.cli.output import notice, print_json, say
from warehouse.errors import ExitCode, printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "asked", metavar="RUN|MANIFEST|FILE|MODEL", help="a run_id, a manifest's digest, a raw file's path or a copy of it, or a model"
    )
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.verify.impact import impact
    from warehouse.project import find_project

    found = impact(find_project(), args.asked)
    if args.json:
        print_json([asdict(each) for each in found.numbers])
    else:
        say("\n".join(f"{each.number_id}  {printable(str(each.value))}  {printable(each.key)}" for each in found.numbers))
    publications = {each.publication for each in found.numbers}
    kinds = ", ".join(sorted({each.kind for each in found.numbers}))
    notice(f"{len(found.numbers)} numbers of {len(publications)} publication{'s' * (len(publications) > 1)} rest on it ({kinds})")
    for problem in found.damaged:
        notice(str(problem))
    return found.damaged[0].exit_code if found.damaged else ExitCode.OK
