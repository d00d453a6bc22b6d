"""`wh verify`."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json_line, say
from warehouse.cli.signatures import signings_document, signings_text
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.claims.verify.verdict import Verdict
    from warehouse.project import Project


_TIMEOUT_S = 600
_MOST_S = 31_536_000  # a year


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "target", metavar="NUMBER", nargs="?",
        help="a number id (n-...), query[key=value,...].column, a number as printed, a publication's digest or its "
        "beginning (8 digits or more; sha256:... may be shorter), or an audit packet",
    )
    what.add_argument("--all", action="store_true", help="verify every number of every publication")
    parser.add_argument(
        "--trust", metavar="KEYFILE", action="append", type=Path,
        help="check signatures with this public key, and not with those that the project trusts (may be given again)",
    )
    parser.add_argument("--strict", action="store_true", help="also fail for a number that is stale or retracted")
    parser.add_argument(
        "--timeout", type=_seconds, default=_TIMEOUT_S, metavar="SECONDS",
        help=f"refuse an audit packet that takes longer: its SQL may never end (default {_TIMEOUT_S})",
    )
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON, one a line")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= _MOST_S:
        raise argparse.ArgumentTypeError(f"more than 0 and at most {_MOST_S}")
    return seconds


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.verify.verdict import VERIFIED, exit_code

    counts, problems = Counter[str](), set[str]()
    is_one = not args.all and _digest(args.target) is None
    for verdict in _verdicts(args):
        counts[verdict.state] += 1
        if args.json:
            print_json_line(_document(verdict))
        elif is_one or verdict.state != VERIFIED:
            say("\n".join(_lines(verdict)))
        for problem in map(str, verdict.problems):
            if problem not in problems:  # a thousand numbers may rest on one lost file
                notice(problem)
            problems.add(problem)
    if not is_one:
        notice(", ".join(f"{count} {state}" for state, count in counts.most_common()) or "nothing is published")
    return exit_code(counts, is_strict=args.strict)


def _verdicts(args: argparse.Namespace) -> "Iterable[Verdict]":
    from warehouse.claims.publish.publication import publication_with
    from warehouse.claims.verify.packet import is_packet, verify_packet
    from warehouse.claims.verify.verification import verify_all, verify_number, verify_publication
    from warehouse.project import find_project

    trusted = _given_keys(args.trust)
    if args.target and is_packet(Path(args.target)):
        here = _project_here()
        keys = trusted if trusted is not None or here is None else here.trusted_keys
        return [verify_packet(Path(args.target), here, keys, args.timeout)]
    project = find_project()
    if trusted is not None:
        project = replace(project, trusted_keys=trusted)
    if args.all:
        return verify_all(project)
    digest = _digest(args.target)
    if digest is None:
        return [verify_number(project, args.target)]
    return verify_publication(project, publication_with(project, digest))


def _given_keys(files: list[Path] | None) -> dict[str, str] | None:
    """The public keys that were given, by file; None when none was."""
    from warehouse.evidence.signing.keys import read_public_key

    return {str(file): read_public_key(file).text for file in files} if files else None


def _project_here() -> "Project | None":
    """The project here; None where there is none, which a packet does not need."""
    from warehouse.project import find_project

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
        "now": asdict(verdict.now) if verdict.now else None,
        "published_instead": asdict(verdict.published_instead) if verdict.published_instead else None,
    }
