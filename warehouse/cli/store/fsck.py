"""`wh fsck`."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated

import typer

from warehouse.cli.output import counted, notice, print_json_line, progress_bar, say, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode

PAGE = "docs/store.md"
EXAMPLES = ("wh fsck", "wh fsck --sample 10 --seed 1", "wh fsck --since 2026-01-31 --json")
INTERRUPTED = "to begin with what was not reached: wh fsck --resume"


def _date(text: str) -> str:
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is not a date, such as 2026-01-31") from error
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()


def command(
    sample: Annotated[int | None, typer.Option(min=1, metavar="N", help="check N bundles chosen at random, instead of all")] = None,
    seed: Annotated[int | None, typer.Option(metavar="SEED", help="of --sample: the same seed chooses the same bundles")] = None,
    since: Annotated[str | None, typer.Option(parser=_date, metavar="DATE", help="check bundles that arrived then (UTC) or later")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="begin with what the interrupted check, with its options, had not reached")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the findings as JSON, one a line")] = False,
) -> ExitCode:
    from warehouse.evidence.finding import worst
    from warehouse.maintenance.fsck import Scope, check_store
    from warehouse.project.project import find_project

    if resume and (sample or since or seed is not None):
        raise usage("--resume continues the interrupted check with its own options: give no others")
    if seed is not None and sample is None:
        raise usage("--seed needs --sample")
    scope = Scope(sample, _seed() if seed is None else seed, since)
    counts: Counter[str] = Counter()
    with progress_bar(0, " bundles") as bar:

        def on_bundle(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        check = check_store(find_project(), scope, is_resumed=resume, on_bundle=on_bundle)
        if check.resumed:
            notice(f"{counted(check.resumed, 'bundle or batch that was', 'bundles and batches that were')} reached before will be checked last")
        if check.scope.sample is not None:
            notice(f"a sample of {counted(check.scope.sample, 'bundle')} by --seed {check.scope.seed}")
        for finding in check.findings:
            counts[finding.kind] += 1
            if as_json:
                print_json_line(
                    {"kind": finding.kind, "code": finding.code, "key": finding.key, "message": finding.message, "hint": finding.hint}
                )
            else:
                say(finding, flush=True, state=finding.kind)
    if check.empty:
        warn(f"there is no evidence in {check.empty}, and the ledger mentions none")
    notice(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "nothing is wrong")
    return worst(counts)


def _seed() -> int:
    import secrets

    return secrets.randbelow(1_000_000)
