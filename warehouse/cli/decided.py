"""What `wh retract`, `wh reinstate`, `wh settle` and `wh note` share: the run, the signing key, and what they print."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json, say
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.evidence.ledger.events import Event
    from warehouse.evidence.signing.keys import SigningKey


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="a run_id of the current build")
    parser.add_argument("--sign", metavar="KEY", help="sign it: a private key's file, or a name that wh keygen was given")
    parser.add_argument("--json", action="store_true", help="print the ledger's event as JSON")


def signing_key(args: argparse.Namespace) -> "SigningKey | None":
    from warehouse.evidence.signing.keys import load_signing_key

    return load_signing_key(args.sign) if args.sign else None


def report(args: argparse.Namespace, event: "Event", said: str) -> ExitCode:
    """Print the event, `said` of it to people."""
    if args.json:
        document = {"kind": event.kind, "run_id": event.subject, "at": event.at, "by": event.by, **event.detail}
        print_json({**document, "event": event.key, "sha256": event.sha256})
    else:
        notice(said)
        say(event.key)
    return ExitCode.OK
