"""`wh audit-packet`."""

from __future__ import annotations

import argparse
from pathlib import Path

from warehouse.cli.output import notice, say
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", metavar="NUMBER", help="a published number, as wh lineage takes it")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the archive to write")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.verify.packet import write_packet
    from warehouse.project import find_project

    verdict = write_packet(find_project(), args.number, args.output)
    notice(f"{verdict.number_id}  {verdict.state}: {verdict.reason}")
    notice(f"check it anywhere with: wh verify {args.output.name}")
    say(args.output)
    return ExitCode.OK
