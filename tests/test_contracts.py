"""The contract document and the BenchmarkRun generator. What is expected comes from the contract's own text and from files that are read here."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from conftest import REPOSITORY, WhOn
from samples.recording import write_recording
from standard import standard_project

import warehouse
from warehouse.analysis.contracts.document import contracts_document, document_bytes
from warehouse.cli.main import main
from warehouse.errors import ExitCode, WarehouseError
from warehouse.landing.declaration.generator import FIELDS, render_benchmark_run
from warehouse.landing.declaration.judged import judged
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.transform.build.build import build

# "Canonical Curated Tables" of the contract.
NINE = {
    "benchmark_run_fact", "serving_outcome_fact", "training_outcome_fact", "telemetry_slice_fact", "software_version_dim",
    "hardware_topology_dim", "cluster_region_dim", "workload_dim", "artifact_lineage_dim",
}
# "Core identifiers" of the contract.
IDENTIFIERS = {
    "run_id", "benchmark_case_id", "workload_spec_digest", "artifact_manifest_digest", "query_spec_digest", "scheduler_run_id", "job_uid",
    "pod_uid", "node_name", "gpu_uuid", "rank_id", "request_id", "trace_id",
}
STATED: dict[str, Any] = {
    "name": "nightly", "benchmarkClass": "realism_grade", "workloadType": "inference", "schedulerPath": "slinky-kueue", "cadence": "pre_release",
    "model": "lab/decoder-7b", "precision": "fp8", "batchingPolicy": "continuous", "concurrencyModel": "closed_loop",
    "comparisonVariable": "driver_stack", "inputTokens": 1024, "outputTokens": 128, "layer": "component", "suite": "serve",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The standard project with recorded runs, built. Tests leave it as it is."""
    root = tmp_path_factory.mktemp("contracts")
    project = standard_project(root / "project")
    write_recording(root / "results", "01KG8Q3V5T2M4N6P8R0S1W3X5Y")
    assert main(["--project", str(project.root), "ingest", str(root / "results")]) == 0
    build(project)
    return project


@pytest.fixture(scope="module")
def document(project: Project) -> dict[str, Any]:
    return contracts_document(project)


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    """One table with a unit and tests and one without rows; nothing is built."""
    project = init_project(tmp_path / "bare", bare=True)
    (project.root / "models").mkdir(exist_ok=True)
    (project.root / "models" / "reading.sql").write_text(
        "/*\ndescription: One row per sensor\ngrain: [sensor]\ncolumns:\n  sensor: {type: varchar, description: Its name, tests: [not_null]}\n"
        "  power_w: {type: double, unit: W, description: Mean}\n*/\nselect 'a' as sensor, 1.5::double as power_w\n"
    )
    (project.root / "models" / "nothing.sql").write_text("select sensor from reading where power_w > 2\n")
    return project


def test_the_canonical_tables_are_the_nine_of_the_contract(document: dict[str, Any]) -> None:
    assert [each["name"] for each in document["tables"] if each["is_canonical"]] == sorted(f"main.{name}" for name in NINE)
    assert {each["name"].partition(".")[0] for each in document["tables"]} == {"main", "mart", "rollup"}


def test_tables_have_the_columns_of_the_build_and_what_their_headers_state(project: Project, document: dict[str, Any]) -> None:
    con = duckdb.connect(str(project.builds / "current.duckdb"), read_only=True)
    with con:
        for table in document["tables"]:
            built = con.execute(f"describe {table['name']}").fetchall()
            own = [(name, kind) for name, kind, *_ in built if name not in ("query_spec_digest", "number_ids")]
            assert [(each["name"], each["type"]) for each in table["columns"]] == own, table["name"]
            has_rows = con.execute(f"select count(*) from {table['name']}").fetchone() != (0,)
            assert ({"what": "table", "name": table["name"], "reason": "it has no rows in the current build"} in document["missing"]) != has_rows
        metrics = con.execute("select metric, version, definition, unit, better from metric_definition_dim").fetchall()
    assert {tuple(each.values()) for each in map(_in_order, document["metric_definitions"])} == set(metrics)
    header = yaml.safe_load((REPOSITORY / "models/facts/step_fact.sql").read_text().split("/*")[1].split("*/")[0])
    (step,) = (each for each in document["tables"] if each["name"] == "main.step_fact")
    assert step["grain"] == header["grain"]
    assert {each["name"]: each["unit"] for each in step["columns"]} == {name: column.get("unit") for name, column in header["columns"].items()}


def _in_order(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("metric", "version", "definition", "unit", "better")}


def test_identifiers_labels_and_tiers_are_those_of_the_contract(document: dict[str, Any]) -> None:
    found = {each["name"]: each for each in document["identifiers"]}
    assert found.keys() == IDENTIFIERS | {"number_id"}
    assert "main.benchmark_run_fact" in found["run_id"]["tables"] and "main.workload_dim" not in found["run_id"]["tables"]
    assert found["number_id"]["tables"] == found["query_spec_digest"]["tables"] == [
        each["name"] for each in document["tables"] if each["name"].startswith("rollup.")
    ]
    hot = {key: value for key, value in document["hot_metrics"].items() if key != "metrics"}  # test_hot_metrics looks at these
    assert hot == {
        "store": "prometheus", "retention_days": 30, "max_active_series": 2_000_000,
        "allowed_labels": [
            "run_id", "benchmark_case_id", "cluster", "region", "node_pool", "gpu_model", "scheduler_path", "concurrency_bucket",
        ],
        "forbidden_labels": ["request_id", "trace_id", "prompt_hash", "arbitrary_user_label"],
    }
    assert [(each["tier"], each["days"]) for each in document["retention_tiers"]] == [("hot", 30), ("warm", 180), ("cold", 730)]
    assert document["retention_tiers"][1]["tables"] == ["main.request_fact", "main.step_fact"]


def test_policies_and_ingestors_are_those_of_the_files(document: dict[str, Any]) -> None:
    policies = {each["name"]: each for each in document["gate_policies"]}
    files = {path.stem: tomllib.loads(path.read_text()) for path in (REPOSITORY / "queries/policies").glob("*.toml")}
    assert {name: each["version"] for name, each in policies.items()} == {name: each["version"] for name, each in files.items()}
    assert policies["default"]["rules"] == files["default"]["rule"]
    own, inherited = ({rule["id"] for rule in files[name]["rule"]} for name in ("serving", "default"))
    assert {rule["id"] for rule in policies["serving"]["rules"]} == own | inherited
    modules = [path for name in ("__init__.py", "format.toml") for path in (REPOSITORY / "ingest").glob(f"*/{name}")]
    folders = {path.parent.name for path in modules if not path.parent.name.startswith(("_", "."))}
    assert {each["name"] for each in document["ingestors"] if each["origin"] == "standard"} == folders | {"log_rules"}
    assert all(each["version"] and each["formats"] for each in document["ingestors"])
    assert all(each["tables"] for each in document["ingestors"])


def test_playbooks_are_those_of_the_files(document: dict[str, Any]) -> None:
    checks = {check["name"] for playbook in document["playbooks"] for check in playbook["checks"]}
    assert checks == {path.stem for path in (REPOSITORY / "queries/playbooks").glob("*.sql")}
    assert {"tail_latency_regression", "distributed_straggler"} <= {playbook["name"] for playbook in document["playbooks"]}  # the seed's names
    assert all(check["description"] and check["evidence"] for playbook in document["playbooks"] for check in playbook["checks"])


def test_what_is_missing_is_said(bare: Project) -> None:
    before = contracts_document(bare)
    assert before["build_digest"] is None and before["metric_definitions"] == before["playbooks"] == []
    missing = {(each["what"], each["name"]) for each in before["missing"]}
    assert missing >= {("table", name) for name in NINE} | {("identifier", name) for name in IDENTIFIERS}
    assert missing >= {("build", "current"), ("contract", "metric_definitions"), ("contract", "playbooks")}
    built = build(bare)
    after = contracts_document(bare)
    assert after["build_digest"] == built.build.digest
    assert {"what": "table", "name": "main.nothing", "reason": "it has no rows in the current build"} in after["missing"]
    assert not {("build", "current"), ("table", "main.reading")} & {(each["what"], each["name"]) for each in after["missing"]}
    (table,) = (each for each in after["tables"] if each["name"] == "main.reading")
    assert table["columns"][1] == {"name": "power_w", "type": "DOUBLE", "unit": "W", "description": "Mean"}
    assert [each["column"] for each in table["tests"] if each["name"] == "reading.sensor_not_null"] == ["sensor"]


def test_a_damaged_build_is_an_error_and_not_an_absent_one(bare: Project) -> None:
    database = build(bare).build.path
    database.chmod(0o644)
    database.write_bytes(database.read_bytes()[:4096])
    with pytest.raises(WarehouseError) as caught:
        contracts_document(bare)
    assert caught.value.code == "WH218"


def test_every_surface_has_the_same_bytes(project: Project, document: dict[str, Any], wh_on: WhOn) -> None:
    status, out, _ = wh_on(project, "contracts", "--json")
    assert status == 0 and out.encode() == document_bytes(document) + b"\n"
    assert document_bytes(warehouse.open(project.root).contracts()) == document_bytes(document)
    assert json.loads(out) == document
    assert str(project.root) not in out and str(REPOSITORY) not in out


def test_bytes_change_with_a_promise_and_not_with_the_clock(bare: Project) -> None:
    before = document_bytes(contracts_document(bare))
    assert document_bytes(contracts_document(read_project(bare.root))) == before
    model = bare.root / "models" / "reading.sql"
    model.write_text(model.read_text().replace("unit: W", "unit: kW"))
    assert document_bytes(contracts_document(bare)) != before


def test_the_summary_names_tables_and_what_is_missing(project: Project, wh_on: WhOn) -> None:
    status, out, _ = wh_on(project, "contracts")
    assert status == 0
    (line,) = (line for line in out.splitlines() if line.startswith("main.training_outcome_fact "))
    assert line.split()[1] == "yes" and line.endswith("it has no rows in the current build")
    assert "missing: contract" not in out


# --- the generator -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workload_type", ["training", "inference", "mixed"])
@pytest.mark.parametrize("grade", ["publication_grade", "realism_grade"])
@pytest.mark.parametrize("layer", ["micro", "component", "end_to_end"])
def test_what_is_rendered_keeps_every_rule(bare: Project, workload_type: str, grade: str, layer: str) -> None:
    stated = {**STATED, "workloadType": workload_type, "benchmarkClass": grade, "layer": layer}
    declaration = judged(render_benchmark_run(bare, stated).text.encode())
    assert declaration.faults == () and declaration.terms
    assert declaration.terms.benchmark_grade == grade and declaration.terms.grade_reason is None
    assert (declaration.terms.model, declaration.terms.precision, declaration.terms.cadence) == ("lab/decoder-7b", "fp8", "pre_release")


def test_wh_validate_passes_what_wh_contracts_renders(project: Project, wh_on: WhOn, tmp_path: Path) -> None:
    words = [f"{name}={value}" for name, value in {**STATED, "command": "make serve: yes # all", "minReplicates": 7}.items()]
    status, out, _ = wh_on(project, "contracts", "render", *words)
    assert status == 0
    file = tmp_path / "benchmark_run.yaml"
    file.write_text(out)
    status, verdict, err = wh_on(project, "validate", str(file), "--json")
    assert status == 0, err
    _, as_json, _ = wh_on(project, "contracts", "render", *words, "--json")
    assert json.loads(as_json)["declared_spec_digest"] == json.loads(verdict)["declared_spec_digest"]
    assert json.loads(as_json)["rendered_yaml"] == out
    spec = yaml.safe_load(out)["spec"]
    assert spec["layers"][1] == {"name": "component", "enabled": True, "suites": [{"name": "serve", "repoCommand": "make serve: yes # all"}]}
    assert spec["workload"]["sequenceLengthMix"] == [{"inputTokens": 1024, "outputTokens": 128, "weight": 1.0}]
    assert spec["trials"]["minReplicates"] == 7 and spec["trials"]["confidenceLevel"] == 0.95
    assert spec["observability"]["telemetrySources"]["scheduler"] == ["kubernetes_events", "kueue", "slinky"]
    assert spec["automation"]["ci"] == {"canary": False, "nightly": False, "preRelease": True}
    assert spec["sinks"]["curatedWarehouse"]["retention"] == {"hotDays": 30, "warmDays": 180, "coldDays": 730}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"benchmarkClass": "publication"}, "benchmarkClass is 'publication': expected one of publication_grade, realism_grade"),
        ({"workloadType": "serving"}, "workloadType is 'serving': expected one of training, inference, mixed"),
        ({"cadence": "weekly"}, "cadence is 'weekly': expected one of canary, nightly, pre_release"),
        ({"comparisonVariable": "batching_policy"}, "comparisonVariable is 'batching_policy': expected one of hardware_generation, "),
        ({"layer": "all"}, "layer is 'all': expected one of micro, component, end_to_end"),
        ({"minReplicates": 2}, "minReplicates is 2: expected a whole number of at least 3"),
        ({"minReplicates": "3.5"}, "minReplicates is '3.5': expected a whole number"),
        ({"minReplicates": 3.5}, "minReplicates is 3.5: expected a whole number"),
        ({"confidenceLevel": 1}, "confidenceLevel is 1: expected a number of at least 0.8, less than 1"),
        ({"confidenceLevel": "nan"}, "confidenceLevel is 'nan': expected a number"),
        ({"inputTokens": -1}, "inputTokens is -1: expected a whole number of at least 0"),
        ({"inputTokens": True}, "inputTokens is True: expected a whole number"),
        ({"model": ""}, "model is '': expected text"),
        ({"model": ["a"]}, "model is ['a']: expected text"),
        ({"modle": "a"}, "there is no field 'modle'"),
    ],
)
def test_a_field_or_value_that_is_not_allowed_is_refused(bare: Project, change: dict[str, Any], says: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        render_benchmark_run(bare, {**STATED, **change})
    assert (caught.value.code, caught.value.exit_code) == ("WH131", ExitCode.USAGE)
    assert caught.value.message.startswith(says)


def test_every_missing_field_is_named_at_once(bare: Project, wh_on: WhOn) -> None:
    status, out, err = wh_on(bare, "contracts", "render", "modle=a")
    assert (status, out) == (ExitCode.USAGE, "") and "did you mean model?" in err
    assert all(f"{name} is missing" in err for name in STATED)


def test_only_training_needs_no_output_tokens(bare: Project) -> None:
    stated = {name: value for name, value in STATED.items() if name != "outputTokens"}
    text = render_benchmark_run(bare, {**stated, "workloadType": "training"}).text
    assert yaml.safe_load(text)["spec"]["workload"]["sequenceLengthMix"] == [{"inputTokens": 1024, "weight": 1.0}]
    with pytest.raises(WarehouseError, match="outputTokens is missing"):
        render_benchmark_run(bare, stated)


def test_the_document_lists_the_fields_of_the_generator(bare: Project) -> None:
    fields = {each["name"]: each for each in contracts_document(bare)["generator"]["fields"]}
    assert set(STATED) <= set(fields) == {field.name for field in FIELDS}
    assert fields["benchmarkClass"]["choices"] == ["publication_grade", "realism_grade"] and fields["model"]["default"] is None
    assert warehouse.open(bare.root).render_benchmark_run(**STATED) == render_benchmark_run(bare, STATED).text


@pytest.mark.parametrize("words", [["print"], ["render", "model"], ["render", "model=a", "model=b"]])
def test_words_that_mean_nothing_are_refused(bare: Project, wh_on: WhOn, words: list[str]) -> None:
    status, out, err = wh_on(bare, "contracts", *words)
    assert (status, out) == (ExitCode.USAGE, "") and "Usage: wh contracts" in err
