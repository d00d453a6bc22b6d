"""Publications and lineage on the MLPerf sample: from a number to the very bytes, and whether they still hold.

What the bytes must say comes from the values the sample was written with, never from the warehouse.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from conftest import WhOn
from exhaustive import few
from samples import mlperf_inference
from samples.published import published_submission
from samples.values import take_in, value_files, values_project
from standard import standard_project
from stored import folder_of, unpublish

from warehouse.claims.numbers.lineage import Lineage, lineage
from warehouse.claims.numbers.raw_bytes import open_file
from warehouse.claims.publish.publication import CONTENT, publications
from warehouse.claims.publish.publish import publish
from warehouse.cli.numbers.lineage import tree
from warehouse.errors import ExitCode, WarehouseError
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import bundle_key
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build
from warehouse.version import __version__

QUERY = "mlperf_inference_results"
VALUES = mlperf_inference.Values()
GPU, EDGE = "8xA900_2xCPU", "EdgeBox-1"


def fresh(root: Path) -> Project:
    """A project with the sample, built."""
    project = standard_project(root / "project")
    evidence = mlperf_inference.write_submission(root / "evidence")
    ingest(plan_ingest(evidence, load_ingestors(project).values()), open_store(project), "test")
    build(project)
    return project


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The sample, built and published. Tests leave it as it is."""
    return published_submission(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def server(published: Project) -> Lineage:
    """The lineage of the published Server result."""
    return lineage(published, SERVER)


@pytest.fixture
def copy(published: Project, tmp_path: Path) -> Project:
    """A copy that a test may damage."""
    shutil.copytree(published.root, tmp_path / "copy", symlinks=True)
    return read_project(tmp_path / "copy")


def cell(scenario: str, platform: str, column: str = "performance_result") -> str:
    return f"{QUERY}[scenario={scenario},platform={platform}].{column}"


SERVER = cell("Server", GPU)


def pieces(number: Lineage) -> dict[str, list[bytes]]:
    """The bytes of every range of a lineage, by raw path."""
    found: dict[str, list[bytes]] = {}
    for file in number.raw_files:
        data = Path(unquote(urlparse(file.uri).path)).read_bytes()
        found[file.raw_path] = [data[offset : offset + length] for offset, length in file.ranges]
    return found


def test_a_number_has_the_unit_that_its_row_states(published: Project, server: Lineage, wh_on: WhOn) -> None:
    """The column declares none: the row has it in `performance_unit`."""
    assert server.unit == "Tokens/s"
    _, out, _ = wh_on(published, "lineage", str(server.number_id))
    assert out.splitlines()[0].endswith(" Tokens/s")


# --- publishing --------------------------------------------------------------------------------------------------


def test_publishing_again_is_a_no_op(tmp_path: Path, wh_on: WhOn) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1\n", "b=2\n"))
    build(project)
    publish(project, "claim")
    before = {path: path.read_bytes() for path in project.store_root.rglob("*") if path.is_file()}
    (only,) = publications(project)
    status, out, err = wh_on(project, "publish", "claim", "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert (document["publication"], document["is_new"], document["query"], document["rows"]) == (only.digest, False, "claim", 2)
    assert {path: path.read_bytes() for path in project.store_root.rglob("*") if path.is_file()} == before


@pytest.mark.exhaustive
def test_another_folder_publishes_the_same(published: Project, tmp_path: Path) -> None:
    """Other evidence folder, other project, other day: one digest, down to the bytes of the rows."""
    other = fresh(tmp_path / "elsewhere")
    publication = publish(other, QUERY)
    (ours,), (theirs,) = publications(published), publications(other)
    assert publication.is_new
    assert publication.digest == ours.digest
    for name in CONTENT:
        assert (folder_of(theirs) / name).read_bytes() == (folder_of(ours) / name).read_bytes()


@pytest.mark.exhaustive
def test_a_rebuild_from_the_evidence_publishes_the_same(copy: Project) -> None:
    (before,) = publications(copy)
    shutil.rmtree(copy.builds)
    for folder in ("landing", "publications", "specs"):
        shutil.rmtree(copy.store_root / folder)
    build(copy)
    publication = publish(copy, QUERY)
    assert (publication.is_new, publication.digest) == (True, before.digest)
    assert (copy.store_root / "specs" / f"{publication.query_spec_digest}.json").is_file()


def test_an_unknown_query(published: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(published, "publish", "mlperf_results")
    assert (status, out) == (ExitCode.NOT_FOUND, "")
    assert err.startswith("WH301") and "did you mean mlperf_training_results?" in err


MODEL = "select i as run_id, i * 1.5 as speed from range(4) as r (i)"
# A query that must not be published: its SQL after the header, the code, the place, a part of the message.
REFUSED = {
    "it cannot be traced": (
        "with recursive n as (select 1 as a, 1 as b union select max(a) + 1, 2 from n having max(a) < 3) from n",
        "WH306", "queries/claim.sql:4:61", "E_RECURSIVE",
    ),
    "it depends on the order of rows": (
        "select run_id as a, speed as b from run limit 2", "WH306", "queries/claim.sql:4:47", "E_LIMIT_UNORDERED"),
    "it can be traced through a view, but rests on no evidence": (
        "select v.a, w.b from (seen as v(a, b) join seen as w(a, b) using (a)) left join seen on seen.run_id = v.a",
        "WH308", "queries/claim.sql", "depends on no run",
    ),
    "it can be traced through a pivoted view, but rests on no evidence": (
        "select run_id as a, \"1.5\" as b from seen pivot (count(*) for speed in (1.5) group by run_id)",
        "WH308", "queries/claim.sql", "depends on no run",
    ),
    "the model under it cannot be traced": ("select a, b from below", "WH306", "models/below.sql:1:8", "E_SETOP"),
    "a view under it cannot be traced": (
        "select s.run_id as a, c.speed as b from seen as s join cut as c using (run_id)", "WH306", "models/cut.sql:6:7", "E_LIMIT"),
    "it cannot be traced after a view's name": (
        "select s.run_id as a,\n  s.speed as b from seen as s limit 2", "WH306", "queries/claim.sql:5:37", "E_LIMIT_UNORDERED"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_queries(case: str, tmp_path: Path) -> None:
    sql, code, place, message = REFUSED[case]
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "run.sql").write_text(MODEL)
    (project.root / "models" / "seen.sql").write_text("/*\nmaterialized: view\n*/\nselect run_id, speed from run")
    (project.root / "models" / "cut.sql").write_text("/*\nmaterialized: view\n*/\nselect run_id, speed -- all\nfrom run\nlimit 2")
    (project.root / "models" / "below.sql").write_text("select 1 as a, run_id as b from run intersect all select 1, 2")
    (project.root / "queries" / "claim.sql").write_text(f"/*\ngrain: [a]\n*/\n{sql}")
    build(project)
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert (caught.value.code, caught.value.place) == (code, place)
    assert message in caught.value.message
    if code == "WH306":
        file, line, column = place.split(":")
        shown, caret = caught.value.message.splitlines()[-2:]
        assert shown == (project.root / file).read_text().splitlines()[int(line) - 1]
        assert caret == " " * (int(column) - 1) + "^"
    assert caught.value.hint
    assert publications(project) == []


def test_a_query_whose_grain_is_not_unique_is_not_even_built(tmp_path: Path) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "run.sql").write_text(MODEL)
    (project.root / "queries" / "claim.sql").write_text("/*\ngrain: [a]\n*/\nselect run_id % 2 as a, speed from run")
    with pytest.raises(WarehouseError) as caught:
        build(project)
    assert (caught.value.code, caught.value.place) == ("WH302", "queries/claim.sql")
    assert "4 rows, 2 distinct" in caught.value.message


def test_a_number_without_evidence_is_built_and_traced_but_never_published(tmp_path: Path, wh_on: WhOn) -> None:
    project = init_project(tmp_path / "project", bare=True)
    (project.root / "models" / "run.sql").write_text(MODEL)
    (project.root / "queries" / "claim.sql").write_text("/*\ngrain: [run_id]\n*/\nselect run_id, speed from run")
    build(project)
    assert wh_on(project, "lineage", "claim[run_id=3].speed", "--json")[0] == 0
    with pytest.raises(WarehouseError) as caught:
        publish(project, "claim")
    assert (caught.value.code, caught.value.place) == ("WH308", "queries/claim.sql")
    assert publications(project) == []
    document = json.loads(wh_on(project, "lineage", "claim[run_id=3].speed", "--json")[1])
    assert (document["row"]["value"], document["raw_files"]) == ("4.5", [])
    status, out, _ = wh_on(project, "verify", "claim[run_id=3].speed", "--json")
    assert (status, json.loads(out)["state"]) == (1, "refused")


# --- to the bytes ------------------------------------------------------------------------------------------------

# Cell: the end of the raw path, and what the log states in each range.
STATED = {
    ("Server", GPU): ("Server/performance/run_1/mlperf_log_detail.txt", [str(VALUES.server_tokens_per_s)]),
    ("Offline", GPU): ("Offline/performance/run_1/mlperf_log_detail.txt", [str(VALUES.offline_tokens_per_s)]),
    # A summary prints the throughput twice, with two decimals.
    ("Interactive", GPU): (
        "Interactive/performance/run_1/mlperf_log_summary.txt", [f"{VALUES.interactive_tokens_per_s:.2f}"] * 2),
    ("SingleStream", EDGE): ("SingleStream/performance/run_1/mlperf_log_summary.txt", [str(VALUES.single_stream_ns)]),
    ("MultiStream", EDGE): ("MultiStream/performance/run_1/mlperf_log_summary.txt", [str(VALUES.multi_stream_ns)]),
    # Not run: inferred from the mean latency of a query of the MultiStream run, and from how many samples it has.
    ("Offline", EDGE): ("MultiStream/performance/run_1/mlperf_log_summary.txt", ["Mean latency (ns)", "samples_per_query"]),
}


@pytest.mark.parametrize(("scenario", "platform"), STATED)
def test_the_bytes_state_the_value(scenario: str, platform: str, published: Project) -> None:
    path, stated = STATED[scenario, platform]
    number = lineage(published, cell(scenario, platform))
    found = pieces(number)
    assert [name.endswith(path) for name in found] == [True]
    (texts,) = found.values()
    assert len(texts) == len(stated)
    for text, value in zip(texts, stated, strict=True):
        assert value in text.decode()
        assert text.count(b"\n") == 0, "one line of the log, no more"
    assert len(number.runs) == 1
    run_id = str(number.runs[0]["run_id"])
    assert platform in run_id and path.split("/")[0] in run_id


def test_the_power_s_evidence_is_every_sample_of_the_window_and_no_other(published: Project) -> None:
    number = lineage(published, cell("Offline", GPU, "power_result"))
    assert number.value == pytest.approx(VALUES.watts, abs=1e-9)
    found = {path.rsplit("/", 1)[1]: texts for path, texts in pieces(number).items()}
    lines = b"\n".join(found.pop("spl.txt")).decode().splitlines()
    assert len(lines) == VALUES.power_samples
    assert all(f"Watts,{VALUES.watts:.6f}" in line for line in lines)
    assert found == {}


def test_a_cell_without_a_value_is_no_number(published: Project, wh_on: WhOn) -> None:
    status, out, _ = wh_on(published, "lineage", cell("Server", GPU, "power_result"), "--json")
    document = json.loads(out)
    assert status == 0
    assert (document["number_id"], document["row"]["value"], document["raw_files"]) == (None, None, [])
    assert wh_on(published, "lineage", cell("Server", GPU, "power_result"))[1].startswith("NULL, no number")


def test_a_built_number_has_the_lineage_of_the_published_one(published: Project, copy: Project) -> None:
    unpublish(open_store(copy))
    for scenario, platform in (("Server", GPU), ("Offline", EDGE)):
        built, frozen = lineage(copy, cell(scenario, platform)), lineage(published, cell(scenario, platform))
        assert (built.publication, bool(frozen.publication)) == (None, True)
        for name in ("number_id", "value", "grain", "query_spec_digest", "models", "runs"):
            assert getattr(built, name) == getattr(frozen, name), name
        assert [(f.raw_path, f.ranges, f.sha256) for f in built.raw_files] == [
            (f.raw_path, f.ranges, f.sha256) for f in frozen.raw_files
        ]


def test_a_project_that_was_moved_still_traces(copy: Project, server: Lineage) -> None:
    unpublish(open_store(copy))
    moved = read_project(copy.root.rename(copy.root.parent / "moved"))
    assert not build(moved).is_new
    number = lineage(moved, SERVER)
    assert (number.number_id, number.runs) == (server.number_id, server.runs)
    assert list(pieces(number).values()) == list(pieces(server).values())


def test_the_models_lead_down_to_the_landing(server: Lineage) -> None:
    names = [name for name, _ in server.models]
    assert names[0] == "mart.mlperf_inference_result"
    assert {"main.serving_outcome_fact", "feed.serving_outcome", "staging.mlperf_inference_metric"} <= set(names)
    assert len(names) == len(set(names))


# --- naming a number ---------------------------------------------------------------------------------------------


def test_every_way_to_name_a_number(published: Project, server: Lineage) -> None:
    by_cell = server
    assert by_cell.number_id
    assert by_cell.value == 24593.8  # six significant digits of 24593.768
    names = [
        by_cell.number_id, by_cell.number_id.upper(), by_cell.key, "24593.8", "24,593.8",
        f'{QUERY}[round=v5.1,submitter="Acme",platform="{GPU}",scenario=Server].performance_result',
    ]
    for name in names:
        assert lineage(published, name) == by_cell, name


# What is typed, exit code, and what standard error says.
NOT_ONE = {
    "n-aaaaaaaaaaaa": (ExitCode.NOT_FOUND, "WH304"),
    "424242.4242": (ExitCode.NOT_FOUND, "WH304"),
    f"{QUERY}[scenario=Server].nothing": (ExitCode.NOT_FOUND, "WH304"),
    f"{QUERY}[scenario=Servr].performance_result": (ExitCode.NOT_FOUND, "WH304"),
    f"{QUERY}[host=a].performance_result": (ExitCode.NOT_FOUND, "WH304"),
    "nothing[a=b].c": (ExitCode.NOT_FOUND, "WH304"),
    f"{QUERY}[scenario=Offline].performance_result": (ExitCode.AMBIGUOUS, "WH305"),
    f"{QUERY}[].performance_result": (ExitCode.AMBIGUOUS, "6 cells"),
    "8": (ExitCode.AMBIGUOUS, "accelerators_per_node"),
    "a number": (ExitCode.USAGE, "WH304"),
}


@pytest.mark.parametrize("argument", NOT_ONE)
def test_not_one_number(argument: str, published: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(published, "lineage", argument)
    expected, words = NOT_ONE[argument]
    assert (status, out) == (expected, "")
    assert words in err


def test_a_cell_that_holds_just_the_number_is_meant_and_none_that_reads_as_it(tmp_path: Path) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=93.4\n", "b=93.41\n", "c=93.38\n"))
    build(project)
    assert lineage(project, "93.4").grain == {"key": "a"}
    with pytest.raises(WarehouseError, match="3 cells match"):
        lineage(project, "93")


def test_an_ambiguous_name_lists_names_that_are_not(published: Project, wh_on: WhOn) -> None:
    _, _, err = wh_on(published, "lineage", f"{QUERY}[scenario=Offline].performance_result")
    listed = [line.split()[-1] for line in err.splitlines() if line.startswith("  n-")]
    assert {lineage(published, name).grain["run_id"].split("/")[4] for name in listed} == {GPU, EDGE}


def test_no_build_and_no_publication(tmp_path: Path, wh_on: WhOn) -> None:
    assert wh_on(init_project(tmp_path / "project"), "lineage", "n-aaaaaaaaaaaa")[0] == ExitCode.NOT_FOUND


def test_an_old_id_says_what_the_cell_holds_now_and_that_it_is_gone(tmp_path: Path, wh_on: WhOn) -> None:
    project = values_project(tmp_path / "project", "select key, sum(value) as total from reading group by key")
    take_in(project, value_files(tmp_path / "in", "a=1\n", "b=2\n"))
    build(project)
    publish(project, "claim")
    old = lineage(project, "claim[key=a].total")
    query = project.root / "queries" / "claim.sql"
    query.write_text(query.read_text().replace("sum(value)", "sum(value) + 1"))
    build(project)
    found = lineage(project, str(old.number_id))
    assert (found.value, found.publication, found.is_gone) == (1.0, old.publication, False) and old.publication
    assert found.now and found.now[1] == 2.0 and found.now[0] not in (None, old.number_id)
    out = wh_on(project, "lineage", str(old.number_id))[1]
    assert "another number" in out and str(found.now[0]) in out
    assert lineage(project, str(found.now[0])).value == 2.0
    query.write_text(query.read_text().replace("from reading", "from reading where key <> 'a'"))
    build(project)
    found = lineage(project, str(old.number_id))
    assert (found.is_gone, found.now, found.value) == (True, None, 1.0)
    assert "no such cell" in wh_on(project, "lineage", str(old.number_id))[1]


def test_a_publication_needs_no_build(copy: Project, server: Lineage) -> None:
    shutil.rmtree(copy.builds)
    shutil.rmtree(copy.store_root / "landing")
    after = lineage(copy, str(server.number_id))
    assert (after.value, after.runs, after.models) == (server.value, server.runs, server.models)
    assert [(file.raw_path, file.ranges) for file in after.raw_files] == [
        (file.raw_path, file.ranges) for file in server.raw_files
    ]
    assert after.is_gone


# --- the output --------------------------------------------------------------------------------------------------


def test_json(published: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(published, "lineage", SERVER, "--json")
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert set(document) == {
        "number_id", "publication", "row", "query", "why_digest", "guarantees", "runs", "raw_files", "now", "is_gone",
        "determinism", "signatures", "removals", "decisions", "settlements", "published", "software", "worth", "published_as", "correction",
        "validity",
    }
    assert document["published"]["by"].endswith(f"@{os.uname().nodename}") and document["software"]["wh"] == __version__
    own = document["query"]["own_models"]
    assert "mart.mlperf_inference_result" in own and not any("genai_perf" in name for name in own)
    assert document["guarantees"]["G1"] == {"holds": "yes", "established": "checked"}
    assert document["row"] == {
        "query": QUERY, "column": "performance_result", "value": 24593.8, "unit": "Tokens/s",
        "description": "Performance, in performance_unit",
        "grain": {
            "run_id": f"mlperf-inference/v5.1/closed/Acme/{GPU}/{mlperf_inference.LLM}/Server/performance/run_1",
            "scenario": "Server",
        },
    }
    assert (document["now"], document["is_gone"]) == (None, False)
    (run,) = document["runs"]
    assert set(run) == {"run_id", "workload_spec_digest", "artifact_manifest_digest"}
    (file,) = document["raw_files"]
    assert set(file) == {"artifact_manifest_digest", "raw_path", "uri", "sha256", "ranges", "origin"} and file["origin"] is None
    assert file["artifact_manifest_digest"] == run["artifact_manifest_digest"]
    spec = json.loads((published.store_root / "specs" / f"{document['query']['query_spec_digest']}.json").read_bytes())
    assert {model["digest"] for model in document["query"]["models"]} == set(spec["models"])


def test_text(published: Project, server: Lineage, wh_on: WhOn) -> None:
    number = server
    status, out, _ = wh_on(published, "lineage", SERVER, "--full")
    assert status == 0
    assert out.startswith(f"{number.number_id}  24593.8 Tokens/s\n")
    for part in ("1 row", "2 query", "3 runs   1", "4 raw    1 file", "scenario = Server", str(number.publication),
                 number.query_spec_digest, str(number.runs[0]["run_id"]), number.raw_files[0].uri,
                 number.raw_files[0].sha256, '"value": 24593.768', "performance_result: Performance, in performance_unit",
                 f"@{os.uname().nodename}, with wh {__version__}, duckdb ", "models under the query", "no repeats",
                 "G3 the evidence of these runs alone gives it: "):
        assert part in out, part


def test_one_screen(published: Project, server: Lineage, wh_on: WhOn) -> None:
    """Whatever the number depends on; --full has the rest."""
    status, out, err = wh_on(published, "lineage", SERVER)
    assert status == 0 and out.startswith(f"{server.number_id}  24593.8 Tokens/s\n") and "--full shows the rest" in err
    assert '"value": 24593.768' in out and "guaranteed: G1" in out and str(server.publication)[:12] in out and str(server.publication) not in out
    many = replace(
        server, runs=tuple({**server.runs[0], "run_id": f"r{number}"} for number in range(40)), raw_files=server.raw_files * 40,
        models=tuple((f"main.m{number}", "0" * 64) for number in range(40)),
    )
    lines = tree(many, None, [open_file(published, file) for file in many.raw_files[:3]], is_full=False, opens=False)
    assert len(lines) <= 30
    assert "│           and 37 more: --full" in lines and "            and 37 more: --full" in lines
    assert any("its value by main.m0, main.m1, main.m2 and 37 more; 40 models under the query" in line for line in lines)
    assert sum('"value": 24593.768' in line for line in lines) == 3


# --- verification ------------------------------------------------------------------------------------------------


def bundle_of(project: Project, number: Lineage) -> Path:
    (run,) = number.runs
    return project.store_root / bundle_key(str(run["artifact_manifest_digest"]))


def flip(path: Path, position: int = -2) -> None:
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


def one_byte_changed(bundle: Path) -> None:
    flip(next(bundle.rglob("Server/performance/run_1/mlperf_log_detail.txt")))


def another_file_of_the_bundle_changed(bundle: Path) -> None:
    flip(next(bundle.rglob("user.conf")))


def one_byte_more(bundle: Path) -> None:
    path = next(bundle.rglob("Server/performance/run_1/mlperf_log_detail.txt"))
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b"\n")


def file_missing(bundle: Path) -> None:
    next(bundle.rglob("Server/performance/run_1/mlperf_log_detail.txt")).unlink()


def manifest_changed(bundle: Path) -> None:
    flip(bundle / "manifest.json")


def manifest_missing(bundle: Path) -> None:
    (bundle / "manifest.json").unlink()


def manifest_empty(bundle: Path) -> None:
    (bundle / "manifest.json").chmod(0o644)
    (bundle / "manifest.json").write_bytes(b"")


def missing_and_changed(bundle: Path) -> None:
    file_missing(bundle)
    another_file_of_the_bundle_changed(bundle)


def bundle_missing(bundle: Path) -> None:
    shutil.rmtree(bundle)


# What is done to the bundle: state, exit code, and the files that are named.
DAMAGE = {
    one_byte_changed: ("tampered", ExitCode.TAMPERED, ["mlperf_log_detail.txt"]),
    another_file_of_the_bundle_changed: ("tampered", ExitCode.TAMPERED, ["user.conf"]),
    one_byte_more: ("tampered", ExitCode.TAMPERED, ["mlperf_log_detail.txt"]),
    file_missing: ("missing", ExitCode.MISSING, ["mlperf_log_detail.txt"]),
    manifest_changed: ("tampered", ExitCode.TAMPERED, ["manifest.json"]),
    manifest_missing: ("missing", ExitCode.MISSING, ["manifest.json"]),
    manifest_empty: ("tampered", ExitCode.TAMPERED, ["manifest.json"]),
    missing_and_changed: ("tampered", ExitCode.TAMPERED, ["mlperf_log_detail.txt", "user.conf"]),
    bundle_missing: ("missing", ExitCode.MISSING, ["manifest.json"]),
}


@pytest.mark.parametrize("damage", few(DAMAGE, 4), ids=lambda damage: damage.__name__)
def test_damaged_evidence(damage: Callable[[Path], None], copy: Project, server: Lineage, wh_on: WhOn) -> None:
    damage(bundle_of(copy, server))
    state, code, files = DAMAGE[damage]
    status, out, err = wh_on(copy, "verify", SERVER, "--json")
    verification = json.loads(out)
    assert (status, verification["state"]) == (code, state)
    assert len(verification["problems"]) == len(files)
    for file in files:
        assert any(file in problem for problem in verification["problems"])
        assert file in err


def test_another_bundle_s_damage_and_a_file_that_no_manifest_lists_are_not_this_number_s(copy: Project, server: Lineage, wh_on: WhOn) -> None:
    single_stream = cell("SingleStream", EDGE)
    one_byte_changed(bundle_of(copy, server))
    (bundle_of(copy, lineage(copy, single_stream)) / "files" / "notes.txt").write_text("not in the record")
    status, out, _ = wh_on(copy, "verify", single_stream)
    assert status == 0 and "\n  verified: " in out


def test_lineage_does_not_look_for_damage(copy: Project, server: Lineage, wh_on: WhOn) -> None:
    bundle_missing(bundle_of(copy, server))
    assert wh_on(copy, "lineage", SERVER)[0] == 0


def test_a_built_number_is_verified_too(copy: Project, server: Lineage, wh_on: WhOn) -> None:
    unpublish(open_store(copy))
    one_byte_changed(bundle_of(copy, server))
    status, out, _ = wh_on(copy, "verify", SERVER)
    assert status == ExitCode.TAMPERED and "\n  tampered: " in out


@pytest.mark.exhaustive  # test_store_places.py mends bundles in each kind of store
def test_ingesting_again_mends_a_missing_bundle(copy: Project, server: Lineage, tmp_path: Path, wh_on: WhOn) -> None:
    bundle_missing(bundle_of(copy, server))
    evidence = mlperf_inference.write_submission(tmp_path / "again")
    ingest(plan_ingest(evidence, load_ingestors(copy).values()), open_store(copy), "test")
    assert wh_on(copy, "verify", SERVER)[0] == 0


def edited(path: Path, old: bytes, new: bytes) -> None:
    path.chmod(0o644)
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


def rows_changed(copy: Project) -> None:
    (publication,) = publications(copy)
    edited(folder_of(publication) / "rows.jsonl", b'"llama2-70b-99"', b'"llama2-70b-98"')


def row_cut(copy: Project) -> None:
    (publication,) = publications(copy)
    edited(folder_of(publication) / "rows.jsonl", b'"cells":', b'"cells":,')


def why_set_changed(copy: Project) -> None:
    """Two why-sets change places: each is still a bitmap over the runs."""
    (publication,) = publications(copy)
    first, second = (folder_of(publication) / "why.jsonl").read_bytes().splitlines()[:2]
    one, other = (json.loads(line)["runs"].encode() for line in (first, second))
    edited(folder_of(publication) / "why.jsonl", first, first.replace(one, other))


def run_changed(copy: Project) -> None:
    (publication,) = publications(copy)
    edited(folder_of(publication) / "runs.jsonl", b'"run_id":"', b'"run_id":"x')


def record_changed(copy: Project) -> None:
    (publication,) = publications(copy)
    edited(folder_of(publication) / "publication.json", b'"rows":6', b'"rows":7')


def rows_missing(copy: Project) -> None:
    (publication,) = publications(copy)
    (folder_of(publication) / "rows.jsonl").unlink()


def record_cut(copy: Project) -> None:
    (publication,) = publications(copy)
    (folder_of(publication) / "publication.json").write_bytes(b'{"query"')


def spec_changed(copy: Project) -> None:
    (path,) = (copy.store_root / "specs").iterdir()
    edited(path, b"sample_throughput_per_s", b"sample_throughput_per_m")


def spec_missing(copy: Project) -> None:
    (path,) = (copy.store_root / "specs").iterdir()
    path.unlink()


@pytest.mark.parametrize(
    "damage",
    few([rows_changed, row_cut, rows_missing, why_set_changed, run_changed, record_changed, record_cut, spec_changed, spec_missing], 4),
    ids=lambda damage: damage.__name__,
)
def test_a_damaged_publication(damage: Callable[[Project], None], copy: Project, server: Lineage, wh_on: WhOn) -> None:
    damage(copy)
    status, out, err = wh_on(copy, "lineage", str(server.number_id))
    assert status != 0
    assert (out, err[:5]) == ("", "WH307")
    if damage in (rows_changed, row_cut, why_set_changed, run_changed, record_changed):
        assert status == ExitCode.TAMPERED
