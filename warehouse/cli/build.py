"""`wh build`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from warehouse.cli.output import notice, print_json, progress_bar, table
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from warehouse.project import Project
    from warehouse.transform.build import BuildReport
    from warehouse.transform.session import ModelResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print what was built as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    from warehouse.claims.rollup import build, conflicted_runs
    from warehouse.project import find_project
    from warehouse.transform.build import Progress

    bars: list = []  # one, made when the number of bundles to parse is known

    def parsed(done: int, total: int) -> None:
        if not bars:
            bars.append(progress_bar(total, " bundles"))
        bars[0].update(done - bars[0].n)

    def built(model: "ModelResult") -> None:
        while bars:
            bars.pop().close()
        if sys.stderr.isatty():
            notice(f"  {model.name:<48} {model.action:<6} {model.rows or '':>10} rows {model.seconds:8.2f} s")

    project = find_project()
    report = _with_events(project, lambda: build(project, Progress(parsed, built)))
    _print(report, as_json=args.json)
    for error in report.damaged:
        notice(str(error))
    for test in report.tests:
        if test.status == "warn":
            notice(test.told())
    has_runs = any(model.name == "main.benchmark_run_fact" and model.action != "keep" for model in report.models)
    conflicts = conflicted_runs(report.build) if has_runs else []
    if conflicts:
        shown = ", ".join(map(printable, conflicts[:3])) + (", ..." if len(conflicts) > 3 else "")
        notice(f"{len(conflicts)} runs are stated differently by several bundles and not published: {shown}")
    return ExitCode.FAILED if report.damaged else ExitCode.OK


def _with_events(project: "Project", build: "Callable[[], BuildReport]") -> "BuildReport":
    if not (project.lineage_file or project.lineage_url):
        return build()
    from warehouse.transform.lineage_delivery import build_with_events

    return build_with_events(project, build, lambda error: notice(str(error)))


def _print(report: "BuildReport", *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "build_digest": report.build.digest,
                "database": str(report.build.path),
                "is_new": report.is_new,
                "models": [
                    {"name": model.name, "action": model.action, "reason": model.reason, "rows": model.rows, "seconds": round(model.seconds, 4)}
                    for model in report.models
                ],
                "damaged": [str(error) for error in report.damaged],
            }
        )
        return
    if report.models:
        rows = [
            [model.name, model.rows, model.seconds]
            for model in sorted(report.models, key=lambda model: model.name)
            if not model.name.startswith(("staging.", "feed."))
        ]
        print(table(["table", "rows", "seconds"], rows))
    else:
        notice("nothing changed")
    print(report.build.path)
