"""`wh sign`."""

from __future__ import annotations

from typing import Annotated

import typer

from warehouse.cli.output import notice, print_json_line, say, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode

PAGE = "docs/signing.md"
EXAMPLES = ("wh sign --all --key nightly", "wh sign recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --key nightly")
INTERRUPTED = "what was listed is signed; run the same command again to continue"


def command(
    key: Annotated[str, typer.Option(metavar="KEY", help="a private key's file, or a name that was given to wh keygen")],
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="digest of a bundle or publication (or its beginning), the event of a decision, a run of the current build, or evidence"
            " that was ingested",
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="every bundle of the store")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print what was signed as JSON, one a line")] = False,
) -> ExitCode:
    from warehouse.claims.publish.signing import sign_all, sign_targets, trusted_keys
    from warehouse.evidence.signing.keys import load_signing_key
    from warehouse.project.project import find_project

    if all == bool(targets):
        raise usage("name what to sign, or give --all")
    project, signing = find_project(), load_signing_key(key)
    new = before = 0
    for signed in sign_all(project, signing) if all else sign_targets(project, targets or [], signing):
        new, before = new + signed.is_new, before + (not signed.is_new)
        if as_json:
            print_json_line({"digest": signed.digest, "kind": signed.kind, "key_id": signing.public.key_id, "is_new": signed.is_new})
        else:
            say(signed.digest)
    notice(f"signed {new} with key {signing.public.name} ({signing.public.key_id[:12]})" + (f", {before} signed before" if before else ""))
    if signing.public.key_id not in trusted_keys(project):
        warn(f'this project does not trust the key: to trust it, write {signing.public.name} = "{signing.public.text}" under [trusted_keys]')
    return ExitCode.OK
