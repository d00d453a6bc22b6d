"""`wh changes --bisect`: which runs would show what made a change, between the last run before it and the first after it.

If the commit differs and its repository is here, it is the commit in the middle, as git bisect has it; runs at commits between narrow it down.
Else it is one thing that differs put back at a time, on the machine of before if the machine differs; and if nothing differs, both runs again
on one machine. Uncommitted changes are one of the things that may differ: runs with them show nothing of a commit.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log, log2
from pathlib import Path
from statistics import median

from warehouse.analysis.conditions import NOT_STATED, Conditions, Difference, read_conditions
from warehouse.analysis.events.findings import Finding, time_of
from warehouse.analysis.measurements import Measurement, measured
from warehouse.errors import counted
from warehouse.project.project import Project
from warehouse.transform.finished.builds import current_build

_REPEATS = 5  # what a change needs to be confirmed
_STEPS = 6
_NAMED = 3  # packages
_COMMIT = "git", "commit"
_DIRTY = "git", "is_dirty"
_COMMIT_NAME = re.compile(r"[0-9a-f]{7,64}")
# What can be put back, or follows from where a run ran.
_CAUSES = ("script", "machine", "git", "package", "software", "serving", "parameter", "workload")
_OF_FOLDER = ("branch", "remote")
_MAY_BE_ABSENT = ("package", "serving", "parameter", "workload")  # what a run that does not state it was without
_RECORDED = "recorded_run/"
_TIMEOUT_S = 20
_NO_FETCH = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}  # of objects that a partial clone lacks


@dataclass(frozen=True)
class Step:
    """Runs to make: under which condition, and the commands."""

    what: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Bisection:
    """The runs between which a change lies, the commits that may have made it, oldest first, where they are known, what to run next, and what
    limits the answer. `span`: how many commits lie between the two runs."""

    last_good: str
    first_bad: str
    commits: tuple[str, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    span: int = 0

    @property
    def runs_left(self) -> int:
        """How many commits have to be measured, one after another."""
        return ceil(log2(len(self.commits))) if self.commits else len(self.steps)


def bisect(project: Project, finding: Finding, folder: Path) -> Bisection:
    """What would settle a change, with the runs that were made for it since. `folder` is where a repository may be. Raises WH501, WH211, WH218."""
    last, first = finding.last, finding.first
    commits = _commits(finding.differences, folder)
    with measured(current_build(project)) as found:
        runs = found.read("m.series_key = ?", [first.series_key]) if commits else []
        conditions = read_conditions(found, {last.run_id, first.run_id, *(each.run_id for each in runs)})
    dirty = {run_id for run_id, stated in conditions.items() if _is_dirty(stated)}
    notes = [f"{each.run_id} had uncommitted changes, which may be the cause" for each in (last, first) if each.run_id in dirty]
    if not commits:
        return replace(plan(last, first, finding.differences), notes=tuple(notes))
    left = narrowed(commits, runs, conditions, finding.before, finding.after)
    between = [
        each.run_id for each in runs
        if each.started_at and each.started_at > time_of(first) and conditions[each.run_id].get(_COMMIT, ("", None))[0] in commits[:-1]
    ]
    if left_out := sum(run_id in dirty for run_id in between):
        notes.append(f"left out: {counted(left_out, 'run')} with uncommitted changes at the commits between")
    if not left:
        notes.append(f"no commit made it: runs at {commits[-1]} without uncommitted changes are as before")
    differing = finding.differences if left else [each for each in finding.differences if (each.kind, each.name) != _COMMIT]
    planned = plan(last, first, differing, left)
    taken_out = [_taken_out(between)] if len(left) <= 1 and between else []
    return replace(planned, steps=(*planned.steps, *taken_out), notes=tuple(notes), span=len(commits))


def plan(last: Measurement, first: Measurement, differences: Sequence[Difference], commits: Sequence[str] = ()) -> Bisection:
    """What to run, given the last run before a change and the first after it, what differs between them, and the commits that may have made it,
    oldest first, the last of them the bad one."""
    steps: list[Step] = []
    if len(commits) > 1:
        middle = commits[(len(commits) - 1) // 2]
        steps.append(Step(f"at commit {middle}, in the middle of {len(commits)}", (f"git checkout {middle}", _again(first))))
    causes = [each for each in differences if each.kind in _CAUSES and each.ratio is None and not (each.kind == "git" and each.name in _OF_FOLDER)]
    causes = [each for each in causes if (each.kind, each.name) != _DIRTY or "true" in (each.base[0], each.head[0])]
    packages = [each for each in causes if each.kind == "package"]
    if commits:
        causes = [each for each in causes if (each.kind, each.name) != _COMMIT]
    if len(packages) > _NAMED:
        half = packages[: ceil(len(packages) / 2)]
        named = ", ".join(_of_before(each) for each in half[:_NAMED])
        more = f" and {len(half) - _NAMED} more" if len(half) > _NAMED else ""
        others = [each for each in causes if each.kind != "package"]
        steps += [_put_back(each, last, first) for each in others[:_STEPS]]
        steps.append(Step(f"with half of the {len(packages)} packages put back: {named}{more}; all else as after the change", (_again(first),)))
    else:
        steps += [_put_back(each, last, first) for each in causes[:_STEPS]]
    if not steps and not commits:
        steps.append(Step("both again on one machine, one after the other: nothing else is known to differ", (_again(last), _again(first))))
    return Bisection(last.run_id, first.run_id, tuple(commits), tuple(steps))


def narrowed(
    commits: Sequence[str], runs: Sequence[Measurement], conditions: Mapping[str, Conditions], before: float, after: float
) -> tuple[str, ...]:
    """The commits that may still have made a change, by the runs at them: each commit is at the level that its median is nearer to. Runs with
    changes that were not committed show nothing. Empty if the last commit is at the level of before, and none ahead of it at that of after."""
    places = {commit: place for place, commit in enumerate(commits)}
    values: dict[int, list[float]] = defaultdict(list)
    for each in runs:
        stated = conditions.get(each.run_id, {})
        commit = stated.get(_COMMIT)
        if commit and commit[0] in places and not _is_dirty(stated):
            values[places[commit[0]]].append(each.value)
    is_bad = {place: _is_nearer(median(found), after, before) for place, found in values.items()}
    bad = min((place for place, found in is_bad.items() if found), default=len(commits) - 1)
    good = max((place for place, found in is_bad.items() if not found and place <= bad), default=-1)
    return tuple(commits[good + 1 : bad + 1])


def _is_dirty(stated: Conditions) -> bool:
    return stated.get(_DIRTY, ("", None))[0] == "true"


def _is_nearer(value: float, one: float, other: float) -> bool:
    if min(value, one, other) > 0:
        value, one, other = log(value), log(one), log(other)
    return abs(value - one) < abs(value - other)


def _put_back(each: Difference, last: Measurement, first: Measurement) -> Step:
    value = each.base[0]
    if each.is_move:
        what = f"on {value}"
    elif (each.kind, each.name) == _DIRTY:
        what = f"with the uncommitted changes of {last.run_id}" if value == "true" else "without uncommitted changes"
    elif value != NOT_STATED:
        what = f"with {each.kind} {_of_before(each)}"
    elif each.kind in _MAY_BE_ABSENT:
        what = f"without {each.kind} {each.name}"
    else:
        what = f"with the {each.kind} {each.name} of {last.run_id}, which does not state it"
    return Step(f"{what}, all else as after the change", (_again(first),))


def _of_before(each: Difference) -> str:
    """A name and its value before the change."""
    return f"{each.name} {each.base[0]}" if each.base[0] != NOT_STATED else f"without {each.name}"


def _taken_out(run_ids: Sequence[str]) -> Step:
    commands = tuple(f"wh retract {shlex.quote(each)} --reason bisect" for each in run_ids)
    return Step("runs at the commits between count in their series as runs of when they were made: take them out", commands)


def _again(run: Measurement) -> str:
    if run.run_id.startswith(_RECORDED):
        return f"wh record --repeats {_REPEATS} --like {shlex.quote(run.run_id)}"
    return f"# run what {run.run_id} ran, {_REPEATS} times: wh record did not record it"


def _commits(differences: Sequence[Difference], folder: Path) -> tuple[str, ...]:
    """The commits after the last good one up to the first bad one, oldest first; empty where the repository is not here or does not have them."""
    found = next((each for each in differences if (each.kind, each.name) == _COMMIT), None)
    if found is None or not all(len(side) == 1 and _COMMIT_NAME.fullmatch(side[0]) for side in (found.base, found.head)):
        return ()
    span = f"{found.base[0]}..{found.head[0]}"
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "rev-list", "--reverse", "--first-parent", span, "--"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=True, text=True, env={**os.environ, **_NO_FETCH}
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(done.stdout.split())
