"""`wh fsck`."""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime

from warehouse.cli.output import notice, print_json_line, progress_bar, say
from warehouse.errors import ExitCode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=_positive, metavar="N", help="look at N bundles that chance chooses, instead of all")
    parser.add_argument("--seed", type=int, metavar="SEED", help="of the chance: the same seed chooses the same bundles")
    parser.add_argument("--since", type=_date, metavar="DATE", help="look at bundles that arrived then (UTC) or later")
    parser.add_argument("--resume", action="store_true", help="go on with the check that was interrupted, as it was asked for")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.evidence.finding import worst
    from warehouse.maintenance.fsck import Scope, check_store
    from warehouse.project import find_project

    if args.resume and (args.sample or args.since or args.seed is not None):
        notice("wh fsck: --resume goes on with what was asked for before: give it alone")
        return ExitCode.USAGE
    if args.seed is not None and args.sample is None:
        notice("wh fsck: --seed is of --sample")
        return ExitCode.USAGE
    scope = Scope(args.sample, _seed() if args.seed is None else args.seed, args.since)
    counts: Counter[str] = Counter()
    with progress_bar(0, " bundles") as bar:

        def on_bundle(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        check = check_store(find_project(), scope, is_resumed=args.resume, on_bundle=on_bundle)
        if check.resumed:
            notice(f"{check.resumed} bundles and batches were done before")
        if check.scope.sample is not None:
            notice(f"a sample of {check.scope.sample} bundles by --seed {check.scope.seed}")
        for finding in check.findings:
            counts[finding.kind] += 1
            if args.json:
                print_json_line(
                    {"kind": finding.kind, "code": finding.code, "key": finding.key, "message": finding.message, "hint": finding.hint}
                )
            else:
                say(finding, flush=True)
    if check.empty:
        notice(f"there is no evidence in {check.empty}, nor word of any")
    notice(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing is wrong")
    return worst(counts)


def _seed() -> int:
    import secrets

    return secrets.randbelow(1_000_000)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def _date(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no date, such as 2026-01-31") from error
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()
