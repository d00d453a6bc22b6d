"""How a model was served and what was asked for, in columns of serving_results: from the record, the console beside it, names and
manifests, of every serving benchmark. What nobody states is NULL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import unpacked_evidence
from samples import bench_serving as sample
from samples import genai_perf, guidellm, inference_perf, llm_d_report, llmperf
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import read_project
from warehouse.transform.build.build import build

GOOD = sample.requests(20)
# What vLLM prints of itself, by version: parsed arguments, those that are no defaults, and what its engine made of them.
NAMESPACE = (
    "INFO 04-28 07:54:40 [api_server.py:1897] args: Namespace(model='acme/7b', host=None, api_key='hidden', dtype='auto', "
    "tensor_parallel_size=4, pipeline_parallel_size=2, data_parallel_size=1, quantization='fp8', enable_prefix_caching=None, "
    "enforce_eager=False, max_model_len=8192)\n"
)
NON_DEFAULT = (
    "(APIServer pid=1) INFO 01-29 00:20:11 [utils.py:253] non-default args: {'model_tag': 'acme/7b', 'model': 'acme/7b', "
    "'tensor_parallel_size': 2, 'enable_prefix_caching': True, 'compilation_config': {'level': 3}}\n"
)
ENGINE = (
    "INFO 01-29 00:20:30 [core.py:93] Initializing a V1 LLM engine (v0.11.0) with config: model='acme/7b', tokenizer='acme/7b', "
    "dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=8, pipeline_parallel_size=1, data_parallel_size=2, "
    "quantization=None, enable_prefix_caching=False, chunked_prefill_enabled=True\n"
)
COMMAND = "+ vllm serve acme/7b --port 8000 --tensor-parallel-size 4 --no-enable-prefix-caching --quantization=awq --hf-token abc\n"
LAUNCH = "+ python3 -m sglang.launch_server --model-path acme/7b --tp 2 --disable-radix-cache --dtype float16\n"

COLUMNS = ("tensor", "pipeline", "expert", "data")
Row = dict[str, Any]


def plain(**changes: Any) -> dict[str, Any]:
    return sample.vllm_record(GOOD, detailed=False, **changes)


def built(project: Path, *evidence: Path) -> list[Row]:
    warehouse = Warehouse(standard_project(project))
    for path in evidence:
        ingest(plan_ingest(path, load_ingestors(warehouse.project).values()), open_store(warehouse.project), "test")
    assert not build(warehouse.project).damaged
    sql = "select results.*, run.raw_folder from rollup.serving_results as results inner join benchmark_run_fact as run using (run_id)"
    return warehouse.sql(sql).to_pylist()


def test_a_run_that_was_served_in_another_way_is_no_repeat(tmp_path: Path) -> None:
    server = " --tensor-parallel-size {} --max-num-seqs {}"
    served = {"a": (4, 64), "b": (4, 64), "more_seqs": (4, 128), "tp8": (8, 64)}
    for hour, (name, options) in enumerate(served.items()):
        sample.write(tmp_path / f"tree/{name}.json", plain(date=f"20260102-1{hour}0000", mean_ttft_ms=20.5 + hour))
        (tmp_path / f"tree/{name}.txt").write_text(f"+ vllm serve acme/7b{server.format(*options)}\n")
    built(tmp_path / "project", tmp_path / "tree")
    warehouse = Warehouse(read_project(tmp_path / "project"))
    sql = "select raw_folder, series_key, comparable_key from mart.measurement join benchmark_run_fact using (run_id) where metric = 'ttft_p99_ms'"
    keys = {row["raw_folder"].removesuffix(".json"): row for row in warehouse.sql(sql).to_pylist()}
    assert keys["a"]["comparable_key"] == keys["b"]["comparable_key"] != keys["more_seqs"]["comparable_key"]
    assert keys["a"]["series_key"] == keys["more_seqs"]["series_key"] != keys["tp8"]["series_key"]
    found = warehouse.compare("tensor_parallel_size=4", "tensor_parallel_size=8")
    assert "parameter tensor_parallel_size: 4 -> 8" in map(str, found.differences)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    root = tmp_path_factory.mktemp("tree")
    for name, console in {
        "namespace": NAMESPACE, "non_default": NON_DEFAULT, "engine": ENGINE, "command": COMMAND, "launch": LAUNCH, "none": "ready\n",
        "too_large": COMMAND.replace("-size 4", f"-size {'9' * 23} --pipeline-parallel-size 2"),
    }.items():
        sample.write(root / f"console/{name}.json", plain())
        sample.write(root / f"console/{name}.txt", console)
    sample.write(root / "names/m-fp8_tep8_isl1024_osl128_conc16.json", sample.inferencex_record())
    sample.write(root / "h200/SERVE--max_num_seqs=4-BENCH--max_concurrency=2/run=0.json", plain())
    for path in ("tp2_vs_tp4/fp8-vs-bf16", "sweep/TP8_DP1_TP4", "sweep/isl1024_isl2048_osl128", "tp2_vs_tp4/tp4_isl512", "tp2/tp4"):
        sample.write(root / f"contradictory/{path}.json", plain())
    sample.write(root / "contradictory/tp2_vs_tp4/recorded.json", plain(tensor_parallel_size=2))
    sample.write(root / "records/server.jsonl", sample.sglang_record(GOOD))
    server = sample.sglang_record(GOOD)["server_info"] | {"disable_radix_cache": True, "quantization": "fp8", "api_key": "hidden"}
    sample.write(root / "records/uncached.jsonl", sample.sglang_record(GOOD, server_info=server))
    sample.write(root / "records/agg.json", sample.inferencex_agg_record(dp_attention="true"))
    sample.write(root / "records/split.json", sample.inferencex_agentic_record(nested=False))
    sample.write(root / "records/metadata.json", plain(tensor_parallel_size=4, expert_parallel_size=4, enable_prefix_caching="true"))
    inference_perf.write(root / "inference-perf")
    manifest = root / "inference-perf/batch-size/manifests.yaml"
    text = manifest.read_text().replace("-size=4", '-size=4", "--enable-prefix-caching", "--dtype", "bfloat16')
    (manifest.parent / "results/manifests.yaml").write_text(text)
    lengths = "  input_distribution: {mean: 512}\n  output_distribution: {mean: 64.0}\n"
    (manifest.parent / "results/config.yaml").write_text(inference_perf.CONFIG.replace("  type: shareGPT\n", "  type: random\n" + lengths))
    old, new = llm_d_report.old(), llm_d_report.new()
    for engine, size in zip(old["scenario"]["platform"]["engine"], (1, 8), strict=True):
        engine["args"] = {"--tensor-parallel-size": size, "--enable-expert-parallel": True, "--enforce-eager": False}
    old["scenario"]["model"]["quantization"] = "fp8"
    new["scenario"]["stack"][0]["native"] = {"args": {"--no-enable-prefix-caching": None, "--max-model-len": 1024}}
    new["scenario"]["load"]["standardized"] |= {
        "input_seq_len": {"distribution": "fixed", "value": 2148}, "output_seq_len": {"distribution": "gaussian", "value": 1000},
    }
    llm_d_report.write(root / "llm-d/old", old, "yaml")
    llm_d_report.write(root / "llm-d/new", new, "json")
    report = guidellm.report(2)
    report["config"]["spec"]["data"] = ["prompt_tokens=256,prompt_tokens_stdev=8,output_tokens=128"]
    (root / "guidellm").mkdir()
    (root / "guidellm/benchmarks.json").write_text(json.dumps(report))
    genai_perf.write(root / "genai")
    llmperf.write(root / "llmperf")
    return built(tmp_path_factory.mktemp("project") / "p", root)


def named(rows: list[Row], name: str) -> Row:
    (row,) = (row for row in rows if f"/{name}/" in row["run_id"])
    return row


def sizes(row: Row) -> tuple[int | None, ...]:
    return tuple(row[f"{column}_parallel_size"] for column in COLUMNS)


@pytest.mark.parametrize(
    ("name", "expected", "quantization", "caches"),
    [
        ("namespace", (4, 2, None, 1), "fp8", None),  # None is vLLM's default, and says nothing
        ("non_default", (2, None, None, None), None, True),
        ("engine", (8, 1, None, 2), "bfloat16", False),
        ("command", (4, None, None, None), "awq", False),
        ("launch", (2, None, None, None), "float16", False),
        ("none", (None, None, None, None), None, None),
    ],
)
def test_the_server_on_the_console(
    rows: list[Row], name: str, expected: tuple, quantization: str | None, caches: bool | None
) -> None:
    row = named(rows, name)
    assert (sizes(row), row["precision"], row["is_prefix_caching_enabled"]) == (expected, quantization, caches)
    if name == "none":
        assert (row["server_flags"], row["input_length"], row["configuration_stated_in"]) == (None, None, None)
    else:
        assert row["configuration_stated_in"] == "console"
        assert "hidden" not in row["server_flags"] and "abc" not in row["server_flags"]


def test_a_size_that_no_column_holds_is_missing(rows: list[Row]) -> None:
    row = named(rows, "too_large")
    assert (row["tensor_parallel_size"], row["pipeline_parallel_size"]) == (None, 2)


def test_flags_are_what_was_given(rows: list[Row]) -> None:
    flags = named(rows, "command")["server_flags"]
    assert flags == "--no-enable-prefix-caching=true --port=8000 --quantization=awq --tensor-parallel-size=4"
    assert "--max-model-len=8192" in (flags := named(rows, "namespace")["server_flags"]) and "eager" not in flags and "host" not in flags
    assert "--compilation-config={'level': 3}" in named(rows, "non_default")["server_flags"]


def test_sglang_states_its_server(rows: list[Row]) -> None:
    row = named(rows, "server")
    assert (sizes(row), row["precision"], row["is_prefix_caching_enabled"]) == ((4, 1, 1, 2), "bfloat16", None)
    # Lengths are drawn from 1 to the stated ones, by a ratio of 0.
    assert (row["input_length"], row["output_length"], row["configuration_stated_in"]) == (513, 65, "record")
    assert (row["framework"], row["framework_version"]) == ("sglang", "0.5.9")
    assert "--tp-size=4" in row["server_flags"] and "dp-attention" not in row["server_flags"]
    other = named(rows, "uncached")
    assert (other["precision"], other["is_prefix_caching_enabled"]) == ("fp8", False)
    assert "hidden" not in other["server_flags"]


def test_inferencex_states_its_deployment(rows: list[Row]) -> None:
    row = named(rows, "agg")
    assert (sizes(row), row["precision"], row["server_flags"]) == ((8, None, 1, None), "fp4", "--dp-attention=true")
    assert (row["input_length"], row["output_length"], row["framework_version"]) == (1024, 8192, "0.11.0")
    split = named(rows, "split")
    assert (sizes(split), split["precision"]) == ((None, None, None, None), "fp4")  # prefill and decode differ
    assert split["server_flags"] == "--disagg=true --spec-decoding=mtp"


def test_names_state_a_configuration(rows: list[Row]) -> None:
    row = named(rows, "m-fp8_tep8_isl1024_osl128_conc16")
    assert (sizes(row), row["precision"], row["is_prefix_caching_enabled"]) == ((8, None, 8, None), "fp8", None)
    assert (row["input_length"], row["output_length"], row["configuration_stated_in"]) == (1024, 128, "name")
    (swept,) = (row for row in rows if "SERVE--" in row["run_id"])
    assert swept["server_flags"] == "--max_num_seqs=4"


@pytest.mark.parametrize(
    ("name", "expected", "used", "lengths", "precision"),
    [
        ("fp8-vs-bf16", (None, None, None, None), None, (None, None), None),
        ("TP8_DP1_TP4", (None, None, None, 1), None, (None, None), None),  # and not one accelerator for the one replica
        ("isl1024_isl2048_osl128", (None, None, None, None), None, (None, 128), None),
        ("tp4_isl512", (4, None, None, None), 4, (512, None), None),  # the file is one of the two that the folder compares
        ("tp4", (None, None, None, None), None, (None, None), None),  # in a folder tp2
        ("recorded", (2, None, None, None), 2, (None, None), None),  # the record is asked first
    ],
)
def test_names_that_state_two_values_state_none(
    rows: list[Row], name: str, expected: tuple, used: int | None, lengths: tuple, precision: str | None
) -> None:
    row = named(rows, name)
    assert (sizes(row), row["accelerator_count"], row["precision"]) == (expected, used, precision)
    assert (row["input_length"], row["output_length"]) == lengths


def test_what_a_person_put_into_the_record(rows: list[Row]) -> None:
    row = named(rows, "metadata")
    assert (sizes(row), row["is_prefix_caching_enabled"]) == ((4, None, 4, None), True)


def of_family(rows: list[Row], family: str, **where: Any) -> Row:
    found = [row for row in rows if row["family"] == family and all(row[key] == value for key, value in where.items())]
    assert len({json.dumps({key: row[key] for key in ("server_flags", "input_length", "output_length")}) for row in found}) == 1
    return found[0]


def test_manifests_of_inference_perf_state_the_server(rows: list[Row]) -> None:
    row = of_family(rows, "inference_perf")
    assert (sizes(row), row["precision"], row["is_prefix_caching_enabled"]) == ((4, None, None, None), "bfloat16", True)
    assert row["server_flags"] == "--model=acme/7b --tensor-parallel-size=4 --enable-prefix-caching --dtype bfloat16"
    assert (row["input_length"], row["output_length"], row["configuration_stated_in"]) == (512, 64, "manifest, configuration")
    assert (row["framework"], row["framework_version"]) == ("vllm", "0.11.0")


def test_llm_d_reports_state_the_server(rows: list[Row]) -> None:
    new = of_family(rows, "llm_d_report", framework="llm-d")
    assert (sizes(new), new["is_prefix_caching_enabled"]) == ((8, 1, 1, 1), False)
    assert (new["server_flags"], new["input_length"], new["output_length"]) == ("--no-enable-prefix-caching --max-model-len=1024", 2148, 1000)
    old = of_family(rows, "llm_d_report", framework="vllm")
    assert (old["tensor_parallel_size"], old["precision"], old["is_prefix_caching_enabled"]) == (None, "fp8", None)
    assert old["server_flags"] == "--enable-expert-parallel --tensor-parallel-size=1 ; --enable-expert-parallel --tensor-parallel-size=8"


@pytest.mark.parametrize(("family", "lengths"), [("guidellm", (256, 128)), ("genai_perf", (200, 50)), ("llmperf", (500, 100))])
def test_clients_state_the_lengths_they_asked_for(rows: list[Row], family: str, lengths: tuple[int, int]) -> None:
    row = of_family(rows, family)
    assert (row["input_length"], row["output_length"], row["server_flags"], sizes(row)) == (*lengths, None, (None,) * 4)


def test_p95_and_throughput_per_accelerator(rows: list[Row]) -> None:
    assert named(rows, "server")["itl_p95_ms"] == sample.statistics(sample.measures(GOOD)["itl"], (95,))["p95"]
    assert {f"{metric}_p95_ms" for metric in ("ttft", "tpot", "itl", "e2e")} <= rows[0].keys()
    split = named(rows, "split")  # 8 accelerators of prefill and 8 of decode
    assert split["total_token_throughput_per_accelerator_per_s"] == split["total_token_throughput_per_s"] / 16 == 581.25
    assert split["output_token_throughput_per_accelerator_per_s"] == 18.75
    assert named(rows, "none")["output_token_throughput_per_accelerator_per_s"] is None  # how many is not stated


# A stated throughput per accelerator; the issue.
DISAGREEING = (
    (581.0, "aggregate-disagrees", "tput_per_gpu is 581.0, but total_tput_tps is 9300, of 16 accelerators: 0.043 % apart"),
    (
        1162.5, "accelerator-count-disagrees",
        "tput_per_gpu is 1162.5, but total_tput_tps is 9300, of 16 accelerators: 50 % apart. 8 accelerators are implied: "
        "their number is taken as unknown",
    ),
)


def test_a_stated_throughput_per_accelerator_that_disagrees_is_reported(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/right.json", sample.inferencex_agentic_record(nested=False))
    for number, (each, *_) in enumerate(DISAGREEING):
        sample.write(tmp_path / f"tree/wrong{number}.json", sample.inferencex_agentic_record(nested=False, tput_per_gpu=each))
    built(tmp_path / "p", tmp_path / "tree")
    issues = Warehouse(read_project(tmp_path / "p")).sql("from ingest_issue where run_id is not null order by raw_path").to_pylist()
    assert [(issue["raw_path"], issue["code"], issue["message"]) for issue in issues] == [
        (f"wrong{number}.json", code, message) for number, (_, code, message) in enumerate(DISAGREEING)
    ]


# --- real evidence, read by other means -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return built(tmp_path_factory.mktemp("real") / "p", unpacked_evidence("serving"), unpacked_evidence("missed"))


@pytest.mark.exhaustive
def test_every_server_info_of_sglang_is_in_its_row(real: list[Row]) -> None:
    paths = sorted(unpacked_evidence("serving").rglob("sglang/**/*.jsonl"))
    assert paths
    for path in paths:
        record = json.loads(path.read_text().splitlines()[0])
        server, row = record["server_info"], named(real, path.stem)
        assert sizes(row) == tuple(server[f"{short}_size"] for short in ("tp", "pp", "ep", "dp"))
        assert row["precision"] == (server["quantization"] or server["dtype"])
        assert row["is_prefix_caching_enabled"] is not server["disable_radix_cache"]
        sent, answered = (record[f"total_{kind}_tokens"] / record["completed"] for kind in ("input", "output"))
        assert (row["input_length"], row["output_length"]) == (pytest.approx(sent, rel=0.1), pytest.approx(answered, rel=0.1))
        assert f"--mem-fraction-static={server['mem_fraction_static']}" in row["server_flags"].split()


@pytest.mark.exhaustive
def test_every_record_of_inferencex_is_in_its_row(real: list[Row]) -> None:
    checked = 0
    for path in sorted(unpacked_evidence("missed").rglob("*.json")):
        record = json.loads(path.read_text())
        if not isinstance(record, dict) or "tput_per_gpu" not in record:
            continue
        of_record = [row for row in real if f"/{path.stem}/" in row["run_id"]]
        for row in of_record:
            checked += 1
            assert (row["tensor_parallel_size"], row["expert_parallel_size"]) == (record["tp"], record["ep"])
            assert row["precision"] == record["precision"]
            each = row["total_token_throughput_per_accelerator_per_s"]
            assert each == pytest.approx(record["tput_per_gpu"])
    assert checked


@pytest.mark.exhaustive
def test_manifests_tell_which_servers_cache_prefixes(real: list[Row]) -> None:
    checked = 0
    for path in sorted(unpacked_evidence("serving").rglob("manifests.yaml")):
        deployment = next(document for document in yaml.safe_load_all(path.read_text()) if document["kind"] == "Deployment")
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        told = {"--enable-prefix-caching": True, "--no-enable-prefix-caching": False}
        expected = next((told[argument] for argument in arguments if argument in told), None)
        for row in real:
            if row["family"] == "inference_perf" and f"/{path.parent.name}/" in f"/{row['run_id']}/":
                checked += 1
                assert row["is_prefix_caching_enabled"] is expected
                assert all(word in row["server_flags"] for word in arguments if "$(" not in word)
    assert checked


def test_servers_with_different_accelerators_state_them_all(tmp_path: Path) -> None:
    """Also a part of one, which a manifest asks for by its resource while the node's label names the whole."""
    report = llm_d_report.old()
    report["scenario"]["host"]["accelerator"][0]["model"] = "L40S"
    llm_d_report.write(tmp_path / "tree/llm-d", report, "yaml")
    inference_perf.write(tmp_path / "tree/perf")
    manifest = tmp_path / "tree/perf/batch-size/manifests.yaml"
    text = manifest.read_text().replace("nvidia.com/gpu: 4", "nvidia.com/mig-1g.10gb: 4")
    assert "mig-" in text
    (manifest.parent / "results/manifests.yaml").write_text(text)
    rows = built(tmp_path / "p", tmp_path / "tree")
    stated = {row["family"]: (row["accelerator"], row["accelerator_name"], row["cost_reason"]) for row in rows}
    assert stated == {
        "llm_d_report": ("H100, L40S", None, "no-price"),  # prefill and decode have a price each
        "inference_perf": ("nvidia-h100-80gb, nvidia.com/mig-1g.10gb", None, "no-price"),
    }
