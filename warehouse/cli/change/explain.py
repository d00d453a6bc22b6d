"""`wh explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from warehouse.cli.output import counted, is_verbose, notice, print_json, say, table, warn
from warehouse.errors import ExitCode, printable

if TYPE_CHECKING:
    from warehouse.analysis.explain.explanation import Answer, Explanation, Finding

PAGE = "docs/explain.md"
EXAMPLES = (
    "wh explain recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-02",
    "wh explain recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-02 --baseline recorded_run/01KG8Q3V5T2M4N6P8R0S1W3X5Y/run-01 --json",
)
# Listed where --verbose is not given, so that an answer fits a screen.
_CAUSES = 5
_CHANGES = 3  # metrics
_NOTES = 4
_DIFFERENCES = 5
# What evidence is collected with, as checks name it, and how people say it: checks without evidence are listed by the first that fits.
_COLLECTED_WITH = {
    "the log of vLLM": "the log of vLLM or SGLang, as output of a recorded command",
    "kernel logs of the run's nodes whose": "the kernel log of its nodes",
    "cached": "a run with cached input", "another node pool": "runs in another node pool",
    "wh record": "wh record", "node exporter": "node exporter", "dcgm-exporter": "dcgm-exporter", "cAdvisor": "cAdvisor",
    "server": "the server's metrics", "Kineto": "a profiler", "nccl-tests": "nccl-tests", "Kueue": "Kueue's or Slurm's state",
    "Slurm": "Slurm's state", "Kubernetes": "kubectl get events", "CoreDNS": "CoreDNS' metrics",
}
_OTHERWISE = "other runs"
_LEAST_SLOWER = 1.02


def command(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="the run in question")],
    baseline: Annotated[
        list[str] | None, typer.Option(metavar="RUN", help="a run to compare with; may be repeated. Without it: comparable runs, nearest in time"),
    ] = None,
    playbook: Annotated[str | None, typer.Option(metavar="NAME", help="ask the checks of this playbook only")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the explanation as JSON")] = False,
) -> ExitCode:
    """Why a run is slower than others: the checks of the playbooks, the likeliest cause first, each with its evidence."""
    from warehouse.analysis.explain.explanation import BROKEN, explain
    from warehouse.project.project import find_project

    found = explain(find_project(), run_id, baseline or (), playbook)
    if as_json:
        from warehouse.analysis.documents import explanation_document  # scipy, 0.2 s, for the documents of comparisons

        print_json(explanation_document(found))
    else:
        _print(found)
    broken = {each.check.name: each.fault for each in found.answers if each.state == BROKEN}
    for name, fault in broken.items():
        warn(f"check {name} is broken: {fault}")
    return ExitCode.FAILED if broken else ExitCode.OK


def _print(found: "Explanation") -> None:
    say(_effect(found))
    notes = found.notes if is_verbose() else found.notes[:_NOTES]
    for note in notes:
        say(f"note: {printable(note)}")
    if len(notes) < len(found.notes):
        notice(f"{counted(len(found.notes) - len(notes), 'more note')}; -v lists all")
    _print_changes(found)
    _print_differences(found)
    causes = found.causes()
    say("")
    heading = "likeliest causes:" if found.has_suspected_cause() else "what checks found, although no symptom of their playbooks is found:"
    say(heading if causes else "no check found a cause")
    shown = causes if is_verbose() else causes[:_CAUSES]
    for number, answer in enumerate(shown, 1):
        _print_answer(f"{number}. ", answer, found)
    if len(shown) < len(causes):
        say(f"   and {counted(len(causes) - len(shown), 'more check')} found something; -v lists all")
    if rest := found.left_over():
        say(f"   something else made it {rest:.3g} times slower: together these can account for {found.effect / rest:.3g} of {found.effect:.3g}")
    if is_verbose():
        for name in found.playbooks():
            _print_playbook(found, name)
    else:
        _print_summary(found)


def _effect(found: "Explanation") -> str:
    """The run, and how much slower than which others it is."""
    chosen = f"compared with {counted(len(found.baseline), 'run')} ({found.chosen_by})" if found.baseline else "no run is comparable with it"
    slower = f"{found.effect:.3g} times slower, " if found.effect >= _LEAST_SLOWER else ""
    return printable(f"{found.run_id}: {slower}{chosen}")


def _print_summary(found: "Explanation") -> None:
    """The checks that found nothing, in a few lines: those of a suspected scenario that had no evidence, by what collects it."""
    say("")
    for name in filter(found.is_suspected, found.playbooks()):
        symptoms = [_beside_changes(each.said, found) for each in found.of_playbook(name, are_symptoms=True) if each.state == "found"]
        say(": ".join(filter(None, (name.replace("_", " "), "suspected", printable("; ".join(filter(None, symptoms)))))))
    by_state: dict[str, list[str]] = {}
    for each in found.answers:
        if each.check.name not in by_state.setdefault(each.state, []):
            by_state[each.state].append(each.check.name)
    if "not found" in by_state:
        say(f"not found: {', '.join(by_state['not found'])}")
    missing: dict[str, dict[str, None]] = {}
    for each in sorted(found.answers, key=lambda each: not found.is_suspected(each.check.playbook)):
        if each.state == "evidence missing" and (found.is_suspected(each.check.playbook) or each.findings or each.unjoined):
            missing.setdefault(_lacks(each), {}).setdefault(each.check.name)
    for why, names in missing.items():
        say(printable(f"could not be checked: {', '.join(names)} ({why})"))
    others = len(by_state.get("evidence missing", ())) - sum(map(len, missing.values()))
    notice("-v lists every check with what it looked at" + (f", also {counted(others, 'check')} without evidence" if others else ""))


def _beside_changes(said: str, found: "Explanation") -> str:
    """What a symptom says beside the metric that got worse, where the table of what changed has that."""
    metric, _, values = said.partition(": ")
    return values.partition("; ")[2] if metric in {each.metric for each in found.changes[:_CHANGES]} else said


def _lacks(answer: "Answer") -> str:
    """Why a check has no answer: its evidence is here and does not support one, belongs to no run, or was not collected."""
    if answer.findings:
        return "its evidence does not support an answer"
    if answer.unjoined:
        return "its evidence is here, and belongs to no run"
    collected_with = next((words for name, words in _COLLECTED_WITH.items() if name in answer.check.evidence), _OTHERWISE)
    if answer.unread and collected_with == "wh record":
        return answer.unread
    return f"needs {collected_with}" + (f"; {answer.unread}" if answer.unread else "")


def _print_changes(found: "Explanation") -> None:
    if not found.changes:
        notice("the run and its baseline have no metric in common")
        return
    shown = found.changes if is_verbose() else found.changes[:_CHANGES]
    rows = [
        [each.metric + (f" [{each.unit}]" if each.unit else ""), each.point, f"{each.expected:.6g}", f"{each.observed:.6g}",
         f"{each.ratio:.3f}" if each.ratio is not None else "", each.direction if each.direction in ("worse", "better") else ""]
        for each in shown
    ]
    say("")
    say(table(["metric", "point", "baseline", "run", "ratio", ""], rows))
    if len(shown) < len(found.changes):
        notice(f"{len(found.changes) - len(shown)} more metrics; -v lists all")


def _print_differences(found: "Explanation") -> None:
    if not found.differences:
        return
    from warehouse.analysis.conditions import in_lines

    lines = in_lines(found.differences, is_short=not is_verbose())
    shown = lines if is_verbose() else lines[:_DIFFERENCES]
    say("")
    say("what differs between the baseline and the run:")
    for line in shown:
        say(f"  {printable(line)}")
    if len(shown) < len(lines):
        notice(f"{len(lines) - len(shown)} more differences; -v lists all")


def _answers(found: "Explanation", playbook: str) -> list["Answer"]:
    return [*found.of_playbook(playbook, are_symptoms=True), *found.of_playbook(playbook, are_symptoms=False)]


def _print_playbook(found: "Explanation", name: str) -> None:
    say("")
    answers = _answers(found, name)
    heading = f"{name.replace('_', ' ')}: {found.suspicion(name)}"
    if found.is_blind(name) and not is_verbose():
        say(f"{heading}; none of its {counted(len(answers), 'check')} has evidence")
        return
    say(heading)
    for answer in answers:
        say(f"  {answer.state:<17} {answer.check.name}{_looked_at(answer)}")


def _looked_at(answer: "Answer") -> str:
    """What a check looked at. In how many places it found nothing counts those that it could judge."""
    if answer.state == "evidence missing":
        return f": {printable(answer.said)}" + (f"; and {len(answer.findings) - 1} more" if len(answer.findings) > 1 else "")
    if answer.state == "not found":
        if len(answer.findings) == 1:
            return f": {printable(answer.said)}"
        judged = counted(len(answer.findings) - answer.unanswered, "place")
        return f" in {judged}{_unanswered(answer)}; the worst: {printable(answer.said)}"
    return _unanswered(answer) if answer.state == "broken" or not answer.check.is_symptom else f": {printable(answer.said)}{_unanswered(answer)}"


def _unanswered(answer: "Answer") -> str:
    return f", {answer.unanswered} more with too little evidence" if answer.unanswered else ""


def _print_answer(prefix: str, answer: "Answer", found: "Explanation") -> None:
    of = " of a neighbour" if answer.is_of_neighbours else ""
    share = found.share(answer)
    say(f"{prefix}{printable(answer.check.description)} ({answer.check.name}{of}){': ' if share else ''}{share}")
    shown = answer.found if is_verbose() else answer.found[:1]
    more = len(answer.found) - len(shown)
    for each in shown:
        neighbour = "possible influence of a neighbour: " if each.is_neighbour else ""
        say(f"   {neighbour}{printable(each.subject)}: {printable(each.statement)}{_place(each)}{f'; and {more} more' if more else ''}")


def _place(found: "Finding") -> str:
    parts: list[Any] = [found.artifact_manifest_digest[:12]] if found.artifact_manifest_digest else []
    parts += [found.raw_path] if found.raw_path else []
    return f"  [{printable('/'.join(parts))}]" if parts else ""
