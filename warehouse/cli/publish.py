"""`wh publish`."""

from __future__ import annotations

import argparse

from warehouse.cli.output import notice, print_json, say
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="the query spec's name")
    parser.add_argument("--sign", metavar="KEY", help="sign it: a private key's file, or a name that wh keygen was given")
    parser.add_argument("--json", action="store_true", help="print the publication as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.publish.publish import publish
    from warehouse.evidence.signing.keys import load_signing_key
    from warehouse.project import find_project

    key = load_signing_key(args.sign) if args.sign else None
    publication = publish(find_project(), args.query, key)
    if args.json:
        print_json(
            {
                "publication": publication.digest,
                "query": publication.query,
                "query_spec_digest": publication.query_spec_digest,
                "rows": publication.rows,
                "numbers": publication.numbers,
                "is_new": publication.is_new,
                "bundles_not_in_build": publication.unseen,
                "signed_by": key.public.key_id if key else None,
                "columns": {name: column.document() for name, column in publication.columns.items()},
            }
        )
        return ExitCode.OK
    state = "published" if publication.is_new else "published before, nothing changed"
    notice(f"{publication.query}: {publication.rows} rows, {publication.numbers} numbers, {state}")
    for name, column in publication.columns.items():
        notice(f"{name}: {column}" + (f", within {column.tolerance:g}" if column.tolerance else ""))
    if publication.unseen:
        bundles = f"{publication.unseen} bundle{'s' * (publication.unseen > 1)}"
        notice(f"{bundles} that arrived after the build {'are' if publication.unseen > 1 else 'is'} not in it; to have them in: wh build")
    if key:
        notice(f"signed by key {key.public.name} ({key.public.key_id[:12]})")
    notice(f"query_spec_digest {publication.query_spec_digest}")
    say(publication.digest)
    return ExitCode.OK
