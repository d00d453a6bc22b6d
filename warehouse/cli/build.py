"""`wh build`."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from warehouse.cli.build_report import BuildTeller
from warehouse.cli.check import tell_findings
from warehouse.cli.output import notice, parsing_bar, refused
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.project import Project
    from warehouse.transform.build.build import BuildReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--retry", action="store_true", help="go on from where the last build failed or was stopped")
    parser.add_argument("--watch", action="store_true", help="check and build again on every change, until Ctrl-C")
    parser.add_argument("--profile", action="store_true", help="say where the time went")
    parser.add_argument("--json", action="store_true", help="print what was built as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    return _watch(args) if args.watch else _build(args, is_retry=args.retry)


def _watch(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.publish.publishable import publishability
    from warehouse.project import find_project
    from warehouse.transform.build.watch import checks
    from warehouse.transform.finished.builds import is_unfinished

    is_retry = args.retry
    for found in checks():
        try:
            if isinstance(found, Exception):
                raise found
            if tell_findings(found):
                _build(args, is_retry=is_retry)
                sys.stdout.flush()
                is_retry = is_unfinished(find_project())
                for fault in publishability(find_project(), found.checked).faults:
                    notice(f"{fault}\n")
        except BrokenPipeError:  # nobody reads what it prints any more
            raise
        except WarehouseError as error:
            notice(str(error))
        except OSError as error:
            notice(str(refused(error)))
        notice(f"{datetime.now():%H:%M:%S} watching; Ctrl-C ends it\n")
    return ExitCode.OK


def _build(args: argparse.Namespace, *, is_retry: bool) -> ExitCode:
    from warehouse.project import find_project
    from warehouse.transform.build.build import Progress, build

    project = find_project()
    teller = BuildTeller()
    try:
        with parsing_bar() as parsed:
            progress = Progress(teller.began, parsed, teller.built)
            report = _with_events(project, lambda: build(project, progress, is_retry=is_retry))
    except WarehouseError as error:
        notice(str(error))
        teller.unfinished()
        return error.exit_code
    except (KeyboardInterrupt, RuntimeError):  # the second is how DuckDB tells of Ctrl-C
        teller.unfinished()
        raise
    teller.finished(report, as_json=args.json, with_profile=args.profile)
    _tell_doubts(report)
    notice(teller.summary(report))
    return ExitCode.FAILED if report.damaged else ExitCode.OK


def _tell_doubts(report: "BuildReport") -> None:
    from warehouse.claims.publish.admissibility import conflicted_runs
    from warehouse.transform.incremental.aged_out import runs_without_detail

    for error in report.damaged:
        notice(str(error))
    for test in report.tests:
        if test.status == "warn":
            notice(test.told())
    done = {model.name for model in report.models if model.action != "keep"}
    away = runs_without_detail(report.build.path) if done else {}
    if touched := done & away.keys():
        told = ", ".join(f"{name} ({away[name]:,} run{'s' * (away[name] != 1)})" for name in sorted(touched))
        notice(f"without detail past the warm tier's age, which wh retention plan tells: {told}")
    has_runs = any(model.name == "main.benchmark_run_fact" and model.action != "keep" for model in report.models)
    conflicts = conflicted_runs(report.build) if has_runs else []
    if conflicts:
        shown = ", ".join(map(printable, conflicts[:3])) + (", ..." if len(conflicts) > 3 else "")
        notice(f"{len(conflicts)} runs are stated differently by several bundles and not published: {shown}")


def _with_events(project: "Project", build: "Callable[[], BuildReport]") -> "BuildReport":
    if not (project.lineage_file or project.lineage_url):
        return build()
    from warehouse.transform.export.lineage_delivery import build_with_events

    return build_with_events(project, build, lambda error: notice(str(error)))
