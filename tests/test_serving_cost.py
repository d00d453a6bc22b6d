"""What tokens cost and which energy they took: equal to plain arithmetic on the files, each boundary in its own column, roles by their
own counts, and no figure of a number of accelerators that the record's own throughput contradicts."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import unpacked_evidence
from landed import ISSUE_TABLE, landed, load
from samples import bench_serving as sample
from samples import genai_perf, llm_d_report, trtllm_bench
from standard import standard_project

from warehouse.analysis.serving.frontier import frontiers
from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

PRICES = """\
accelerator,unit,price_usd_per_hour,effective_date,source,provider,accelerators,provisioned_power_w
H100-SXM,accelerator_hour,2.5,2026-01-01,list of January,runpod,,1100
H100-SXM,accelerator_hour,2.0,2026-04-01,list of April,runpod,,1200
nvidia b200,instance_hour,40,2020-01-01,contract 17,x,8,14300
H200,accelerator_hour,3.6,2020-01-01,list,x,,
MI355X,accelerator_hour,2.3,2020-01-01,list,x,,1400
"""
GOOD = sample.requests(40)
# Eight accelerators by the deployment, and figures per accelerator of four.
EIGHT_OF_FOUR = {
    "is_multinode": False, "disagg": False, "tp": 8, "ep": 1, "prefill_num_workers": 0, "num_prefill_gpu": None, "num_decode_gpu": None,
    "tput_per_gpu": 9300.0 / 4, "output_tput_per_gpu": 300.0 / 4,
}
ENERGIES = ("accelerator_energy", "system_energy", "provisioned_energy")
PER_ACCELERATOR = ("output_token_throughput_per_accelerator_per_s", "total_token_throughput_per_accelerator_per_s")


def eight_of_four(nested: bool) -> dict[str, Any]:
    record = sample.inferencex_agentic_record(nested, hw="b200-dgxc_1", **EIGHT_OF_FOUR)
    if nested:
        record["request_metrics"]["throughput"]["per_gpu"] = {"total_tput_tps": 9300.0 / 4}
        del record["tput_per_gpu"], record["output_tput_per_gpu"]
    return {key: value for key, value in record.items() if value is not None and not key.startswith(("prefill_", "decode_"))}


def filled(project: Path, *trees: Path) -> Warehouse:
    warehouse = Warehouse(standard_project(project))
    for tree in trees:
        report = ingest(plan_ingest(tree, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test")
        assert not report.problems
    assert not build(warehouse.project).damaged
    return warehouse


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    tree = tmp_path_factory.mktemp("tree")
    (tree / "lists").mkdir()
    (tree / "lists/prices.csv").write_text(PRICES)
    sample.write(tree / "pod_h100sxm/M/one_TP4_DP2_in100_out20.json", sample.vllm_record(GOOD))
    sample.write(tree / "pod_h100sxm/M/none_TP8.json", sample.vllm_record([sample.FAILED] * 5, detailed=False))
    sample.write(tree / "ix/agg_split.json", sample.inferencex_split_record(hw="b200-nv_3"))
    unlike = {"prefill_hw": "h200-nb_1", "decode_hw": "b200-dgxc_2", "num_prefill_gpu": 8, "num_decode_gpu": 16, "prefill_num_workers": 1}
    split = sample.inferencex_split_record(**unlike)
    split["tput_per_gpu"] = (8 * split["input_tput_per_gpu"] + 16 * split["output_tput_per_gpu"]) / 24
    sample.write(tree / "ix/agg_unlike.json", split)
    sample.write(tree / "ix/agentic.json", sample.inferencex_agentic_record(hw="b200-dgxc_1"))
    sample.write(tree / "ix/contradicted_flat.json", eight_of_four(nested=False))
    sample.write(tree / "ix/contradicted_nested.json", eight_of_four(nested=True))
    trtllm_bench.write(tree / "trt")
    return filled(tmp_path_factory.mktemp("project") / "p", tree)


def cost_of(warehouse: Warehouse, name: str, table: str = "mart.serving_cost") -> dict[str, Any]:
    (row,) = warehouse.sql(f"from {table} where run_id like '%/{name}/%'").to_pylist()
    return row


def test_what_a_million_tokens_cost(warehouse: Warehouse) -> None:
    """The price of the measured time over the tokens of the sample's own requests."""
    row = cost_of(warehouse, "one_TP4_DP2_in100_out20")
    spent = 8 * 2.0 / 3600 * 12.5
    read, wrote = (sum(getattr(request, f"{which}_length") for request in GOOD) for which in ("input", "output"))
    assert row["cost_per_million_input_tokens_usd"] == pytest.approx(spent / read * 1e6)
    assert row["cost_per_million_output_tokens_usd"] == pytest.approx(spent / wrote * 1e6)
    assert row["cost_per_million_total_tokens_usd"] == pytest.approx(spent / (read + wrote) * 1e6)
    assert row["cost_per_million_output_tokens_usd"] == pytest.approx(
        1e6 * cost_of(warehouse, "one_TP4_DP2_in100_out20", "main.serving_outcome_fact")["cost_per_token_usd"]
    )
    assert (row["price_usd_per_hour"], row["cost_reason"], row["accelerator_count"]) == (16, None, 8)


def test_a_cost_names_the_row_of_the_price_list(warehouse: Warehouse) -> None:
    row = cost_of(warehouse, "one_TP4_DP2_in100_out20")
    path, _, line = row["price_row"].rpartition(":")
    stated = dict(zip(*csv.reader(io.StringIO("\n".join([PRICES.splitlines()[0], PRICES.splitlines()[int(line) - 1]]))), strict=True))
    assert path == "prices.csv" and stated["price_usd_per_hour"] == "2.0"
    assert (row["price_source"], row["price_provider"]) == (stated["source"], stated["provider"])
    assert row["price_effective_date"] == date.fromisoformat(stated["effective_date"])
    ((digest,),) = {tuple(each.values()) for each in warehouse.sql("select distinct artifact_manifest_digest from staging.price").to_pylist()}
    assert row["price_list"] == digest


def test_a_published_cost_leads_to_the_list(warehouse: Warehouse) -> None:
    row = cost_of(warehouse, "one_TP4_DP2_in100_out20", "rollup.serving_costs")
    number = row["number_ids"]["cost_per_million_input_tokens_usd"]
    ranges = [file.ranges for file in warehouse.lineage(number).raw_files if file.raw_path == "prices.csv"]
    lines = PRICES.splitlines(keepends=True)
    assert [[tuple(place) for place in each] for each in ranges] == [[(sum(map(len, lines[:2])), len(lines[2]) - 1)]]
    assert warehouse.verify(number).state == "verified"


def test_each_boundary_has_its_own_columns(warehouse: Warehouse) -> None:
    row = cost_of(warehouse, "agg_split")
    record = sample.inferencex_split_record()
    for kind in ("input", "output", "total"):
        assert row[f"accelerator_energy_per_{kind}_token_j"] == record[f"joules_per_{kind}_token"]
        assert row[f"system_energy_per_{kind}_token_j"] is None
    assert row["prefill_accelerator_energy_per_input_token_j"] == record["prefill_joules_per_input_token"]
    assert row["decode_accelerator_energy_per_output_token_j"] == record["decode_joules_per_output_token"]
    # 32 eighths of an instance of 14.3 kW, for 400 tokens a second in and as many out on each of 16.
    assert row["provisioned_power_w"] == pytest.approx(32 / 8 * 14300)
    assert row["provisioned_energy_per_input_token_j"] == row["provisioned_energy_per_output_token_j"] == pytest.approx(32 / 8 * 14300 / 6400)
    assert row["provisioned_energy_per_total_token_j"] == pytest.approx(32 / 8 * 14300 / 12800)
    reasons = [row[f"{boundary}_reason"] for boundary in ENERGIES]
    assert reasons == [None, "system-power-not-measured", None]


def test_roles_have_their_own_counts_and_prices(warehouse: Warehouse) -> None:
    row = cost_of(warehouse, "agg_unlike")
    assert [row[f"{role}accelerator_count"] for role in ("", "prefill_", "decode_")] == [24, 8, 16]
    assert (row["prefill_price_usd_per_hour"], row["decode_price_usd_per_hour"]) == (pytest.approx(8 * 3.6), 16 * 40 / 8)
    read, wrote = 8 * 400.0, 16 * 400.0
    whole = 8 * 3.6 + 16 * 5
    assert row["price_usd_per_hour"] == pytest.approx(whole)
    assert row["cost_per_million_output_tokens_usd"] == pytest.approx(whole / 3600 / wrote * 1e6)
    assert row["cost_per_million_input_tokens_usd"] == pytest.approx(whole / 3600 / read * 1e6)
    assert row["decode_cost_per_million_output_tokens_usd"] == pytest.approx(16 * 5 / 3600 / wrote * 1e6)
    assert row["prefill_cost_per_million_input_tokens_usd"] == pytest.approx(8 * 3.6 / 3600 / read * 1e6)
    assert row["input_token_throughput_per_prefill_accelerator_per_s"] == row["output_token_throughput_per_decode_accelerator_per_s"] == 400
    assert row["price_row"] == "prices.csv:4, prices.csv:5" and row["price_effective_date"] == date(2020, 1, 1)
    # Only one of the roles has a provisioned power.
    assert (row["provisioned_power_w"], row["provisioned_energy_reason"]) == (None, "provisioned-power-not-stated")


def test_a_run_without_tokens_has_no_cost(warehouse: Warehouse) -> None:
    row = cost_of(warehouse, "none_TP8")
    assert {name for name, value in row.items() if name.endswith(("_usd", "_token_j")) and value is not None} == set()
    assert (row["cost_reason"], row["provisioned_energy_reason"], row["price_usd_per_hour"]) == ("no-throughput", "no-throughput", 16)


@pytest.mark.parametrize("name", ["contradicted_flat", "contradicted_nested"])
def test_a_number_of_accelerators_that_throughput_contradicts_is_not_used(warehouse: Warehouse, name: str) -> None:
    row = cost_of(warehouse, name)
    assert (row["accelerator_count"], row["implied_accelerator_count"], row["accelerator_count_ratio"]) == (None, 4, 2)
    assert (row["cost_reason"], row["provisioned_energy_reason"]) == ("accelerator-count-contradicted",) * 2
    assert row["total_token_throughput_per_s"] == 9300  # that of the system stands
    for table in ("rollup.serving_results", "mart.serving_curve"):
        other = cost_of(warehouse, name, table)
        assert [other[column] for column in PER_ACCELERATOR] == [None, None]
        assert {value for column, value in other.items() if column.endswith("_usd")} == {None}
    (issue,) = warehouse.sql(f"from ingest_issue where code = 'accelerator-count-disagrees' and run_id like '%/{name}/%'").to_pylist()
    assert issue["severity"] == "warning" and "of 8 accelerators" in issue["message"] and "4 accelerators are implied" in issue["message"]


def test_numbers_that_agree_say_so(warehouse: Warehouse) -> None:
    ratios = {
        row["run_id"].split("/")[-2]: (row["implied_accelerator_count"], row["accelerator_count_ratio"])
        for row in warehouse.sql("from mart.serving_cost where accelerator_count is not null").to_pylist()
    }
    assert ratios.pop("one_TP4_DP2_in100_out20") == ratios.pop("none_TP8") == (None, None)  # nothing per accelerator is stated
    assert ratios.pop("agentic") == (16, 1) and ratios.pop("agg_split") == (32, 1)
    assert ratios.pop("agg_unlike") == (pytest.approx(24), pytest.approx(1))
    assert list(ratios.values()) == [(pytest.approx(2), pytest.approx(1))]  # trtllm-bench's


@pytest.mark.parametrize(
    ("changes", "count", "code"),
    [
        ({"tput_per_gpu": 581.0}, 16, "aggregate-disagrees"),  # of 16.007: the same whole number
        ({"tput_per_gpu": 581.25 * 2}, None, "accelerator-count-disagrees"),
        ({"tput_per_gpu": 581.25 * 16 / 15}, None, "accelerator-count-disagrees"),
        ({"tput_per_gpu": 581.2}, 16, None),  # rounded
        ({"tput_per_gpu": 0.0}, 16, None),
    ],
)
def test_rounding_contradicts_no_number(tmp_path: Path, changes: dict[str, Any], count: int | None, code: str | None) -> None:
    sample.write(tmp_path / "tree/a.json", sample.inferencex_agentic_record(nested=False, **changes))
    rows = landed(load("bench_serving"), tmp_path / "tree", tmp_path / "store")
    (run,) = rows["bench_serving_run"]
    assert (run["accelerator_count"], [issue["code"] for issue in rows.get(ISSUE_TABLE, [])]) == (count, [code] if code else [])
    assert (run["prefill_accelerator_count"], run["decode_accelerator_count"]) == ((8, 8) if count else (None, None))


def test_a_denominator_that_was_applied_twice(tmp_path: Path) -> None:
    """16 accelerators of prefill and 16 of decode: output and input over their own roles, but all tokens over one of them."""
    sample.write(tmp_path / "tree/a.json", sample.inferencex_split_record(tput_per_gpu=800.0))
    rows = landed(load("bench_serving"), tmp_path / "tree", tmp_path / "store")
    (run,), (issue,) = rows["bench_serving_run"], rows[ISSUE_TABLE]
    assert (run["accelerator_count"], run["implied_accelerator_count"], run["accelerator_count_ratio"]) == (None, 16, 2)
    assert issue["code"] == "accelerator-count-disagrees"


def test_one_worker_that_prefills_and_decodes_is_not_counted_twice(tmp_path: Path) -> None:
    split = sample.inferencex_split_record(disagg=False, num_prefill_gpu=8, num_decode_gpu=8)
    sample.write(tmp_path / "tree/a.json", split)
    rows = landed(load("bench_serving"), tmp_path / "tree", tmp_path / "store")
    assert rows["bench_serving_run"][0]["accelerator_count"] is None
    assert "accelerator-count-disagrees" in {issue["code"] for issue in rows[ISSUE_TABLE]}


def test_trtllm_bench_states_output_per_gpu(tmp_path: Path) -> None:
    trtllm_bench.write(tmp_path / "tree", performance={"output_throughput_per_gpu_tok_s": 146.66666666666666})
    rows = landed(load("trtllm_bench"), tmp_path / "tree", tmp_path / "store")
    (run,), (issue,) = rows["trtllm_bench_run"], rows[ISSUE_TABLE]
    assert (run["accelerator_count"], run["implied_accelerator_count"], run["accelerator_count_ratio"]) == (None, 1, 2)
    assert (issue["code"], issue["severity"]) == ("accelerator-count-disagrees", "warning")


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize(("of", "count"), [(2, 2), (1, None)])
def test_a_record_that_restates_aiperf_is_checked_too(tmp_path: Path, is_nested: bool, of: int, count: int | None) -> None:
    values = genai_perf.measured(57)
    record = genai_perf.inferencex_of(values, nested=is_nested)  # of two accelerators
    if is_nested:
        record["request_metrics"]["throughput"] |= {"total": {"tokens_per_second": 900.0}, "per_gpu": {"total_tput_tps": 900.0 / of}}
    else:
        record |= {"total_tput_tps": 900.0, "tput_per_gpu": 900.0 / of}
    sample.write(tmp_path / "tree/a/profile_export_aiperf.json", genai_perf.aiperf_summary(values))
    sample.write(tmp_path / "tree/b/x.json", record)
    rows = landed(load("genai_perf"), tmp_path / "tree", tmp_path / "store")
    (served,) = rows["genai_perf_deployment"]
    assert (served["accelerator_count"], served["implied_accelerator_count"], served["accelerator_count_ratio"]) == (count, of, 2 / of)
    issues = [issue["raw_path"] for issue in rows.get(ISSUE_TABLE, []) if issue["code"] == "accelerator-count-disagrees"]
    assert issues == ([] if count else ["inferencex/1/x.json"])


def test_roles_of_an_llm_d_report(tmp_path: Path) -> None:
    report = llm_d_report.old()  # one accelerator of prefill, eight of decode
    report["scenario"]["host"]["accelerator"][0]["model"] = "H200"
    report["scenario"]["host"]["accelerator"][1]["model"] = "B200"
    report["metrics"]["throughput"] |= {"output_tokens_per_sec": 200.0, "total_tokens_per_sec": 1000.0}
    llm_d_report.write(tmp_path / "tree/llm-d", report, "yaml")
    (tmp_path / "tree/prices.csv").write_text(PRICES)
    (row,) = filled(tmp_path / "p", tmp_path / "tree").sql("from mart.serving_cost").to_pylist()
    assert [row[f"{role}accelerator_count"] for role in ("", "prefill_", "decode_")] == [9, 1, 8]
    assert row["cost_per_million_total_tokens_usd"] == pytest.approx((3.6 + 40) / 3600 / 1000 * 1e6)
    assert row["prefill_cost_per_million_input_tokens_usd"] == pytest.approx(3.6 / 3600 / 800 * 1e6)
    assert row["decode_cost_per_million_output_tokens_usd"] == pytest.approx(40 / 3600 / 200 * 1e6)


def test_cost_is_an_axis(warehouse: Warehouse) -> None:
    found = frontiers(warehouse.project, "ttft_p99_ms", "cost_per_million_output_tokens_usd", None, [], None, False)
    runs = {run_id.split("/")[-2] for each in found.frontiers for point in each.points for run_id in point.run_ids}
    # What else has a cost has no p99, or a number of accelerators that is contradicted.
    assert (found.y.better, runs) == ("lower", {"one_TP4_DP2_in100_out20", "agg_split", "agg_unlike"})


@pytest.mark.exhaustive
class TestEvidence:
    """Real records and meters, read by the standard library. Skipped, visibly, without the evidence archive."""

    def test_cost_of_real_records(self, tmp_path: Path) -> None:
        tree = unpacked_evidence("missed") / "ajith-sirra-amd__InferenceMAX_Rocm_Team"
        (tmp_path / "lists").mkdir()
        (tmp_path / "lists/prices.csv").write_text(PRICES)
        warehouse = filled(tmp_path / "p", tree, tmp_path / "lists")
        documents = [json.loads(path.read_text()) for path in sorted(tree.rglob("*.json"))]
        records = [each for found in documents for each in (found if isinstance(found, list) else [found]) if "tput_per_gpu" in each]
        rows = warehouse.sql("from mart.serving_cost where accelerator ilike '%355%' and total_token_throughput_per_s is not null").to_pylist()
        assert len(rows) > 5
        for row in rows:
            # Of a run of AIPerf that a record restates, the throughput is AIPerf's, a digit of rounding away.
            (record, *_) = (each for each in records if each["total_tput_tps"] == pytest.approx(row["total_token_throughput_per_s"], rel=1e-8))
            count = round(record["total_tput_tps"] / record["tput_per_gpu"])
            assert (row["accelerator_count"], row["accelerator_count_ratio"]) == (count, pytest.approx(1))
            assert record["hw"] == "mi355x"
            spent = count * 2.3 / 3600
            assert row["cost_per_million_total_tokens_usd"] == pytest.approx(spent / record["total_tput_tps"] * 1e6)
            assert row["cost_per_million_output_tokens_usd"] == pytest.approx(spent / record["output_tput_tps"] * 1e6)
            assert row["cost_per_million_input_tokens_usd"] == pytest.approx(spent / record["input_tput_tps"] * 1e6)
            assert row["provisioned_energy_per_total_token_j"] == pytest.approx(count * 1400 / record["total_tput_tps"])

    def test_energy_of_a_measured_system(self, tmp_path: Path) -> None:
        """Of a submission with a power meter: the mean of its samples in the window over tokens per second, both from the files."""
        folder = unpacked_evidence("mlperf-inference") / "mlcommons__inference_results_v5.1"
        (system,) = {path.parents[4] for path in folder.rglob("spl.txt")}
        warehouse = filled(tmp_path / "p", system.parents[1])
        found = {
            row["workload_point"]: row
            for row in warehouse.sql("from mart.serving_cost where system_power_w is not null").to_pylist()
        }
        expected = {}
        for meter in system.glob("*/*/performance/run_1/spl.txt"):
            log = [json.loads(line.split(" ", 1)[1]) for line in (meter.parent / "mlperf_log_detail.txt").read_text().splitlines()]
            values = {entry["key"]: entry["value"] for entry in log}
            begin, end = (moment(values[key]) for key in ("power_begin", "power_end"))
            samples = [line.split(",") for line in meter.read_text().splitlines() if line.startswith("Time,")]
            watts = [float(cells[3]) for cells in samples if begin <= moment(cells[1]) <= end]
            rate = values.get("result_completed_tokens_per_second") or values["result_tokens_per_second"]
            expected[meter.parents[2].name] = sum(watts) / len(watts) / rate
        assert len(expected) == 2
        assert {name: row["system_energy_per_output_token_j"] for name, row in found.items()} == pytest.approx(expected)
        for row in found.values():
            others = {name for name, value in row.items() if name.endswith("_token_j") and value is not None}
            assert others == {"system_energy_per_output_token_j"} and row["accelerator_energy_reason"] == "accelerator-energy-not-stated"


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%m-%d-%Y %H:%M:%S.%f")
