"""`wh sign`."""

from __future__ import annotations

import argparse

from warehouse.cli.output import notice, print_json_line, say
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets", metavar="WHAT", nargs="*",
        help="digest of a bundle or publication (or its beginning), the event of a decision, a run of the current build, or evidence"
        " that was ingested",
    )
    parser.add_argument("--all", action="store_true", help="every bundle of the store")
    parser.add_argument("--key", metavar="KEY", required=True, help="a private key's file, or the name of one that wh keygen made")
    parser.add_argument("--json", action="store_true", help="print what was signed as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.publish.signing import sign_all, sign_targets, trusted_keys
    from warehouse.evidence.signing.keys import load_signing_key
    from warehouse.project import find_project

    if args.all == bool(args.targets):
        notice("wh sign: name what to sign, or --all")
        return ExitCode.USAGE
    project, key = find_project(), load_signing_key(args.key)
    new = before = 0
    for signed in sign_all(project, key) if args.all else sign_targets(project, args.targets, key):
        new, before = new + signed.is_new, before + (not signed.is_new)
        if args.json:
            print_json_line({"digest": signed.digest, "kind": signed.kind, "key_id": key.public.key_id, "is_new": signed.is_new})
        else:
            say(signed.digest)
    notice(f"signed {new} with key {key.public.name} ({key.public.key_id[:12]})" + (f", {before} signed before" if before else ""))
    if key.public.key_id not in trusted_keys(project):
        notice(f'this project does not trust it: write {key.public.name} = "{key.public.text}" under [trusted_keys] to do so')
    return ExitCode.OK
