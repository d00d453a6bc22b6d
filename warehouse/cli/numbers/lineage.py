"""`wh lineage`."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.numbers.signatures import signings_document, signings_text
from warehouse.cli.output import counted, next_step, notice, print_json, say
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.claims.numbers.lineage import Lineage
    from warehouse.claims.numbers.raw_bytes import OpenedFile

_LISTED, _AT_ONCE = 12, 3  # of a kind, with --full and without
_CLAUSES = 3  # of those for which a guarantee is not established
_SHORT = 12  # characters of a digest


PAGE = "docs/lineage.md"
EXAMPLES = (
    "wh lineage 'indicator_results[result_key=elapsed_ms].median'",
    "wh lineage 'indicator_results[result_key=elapsed_ms].median' --rows --columns",
    "wh lineage 'indicator_results[result_key=elapsed_ms].median' --excluded --json",
)


def command(
    number: Annotated[str, typer.Argument(metavar="NUMBER", help="a number id (n-...), query[key=value,...].column, or a number as printed")],
    rows: Annotated[bool, typer.Option("--rows", help="also the rows that it was computed from, table by table")] = False,
    columns: Annotated[bool, typer.Option("--columns", help="also the columns that its column is computed from")] = False,
    excluded: Annotated[bool, typer.Option("--excluded", help="also the runs left out of it, each with the clause that did it")] = False,
    full: Annotated[bool, typer.Option("--full", help="also every digest, workload, clause and rule, and more runs and files")] = False,
    opens: Annotated[bool, typer.Option("--open", help="show the bytes of the raw files, and the text around them")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the steps as JSON")] = False,
) -> ExitCode:
    from warehouse.claims.numbers.lineage import lineage
    from warehouse.claims.numbers.raw_bytes import open_file
    from warehouse.claims.numbers.recorded import own_models
    from warehouse.cli.numbers.excluded_part import excluded_part
    from warehouse.cli.numbers.lineage_parts import columns_part, opened_document, rows_part
    from warehouse.cli.serving.run_validity import runs_validity, validity_document, validity_lines
    from warehouse.project.project import find_project
    from warehouse.transform.finished.builds import find_current
    from warehouse.transform.finished.query import kept_open

    project = find_project()
    with kept_open(find_current(project)):
        found = lineage(project, number)
        validity = runs_validity(project, [str(run["run_id"]) for run in found.runs])
    own = own_models(project, found)
    parts = {"rows": rows_part(project, found)} if rows else {}
    if columns:
        parts["columns"] = columns_part(project, found)
    if excluded:
        parts["excluded"] = excluded_part(project, found)
    if as_json:
        document = _document(found, own) | {"validity": validity_document(validity)}
        if opens:
            document["raw_files"] = [
                {**asdict(file), "opened": opened_document(open_file(project, file))} for file in found.raw_files
            ]
        print_json(document | {name: part.document for name, part in parts.items()})
    else:
        opened = [open_file(project, file) for file in found.raw_files[: _LISTED if full else _AT_ONCE]]
        lines = tree(found, own, opened, is_full=full, opens=opens)
        lines += [printable(line) for line in validity_lines(validity)[: None if full else 1]]
        say("\n".join([*lines, *(line for part in parts.values() for line in part.lines)]))
    for text in (text for part in parts.values() for text in part.notices):
        notice(text)
    if not full and not as_json:
        notice("--full shows the rest: digests, workloads, clauses, more runs and files")
    if found.publication:
        next_step(f"wh verify {shlex.quote(number)}", "hashes its raw files again and replays it")
    else:
        next_step(f"wh judge {found.query}", "what its numbers are worth before they are published")
    return ExitCode.OK


def _document(number: "Lineage", own: list[str] | None) -> dict[str, object]:
    return {
        "number_id": number.number_id,
        "publication": number.publication,
        "row": {
            "query": number.query, "grain": dict(number.grain), "column": number.column, "value": number.value, "unit": number.unit,
            "description": number.description,
        },
        "published": {"at": number.published.at, "by": number.published.by, "event": number.published.key} if number.published else None,
        "software": dict(number.software),
        "query": {
            "query_spec_digest": number.query_spec_digest,
            "models": [{"name": name, "digest": digest} for name, digest in number.models],
            "own_models": own,
        },
        "why_digest": number.why_digest,
        "guarantees": number.guarantees,
        "runs": [dict(run) for run in number.runs],
        "raw_files": [asdict(file) for file in number.raw_files],
        "now": None if number.now is None else {"number_id": number.now[0], "value": number.now[1]},
        "is_gone": number.is_gone,
        "worth": number.worth.document() if number.worth else None,
        "published_as": "provisional" if number.is_provisional else None,
        "correction": asdict(number.correction) if number.correction else None,
        "determinism": asdict(number.determinism) if number.determinism else None,
        "signatures": signings_document(number.signings),
        "removals": {digest: asdict(removal) for digest, removal in number.removals.items()},
        "decisions": {run: asdict(decision) for run, decision in number.decisions.items()},
        "settlements": {run: asdict(decision) for run, decision in number.settlements.items()},
    }


def tree(number: "Lineage", own: list[str] | None, opened: "list[OpenedFile]", *, is_full: bool, opens: bool) -> list[str]:
    """The four steps, on one screen unless it `is_full`; under the raw files that were opened the first bytes of their ranges, with `opens` all
    that was read."""
    from warehouse.evidence.ledger.removal import removal_text

    unit = f" {number.unit}" if number.unit and number.value is not None else ""
    lines = [f"{number.number_id or 'NULL, no number'}  {printable(str(number.value) + unit)}"]
    if number.worth:
        lines += _worth_lines(number, is_full=is_full)
    lines += _row_lines(number, is_full=is_full)
    lines += _query_lines(number, own, is_full=is_full)
    lines += _runs_lines(number, is_full=is_full)
    lines += _raw_lines(number, opened, is_full=is_full, opens=opens)
    if signed := signings_text(number.signings):
        lines.append(f"signatures  {signed}")
    removals = [f"{digest[:12]} {removal_text(removal)}" for digest, removal in number.removals.items()]
    decisions = [printable(f"{run}  {decision}") for run, decision in (*number.decisions.items(), *number.settlements.items())]
    lines += _listed(removals, "expired     ", is_full=is_full)
    lines += _listed(decisions, "decided     ", is_full=is_full)
    if number.now:
        lines.append(f"now         {number.now[1]}  {number.now[0]}: the current build holds another number")
    elif number.is_gone:
        lines.append("now         the current build has no such cell")
    return lines


def _row_lines(number: "Lineage", *, is_full: bool) -> list[str]:
    lines = [f"├─ 1 row    {number.query}.{number.column}" + (f": {printable(number.description)}" if number.description else "")]
    lines += [f"│           {name} = {'NULL' if value is None else printable(str(value))}" for name, value in number.grain.items()]
    if number.publication:
        lines.append(f"│           published in {number.publication if is_full else number.publication[:_SHORT]}")
        if number.published:
            software = f"wh {number.software['wh']}, {number.software['engine']}"
            lines.append(printable(f"│           {number.published.at} by {number.published.by}, with {software}"))
        lines.append(f"│           {number.determinism}")
    else:
        lines.append("│           built, not published")
    return lines


def _query_lines(number: "Lineage", own: list[str] | None, *, is_full: bool) -> list[str]:
    shown = [(name, digest) for name, digest in number.models if own is None or name in own]
    if not is_full:
        more = f" and {len(shown) - _AT_ONCE} more" if len(shown) > _AT_ONCE else ""
        carried = f"its value by {', '.join(name for name, _ in shown[:_AT_ONCE])}{more}; " if shown else ""
        return [
            f"├─ 2 query  {number.query}  query_spec_digest {number.query_spec_digest[:_SHORT]}",
            f"│           {carried}{counted(len(number.models), 'model')} under the query",
        ]
    lines = [f"├─ 2 query  {number.query}  query_spec_digest {number.query_spec_digest}"]
    lines += _listed([f"{name}  {digest[:16]}" for name, digest in shown], "│           ", is_full=True)
    if own is not None and len(shown) < len(number.models):
        lines.append(f"│           these carry its value, of {len(number.models)} models under the query: --json lists all")
    return lines


def _runs_lines(number: "Lineage", *, is_full: bool) -> list[str]:
    counts = f"├─ 3 runs   {len(number.runs)}{_repeats(number)}"
    if not is_full:
        return [counts, *_listed([printable(str(run["run_id"])) for run in number.runs], "│           ", is_full=False), *_promises(number)]
    lines = [counts + (f"  why_digest {number.why_digest}" if number.why_digest else "")]
    for (workload, bundle), runs in _by_bundle(number).items():
        lines.append(f"│           workload_spec_digest {workload or 'NULL, not stated'}")
        lines.append(f"│           artifact_manifest_digest {bundle}")
        lines += _listed([printable(run) for run in runs], "│             ", is_full=True)
    return lines + _guarantees(number)


def _raw_lines(number: "Lineage", opened: "list[OpenedFile]", *, is_full: bool, opens: bool) -> list[str]:
    from warehouse.cli.numbers.lineage_parts import excerpt_lines, window_lines

    lines = [f"└─ 4 raw    {counted(len(number.raw_files), 'file')}"]
    for each in opened:
        file = each.file
        spans = ", ".join(f"[{offset}, {offset + length})" for offset, length in file.ranges[: 4 if is_full else 1])
        more = f" and {len(file.ranges) - 4} more ranges" if is_full and len(file.ranges) > 4 else ""
        if is_full:
            lines += [f"            {file.uri}", f"              bytes {spans}{more}  sha256 {file.sha256}"]
        else:
            lines.append(f"            {printable(file.raw_path)}  bytes {spans}  in bundle {file.artifact_manifest_digest[:_SHORT]}")
        if file.origin:
            lines.append(f"              unpacked from {printable(str(file.origin))}, sha256 {file.origin.sha256[: None if is_full else _SHORT]}")
        lines += [f"              {line}" for line in (window_lines(each) if opens else excerpt_lines(each)[: None if is_full else 1])]
    if len(number.raw_files) > len(opened):
        lines.append(f"            {_more(len(number.raw_files) - len(opened), is_full=is_full)}")
    return lines


def _worth_lines(number: "Lineage", *, is_full: bool) -> list[str]:
    """What it is worth in one line, and what is against it."""
    from warehouse.claims.gate.judgement import NOT_CHECKED

    assert number.worth
    lines = [f"│  worth    {number.worth}" + ("; published as provisional" if number.is_provisional else "")]
    # Those that could not be checked last: none of them failed.
    not_met = sorted((each for each in number.worth.rules if not each.is_met), key=lambda each: each.figure is None or each.told == NOT_CHECKED)
    known = sum(each.figure is not None and each.told != NOT_CHECKED for each in not_met)
    shown = not_met if is_full else not_met[: min(known, _AT_ONCE)]
    lines += _listed([f"{each.told}: {printable(str(each))}" for each in shown], "│           ", is_full=is_full)
    rest = [f"{known - len(shown)} more rules are not met"] * (known > len(shown) and not is_full)
    rest += [f"{counted(len(not_met) - known, 'rule')} could not be checked"] * (len(not_met) > known and not is_full)
    if rest:
        lines.append(f"│           and {', '.join(rest)}: --full")
    if number.correction:
        from warehouse.claims.publish.corrections import correction_text

        lines.append(f"│           {correction_text(number.correction)}")
    return lines


def _repeats(number: "Lineage") -> str:
    """How many runs of each workload there are: without repeats there is no interval."""
    repeats = Counter(run.get("workload_spec_digest") for run in number.runs)
    if not repeats:
        return ""
    workloads = counted(len(repeats), "workload")
    if max(repeats.values()) == 1:
        return f" of {workloads}, no repeats: no interval can be given"
    least, most = min(repeats.values()), max(repeats.values())
    return f" of {workloads}, {least if least == most else f'{least} to {most}'} repeats of each"


def _promises(number: "Lineage") -> list[str]:
    """Which guarantees are established, and which not."""
    from warehouse.claims.publish.guarantees import MEANINGS, YES

    if number.guarantees is None:
        return []
    found = {name: number.guarantees[name]["holds"] == YES for name in MEANINGS}
    parts = [("guaranteed", True), ("not established", False)]
    told = [f"{words}: {', '.join(name for name, holds in found.items() if holds is which)}" for words, which in parts if which in found.values()]
    left_out = len(number.guarantees.get("left_out", {}).get("rows", ()))
    told += [f"{counted(left_out, 'entry', 'entries')} of rows left out that break a test"] * bool(left_out)
    return [f"│           {'; '.join(told)}"]


def _guarantees(number: "Lineage") -> list[str]:
    from warehouse.claims.publish.guarantees import MEANINGS

    if number.guarantees is None:
        return []
    lines = ["│           guaranteed (docs/lineage.md, What is guaranteed):"]
    lines += [f"│             {name} {words}: {number.guarantees[name]['established']}" for name, words in MEANINGS.items()]
    for names, clauses in (("G2", number.guarantees["G2"].get("clauses", ())), ("G3 and G4", number.guarantees["clauses"])):
        if clauses:
            lines.append(f"│             {names} are not established because of {counted(len(clauses), 'clause')}:")
            lines += [f"│               {printable(clause)}" for clause in clauses[:_CLAUSES]]
        if len(clauses) > _CLAUSES:
            lines.append(f"│               and {len(clauses) - _CLAUSES} more: --json lists all, under guarantees")
    left_out = number.guarantees.get("left_out", {}).get("rows", ())
    if left_out:
        lines.append("│             rows that break a test are left out of its tables:")
        lines += [f"│               {printable(line)}" for line in left_out[:_CLAUSES]]
        lines += [f"│               and {len(left_out) - _CLAUSES} more: --json lists all, under guarantees"] * (len(left_out) > _CLAUSES)
    return lines


def _by_bundle(number: "Lineage") -> dict[tuple[object, object], list[str]]:
    """Run ids by the two digests that identify their workload and their evidence."""
    groups: dict[tuple[object, object], list[str]] = {}
    for run in number.runs:
        key = (run.get("workload_spec_digest"), run.get("artifact_manifest_digest"))
        groups.setdefault(key, []).append(run["run_id"])
    return groups


def _listed(items: list[str], indent: str, *, is_full: bool) -> list[str]:
    count = _LISTED if is_full else _AT_ONCE
    lines = [indent + item for item in items[:count]]
    if len(items) > count:
        lines.append(f"{indent}{_more(len(items) - count, is_full=is_full)}")
    return lines


def _more(count: int, *, is_full: bool) -> str:
    return f"and {count} more: {'--json lists all' if is_full else '--full'}"
