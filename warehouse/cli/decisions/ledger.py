"""`wh ledger`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import SCREEN, first_of, notice, print_json_line, say, warn
from warehouse.errors import ExitCode, WarehouseError, counted, printable

if TYPE_CHECKING:
    from warehouse.claims.numbers.deciding import LedgerLine


PAGE = "docs/decisions.md"
EXAMPLES = ("wh ledger", "wh ledger recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --json")


def command(
    subject: Annotated[
        str | None, typer.Argument(metavar="WHAT", help="only events of this run, or of the bundle or publication whose digest begins so")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the events as JSON, one a line")] = False,
) -> ExitCode:
    from warehouse.claims.numbers.deciding import ledger_lines
    from warehouse.project.project import find_project

    damaged: list[WarehouseError] = []
    lines = list(ledger_lines(find_project(), subject, damaged))
    if as_json:
        for line in lines:
            print_json_line(_document(line))
    else:
        every = "wh ledger -v" + (f" {shlex.quote(subject)}" if subject else "")
        for text in first_of([_text(line) for line in reversed(lines)], SCREEN, every):
            say(text)
    for damage in damaged:
        warn(damage)
    if damaged:
        return ExitCode.FAILED
    if subject and not lines:
        notice(f"the ledger has nothing of {printable(subject)}")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def _document(line: "LedgerLine") -> dict[str, Any]:
    event, signing = line.event, line.signing
    document = {"at": event.at, "kind": event.kind, "subject": event.subject, "by": event.by, "detail": dict(event.detail)}
    return document | {"event": event.key, "sha256": event.sha256} | ({"signing_state": signing.state} if signing else {})


def _text(line: "LedgerLine") -> str:
    from warehouse.evidence.ledger.events import SEEN

    event, signing = line.event, line.signing
    # A look names every run that it saw first: --json lists them.
    seen = event.detail.get(SEEN)
    said = {**event.detail, SEEN: f"runs of {counted(len(seen), 'row')}"} if isinstance(seen, dict) else event.detail
    detail = ", ".join(f"{name}: {_short(value)}" for name, value in said.items())
    signed = f"  [{signing.state}: {signing.reason}]" if signing and signing.signatures else "  [unsigned]" if signing else ""
    return printable(f"{event.at}  {event.kind}  {event.subject}  {event.by}  {detail}{signed}")


def _short(value: Any) -> str:
    """A value of an event; of archives their names, of which --json has the members too."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return " ".join(str(each.get("archive", each)) for each in value)
    return str(value)
