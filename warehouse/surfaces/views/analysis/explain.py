"""Explain: why a run is slower than others: what changed, the likeliest causes, and what each check of the playbooks looked at."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.analysis.explain.explanation import BROKEN, MISSING, NOT_FOUND, Answer, Change, Explanation, Finding, explain
from warehouse.analysis.labels import load_of
from warehouse.analysis.metric_names import MetricNames
from warehouse.errors import WarehouseError, counted
from warehouse.surfaces.parts import Chart, Choice, Column, Form, Page, Part, Table
from warehouse.surfaces.view import Parameter, View, Visit, address
from warehouse.surfaces.views.analysis.wording import difference_words, differences_table, percent
from warehouse.surfaces.views.facts.reading import metric_names_of, reader
from warehouse.surfaces.views.facts.run_names import named, run_names
from warehouse.surfaces.views.facts.runs import newest_runs, runs_table
from warehouse.transform.project.model import RUNS

_PATH = "/explain"
_FILE = "/evidence/{artifact_manifest_digest}/files/{raw_path:path}"
_MOST_CHANGES = 40
_MOST_FINDINGS = 60  # of one check
_LISTED = 8
_SAID = 2  # differences
_OFFERED = 12  # runs, where none is asked for


def _answer(visit: Visit) -> Page:
    form = _form(visit)
    if not visit["run"]:
        asks = "Which run is to be explained? Its page leads here, too."
        return Page("Explain", (form, _offered(visit)), asks, next_steps={"What changed": "/changes", "All runs": "/runs"})
    baseline = [each.strip() for each in (visit["baseline"] or "").split(",") if each.strip()]
    found = explain(visit.project, visit["run"], baseline, build=visit.build)
    causes = found.causes()
    parts: list[Part] = [form, _causes(found), _changes(found, metric_names_of(visit)), *_differences(found), *_scenarios(found)]
    parts += [*_findings(found), *_broken(found)]
    summary = causes[0].check.description if found.has_suspected_cause() else _without_cause(found)
    steps = {"The run": address("/runs/{run_id:path}", run_id=found.run_id)}
    if found.baseline:
        steps["Compare with its baseline"] = address("/compare", base=",".join(found.baseline), head=found.run_id)
    return Page(
        f"Explain {_name(visit, found.run_id)}", tuple(parts), f"{summary} Run {found.run_id}", notices=_notices(found),
        crumbs=(("Explain", _PATH),), next_steps=steps,
    )


def _without_cause(found: Explanation) -> str:
    """The answer where no check of a suspected playbook found anything: then what differs is what is known."""
    suspected = [name.replace("_", " ") for name in found.playbooks() if found.is_suspected(name)]
    if suspected:
        first = map(difference_words, found.differences[:_SAID])
        differs = f" What differs: {', '.join(first)}." if found.differences else ""
        return f"{', '.join(suspected).capitalize()} suspected, but no check found a cause.{differs}"
    return "No symptom is found." if found.causes() else "No check found a symptom or a cause."


def _name(visit: Visit, run_id: str) -> str:
    with reader(visit) as found:
        try:
            return named(run_names(found, runs_table(found), [run_id]), run_id)
        except WarehouseError:  # a project of its own may have no table of runs
            return run_id


def _offered(visit: Visit) -> Table:
    """The newest runs, each leading to its explanation."""
    with reader(visit) as found:
        newest = newest_runs(found, runs_table(found), _OFFERED)
    columns = (
        Column("name", "explain", link="/explain?run={run_id}", below="run_id"), Column("result"), Column("state", kind="state"),
        Column("seen_at", "when", kind="moment"), Column("run_id", is_hidden=True),
    )
    rows = tuple(tuple(row[column.name] for column in columns) for row in newest)
    return Table("newest", columns, rows, "The newest runs", empty="no run is known yet")


def _notices(found: Explanation) -> tuple[str, ...]:
    return _compared(found), *(each[:1].upper() + each[1:] for each in found.notes)


def _compared(found: Explanation) -> str:
    if not found.baseline:
        return "There is no comparable run, so checks that need one have no answer."
    runs = ", ".join([*found.baseline[:3], *(["…"] if len(found.baseline) > 3 else [])])
    return f"Compared with {counted(len(found.baseline), 'run')} ({found.chosen_by}): {runs}"


def _form(visit: Visit) -> Form:
    fields = (
        Choice("run", value=visit["run"] or "", hint="the id of a run"),
        Choice("baseline", value=visit["baseline"] or "", hint="run ids with commas; without them, comparable runs"),
    )
    is_asked = bool(visit["run"])
    return Form("asked", _PATH, fields, "Explain", title="Explain another run" if is_asked else "", is_folded=is_asked)


def _causes(found: Explanation) -> Table:
    columns = (
        Column("cause"), Column("share", "accounts for"), Column("subject", "where"), Column("statement", "what the evidence says"),
        Column("raw_path", "file", link=_FILE),
        Column("score", kind="number", is_minor=True), Column("check", kind="code", link="#{check}"),
        Column("artifact_manifest_digest", is_hidden=True),
    )
    rows = tuple(
        (
            each.check.description + (" (of a neighbour)" if each.is_of_neighbours else ""), found.share(each), worst.subject, worst.statement,
            _file(worst), round(worst.score, 3), each.check.name, worst.artifact_manifest_digest,
        )
        for each in found.causes() for worst in each.findings[:1]
    )
    title, note = "Likeliest causes", "The likeliest first. A score of 1 would explain all of it." if rows else ""
    if rows and not found.has_suspected_cause():
        title, note = "What checks found", "No symptom of their playbooks is found, so it may have cost nothing."
    return Table("causes", columns, rows, title, note, empty="no check found a cause")


def _file(found: Finding) -> str | None:
    """The file that the evidence is in; a run may have a folder of files, which has no page but its bundle's."""
    return found.raw_path if found.raw_path and not found.raw_path.endswith("/") else None


def _changes(found: Explanation, names: MetricNames) -> Table:
    columns = (
        Column("called", "what"), Column("load"), Column("expected", "baseline", kind="number"), Column("observed", "run", kind="number"),
        Column("unit"), Column("change"), Column("direction", kind="state"), Column("metric", is_hidden=True), Column("point", is_hidden=True),
    )
    rows = tuple(
        (called, _load(each), each.expected, each.observed, unit, percent(each.ratio), each.direction, each.metric, each.point)
        for each in found.changes[:_MOST_CHANGES] for called, _, unit in [names.of(each.metric, each.unit)]
    )
    return Table(
        "changes", columns, rows, "What changed", "The worst first, each beside the median of the baseline.", total=len(found.changes),
        listed=_LISTED, empty="the run and its baseline have no metric in common",
    )


def _load(found: Change) -> str | None:
    return load_of({"indicator": found.indicator, "metric": found.metric, "point": found.point, "model": None, "gpu_count": None})


def _scenarios(found: Explanation) -> Iterator[Table]:
    """The state of every check, scenario by scenario, to read those that have evidence; then once what would answer each of the others."""
    columns = (
        Column("check", kind="code", link="#{place}"), Column("state", kind="state"), Column("description", "what it would mean"),
        Column("statement", "what the evidence says, or which would answer"), Column("place", is_hidden=True),
    )
    blind = [name for name in found.playbooks() if found.is_blind(name)]
    for name in found.playbooks():
        if name in blind:
            continue
        answers = sorted((each for each in found.answers if each.check.playbook == name), key=lambda each: each.state == MISSING)
        missing = sum(each.state == MISSING for each in answers)
        rows = tuple(
            (each.check.name, each.state, each.check.description, _said(each), each.check.name if each.findings else None) for each in answers
        )
        note = f"{counted(missing, 'more check has', 'more checks have')} no evidence to judge by." if missing else ""
        title = f"{name.replace('_', ' ').capitalize()}: {found.suspicion(name)}"
        yield Table(f"playbook_{name}", columns, rows, title, note, listed=len(answers) - missing or None)
    would = {each.check.name: each for each in found.answers if each.state == MISSING and each.check.playbook not in blind}
    if would:
        yield Table(
            "without_answer",
            (Column("check", kind="code"), Column("description", "what it would mean"), Column("statement", "evidence that would answer")),
            tuple((name, each.check.description, each.said) for name, each in would.items()), "Checks without evidence", is_folded=True,
        )
    if blind:
        of_blind = {name: [each.check for each in found.answers if each.check.playbook == name] for name in blind}
        yield Table(
            "without_evidence", (Column("scenario", kind="code"), Column("checks"), Column("needs", "evidence that would answer")),
            tuple((name, ", ".join(each.name for each in checks), "; ".join(each.evidence for each in checks)) for name, checks in of_blind.items()),
            "Scenarios without evidence", is_folded=True,
        )


def _differences(found: Explanation) -> Iterator[Table]:
    if found.differences:
        yield differences_table(found.differences, "What differs between the runs", ("baseline", "run"))


def _said(answer: Answer) -> str:
    """The worst that a check looked at. A check that found nothing says in how many places it could not judge."""
    if answer.state != NOT_FOUND or not answer.unanswered:
        return answer.said
    return f"{answer.said} ({answer.unanswered} of {len(answer.findings)} with too little evidence)"


def _findings(found: Explanation) -> Iterator[Table]:
    """What each check looked at, with the file that says so."""
    columns = (
        Column("subject", "where"), Column("state", kind="state"), Column("observed", "run", kind="number"),
        Column("expected", "baseline", kind="number"), Column("unit"), Column("statement", "what the evidence says"),
        Column("raw_path", "file", link=_FILE), Column("bundle", kind="code", link="/evidence/{bundle}", is_minor=True),
        Column("artifact_manifest_digest", is_hidden=True),
    )
    looked_at = (*found.causes(), *(each for each in found.answers if each.findings))
    for answer in {each.check.name: each for each in looked_at}.values():  # a check of several playbooks once
        rows = tuple(
            (
                each.subject, {True: "found", False: "not found", None: "not supported"}[each.is_found], each.observed, each.expected, each.unit,
                each.statement, _file(each), each.artifact_manifest_digest, each.artifact_manifest_digest,
            )
            for each in answer.findings[:_MOST_FINDINGS]
        )
        is_measured = len(rows) > 1 and all(row[2] is not None for row in rows)
        chart = Chart("bars", "subject", "observed", answer.check.description) if is_measured and len({row[4] for row in rows}) == 1 else None
        yield Table(
            answer.check.name, columns, rows, answer.check.description, total=len(answer.findings), listed=_LISTED, is_folded=True, chart=chart,
        )


def _broken(found: Explanation) -> Iterator[Table]:
    rows = tuple({each.check.name: each.fault for each in found.answers if each.state == BROKEN}.items())
    if rows:
        yield Table("broken", (Column("check", kind="code"), Column("fault")), rows, "Checks that are broken")


VIEWS = (
    View(
        "explain", _PATH, "Explain", "Why a run is slower than others: the checks of the playbooks, the likeliest cause first, with their evidence.",
        _answer, (
            Parameter("run", "The run in question."),
            Parameter("baseline", "Run ids with commas to compare with; otherwise comparable runs, nearest in time."),
        ), menu="Explain", is_further=True, is_costly=True, is_fresh=True, role=RUNS,  # a project may edit its playbooks
    ),
)
