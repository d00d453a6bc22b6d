"""`wh audit-packet`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import notice, say
from warehouse.errors import ExitCode

PAGE = "docs/security.md"
EXAMPLES = ("wh audit-packet 'indicator_results[result_key=elapsed_ms].median' -o number.whp",)


def command(
    number: Annotated[str, typer.Argument(metavar="NUMBER", help="a published number, as wh lineage takes it")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="the archive to write")],
) -> ExitCode:
    from warehouse.claims.verify.packet import write_packet
    from warehouse.project.project import find_project

    verdict = write_packet(find_project(), number, output)
    notice(f"{verdict.number_id}  {verdict.state}: {verdict.reason}")
    notice(f"check it anywhere with: wh verify {output.name}")
    say(output)
    return ExitCode.OK
