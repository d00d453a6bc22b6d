"""`wh advise`."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import notice, print_json, say, table
from warehouse.errors import ExitCode, counted, printable

if TYPE_CHECKING:
    from warehouse.campaign.advice import Advice, Advised

PAGE = "docs/campaigns.md"
EXAMPLES = (
    "wh advise numpy-matmul --metric rate", "wh advise numpy-matmul --metric elapsed --indifference 0.01 --lock pylock.best.toml",
    "wh advise numpy-matmul --metric rate --from 0a1b2c3d4e5f",
)
_LOCK_NAME = re.compile(r"pylock(\.[^.]+)?\.toml")
_MOST_WORKS, _MOST_CELLS, _MOST_FAILED = 4, 12, 4


def command(
    campaign: Annotated[str, typer.Argument(metavar="CAMPAIGN", help="the campaign's name or id; * stands for any characters")],
    metric: Annotated[str | None, typer.Option("--metric", metavar="NAME", help="what to compare, where the runs have several")] = None,
    indifference: Annotated[
        float, typer.Option("--indifference", metavar="SHARE", min=0, help="a difference that does not matter, such as 0.01")
    ] = 0.0,
    slo: Annotated[
        str | None, typer.Option("--slo", metavar="SLO", help="limits that a stack must be shown to meet, such as 'latency_p99_ms<=20'")
    ] = None,
    cheapest: Annotated[bool, typer.Option("--cheapest", help="with --slo: compare those of the lowest price per hour among what meets it")] = False,
    hardware: Annotated[str | None, typer.Option("--hardware", metavar="TEXT", help="count only runs on such machines, such as H100")] = None,
    published: Annotated[
        str | None, typer.Option("--from", metavar="PUBLICATION", help="compute it again from a publication of campaign_sessions, not from the build")
    ] = None,
    lock: Annotated[
        Path | None, typer.Option("--lock", metavar="FILE", help="write the lock of the first stack, for uv pip sync: pylock.NAME.toml")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the advice with its runs as JSON")] = False,
) -> ExitCode:
    from warehouse.campaign.measured import advise, advise_published, lock_of
    from warehouse.claims.publish.corrections import correction_text, corrections
    from warehouse.claims.publish.publication import publication_with
    from warehouse.evidence.ledger.events import Ledger
    from warehouse.evidence.ledger.run_decisions import standing
    from warehouse.evidence.objects.location import open_store
    from warehouse.project.project import find_project

    if cheapest and not slo:
        raise typer.BadParameter("--cheapest needs --slo: what the stacks must reach")
    if lock is not None and not _LOCK_NAME.fullmatch(lock.name):
        raise typer.BadParameter(f"--lock {lock.name}: uv takes a lock by its name, which is pylock.toml or pylock.NAME.toml (PEP 751)")
    if hardware and published:
        raise typer.BadParameter("--hardware is not for --from: a publication has the values of all machines together")
    project = find_project()
    if published:
        publication = publication_with(project, published.removeprefix("sha256:"))
        advised = advise_published(publication, campaign, metric, indifference, slo, cheapest)
        if correction := corrections(project).get(publication.digest):
            notice(f"the publication was {correction_text(correction)}")
        short = publication.digest[:12]
        runs = {run for work in advised.works for cell in work.cells.values() for run in cell.run_ids}
        if out := runs & standing(Ledger(open_store(project).objects).decisions()).not_admitted.keys():
            notice(f"{counted(len(out), 'run', 'runs')} of it retracted or superseded since: {printable(min(out))}{' and others' * (len(out) > 1)}")
        notice(f"computed from publication {short}, which has only runs that count: wh verify {short} replays its values")
    else:
        advised = advise(project, campaign, metric, indifference, slo, cheapest, hardware)
    if as_json:
        print_json(_document(advised))
    else:
        _say(advised)
    if lock is not None:
        lock.write_bytes(lock_of(project, advised))
        notice(f"uv pip sync {lock}")
    return ExitCode.OK


def _document(advised: "Advised") -> dict[str, Any]:
    document = asdict(advised)
    for cell in [*document["failed"], *(cell for work in document["works"] for cell in work["cells"].values())]:
        cell["failures"] = [{"status": status, "reason": reason, "runs": count} for (status, reason), count in cell["failures"].items()]
    return document


def _say(advised: "Advised") -> None:
    for advice in advised.works[:_MOST_WORKS]:
        _say_work(advice)
    if len(advised.works) > _MOST_WORKS:
        say(f"and {counted(len(advised.works) - _MOST_WORKS, 'other piece')} of work: --json has all")
    for cell in advised.failed[:_MOST_FAILED]:
        say(f"not measured  {cell.label}: {cell.failures_text}")
    if len(advised.failed) > _MOST_FAILED:
        say(f"and {len(advised.failed) - _MOST_FAILED} more that were not measured")
    for stack, cell in {cell.stack_digest: cell for work in advised.works for name in work.found.may_be_best for cell in [work.cells[name]]}.items():
        known = [each.text for each in advised.vulnerabilities if each.stack_digest == stack]
        if known:
            say(f"known vulnerabilities of {cell.label}: {'; '.join(known[:_MOST_FAILED])}{f'; and {len(known) - 4} more' if len(known) > 4 else ''}")
    if advised.disturbances:
        say(f"disturbed by other work, a limit or heat: session {advised.disturbed_text}; the comparisons are within sessions")
    if advised.added_sessions:
        say(f"{counted(advised.added_sessions, 'session')} of these added after results were seen: the intervals are somewhat too narrow")
    if advised.not_drawn:
        say(f"not measured  {counted(advised.not_drawn, 'combination')} of the factors, which were not chosen")


def _say_work(advice: "Advice") -> None:
    unit, better = f", {advice.unit}" if advice.unit else "", "higher" if advice.higher_is_better else "lower"
    say(f"{advice.case} {advice.point}".rstrip() + f": {advice.metric}{unit}, {better} is better" + (f", where {advice.slo}" if advice.slo else ""))
    say(f"  {advice.verdict}")
    if advice.found.named and advice.runner_up:
        name, against = advice.runner_up
        say(f"  runner-up: {advice.cells[name].label}; the best is {against.ratio:.3g} times as good ({against.low:.3g} to {against.high:.3g})")
    headings = ["", "cell", "stack", advice.metric, "number", "times as good as the best other", "sessions", "failed"]
    say(table(headings, [_row(advice, name) for name in advice.ranked[:_MOST_CELLS]]))
    if len(advice.ranked) > _MOST_CELLS:
        say(f"and {len(advice.ranked) - _MOST_CELLS} more cells")
    for name in advice.found.may_be_best:
        if unlike := advice.cells[name].unlike:
            say(f"  {name}: a run had another {', '.join(unlike)} than was asked for; see campaign_cell_fact")
    if advice.next_run:
        say(f"  would say most: {advice.next_run}")


def _row(advice: "Advice", name: str) -> list[Any]:
    cell, against = advice.cells[name], advice.found.against.get(name)
    beside = f"{against.ratio:.3g} ({against.low:.3g} to {against.high:.3g})" if against else ""
    label = cell.label + (" (baseline)" if cell.is_baseline else "")
    return [
        advice.state(name), name, label, f"{advice.typical(name):.4g}", cell.number_id or "", beside, f"{len(cell.values)} of {advice.sessions}",
        cell.failures_text,
    ]
