"""Declarations beside evidence: into which bundles they go, what runs take from them, and that numbers stay provable.

The project is the standard models that say what a run is, with one family of evidence.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from conftest import WhOn
from samples import bench_serving as sample
from samples.declaration import Document, benchmark_run, changed, workload_spec, write
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.claims.publish.publish import publish
from warehouse.claims.verify.verification import verify_number
from warehouse.digest import workload_spec_digest
from warehouse.errors import ExitCode
from warehouse.evidence.objects.location import open_store
from warehouse.evidence.store import raw_key
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import BundleDraft, DraftFile
from warehouse.landing.declaration.placing import ROLE, find_declarations, with_declarations
from warehouse.landing.ingest import Plan, ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.making import init_project
from warehouse.project.project import Project, standard_folder
from warehouse.transform.build.build import build
from warehouse.transform.testing.equivalence import check_equivalence

# --- into which bundles -------------------------------------------------------------------------------------------


def placed(tmp_path: Path, files: dict[str, str | None], declarations: list[str]) -> dict[str, str]:
    """The declarations that a bundle of these files, by path and the raw_path that its ingestor gives, gets: raw_path to path."""
    for path in (*files, *declarations):
        write(tmp_path / path, benchmark_run())
    tree = list_tree(tmp_path)
    draft = BundleDraft(tuple(DraftFile(raw_path or path, tree.files[path]) for path, raw_path in files.items()))
    found = with_declarations(draft, [tree.files[path] for path in find_declarations(tree, declarations)])
    return {file.raw_path: file.file.path for file in found.files if file.role == ROLE}


PLACES: dict[str, tuple[dict[str, str | None], list[str], dict[str, str]]] = {
    "beside": ({"a/r.json": "r.json"}, ["a/benchmark_run.yaml"], {"benchmark_run.yaml": "a/benchmark_run.yaml"}),
    "above": ({"a/b/r.json": "r.json"}, ["benchmark_run.yaml"], {"benchmark_run.yaml": "benchmark_run.yaml"}),
    "the nearest above": (
        {"a/b/r.json": None}, ["benchmark_run.yaml", "a/benchmark_run.yaml"], {"benchmark_run.yaml": "a/benchmark_run.yaml"}
    ),
    "one of each kind": (
        {"a/r.json": None}, ["benchmark_run.yaml", "a/decode_workload_spec.yml"],
        {"benchmark_run.yaml": "benchmark_run.yaml", "decode_workload_spec.yml": "a/decode_workload_spec.yml"},
    ),
    "in a run's folder of the bundle": (
        {"a/recording.json": "recording.json", "a/run-01/run.json": "run-01/run.json", "a/run-02/run.json": "run-02/run.json"},
        ["a/run-02/benchmark_run.yaml"], {"run-02/benchmark_run.yaml": "a/run-02/benchmark_run.yaml"},
    ),
    "in a folder that the bundle calls otherwise": (
        {"x/systems/s.json": "lab/systems/s.json", "x/results/s/log": "lab/results/s/log"},
        ["x/results/benchmark_run.yaml"], {"lab/results/benchmark_run.yaml": "x/results/benchmark_run.yaml"},
    ),
    "in a folder that the bundle does not name": ({"x/a/l": "l", "x/b/m": "m"}, ["x/a/benchmark_run.yaml"], {}),
    "elsewhere": ({"a/r.json": None}, ["b/benchmark_run.yaml", "aa/benchmark_run.yaml"], {}),
    "the nearest above, by another name": (
        {"a/r.json": None}, ["benchmark_run.yaml", "a/benchmark-run.yml"], {"benchmark-run.yml": "a/benchmark-run.yml"}
    ),
    "under any name": ({"a/r.json": None}, ["a/nightly.yaml"], {"nightly.yaml": "a/nightly.yaml"}),
    "where another file is": ({"a/r.json": "benchmark_run.yaml"}, ["a/benchmark_run.yaml"], {}),
    "another YAML": ({"a/r.json": None}, ["a/values.json"], {}),
}


@pytest.mark.parametrize("case", PLACES)
def test_a_declaration_goes_with_what_lies_in_its_folder(case: str, tmp_path: Path) -> None:
    files, declarations, expected = PLACES[case]
    assert placed(tmp_path, files, declarations) == expected


# --- what runs take from them -------------------------------------------------------------------------------------

STANDARD = (
    "ingest/bench_serving", "ingest/prices", *(f"models/facts/{name}.sql" for name in ("benchmark_run_fact", "ingest_issue", "serving_configuration_fact")),
    *(f"models/dims/{name}.sql" for name in ("workload_dim", "software_version_dim", "hardware_topology_dim", "cluster_region_dim")),
    "models/reference/known_accelerator.sql", "models/reference/accelerator_rule.sql",
    *(f"models/staging/{name}_accelerator.sql" for name in ("stated", "named")),
    "models/staging/stated_run.sql", "models/staging/serving_named.sql",
    *(f"models/staging/run_{name}.sql" for name in ("bundle", "cluster", "declaration", "file", "hardware", "outcome", "software", "statement", "workload")),
    *(f"models/staging/bench_serving/bench_serving_{name}.sql" for name in ("benchmark_run", "configuration", "hardware", "metric", "software", "workload")),
)
CLAIM = """/*
grain: [run_id]
*/
select run_id, scheduler_path, duration_s
from benchmark_run_fact
where benchmark_grade = 'publication_grade'
"""
POLICY = "spec.executionPolicy.publicationGrade"
LOST = changed(benchmark_run(), {f"{POLICY}.dedicatedNodes": False, f"{POLICY}.fixedTopology": False})
PUBLICATION_SPEC = workload_spec(run_metadata__benchmark_grade="publication", workload__model={"name": "Qwen/Qwen3-8B"})
# Folder to its declarations by name; a result of the folder's name lies in each.
FOLDERS: dict[str, dict[str, Document]] = {
    "valid": {"benchmark_run.yaml": benchmark_run()},
    "lost": {"benchmark_run.yaml": LOST},
    "broken": {"benchmark_run.yaml": changed(LOST, {"spec.trials.confidenceLevel": 2, "spec.workload.model": ""})},
    "spec": {"workload_spec.yaml": workload_spec()},
    "unbacked": {"workload_spec.yaml": PUBLICATION_SPEC},
    "both": {"benchmark_run.yaml": benchmark_run(), "my_workload_spec.yaml": PUBLICATION_SPEC},
    "twice": {"benchmark_run.yaml": benchmark_run(), "other.yml": benchmark_run(spec__intent__cadence="canary")},
    "plain": {},
}


def take_in(project: Project, tree: Path) -> Plan:
    plan = plan_ingest(tree, load_ingestors(project).values())
    report = ingest(plan, open_store(project), "test")
    assert not report.problems and not any(bundle.problems for bundle in report.bundles)
    return plan


def result(path: Path, **changes: Any) -> None:
    sample.write(path, sample.vllm_record(sample.requests(3), detailed=False, **changes))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Built in two steps, so that the tables that are kept by key are brought up to date."""
    root = tmp_path_factory.mktemp("declared")
    project = init_project(root / "project", bare=True)
    for name in STANDARD:
        source, target = standard_folder() / name, project.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    (project.root / "queries" / "claim.sql").write_text(CLAIM)
    for folder, declarations in FOLDERS.items():
        result(root / "first" / folder / f"{folder}.json")
        for name, document in declarations.items():
            write(root / "first" / folder / name, document)
    plan = take_in(project, root / "first")
    assert not plan.leftovers and len(plan.recognised) == len(FOLDERS)
    build(project)
    for concurrency in (1, 2):
        result(root / "second/sweep" / f"c{concurrency}" / f"sweep{concurrency}.json", max_concurrency=concurrency)
    write(root / "second/sweep/benchmark_run.yaml", benchmark_run(grade="realism_grade"))
    write(root / "second/templates/benchmark_run.yaml", benchmark_run())
    (leftover,) = take_in(project, root / "second").leftovers
    assert leftover.file.path == "templates/benchmark_run.yaml" and "run declaration" in str(leftover.reason)
    build(project)
    return Warehouse(project)


@pytest.fixture(scope="module")
def runs(warehouse: Warehouse) -> dict[str, dict[str, Any]]:
    """The row of each run beside that of its workload, by the name of its file."""
    rows = warehouse.sql(
        "select run.*, workload.* exclude (workload_spec_digest) from benchmark_run_fact as run"
        " left join workload_dim as workload using (workload_spec_digest)"
    ).to_pylist()
    found = {row["raw_folder"].removesuffix(".json"): row for row in rows}
    assert found.keys() == {*FOLDERS, "sweep1", "sweep2"}
    return found


@pytest.fixture(scope="module")
def issues(warehouse: Warehouse) -> dict[str, list[dict[str, Any]]]:
    """Of each run's bundle."""
    found = defaultdict(list)
    rows = warehouse.sql(
        "select run.raw_folder, issue.* from ingest_issue as issue join benchmark_run_fact as run using (artifact_manifest_digest)"
        " where issue.code <> 'unknown-key' order by issue.raw_path, issue.issue_number"
    )
    for row in rows.to_pylist():
        found[row["raw_folder"].removesuffix(".json")].append(row)
    return found


def taken(row: dict[str, Any], *columns: str) -> tuple[Any, ...]:
    return tuple(row[column] for column in columns)


GRADE = ("intent", "cadence", "benchmark_grade", "scheduler_path")


def test_a_valid_declaration_fills_what_a_run_says_of_itself(runs: dict[str, dict[str, Any]], issues: dict[str, Any]) -> None:
    row = runs["valid"]
    assert taken(row, *GRADE, "grade_reason") == ("publication", "nightly", "publication_grade", "slurm", None)
    assert taken(row, "model", "precision", "protocol", "batching_policy") == ("lab/decoder-7b", "fp8", "open_loop", "continuous")
    assert row["prompt_distribution"] == "256@0.5, 2048@0.5"
    assert row["concurrency_point"] == 10  # of the evidence: the declaration says nothing of it
    # The evidence is of another model than was declared.
    assert [(issue["code"], issue["message"]) for issue in issues["valid"]] == [
        ("declaration-disagrees", "declared is the model lab/decoder-7b, the evidence states Qwen/Qwen3-8B")
    ]


def test_a_run_without_one_is_as_it_was(runs: dict[str, dict[str, Any]], issues: dict[str, Any]) -> None:
    row = runs["plain"]
    assert taken(row, *GRADE, "grade_reason", "declared_spec_digest") == (None,) * 6
    assert '"declared"' not in row["workload_document"] and row["model"] == "Qwen/Qwen3-8B"
    assert not issues["plain"]


def test_the_workload_is_what_was_declared_and_what_the_evidence_states(runs: dict[str, dict[str, Any]]) -> None:
    document = json.loads(runs["valid"]["workload_document"])
    declared = benchmark_run()
    assert document["declared"] == [{key: declared[key] for key in ("apiVersion", "kind", "spec")}]
    assert document["stated"] == json.loads(runs["plain"]["workload_document"])
    assert runs["valid"]["workload_spec_digest"] == workload_spec_digest(document)
    assert runs["valid"]["declared_spec_digest"] == workload_spec_digest(document["declared"][0])


def test_runs_of_one_declaration_that_differ_are_different_workloads(runs: dict[str, dict[str, Any]]) -> None:
    one, two = runs["sweep1"], runs["sweep2"]
    assert one["declared_spec_digest"] == two["declared_spec_digest"] is not None
    assert one["workload_spec_digest"] != two["workload_spec_digest"]
    assert (one["concurrency_point"], two["concurrency_point"]) == (1, 2)
    assert taken(one, *GRADE) == (None, "nightly", "realism_grade", "slurm")


def test_publication_grade_without_its_guarantees_is_downgraded_and_flagged(
    runs: dict[str, dict[str, Any]], issues: dict[str, Any]
) -> None:
    row = runs["lost"]
    assert taken(row, *GRADE) == ("publication", "nightly", "realism_grade", "slurm")
    assert f"{POLICY}.dedicatedNodes" in row["grade_reason"] and f"{POLICY}.fixedTopology" in row["grade_reason"]
    told = [issue for issue in issues["lost"] if issue["code"] == "grade-downgraded"]
    assert [(issue["severity"], issue["raw_path"]) for issue in told] == [("warning", "benchmark_run.yaml")] * 2
    assert all(issue["line_number"] > 1 and POLICY in issue["message"] for issue in told)


def test_a_broken_declaration_says_nothing_and_loses_nothing(runs: dict[str, dict[str, Any]], issues: dict[str, Any]) -> None:
    broken, plain = runs["broken"], runs["plain"]
    own = ("run_id", "artifact_manifest_digest", "raw_folder", "outcome_digest")
    assert {key: value for key, value in broken.items() if key not in own} == {key: value for key, value in plain.items() if key not in own}
    told = {issue["message"].partition(":")[0]: issue for issue in issues["broken"]}
    assert {"spec.trials.confidenceLevel", "spec.workload.model", f"{POLICY}.dedicatedNodes"} <= told.keys()
    assert all((issue["code"], issue["severity"], issue["raw_path"]) == ("declaration-not-valid", "error", "benchmark_run.yaml") for issue in told.values())
    assert all(issue["line_number"] > 1 for issue in told.values())


def test_a_workload_spec(runs: dict[str, dict[str, Any]], issues: dict[str, Any]) -> None:
    assert taken(runs["spec"], *GRADE, "grade_reason") == ("validation", "nightly", "realism_grade", "slurm", None)
    assert taken(runs["spec"], "deployment_model", "concurrency_point") == ("deployment_per_gpu", 8)
    assert runs["spec"]["declared_spec_digest"] == workload_spec_digest(workload_spec())
    assert runs["unbacked"]["benchmark_grade"] == "realism_grade" and "BenchmarkRun beside it" in runs["unbacked"]["grade_reason"]
    assert [(issue["code"], issue["line_number"]) for issue in issues["unbacked"]] == [("grade-downgraded", 3)]


def test_a_workload_spec_rests_on_the_benchmark_run_beside_it(runs: dict[str, dict[str, Any]]) -> None:
    row = runs["both"]
    assert taken(row, *GRADE, "grade_reason") == ("publication", "nightly", "publication_grade", "slurm", None)
    assert taken(row, "protocol", "deployment_model") == ("openai_compatible_http", "deployment_per_gpu")
    assert row["declared_spec_digest"] == workload_spec_digest(PUBLICATION_SPEC)


def test_of_two_of_one_kind_none_counts(runs: dict[str, dict[str, Any]], issues: dict[str, Any]) -> None:
    assert taken(runs["twice"], *GRADE) == (None,) * 4
    assert [(issue["code"], issue["raw_path"]) for issue in issues["twice"]] == [
        ("declarations-compete", "benchmark_run.yaml"), ("declarations-compete", "other.yml")
    ]


def test_the_same_evidence_is_the_same_execution_however_it_was_declared(runs: dict[str, dict[str, Any]]) -> None:
    """A declaration is no run's own file."""
    assert runs["valid"]["outcome_digest"] == runs["plain"]["outcome_digest"] is not None


def test_tables_brought_up_to_date_are_as_built_from_nothing(warehouse: Warehouse) -> None:
    compared = {table.name: table.difference for table in check_equivalence(warehouse.project)}
    assert compared["main.benchmark_run_fact"] is None and set(compared.values()) == {None}


def test_a_number_of_a_declared_run_is_replayed_and_a_changed_declaration_is_found(
    warehouse: Warehouse, runs: dict[str, dict[str, Any]], wh_on: WhOn
) -> None:
    project = warehouse.project
    publish(project, "claim")
    number = f"claim[run_id={runs['valid']['run_id']}]"
    assert verify_number(project, f"{number}.scheduler_path").state == "verified"
    (file,) = warehouse.lineage(f"{number}.scheduler_path").raw_files
    assert file.raw_path == "benchmark_run.yaml"  # where the published word stands
    path = project.store_root / raw_key(runs["valid"]["artifact_manifest_digest"], "benchmark_run.yaml")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"slurm", b"kueue"))
    for column in ("scheduler_path", "duration_s"):  # also what does not stand in it
        status, _, err = wh_on(project, "verify", f"{number}.{column}")
        assert status == ExitCode.TAMPERED and "WH105" in err and "benchmark_run.yaml" in err


def test_a_recording_takes_its_declaration_along(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    write(tmp_path / "nightly.yaml", benchmark_run())
    command = ("--", sys.executable, "-c", "pass")
    status, out, err = wh_on(project, "record", "--declaration", str(tmp_path / "nightly.yaml"), *command)
    assert status == 0, err
    manifest = open_store(project).manifest(out.strip())
    assert [(file.raw_path, file.bytes) for file in manifest.files if file.role == ROLE] == [
        ("benchmark_run.yaml", (tmp_path / "nightly.yaml").stat().st_size)
    ]
    write(tmp_path / "broken.yaml", changed(benchmark_run(), {"spec.intent.workloadType": "sometimes"}))
    assert wh_on(project, "record", "--declaration", str(tmp_path / "broken.yaml"), *command)[0] == ExitCode.FAILED
    assert wh_on(project, "record", "--declaration", str(tmp_path / "none.yaml"), *command)[0] == ExitCode.USAGE
    assert open_store(project).digests() == [manifest.digest]
