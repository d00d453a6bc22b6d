"""Ways in which a number means something else than it claims (`gate/situations/*.yaml`), each with an honest twin: the first is stopped or marked
by the rule that is there for it, the second is publishable, or a rule that always fires would pass."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from standard import standard_project
from test_gate_cases import CASES, POLICIES, evidence_of_case
from ulid import ULID

from warehouse.claims.gate.judgement import RuleVerdict, judge
from warehouse.claims.gate.policy import VERDICTS
from warehouse.claims.numbers.deciding import retract
from warehouse.claims.publish.publish import judge_query
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.record.command import record
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build


def situations() -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted((CASES / "situations").glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        cases = yaml.safe_load((CASES / f"{document['policy']}.yaml").read_text())
        base = {"row": {}, **cases.get("base", {}), **document.get("base", {})}
        for each in document["situations"]:
            found[each["name"]] = {**each, "policy": document["policy"], "base": base}
    return found


SITUATIONS = situations()


def judged(situation: dict[str, Any], side: str) -> Any:
    said, base = situation[side], situation["base"]
    merged = {name: {**base.get(name, {}), **said.get(name, {})} for name in ("columns", "row")}
    return judge(evidence_of_case({**base, **said, **merged, "policy": situation["policy"]}), POLICIES[situation["policy"]])


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_is_stopped_or_marked(name: str) -> None:
    situation = SITUATIONS[name]
    judgement = judged(situation, "stopped")
    assert VERDICTS.index(judgement.verdict) >= VERDICTS.index(situation["at_most"])
    assert set(situation["by"]) <= {each.rule.id for each in judgement.against}


@pytest.mark.parametrize("name", SITUATIONS)
def test_its_honest_twin_is_publishable(name: str) -> None:
    judgement = judged(SITUATIONS[name], "honest")
    assert not [str(each) for each in judgement.against]


def test_all_are_there() -> None:
    assert len(SITUATIONS) == 44 + 5


# --- from files to the judgement ----------------------------------------------------------------------------------

SCRIPT = """import json, sys
print(json.dumps({"name": "Sum", "component": "numbers", "@parameters": {"case": sys.argv[1]}, "@result": {"elapsed_ms": 3.5}}))
"""


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def moved(run: Path, days: int) -> None:
    """Change the times of a run."""
    said = json.loads((run / "run.json").read_text())
    edit(run / "run.json", **{name: (datetime.fromisoformat(said[name]) + timedelta(days=days)).isoformat() for name in ("started_at", "ended_at")})


def deleted(folder: Path) -> None:
    shutil.rmtree(folder / "run-02")


def copied_to_the_next_day(folder: Path) -> None:
    copy = folder.with_name(f"{folder.name}-again")
    shutil.copytree(folder, copy)
    edit(copy / "recording.json", recording_id=str(ULID()))
    for run in copy.glob("run-*"):
        moved(run, 1)


def said_to_succeed(folder: Path) -> None:
    edit(folder / "run-01" / "run.json", status="succeeded", exit_code=1)


def without_software(folder: Path) -> None:
    (folder / "software.json").unlink()


def failing(folder: Path) -> None:
    """As `wh record` leaves a repeat whose command printed nothing and failed."""
    edit(folder / "run-02" / "run.json", status="failed", exit_code=1)
    (folder / "run-02" / "stdout.txt").write_text("")


def of_next_month(folder: Path) -> None:
    moved(folder / "run-01", 40)


# What was done to a recording, and the rule that says so, with its verdict and figure; of an honest one that rule is passed.
DONE = {
    "deleted": (deleted, "declared-repeats", "provisional", 1),
    "copied": (copied_to_the_next_day, "copied-figures", "refused", 2),
    "exit": (said_to_succeed, "exit-code", "not representative", 1),
    "failing": (failing, "failures", "provisional", 0.5),
    "unnamed": (without_software, "pinned", "provisional", None),
    "future": (of_next_month, "dates", "refused", 1),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("recorded")
    script, tree = root / "sum.py", root / "tree"
    script.write_text(SCRIPT)
    for case in (*DONE, "honest"):
        record([sys.executable, str(script), case], tree / case, repeats=2)
    for case, (do, *_) in DONE.items():
        do(tree / case)
    project = standard_project(root / "project")
    ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    build(project)
    return project


def rules_of(project: Project) -> dict[str, dict[str, RuleVerdict]]:
    """By case what each rule says of it."""
    found = judge_query(project, "indicator_results")[0].numbers
    return {each.grain["parameters"].removeprefix("case="): {rule.rule.id: rule for rule in each.judgement.rules} for each in found}


def test_what_was_done_to_recordings_is_found(recorded: Project) -> None:
    said = rules_of(recorded)
    assert {case: (said[case][rule].verdict, said[case][rule].figure) for case, (_, rule, *_) in DONE.items()} == {
        case: (verdict, figure) for case, (_, _, verdict, figure) in DONE.items()
    }
    assert {said["honest"][rule].told for _, rule, *_ in DONE.values()} == {"publishable"}
    with open_build(current_build(recorded).path) as con:
        cases = con.execute("select benchmark_case_id, status, count(*) from benchmark_run_fact group by all").fetchall()
    assert ("numbers/Sum", "failed", 1) in cases and {case for case, *_ in cases} == {"numbers/Sum"}


def test_a_run_that_is_retracted_after_a_look_is_named(recorded: Project) -> None:
    before = rules_of(recorded)  # this is a look
    (run,) = [row["run_id"] for row in before["honest"]["runs"].rows][:1]
    retract(recorded, run, "slow")
    build(recorded)
    assert before["honest"]["removed"].verdict == "publishable"
    found = rules_of(recorded)["honest"]["removed"]
    assert (found.verdict, [row["run_id"] for row in found.rows]) == ("provisional", [run])
    assert f"{run}: retracted on" in str(found)
