"""wh explain: the answers of checks, their order, and what is wrong with playbooks of a project's own."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import WhOn
from once import once
from samples import prometheus
from samples.bench_serving import requests, vllm_record, write
from serving import client
from standard import standard_project

from warehouse.analysis.explain.explanation import BROKEN, FOUND, MISSING, NOT_FOUND, Answer, Change, Explanation, explain
from warehouse.analysis.explain.playbooks import read_playbooks
from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import read_query
from warehouse.transform.sql.duck import connect
from warehouse.transform.sql.read_only import check_reads

NIGHTS = 4  # in the last of which the tail of the latencies doubles, because requests wait
PLACE = """\
/*
description: The node of each run, which the benchmark's files do not state.
grain: [run_id, artifact_manifest_digest]
feeds: run_node
*/
select
    run_id,
    artifact_manifest_digest,
    'gpu01' as node_name
from bench_serving_run
"""


def _make(folder: Path, *, has_metrics: bool) -> None:
    project = standard_project(folder / "project")
    (project.root / "models").mkdir(exist_ok=True)
    (project.root / "models/place.sql").write_text(PLACE)
    for night in range(NIGHTS):
        is_slow = night == NIGHTS - 1
        asked = [
            replace(each, ttft=each.ttft * (20 if is_slow and number % 20 == 0 else 1)) for number, each in enumerate(requests(60, 100 + night))
        ]
        at = prometheus.START + timedelta(days=night)
        record = vllm_record(asked, model_id="lab/decoder-7b", max_concurrency=8, date=f"{at:%Y%m%d-%H%M%S}")
        write(folder / "results" / f"{at:%Y%m%d}" / "h100_tp8_isl128_osl16_conc8.json", record)
        for second in range(-20, 10, 2) if has_metrics else ():  # the date of a result is the end of its run
            waiting = 40.0 if is_slow else 2.0
            text = prometheus.server(1).replace('engine="0"', 'engine="0",node="gpu01"')
            text = text.replace("model_name=\"acme/7b\"} 1.0\n", f"model_name=\"acme/7b\"}} {waiting}\n", 1)
            path = folder / "results/metrics" / f"vllm-{prometheus.stamp(night * 86400 + second)}.prom"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    for line in (["ingest", str(folder / "results")], ["build"]):
        assert main(["--project", str(project.root), *line]) == 0, line


def with_metrics() -> Project:
    return read_project(once("explain_metrics", lambda folder: _make(folder, has_metrics=True)) / "project")


def without_metrics() -> Project:
    return read_project(once("explain_bare", lambda folder: _make(folder, has_metrics=False)) / "project")


def last_run(project: Project) -> str:
    return runs_of(project)[-1]


def runs_of(project: Project) -> list[str]:
    """In the order of time. By a query that locks nothing: the pages of the same build are asked in this process."""
    with read_query(current_build(project).path, "select run_id from benchmark_run_fact order by started_at") as result:
        return [str(run) for (run,) in result.fetchall()]


def answer(answers: tuple[Answer, ...], name: str) -> Answer:
    (found,) = [each for each in answers if each.check.name == name]
    return found


def test_a_longer_tail_is_explained_by_the_servers_queue() -> None:
    project = with_metrics()
    found = explain(project, last_run(project))
    assert len(found.baseline) == NIGHTS - 1 and found.chosen_by.startswith("the same case")
    assert found.is_suspected("tail_latency_regression")
    assert found.causes()[0].check.name == "request_queue_time"
    worst = found.causes()[0].findings[0]
    assert (worst.observed, worst.expected, worst.unit) == (40, 2, "count")
    assert worst.raw_path == f"vllm-{prometheus.stamp(-20)}.prom" and worst.artifact_manifest_digest
    assert found.changes[0].metric == "ttft_p99_ms" and found.changes[0].worse_by > 5


def test_without_metrics_of_the_server_the_evidence_is_missing() -> None:
    project = without_metrics()
    found = explain(project, last_run(project))
    assert found.is_suspected("tail_latency_regression")
    assert answer(found.answers, "request_queue_time").state == MISSING


def test_a_run_like_its_baseline_is_not_suspected() -> None:
    project = with_metrics()
    runs = runs_of(project)
    found = explain(project, runs[2])
    assert found.baseline == (runs[1], runs[0])  # the nearest before it
    assert answer(found.answers, "tail_latency").state == NOT_FOUND and answer(found.answers, "request_queue_time").state == NOT_FOUND
    given = explain(project, runs[0], [runs[3]])
    assert (given.baseline, given.chosen_by) == ((runs[3],), "given")


def test_the_effect_is_of_the_metric_that_is_worse_than_usual() -> None:
    """A throughput that is 3 % lower, as often, does not hide a tail of three times the length; one that is 30 % lower is the effect."""
    tail = Change("chat", "ttft_p99_ms", "all", "ms", "lower", 2000, 600, 1.4)
    throughput = [Change("chat", "output_token_throughput_per_s", "all", "tokens/s", "higher", value, 1000, 1.05) for value in (970, 700)]
    effects = [Explanation("run", (), "given", (tail, each), ()).effect for each in throughput]
    assert effects == [pytest.approx(2000 / 600), pytest.approx(1000 / 700)]


CHECK = """\
/*
description: {description}
playbook: tail_latency_regression
evidence: none is needed
*/
{sql}
"""


def copied(project: Project, root: Path, **checks: str) -> Project:
    import shutil

    shutil.copytree(project.root, root, symlinks=True)
    folder = root / "queries/playbooks"
    folder.mkdir(parents=True)
    for name, text in checks.items():
        (folder / f"{name}.sql").write_text(text)
    return read_project(root)


def test_a_project_has_checks_of_its_own_and_replaces_standard_ones(tmp_path: Path) -> None:
    own = CHECK.format(
        description="It was a Monday", sql="select 'calendar' as subject, true as is_found, 0.1 as score, run_id as statement "
        "from explained where role = 'run'",
    )
    project = copied(with_metrics(), tmp_path / "p", monday=own, request_queue_time=own)
    found = explain(project, last_run(project))
    assert [each.check.name for each in found.causes()] == ["monday", "request_queue_time"]
    assert answer(found.answers, "request_queue_time").check.description == "It was a Monday"
    assert "monday" not in {query.stem for query in project.files("queries", ".sql")}  # a check is not a query spec


def test_a_large_figure_is_not_written_with_an_exponent(tmp_path: Path) -> None:
    sql = "select 'node' as subject, true as is_found, 0.1 as score, printf('%.4g pages, 1.5e+03a', 26012.0) as statement"
    project = copied(with_metrics(), tmp_path / "p", own=CHECK.format(description="Pages", sql=sql))
    assert answer(explain(project, last_run(project)).answers, "own").said == "node: 26010 pages, 1.5e+03a"


def test_a_check_of_two_playbooks_answers_in_both_and_is_one_cause(tmp_path: Path) -> None:
    sql = "select 'calendar' as subject, true as is_found, 0.1 as score, 'Monday' as statement"
    text = CHECK.format(description="It was a Monday", sql=sql).replace("tail_latency_regression", "[weekdays, tail_latency_regression]")
    project = copied(with_metrics(), tmp_path / "p", monday=text)
    found = explain(project, last_run(project))
    assert {each.check.playbook for each in found.answers if each.check.name == "monday"} == {"weekdays", "tail_latency_regression"}
    (cause,) = [each for each in found.causes() if each.check.name == "monday"]
    assert cause.check.playbook == "tail_latency_regression"  # the suspected one
    with client(project) as visitor:
        parts = [each["name"] for each in visitor.get("/api/explain", params={"run": found.run_id}).json()["parts"]]
    assert len(parts) == len(set(parts)) and {"monday", "playbook_weekdays"} <= set(parts)


@pytest.mark.parametrize("playbook", ["[]", "[weekdays, 7]", "['']", "7"])
def test_a_playbook_has_a_name(playbook: str, tmp_path: Path) -> None:
    text = CHECK.format(description="d", sql="select 1").replace("playbook: tail_latency_regression", f"playbook: {playbook}")
    with pytest.raises(WarehouseError) as caught:
        read_playbooks(copied(with_metrics(), tmp_path / "p", own=text))
    assert caught.value.code == "WH201" and "playbook" in str(caught.value)


BROKEN_CHECKS = [
    ("select 1 as subject", "WH541 queries/playbooks/own_0.sql: the check has no column is_found, statement, score or slowdown"),
    ("select 'a' as subject, 'false' as is_found, 1 as score, 'b' as statement", "is_found is true, false or NULL, not 'false'"),
    ("select 'a' as subject, true as is_found, 'high' as score, 'b' as statement", "score is a number, not 'high'"),
    ("select 'a' as subject, true as is_found, 1 as score, 'b' as statement, 2 as observd", "did you mean observed?"),
    ("select 'a' as subject, true as is_found, 1 as score, 'b' as statement, 7 as raw_path", "raw_path is a text, not 7"),
    ("select 'a' as subject, true as is_found, error('no data') as score, 'b' as statement", "no data"),
    ("select nothing from benchmark_run_fact", "nothing"),
    ("drop table benchmark_run_fact", "read-only"),
    ("select 'a' as subject, true as is_found, 1 as score, 'b' as statement; select 1", "second statement"),
]


def test_a_broken_check_is_told_and_the_others_answer(tmp_path: Path, wh_on: WhOn) -> None:
    own = {f"own_{number}": CHECK.format(description="Own", sql=sql) for number, (sql, _) in enumerate(BROKEN_CHECKS)}
    project = copied(with_metrics(), tmp_path / "p", **own)
    found = explain(project, last_run(project))
    for name, (_, fault) in zip(own, BROKEN_CHECKS, strict=True):
        broken = answer(found.answers, name)
        assert broken.state == BROKEN and broken.fault and fault in broken.fault and f"queries/playbooks/{name}.sql" in broken.fault
    assert answer(found.answers, "request_queue_time").state == FOUND
    status, _, err = wh_on(project, "explain", last_run(project))
    assert status == 1 and all(f"check {name} is broken" in err for name in own)


@pytest.mark.parametrize("lacking", ["description", "playbook", "evidence"])
def test_a_check_states_what_it_is(lacking: str, tmp_path: Path) -> None:
    text = "\n".join(line for line in CHECK.format(description="d", sql="select 1").split("\n") if not line.startswith(lacking))
    project = copied(with_metrics(), tmp_path / "p", own=text)
    with pytest.raises(WarehouseError) as caught:
        read_playbooks(project)
    assert caught.value.code == "WH201" and lacking in str(caught.value)


def test_runs_and_playbooks_that_are_not_there() -> None:
    project = with_metrics()
    run = last_run(project)
    for arguments, code in (((run[:-1],), "WH502"), ((run, ["nosuch"]), "WH502"), ((run, (), "tail_latency"), "WH541")):
        with pytest.raises(WarehouseError) as caught:
            explain(project, *arguments)
        assert caught.value.code == code


def test_the_command_prints_causes_first_and_json_has_all(wh_on: WhOn) -> None:
    project = with_metrics()
    run = last_run(project)
    status, out, err = wh_on(project, "explain", run)
    assert status == 0 and "broken" not in err, err
    assert out.index("1. Requests wait longer") < out.index("tail latency regression: suspected")
    assert f"/vllm-{prometheus.stamp(-20)}.prom]" in out
    document = json.loads(wh_on(project, "explain", run, "--json")[1])
    assert document["causes"][0] == "request_queue_time" and document["suspected"] == ["tail_latency_regression"]
    states = {each["check"]: each["state"] for each in document["answers"]}
    assert states["tail_latency"] == "found"


def test_the_standard_checks_only_read(tmp_path: Path) -> None:
    """They run unchecked, as the code of this package does."""
    with connect() as con:
        for check in read_playbooks(init_project(tmp_path)):
            assert check.is_standard
            check_reads(con, check.sql)
