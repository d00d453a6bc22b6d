"""`wh ingest`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.cli.output import notice, parsing_bar, print_json, progress_bar, say, size, table
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from warehouse.evidence.store import EvidenceStore
    from warehouse.landing.ingest import IngestReport, Plan
    from warehouse.landing.parse.examination import Issue
    from warehouse.landing.registry import RegisteredIngestor

_ERRORS_SHOWN = 5
_Sources = Mapping[tuple[str | None, str], str]  # of a bundle's file by its raw_path: where the user has it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files or folders with evidence")
    parser.add_argument("--as", dest="ingestor", metavar="NAME", help="the only ingestor to take where several claim a file")
    parser.add_argument("--dry-run", action="store_true", help="say what would be recognised as what; write nothing")
    parser.add_argument("--sign", metavar="KEY", help="sign every bundle: a private key's file, or a name that wh keygen was given")
    parser.add_argument("--json", action="store_true", help="print the bundles as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.evidence.objects.location import open_store
    from warehouse.evidence.signing.keys import load_signing_key
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import check_name, find_ingestors
    from warehouse.project import find_project

    project = find_project()
    key = load_signing_key(args.sign) if args.sign else None
    found = find_ingestors(project)
    ingestors = {name: each.ingestor for name, each in found.items()}
    if args.ingestor is not None:
        check_name(args.ingestor, ingestors)
    store = open_store(project)
    plans, reports, failures = [], [], []
    sources: _Sources = {}
    for path in args.paths:
        try:
            plan = plan_ingest(path, ingestors.values(), project.store_root, args.ingestor)
            plans.append(plan)
            if not args.dry_run:
                with progress_bar(plan.bytes, "B", scaled=True) as bar:
                    report = ingest(plan, store, str(path), lambda bundle: bar.update(bundle.bytes), key)
                reports.append(report)
                sources = {**_sources(path, plan, report), **sources}  # of equal bundles the first was copied
        except WarehouseError as error:
            if error.code in ("WH109", "WH113", "WH114"):
                raise
            failures.append(error)
    if args.dry_run:
        _print_plans(plans, as_json=args.json)
        problems = [problem for plan in plans for problem in plan.problems]
    else:
        issues = _issues(store, reports, found)
        _print(reports, issues, sources, as_json=args.json)
        if key:
            count = sum(bundle.digest is not None for report in reports for bundle in report.bundles)
            notice(f"{count} bundle{'s' * (count != 1)} signed by key {key.public.name} ({key.public.key_id[:12]})")
        problems = [problem for report in reports for problem in _problems(report)]
    for problem in [*problems, *failures]:
        notice(str(problem))
    if not args.dry_run:
        _notice_issues(issues, sources)
    if failures and not plans:
        return failures[0].exit_code
    return ExitCode.FAILED if problems or failures else ExitCode.OK


def _print_plans(plans: "list[Plan]", *, as_json: bool) -> None:
    drafts = [(family, draft) for plan in plans for family, draft in plan.recognised]
    leftovers = [leftover for plan in plans for leftover in plan.leftovers]
    if as_json:
        print_json(
            {
                "bundles": [
                    {
                        "family": family,
                        "identity": dict(draft.identity),
                        "runs": list(draft.runs),
                        "files": [
                            {"path": file.file.path, "raw_path": file.raw_path, "bytes": file.file.bytes, "role": file.role}
                            for file in draft.files
                        ],
                    }
                    for family, draft in drafts
                ],
                "unrecognised": [
                    {"path": leftover.file.path, "bytes": leftover.file.bytes, "reason": leftover.reason}
                    for leftover in leftovers
                ],
                "problems": [str(problem) for plan in plans for problem in plan.problems],
            }
        )
        return
    rows = [
        [
            family, len(draft.runs), len(draft.files), size(sum(file.file.bytes for file in draft.files)),
            printable(draft.runs[0] if draft.runs else draft.files[0].raw_path),
        ]
        for family, draft in drafts
    ]
    if rows:
        say(table(["family", "runs", "files", "size", "first run, or file"], rows))
    if leftovers:
        lost = [[printable(leftover.file.path), size(leftover.file.bytes), leftover.reason] for leftover in leftovers]
        say(("\n" if rows else "") + table(["unrecognised", "size", "why"], lost))
    runs = sum(len(draft.runs) for _, draft in drafts)
    files = sum(len({file.file.path for _, draft in plan.recognised for file in draft.files}) for plan in plans)
    notice(
        f"{len(drafts)} bundles with {runs} runs and {files} files would be recognised, {len(leftovers)} files not;"
        " nothing was written"
    )


def _problems(report: "IngestReport") -> list[WarehouseError]:
    return [*report.problems, *(problem for bundle in report.bundles for problem in bundle.problems)]


def _issues(store: "EvidenceStore", reports: "list[IngestReport]", found: "Mapping[str, RegisteredIngestor]") -> "list[Issue]":
    """What the ingestors find odd in what was copied. The evidence is in the store by now: if it cannot be parsed, the ingest
    has succeeded all the same."""
    from warehouse.landing.ingest import ADDED
    from warehouse.landing.parse.examination import issues_of

    added = [bundle.digest for report in reports for bundle in report.bundles if bundle.status == ADDED and bundle.digest]
    try:
        with parsing_bar() as parsed:
            return issues_of(store, added, found, parsed)
    except Exception as error:
        reason = str(error) if isinstance(error, WarehouseError) else printable(f"{type(error).__name__}: {error}")
        notice(f"what was copied could not be looked through for issues: {reason}")
        return []


def _sources(path: Path, plan: "Plan", report: "IngestReport") -> _Sources:
    """Where the files of a report's bundles lie, as the user named their folder."""
    is_folder = path.is_dir()
    return {
        (bundle.digest, file.raw_path): str(path / file.file.path if is_folder else path)
        for (_, draft), bundle in reversed(list(zip(plan.drafts, report.bundles, strict=True))) for file in draft.files
    }


def _source(issue: "Issue", sources: _Sources) -> str:
    return sources.get((issue.artifact_manifest_digest, issue.raw_path), issue.raw_path)


def _notice_issues(issues: "list[Issue]", sources: _Sources) -> None:
    """How many there are of each severity, and the first errors with their places."""
    from warehouse.landing.severity import ERROR, SEVERITIES

    counts = Counter(issue.severity for issue in issues)
    if not counts:
        return
    told = [f"{counts[severity]} {severity}{'s' * (counts[severity] != 1)}" for severity in SEVERITIES if counts[severity]]
    notice(f"issues in what was copied: {', '.join(told)}")
    errors = [issue for issue in issues if issue.severity == ERROR]
    for issue in errors[:_ERRORS_SHOWN]:
        place = printable(_source(issue, sources)) + (f":{issue.line_number}" if issue.line_number else "")
        notice(f"  {place}: {issue.code}: {printable(issue.message)}")
    if len(errors) > _ERRORS_SHOWN:
        notice(f"  and {len(errors) - _ERRORS_SHOWN} more errors")
    notice("all of them, after wh build: wh sql \"select * from ingest_issue\"")


def _print(reports: "list[IngestReport]", issues: "list[Issue]", sources: _Sources, *, as_json: bool) -> None:
    bundles = [bundle for report in reports for bundle in report.bundles]
    if as_json:
        by_bundle: dict[str, list[Issue]] = {}
        for issue in issues:
            by_bundle.setdefault(issue.artifact_manifest_digest, []).append(issue)
        print_json(
            [
                {
                    "artifact_manifest_digest": bundle.digest,
                    "family": bundle.family,
                    "status": bundle.status,
                    "runs": list(bundle.runs),
                    "files": bundle.files,
                    "bytes": bundle.bytes,
                    "problems": [str(problem) for problem in bundle.problems],
                    **_issues_shown(by_bundle.get(bundle.digest or "", []), sources),
                }
                for bundle in bundles
            ]
        )
        return
    counts = Counter((bundle.family, bundle.status) for bundle in bundles)
    rows = []
    for (family, status), count in sorted(counts.items()):
        some = [bundle for bundle in bundles if (bundle.family, bundle.status) == (family, status)]
        runs, files = sum(len(bundle.runs) for bundle in some), sum(bundle.files for bundle in some)
        rows.append([family, status, count, runs, files, size(sum(bundle.bytes for bundle in some))])
    say(table(["family", "status", "bundles", "runs", "files", "size"], rows))
    if bundles and all(bundle.status == "present" for bundle in bundles):
        notice("nothing new: the store has all of it")


def _issues_shown(issues: "list[Issue]", sources: _Sources) -> dict[str, Any]:
    """`issues` of a bundle that has any: how many of each severity, and its first errors, each with the file on disk and its path
    in the bundle."""
    from warehouse.landing.severity import ERROR

    if not issues:
        return {}
    errors = [issue for issue in issues if issue.severity == ERROR][:_ERRORS_SHOWN]
    shown = [
        {
            "code": issue.code, "source": _source(issue, sources), "raw_path": issue.raw_path, "line_number": issue.line_number,
            "message": issue.message, "run_id": issue.run_id,
        }
        for issue in errors
    ]
    return {"issues": {**Counter(issue.severity for issue in issues), "first_errors": shown}}
