"""Decisions on runs: what a retraction does to numbers, what it leaves alone, and how a number keeps the decisions it was made with."""

from __future__ import annotations

import json
import shutil
import tarfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from built import sql_of
from conftest import Wh, WhOn
from exhaustive import few
from once import copied
from samples import bench_serving, fabric_check, mlperf_inference, mlperf_training, superbench
from samples.values import take_in, value_files, values_project
from standard import standard_project
from ulid import ULID

from warehouse.claims.numbers.cell_rows import cell_rows
from warehouse.claims.numbers.deciding import note, reinstate, retract, settle
from warehouse.claims.numbers.exclusion import excluded_by
from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publication_with
from warehouse.claims.publish.publish import publish
from warehouse.claims.publish.signing import sign_targets
from warehouse.claims.verify.packet import verify_packet, write_packet
from warehouse.claims.verify.verification import verify_all, verify_number, verify_publication
from warehouse.digest import bytes_digest, canonical_json
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.ledger.events import PUBLISHING, Ledger
from warehouse.evidence.ledger.run_decisions import standing_now
from warehouse.evidence.objects.base import Objects
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.signing.keys import load_signing_key
from warehouse.maintenance.fsck import Scope, check_store
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build

# Runs are lines `<group><number>=value`; two of them lie in one bundle.
RUN = """/*
materialized: incremental
key: [run_id]
*/
select
    value.key as run_id,
    left(value.key, 1) as series,
    value.value,
    coalesce(run_decision.state, 'admitted') as state,
    run_decision.reason as state_reason,
    run_decision.superseded_by
from value
left join run_decision
    on run_decision.run_id = value.key
"""
CLAIM = "select series, sum(value) as total from run where state = 'admitted' group by series"
ALL_OF_THEM = "select series, sum(value) as total from run group by series"
CELL = "claim[series=a].total"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Runs a1 = 1 and a2 = 2 in one bundle, a3 = 4 and b1 = 8 in bundles of their own; `claim` adds up the admitted ones."""
    copied("decisions", _make, tmp_path)
    return read_project(tmp_path / "project")


def _make(folder: Path) -> None:
    project = values_project(folder / "project", CLAIM, grain="series")
    (project.root / "models" / "run.sql").write_text(RUN)
    (project.root / "queries" / "unfiltered.sql").write_text(f"/*\ngrain: [series]\n*/\n{ALL_OF_THEM}")
    take_in(project, value_files(folder / "in", "a1=1\na2=2\n", "a3=4\n", "b1=8\n"))
    build(project)


def rows(project: Project, sql: str) -> list[tuple[object, ...]]:
    return sorted(sql_of(project)(sql))


def totals(project: Project) -> dict[object, object]:
    return dict(rows(project, "select series, total from rollup.claim"))


def objects_of(project: Project) -> Objects:
    return open_store(project).objects


def states(project: Project) -> list[str]:
    return sorted({verdict.state for verdict in verify_all(project)})


def test_a_retraction_takes_a_run_out_of_numbers_and_reinstatement_brings_it_back(project: Project) -> None:
    before = current_build(project).digest
    assert totals(project) == {"a": 7, "b": 8}
    retract(project, "a2", "the clock was wrong")
    report = build(project)
    assert totals(project) == {"a": 5, "b": 8}
    assert rows(project, "select run_id, state, state_reason from run where state <> 'admitted'") == [
        ("a2", "retracted", "the clock was wrong")
    ]
    [run] = [result for result in report.models if result.name == "main.run"]
    assert (run.action, run.keys) == ("update", 1)
    assert not build(project).is_new

    reinstate(project, "a2", "it was right after all")
    build(project)
    assert totals(project) == {"a": 7, "b": 8}
    assert current_build(project).digest == before


def test_a_run_that_counts_no_more_and_shares_a_dimension_with_others_stops_no_publication(project: Project) -> None:
    """As every run of one machine states its hardware."""
    (project.root / "models" / "shown_dim.sql").write_text("select series from run group by series")
    (project.root / "queries" / "shown.sql").write_text(
        "/*\ngrain: [series]\n*/\nselect run.series, shown_dim.series as shown, sum(run.value) as total from run"
        " left join shown_dim on shown_dim.series = run.series where run.state = 'admitted' group by run.series, shown_dim.series"
    )
    retract(project, "a2", "the clock was wrong")
    build(project)
    assert publish(project, "shown").is_new
    assert {run["run_id"] for run in lineage(project, "shown[series=a].total").runs} == {"a1", "a3"}
    assert states(project) == ["verified"]


def test_a_row_that_is_there_for_a_run_that_counts_no_more_is_not_published(project: Project) -> None:
    (project.root / "models" / "largest.sql").write_text("select series, max(value) as largest from run group by series")
    (project.root / "queries" / "large.sql").write_text(
        "/*\ngrain: [series]\n*/\nselect run.series, sum(run.value) as total from run join largest on largest.series = run.series"
        " where run.state = 'admitted' and largest.largest >= 2 group by run.series"
    )
    retract(project, "a2", "the clock was wrong")
    build(project)
    with pytest.raises(WarehouseError, match="a2  retracted") as caught:
        publish(project, "large")
    assert caught.value.code == "WH313"


def test_what_was_published_stays_true_and_is_retracted(project: Project, wh: Wh) -> None:
    first = publish(project, "claim")
    number = lineage(project, CELL).number_id
    retract(project, "a2", "the clock was wrong")
    for _ in range(2):  # before the next build, and after it
        verdict = verify_number(project, str(number))
        assert verdict.state == "retracted" and "equal" in verdict.reason
        assert verdict.reason.startswith("retracted on ") and ": the clock was wrong; " in verdict.reason
        build(project)
    assert (wh("verify", str(number))[0], wh("verify", str(number), "--strict")[0]) == (ExitCode.OK, ExitCode.FAILED)
    assert {run: (found.state, found.reason) for run, found in lineage(project, str(number)).decisions.items()} == {
        "a2": ("retracted", "the clock was wrong")
    }
    assert "decided     a2  retracted on " in wh("lineage", str(number))[1]

    second = publish(project, "claim")
    assert second.digest != first.digest
    assert {run["run_id"] for run in lineage(project, CELL).runs} == {"a1", "a3"}
    reinstate(project, "a2", "it was right after all")
    build(project)
    assert publish(project, "claim").digest == first.digest
    # The one that was made under the retraction is replayed under it, whatever was decided since.
    assert states(project) == ["stale", "verified"]


def test_the_runs_left_out_are_named_with_the_clause(project: Project) -> None:
    retract(project, "a2", "the clock was wrong")
    build(project)
    excluded = excluded_by(project, lineage(project, CELL)).excluded
    assert [(run.run_id, run.reason, run.clause, run.decision) for run in excluded] == [
        ("a2", "where", "state = 'admitted'", "retracted: the clock was wrong")
    ]


def test_a_decision_that_a_value_is_read_from_is_a_row_of_the_ledger_and_no_raw_file(project: Project) -> None:
    (project.root / "queries" / "reasons.sql").write_text(
        "/*\ngrain: [series]\n*/\nselect series, max(state_reason) as why, sum(value) as total from run group by series"
    )
    event = retract(project, "a2", "the clock was wrong")
    build(project)
    number = lineage(project, "reasons[series=a].why")
    assert {file.raw_path for file in number.raw_files} <= {"r0.nv", "r1.nv"}
    found = cell_rows(project, number)
    assert found is not None
    (decision,) = [table for table in found.tables if table.table == "run_decision"]
    assert [(row.key, row.values) for row in decision.rows] == [
        ({"event_key": event.key, "event_sha256": event.sha256}, {"reason": "the clock was wrong"})
    ]


def test_what_rests_on_a_run_that_is_not_admitted_is_not_published(project: Project) -> None:
    publish(project, "unfiltered")
    retract(project, "a2", "the clock was wrong")
    with pytest.raises(WarehouseError, match="(?s)WH313.*1 run that is not admitted:\n  a2  retracted on .* by .*: the clock was wrong\n.*wh build"):
        publish(project, "claim")
    build(project)
    publish(project, "claim")
    with pytest.raises(WarehouseError, match="(?s)WH313.*a2  retracted.*where state = 'admitted'"):
        publish(project, "unfiltered")
    reinstate(project, "a2", "it was right after all")
    with pytest.raises(WarehouseError, match="(?s)WH313.*other decisions on runs than the ledger.*wh build"):
        publish(project, "claim")
    build(project)
    publish(project, "unfiltered")


def test_another_run_stands_in_its_stead(project: Project) -> None:
    retract(project, "a1", "measured again", superseded_by="a3")
    build(project)
    assert rows(project, "select run_id, state, superseded_by from run where state <> 'admitted'") == [("a1", "superseded", "a3")]
    assert totals(project) == {"a": 6, "b": 8}
    for stand_in, why in (("a2", "cannot replace itself"), ("a1", "superseded by a3"), ("a9", "no run of the current build")):
        with pytest.raises(WarehouseError, match=f"WH314.*{why}"):
            retract(project, "a2", "measured again", superseded_by=stand_in)
    assert len(Ledger(objects_of(project)).decisions()) == 1


def test_what_cannot_be_decided(project: Project, tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="(?s)WH314 a22: no run of the current build has this id.*similar: a2") as caught:
        retract(project, "a22", "wrong")
    assert caught.value.exit_code == ExitCode.NOT_FOUND
    with pytest.raises(WarehouseError, match="WH314 a2: it is admitted"):
        reinstate(project, "a2", "right")
    with pytest.raises(WarehouseError, match="WH314 a2: it needs a reason"):
        retract(project, "a2", " ")
    take_in(project, value_files(tmp_path / "later", "c1=16\n"))
    with pytest.raises(WarehouseError, match="(?s)WH314 c1.*1 bundle is in the store and not built yet: run wh build"):
        retract(project, "c1", "wrong")
    assert Ledger(objects_of(project)).decisions() == []


def test_a_decision_that_was_altered_or_is_gone_is_found(project: Project) -> None:
    event = retract(project, "a2", "the clock was wrong")
    build(project)
    publish(project, "claim")
    file = project.store_root / event.key
    data = file.read_bytes()
    file.unlink()
    assert states(project) == ["missing"]
    file.write_bytes(data.replace(b"clock", b"watch"))
    assert states(project) == ["tampered"]
    with pytest.raises(WarehouseError, match="WH105.*a ledger event differs from the digest in its name"):
        publish(project, "claim")
    file.write_bytes(b"{")
    with pytest.raises(WarehouseError, match="WH105.*a ledger event differs from the digest in its name"):
        publish(project, "claim")
    shutil.rmtree(project.builds)
    assert [damage.code for damage in build(project).damaged] == ["WH105"]
    file.write_bytes(data)
    build(project)
    assert states(project) == ["verified"]


def test_a_publication_that_names_other_decisions_than_the_ledger_had_is_doubted(project: Project) -> None:
    retract(project, "a2", "the clock was wrong")
    build(project)
    publish(project, "claim")
    assert states(project) == ["verified"]
    # As if the word that brought the run back had been there before it, and was left aside.
    [made] = [event for event in Ledger(objects_of(project)).events() if event.kind == PUBLISHING]
    path = project.store_root / reinstate(project, "a2", "it was right after all").key
    before = datetime.fromisoformat(made.at) - timedelta(microseconds=1)
    event = canonical_json({**json.loads(path.read_bytes()), "at": before.isoformat(timespec="microseconds")})
    path.with_name(f"{ULID.from_datetime(before)}-{bytes_digest(event)}.decision.json").write_bytes(event)
    path.unlink()
    gone, doubted = (verdict for verdict in verify_all(project) if verdict.number_id is None)
    assert (gone.state, doubted.state) == ("missing", "refused") and "the event that it follows is gone" in gone.reason
    assert doubted.reason == "its record names other decisions on runs than the ledger has before it"


def test_notes_decide_nothing_and_the_ledger_lists_all(project: Project, wh: Wh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "conf"))
    assert wh("keygen", "nightly")[0] == 0
    noted = note(project, "a2", "the fan was loud")
    assert not build(project).is_new
    status, out, err = wh("retract", "a2", "--reason", "the clock was wrong", "--sign", "nightly")
    assert status == 0 and out.strip().endswith(".decision.json") and "a2 is retracted" in err
    status, out, err = wh("ledger", "a2", "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(line["kind"], line["detail"], line["signing_state"]) for line in lines] == [
        ("note", {"reason": "the fan was loud"}, "unsigned"),
        ("retraction", {"reason": "the clock was wrong", "after": noted.sha256}, "valid"),
    ]
    assert wh("ledger")[1].count("  arrival  ") == 3
    assert wh("reinstate", "a2", "--reason", "right after all", "--json")[0] == 0
    assert wh("note", "a2", "quiet now")[0] == 0
    assert len(wh("ledger", "a2")[1].splitlines()) == 4
    assert wh("ledger", "a9")[0] == ExitCode.NOT_FOUND
    assert wh("retract", "a9", "--reason", "x")[0] == ExitCode.NOT_FOUND


def test_the_signature_of_a_decision_is_checked_wherever_its_number_is(
    project: Project, wh: Wh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "conf"))
    assert wh("keygen", "nightly")[0] == 0
    event = retract(project, "a2", "the clock was wrong")
    build(project)
    publish(project, "claim")
    assert "1 decision unsigned" in wh("verify", CELL)[1]
    status, out, err = wh("sign", event.key, "--key", "nightly", "--json")  # made before, signed now
    assert (status, json.loads(out)["kind"]) == (0, "decision"), err
    assert wh("sign", event.sha256[:12], "--key", "nightly")[1] == f"{event.sha256}\n"
    assert "1 decision valid (nightly)" in wh("verify", CELL)[1] and "1 decision valid (nightly)" in wh("lineage", CELL)[1]
    with pytest.raises(WarehouseError, match="WH111"):
        next(sign_targets(project, [Ledger(objects_of(project)).keys()[0]], load_signing_key("nightly")))  # an arrival is nobody's word
    project = read_project(project.root)
    write_packet(project, CELL, tmp_path / "total.tar")
    with tarfile.open(tmp_path / "total.tar") as archive:
        [envelope] = [name for name in archive.getnames() if name.startswith("signatures/")]
    file = project.store_root / envelope
    file.write_bytes(file.read_bytes().replace(b'"sig":"', b'"sig":"0'))
    verdict = verify_number(project, CELL)
    assert (verdict.state, [problem.code for problem in verdict.problems]) == ("tampered", ["WH113"])


# --- the standard project ----------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_the_standard_project_honours_it_down_to_the_packet(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    runs = [mlperf_training.Run(minutes=minutes, seed=number) for number, minutes in enumerate((10, 11, 12, 13))]
    mlperf_training.write_set(tmp_path / "in", runs, benchmark="gpt3")
    take_in(project, tmp_path / "in")
    build(project)
    # Of four, the times of 11 and 12 minutes count; without the slowest it is the median of the other three.
    [(repeat_set, minutes)] = rows(project, "select repeat_set, official_minutes from mlperf_training_results")
    [(slowest,)] = rows(project, "select arg_max(run_id, time_to_train_ms) from mlperf_training_submission")
    assert minutes == pytest.approx(11.5)
    status, _, err = wh_on(project, "retract", str(slowest), "--reason", "a node was throttled")
    assert status == 0, err
    build(project)
    assert rows(project, "select official_minutes from mlperf_training_results") == [(pytest.approx(11),)]
    assert rows(
        project, "select run_id, state, state_reason, state_since is not null, superseded_by from benchmark_run_fact where state <> 'admitted'"
    ) == [(slowest, "retracted", "a node was throttled", True, None)]

    publish(project, "mlperf_training_results")
    cell = f"mlperf_training_results[repeat_set={repeat_set}].official_minutes"
    out = wh_on(project, "lineage", cell, "--excluded")[1]
    assert "where run.state = 'admitted'  " in out and f"{slowest}  retracted: a node was throttled" in out
    packet = tmp_path / "minutes.tar"
    assert write_packet(project, cell, packet).state == "verified"
    # All runs of the set lie in one bundle: without the decision, or with what was decided later, it would be the other number.
    reinstate(project, str(slowest), "the throttling was of another node")
    shutil.rmtree(project.root)
    verdict = verify_packet(packet)
    assert (verdict.state, verdict.value) == ("verified", pytest.approx(11))


@pytest.fixture(scope="module")
def partly_retracted(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Evidence of every standard rollup, built after one run of each bundle that holds several was retracted."""
    root = tmp_path_factory.mktemp("siblings")
    project, evidence = standard_project(root / "project"), root / "in"
    nodes = ("gpu02", "gpu03", "gpu04")
    fabric_check.write(evidence / "logs" / "pairs.log", "".join(fabric_check.nccl_section(nodes=("gpu01", node)) for node in nodes))
    records = [json.dumps(bench_serving.sglang_record(bench_serving.requests(9, seed))) for seed in range(3)]
    bench_serving.write(evidence / "serving" / "sweep.jsonl", "\n".join(records))
    bench_serving.write(evidence / "copied" / "best.jsonl", records[0])
    superbench.write_all(evidence / "superbench")
    mlperf_training.write_set(evidence, [mlperf_training.Run(minutes=minutes) for minutes in (10, 11, 12, 13)], benchmark="gpt3")
    mlperf_inference.write_submission(evidence)
    for part in sorted(evidence.iterdir()):
        take_in(project, part)
    build(project)
    several = rows(
        project,
        "select max(run_id) from benchmark_run_fact group by artifact_manifest_digest, mode having count(*) > 1 or mode <> 'performance'"
        " union all select run_id from serving_results where run_id like '%/best/%'",  # the copy
    )
    for (run,) in several:
        retract(project, str(run), "a node was throttled")
    build(project)
    return project


# The runs of the samples, less those that the fixture retracted.
ADMITTED = {
    "fabric_results": ("count(distinct run_id)", 2),
    "indicator_results": ("max(run_count)", 2),
    "mlperf_inference_results": ("count(distinct run_id)", 5),
    "mlperf_training_results": ("sum(run_count)", 3),
    "serving_results": ("count(distinct run_id)", 2),
}


@pytest.mark.parametrize("query", few(ADMITTED, 0))
def test_a_retracted_run_does_not_keep_the_other_runs_of_its_file_from_being_published(partly_retracted: Project, query: str) -> None:
    project, (counted, count) = partly_retracted, ADMITTED[query]
    assert rows(project, f"select {counted} from {query}") == [(count,)]
    publication = publication_with(project, publish(project, query, as_provisional=True).digest)
    not_admitted = {run for (run,) in rows(project, "select run_id from benchmark_run_fact where state <> 'admitted'")}
    assert not_admitted and not not_admitted & {run["run_id"] for row in publication.rows() for cell in row.cells.values() for run in cell.runs}
    assert {verdict.state for verdict in verify_publication(project, publication)} == {"verified"}


@pytest.mark.exhaustive  # the other tests of this project are, which takes long to build
def test_a_run_has_the_same_figures_only_as_runs_that_count(partly_retracted: Project) -> None:
    assert rows(partly_retracted, "select distinct same_figures_as from serving_results") == [(None,)]
    assert rows(partly_retracted, "select distinct same_figures_count from fabric_results") == [(1,)]


# --- bundles that state a run differently ------------------------------------------------------------------------


# The standard project's own run_bundle is tried by unit_tests/run_bundle.yaml.
STATED = {
    "models/staging/stated_file.sql": "/*\nrole: run_files\n*/\nselect key as run_id, artifact_manifest_digest, raw_path, value from value",
    "models/staging/run_bundle.sql": """
        select
            stated_file.run_id,
            max({'is_settled': coalesce(settled.is_evidence, false), 'digest': stated_file.artifact_manifest_digest}).digest as bundle,
            count(distinct case when coalesce(settled.is_evidence, true) then stated_file.value end) > 1 as has_conflict,
            max(settled.reason) as settled_reason
        from stated_file
        left join run_settlement as settled
            on settled.run_id = stated_file.run_id and settled.bundle_digest = stated_file.artifact_manifest_digest
        group by stated_file.run_id
    """,
    "models/run.sql": """/*\nrole: runs\n*/
        select stated_file.run_id, left(stated_file.run_id, 1) as series, stated_file.value, run_bundle.has_conflict, run_bundle.settled_reason
        from stated_file
        inner join run_bundle on run_bundle.run_id = stated_file.run_id and run_bundle.bundle = stated_file.artifact_manifest_digest
    """,
    "queries/claim.sql": "/*\ngrain: [series]\n*/\nselect series, sum(value) as total from run where not has_conflict group by series",
}


@pytest.fixture
def disputed(project: Project, tmp_path: Path) -> Project:
    """The project, where another bundle says that b1 = 16."""
    for path, text in STATED.items():
        (project.root / path).parent.mkdir(exist_ok=True)
        (project.root / path).write_text(text)
    (project.root / "queries" / "unfiltered.sql").unlink()
    take_in(project, value_files(tmp_path / "other", "b1=16\n"))
    build(project)
    return project


def bundle_with(project: Project, text: str) -> str:
    """The bundle in the store of a file that is this."""
    [found] = [path.parents[1].name for path in project.store_root.glob("raw/sha256/*/*/files/*") if path.read_text() == text]
    return found


def test_a_conflict_is_settled_down_to_the_packet(disputed: Project, wh_on: WhOn, tmp_path: Path) -> None:
    project, wanted, other = disputed, bundle_with(disputed, "b1=16\n"), bundle_with(disputed, "b1=8\n")
    assert totals(project) == {"a": 7}
    for run, bundle, why in (
        ("a1", wanted, "there is nothing to settle"), ("b1", "0" * 12, "none of its bundles"), ("b1", wanted[:7], "8 or more characters of its digest"),
        ("b2", wanted, "no run of the current build"),
    ):
        with pytest.raises(WarehouseError, match=f"WH314 {run}.*{why}"):
            settle(project, run, bundle, "no matter")
    assert Ledger(objects_of(project)).decisions() == []

    status, out, err = wh_on(project, "settle", "b1", "--bundle", wanted[:12], "--reason", "the other was edited", "--json")
    event = json.loads(out)
    assert (status, event["bundle"], event["set_aside"]) == (0, wanted, [other]), err
    with pytest.raises(WarehouseError, match="(?s)WH313.*other decisions on runs than the ledger.*wh build"):
        publish(project, "claim")
    build(project)
    assert totals(project) == {"a": 7, "b": 16}
    assert rows(project, "select run_id, settled_reason from run where settled_reason is not null") == [("b1", "the other was edited")]

    publish(project, "claim")
    number = lineage(project, "claim[series=b].total")
    assert [(run, found.bundle, found.event.sha256) for run, found in number.settlements.items()] == [("b1", wanted, event["sha256"])]
    assert f"b1  settled for bundle {wanted[:12]} on " in wh_on(project, "lineage", str(number.number_id))[1]
    assert states(project) == ["verified"]
    packet = tmp_path / "total.tar"
    assert write_packet(project, str(number.number_id), packet).state == "verified"
    with tarfile.open(packet) as archive:
        assert event["event"] in archive.getnames()
    assert list(check_store(project, Scope()).findings) == []

    # The last word counts, whatever was published before it stays, and that a run counts no more is another matter.
    settle(project, "b1", other, "on a second look")
    retract(project, "a1", "the clock was wrong")
    now = standing_now(objects_of(project))
    assert (now.settled["b1"].set_aside, set(now.not_admitted)) == ((wanted,), {"a1"})
    build(project)
    assert totals(project)["b"] == 8
    assert states(project) == ["retracted", "stale"]  # b was replayed as it was settled then


def test_a_decision_of_one_kind_leaves_the_other_alone(disputed: Project) -> None:
    bundle = bundle_with(disputed, "b1=16\n")
    settle(disputed, "b1", bundle, "the other was edited")
    retract(disputed, "b1", "the clock was wrong")
    reinstate(disputed, "b1", "it was right after all")
    now = standing_now(objects_of(disputed))
    assert (now.not_admitted, now.settled["b1"].bundle) == ({}, bundle)
