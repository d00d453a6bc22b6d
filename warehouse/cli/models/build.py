"""`wh build`."""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from warehouse.cli.models.build_report import BuildReporter
from warehouse.cli.models.check import report_findings
from warehouse.cli.models.selecting import MoreModels, Select, selected
from warehouse.cli.output import counted, counting_bar, next_step, notice, refused, warn
from warehouse.cli.program import usage
from warehouse.errors import ExitCode, WarehouseError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from warehouse.project.project import Project
    from warehouse.transform.build.build import BuildReport
    from warehouse.transform.build.material import Material
    from warehouse.transform.inputs.made_elsewhere import Elsewhere
    from warehouse.transform.testing.rejected_rows import Rejected

PAGE = "docs/models.md"
EXAMPLES = ("wh build", "wh build --profile", "wh build --select staging.* indicator_results", "wh build --engine local", "wh build --json")
INTERRUPTED = "parsed evidence is kept, and the last build stays current; to continue: wh build --retry"


def command(
    select: Select = None,
    more: MoreModels = None,
    retry: Annotated[bool, typer.Option("--retry", help="continue where the last build failed or was stopped")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="check and build again on every change, until Ctrl-C")] = False,
    engine: Annotated[str | None, typer.Option(metavar="ENGINE", help="what does the work: none, local, ray, spark or file")] = None,
    address: Annotated[str | None, typer.Option(metavar="ADDRESS", help="where the engine is, or the file for tasks")] = None,
    profile: Annotated[bool, typer.Option("--profile", help="print where the time went")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print what was built as JSON")] = False,
) -> ExitCode:
    """A failed build leaves the last good one current. A build with nothing new returns at once. With --select only those models, and all that
    they read, are built and tested, for the next build: the last one stays current, and wh build --retry does the rest. With --engine the work is
    cut into tasks, which other processes or machines do; the result is the same."""
    patterns = selected(select, more)
    if patterns and watch:
        raise usage("--select and --watch do not go together")
    build = _Build(patterns, engine, address, as_json=as_json, has_profile=profile)
    return _watch(build, is_retry=retry) if watch else build.run(is_retry=retry)


class _Build:
    """`wh build` as it was asked for, to be run once or many times."""

    def __init__(self, patterns: list[str], engine: str | None, address: str | None, *, as_json: bool, has_profile: bool) -> None:
        self._patterns, self._engine, self._address = patterns, engine, address
        self._as_json, self._has_profile = as_json, has_profile

    def run(self, *, is_retry: bool) -> ExitCode:
        from warehouse.project.project import find_project
        from warehouse.transform.build.build import Progress, build

        project = find_project()
        reporter = BuildReporter()
        try:
            elsewhere = self._elsewhere(project, reporter)
            with counting_bar("bundles") as parsed:
                progress = Progress(reporter.began, parsed, reporter.built)
                report = _with_events(
                    project, lambda: build(project, progress, is_retry=is_retry, choose=self._chooser(project), elsewhere=elsewhere)
                )
        except WarehouseError as error:
            warn(error)
            reporter.unfinished()
            return error.exit_code
        except (KeyboardInterrupt, RuntimeError):  # the second is how DuckDB reports Ctrl-C
            reporter.unfinished()
            raise
        reporter.finished(report, as_json=self._as_json, has_profile=self._has_profile)
        if report.is_partial:
            notice(f"{reporter.summary(report)}; the last build stays current")
            next_step("wh build --retry", "builds the rest and makes it current")
            return ExitCode.FAILED if report.damaged else ExitCode.OK
        _report_doubts(report)
        notice(reporter.summary(report))
        next_step("wh tables", "what was built; wh publish QUERY publishes a rollup")
        return ExitCode.FAILED if report.damaged else ExitCode.OK

    def _elsewhere(self, project: "Project", reporter: BuildReporter) -> "Elsewhere | None":
        if not (self._engine or project.scale.engine):
            return None
        from warehouse.scale.engines.choosing import distribution  # few builds need it

        return distribution(project, self._engine, self._address, reporter.worked)

    def _chooser(self, project: "Project") -> "Callable[[Material], Collection[str]] | None":
        if not self._patterns:
            return None
        from warehouse.transform.build.preview import chooser  # 50 ms that a build with nothing to do need not pay

        return chooser(project, self._patterns)


def _watch(build: _Build, *, is_retry: bool) -> ExitCode:
    from warehouse.claims.publish.publishable import publishability
    from warehouse.project.project import find_project
    from warehouse.transform.build.watch import checks
    from warehouse.transform.finished.builds import is_unfinished

    for found in checks():
        try:
            if isinstance(found, Exception):
                raise found
            if report_findings(found):
                build.run(is_retry=is_retry)
                sys.stdout.flush()
                is_retry = is_unfinished(find_project())
                for fault in publishability(find_project(), found.checked).faults:
                    warn(f"{fault}\n")
        except BrokenPipeError:  # nothing reads what it prints any more
            raise
        except WarehouseError as error:
            warn(error)
        except OSError as error:
            warn(refused(error))
        notice(f"{datetime.now():%H:%M:%S} watching; Ctrl-C ends it\n")
    return ExitCode.OK


def _report_doubts(report: "BuildReport") -> None:
    for error in report.damaged:
        warn(error)
    for test in report.tests:
        if test.status == "warn":
            warn(test.told())
    done = {model.name for model in report.models if model.action != "keep"}
    if not done:
        return
    if report.rejected:
        _report_rejected(report.rejected)
    from warehouse.claims.publish.admissibility import conflicted_runs
    from warehouse.transform.finished.query import open_build
    from warehouse.transform.finished.role_tables import role_table
    from warehouse.transform.incremental.aged_out import runs_without_detail
    from warehouse.transform.project.model import RUNS

    with closing(open_build(report.build.path)):  # once: sessions on an open database cost next to nothing
        away = runs_without_detail(report.build.path)
        runs = role_table(report.build.path, RUNS)
        conflicts = conflicted_runs(report.build) if runs and runs.name in done else []
    if touched := done & away.keys():
        told = ", ".join(f"{name} ({counted(away[name], 'run')})" for name in sorted(touched))
        notice(f"without detail past the warm tier's age, which wh retention plan lists: {told}")
    if conflicts:
        shown = ", ".join(map(printable, conflicts[:3])) + (", ..." if len(conflicts) > 3 else "")
        count = counted(len(conflicts), "run is", "runs are")
        warn(f"{count} stated differently by several bundles and not published: {shown}; wh settle chooses the evidence of a run")


def _report_rejected(rejected: "tuple[Rejected, ...]") -> None:
    rows = counted(sum(found.rows for found in rejected), "row breaks a test and is", "rows break a test and are")
    most = sorted(rejected, key=lambda found: (-found.rows, found.table))
    shown = ", ".join(f"{found.table} ({found.rows:,})" for found in most[:3]) + (f" and {len(most) - 3} more" if len(most) > 3 else "")
    warn(f"{rows} left out of {shown}; why: wh sql \"from ingest_issue where code = 'row-left-out'\"")


def _with_events(project: "Project", build: "Callable[[], BuildReport]") -> "BuildReport":
    if not (project.lineage_file or project.lineage_url):
        return build()
    from warehouse.transform.export.lineage_delivery import build_with_events

    return build_with_events(project, build, warn)
