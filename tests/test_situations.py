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
        document = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        cases = yaml.load((CASES / f"{document['policy']}.yaml").read_text(), Loader=yaml.CSafeLoader)
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
    assert len(SITUATIONS) == 44 + 10


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


def again(folder: Path, days: int = 1) -> Path:
    """The same command recorded once more on another day, with figures of its own."""
    copy = folder.with_name(f"{folder.name}-again")
    shutil.copytree(folder, copy)
    edit(copy / "recording.json", recording_id=str(ULID()))
    for number, run in enumerate(sorted(copy.glob("run-*")), 1):
        moved(run, days)
        said = json.loads((run / "run.json").read_text())
        edit(run / "run.json", **{name: said[name] + 0.000123 * number for name in ("wall_s", "user_cpu_s", "system_cpu_s")})
        window(run, duration_s=said["wall_s"] + 0.000456 * number)
    return copy


def copied_with_another_duration(folder: Path) -> None:
    copied_to_the_next_day(folder)
    for run in folder.with_name(f"{folder.name}-again").glob("run-*"):
        edit(run / "run.json", wall_s=json.loads((run / "run.json").read_text())["wall_s"] + 0.000001)


def with_other_threads(folder: Path) -> None:
    edit(again(folder) / "recording.json", environment={"OMP_NUM_THREADS": "8", "HOSTNAME": "b"})


def with_more_gpus(folder: Path) -> None:
    edit(folder / "recording.json", environment={"CUDA_VISIBLE_DEVICES": "0"})
    edit(again(folder) / "recording.json", environment={"CUDA_VISIBLE_DEVICES": "0,1,2,3"})


def with_another_limit(folder: Path) -> None:
    edit(folder / "machine.json", cgroup_cpu_limit_cores=2.0, logical_cores=8)
    edit(again(folder) / "machine.json", cgroup_cpu_limit_cores=1.0, logical_cores=8)


def with_another_option(folder: Path) -> None:
    edit(folder / "recording.json", argv=["bench", "--model", "a"])
    edit(again(folder) / "recording.json", argv=["bench", "--model", "b"])


def of_another_commit(folder: Path) -> None:
    edit(again(folder) / "recording.json", git={**GIT, "commit": "b" * 40})


def with_uncommitted_changes(folder: Path) -> None:
    edit(again(folder) / "recording.json", git={**GIT, "is_dirty": True})


def on_fewer_cores(folder: Path) -> None:
    edit(folder / "machine.json", logical_cores=8, allowed_cores=8)
    edit(again(folder) / "machine.json", logical_cores=8, allowed_cores=4)


def held_back(folder: Path) -> None:
    for run in folder.glob("run-*"):
        node(run, cgroup_cpu_periods=8, cgroup_throttled_periods=7)


def gpus(folder: Path, counter: str) -> None:
    """Of two GPUs one is the run's; the counter of its driver rises by a tenth of a second in a second, and that of the other one by all of it."""
    for run in folder.glob("run-*"):
        lines = [
            {"sampled_at": at, "gpu_uuid": gpu, "gpu_index": index, counter: 10**8 * second * (1 + 9 * index)}
            for second, at in enumerate(seconds(run)) for index, gpu in enumerate(("GPU-a", "GPU-b"))
        ]
        (run / "gpu.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        own = {"sampled_at": seconds(run)[0], "gpu_uuid": "GPU-a", "gpu_index": 0, "pid": 1, "is_own": True}
        (run / "gpu_processes.jsonl").write_text(f"{json.dumps(own)}\n")


def slowed_by_heat(folder: Path) -> None:
    gpus(folder, "throttle_hardware_thermal_ns")


def at_the_power_cap(folder: Path) -> None:
    """As any GPU under full load."""
    gpus(folder, "throttle_power_cap_ns")


def beside_others(folder: Path) -> None:
    for run in folder.glob("run-*"):
        edit(run / "run.json", wall_s=1.0, user_cpu_s=0.05, system_cpu_s=0.01)
        window(run, cpu_mean_pct=94.5)


def waiting(folder: Path) -> None:
    beside_others(folder)
    for run in folder.glob("run-*"):
        window(run, cpu_mean_pct=85.0)
        node(run, cpu_pressure_some_s=0.6)


def with_what_each_run_has_of_its_own(folder: Path) -> None:
    """No other configuration: another GPU of the machine, another seed, port and place, another job."""
    for place, days in ((folder, 0), (again(folder), 1)):
        argv = ["/opt/bench", f"--seed={days}", "--port", f"800{days}", "--model", "a", "--output-len", "128", "--output-dir", f"/tmp/{days}/out"]
        environment = {"CUDA_VISIBLE_DEVICES": str(days), "SLURM_JOB_ID": str(days), "HOSTNAME": str(days), "OMP_NUM_THREADS": "1", "NCCL_DEBUG_FILE": f"{days}"}
        edit(place / "recording.json", argv=argv, environment=environment)
        edit(place / "machine.json", logical_cores=2, cgroup_cpu_limit_cores=None if days else 2.0)  # a limit that limits nothing


def beside_its_server(folder: Path) -> None:
    """No other work: the server that the command talks to fills the host."""
    edit(folder / "recording.json", argv=["bench", "--base-url", "http://localhost:8000"])
    beside_others(folder)


def server(run: Path, cores: float) -> None:
    """The server that the command talks to used so many cores."""
    lines = [{"sampled_at": at, "port": 8000, "user_cpu_s": 100 + second * cores, "system_cpu_s": 1.0} for second, at in enumerate(seconds(run))]
    (run / "servers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def beside_its_idle_server(folder: Path) -> None:
    beside_its_server(folder)
    for run in folder.glob("run-*"):
        server(run, 0.01)


def beside_its_busy_server(folder: Path) -> None:
    """No other work: what fills the host is the server."""
    beside_its_server(folder)
    for run in folder.glob("run-*"):
        server(run, 0.93 * json.loads((folder / "machine.json").read_text())["logical_cores"])


def seconds(run: Path) -> tuple[str, str]:
    """The start of a run, and a second later."""
    start = datetime.fromisoformat(json.loads((run / "run.json").read_text())["started_at"])
    return start.isoformat(), (start + timedelta(seconds=1)).isoformat()


def node(run: Path, **risen: float) -> None:
    """What `wh record` samples of a node on which these counters rise within a second."""
    lines = [{"sampled_at": at, **{name: second * value for name, value in risen.items()}} for second, at in enumerate(seconds(run))]
    (run / "node.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def window(run: Path, **said: Any) -> None:
    line = json.loads((run / "host.jsonl").read_text().splitlines()[0])
    (run / "host.jsonl").write_text(f"{json.dumps(line | said)}\n")


GIT = {"commit": "a" * 40, "branch": "main", "is_dirty": False, "remote": None}
# What was done to a recording, and the rule that says so, with its verdict and figure; of an honest one that rule is passed.
DONE = {
    "deleted": (deleted, "declared-repeats", "provisional", 1),
    "copied": (copied_to_the_next_day, "copied-figures", "refused", 2),
    "duration": (copied_with_another_duration, "copied-figures", "refused", 2),
    "exit": (said_to_succeed, "exit-code", "not representative", 1),
    "failing": (failing, "failures", "provisional", 0.5),
    "unnamed": (without_software, "pinned", "provisional", None),
    "future": (of_next_month, "dates", "refused", 1),
    "threads": (with_other_threads, "one-setup", "not representative", 1),
    "gpus": (with_more_gpus, "one-setup", "not representative", 1),
    "limit": (with_another_limit, "one-setup", "not representative", 1),
    "option": (with_another_option, "one-command", "provisional", 1),
    "dirty": (with_uncommitted_changes, "one-revision", "provisional", 1),
    "cores": (on_fewer_cores, "one-setup", "not representative", 1),
    "commit": (of_another_commit, "one-revision", "provisional", 1),
    "held back": (held_back, "healthy", "not representative", 2),
    "hot": (slowed_by_heat, "healthy", "not representative", 2),
    "others": (beside_others, "host", "not representative", 2),
    "beside server": (beside_its_idle_server, "host", "not representative", 2),
    "waiting": (waiting, "host", "not representative", 2),
}
# What no rule may be said to find.
HONEST = {
    "own": (with_what_each_run_has_of_its_own, ("one-setup", "one-command", "copied-figures"), "publishable"),
    "power": (at_the_power_cap, ("healthy",), "publishable"),
    "server": (beside_its_server, ("host",), "not checked"),
    "known server": (beside_its_busy_server, ("host",), "publishable"),
    "honest": (lambda folder: None, {rule for _, rule, *_ in DONE.values()}, "publishable"),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("recorded")
    script, tree = root / "sum.py", root / "tree"
    script.write_text(SCRIPT)
    for case, (do, *_) in {**DONE, **HONEST}.items():
        record([sys.executable, str(script), case], tree / case, repeats=2)
        edit(tree / case / "recording.json", git=GIT, environment={"OMP_NUM_THREADS": "1", "HOSTNAME": "a"})
        for run in (tree / case).glob("run-*"):
            node(run, cgroup_cpu_periods=8, cgroup_throttled_periods=0)
            window(run, cpu_mean_pct=50.0)
        do(tree / case)
    project = standard_project(root / "project")
    ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    build(project)
    return project


@pytest.fixture(scope="module")
def said(recorded: Project) -> dict[str, dict[str, RuleVerdict]]:
    """What is said of them at the first look."""
    return rules_of(recorded)


def rules_of(project: Project) -> dict[str, dict[str, RuleVerdict]]:
    """By case what each rule says of it."""
    found = judge_query(project, "indicator_results")[0].numbers
    return {each.grain["parameters"].removeprefix("case="): {rule.rule.id: rule for rule in each.judgement.rules} for each in found}


def test_what_was_done_to_recordings_is_found(recorded: Project, said: dict[str, dict[str, RuleVerdict]]) -> None:
    assert {case: (said[case][rule].verdict, said[case][rule].figure) for case, (_, rule, *_) in DONE.items()} == {
        case: (verdict, figure) for case, (_, _, verdict, figure) in DONE.items()
    }
    assert "OMP_NUM_THREADS: 1 or 8" in str(said["threads"]["one-setup"])


@pytest.mark.parametrize("case", HONEST)
def test_what_is_honest_is_not_found(case: str, said: dict[str, dict[str, RuleVerdict]]) -> None:
    _, rules, told = HONEST[case]
    assert {rule: said[case][rule].told for rule in rules} == dict.fromkeys(rules, told)


def test_settings_are_conditions_of_a_run(recorded: Project) -> None:
    """So that comparisons and events name them."""
    sql = "select distinct kind, name, value_text from run_condition where kind in ('option', 'environment', 'limit')"
    with open_build(current_build(recorded).path) as con:
        stated = set(con.execute(sql).fetchall())
    assert stated >= {
        ("environment", "OMP_NUM_THREADS", "8"), ("limit", "visible_gpu_count", "4"), ("limit", "cpu_limit_cores", "1.0"), ("option", "--model", "b"),
    }
    assert not {name for _, name, _ in stated} & {"HOSTNAME", "SLURM_JOB_ID", "--seed", "--port", "--output-dir", "CUDA_VISIBLE_DEVICES"}


def test_a_start_outside_of_its_samples_is_an_issue(recorded: Project) -> None:
    with open_build(current_build(recorded).path) as con:
        sql = (
            "select distinct case_.value_text, issue.severity from ingest_issue as issue inner join performance_indicator_fact as case_"
            " on case_.run_id = issue.run_id and case_.key = 'case' where issue.code = 'start-not-sampled'"
        )
        found = dict(con.execute(sql).fetchall())
    assert found.keys() >= {"copied", "future"} and "honest" not in found and set(found.values()) == {"warning"}
    with open_build(current_build(recorded).path) as con:
        cases = con.execute("select benchmark_case_id, status, count(*) from benchmark_run_fact group by all").fetchall()
    assert ("numbers/Sum", "failed", 1) in cases and {case for case, *_ in cases} == {"numbers/Sum"}


@pytest.mark.exhaustive  # test_gate_forgery.py has one in a small project
def test_a_run_that_is_retracted_after_a_look_is_named(recorded: Project, said: dict[str, dict[str, RuleVerdict]]) -> None:
    (run,) = [row["run_id"] for row in said["honest"]["runs"].rows][:1]
    retract(recorded, run, "slow")
    build(recorded)
    assert said["honest"]["removed"].verdict == "publishable"
    found = rules_of(recorded)["honest"]["removed"]
    assert (found.verdict, [row["run_id"] for row in found.rows]) == ("provisional", [run])
    assert f"{run}: retracted on" in str(found)
