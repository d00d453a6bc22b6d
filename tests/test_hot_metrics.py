"""Hot metrics: what is exported, under which names and labels, and what is refused. The exposition is read with Prometheus' own client."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from conftest import REPOSITORY, WhBytes, WhOn
from prometheus_client.parser import text_string_to_metric_families
from samples import bench_serving, fabric_check, mlperf_training
from samples.bench_serving import measures, requests, vllm_record
from samples.values import take_in, value_files
from standard import standard_project
from test_gate import made, query, runs

from warehouse.analysis.contracts.document import contracts_document
from warehouse.claims.publish.corrections import withdraw
from warehouse.claims.publish.publish import publish
from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.making import init_project
from warehouse.project.project import Project, read_project
from warehouse.surfaces.hot_metrics.exposition import exposition
from warehouse.transform.build.build import build
from warehouse.transform.check.project_check import check_project

# "Hot operational metrics" of the contract.
LABELS = {"run_id", "benchmark_case_id", "cluster", "region", "node_pool", "gpu_model", "scheduler_path", "concurrency_bucket"}
NOW = datetime(2026, 3, 1, tzinfo=UTC)
RUNS = (
    "/*\nrole: runs\n*/\nselect * from (values ('new', '2026-02-20T00:00:00Z'::timestamptz), ('newer', '2026-02-21T00:00:00Z'),"
    " ('old', '2026-01-20T00:00:00Z'), ('undated', null)) as run (run_id, started_at)\n"
)
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def read(text: str) -> Samples:
    """Every sample by its metric's name and its labels, sorted."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.type == "gauge" and family.documentation
        for sample in family.samples:
            series = found.setdefault(sample.name, {})
            key = tuple(sorted(sample.labels.items()))
            assert key not in series, (sample.name, key)
            series[key] = sample.value
    return found


def model(columns: dict[str, str], sql: str, grain: str = "run_id") -> str:
    """A model of hot metrics; of each column what its header says."""
    listed = "\n".join(f"  {name}: {{{said}}}" for name, said in columns.items())
    return f"/*\nrole: hot_metrics\ngrain: [{grain}]\ncolumns:\n{listed}\n*/\n{sql}\n"


def bare(root: Path, toml: str = "", **models: str) -> Project:
    project = init_project(root, bare=True)
    for name, text in {"run": RUNS, **models}.items():
        (project.root / "models").mkdir(exist_ok=True)
        (project.root / "models" / f"{name}.sql").write_text(text)
    with (project.root / "warehouse.toml").open("a") as file:
        file.write(toml)
    return read_project(project.root)


RUN_ID, TTFT = {"run_id": "type: varchar"}, {"ttft_p99_ms": 'type: double, unit: ms, description: "Time to first token"'}


# --- names, units and values ---------------------------------------------------------------------------------------------------


def test_units_are_converted_to_base_units_as_declared(tmp_path: Path) -> None:
    columns = {
        **RUN_ID, **TTFT,
        "step_s": 'type: double, unit: s, description: "A step"',
        "busy_pct": 'type: double, unit: "%", description: "Busy"',
        "bus_gb_per_s": 'type: double, unit: GB/s, description: "Bandwidth"',
        "tokens_per_s": 'type: bigint, unit: tokens/s, description: "Tokens"',
        "requests": 'type: bigint, description: "Requests"',
        "is_late": 'type: boolean, description: "1: it is late"',
        "ended_at": 'type: timestamptz, unit: UTC, description: "End"',
        "price": 'type: "decimal(9, 2)", unit: USD, description: "Price"',
    }
    sql = (
        "select 'new' as run_id, 887.4::double as ttft_p99_ms, 0.25::double as step_s, 42.5::double as busy_pct, 13.7::double as bus_gb_per_s,"
        " 12::bigint as tokens_per_s, 3::bigint as requests, true as is_late, '2026-02-20T00:00:00.5Z'::timestamptz as ended_at,"
        " 1.25::decimal(9, 2) as price"
    )
    project = bare(tmp_path / "p", acme=model(columns, sql))
    build(project)
    found = read(exposition(project, NOW))
    assert {name: series[(("run_id", "new"),)] for name, series in found.items() if name.startswith("acme")} == {
        "acme_ttft_p99_seconds": 0.8874, "acme_step_seconds": 0.25, "acme_busy_ratio": 0.425, "acme_bus_bytes_per_second": 13.7e9,
        "acme_tokens_per_second": 12, "acme_requests": 3, "acme_is_late": 1, "acme_price_usd": 1.25,
        "acme_ended_timestamp_seconds": datetime(2026, 2, 20, 0, 0, 0, 500_000, UTC).timestamp(),
    }


def test_null_and_what_is_not_finite_give_no_sample(tmp_path: Path) -> None:
    columns = RUN_ID | {"cluster": "type: varchar"} | TTFT | {"errors": 'type: double, description: "Errors"'}
    sql = (
        "select * from (values ('new', null, 5.0::double, null::double), ('newer', '', 'nan', 'inf'), ('undated', 'c', 1, 1))"
        " as t (run_id, cluster, ttft_p99_ms, errors)"
    )
    project = bare(tmp_path / "p", acme=model(columns, sql))
    build(project)
    text = exposition(project, NOW)
    assert read(text)["acme_ttft_p99_seconds"] == {(("run_id", "new"),): 0.005}
    assert "acme_errors" not in text and 'cluster=""' not in text


def test_runs_that_started_before_the_hot_tier_are_left_out(tmp_path: Path) -> None:
    sql = "select run_id, 5.0::double as ttft_p99_ms from run"
    project = bare(tmp_path / "p", acme=model(RUN_ID | TTFT, sql))
    build(project)
    assert {dict(key)["run_id"] for key in read(exposition(project, NOW))["acme_ttft_p99_seconds"]} == {"new", "newer"}
    with (project.root / "warehouse.toml").open("a") as file:
        file.write("\n[retention]\nhot_days = 60\n")
    assert {dict(key)["run_id"] for key in read(exposition(read_project(project.root), NOW))["acme_ttft_p99_seconds"]} == {"new", "newer", "old"}
    (project.root / "models" / "run.sql").write_text("select 'new' as run_id")
    build(read_project(project.root))
    with pytest.raises(WarehouseError, match=r"WH533 models/acme\.sql: no table says when the runs of main\.acme started"):
        exposition(project, NOW)


def test_hostile_label_values_arrive_as_they_are(tmp_path: Path, wh_bytes: WhBytes) -> None:
    values = {
        "quote": 'a"} 1\nwh_forged{x="1', "backslash": "C:\\new\\", "newline": "one\ntwo\r\nthree", "bidi": "\u202eabc\u2066\u200b", "braces": "{a,b}= #",
        "markup": "<script>'", "line separator": "a\u2028b\x85c\x1b[31m", "long": "é" * 2000,
    }
    project = bare(tmp_path / "p")
    (project.root / "values.json").write_text(json.dumps([{"cluster": value, "n": number} for number, value in enumerate(values.values())]))
    columns = {"cluster": "type: varchar", "requests": 'type: bigint, description: "With \\\\ and \\" in it"'}
    (project.root / "models" / "acme.sql").write_text(
        model(columns, "select cluster, n::bigint as requests from read_json('values.json')", grain="cluster")
    )
    build(project)
    text = exposition(project, NOW)
    assert read(text)["acme_requests"] == {(("cluster", value),): number for number, value in enumerate(values.values())}
    (family,) = [family for family in text_string_to_metric_families(text) if family.name == "acme_requests"]
    assert family.documentation == 'With \\ and " in it'
    status, out, err = wh_bytes(project, "metrics")  # a pipe gets the characters themselves: \u is no escape of the format
    assert (status, err) == (0, "") and read(out.decode())["acme_requests"] == read(text)["acme_requests"]


def test_a_nul_does_not_end_the_text(tmp_path: Path) -> None:
    columns = {"cluster": "type: varchar", "requests": 'type: bigint, description: "Requests"'}
    project = bare(tmp_path / "p", acme=model(columns, "select 'a' || chr(0) || 'b' as cluster, 1::bigint as requests", grain="cluster"))
    build(project)
    assert read(exposition(project, NOW))["acme_requests"] == {(("cluster", "a\ufffdb"),): 1}


def test_the_text_is_sorted_and_the_same_each_time(tmp_path: Path) -> None:
    sql = "select run_id, 1.0::double as ttft_p99_ms from run order by run_id desc"
    project = bare(tmp_path / "p", acme=model(RUN_ID | TTFT, sql), another=model(RUN_ID | TTFT, sql))
    build(project)
    text = exposition(project, NOW)
    assert text == exposition(project, NOW) and text.endswith("\n")
    names = re.findall(r"^# TYPE (\S+) gauge$", text, re.MULTILINE)
    assert names == sorted(names) and re.findall(r"^# HELP (\S+) ", text, re.MULTILINE) == names
    assert re.findall(r'^acme_ttft_p99_seconds\{run_id="(\w+)"', text, re.MULTILINE) == ["new", "newer"]


# --- what is refused -----------------------------------------------------------------------------------------------------------

VALUE = 'type: double, description: "A value"'
REFUSED = {
    "forbidden": (RUN_ID | {"request_id": "type: varchar"} | TTFT, "run_id", r"WH229 models/acme\.sql:6:3: the label request_id is forbidden"),
    "not allowed": (RUN_ID | {"tenant": "type: varchar"} | TTFT, "run_id", r"WH229 models/acme\.sql:6:3: the label tenant is not on the allow-list"),
    "no description": (RUN_ID | {"x": "type: double"}, "run_id", r"WH230 .*:6:3: column x has no description"),
    "unit in the name alone": (RUN_ID | {"wait_ms": VALUE}, "run_id", r"WH230 .*:6:3: column wait_ms ends like a unit, ms, and has the unit none"),
    "another unit": (
        RUN_ID | {"wait_ms": 'type: double, unit: s, description: "Wait"'}, "run_id", r"column wait_ms ends like a unit, ms, and has the unit s"
    ),
    "unknown unit": (RUN_ID | {"wait": 'type: double, unit: furlongs, description: "Wait"'}, "run_id", r"has the unit furlongs, whose base unit is not known"),
    "a date": (RUN_ID | {"day": 'type: date, description: "Day"'}, "run_id", r"column day is DATE: neither a label"),
    "no value": (RUN_ID, "run_id", r"it has labels only"),
    "grain": (RUN_ID | {"n": 'type: bigint, description: "N"'}, "n", r"the grain names n, which is not a label"),
    "capital": (RUN_ID | {"Wait": VALUE}, "run_id", r"'Wait' cannot be part of a metric's name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_model_that_cannot_be_exported_is_refused_at_its_line(case: str, tmp_path: Path) -> None:
    columns, grain, message = REFUSED[case]
    types = {name: said.partition("type: ")[2].partition(",")[0] for name, said in columns.items()}
    sql = "select " + ", ".join(f'null::{kind} as "{name}"' for name, kind in types.items())
    project = bare(tmp_path / "p", acme=model(columns, sql, grain))
    with pytest.raises(WarehouseError, match=message) as caught:
        check_project(project).sound()
    assert caught.value.hint


def test_two_models_may_not_have_one_metric_and_none_those_of_the_warehouse(tmp_path: Path) -> None:
    one = model(RUN_ID | {"b_n": VALUE}, "select 'r' as run_id, 1.0::double as b_n")
    two = model(RUN_ID | {"m": VALUE, "n": VALUE}, "select 'r' as run_id, 1.0::double as m, 1.0::double as n")
    with pytest.raises(WarehouseError, match=r"WH230 models/a_b\.sql:2:1: models/a\.sql has the metric a_b_n too"):
        check_project(bare(tmp_path / "p", a=one, a_b=two)).sound()
    with pytest.raises(WarehouseError, match=r"WH230 .*wh_warehouse_\.\.\. are metrics of the warehouse itself"):
        check_project(bare(tmp_path / "q", wh_warehouse=one)).sound()


def test_too_many_series_are_refused_with_the_metric_and_the_label(tmp_path: Path, wh_on: WhOn) -> None:
    columns = RUN_ID | {"cluster": "type: varchar", "region": "type: varchar"} | TTFT
    sql = "select 'new' as run_id, 'c' || i % 7 as cluster, 'r' || i as region, 1.0::double as ttft_p99_ms from range(40) as t (i)"
    small = model(RUN_ID | {"n": 'type: bigint, description: "N"'}, "select 'new' as run_id, 1::bigint as n")
    project = bare(tmp_path / "p", "\n[hot_metrics]\nmax_series = 50\n", acme=model(columns, sql, "cluster, region"), small=small)
    build(project)
    with pytest.raises(WarehouseError) as caught:
        exposition(project, NOW)
    others = len(re.findall(r"wh_warehouse_", json.dumps(contracts_document(project)["hot_metrics"]["metrics"])))
    assert str(caught.value).startswith(
        f"WH531 models/acme.sql: there would be {40 + 1 + others} series, and 50 are allowed; acme_ttft_p99_seconds alone has 40,"
        " and its label region has 40 distinct values\n"
    )
    text = (project.root / "warehouse.toml").read_text()
    (project.root / "warehouse.toml").write_text(text.replace("50", "5000"))
    assert len(read(exposition(read_project(project.root), NOW))["acme_ttft_p99_seconds"]) == 40
    (project.root / "warehouse.toml").write_text(text.replace("50", "0"))
    assert "WH002 warehouse.toml" in wh_on(project, "metrics")[2]


def test_two_rows_of_one_series_are_refused(tmp_path: Path) -> None:
    columns = RUN_ID | {"cluster": "type: varchar"} | TTFT
    sql = "select * from (values ('new', null, 1.0::double), ('new', '', 2.0)) as t (run_id, cluster, ttft_p99_ms)"
    project = bare(tmp_path / "p", acme=model(columns, sql, "run_id, cluster"))
    build(project)
    with pytest.raises(WarehouseError, match=r'WH532 models/acme\.sql: two rows have \{run_id="new"\}'):
        exposition(project, NOW)
    header = '/*\nrole: hot_metrics\ncolumns:\n  n: {type: bigint, description: "N"}\n*/\n'
    (project.root / "models" / "acme.sql").write_text(header + "select unnest([1, 2])::bigint as n\n")
    build(project)
    with pytest.raises(WarehouseError, match=r"WH532 models/acme\.sql: two rows have no labels"):
        exposition(project, NOW)


def test_nothing_built_is_an_error_and_prints_nothing(tmp_path: Path, wh_on: WhOn) -> None:
    status, out, err = wh_on(bare(tmp_path / "p"), "metrics")
    assert (status, out) == (1, "") and "WH211" in err


# --- the standard project ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The standard project with serving, training and fabric evidence of all years in the hot tier."""
    root = tmp_path_factory.mktemp("hot")
    project = standard_project(root / "project")
    bench_serving.write_results(root / "in" / "serving")
    record = vllm_record(requests(40, 3), model_id="acme/served", max_concurrency=48, date="20260220-020003")
    bench_serving.write(root / "in" / "served" / "b200_tp8_isl1024_osl128_conc48.json", record)
    mlperf_training.write_submission(root / "in" / "training")
    fabric_check.write_logs(root / "in" / "fabric")
    for test in ("all_gather_perf", "alltoall_perf"):
        collective = json.loads(fabric_check.NCCL_JSON.replace("all_reduce_perf", test))
        for half in ("out_of_place", "in_place"):
            collective["results"][0][half]["bus_bw"] = collective["results"][0][half]["alg_bw"] / 2  # of two ranks
        collective["average_bus_bandwidth"]["bandwidth"] = 0.0425
        fabric_check.write(root / "in" / "fabric" / f"{test}.json", json.dumps(collective))
    with (project.root / "warehouse.toml").open("a") as file:
        file.write("\n[retention]\nhot_days = 36500\nwarm_days = 36500\ncold_days = 36500\n")
    for line in (["ingest", str(root / "in")], ["build"]):
        assert main(["--project", str(project.root), *line]) == 0
    return read_project(project.root)


@pytest.fixture(scope="module")
def found(sampled: Project) -> Samples:
    return read(exposition(sampled))


@pytest.fixture(scope="module")
def document(sampled: Project) -> dict[str, Any]:
    """What the contract document has of each metric, by name."""
    return {each["name"]: each for each in contracts_document(sampled)["hot_metrics"]["metrics"]}


def test_an_empty_warehouse_has_only_its_own_health(tmp_path: Path) -> None:
    found = read(exposition(standard_project(tmp_path / "p")))
    assert found["wh_runs_admitted"] == found["wh_ingest_issues_errors"] == found["wh_warehouse_publications_counting"] == {(): 0}
    assert all(series.keys() == {()} for series in found.values())
    assert not any(name.startswith(("wh_run_", "wh_serving", "wh_training", "wh_collective")) for name in found)


def test_outcomes_are_those_of_the_clients_in_seconds(found: Samples) -> None:
    served = [(dict(labels), value) for labels, value in found["wh_serving_ttft_p99_seconds"].items() if dict(labels)["concurrency_bucket"] == "64"]
    ((labels, value),) = served
    assert value == pytest.approx(np.percentile(measures(requests(40, 3))["ttft"], 99), rel=1e-12)
    assert labels["run_id"] and labels["benchmark_case_id"] and "B200" in labels["gpu_model"]
    (started,) = [value for key, value in found["wh_run_started_timestamp_seconds"].items() if dict(key)["run_id"] == labels["run_id"]]
    date = datetime(2026, 2, 20, 2, 0, 3, tzinfo=UTC)  # the client writes it when it has measured
    assert started == date.timestamp() - vllm_record(requests(40, 3))["duration"]
    assert list(found["wh_collective_all_gather_bus_bandwidth_bytes_per_second"].values()) == [0.0425e9]
    assert list(found["wh_training_step_time_p99_seconds"].values()) == [pytest.approx(np.percentile(mlperf_training.Run().step_times_s, 99))]


def test_no_label_is_outside_of_the_contract_and_every_sample_is_in_the_document(found: Samples, document: dict[str, Any]) -> None:
    listed = document
    assert len(found) > 40 and found.keys() <= listed.keys()
    for name, series in found.items():
        labels = {label for key in series for label, _ in key}
        assert labels <= LABELS and labels <= set(listed[name]["labels"]), name
        assert listed[name]["type"] == "gauge" and listed[name]["description"]
        assert listed[name]["unit"] is None or name.endswith(f"_{listed[name]['unit']}")
    assert {each["source"] for each in listed.values()} >= {None, "mart.wh_serving", "mart.wh_run"}


def test_the_bucket_is_the_power_of_two_that_is_not_below(tmp_path: Path) -> None:
    project = standard_project(tmp_path / "p")
    for load in (1, 2, 3, 8, 9, 48, 64, 65):
        record = vllm_record(requests(20, load), model_id="acme/served", max_concurrency=load, date=f"20260220-02{load // 60:02}{load % 60:02}")
        bench_serving.write(tmp_path / "in" / f"h100_tp8_isl1024_osl128_conc{load}.json", record)
    assert main(["--project", str(project.root), "ingest", str(tmp_path / "in")]) == 0
    build(project)
    found = read(exposition(project, NOW))["wh_serving_error_rate"]
    assert Counter(dict(key)["concurrency_bucket"] for key in found) == {"1": 1, "2": 1, "4": 1, "8": 1, "16": 1, "64": 2, "128": 1}


def test_health_counts_publications_and_evidence_that_waits(tmp_path: Path) -> None:
    before = datetime.now(UTC).timestamp()
    project = made(tmp_path, {"claim": query()}, runs())
    take_in(project, value_files(tmp_path / "more", "a11=100.1\n"))
    assert read(exposition(project))["wh_warehouse_evidence_newer"] == {(): 1}
    build(project)
    report = publish(project, "claim")
    found = read(exposition(project))
    assert found["wh_warehouse_evidence_newer"] == {(): 0} and found["wh_warehouse_publications_counting"] == {(): 1}
    assert "wh_warehouse_series" not in found  # no table has measurements
    (finished,) = found["wh_warehouse_build_finished_timestamp_seconds"].values()
    assert before - 1 <= finished <= datetime.now(UTC).timestamp() + 1
    assert found["wh_warehouse_numbers_publishable"] == {(): 1}
    withdraw(project, report.digest, "a test")
    found = read(exposition(project))
    assert (found["wh_warehouse_publications_counting"], found["wh_warehouse_publications_withdrawn"]) == ({(): 0}, {(): 1})
    assert found["wh_warehouse_numbers_publishable"] == {(): 0}


# --- dashboard and alerts ------------------------------------------------------------------------------------------------------

OPERATORS = {"and", "or", "unless", "on", "by", "group_left", "time", "absent", "topk", "quantile", "delta", "sum", "vector", "label_values"}


def expressions() -> list[str]:
    dashboard = json.loads((REPOSITORY / "deploy/grafana/dashboard.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    found += [each["query"]["query"] for each in dashboard["templating"]["list"] if isinstance(each["query"], dict)]
    rules = yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.yaml").read_text())
    return found + [rule["expr"] for group in rules["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("expression", expressions())
def test_dashboard_and_alerts_use_what_is_exported(expression: str, found: Samples) -> None:
    exported = {name: {label for key in series for label, _ in key} for name, series in found.items()}
    plain = re.sub(r'"[^"]*"|\[\w+\]', " ", expression)
    words = set(re.findall(r"[A-Za-z_]\w*", plain)) - OPERATORS
    metrics = {word for word in words if word.startswith("wh_")}
    assert metrics and metrics <= exported.keys()
    assert words - metrics <= set().union(*(exported[name] for name in metrics))
    assert [plain.count(bracket) for bracket in "({"] == [plain.count(bracket) for bracket in ")}"]


def test_what_the_alerts_watch_has_samples(found: Samples) -> None:
    rules: dict[str, Any] = yaml.safe_load((REPOSITORY / "deploy/prometheus/alerts.yaml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            assert set(re.findall(r"\bwh_\w+", rule["expr"])) <= found.keys(), rule["alert"]
            assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("info", "warning", "critical")
