"""`wh gc`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from warehouse.cli.output import notice, print_json_line, say, size
from warehouse.errors import ExitCode

_GRACE_DAYS = 7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--apply", action="store_true", help="remove it; without this it is only told")
    parser.add_argument(
        "--grace", type=_days, default=_GRACE_DAYS, metavar="DAYS", help=f"leave what is younger than this ({_GRACE_DAYS})"
    )
    parser.add_argument("--json", action="store_true", help="print what can go as JSON, one a line")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.evidence.objects.location import open_store
    from warehouse.maintenance.leftovers import find_leftovers, remove_leftovers
    from warehouse.project import find_project

    store = open_store(find_project())
    older_than = datetime.now(UTC) - timedelta(days=args.grace)
    count = total = 0
    for leftover in remove_leftovers(store, older_than) if args.apply else find_leftovers(store, older_than):
        count, total = count + 1, total + leftover.bytes
        if args.json:
            print_json_line({**asdict(leftover), "is_removed": args.apply})
        else:
            say(f"{leftover.key}  {leftover.kind}, {size(leftover.bytes)}, {leftover.modified_at:%Y-%m-%d %H:%M} UTC", flush=True)
    done = "removed" if args.apply else "can go: wh gc --apply removes"
    notice(f"{done} {count} leftovers of crashes, {size(total)}" if count else f"no crash left anything more than {args.grace:g} days ago")
    return ExitCode.OK


def _days(text: str) -> float:
    days = float(text)
    if not 0 <= days < 1e6:
        raise argparse.ArgumentTypeError("a number of days")
    return days
