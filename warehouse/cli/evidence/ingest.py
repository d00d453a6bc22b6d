"""`wh ingest`."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import counted, counting_bar, is_verbose, next_step, notice, print_json, progress_bar, say, size, table, warn
from warehouse.errors import ExitCode, WarehouseError, printable, together

if TYPE_CHECKING:
    from warehouse.evidence.store import EvidenceStore
    from warehouse.evidence.tree import TreeFile
    from warehouse.landing.contract import Ingestor
    from warehouse.landing.ingest import IngestReport, Plan
    from warehouse.landing.parse.examination import Issue
    from warehouse.landing.registry import FaultyDescription, RegisteredIngestor
    from warehouse.project.project import Project

PAGE = "docs/ingestors.md"
EXAMPLES = ("wh ingest --dry-run results", "wh ingest results", "wh ingest results --json")
INTERRUPTED = "finished bundles are in the store; the same command continues with the others"

_ERRORS_SHOWN = 5
_ISSUES = "ingest_issue"  # the table of the standard project
_ALL_DIGITS = 17  # that a double has
_PLANNED = 14  # bundles, and files that are not recognised, where --verbose is not given
_FRACTION = re.compile(r"(?<![\w.])-?\d+\.\d{3,}(?:e[+-]?\d+)?(?!\.?\w)")  # no part of a version, a name or an address
_Sources = Mapping[tuple[str | None, str], str]  # of a bundle's file by its raw_path: where the user has it


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="files or folders with evidence")],
    ingestor: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="the ingestor to use where several claim a file")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--map", metavar="WHAT=COLUMN,...", help="with --as measurements: the columns metric, value and unit; case, time, host, commit"),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="show what would be recognised as what; write nothing")] = False,
    sign: Annotated[
        str | None, typer.Option(metavar="KEY", help="sign every bundle: a private key's file, or a name that was given to wh keygen")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the bundles as JSON")] = False,
) -> ExitCode:
    """The same evidence again changes nothing. Evidence that no ingestor knows is kept as unrecognised. Archives (.zip, .tar, .tar.gz, .tar.zst,
    .gz, .zst) are read as their contents."""
    from warehouse.evidence.objects.location import open_store
    from warehouse.evidence.signing.keys import load_signing_key
    from warehouse.landing.ingest import ingest, plan_ingest
    from warehouse.landing.registry import check_name, usable_ingestors
    from warehouse.project.project import find_project
    from warehouse.starting.measurements import NAME as MEASUREMENTS
    from warehouse.starting.measurements import mapped_description

    project = find_project()
    key, mapped = load_signing_key(sign) if sign else None, None
    if mapping is not None or ingestor == MEASUREMENTS:
        if ingestor != MEASUREMENTS or mapping is None:
            hint = "wh ingest --as measurements --map metric=name,value=value,unit=unit FILE"
            raise WarehouseError("WH004", "--as measurements and --map go together", "--map", hint, ExitCode.USAGE)
        mapped = mapped_description(project, mapping, paths)
        ingestor = mapped.name
        if not dry_run:
            mapped.keep()
    found, faulty = usable_ingestors(project)
    ingestors = {name: each.ingestor for name, each in found.items()}
    if mapped is not None:
        ingestors[mapped.name] = mapped.ingestor
    if ingestor is not None:
        if faulty and ingestor not in ingestors:
            raise together(each.fault for each in faulty)
        check_name(ingestor, ingestors)
    store = open_store(project)
    plans, reports, failures = [], [], [each.fault for each in faulty]
    sources: _Sources = {}
    for path in paths:
        try:
            with TemporaryDirectory(prefix="wh-unpacked-") as scratch:
                plan = plan_ingest(path, ingestors.values(), project.store_root, ingestor, Path(scratch))
                plan = _without_doubtful(plan, faulty, ingestors) if faulty and ingestor is None else plan
                plans.append(plan)
                if not dry_run:
                    with progress_bar(plan.bytes, "B", scaled=True) as bar:
                        report = ingest(plan, store, str(path), lambda bundle: bar.update(bundle.bytes), key)
                    reports.append(report)
                    sources = {**_sources(path, plan, report), **sources}  # of equal bundles the first was copied
        except WarehouseError as error:
            if error.code in ("WH109", "WH113", "WH114"):
                raise
            failures.append(error)
    if len(failures) > len(faulty) and not plans and not as_json:
        for failure in failures:
            warn(failure)
        return failures[0].exit_code
    if dry_run:
        _print_plans(plans, as_json=as_json)
        if not as_json:
            _print_records(plans, ingestors)
        problems = [problem for plan in plans for problem in plan.problems]
    else:
        issues = _issues(store, reports, found)
        _print(reports, issues, sources, as_json=as_json)
        if key:
            count = sum(bundle.digest is not None for report in reports for bundle in report.bundles)
            notice(f"{counted(count, 'bundle')} signed by key {key.public.name} ({key.public.key_id[:12]})")
        problems = [problem for report in reports for problem in _problems(report)]
    for problem in [*problems, *failures]:
        warn(problem)
    _notice_withheld(plans)
    if not dry_run:
        _notice_strangers(plans, paths)
        _notice_issues(project, issues, sources)
    if failures and not plans:
        return failures[0].exit_code
    next_step(f"wh ingest {shlex.join(map(str, paths))}" if dry_run else "wh build")
    return ExitCode.FAILED if problems or failures else ExitCode.OK


def _without_doubtful(plan: "Plan", faulty: "tuple[FaultyDescription, ...]", ingestors: "Mapping[str, Ingestor]") -> "Plan":
    """A plan without the files that may be of a description with a fault: as evidence of another format, they would be there twice once it is
    right."""
    from warehouse.landing.described.ingestor import DescribedIngestor

    def why(path: str) -> str | None:
        place = next((each.fault.place for each in faulty if each.may_be_of(path)), None)
        return f"it may be of {place}, which has a fault" if place else None

    stated: Mapping[str, object] = ingestors
    return plan.without(why, {name for name, each in stated.items() if isinstance(each, DescribedIngestor)})


def _notice_withheld(plans: "list[Plan]") -> None:
    withheld = [each for plan in plans for each in plan.withheld]
    for each in withheld[:_ERRORS_SHOWN]:
        notice(f"left out: {printable(each.file.path)}: {each.reason}")
    if len(withheld) > _ERRORS_SHOWN:
        notice(f"and {counted(len(withheld) - _ERRORS_SHOWN, 'more file')} left out")


def _print_records(plans: "list[Plan]", ingestors: "Mapping[str, Ingestor]") -> None:
    """The first records of the first file of each described format, as they would be read."""
    from warehouse.landing.described.ingestor import DescribedIngestor
    from warehouse.landing.described.preview import preview

    shown: set[str] = set()
    for family, draft in (recognised for plan in plans for recognised in plan.recognised):
        found: object = ingestors.get(family)
        if isinstance(found, DescribedIngestor) and family not in shown and draft.files[0].file.source.is_file():
            shown.add(family)
            say(f"\n{family}: {printable(draft.files[0].raw_path)}")
            for line in preview(found, draft.files[0].file.source):
                say(f"  {printable(line)}")


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
                "left_out": [{"path": each.file.path, "reason": each.reason} for plan in plans for each in plan.withheld],
                "problems": [str(problem) for plan in plans for problem in plan.problems],
            }
        )
        return
    rows = [
        [
            family, len(draft.runs) or "", len(draft.files), size(sum(file.file.bytes for file in draft.files)),
            printable(draft.runs[0] if draft.runs else draft.files[0].raw_path),
        ]
        for family, draft in drafts
    ]
    if rows:
        say(table(["family", "runs", "files", "size", "first run, or file"], rows if is_verbose() else rows[:_PLANNED]))
    if len(rows) > _PLANNED and not is_verbose():
        say(f"and {counted(len(rows) - _PLANNED, 'more bundle')}: -v lists all")
    if leftovers:
        ranked = sorted(leftovers, key=lambda leftover: leftover.reason is None)
        lost = [
            [printable(leftover.file.path), size(leftover.file.bytes), leftover.reason]
            for leftover in (ranked if is_verbose() else ranked[:_PLANNED])
        ]
        say(("\n" if rows else "") + table(["unrecognised", "size", "why"], lost))
        if len(lost) < len(leftovers):
            say(f"and {counted(len(leftovers) - len(lost), 'more file')}: -v lists all")
    named = sum(len(draft.runs) for _, draft in drafts)
    runs = f"{counted(named, 'run')} and " if named else ""
    files = sum(len({file.file.path for _, draft in plan.recognised for file in draft.files}) for plan in plans)
    notice(
        f"{counted(len(drafts), 'bundle')} with {runs}{counted(files, 'file')} would be recognised,"
        f" {counted(len(leftovers), 'file')} not; nothing was written"
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
        with counting_bar("bundles") as parsed:
            return issues_of(store, added, found, parsed)
    except Exception as error:
        reason = str(error) if isinstance(error, WarehouseError) else printable(f"{type(error).__name__}: {error}")
        warn(f"the copied evidence could not be searched for issues: {reason}")
        return []


def _sources(path: Path, plan: "Plan", report: "IngestReport") -> _Sources:
    """Where the files of a report's bundles lie, as the user named their folder; of what was unpacked in which archive."""
    def place(file: "TreeFile") -> str:
        if file.origin and not path.is_dir():
            return f"{path}: {file.origin.member}" if file.origin.member else str(path)
        return str(file.origin) if file.origin else str(path / file.path if path.is_dir() else path)

    return {
        (bundle.digest, file.raw_path): place(file.file)
        for (_, draft), bundle in reversed(list(zip(plan.drafts, report.bundles, strict=True))) for file in draft.files
    }


def _source(issue: "Issue", sources: _Sources) -> str:
    return sources.get((issue.artifact_manifest_digest, issue.raw_path), issue.raw_path)


def _near(path: str) -> str:
    """A path from the current folder, where that is shorter."""
    return min((path, os.path.relpath(path)), key=len) if os.path.isabs(path) else path


def _rounded(message: str) -> str:
    """A message with its fractions in three significant digits, or as many more as tell them apart."""
    found = dict.fromkeys(_FRACTION.findall(message))
    digits = 3
    while digits < _ALL_DIGITS and len({_figure(text, digits) for text in found}) < len(found):
        digits += 1
    return _FRACTION.sub(lambda each: _figure(each[0], digits), message)


def _figure(text: str, digits: int) -> str:
    """A number in so many significant digits, those before the point always."""
    value = float(text)
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:.{max(digits, whole)}g}"


def _notice_strangers(plans: "list[Plan]", paths: list[Path]) -> None:
    """The first files that are not what they should be, and how many more are unrecognised."""
    leftovers = [leftover for plan in plans for leftover in plan.leftovers]
    known = [leftover for leftover in leftovers if leftover.is_no_evidence]
    for leftover in known[:_ERRORS_SHOWN]:
        notice(f"unrecognised: {printable(leftover.file.path)}: {_rounded(str(leftover.reason))}")
    if known and (more := len(leftovers) - min(len(known), _ERRORS_SHOWN)):
        notice(f"and {counted(more, 'more unrecognised file')}: wh ingest --dry-run -v {shlex.join(map(str, paths))}")


def _notice_issues(project: "Project", issues: "list[Issue]", sources: _Sources) -> None:
    """How many there are of each severity, and the first errors, or else warnings, with their places."""
    from warehouse.landing.severity import ERROR, SEVERITIES, WARNING

    counts = Counter(issue.severity for issue in issues)
    if not counts:
        return
    told = [counted(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    notice(f"issues in what was copied: {', '.join(told)}")
    errors = [issue for issue in issues if issue.severity == ERROR]
    first = errors or [issue for issue in issues if issue.severity == WARNING]
    for issue in first[:_ERRORS_SHOWN]:
        place = printable(_near(_source(issue, sources))) + (f":{issue.line_number}" if issue.line_number else "")
        notice(f"  {place}: {issue.code}: {printable(_rounded(issue.message))}")
    if len(first) > _ERRORS_SHOWN:
        notice(f"  and {counted(len(first) - _ERRORS_SHOWN, f'more {first[0].severity}')}")
    if _ISSUES in {model.stem for model in project.files("models", ".sql")}:
        notice(f'all of them, after wh build: wh sql "select * from {_ISSUES}"')
    else:
        notice(f"all of them: write \"select * from evidence_issue\" into models/{_ISSUES}.sql and run wh build; then: wh sql \"from {_ISSUES}\"")


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
    from warehouse.evidence.manifest import UNRECOGNISED

    counts = Counter((bundle.family, bundle.status) for bundle in bundles)
    rows = []
    for (family, status), count in sorted(counts.items()):
        some = [bundle for bundle in bundles if (bundle.family, bundle.status) == (family, status)]
        runs, files = sum(len(bundle.runs) for bundle in some), sum(bundle.files for bundle in some)
        known = runs or (0 if family == UNRECOGNISED else "")  # drafts may leave it to the build to find their runs
        rows.append([family, status, count, known, files, size(sum(bundle.bytes for bundle in some))])
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
