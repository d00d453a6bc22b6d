"""`wh ingest`."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json, progress_bar, size, table
from warehouse.errors import ExitCode, WarehouseError

if TYPE_CHECKING:
    from warehouse.landing.ingest import IngestReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files or folders with evidence")
    parser.add_argument("--sign", metavar="KEY", help="sign every bundle: a private key's file, or a name that wh keygen was given")
    parser.add_argument("--json", action="store_true", help="print the bundles as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.evidence.keys import load_signing_key
    from warehouse.evidence.store import LocalStore
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import load_ingestors
    from warehouse.project import find_project

    project = find_project()
    key = load_signing_key(args.sign) if args.sign else None
    ingestors = load_ingestors(project)
    store = LocalStore(project.store_root)
    reports, failures = [], []
    for path in args.paths:
        try:
            plan = plan_ingest(path, ingestors.values(), store.root)
            with progress_bar(plan.bytes, "B", scaled=True) as bar:
                reports.append(ingest(plan, store, str(path), lambda bundle: bar.update(bundle.bytes), key))
        except WarehouseError as error:
            if error.code in ("WH109", "WH113"):
                raise
            failures.append(error)
    _print(reports, as_json=args.json)
    if key:
        count = sum(bundle.digest is not None for report in reports for bundle in report.bundles)
        notice(f"{count} bundle{'s' * (count != 1)} signed by key {key.public.name} ({key.public.key_id[:12]})")
    problems = [problem for report in reports for problem in _problems(report)]
    for problem in [*problems, *failures]:
        notice(str(problem))
    if failures and not reports:
        return failures[0].exit_code
    return ExitCode.FAILED if problems or failures else ExitCode.OK


def _problems(report: "IngestReport") -> list[WarehouseError]:
    return [*report.problems, *(problem for bundle in report.bundles for problem in bundle.problems)]


def _print(reports: "list[IngestReport]", *, as_json: bool) -> None:
    bundles = [bundle for report in reports for bundle in report.bundles]
    if as_json:
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
    print(table(["family", "status", "bundles", "runs", "files", "size"], rows))
    if bundles and all(bundle.status == "present" for bundle in bundles):
        notice("nothing new: the store has all of it")
