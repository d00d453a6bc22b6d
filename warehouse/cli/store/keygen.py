"""`wh keygen`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warehouse.cli.output import next_step, notice, say
from warehouse.errors import ExitCode, WarehouseError

PAGE = "docs/signing.md"
EXAMPLES = ("wh keygen weekly", "wh keygen release -o release.key")


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="what the key is called, in the project and on disk")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="the private key's file (default: in the user's configuration)")
    ] = None,
) -> ExitCode:
    from warehouse.evidence.signing.keys import PRIVATE_SUFFIX, key_folder, make_key
    from warehouse.project.making import trust_key
    from warehouse.project.project import find_project

    try:
        project = find_project()
    except WarehouseError as error:
        if error.code != "WH001":
            raise
        project = None
    if project and name in project.trusted_keys:
        raise WarehouseError("WH110", "the project trusts a key of this name already", name, "choose another name")
    path = output or key_folder() / f"{name}{PRIVATE_SUFFIX}"
    key = make_key(path)
    notice(f"private key {path}: keep it; whoever has it signs as you")
    notice(f"key id {key.key_id}")
    if project:
        trust_key(project, name, key.text)
        notice(f"trusted in {project.root} from now on, as {name}")
    else:
        notice("there is no project here; to trust the key in one, write its public key under [trusted_keys] in warehouse.toml")
    say(key.text)
    next_step(f"wh sign --all --key {output or name}")
    return ExitCode.OK
