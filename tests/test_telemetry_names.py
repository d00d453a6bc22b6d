"""The canonical names and units of exporters' metrics. Expectations are the exporters' own documentation, which docs/telemetry.md lists, with
factors by hand; and the types that real captures state."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import duckdb
import pytest
from conftest import unpacked_evidence
from samples import prometheus as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import standard_folder
from warehouse.transform.build.build import build

# The active rows of dcgm-exporter's default-counters.csv (releases 2.0 to 4.8), and the types it gives them. Not here:
# DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL and DCGM_FI_DEV_PCIE_TX/RX_THROUGHPUT, whose units the sources do not agree on.
DCGM_DEFAULT = """
DCGM_FI_DEV_SM_CLOCK gauge MHz 1410 1410 | DCGM_FI_DEV_MEM_CLOCK gauge MHz 1593 1593 | DCGM_FI_DEV_MEMORY_TEMP gauge °C 61 61
DCGM_FI_DEV_GPU_TEMP gauge °C 55 55 | DCGM_FI_DEV_POWER_USAGE gauge W 66.5 66.5 | DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter J 5000 5
DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter count 2 2 | DCGM_FI_DEV_GPU_UTIL gauge % 95 95 | DCGM_FI_DEV_MEM_COPY_UTIL gauge % 40 40
DCGM_FI_DEV_ENC_UTIL gauge % 1 1 | DCGM_FI_DEV_DEC_UTIL gauge % 2 2 | DCGM_FI_DEV_XID_ERRORS state code 79 79
DCGM_FI_DEV_FB_FREE gauge bytes 2 2097152 | DCGM_FI_DEV_FB_USED gauge bytes 1 1048576 | DCGM_FI_DEV_FB_RESERVED gauge bytes 3 3145728
DCGM_FI_DEV_VGPU_LICENSE_STATUS state code 0 0 | DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS counter count 0 0
DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS counter count 4 4 | DCGM_FI_DEV_ROW_REMAP_FAILURE state code 0 0
DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge % 0.75 75 | DCGM_FI_PROF_PIPE_TENSOR_ACTIVE gauge % 0.5 50 | DCGM_FI_PROF_DRAM_ACTIVE gauge % 0.25 25
DCGM_FI_PROF_PCIE_TX_BYTES gauge bytes/s 1000 1000 | DCGM_FI_PROF_PCIE_RX_BYTES gauge bytes/s 2000 2000
"""
DCGM_OTHER = """
DCGM_FI_DEV_POWER_VIOLATION counter s 5e9 5 | DCGM_FI_DEV_THERMAL_VIOLATION counter s 2.5e9 2.5 | DCGM_FI_DEV_FB_USED_PERCENT gauge % 0.5 50
DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS counter s 1e9 1 | DCGM_FI_DEV_BOARD_POWER_WATTS gauge W 66.5 66.5
DCGM_FI_PROF_SM_UTIL_RATIO gauge % 0.5 50 | DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL counter J 5 5 | DCGM_FI_DEV_SM_CLOCK_HERTZ gauge MHz 1.41e9 1410
dcgm_power_usage gauge W 66.5 66.5 | dcgm_total_energy_consumption counter J 5000 5 | dcgm_fb_used gauge bytes 1 1048576
"""
SERVERS = """
vllm:kv_cache_usage_perc gauge % 0.5 50 | vllm:gpu_cache_usage_perc gauge % 0.5 50 | vllm:num_requests_running gauge count 3 3
vllm:prompt_tokens_total counter count 10 10 | vllm:avg_generation_throughput_toks_per_s gauge tokens/s 12 12
vllm:time_to_first_token_seconds_sum histogram ms 1.5 1500 | vllm:request_prompt_tokens_sum histogram count 100 100
sglang:token_usage gauge % 0.28 28 | sglang:cache_hit_rate gauge % 0.25 25 | sglang:queue_time_seconds_sum histogram ms 2 2000
sglang:kv_transfer_latency_ms gauge ms 4 4 | sglang:gpu_execution_seconds_total counter s 7 7 | sglang:gen_throughput gauge tokens/s 86.5 86.5
nv_inference_request_duration_us counter s 11110 0.01111 | nv_inference_queue_duration_us counter s 1e6 1
nv_inference_compute_input_duration_us counter s 2e6 2 | nv_cache_hit_duration_per_model counter s 3e6 3
nv_inference_first_response_histogram_ms_sum histogram ms 10771 10771 | nv_inference_pending_request_count gauge count 95 95
nv_gpu_utilization gauge % 0.5 50 | nv_energy_consumption counter J 5 5 | nv_cpu_utilization gauge % 0.25 25 | nv_gpu_memory_used_bytes gauge bytes 9 9
ping_loss_percent gauge % 0.25 25 | ping_rtt_mean_ms gauge ms 2 2
"""
Row = tuple[str, str, str, float, float]


def rows_of(text: str) -> list[Row]:
    """Name, kind, canonical unit, exported value, canonical value."""
    split = [each.split() for line in text.strip().splitlines() for each in line.split("|")]
    return [(name, kind, unit, float(exported), float(canonical)) for name, kind, unit, exported, canonical in split]


DOCUMENTED = [row for text in (DCGM_DEFAULT, DCGM_OTHER, SERVERS) for row in rows_of(text)]
_SUFFIX = re.compile("_(bucket|sum|count)$")


VALUE = """\
/*
description: The canonical value of each sample.
grain: [artifact_manifest_digest, series_number]
*/
select
    place.artifact_manifest_digest,
    place.series_number,
    place.raw_path,
    place.source_metric,
    place.metric,
    place.kind,
    place.unit,
    sample.value * place.factor as value
from telemetry_place as place
inner join telemetry_sample as sample
    on
        sample.artifact_manifest_digest = place.artifact_manifest_digest
        and sample.series_number = place.series_number
"""
# An exporter that calls nanoseconds microseconds, and one of 1.x with a blank.
OLDER = """\
# HELP DCGM_FI_DEV_SYNC_BOOST_VIOLATION Throttling duration due to sync-boost constraints (in us).
# TYPE DCGM_FI_DEV_SYNC_BOOST_VIOLATION counter
DCGM_FI_DEV_SYNC_BOOST_VIOLATION{gpu="0"} 5000000000
# TYPE dcgm_memory_temp gauge
dcgm_memory_temp{gpu="0"} 9223372036854775794
"""
# UNIT lines that contradict vLLM's documentation, and one that does not.
CONTRADICTING = """\
# TYPE vllm:time_to_first_token_seconds histogram
# UNIT vllm:time_to_first_token_seconds milliseconds
vllm:time_to_first_token_seconds_count{engine="0"} 2
vllm:time_to_first_token_seconds_sum{engine="0"} 3
# TYPE sglang:time_to_first_token_seconds histogram
# UNIT sglang:time_to_first_token_seconds seconds
sglang:time_to_first_token_seconds_count{engine="0"} 2
sglang:time_to_first_token_seconds_sum{engine="0"} 3
# EOF
"""


def exposed(rows: list[Row]) -> str:
    """A scrape with these metrics."""
    return "".join(
        f"# TYPE {_SUFFIX.sub('', name) if kind == 'histogram' else name} {'gauge' if kind == 'state' else kind}\n{name}{{gpu=\"0\"}} {exported!r}\n"
        for name, kind, _, exported, _ in rows
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A build of scrapes of one time, a target each."""
    folder = tmp_path_factory.mktemp("names")
    project = standard_project(folder / "project")
    (folder / "tree").mkdir()
    texts = {"exporters": exposed(DOCUMENTED), "ping": sample.PING, "problems": sample.PROBLEMS, "older": OLDER, "contradicting": CONTRADICTING}
    for name, text in texts.items():
        (folder / "tree" / f"{name}-{sample.stamp(0)}.prom").write_text(text)
    (project.root / "models").mkdir(exist_ok=True)
    (project.root / "models/made_value.sql").write_text(VALUE)
    ingest(plan_ingest(folder / "tree", load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged
    return Warehouse(project)


@pytest.fixture(scope="module")
def found(built: Warehouse) -> dict[str, dict[str, Any]]:
    """The canonical value of each metric that was scraped, by the exporter's name."""
    rows = built.sql("from made_value where raw_path not like 'contradicting%'").to_pylist()
    return {row["source_metric"]: row for row in rows}


@cache
def known() -> dict[str, dict[str, Any]]:
    """The names that come from Prometheus, as the model has them."""
    folder = standard_folder() / "models" / "reference"
    rows = duckdb.connect().sql((folder / "known_telemetry_metric.sql").read_text()).to_arrow_table().to_pylist()
    assert len(rows) == len({(row["source"], row["source_metric"]) for row in rows})
    return {row["source_metric"]: row for row in rows if row["source"] == "prometheus"}


def test_every_documented_unit_has_a_factor() -> None:
    text = (standard_folder() / "models" / "reference" / "telemetry_unit.sql").read_text()
    units = {(row[0], row[1]) for row in duckdb.connect().execute(f"select source_unit, unit from ({text})").fetchall()}
    canonical = {unit for _, unit in units}
    for name, row in known().items():
        assert row["unit"] in canonical, name
        assert row["source_unit"] is None or (row["source_unit"], row["unit"]) in units, name


def test_documented_metrics_have_canonical_values(found: dict[str, dict[str, Any]]) -> None:
    for name, kind, unit, _, canonical in DOCUMENTED:
        row = found[name]
        assert (row["kind"], row["unit"], row["value"]) == (kind, unit, pytest.approx(canonical)), name


def test_probes_of_network_and_nodes_have_canonical_values(found: dict[str, dict[str, Any]]) -> None:
    for name, metric, unit, value in (
        ("ping_loss_ratio", "ping_loss_pct", "%", 25), ("ping_rtt_best_seconds", "ping_rtt_best_ms", "ms", 0.1),
        ("ping_rtt_mean_seconds", "ping_rtt_mean_ms", "ms", 0.2), ("ping_rtt_std_deviation_seconds", "ping_rtt_std_deviation_ms", "ms", 0.05),
        ("ping_rtt_worst_seconds", "ping_rtt_worst_ms", "ms", 4), ("problem_counter", "node_problem_count", "count", 3),
        ("problem_gauge", "node_problem", "code", 1),
    ):
        row = found[name]
        assert (row["metric"], row["unit"], row["value"]) == (metric, unit, pytest.approx(value)), name


def test_violations_are_nanoseconds_whatever_an_older_exporter_says(found: dict[str, dict[str, Any]]) -> None:
    assert found["DCGM_FI_DEV_SYNC_BOOST_VIOLATION"]["value"] == pytest.approx(5)


def test_what_dcgm_lacks_is_no_value_under_older_names(found: dict[str, dict[str, Any]]) -> None:
    assert (found["dcgm_memory_temp"]["metric"], found["dcgm_memory_temp"]["value"]) == ("gpu_memory_temperature_c", None)


def test_a_unit_that_contradicts_the_documentation_is_an_issue_with_a_place(built: Warehouse) -> None:
    rows = built.sql("from ingest_issue where code = 'unit-disagrees' order by raw_path, raw_offset").to_pylist()
    found = {(row["raw_path"].partition("-")[0], row["message"].partition(":")[0] if "vllm" not in row["message"] else "vllm"): row for row in rows}
    assert len(found) == len(rows)
    ttft = found["contradicting", "vllm"]
    assert (ttft["severity"], ttft["message"]) == (
        "warning", "vllm:time_to_first_token_seconds: the documented unit is s, and is used; UNIT or HELP states milliseconds"
    )
    line = CONTRADICTING.splitlines()[2]
    assert (ttft["raw_offset"], ttft["raw_length"]) == (CONTRADICTING.index(line), len(line))
    # HELP of an exporter before December 2025; and names that mislead, whose exporters document another unit.
    assert (found["older", "DCGM_FI_DEV_SYNC_BOOST_VIOLATION"]["severity"], found["older", "DCGM_FI_DEV_SYNC_BOOST_VIOLATION"]["raw_length"]) == ("warning", 52)
    assert {key: row["severity"] for key, row in found.items() if key[0] == "exporters"} == {
        ("exporters", name): "note"
        for name in ("DCGM_FI_DEV_FB_USED_PERCENT", "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES", "ping_loss_percent")
    }
    assert {key[0] for key in found} == {"contradicting", "older", "exporters"}


@pytest.mark.parametrize("path", [
    "DataDog__integrations-core/dcgm/tests/docker/serve/metrics",
    "er0080__vllm-benchmarking/packages/protocol/tests/fixtures/metrics_vllm_0_25_1_idle.txt",
])
def test_kinds_are_the_types_of_real_captures(path: str) -> None:
    text = (unpacked_evidence("telemetry") / path).read_text()
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)", text, re.MULTILINE))
    checked = {name: stated for name, stated in types.items() if name in known()}
    assert len(checked) > 15
    for name, stated in checked.items():
        # A state is a gauge that holds a code.
        assert known()[name]["kind"] == stated or (known()[name]["kind"], stated) == ("state", "gauge"), name
