"""`wh lineage`."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from warehouse.cli.output import print_json
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.claims.excluded import Excluded, Exclusion
    from warehouse.claims.lineage import Lineage
    from warehouse.project import Project

_LISTED = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "number", metavar="NUMBER", help="a number id (n-...), query[key=value,...].column, or a number as printed"
    )
    parser.add_argument(
        "--excluded", action="store_true", help="the runs that did not contribute too, each with the clause that left it out"
    )
    parser.add_argument("--json", action="store_true", help="print the steps as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.lineage import lineage
    from warehouse.project import find_project

    project = find_project()
    number = lineage(project, args.number)
    exclusion = None
    if args.excluded:
        from warehouse.claims.excluded import excluded_by

        exclusion = excluded_by(project, number)
    if args.json:
        print_json(_document(number) | ({"excluded": asdict(exclusion)} if exclusion else {}))
    else:
        print("\n".join(_tree(project, number) + (_left_out(exclusion) if exclusion else [])))
    return ExitCode.OK


def _document(number: "Lineage") -> dict[str, object]:
    return {
        "number_id": number.number_id,
        "publication": number.publication,
        "row": {"query": number.query, "grain": dict(number.grain), "column": number.column, "value": number.value},
        "query": {
            "query_spec_digest": number.query_spec_digest,
            "models": [{"name": name, "digest": digest} for name, digest in number.models],
        },
        "runs": [dict(run) for run in number.runs],
        "raw_files": [asdict(file) for file in number.raw_files],
        "now": None if number.now is None else {"number_id": number.now[0], "value": number.now[1]},
        "is_gone": number.is_gone,
    }


def _tree(project: "Project", number: "Lineage") -> list[str]:
    from warehouse.claims.lineage import excerpts

    lines = [f"{number.number_id or 'NULL, no number'}  {printable(str(number.value))}"]
    lines.append(f"├─ 1 row    {number.query}.{number.column}")
    lines += [f"│           {name} = {printable(str(value))}" for name, value in number.grain.items()]
    if number.publication:
        lines.append(f"│           published in {number.publication}")
    else:
        lines.append("│           built, not published")
    lines.append(f"├─ 2 query  {number.query}  query_spec_digest {number.query_spec_digest}")
    lines += _listed([f"{name}  {digest[:16]}" for name, digest in number.models], "│           ")
    lines.append(f"├─ 3 runs   {len(number.runs)}")
    for (workload, bundle), runs in _by_bundle(number).items():
        lines.append(f"│           workload_spec_digest {workload}")
        lines.append(f"│           artifact_manifest_digest {bundle}")
        lines += _listed([printable(run) for run in runs], "│             ")
    lines.append(f"└─ 4 raw    {len(number.raw_files)} file{'s' * (len(number.raw_files) != 1)}")
    for file in number.raw_files[:_LISTED]:
        spans = ", ".join(f"[{offset}, {offset + length})" for offset, length in file.ranges[:4])
        more = f" and {len(file.ranges) - 4} more ranges" if len(file.ranges) > 4 else ""
        lines.append(f"            {file.uri}")
        lines.append(f"              bytes {spans}{more}  sha256 {file.sha256}")
        texts = excerpts(project, file)
        if texts is None:
            texts = ["(the file is not the one of the record)"]
        lines += [f"              {printable(text)}" for text in texts]
    if len(number.raw_files) > _LISTED:
        lines.append(f"            and {len(number.raw_files) - _LISTED} more: --json lists all")
    if number.now:
        lines.append(f"now         {number.now[1]}  {number.now[0]}: the current build holds another number")
    elif number.is_gone:
        lines.append("now         the current build has no such cell")
    return lines


_OF_ROW = {True: "of this row by its grain", None: "of this row or another: it cannot be told", False: "of other rows by their grain"}


def _left_out(exclusion: "Exclusion") -> list[str]:
    """The runs that did not contribute, a line for each clause."""
    without = exclusion.population - exclusion.own
    lines = [f"excluded    {without} of the {exclusion.population} runs of {', '.join(exclusion.tables) or 'no table of runs'}"]
    groups: dict[bool | None, dict[str, list[str]]] = {}
    for run in exclusion.excluded:
        groups.setdefault(run.is_of_row, {}).setdefault(_reason(run), []).append(_run(run))
    for is_of_row, reasons in groups.items():
        lines.append(f"            {_OF_ROW[is_of_row]}")
        for reason, runs in reasons.items():
            lines.append(f"              {len(runs)}  {printable(reason)}")
            lines += _listed(runs, "                 ")
    if exclusion.elsewhere:
        lines.append(f"            {len(exclusion.elsewhere)} in other rows of the result")
        rows = [(each.run_id, ", ".join(f"{name} = {value}" for name, value in each.grain.items())) for each in exclusion.elsewhere]
        lines += _listed([printable(f"{run}  {grain}") for run, grain in rows], "              ")
    return lines


def _reason(run: "Excluded") -> str:
    match run.reason:
        case "not determined":
            return f"not determined: no clause can be named in the block  {run.place}"
        case "where":
            return f"where {run.clause}  {run.place}"
        case _:
            return f"{run.clause}  {run.place}"


def _run(run: "Excluded") -> str:
    null = "  the condition is NULL" if run.is_null else ""
    more = f" and {len(run.witnesses) - 3} more" if len(run.witnesses) > 3 else ""
    against = f"  against it: {', '.join(run.witnesses[:3])}{more}" if run.witnesses else ""
    return printable(f"{run.run_id}{null}{against}")


def _by_bundle(number: "Lineage") -> dict[tuple[object, object], list[str]]:
    """Run ids by the two digests that identify their workload and their evidence."""
    groups: dict[tuple[object, object], list[str]] = {}
    for run in number.runs:
        key = (run.get("workload_spec_digest"), run.get("artifact_manifest_digest"))
        groups.setdefault(key, []).append(run["run_id"])
    return groups


def _listed(items: list[str], indent: str) -> list[str]:
    lines = [indent + item for item in items[:_LISTED]]
    if len(items) > _LISTED:
        lines.append(f"{indent}and {len(items) - _LISTED} more: --json lists all")
    return lines
