"""`wh verify`."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.numbers.signatures import signings_document, signings_text
from warehouse.cli.output import counted, is_on_terminal, is_verbose, notice, print_json_line, progress_bar, say, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.claims.publish.publication import PublishedRollup
    from warehouse.claims.verify.verdict import Verdict
    from warehouse.project.project import Project


PAGE = "docs/security.md"
EXAMPLES = (
    "wh verify 'indicator_results[result_key=elapsed_ms].median'",
    "wh verify --all --strict",
    "wh verify number.whp",
)
INTERRUPTED = "nothing was changed; the printed verdicts are valid"

_TIMEOUT_S = 600
_SHOWN = 6  # verdicts on a terminal: each takes up to six lines
_MOST_S = 31_536_000  # a year


def command(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="NUMBER",
            help="a number id (n-...), query[key=value,...].column, a number as printed, a publication's digest or its beginning"
            " (8 digits or more; sha256:... may be shorter), an audit packet, or a report",
        ),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="verify every number of every publication")] = False,
    trust: Annotated[
        list[Path] | None,
        typer.Option(metavar="KEYFILE", help="check signatures with this public key, not with those that the project trusts (repeatable)"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="also fail for a number that is stale or retracted")] = False,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.001, max=_MOST_S, help="refuse an audit packet that takes longer: its SQL may never end")
    ] = _TIMEOUT_S,
    as_json: Annotated[bool, typer.Option("--json", help="print the verdicts as JSON, one a line")] = False,
) -> ExitCode:
    """States: verified, stale (true, but not what the current build holds), retracted (true, but a run under it was withdrawn since), tampered,
    missing, expired by policy, not reproduced, refused."""
    from warehouse.claims.verify.verdict import VERIFIED, exit_code

    if all == (target is not None):
        raise usage("name one number, publication or packet, or give --all")
    counts, states, problems, shown = Counter[str](), set[str](), set[str](), 0
    is_one = target is not None and _digest(target) is None and not _is_report(target)
    with ExitStack() as bars:
        bar = bars.enter_context(progress_bar(_how_many(target), " numbers")) if not is_one else None
        for verdict in _verdicts(target, trust, timeout):
            counts[_counted(verdict)] += 1
            states.add(verdict.state)
            if as_json:
                print_json_line(_document(verdict))
            elif is_one or is_verbose() or verdict.state != VERIFIED or verdict.number_id is None:
                shown += 1
                if shown <= _SHOWN or is_verbose() or not is_on_terminal():
                    if bar is not None:
                        bar.clear()  # or a terminal has both on one line
                    say("\n".join(_lines(verdict)), state=verdict.state)
            for problem in map(str, verdict.problems):
                if problem not in problems:  # a thousand numbers may depend on one lost file
                    warn(problem)
                problems.add(problem)
            if bar is not None:
                bar.update(1)
    if shown > _SHOWN and not is_verbose() and is_on_terminal():
        say(f"and {shown - _SHOWN:,} more: {shlex.join(['wh', 'verify', '-v', target or '--all'])}")
    if not is_one:
        notice(", ".join(f"{count} {state}" for state, count in counts.most_common()) or "nothing is published")
    return exit_code(states, is_strict=strict)


def _counted(verdict: "Verdict") -> str:
    """What a verdict is counted as: its state, and what replayed the number if that is not what recorded it."""
    from warehouse.claims.verify.verdict import REFUSED

    is_replayed = verdict.state != REFUSED and not verdict.problems
    return f"{verdict.state} ({verdict.other_software})" if is_replayed and verdict.other_software else verdict.state


def _verdicts(target: str | None, trust: list[Path] | None, timeout: float) -> "Iterable[Verdict]":
    """The verdicts of a target, or without one of every published number."""
    from warehouse.claims.publish.publication import publication_with
    from warehouse.claims.verify.packet import is_packet, packet_at, verify_packet
    from warehouse.claims.verify.verification import verify_all, verify_number, verify_publication
    from warehouse.project.project import find_project

    trusted = _given_keys(trust)
    if target and _is_report(target):
        from warehouse.surfaces.reports.verification import verify_report  # heavy, and only for these

        project = find_project()
        return verify_report(project if trusted is None else replace(project, trusted_keys=trusted), Path(target))
    if target and (packet := packet_at(target)):
        if not is_packet(packet):
            raise usage(f"{printable(target)} is a file, but neither an audit packet nor a report")
        here = _project_here()
        keys = trusted if trusted is not None or here is None else here.trusted_keys
        return [verify_packet(packet, here, keys, timeout)]
    project = find_project()
    if trusted is not None:
        project = replace(project, trusted_keys=trusted)
    if target is None:
        return verify_all(project, _started)
    digest = _digest(target)
    if digest is None:
        return [verify_number(project, target)]
    return verify_publication(project, publication_with(project, digest))


def _started(publication: "PublishedRollup", number: int, total: int) -> None:
    """A line a publication: the replay of one may take minutes."""
    name = publication.query or "a damaged publication"
    notice(f"{number} of {total}: {name}, {counted(int(publication.record.get('numbers', 0)), 'number')}, publication {publication.digest[:12]}")


def _is_report(target: str) -> bool:
    from warehouse.surfaces.reports.reading import is_report

    path = Path(target)
    return path.is_file() and is_report(path)


def _how_many(target: str | None) -> int | None:
    """The numbers of all publications; None of one target: how many it has is not known before it is read."""
    from warehouse.claims.verify.verification import count_numbers
    from warehouse.project.project import find_project

    return count_numbers(find_project()) if target is None else None


def _given_keys(files: list[Path] | None) -> dict[str, str] | None:
    """The public keys that were given, by file; None when none was."""
    from warehouse.evidence.signing.keys import read_public_key

    return {str(file): read_public_key(file).text for file in files} if files else None


def _project_here() -> "Project | None":
    """The project here; None where there is none, which a packet does not need."""
    from warehouse.project.project import find_project

    try:
        return find_project()
    except WarehouseError as error:
        if error.code != "WH001":
            raise
        return None


def _digest(target: str) -> str | None:
    """The digest, or its beginning, that a target is. Eight digits or more without `sha256:` may be a number as printed."""
    found = re.fullmatch("sha256:([0-9a-f]{1,64})|([0-9a-f]{64}|(?![0-9]+(?:e[0-9]+)?$)[0-9a-f]{8,63})", target)
    return (found[1] or found[2]) if found else None


def _lines(verdict: "Verdict") -> list[str]:
    number = f"{verdict.number_id}  {printable(str(verdict.value))}  " if verdict.number_id else ""
    signed = signings_text(verdict.signings)
    reason = f"{verdict.reason}; signatures: {signed}" if signed else verdict.reason
    return [f"{number}{printable(verdict.key)}", f"  {verdict.state}: {reason}"]


def _document(verdict: "Verdict") -> dict[str, object]:
    return {
        "number_id": verdict.number_id,
        "cell": verdict.key,
        "value": verdict.value,
        "state": verdict.state,
        "reason": verdict.reason,
        "files_checked": verdict.files_checked,
        "problems": [str(problem) for problem in verdict.problems],
        "is_vouched": verdict.signings is not None and verdict.signings.is_vouched,
        "signatures": signings_document(verdict.signings),
        "is_published": verdict.is_published,
        "publication": verdict.publication,
        "published_at": verdict.published_at,
        "engine": asdict(verdict.engines) if verdict.engines else None,
        "code": asdict(verdict.code) if verdict.code else None,
        "now": asdict(verdict.now) if verdict.now else None,
        "published_instead": asdict(verdict.published_instead) if verdict.published_instead else None,
    }
