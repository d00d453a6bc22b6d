"""What `wh retract`, `wh reinstate`, `wh settle` and `wh note` share: their options, the signing key, and what they print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.output import notice, print_json, say
from warehouse.errors import ExitCode

if TYPE_CHECKING:
    from warehouse.evidence.ledger.events import Event
    from warehouse.evidence.signing.keys import SigningKey

Run = Annotated[str, typer.Argument(metavar="RUN", help="a run_id of the current build")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="why: it is shown wherever the run is")]
Sign = Annotated[str | None, typer.Option(metavar="KEY", help="sign it: a private key's file, or a name that was given to wh keygen")]
Json = Annotated[bool, typer.Option("--json", help="print the ledger's event as JSON")]


def signing_key(sign: str | None) -> "SigningKey | None":
    """The key to sign with, if one is named. Raises WH110."""
    from warehouse.evidence.signing.keys import load_signing_key

    return load_signing_key(sign) if sign else None


def report(event: "Event", text: str, *, as_json: bool) -> ExitCode:
    """Print the event, `text` about it to people."""
    from warehouse.evidence.ledger.run_decisions import is_of_run

    if as_json:
        name = "run_id" if is_of_run(event) else "subject"
        document = {"kind": event.kind, name: event.subject, "at": event.at, "by": event.by, **event.detail}
        print_json({**document, "event": event.key, "sha256": event.sha256})
    else:
        notice(text)
        say(event.key)
    return ExitCode.OK
