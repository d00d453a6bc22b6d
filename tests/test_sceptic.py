"""What a sceptic tried: ways to make the warehouse lie, each held by a test. Real CLI, real files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from forgery import forge
from samples import mlperf_inference
from samples.values import take_in, value_files, values_project
from standard import standard_project
from stored import bundle_folder, folder_of

from warehouse.claims.numbers.deciding import settle
from warehouse.claims.numbers.lineage import lineage
from warehouse.claims.publish.publication import publications
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_number
from warehouse.errors import WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import bundle_key
from warehouse.project.project import Project
from warehouse.record.command import record
from warehouse.transform.build.build import build
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import open_build


def test_a_tie_that_another_plan_may_break_otherwise_is_refused_or_traced_to_its_own_bytes(tmp_path: Path) -> None:
    lines = [f"k{key}={key * 60 + number}.5\n" for number in range(40) for key in range(20)]
    files = ["".join(lines[i : i + 20]) for i in range(0, len(lines), 20)]
    sql = "select key, value as v from reading qualify row_number() over (partition by key order by length(key)) = 1"
    project = values_project(tmp_path / "p", sql)
    take_in(project, value_files(tmp_path / "in", *files))
    build(project)
    try:
        publish(project, "claim")
    except WarehouseError as error:
        assert error.code in ("WH303", "WH306")
        return
    (publication,) = publications(project)
    for row in publication.rows():
        cell = row.cells["v"]
        (file,) = cell.evidence
        data = (project.store_root / bundle_key(file["artifact_manifest_digest"]) / "files" / file["raw_path"]).read_bytes()
        ((offset, length),) = file["ranges"]
        assert float(data[offset : offset + length].partition(b"=")[2]) == cell.value


def test_a_copy_of_a_recording_is_no_new_run_and_an_altered_copy_is_a_conflict(tmp_path: Path) -> None:
    project = standard_project(tmp_path / "p")
    script = tmp_path / "bench.py"
    script.write_text('import json; print(json.dumps({"name": "x", "component": "y", "@parameters": {}, "@result": {"t_ms": 5.5}}))')
    recorded = record([sys.executable, str(script)], tmp_path / "recording", repeats=6)
    take_in(project, recorded.folder)
    shorter = tmp_path / "shorter"
    shutil.copytree(recorded.folder, shorter)
    shutil.rmtree(shorter / "run-06")
    take_in(project, shorter)
    build(project)
    con = duckdb.connect(str(current_build(project).path), read_only=True)
    assert con.execute("select distinct run_count from rollup.indicator_results").fetchall() == [(6,)]
    con.close()
    altered = tmp_path / "altered"
    shutil.copytree(recorded.folder, altered)
    output = altered / "run-03" / "stdout.txt"
    output.write_text(output.read_text().replace("5.5", "1.5"))
    take_in(project, altered)
    build(project)
    con = duckdb.connect(str(current_build(project).path), read_only=True)
    conflicts = con.execute("select run_id from benchmark_run_fact where has_conflict").fetchall()
    assert [run.rpartition("/")[2] for (run,) in conflicts] == ["run-03"]
    assert con.execute("select distinct run_count, minimum from rollup.indicator_results").fetchall() == [(5, 5.5)]
    assert con.execute("select count(*) from ingest_issue where code = 'run-conflict'").fetchall()[0][0] > 0
    [(run, digest)] = con.execute("select run_id, artifact_manifest_digest from benchmark_run_fact where has_conflict").fetchall()
    con.close()
    settle(project, run, digest, "the copy was edited by hand")
    build(project)
    con = duckdb.connect(str(current_build(project).path), read_only=True)
    assert con.execute(
        "select run_id, has_conflict, settled_reason from benchmark_run_fact where settled_since is not null"
    ).fetchall() == [(run, False, "the copy was edited by hand")]
    assert con.execute("select distinct run_count from rollup.indicator_results").fetchall() == [(6,)]
    assert con.execute("select count(*) from ingest_issue where code = 'run-conflict'").fetchall() == [(0,)]


def test_numbers_do_not_depend_on_when_the_evidence_arrived(tmp_path: Path) -> None:
    texts = [f"a={value}\n" for value in ("0.1", "1e16", "0.2", "-1e16", "0.3", "7.7")]
    sql = "select key, sum(value) as total from reading group by key"
    digests = []
    for name, at_once in (("once", True), ("nightly", False)):
        project = values_project(tmp_path / name, sql)
        source = value_files(tmp_path / f"in-{name}", *texts)
        if at_once:
            take_in(project, source)
            build(project)
        else:
            for file in sorted(source.iterdir()):
                take_in(project, file)
                build(project)
        digests.append(publish(project, "claim").digest)
    assert digests[0] == digests[1]


def alter_landing(project: Project) -> None:
    """Raise every value of the one landing file there is by 1000."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    (path,) = (project.store_root / "landing" / "value").glob("*.parquet")
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "value", pc.add(table["value"], 1000.0)), path)


def test_landing_that_was_altered_is_not_built_from(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "a=2.5\n"))
    build(project)
    alter_landing(project)
    (project.root / "models" / "other.sql").write_text("select 1 as one")
    build(project)  # what is kept was made before the file was altered
    (project.root / "models" / "reading.sql").open("a").write(" where value is not null")
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert caught.value.code == "WH123"
    shutil.rmtree(project.store_root / "landing")
    build(project)
    publish(project, "claim")
    assert lineage(project, "claim[key=a].mean").value == 2.0


def test_landing_that_was_altered_brings_no_incremental_table_up_to_date(tmp_path: Path) -> None:
    """The keys of the new evidence are among those of the altered file: an update reads that file too."""
    project = values_project(tmp_path / "p", "select key, mean from reading")
    (project.root / "models" / "reading.sql").write_text(
        "/*\nmaterialized: incremental\nkey: [key]\n*/\nselect key, avg(value) as mean from value group by key"
    )
    take_in(project, value_files(tmp_path / "in", "a=1.5\nb=7.0\nc=7.0\n"))
    build(project)
    alter_landing(project)
    take_in(project, value_files(tmp_path / "more", "a=2.5\n"))
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert caught.value.code == "WH123"
    shutil.rmtree(project.store_root / "landing")
    with open_build(build(project).build.path) as con:
        assert con.execute("select mean from reading where key = 'a'").fetchall() == [(2.0,)]


def test_a_build_whose_database_was_edited_publishes_nothing(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "a=2.5\n"))
    built = build(project).build
    built.path.chmod(0o644)
    con = duckdb.connect(str(built.path))
    con.execute("update main.reading set value = 3.0")
    con.execute("update rollup.claim set mean = 3.0")
    con.close()
    for act in (lambda: publish(project, "claim"), lambda: lineage(project, "claim[key=a].mean")):
        with pytest.raises(WarehouseError) as caught:
            act()
        assert caught.value.code in ("WH218", "WH211")


def test_a_project_folder_that_looks_like_a_pattern_reads_only_its_own_files(tmp_path: Path) -> None:
    sql = "select key, avg(value) as mean from reading group by key"
    numbers = {}
    for name, value in (("gl[o]b", "1.0"), ("glob", "1001.0"), ("st*ar", "5.0"), ("stXar", "7.0")):
        project = values_project(tmp_path / name, sql)
        take_in(project, value_files(tmp_path / f"in-{len(numbers)}", f"a={value}\n"))
        numbers[name] = project
    for project in numbers.values():
        build(project)
    found = {name: lineage(project, "claim[key=a].mean").value for name, project in numbers.items()}
    assert found == {"gl[o]b": 1.0, "glob": 1001.0, "st*ar": 5.0, "stXar": 7.0}


def test_publish_refuses_over_altered_evidence_and_over_altered_publications(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "a=2.5\n"))
    build(project)
    publish(project, "claim")
    (publication,) = publications(project)
    rows = folder_of(publication) / "rows.jsonl"
    good = rows.read_bytes()
    rows.write_bytes(good.replace(b'"number_id"', b'"number_iD"', 1))
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert caught.value.code == "WH307"
    rows.write_bytes(good)
    raw = next((project.store_root / "raw").rglob("r0.nv"))
    raw.chmod(0o644)
    raw.write_text("a=9.5\n")
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert caught.value.code == "WH105"


def test_a_bundle_that_is_gone_is_told_and_nothing_is_published_without_it(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "a=2.5\n"))
    build(project)
    bundle = next(path.parent.parent for path in (project.store_root / "raw").rglob("r0.nv"))
    shutil.rmtree(bundle)
    report = build(project)
    assert [error.code for error in report.damaged] == ["WH106"]
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert caught.value.code == "WH106"


def test_a_forged_value_does_not_fit_its_number_id(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n", "a=2.5\n"))
    build(project)
    publish(project, "claim")
    (publication,) = publications(project)
    rows = (folder_of(publication) / "rows.jsonl").read_bytes().replace((2.0).hex().encode(), (7.0).hex().encode())
    forge(publication, "rows.jsonl", rows)
    with pytest.raises(WarehouseError) as caught:
        lineage(project, "7.0")
    assert caught.value.code == "WH307"


def test_sql_of_a_person_cannot_write_beside_the_build(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n"))
    build(project)
    target = next((project.store_root / "raw").rglob("r0.nv"))
    writes = f"copy (select 'a=9.5') to '{target}' (header false)"
    for sql in (writes, "select * from read_text('/etc/hostname')", f"set enable_external_access = true; {writes}"):
        done = subprocess.run(
            [sys.executable, "-m", "warehouse.cli.main", "--project", str(project.root), "sql", sql], capture_output=True, text=True
        )
        assert done.returncode == 1 and "WH213" in done.stderr
    assert target.read_text() == "a=1.5\n"


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of commands that printed odd JSON, and of one submission with and without its round."""
    root = tmp_path_factory.mktemp("side by side")
    project = standard_project(root / "p")
    for number, text in enumerate(('{"a": 1}', '{"name": null, "@result": {"t": 1}}', '{"name": 5, "@result": {"t": 1}}')):
        take_in(project, record(["echo", text], root / f"recording{number}").folder)
    take_in(project, mlperf_inference.write_submission(root / "named", round="v5.1"))
    take_in(project, mlperf_inference.write_submission(root / "unnamed", round=None))
    return build(project).build.path


def test_a_command_that_prints_any_json_does_not_stop_later_builds(side_by_side: Path) -> None:
    with duckdb.connect(str(side_by_side), read_only=True) as con:
        assert con.execute("select count(*) from benchmark_run_fact where run_id like 'recorded_run/%'").fetchall() == [(3,)]


def test_the_same_evidence_with_and_without_its_round_is_built_side_by_side(side_by_side: Path) -> None:
    with duckdb.connect(str(side_by_side), read_only=True) as con:
        counts = con.execute("select round, count(*) from rollup.mlperf_inference_results group by 1").fetchall()
    assert len(counts) == 2 and counts[0][1] == counts[1][1]


def layered_project(root: Path, tmp_path: Path) -> Project:
    """Three values in three bundles, and a mart over them."""
    project = values_project(root, "select key, total, best, n from layered")
    (root / "models" / "facts").mkdir()
    (root / "models" / "facts" / "fact.sql").write_text(
        "/*\ngrain: [run_id, key]\n*/\nselect artifact_manifest_digest as run_id, key, value from value"
    )
    (root / "models" / "best_of.sql").write_text("/*\ngrain: [key]\n*/\nselect key, max(value) as best from fact group by key")
    (root / "models" / "layered.sql").write_text(
        "/*\ngrain: [key]\n*/\nselect f.key, sum(f.value) as total, max(b.best) as best, count(*) as n"
        " from fact f join best_of b on b.key = f.key group by f.key"
    )
    take_in(project, value_files(tmp_path / "layered-in", "a=1.5\n", "a=2.5\n", "a=9.5\n"))
    return project


def texts_of(project: Project, number: str) -> list[str]:
    store = open_store(project)
    found = []
    for file in lineage(project, number).raw_files:
        data = (bundle_folder(store, file.artifact_manifest_digest) / "files" / file.raw_path).read_bytes()
        found += [data[offset : offset + length].decode() for offset, length in file.ranges]
    return sorted(found)


def test_evidence_of_other_runs_is_not_lost_between_layers(tmp_path: Path) -> None:
    project = layered_project(tmp_path / "p", tmp_path)
    (project.root / "queries" / "own.sql").write_text(
        "/*\ngrain: [run_id]\n*/\nselect f.run_id, b.best, f.value / b.best as ratio, (select max(best) from best_of) as top"
        " from fact f join best_of b on b.key = f.key"
    )
    (project.root / "models" / "ranked.sql").write_text(
        "/*\ngrain: [run_id]\n*/\nselect run_id, value, max(value) over (partition by key) as best from fact"
    )
    (project.root / "queries" / "ranked_claim.sql").write_text("/*\ngrain: [run_id]\n*/\nselect run_id, best from ranked")
    (project.root / "queries" / "mart_claim.sql").write_text("/*\ngrain: [key]\n*/\nselect key, best from best_of")
    build(project)
    for query in ("own", "ranked_claim", "mart_claim", "claim"):
        publish(project, query)
    values = ["a=1.5", "a=2.5", "a=9.5"]
    con = duckdb.connect(str(current_build(project).path), read_only=True)
    ids = con.execute("select number_ids.best, number_ids.ratio, number_ids.top from rollup.own order by ratio").fetchall()
    (ranked,) = con.execute("select number_ids.best from rollup.ranked_claim limit 1").fetchall()
    con.close()
    for best, ratio, top in ids:
        assert texts_of(project, best) == texts_of(project, top) == texts_of(project, ratio) == values
        assert len(lineage(project, best).runs) == len(lineage(project, ratio).runs) == 3
    assert texts_of(project, ranked[0]) == values
    assert len(lineage(project, ranked[0]).runs) == 3
    mart = lineage(project, "mart_claim[key=a].best")
    assert len(mart.runs) == 3 and texts_of(project, "mart_claim[key=a].best") == values
    assert texts_of(project, "claim[key=a].total") == values


def test_of_a_constant_it_is_said_that_no_file_states_it(tmp_path: Path) -> None:
    project = values_project(tmp_path / "p", "select key, avg(value) as mean, 42 as answer from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n"))
    build(project)
    publish(project, "claim")
    answer, mean = (verify_number(project, f"claim[key=a].{column}") for column in ("answer", "mean"))
    assert (answer.state, mean.state) == ("verified", "verified")
    assert "no file states it" in answer.reason and "no file" not in mean.reason


@pytest.mark.parametrize("condition", ["exists (select 1 from reading b where b.value > 1)", "key in (select key from reading)"])
def test_a_constant_chosen_by_a_subquery_is_refused(tmp_path: Path, condition: str) -> None:
    project = values_project(tmp_path / "p", f"select key, max(case when {condition} then 1.5 else 2.5 end) as v from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n"))
    build(project)
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert caught.value.code == "WH306"


@pytest.mark.parametrize("value", ["timestamp 'infinity'", "date '-infinity'", "timestamptz 'infinity'"])
def test_an_infinite_time_is_no_date(tmp_path: Path, value: str) -> None:
    project = values_project(tmp_path / "p", f"select key, {value} as v from reading")
    take_in(project, value_files(tmp_path / "in", "a=1.5\n"))
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert caught.value.code == "WH201"
