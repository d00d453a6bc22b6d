"""`wh keygen`."""

from __future__ import annotations

import argparse
from pathlib import Path

from warehouse.cli.output import notice, say
from warehouse.errors import ExitCode, WarehouseError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what the key is called, in the project and on disk")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the private key's file (default: in the user's configuration)")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.evidence.signing.keys import PRIVATE_SUFFIX, key_folder, make_key
    from warehouse.project import find_project
    from warehouse.project_making import trust_key

    try:
        project = find_project()
    except WarehouseError as error:
        if error.code != "WH001":
            raise
        project = None
    if project and args.name in project.trusted_keys:
        raise WarehouseError("WH110", "the project trusts a key of this name already", args.name, "choose another name")
    path = args.output or key_folder() / f"{args.name}{PRIVATE_SUFFIX}"
    key = make_key(path)
    notice(f"private key {path}: keep it; whoever has it signs as you")
    notice(f"key id {key.key_id}")
    if project:
        trust_key(project, args.name, key.text)
        notice(f"trusted in {project.root} from now on, as {args.name}")
    else:
        notice("no project is here: to trust it in one, write its public key under [trusted_keys] in warehouse.toml")
    say(key.text)
    return ExitCode.OK
