"""What changes a number after a look at it (`gate/looks/steps.yaml`): runs that are added, removed or read from other evidence, whatever is done to
them, and whatever the query is called then."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from standard import standard_project
from test_gate_cases import CASES
from ulid import ULID

from warehouse.claims.gate.accounting import Sources
from warehouse.claims.gate.evidence import SESSION, TIME, ColumnEvidence, LeftOut, RowEvidence
from warehouse.claims.gate.judgement import RuleVerdict
from warehouse.claims.gate.looks import Looks, RowNow, Since
from warehouse.claims.publish.publish import judge_query
from warehouse.evidence.ledger.events import Ledger
from warehouse.evidence.ledger.run_decisions import REINSTATEMENT, RETRACTION, SETTLEMENT, decide
from warehouse.evidence.objects.local import LocalObjects
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import EvidenceStore, raw_key
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project, standard_folder
from warehouse.record.command import record
from warehouse.transform.build.build import build

STEPS: dict[str, dict[str, Any]] = {each["case"]: each for each in yaml.safe_load((CASES / "looks" / "steps.yaml").read_text())}
SCRIPT = """import json
print(json.dumps({"name": "Sum", "component": "numbers", "@parameters": {"case": "?"}, "@result": {"elapsed_ms": 3.5}}))
"""
DECISIONS = {"retract": RETRACTION, "reinstate": REINSTATEMENT}


class Recordings:
    """Recordings of one command, a case each: copies of a real one with ids and parameters of their own."""

    def __init__(self, root: Path) -> None:
        (root / "sum.py").write_text(SCRIPT)
        self._root, self._made = root, root / "made"
        record([sys.executable, str(root / "sum.py")], self._made, repeats=2)
        self._ids = {case: str(ULID()) for case in STEPS}

    def run(self, case: str) -> str:
        return f"recorded_run/{self._ids[case]}/run-01"

    def name(self, run: str) -> str:
        """`run-01`, or `another-01` for a run of a recording that is not the first of its case."""
        _, recording, place = run.split("/")
        return place if recording in self._ids.values() else place.replace("run", "another")

    def copy(self, case: str, kind: str, tree: Path) -> None:
        folder = tree / case / kind
        shutil.copytree(self._made, folder)
        said = json.loads((folder / "recording.json").read_text())
        said["recording_id"] = str(ULID()) if kind == "another recording" else self._ids[case]
        (folder / "recording.json").write_text(json.dumps(said))
        for output in folder.glob("run-*/stdout.txt"):
            output.write_text(output.read_text().replace("?", case))
        if kind == "part copy":
            shutil.rmtree(folder / "run-02")
        if kind == "edited copy":
            output = folder / "run-01" / "stdout.txt"
            output.write_text(output.read_text().replace("3.5", "2.5"))
        if kind != "fuller copy":
            for samples in folder.glob("run-*/node.jsonl"):
                samples.unlink()


def decide_on(store: EvidenceStore, run: str, step: str) -> None:
    """As the commands do, which need a build that knows the run."""
    objects = store.objects
    if step in DECISIONS:
        decide(objects, DECISIONS[step], run, "measured wrongly")
        return
    bundles = {}  # that state the run, by which copy they are
    for digest in store.digests():
        if json.loads(objects.read(raw_key(digest, "recording.json")))["recording_id"] in run:
            is_edited = b"2.5" in objects.read(raw_key(digest, "run-01/stdout.txt"))
            is_fuller = objects.exists(raw_key(digest, "run-01/node.jsonl"))
            bundles["edited" if is_edited else "fuller" if is_fuller else "first"] = digest
    chosen = bundles[step.removeprefix("settle ")]
    decide(objects, SETTLEMENT, run, "it is right", {"bundle": chosen, "set_aside": [each for each in bundles.values() if each != chosen]})


def do(project: Project, recordings: Recordings, when: str, tree: Path) -> None:
    """What happens to all cases: evidence arrives, is decided on, and is built."""
    store = open_store(project)
    for case, said in STEPS.items():
        for kind in (*([said.get("first", "first copy")] if when == "before" else []), *said.get(when, ())):
            if kind.endswith(("copy", "recording")):
                recordings.copy(case, kind, tree)
    ingest(plan_ingest(tree, load_ingestors(project).values()), store, "evidence")
    for case, said in STEPS.items():
        for step in said.get(when, ()):
            if not step.endswith(("copy", "recording")):
                decide_on(store, recordings.run(case), step)
    build(project)


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Recordings]:
    """All cases, looked at between what happens before and after; and the query under another name, in other words."""
    root = tmp_path_factory.mktemp("looks")
    recordings, project = Recordings(root), standard_project(root / "project")
    policies, few = project.root / "queries" / "policies", "publishable = {at_least = 1}"
    policies.mkdir(parents=True)
    default = (standard_folder() / "queries" / "policies" / "default.toml").read_text()
    (policies / "default.toml").write_text(re.sub(r"publishable = \{at_least = [25]\}", few, default))  # or a look at two runs would be none
    do(project, recordings, "before", root / "first")
    judge_query(project, "indicator_results")
    text = (standard_folder() / "queries" / "indicator_results.sql").read_text()
    (project.root / "queries" / "renamed.sql").write_text(text.replace("count(*) as run_count", "count(value) as run_count"))
    do(project, recordings, "after", root / "second")
    return project, recordings


def judged(project: Project, query: str) -> dict[str, Mapping[str, RuleVerdict]]:
    found = judge_query(project, query)[0].numbers
    return {each.grain["parameters"].removeprefix("case="): {rule.rule.id: rule for rule in each.judgement.rules} for each in found}


def since(after: tuple[Project, Recordings], query: str) -> dict[str, tuple[str, list[str], list[str]]]:
    """By case the worse of the two rules' verdicts, the runs added, and those removed or changed."""
    project, recordings = after
    found = {}
    for case, rules in judged(project, query).items():
        added, removed = ([recordings.name(row["run_id"]) for row in rules[name].rows] for name in ("fixed-n", "removed"))
        found[case] = (min(rules[name].verdict for name in ("fixed-n", "removed")), sorted(added), sorted(removed))
    return found


EXPECTED = {
    case: (
        "provisional" if {"added", "removed", "changed"} & said.keys() else "publishable",
        said.get("added", []), [*said.get("removed", []), *said.get("changed", [])],
    )
    for case, said in STEPS.items()
}


@pytest.mark.exhaustive  # two builds and two judgements of the standard project
def test_what_changed_since_a_look_is_named(after: tuple[Project, Recordings]) -> None:
    assert since(after, "renamed") == EXPECTED


# --- what one row's looks say, without a build --------------------------------------------------------------------

RULE = "until the interval is within 2 %, ten runs at most"
OLD, NEW, OTHER = "a" * 64, "b" * 64, "c" * 64


def row(bundle_of: dict[str, str], *, left_out: Sequence[LeftOut] = (), contradicting: Sequence[str] = (), **said: Any) -> RowNow:
    """A row of these runs; `NEW` is a copy of `OLD`."""
    used = ColumnEvidence([1.0] * len(bundle_of), frozenset(range(len(bundle_of))))
    evidence = RowEvidence([(run, {}) for run in bundle_of], {"v": used}, left_out)
    bundles = {**bundle_of, **{each.run_id: each.bundle for each in left_out}}
    stating = {run: frozenset({bundle, OLD} if bundle == NEW else {bundle}) for run, bundle in bundles.items()}
    sources = Sources(stating, {run: frozenset(contradicting) for run in bundles})
    return RowNow({"series": "a"}, evidence, bundle_of, sources, **said)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Runs r1 and r2 were seen in the query `claim`, in one bundle; another bundle arrived later."""
    found = Ledger(LocalObjects(tmp_path))
    found.arrived(OLD, "values", "here")
    found.judged("5" * 64, "claim", "6" * 64, {}, [], {row({}).key: {OLD: ["r1", "r2"]}})
    found.arrived(NEW, "values", "here")
    return found


def test_a_run_whose_evidence_is_gone_is_named(ledger: Ledger) -> None:
    since = Looks(ledger.objects, "claim").since(row({"r1": OLD}))
    assert list(since.removed) == ["r2"]


def test_a_run_that_is_read_from_a_bundle_that_says_the_same_is_the_same_run(ledger: Ledger) -> None:
    looks = Looks(ledger.objects, "claim")
    assert looks.since(row({"r1": NEW, "r2": NEW})) == Since()
    assert list(looks.since(row({"r1": NEW, "r2": NEW}, contradicting=[OLD])).changed) == ["r1", "r2"]
    ledger.judged("5" * 64, "claim", "6" * 64, {}, [], {row({}).key: {NEW: ["r1"]}})  # and then the first one is chosen again
    assert Looks(ledger.objects, "claim").since(row({"r1": OLD, "r2": OLD}, contradicting=[NEW])) == Since()


def test_a_clause_of_the_query_that_leaves_out_what_was_seen_is_named(ledger: Ledger) -> None:
    """That of another query is a number of its own; no rule for adding runs removes any."""
    left_out = [LeftOut("r2", "where", "value < 3", "q.sql:1", "too slow", bundle=OLD)]
    assert Looks(ledger.objects, "claim").since(row({"r1": OLD}, left_out=left_out)).removed == {"r2": "left out: too slow"}
    assert Looks(ledger.objects, "claim").since(row({"r1": OLD}, left_out=left_out, stopping=RULE)).removed == {"r2": "left out: too slow"}
    assert Looks(ledger.objects, "another").since(row({"r1": OLD}, left_out=left_out)).removed == {}


@pytest.mark.parametrize(
    ("then", "now", "reads", "added", "removed"),
    [
        (RULE, RULE, "", [], ["r2"]), (RULE, RULE, TIME, [], []), (RULE, "another rule", TIME, ["r3"], ["r2"]),
        (None, RULE, TIME, ["r3"], ["r2"]), (RULE, None, TIME, ["r3"], ["r2"]),
    ],
)
def test_a_stopping_rule_counts_if_the_first_look_has_it(
    then: str | None, now: str | None, reads: str, added: list[str], removed: list[str], tmp_path: Path
) -> None:
    """It adds runs, and lets a window over time go on; it leaves out none by what else they are."""
    ledger = Ledger(LocalObjects(tmp_path))
    ledger.arrived(OLD, "values", "here")
    ledger.judged("5" * 64, "claim", "6" * 64, {}, [], {row({}).key: {OLD: ["r1", "r2"]}}, then)
    ledger.arrived(OTHER, "values", "here")
    left_out = [LeftOut("r2", "where", "started_at > date '2026-01-01'", "q.sql:1", "a window", bundle=OLD, reads=reads)]
    since = Looks(ledger.objects, "claim").since(row({"r1": OLD, "r3": OTHER}, left_out=left_out, stopping=now))
    assert (sorted(since.later), list(since.removed)) == (added, removed)


@pytest.mark.parametrize(("runs", "sessions", "added"), [(2, 0, ["r3"]), (3, 0, []), (0, 2, []), (0, 1, ["r3"])])
def test_a_look_at_fewer_than_the_policy_asks_for_is_no_label(runs: int, sessions: int, added: list[str], ledger: Ledger) -> None:
    ledger.arrived(OTHER, "values", "here")
    now = row({"r1": OLD, "r2": OLD, "r3": OTHER}, least_runs=runs, least_sessions=sessions)
    said = [(run, {SESSION: "day 2" if run == "r3" else "day 1"}) for run, _ in now.evidence.observed]
    since = Looks(ledger.objects, "claim").since(replace(now, evidence=replace(now.evidence, observed=said)))
    assert sorted(since.later) == added


def test_a_query_that_claims_nothing_is_a_look_for_itself_alone(ledger: Ledger) -> None:
    seen = Looks(ledger.objects, "list").unnamed_unclaimed({"r8": OLD})
    ledger.judged("5" * 64, "list", "6" * 64, {}, [], seen)
    ledger.arrived(OTHER, "values", "here")
    now = row({"r8": OLD, "r9": OTHER})
    assert Looks(ledger.objects, "list").since(now).later == {"r9"}
    assert Looks(ledger.objects, "claim").since(now) == Since()


def test_a_look_is_named_once(ledger: Ledger) -> None:
    looks, now = Looks(ledger.objects, "claim"), row({"r1": OLD, "r3": NEW})
    assert looks.unnamed(now) == {now.key: {NEW: ["r3"]}}


def test_a_look_of_a_version_that_named_no_runs(tmp_path: Path) -> None:
    """What had arrived counts as seen, a fuller copy of it too, if the query has the name of then."""
    ledger = Ledger(LocalObjects(tmp_path))
    ledger.arrived(OLD, "values", "here")
    ledger.published("7" * 64, "claim", "6" * 64)
    ledger.arrived(NEW, "values", "here")
    ledger.arrived(OTHER, "values", "here")
    now = row({"r1": NEW, "r2": OTHER})
    assert Looks(ledger.objects, "claim").since(now).later == {"r2"}
    assert Looks(ledger.objects, "another").since(now) == Since()


def test_what_the_first_version_of_the_gate_called_later_stays_so(ledger: Ledger) -> None:
    """It knew runs by the bundle that they are read from, and looks by the name of the query."""
    assert Looks(ledger.objects, "claim").later_by_name({"r1": OLD, "r2": NEW}) == {"r2"}
    assert Looks(ledger.objects, "another").later_by_name({"r1": OLD, "r2": NEW}) == frozenset()
