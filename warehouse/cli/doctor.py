"""`wh doctor`."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from warehouse.cli.output import notice, print_json_line, say
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the findings as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.evidence.examination import BROKEN, examine
    from warehouse.evidence.objects.location import open_store
    from warehouse.project import find_project

    objects = open_store(find_project()).objects
    notice(f"store {objects.url}")
    broken = 0
    for finding in examine(objects):
        broken += finding.state == BROKEN
        if args.json:
            print_json_line(asdict(finding))
        else:
            say(f"{finding.state:8}{finding.promise:32}{finding.detail}", flush=True)
    return ExitCode.FAILED if broken else ExitCode.OK
