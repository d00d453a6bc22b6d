"""Real results of vLLM, SGLang and InferenceX: counts, statistics and spot values, read from the files by plain JSON.

Needs the evidence archive; skipped, visibly, where it is absent.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import unpacked_evidence
from landed import Rows, codes, drafts, landed, load
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

pytestmark = pytest.mark.exhaustive  # slow: it builds real archives. make test covers these formats with small samples

INGESTOR = load("bench_serving")
CLIENTS = ("llm-benchmaq", "InferenceX", "vllm-benchmarking")


@pytest.fixture(scope="module")
def evidence() -> Path:
    return unpacked_evidence("serving")


@pytest.fixture(scope="module")
def folders(evidence: Path) -> list[Path]:
    return [folder for folder in sorted(evidence.iterdir()) if folder.name.endswith(CLIENTS)]


@pytest.fixture(scope="module")
def documents(folders: list[Path]) -> dict[Path, dict[str, Any]]:
    """Every JSON object in a file of these tools that has a throughput: read whole, by the standard library."""
    found = {}
    for path in (path for folder in folders for path in sorted(folder.rglob("*.json*"))):
        document = json.loads(path.read_text())
        if isinstance(document, dict) and "request_throughput" in document:
            found[path] = document
    return found


@pytest.fixture(scope="module")
def rows(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return landed(INGESTOR, evidence, tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def warehouse(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("project") / "p"))
    ingestors = load_ingestors(warehouse.project).values()
    for folder in folders:
        ingest(plan_ingest(folder, ingestors), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    return warehouse


def test_every_result_is_a_run_and_nothing_else_is(documents: dict[Path, dict], rows: Rows) -> None:
    runs = [run for run in rows["bench_serving_run"] if run["format"] != "stt"]
    by_place = Counter(run["raw_path"].rpartition("/")[2] for run in runs)
    assert by_place == Counter(path.name for path in documents)
    assert len({run["run_id"] for run in runs}) == len(documents) > 150
    assert Counter(run["format"] for run in runs) == Counter(
        "sglang" if path.suffix == ".jsonl" else "inferencex" if "median_ttft" in document else "vllm"
        for path, document in documents.items()
    )


def test_only_result_files_and_their_consoles_are_claimed(evidence: Path) -> None:
    claimed = {file.file.path for draft in drafts(INGESTOR, evidence) for file in draft.files}
    assert all(any(name in path for name in CLIENTS) for path in claimed)


def test_speech_to_text_benchmarks_are_runs(folders: list[Path], warehouse: Warehouse) -> None:
    """Each value as its key states it, in the facts' unit."""
    documents = [json.loads(path.read_text()) for folder in folders for path in sorted(folder.rglob("stt-vllm/**/*.json"))]
    found = warehouse.sql("from serving_outcome_fact where run_id like 'stt-bench/%' order by run_id").to_pylist()
    assert len(found) == len(documents) == 4
    for column, expected in {
        "e2e_mean_ms": [document["results"]["processing_time"]["mean_s"] * 1000 for document in documents],
        "request_throughput_per_s": [document["results"]["throughput_rps"] for document in documents],
        "real_time_factor_mean": [document["results"]["rtf"]["mean"] for document in documents],
        "completed_count": [document["results"]["success"] for document in documents],
        "concurrency_point": [document["max_concurrency"] for document in documents],
    }.items():
        assert sorted(row[column] for row in found) == pytest.approx(sorted(expected))


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Warehouse]:
    (folder,) = [path for path in unpacked_evidence("missed").iterdir() if path.name.endswith("InferenceMAX_Rocm_Team")]
    warehouse = Warehouse(standard_project(tmp_path_factory.mktemp("rocm") / "p"))
    ingest(plan_ingest(folder, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    return folder, warehouse


def test_each_measurement_of_aiperf_and_inferencex_is_one_run(rocm: tuple[Path, Warehouse]) -> None:
    """Every AIPerf export there is also a record; lists repeat some of the records."""
    folder, warehouse = rocm
    found = [json.loads(path.read_text()) for pattern in ("**/bmk_*/*.json", "**/agg_bmk.json") for path in folder.glob(pattern)]
    records = {json.dumps(record, sort_keys=True) for each in found for record in (each if isinstance(each, list) else [each])}
    exports = [json.loads(path.read_text()) for path in folder.glob("**/profile_export_aiperf.json")]
    rows = warehouse.sql("from serving_results").to_pylist()
    assert Counter(row["family"] for row in rows) == {"genai_perf": len(exports), "bench_serving": len(records) - len(exports)}
    assert {row["same_figures_as"] for row in rows} == {None}
    for row in (row for row in rows if row["family"] == "genai_perf"):
        (record,) = [json.loads(each) for each in records if json.loads(each)["num_requests_successful"] == row["completed_count"]]
        assert (row["precision"], row["framework"], row["accelerator_count"]) == (record["precision"], record["framework"], record["tp"])
        assert (row["accelerator"], row["accelerator_name"]) == (record["hw"], record["hw"].upper())
    # AIPerf lists its errors, and has none. The records state two equal counts, both of the requests that succeeded.
    assert all("request_accounting" not in record for record in records)
    expected = {"genai_perf": 0, "bench_serving": None}
    assert all(row["failed_count"] == row["error_rate"] == expected[row["family"]] for row in rows)


def test_the_time_slices_of_aiperf_are_windows_of_its_runs(rocm: tuple[Path, Warehouse]) -> None:
    folder, warehouse = rocm
    slices = [
        window for path in folder.glob("**/*_timeslices.json") for window in json.loads(path.read_text())["timeslices"]
    ]
    (row,) = warehouse.sql(
        "select count(distinct (run_id, window_start)) as n, sum(value_mean) filter (where metric = 'request_count')::bigint as requests, "
        "sum(value_mean) filter (where metric = 'ttft_ms') as ttft from telemetry_slice_fact where scope = 'client'"
    ).to_pylist()
    assert (row["n"], row["requests"]) == (len(slices), sum(window["request_count"]["avg"] for window in slices))
    assert row["ttft"] == pytest.approx(sum(window["time_to_first_token"]["avg"] for window in slices))
    (server,) = warehouse.sql(
        "select count(*) as n, min(value_mean) as least from telemetry_slice_fact where scope = 'server' and metric = 'kv_cache_used_pct'"
    ).to_pylist()
    assert server["n"] == 2 and 80 < server["least"] < 90


def test_every_aggregate_is_that_of_its_requests(documents: dict[Path, dict], rows: Rows) -> None:
    """Recomputed here from the files, and found in what landed."""
    assert not codes(rows)
    landed_values = {
        (row["raw_path"].rpartition("/")[2], row["source"], row["key"]): row["value_number"]
        for row in rows["bench_serving_entry"]
    }
    detailed = {path: document for path, document in documents.items() if "ttfts" in document}
    assert len(detailed) > 20
    for path, document in detailed.items():
        seconds = {"ttft": document["ttfts"], "itl": [gap for gaps in document["itls"] for gap in gaps]}
        for metric, values in seconds.items():
            expected = {
                "mean": statistics.fmean(values), "std": np.std(values), "p99": np.percentile(values, 99),
                "p90": np.percentile(values, 90), "p95": np.percentile(values, 95),
            }
            for name, value in expected.items():
                key = f"{name}_{metric}_ms"
                assert landed_values[path.name, "requests", key] == pytest.approx(value * 1e3, rel=1e-9)
                if key in document:
                    assert document[key] == pytest.approx(value * 1e3, rel=1e-9), (path.name, key)
        assert sum(row["raw_path"].endswith("/" + path.name) for row in rows["bench_serving_request"]) == document["completed"]


def test_runs_of_which_every_request_failed(documents: dict[Path, dict], warehouse: Warehouse) -> None:
    expected = {path.stem for path, document in documents.items() if document["completed"] == 0}
    found = warehouse.sql("from serving_outcome_fact where completed_count = 0").to_pylist()
    assert {row["run_id"].split("/")[-2] for row in found} == expected and len(found) == 3
    for row in found:
        assert row["error_rate"] == 1
        assert {value for name, value in row.items() if name.endswith(("_ms", "_per_s"))} == {None}


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        (
            "run_1_TP4_DP2_CTX1024_C100_P100_O128",
            {"mean_ttft_ms": "ttft_mean_ms", "p99_e2el_ms": "e2e_p99_ms", "output_throughput": "output_token_throughput_per_s"},
        ),
        (
            "bench_serve_v0.25.1",
            {"std_itl_ms": "jitter_ms", "median_tpot_ms": "tpot_p50_ms", "total_token_throughput": "total_token_throughput_per_s"},
        ),
        ("run=1", {"mean_e2el_ms": "e2e_mean_ms", "request_throughput": "request_throughput_per_s", "failed": "failed_count"}),
        (
            "H100_tp4_dp2_in8192_out128_p100_c100_46cf8d",
            {"p90_e2e_latency_ms": "e2e_p90_ms", "p95_itl_ms": "itl_p95_ms", "total_throughput": "total_token_throughput_per_s"},
        ),
        ("minimax_m25_vllm_tep8_isl4096_osl128_conc32", {"median_ttft": "ttft_p50_ms", "p99_tpot": "tpot_p99_ms", "p99_e2el": "e2e_p99_ms"}),
        ("qwen35_vllm_tp8_isl1024_osl128_conc64", {"median_e2el": "e2e_p50_ms", "median_tpot": "tpot_p50_ms", "p99_ttft": "ttft_p99_ms"}),
    ],
)
def test_spot_values(
    documents: dict[Path, dict], warehouse: Warehouse, file: str, keys: dict[str, str]
) -> None:
    paths = [path for path in documents if path.stem == file]
    found = warehouse.sql(f"from serving_outcome_fact where contains(run_id, '/{file}/')").to_pylist()
    assert len(found) == len(paths) > 0
    for key, column in keys.items():
        scale = 1000 if column.endswith("_ms") and not key.endswith("_ms") else 1  # InferenceX: seconds
        expected = sorted(documents[path][key] * scale for path in paths)
        assert sorted(row[column] for row in found) == pytest.approx(expected, rel=1e-15)


def test_what_names_tell(warehouse: Warehouse) -> None:
    found = warehouse.sql(
        "select distinct accelerator, accelerator_count, deployment_model from rollup.serving_results"
        " where accelerator is not null order by all"
    ).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("A100", 1, None), ("B200", 1, None), ("B200", 8, "TP4 DP2"), ("B200", 8, "TP8 DP1"), ("H100 SXM", 8, "TP4 DP2"),
        ("H100 SXM", 8, "TP4 DP2 PP1 EP1"), ("H100 SXM", 8, "TP8 DP1"), ("H100 SXM", 8, "TP8 DP1 PP1 EP1"), ("L40S", 2, None),
    ]


def test_the_version_is_the_servers_own(documents: dict[Path, dict], warehouse: Warehouse) -> None:
    expected = Counter(
        document["server_info"]["version"] for path, document in documents.items() if path.suffix == ".jsonl"
    )
    found = warehouse.sql(
        "select framework_version, count(*) as n from rollup.serving_results where framework = 'sglang' group by all"
    ).to_pylist()
    assert {row["framework_version"]: row["n"] for row in found} == expected


def test_frontiers_are_those_of_the_raw_files(documents: dict[Path, dict], warehouse: Warehouse) -> None:
    """InferenceX's study of MiniMax and Qwen on eight GPUs: throughput per GPU and interactivity, by model and input length. A scan from the
    most interactive point on: a point is on the frontier if its throughput is higher than that of all before it."""
    points: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for path, document in documents.items():
        if found := re.fullmatch(r"\w+_(?:dep|tep|tp)8_isl(\d+)_osl\d+_conc\d+", path.stem):
            x, y = 1 / document["median_tpot"], document["output_throughput"] / 8
            points.setdefault((document["model_id"], int(found[1])), []).append((x, y))
    expected = {}
    for scope, of_scope in points.items():
        ordered = np.array(sorted(of_scope, reverse=True))
        is_on = ordered[:, 1] > np.concatenate([[-np.inf], np.maximum.accumulate(ordered[:, 1])[:-1]])
        expected[scope] = (len(ordered), ordered[is_on][::-1])
    assert len(expected) >= 6 and max(count for count, _ in expected.values()) >= 9
    found_ones = warehouse.frontiers("interactivity_p50_tokens_per_s", "output_token_throughput_per_accelerator_per_s")
    by_scope = {(each.scope["model"], each.scope["input_length"]): each.points for each in found_ones.frontiers}
    for scope, (count, frontier) in expected.items():
        assert len(by_scope[scope]) == count
        on = np.array([(point.x, point.y) for point in by_scope[scope] if point.is_on_frontier])
        np.testing.assert_allclose(on, frontier, rtol=1e-9)
    assert sum(len(frontier) for _, frontier in expected.values()) < sum(count for count, _ in expected.values())  # some are beaten


def test_goodput_is_that_of_the_raw_requests(documents: dict[Path, dict], warehouse: Warehouse) -> None:
    """Of every record with arrays of its requests, whose requests all succeeded: numpy on the arrays, which are in seconds. The limits lie
    between two requests of the record, so that about half of them meet each."""
    tried = apart = 0
    for document in documents.values():
        ttfts, itls, errors = (document.get(name) for name in ("ttfts", "itls", "errors"))
        if not ttfts or not itls or any(errors or ()) or min(map(len, itls)) == 0 or min(ttfts) == 0:
            continue
        times, gaps = np.array(ttfts) * 1e3, np.array([np.mean(each) for each in itls]) * 1e3
        limits = [float(f"{np.sort(each)[len(each) // 2 : len(each) // 2 + 2].mean():.9f}") for each in (times, gaps)]
        met = (times <= limits[0]) & (gaps <= limits[1])
        found = warehouse.goodput(f"ttft_ms<={limits[0]:.9f},itl_mean_ms<={limits[1]:.9f}")
        assert (len(times), int(met.sum())) in {(load.total, load.met) for curve in found.curves for load in curve.loads if load.share is not None}
        tried += 1
        apart += abs(met.mean() - (times <= limits[0]).mean() * (gaps <= limits[1]).mean()) > 0.02
    assert tried >= 6 and apart > 0
