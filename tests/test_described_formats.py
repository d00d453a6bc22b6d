"""Every described format: each value of its sample against a reading by other means, and the whole against a build."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any
from xml.etree import ElementTree

import pytest
from built import built, sql_of
from conftest import WhOn
from landed import landed
from standard import standard_project

from warehouse.errors import ExitCode, WarehouseError
from warehouse.landing.described.ingestor import described_ingestor

INGEST = Path(__file__).resolve().parents[1] / "ingest"
NAMES = sorted(path.parent.name for path in INGEST.glob("*/format.toml"))
Values = Iterator[tuple[str, str, float | None]]  # case, metric, value
Reading = Callable[[Path], Values]


def _json(path: Path) -> Any:
    return json.loads(path.read_text())


def _rows(path: Path, **options: Any) -> list[dict[str, str]]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, **options))


def _records(path: Path) -> list[dict[str, Any]]:
    """Of a JSON array, JSON lines or CSV."""
    if path.suffix == ".csv":
        return _rows(path)
    text = path.read_text()
    if path.suffix == ".sql":
        with sqlite3.connect(":memory:") as connection:
            connection.executescript(text)
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute("select * from llama_bench")]
    return json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]


def _keys(case: Callable[[dict[str, Any]], str], keys: dict[str, str], scale: float = 1, read: Callable[[Path], list[dict[str, Any]]] = _records) -> Reading:
    """Metrics that are keys of records, all times `scale`."""

    def found(path: Path) -> Values:
        for record in read(path):
            for metric, key in keys.items():
                value: Any = record
                for part in key.split("/") if key not in record else [key]:
                    value = None if value is None else value.get(part)
                if value not in (None, ""):
                    yield case(record), metric, float(value) * scale

    return found


def _one(path: Path) -> list[dict[str, Any]]:
    return [_json(path)]


def _text(case: str, **patterns: str) -> Reading:
    """Metrics that regular expressions find; each match is one value. A group `name` fills `{}` of the metric's name, `unit` scales."""

    def found(path: Path) -> Values:
        for metric, pattern in patterns.items():
            for match in re.finditer(pattern, path.read_text(), re.MULTILINE):
                groups = match.groupdict()
                value = float(groups["value"].replace(",", "")) * {"ms": 1e3, "s": 1e6}.get(groups.get("unit") or "", 1)
                yield case, metric.replace("X", groups.get("name", "").lower()), value

    return found


def _together(*readings: Reading) -> Reading:
    return lambda path: (value for reading in readings for value in reading(path))


def _hyperfine(path: Path) -> Values:
    for each in _rows(path) if path.suffix == ".csv" else _json(path)["results"]:
        for time in each["times"] if "times" in each else [each["median"]]:
            yield f"hyperfine/{each['command']}", "elapsed_s", float(time)
        yield f"hyperfine/{each['command']}", "user_cpu_s", float(each["user"])
        yield f"hyperfine/{each['command']}", "system_cpu_s", float(each["system"])


def _google(path: Path) -> Values:
    rows = [row for row in _rows(path) if row["real_time"]] if path.suffix == ".csv" else _json(path)["benchmarks"]
    for each in rows:
        if each.get("run_type") != "aggregate" and not each.get("error_occurred"):
            scale = {"ns": 1, "us": 1e3}[each["time_unit"]]
            for metric, key, by in (("real_time_ns", "real_time", scale), ("cpu_time_ns", "cpu_time", scale), ("items_per_s", "items_per_second", 1), ("bytes_per_s", "bytes_per_second", 1)):
                yield f"google_benchmark/{each['name']}", metric, float(each[key]) * by
            yield f"google_benchmark/{each['name']}", "size", float(each["size"])  # a counter of the program's own


def _llama(path: Path) -> Values:
    for each in _records(path):
        metric = "prompt_tokens_per_s" if not int(each["n_gen"]) else "generated_tokens_per_s"
        for value in each.get("samples_ts") or [each["avg_ts"]]:
            yield f"llama-bench/{each['model_type']}", metric, float(value)


def _k6(path: Path) -> Values:
    for name, metric in _json(path)["metrics"].items():
        values = metric.get("values", metric)
        for ending, key in (("mean", "avg"), ("min", "min"), ("p50", "med"), ("p90", "p(90)"), ("p95", "p(95)"), ("max", "max")):
            if "avg" in values:
                yield "k6", f"{name}_{ending}_ms", values[key]
        if name == "http_reqs":
            yield "k6", "http_reqs_per_s", values["rate"]
        if metric.get("contains") == "data":
            yield "k6", f"{name}_bytes", values["count"]
        if metric.get("type") == "rate":
            yield "k6", f"{name}_share", values["rate"]


def _go(path: Path) -> Values:
    for line in path.read_text().splitlines():
        if line.startswith("Benchmark"):
            name, _, *pairs = line.split()
            for value, unit in zip(pairs[::2], pairs[1::2], strict=True):
                metric = {"ns/op": "elapsed_ns", "MB/s": "throughput_mb_per_s", "B/op": "allocated_bytes_per_op", "allocs/op": "allocations_per_op"}[unit]
                yield f"go_bench/example.com/demo/{name.removeprefix('Benchmark')}", metric, float(value)


def _jmh(path: Path) -> Values:
    for each in _json(path):
        metric, scale = ("throughput_per_s", 1) if each["mode"] == "thrpt" else ("time_per_op_ns", 1000)
        for fork in each["primaryMetric"]["rawData"]:
            for value in fork:
                yield f"jmh/{each['benchmark']}", metric, value * scale


def _clickbench(path: Path) -> Values:
    document = _json(path)
    for number, (cold, *hot) in enumerate(document["result"]):
        if cold is not None:
            yield f"clickbench/{document['system']}/query {number}", "cold_s", cold
            yield from ((f"clickbench/{document['system']}/query {number}", "hot_s", value) for value in hot)


def _asv(path: Path) -> Values:
    for name, (values, *_) in _json(path)["results"].items():
        for value in values:
            yield f"asv/{name}", "elapsed_s" if ".time_" in name else "tracked", value


def _rebench(path: Path) -> Values:
    for row in _rows(path, delimiter="\t"):
        metric, scale = ("total_ms", 1) if row["criterion"] == "total" else ("maxrss_bytes", 1024)
        yield f"rebench/{row['suite']}/{row['benchmark']}", metric, float(row["value"]) * scale


def _pyperf(path: Path) -> Values:
    return (("pyperf/timeit", "elapsed_s", value) for run in _json(path)["benchmarks"][0]["runs"] for value in run.get("values", ()))


def _pytest(path: Path) -> Values:
    return ((f"pytest_benchmark/{each['fullname']}", "elapsed_s", value) for each in _json(path)["benchmarks"] for value in each["stats"]["data"])


def _optimum(path: Path) -> Values:
    document = _json(path)
    case = f"optimum-benchmark/inference/{document['config']['backend']['model']}"
    for name, report in document["report"].items():
        yield from ((case, f"{name}_latency_s", value) for value in report["latency"]["values"])
        yield case, f"{name}_tokens_per_s", report["throughput"]["value"]
        for metric, key in (("ram", "max_ram"), ("vram", "max_global_vram"), ("process_vram", "max_process_vram"), ("reserved", "max_reserved"), ("allocated", "max_allocated")):
            if (value := (report.get("memory") or {}).get(key)) is not None:
                yield case, f"{name}_{metric}_mb", value


def _dotnet(path: Path) -> Values:
    (each,) = _json(path)["Benchmarks"]
    yield from ((f"benchmarkdotnet/{each['FullName']}", "elapsed_ns", value) for value in each["Statistics"]["OriginalValues"])
    yield f"benchmarkdotnet/{each['FullName']}", "allocated_bytes_per_op", each["Memory"]["BytesAllocatedPerOperation"]


def _ollama(path: Path) -> Values:
    each = _json(path)
    for metric, key in (("total_ms", "total"), ("load_ms", "load"), ("prompt_eval_ms", "prompt_eval")):
        yield f"ollama/{each['model']}", metric, each[f"{key}_duration"] / 1e6
    yield f"ollama/{each['model']}", "prompt_tokens_per_s", each["prompt_eval_count"] / each["prompt_eval_duration"] * 1e9
    yield f"ollama/{each['model']}", "generated_tokens_per_s", each["eval_count"] / each["eval_duration"] * 1e9


_EVALSCOPE = {  # names before and after they were shortened; those of the first in seconds, times 1000
    "concurrency_point": "Number of concurrency|Concurrency", "completed_count": "Succeed requests|Success Requests", "failed_count": "Failed requests|Failed Requests",
    "request_throughput_per_s": "Request throughput (req/s)|Req Throughput (req/s)", "output_token_throughput_per_s": "Output token throughput (tok/s)|Output Throughput (tok/s)",
    "total_token_throughput_per_s": "Total token throughput (tok/s)|Total Throughput (tok/s)", "e2e_mean_ms": "Average latency (s)|Avg Latency (s)",
    "ttft_mean_ms": "Average time to first token (s)|TTFT (ms)", "tpot_mean_ms": "Average time per output token (s)|TPOT (ms)", "itl_mean_ms": "Average inter-token latency (s)",
    "decoded_tokens_per_iteration": "Decoded Tok/Iter", "speculative_acceptance_share": "Spec. Accept Rate",
}


def _evalscope(path: Path) -> Values:
    document = _json(path)
    for metric, names in _EVALSCOPE.items():
        for name in set(names.split("|")) & set(document):
            yield "evalscope perf", metric, document[name] * (1000 if name.endswith("(s)") else 1)


def _perf(path: Path) -> Values:
    for each in _records(path):
        if each["counter-value"][0] != "<":
            yield "perf stat", each["event"] + {"": "", "msec": "_ms", "Joules": "_j"}[each["unit"]], float(each["counter-value"])
        metric = {"insn per cycle": "instructions_per_cycle", "CPUs utilized": "cpus_utilized"}.get(each.get("metric-unit", ""))
        if metric:
            yield "perf stat", metric, float(each["metric-value"])


def _benchy(path: Path) -> Values:
    keys = {
        "pp_throughput": "prompt_tokens_per_s", "pp_req_throughput": "prompt_per_request_tokens_per_s", "tg_throughput": "generated_tokens_per_s",
        "tg_req_throughput": "generated_per_request_tokens_per_s", "peak_throughput": "peak_generated_tokens_per_s", "ttfr": "first_response_ms",
        "est_ppt": "estimated_prompt_processing_ms", "e2e_ttft": "first_token_ms",
    }
    for each in _json(path)["benchmarks"]:
        for key, metric in keys.items():
            yield from (("llama-benchy/example/model-8b", metric, value) for value in (each[key] or {"values": []})["values"])


def _storage(path: Path) -> Values:
    metric = _json(path)["metric"]
    yield from (("mlperf storage", "accelerator_utilization_pct", value) for value in metric["train_au_percentage"])
    yield from (("mlperf storage", "throughput_samples_per_s", value) for value in metric["train_throughput_samples_per_second"])
    yield "mlperf storage", "io_mib_per_s", metric["train_io_mean_MB_per_second"]


def _babel(path: Path) -> Values:
    for name, _, _, _, rate, _, _, mean in (row for row in csv.reader(path.read_text().splitlines()[4:])):
        yield "babelstream/csv", f"{name.lower()}_mb_per_s", float(rate)
        yield "babelstream/csv", f"{name.lower()}_mean_s", float(mean)


def _tiny(path: Path) -> Values:
    text = path.read_text()
    for metric, pattern in (("inferences_per_s", "Throughput   :"), ("energy_per_inference_uj", "Energy/Inf.  :"), ("power_uw", "Power        :")):
        yield from (("mlperf tiny", metric, float(line.split()[-2])) for line in text.splitlines() if pattern in line)


def _client(path: Path) -> Values:
    for each in _records(path):
        case = f"mlperf client/{each['Scenario Name']}"
        for name, category in (each["category_results"] or {}).items():
            plain = name.lower().replace(" ", "_")
            yield case, f"ttft_{plain}_s", category["Avg Time to First Token"]
            yield case, f"generated_{plain}_tokens_per_s", category["Avg 2nd+ Token Generation Rate"]
        if each["overall_results"]:
            yield case, "ttft_geomean_s", each["overall_results"]["Geomean Time to First Token"]
            yield case, "generated_geomean_tokens_per_s", each["overall_results"]["Geomean 2nd+ Token Generation Rate"]


def _ycsb(path: Path) -> Values:
    names = {"AverageLatency(us)": "latency_mean_us", "MinLatency(us)": "latency_min_us", "MaxLatency(us)": "latency_max_us", "Return=OK": "ok_count", "Return=ERROR": "error_count"}
    for line in path.read_text().splitlines():
        what, name, value = line.split(", ") if line.startswith("[") else ("", "", "")
        if what == "[OVERALL]" and name.startswith("Throughput"):
            yield "ycsb", "operations_per_s", float(value)
        elif what == "[TOTAL_GC_TIME]":
            yield "ycsb", "garbage_collection_ms", float(value)
        elif metric := names.get(name) or re.sub(r"(\d+)thPercentileLatency\(us\)", r"latency_p\1_us", name if "Percentile" in name else ""):
            yield "ycsb", f"{what.strip('[]').lower()}_{metric}", float(value)


def _oha(path: Path) -> Values:
    document = _json(path)
    for metric, key in (("requests_per_s", "requestsPerSec"), ("success_share", "successRate"), ("bytes_per_s", "sizePerSec"), ("response_time_mean_s", "average"), ("response_time_max_s", "slowest"), ("response_time_min_s", "fastest")):
        yield "oha", metric, document["summary"][key]
    for name, section in (("response_time_{}_s", "latencyPercentiles"), ("first_byte_{}_s", "firstBytePercentiles"), ("status_{}_count", "statusCodeDistribution"), ("error_{}_count", "errorDistribution")):
        yield from (("oha", name.format(key.replace(" ", "_")), value) for key, value in document[section].items() if value is not None)


def _memtier(path: Path) -> Values:
    case = "memtier_benchmark/redis"
    for name, each in _json(path)["ALL STATS"].items():
        if each.get("Count"):
            yield case, f"{name.lower()}_per_s", each["Ops/sec"]
            yield case, f"{name.lower()}_bytes_per_s", each["KB/sec"] * 1024
            yield case, f"{name.lower()}_latency_mean_ms", each["Average Latency"]
            yield case, f"{name.lower()}_latency_max_ms", each["Max Latency"]
            yield from ((case, f"{name.lower()}_latency_{key}_ms", value) for key, value in each["Percentile Latencies"].items() if key[0] == "p")


def _openssl(path: Path) -> Values:
    sizes: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("type "):
            sizes = re.findall(r"(\d+) bytes", line)
        elif sizes and line.rstrip().endswith("k"):
            for size, value in zip(sizes, re.findall(r"([\d.]+)k", line), strict=True):
                yield f"openssl speed/{line[:15].strip()}", f"throughput_{size}_bytes_per_s", float(value) * 1000
        elif " bits " in line:
            name = line.split()[0] if line[0] != " " else line.partition("bits ")[2].partition("  ")[0]
            rates = [float(each) for each in line.split() if re.fullmatch(r"[\d.]+\.\d", each)]
            yield from ((f"openssl speed/{name}", metric, rate) for metric, rate in zip(("sign_per_s", "verify_per_s") if len(rates) == 2 else ("derive_per_s",), rates, strict=True))


def _stress(path: Path) -> Values:
    for line in path.read_text().splitlines():
        cells = line.split()
        if cells[1] == "metrc:" and cells[4].isdigit():
            yield f"stress-ng/{cells[3]}", "operations_per_s", float(cells[8])
            yield f"stress-ng/{cells[3]}", "operations_per_cpu_s", float(cells[9])
            yield f"stress-ng/{cells[3]}", "rss_bytes", float(cells[11]) * 1024


def _rocksdb(path: Path) -> Values:
    for line in path.read_text().splitlines():
        if "micros/op" in line:
            case, words = f"rocksdb db_bench/{line.split()[0]}", line.split()
            yield case, "time_per_operation_us", float(words[2])
            yield case, "operations_per_s", float(words[4])
            if "MB/s" in words:
                yield case, "throughput_mib_per_s", float(words[words.index("MB/s") - 1])


def _nvbench(path: Path) -> Values:
    for benchmark in _json(path)["benchmarks"]:
        for summary in (each for state in benchmark["states"] for each in state["summaries"]):
            ending = {"duration": "_s", "byte_rate": "", "percentage": "_share"}.get(summary["hint"])
            if ending is not None:
                yield f"nvbench/{benchmark['name']}", summary["tag"].removeprefix("nv/").replace("/", "_") + ending, float(summary["data"][0]["value"])


def _catch2(path: Path) -> Values:
    for case in ElementTree.parse(path).iter("TestCase"):
        for each in case.iter("BenchmarkResults"):
            mean, deviation = each.find("mean"), each.find("standardDeviation")
            assert mean is not None and deviation is not None
            for metric, value in (("mean", mean.get("value")), ("mean_low", mean.get("lowerBound")), ("mean_high", mean.get("upperBound")), ("deviation", deviation.get("value"))):
                yield f"catch2/{case.get('name')}/{each.get('name')}", f"elapsed_{metric}_ns", float(value or "nan")


def _smi(path: Path) -> Values:
    names = {
        "power.draw [W]": "gpu_power_w", "power.limit [W]": "gpu_power_limit_w", "temperature.gpu": "gpu_temperature_c", "temperature.memory": "gpu_memory_temperature_c",
        "clocks.current.sm [MHz]": "gpu_sm_clock_mhz", "clocks.current.memory [MHz]": "gpu_memory_clock_mhz", "utilization.gpu [%]": "gpu_util_pct",
        "utilization.memory [%]": "gpu_memory_copy_util_pct", "memory.used [MiB]": "gpu_memory_used_bytes", "memory.free [MiB]": "gpu_memory_free_bytes",
        "memory.total [MiB]": "gpu_memory_total_bytes", "fan.speed [%]": "gpu_fan_pct",
    }
    for row in csv.DictReader(path.read_text().splitlines(), skipinitialspace=True):
        for column, metric in names.items():
            if column in row and row[column] != "[N/A]":
                yield f"gpu {row['index']}", metric, float(row[column].split()[0]) * (1 << 20 if "MiB" in column else 1)


_N = r"(?P<value>[\d.,]+(?:e[+-]?\d+)?)"
READINGS: dict[str, Reading] = {
    "apache_bench": _text(
        "apache_bench/127.0.0.1/pb.json", requests_per_s=rf"^Requests per second: +{_N}", response_time_mean_ms=rf"^Time per request: +{_N} \[ms\] \(mean\)$",
        complete_count=rf"^Complete requests: +{_N}", failed_count=rf"^Failed requests: +{_N}", transfer_kib_per_s=rf"^Transfer rate: +{_N}",
        response_time_pX_ms=rf"^ +(?P<name>\d+)% +{_N}$",
    ),
    "asv": _asv,
    "babelstream": lambda path: _babel(path) if path.suffix == ".csv" else _together(
        _text("babelstream/CUDA", X_mb_per_s=rf"^(?P<name>Copy|Mul|Add|Triad|Dot) +{_N}", X_mean_s=rf"^(?P<name>Copy|Mul|Add|Triad|Dot) .* {_N} +$")
    )(path),
    "benchmarkdotnet": _dotnet,
    "catch2": _catch2,
    "clickbench": _clickbench,
    "coremark": _text("coremark", iterations_per_s=rf"^Iterations/Sec +: {_N}"),
    "criterion": _keys(
        lambda record: f"criterion/{record['id']}", {"typical_ns": "typical/estimate", "mean_ns": "mean/estimate", "median_ns": "median/estimate"},
        read=lambda path: [record for record in _records(path) if record["reason"] == "benchmark-complete"],
    ),
    "evalscope": _evalscope,
    "go_bench": _go,
    "google_benchmark": _google,
    "hey": _text(
        "hey", requests_per_s=rf"Requests/sec:\s+{_N}", response_time_mean_s=rf"Average:\s+{_N} secs", response_time_max_s=rf"Slowest:\s+{_N} secs",
        response_time_min_s=rf"Fastest:\s+{_N} secs", response_time_pX_s=rf"^ +(?P<name>[1-9]\d*)% in {_N} secs",
    ),
    "hf_inference_benchmarker": _keys(
        lambda record: f"inference-benchmarker/{record['id']}", {
            "concurrency_point": "config/max_vus", "completed_count": "successful_requests", "failed_count": "failed_requests",
            "request_throughput_per_s": "request_rate", "output_token_throughput_per_s": "token_throughput_secs",
            **{f"{short}_{statistic}_ms": f"{key}/{stated}" for short, key in (("ttft", "time_to_first_token_ms"), ("itl", "inter_token_latency_ms"), ("e2e", "e2e_latency_ms"))
               for statistic, stated in (("mean", "avg"), ("p50", "p50"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"))},
        }, read=lambda path: _json(path)["results"][1:],
    ),
    "hpcg": _text("hpcg", gflop_per_s=rf"rating of={_N}", raw_gflop_per_s=rf"^GFLOP/s Summary::Raw Total={_N}", bandwidth_gb_per_s=rf"Raw Total B/W={_N}"),
    "hpl": _text("hpl", gflop_per_s=rf"^WR.* {_N}$", elapsed_s=rf"^WR\S+ +\d+ +\d+ +\d+ +\d+ +{_N}"),
    "hyperfine": _hyperfine,
    "jmh": _jmh,
    "k6": _k6,
    "llama_bench": _llama,
    "llama_bench_markdown": lambda path: (
        ("llama-bench/qwen2 7B Q4_K - Medium", {"pp512": "prompt_tokens_per_s", "pp512+tg128": "combined_tokens_per_s"}.get(test, "generated_tokens_per_s"), float(rate))
        for test, rate in re.findall(r"(\S+)(?: @ d\d+)? \| +([\d.]+) ±", path.read_text())
    ),
    "llama_benchy": _benchy,
    "lmdeploy": _keys(lambda record: "lmdeploy profile_restful_api/random", {
        "completed_count": "completed", "failed_count": "failed", "request_throughput_per_s": "request_throughput",
        "output_token_throughput_per_s": "output_throughput", "e2e_mean_ms": "mean_e2e_latency_ms", "e2e_p50_ms": "median_e2e_latency_ms",
        "ttft_mean_ms": "mean_ttft_ms", "ttft_p50_ms": "median_ttft_ms", "ttft_p99_ms": "p99_ttft_ms", "tpot_mean_ms": "mean_tpot_ms",
    }),
    "locust": _keys(lambda record: f"locust/{record['Name']}", {
        "request_count": "Request Count", "failure_count": "Failure Count", "response_time_mean_ms": "Average Response Time",
        "response_time_min_ms": "Min Response Time", "response_time_max_ms": "Max Response Time", "response_time_p50_ms": "50%",
        "response_time_p90_ms": "90%", "response_time_p95_ms": "95%", "response_time_p99_ms": "99%", "requests_per_s": "Requests/s",
        "failures_per_s": "Failures/s", "content_size_mean_bytes": "Average Content Size",
    }),
    "memtier_benchmark": _memtier,
    "mlperf_client": _client,
    "mlperf_storage": _storage,
    "mlperf_tiny": _tiny,
    "nvbench": _nvbench,
    "nvidia_smi_csv": _smi,
    "oha": _oha,
    "ollama": _ollama,
    "openssl_speed": _openssl,
    "optimum_benchmark": _optimum,
    "osu": _together(
        _text("osu/Bandwidth", bandwidth_X_mb_per_s=rf"^(?P<name>1|1024|1048576) +{_N}$(?=[\s\S]*Allreduce)"),
        _text("osu/Allreduce Latency", latency_mean_X_us=rf"^(?P<name>4|1024) +{_N}$(?![\s\S]*Allreduce)"),
    ),
    "perf_analyzer": _together(
        _keys(lambda record: "perf_analyzer", {"concurrency_point": "Concurrency", "request_throughput_per_s": "Inferences/Second"}),
        _keys(lambda record: "perf_analyzer", {"queueing_delay_ms": "Server Queue", **{f"e2e_p{n}_ms": f"p{n} latency" for n in (50, 90, 95, 99)}}, 1 / 1000),
    ),
    "perf_stat": _perf,
    "pgbench": _text("pgbench/<builtin: TPC-B (sort of)>", transactions_per_s=rf"^tps = {_N}", latency_mean_ms=rf"^latency average = {_N}"),
    "pyperf": _pyperf,
    "pytest_benchmark": _pytest,
    "rebench": _rebench,
    "redis_benchmark": _keys(lambda record: f"redis_benchmark/{record['test']}", {
        "requests_per_s": "rps", "latency_mean_ms": "avg_latency_ms", **{f"latency_{each}_ms": f"{each}_latency_ms" for each in ("min", "p50", "p95", "p99", "max")},
    }),
    "rocksdb_db_bench": _rocksdb,
    "rust_bench": _together(
        _text("rust_bench/bench_parse", elapsed_ns=rf"^test bench_parse .* {_N} ns/iter"),
        _text("rust_bench/bench_copy", elapsed_ns=rf"^test bench_copy .* {_N} ns/iter", throughput_mb_per_s=rf"= {_N} MB/s"),
    ),
    "sglang_offline": _keys(lambda record: "sglang bench_offline_throughput", {
        "completed_count": "successful_requests", "request_throughput_per_s": "request_throughput",
        "output_token_throughput_per_s": "output_throughput", "total_token_throughput_per_s": "total_throughput",
    }),
    "sglang_one_batch": _together(_keys(lambda record: "sglang bench_one_batch", {"latency_s": "latency"}), _keys(lambda record: "sglang bench_one_batch", {"latency_s": "total_latency"}), _keys(lambda record: "sglang bench_one_batch", {
        "ttft_s": "ttft", "input_tokens_per_s": "input_throughput", "output_tokens_per_s": "output_throughput",
        "overall_tokens_per_s": "overall_throughput", "last_generation_tokens_per_s": "last_gen_throughput",
        "prefill_latency_s": "prefill_latency", "prefill_tokens_per_s": "prefill_throughput", "decode_latency_s": "median_decode_latency",
        "decode_tokens_per_s": "median_decode_throughput",
    })),
    "siege": _keys(lambda record: "siege", {
        "response_time_mean_s": "response_time", "response_time_max_s": "longest_transaction", "response_time_min_s": "shortest_transaction",
        "transactions_per_s": "transaction_rate", "throughput_mb_per_s": "throughput", "transaction_count": "transactions",
        "failed_count": "failed_transactions", "availability_pct": "availability",
    }, read=_one),
    "stress_ng": _stress,
    "stream": _together(*(
        _text("stream", X_mb_per_s=rf"^(?P<name>{name}): +{_N}", X_mean_s=rf"^(?P<name>{name}): +[\d.]+ +{_N}") for name in ("Copy", "Scale", "Add", "Triad")
    )),
    "sysbench": _text(
        "sysbench", events_per_s=rf"events per second: +{_N}", operations_per_s=rf"\({_N} per second\)", memory_mib_per_s=rf"\({_N} MiB/sec\)",
        event_count=rf"total number of events: +{_N}", latency_min_ms=rf"min: +{_N}", latency_mean_ms=rf"avg: +{_N}", latency_max_ms=rf"max: +{_N}",
        latency_p95_ms=rf"95th percentile: +{_N}",
    ),
    "vegeta": _together(
        _keys(lambda record: "vegeta", {
            "latency_mean_ms": "latencies/mean", "latency_max_ms": "latencies/max", "latency_min_ms": "latencies/min",
            **{f"latency_p{n}_ms": f"latencies/{n}th" for n in (50, 90, 95, 99)},
        }, 1e-6, _one),
        _keys(lambda record: "vegeta", {"requests_per_s": "rate", "throughput_per_s": "throughput", "request_count": "requests", "success_share": "success"}, read=_one),
    ),
    "vegeta_results": _keys(lambda record: f"vegeta/{record['attack']}", {"latency_ms": "latency"}, 1e-6),
    "vllm_latency": lambda path: (("vllm bench latency", "batch_latency_s", value) for value in _json(path)["latencies"]),
    "vllm_throughput": _keys(lambda record: "vllm bench throughput", {
        "completed_count": "num_requests", "request_throughput_per_s": "requests_per_second", "total_token_throughput_per_s": "tokens_per_second",
    }, read=_one),
    "wrk": _text(
        "wrk/http://127.0.0.1:8767/hf.csv", requests_per_s=rf"Requests/sec: +{_N}", latency_mean_us=rf"^ +Latency +{_N}(?P<unit>ms)",
        latency_max_us=rf"^ +Latency +\S+ +\S+ +{_N}(?P<unit>ms)", latency_pX_us=rf"^ +(?P<name>\d+)% +{_N}(?P<unit>\w+)", request_count=rf"^ +{_N} requests in",
    ),
    "ycsb": _ycsb,
}
SAMPLES = [(name, path) for name in NAMES for path in sorted((INGEST / name).glob("sample*"))]


@pytest.mark.parametrize(("name", "sample"), SAMPLES, ids=[f"{name}/{path.name}" for name, path in SAMPLES])
def test_every_value_of_a_sample_is_what_it_states(name: str, sample: Path, tmp_path: Path) -> None:
    rows = landed(described_ingestor(INGEST / name / "format.toml"), sample, tmp_path)
    cases = {row["run_id"]: row["benchmark_case_id"] for row in rows.get("described_run", [])}
    found, wanted = defaultdict(list), defaultdict(list)
    values = rows.get("described_value", [])
    series = {row["series_number"]: (f"gpu {json.loads(row['labels'])['gpu']}", row["metric"]) for row in rows.get("telemetry_series", [])}
    for row in rows.get("telemetry_sample", []):
        if row["value"] is not None:
            found[series[row["series_number"]]].append(row["value"])
    for row in values:
        if row["kind"] != "parameter" and row["value_number"] is not None:
            found[cases[row["run_id"]], row["key"]].append(row["value_number"])
    for case, metric, value in READINGS[name](sample):
        wanted[case, metric].append(value)
    assert wanted and found == {key: pytest.approx(values, rel=1e-12) for key, values in wanted.items()}
    data = sample.read_bytes()
    for row in values:  # the bytes of a value state it; a computed one has no text
        if row["kind"] != "parameter" and row["value_text"] is not None:
            assert data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]].decode().replace(",", "").strip('"') == row["value_text"]
    told = {row["code"] for row in rows["evidence_issue"]} - {"no-column"}
    assert told == ({"columns-differ"} if sample.name == "sample.csv" and name == "google_benchmark" else set())


def test_every_description_has_a_sample_of_each_form_and_no_other_reads_it(tmp_path: Path) -> None:
    from warehouse.evidence.tree import list_tree
    from warehouse.landing.described.description import read_description
    from warehouse.landing.described.recognition import Formats

    assert {name for name, _ in SAMPLES} == set(NAMES) == set(READINGS)
    formats = Formats([read_description(INGEST / name / "format.toml") for name in NAMES])
    for name, sample in SAMPLES:
        recognised = [each.name for each in formats.descriptions if Formats([each]).of(list_tree(sample))]
        assert recognised == [name]


# What a tool also writes: a sample, a change of it, and what is then read: statuses of the runs, values of a metric.
VARIANTS: dict[str, tuple[str, tuple[tuple[str, str], ...], list[str], str, list[float]]] = {
    "a failed check is of its own result": ("hpl/sample.out", (), ["succeeded", "invalid"], "elapsed_s", [52.31, 171.9]),
    "a result without a check": ("hpl/sample.out", ((r"^\|\|Ax.*\n", ""),), ["succeeded"] * 2, "elapsed_s", [52.31, 171.9]),
    "GFLOPS of a GPU beside those of all": ("hpl/sample.out", ((r"e\+02$", "e+02 ( 2.039e+02)"),), ["succeeded", "invalid"], "gflop_per_s", [815.7, 837.7]),
    "HPCG says INVALID": ("hpcg/sample.txt", (("is VALID with.*", "is=INVALID."),), ["invalid"], "raw_gflop_per_s", [40.9]),
    "BabelStream found wrong results": ("babelstream/sample.txt", (("^Function", "Validation failed on sum. Error 3.5e-06\nFunction"),), ["invalid"], "dot_mean_s", [0.00029]),
    "BabelStream in MiB": ("babelstream/sample.txt", ((" MBytes/sec ", " MiBytes/sec"), ("1802345.678", "1000.000")), ["succeeded"], "copy_mb_per_s", [1048.576]),
    "pgbench before 14": (
        "pgbench/sample.txt", (("^tps.*", "tps = 90.5 (including connections establishing)\ntps = 91.5 (excluding connections establishing)"),),
        ["succeeded"], "transactions_per_s", [91.5],
    ),
    "perf_analyzer of another server": ("perf_analyzer/sample.csv", (("Network[^\n]*?Client Recv", "Client Recv"), (r"^(\d+,[\d.]+,\d+),\d+,\d+,\d+,\d+,\d+", r"\1")), ["succeeded"] * 2, "e2e_p50_ms", [5.88, 16.402]),
    "vegeta before 12": ("vegeta/sample.json", ((r'"throughput".*', ""), (r'"min": 9000000', '"x": 1')), ["succeeded"], "requests_per_s", [50.505]),
    "SGLang before last_gen_throughput": ("sglang_offline/sample.jsonl", ((r'"last_gen_throughput": ?[\d.]+,?', ""),), ["succeeded"], "output_token_throughput_per_s", [1000.0]),
    "Ollama with a cached prompt": ("ollama/sample.json", ((r'"prompt_eval_\w+": ?\d+,', ""),), ["succeeded"], "load_ms", [6.0]),
    "a stream of Ollama": ("ollama/sample.json", ((r"\s*\n\s*", ""), ("^", '{"model": "m", "created_at": "2026-02-03T04:05:06Z", "response": "a", "done": false}\n')), ["succeeded"], "load_ms", [6.0]),
    "too little utilization": ("mlperf_storage/sample.json", (('"success"', '"fail"'),), ["invalid"], "io_mib_per_s", [99195.5]),
    "a window of MLPerf Tiny that is too short": ("mlperf_tiny/sample.txt", (("have been met", "have not been met"),), ["invalid"], "inferences_per_s", [64.154, 64.175]),
    "MLPerf Tiny without energy": ("mlperf_tiny/sample.txt", ((r"^.*(?:Energy|Power|energy).*\n", ""),), ["succeeded"], "inferences_per_s", [64.154, 64.175]),
    "results of MLPerf Client that are not verified": ("mlperf_client/sample.jsonl", (('"Results Verified": true', '"Results Verified": false'),), ["invalid", "failed"], "ttft_geomean_s", [0.312]),
    "CoreMark ran too short": ("coremark/sample.txt", (("^Iterations  ", "ERROR! Must execute for at least 10 secs for a valid result!\nIterations  "),), ["invalid"], "iterations_per_s", [2011.937496]),
    "a benchmark of Catch2 that failed": ("catch2/sample.xml", (('<mean value="2191[^>]*>', '<failed message="it threw"/>'), ('<standardDeviation value="45[^>]*>', "")), ["failed", "succeeded"], "elapsed_mean_ns", [1856890.0]),
    "openssl speed without the largest block": ("openssl_speed/sample_all.txt", ((r"  16384 bytes|  714001.07k|  1230001.02k", ""),), ["succeeded"] * 6, "throughput_8192_bytes_per_s", [710112940.0, 1229998080.0]),
    "stress-ng without memory": ("stress_ng/sample.txt", ((r" CPU used per.*", ""), (r" instance \(%\).*", ""), (r" +[\d.]+ +\d+$", "")), ["succeeded"] * 2, "operations_per_s", [1771.1, 4965.58]),
    "an average of nothing": ("evalscope/sample_renamed.json", (("250.5", "-1"),), ["succeeded"], "ttft_mean_ms", []),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_what_a_tool_also_writes_is_read_as_it_means_it(name: str, tmp_path: Path) -> None:
    sample, changes, statuses, metric, values = VARIANTS[name]
    text = (INGEST / sample).read_text()
    for pattern, by in changes:
        text, count = re.subn(pattern, by, text, flags=re.MULTILINE)
        assert count, pattern
    file = tmp_path / "in" / (Path(sample).stem + (".jsonl" if "stream" in name else Path(sample).suffix))
    file.parent.mkdir()
    file.write_text(text)
    rows = landed(described_ingestor(INGEST / sample.partition("/")[0] / "format.toml"), file, tmp_path / "store")
    assert [row["status"] for row in rows["described_run"]] == statuses
    assert [row["value_number"] for row in rows["described_value"] if row["key"] == metric] == pytest.approx(values, rel=1e-9)
    assert not {row["code"] for row in rows["evidence_issue"]} - {"no-column"}


def test_requests_and_points_are_rows_with_their_bytes(tmp_path: Path) -> None:
    hits = INGEST / "vegeta_results/sample.jsonl"
    rows = landed(described_ingestor(INGEST / "vegeta_results/format.toml"), hits, tmp_path / "a")["described_request"]
    stated = [json.loads(line) for line in hits.read_text().splitlines()]
    assert [(row["request_index"], row["e2e_ms"], row["error"]) for row in rows] == [(n, each["latency"] / 1e6, each["error"] or None) for n, each in enumerate(stated)]
    assert [row["status"] for row in rows] == ["succeeded" if 200 <= each["code"] < 400 else "failed" for each in stated]
    assert [row["started_at"].isoformat()[:26] for row in rows] == [each["timestamp"][:26] for each in stated]
    assert [json.loads(hits.read_bytes()[row["raw_offset"] :][: row["raw_length"]]) for row in rows] == stated
    points = landed(described_ingestor(INGEST / "osu/format.toml"), INGEST / "osu/sample.txt", tmp_path / "b")["described_fabric"]
    assert [(row["test"], row["point_index"], row["message_bytes"], row["bandwidth_gb_per_s"], row["latency_mean_us"]) for row in points] == [
        ("Bandwidth", 1, 1, 0.00425, None), ("Bandwidth", 2, 1024, 3.1205, None), ("Bandwidth", 3, 1048576, 24.10575, None), ("Bandwidth", None, None, None, None),
        ("Allreduce Latency", 1, 4, None, 10.05), ("Allreduce Latency", 2, 1024, None, 23.24), ("Allreduce Latency", None, None, None, None),
    ]
    assert {row["scope"] for row in points if row["point_index"] is None} == {"test"} and {row["status"] for row in points} == {"measured"}


NESTED = """[requests]
each = "requests[]"
started_s = { value = "at", unit = "ms" }
ttft_ms = { value = "ttft", unit = "s" }
output_token_count = "tokens"
session = "chat"
turn_index = "turn"
unfinished_if = "cut = true"
error = "why"
[fabric]
each = "points[]"
test = "{@key} {kind}"
failed_if = "bad > 0"
bandwidth_gb_per_s = { value = "bw", unit = "Gbit/s" }
"""


def test_requests_and_points_within_a_record(tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD + NESTED)
    record = {
        "case": "a", "ms": 1, "requests": [
            {"at": 1500, "ttft": 0.25, "tokens": 7, "chat": "c", "turn": 1}, {"ttft": -0.5, "tokens": 1.5, "cut": True}, {"ttft": "x", "why": "timeout"},
        ], "points": [{"kind": "p", "bw": 8}, {"kind": "p", "bw": 16}, {"kind": "q", "bw": 4, "bad": 1}],
    }
    (tmp_path / "a.json").write_text(json.dumps([record, {"case": "b", "ms": 2}]))
    rows = landed(ingestor, tmp_path / "a.json", tmp_path / "store")
    assert [(row["started_s"], row["ttft_ms"], row["output_token_count"], row["session"], row["turn_index"], row["status"]) for row in rows["described_request"]] == [
        (1.5, 250, 7, "c", 1, "succeeded"), (None, -500, None, None, None, "unfinished"), (None, None, None, None, None, "failed"),
    ]
    assert sorted(row["code"] for row in rows["evidence_issue"]) == ["impossible-count", "not-a-number"]
    assert [(row["test"], row["test_index"], row["point_index"], row["bandwidth_gb_per_s"], row["status"]) for row in rows["described_fabric"]][:5] == [
        ("0 p", 1, 1, 1.0, "measured"), ("1 p", 2, 1, 2.0, "measured"), ("2 q", 3, 1, 0.5, "failed"), ("0 p", 1, None, None, "measured"), ("1 p", 2, None, None, "measured"),
    ]
    assert [row["status"] for row in rows["described_fabric"] if row["point_index"] is None] == ["measured", "measured", "failed", "failed"]


def test_a_count_in_a_unit_is_rounded_and_one_that_none_can_be_is_missing(tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD + '[fabric]\nmessage_bytes = { value = "size", unit = "KiB" }\nbandwidth_gb_per_s = { value = "ms", unit = "GB/s" }\n')
    (tmp_path / "a.json").write_text("".join(f'{{"case": "a", "ms": 1, "size": {size}}}\n' for size in ("0.977", "1e30", "-5", "0.0001", "0")))
    rows = landed(ingestor, tmp_path / "a.json", tmp_path / "store")
    assert [row["message_bytes"] for row in rows["described_fabric"] if row["point_index"]] == [1000, None, None, None, 0]
    assert [row["code"] for row in rows["evidence_issue"]] == ["impossible-count"] * 3


HOSTILE = {
    "[format]\nname = '../x'\n": "format.name", "[format]\nname = 'x'\nfiles = ['../../*.json']\n": "format.files",
    "[format]\nname = 'x'\nrequires = ['a']\nfroms = 1\n": "format.froms", "x": "is not TOML", "[format]\nname = 'x'\nform = 'jsonn'\n": "did you mean json?",
    "[format]\nname = 'x'\nextends = '../hyperfine'\n": "no standard description '../hyperfine'", "a = " + "[" * 5000: "is not TOML", "#" * (300 << 10): "larger than",
}
GOOD = """[format]
name = "x"
about = "Results of x"
form = ["json", "json lines"]
requires = ["[].case", "[].ms"]
[run]
each = "[]"
case = "x/{case}"
[[metric]]
name = "elapsed_ms"
value = "ms"
unit = "ms"
"""
FAULTS = {
    ('unit = "ms"', 'unit = "mss"'): "did you mean ms?", ('unit = "ms"', 'unit = "s"'): "ends in ms, but its unit is s",
    ('value = "ms"', 'value = "ms["'): "metric 1.value", ('value = "ms"', 'value = "shell(ms)"'): "no function shell",
    ('"x/{case}"', '"x/{case"'): None, ('value = "ms"', f"value = '{'(' * 900}'"): "metric 1.value", ('value = "ms"', f'value = "{"a+" * 600}a"'): "longer than",
    ("[run]", "[lines]\na = '{b} {c}'\n[run]"): "more than one field of text", ("[run]", "[lines]\na = '{b'\n[run]"): "fields are written",
    ("[[metric]]", "status = 'done'\n[[metric]]"): "run.status: is one of", ('each = "[]"', 'each = "[].a = 1"'): "not a path",
    ('unit = "ms"', 'unit = "ms"\nstated_in = "GB"'): "no unit of the same quantity",
    ('value = "ms"', 'value = "a.**.b.**.ms"'): "one ** at most", ("[[metric]]", 'duration_s = { value = "t", unit = "m" }\n[[metric]]'): "no unit of time: 'm'",
    ("[run]", '[telemetry]\nat = "t"\n[run]'): "at least one [[series]]", ("[run]", "[requests]\nlatency = 'x'\n[run]"): "requests.latency: no such key",
    ("[run]", "[requests]\nerror = 'x'\n[run]"): "states at least one of", ("[run]", "[fabric]\nscope = \"'nodes'\"\ntime_us = 'x'\n[run]"): "fabric.scope: is one of", ("[run]", '[telemetry]\nat = "t"\n[[series]]\nname = "x_ms"\nunit = "ms"\nkind = "sum"\n[run]'): "series 1.kind: is one of",
}


def _described(folder: Path, text: str) -> Any:
    path = folder / "format.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return described_ingestor(path)


def test_a_description_that_is_hostile_or_wrong_is_refused_with_its_key(tmp_path: Path) -> None:
    for text, says in [*HOSTILE.items(), *((GOOD.replace(*change), says) for change, says in FAULTS.items() if says)]:
        with pytest.raises(WarehouseError) as fault:
            _described(tmp_path, text)
        assert fault.value.code == "WH121" and says in f"{fault.value} {fault.value.hint}", text[:80]


def test_a_pattern_of_a_line_costs_no_more_than_its_length(tmp_path: Path) -> None:
    text = GOOD.replace('form = ["json", "json lines"]', 'form = "text"').replace('["[].case", "[].ms"]', '["a[]"]').replace("[run]", "[lines]\na = '{b} {c:word} {d:number} {e:word}, end'\n[run]")
    ingestor = _described(tmp_path / "x", text.replace('each = "[]"', 'each = "a[]"').replace('"x/{case}"', '"x"').replace('value = "ms"', 'value = "b"'))
    (tmp_path / "a.txt").write_text("1 2 3 x, end\n" + "x " * 200_000 + "\n" + ("1 " * 4000 + "\n") * 20)
    before = process_time()
    rows = landed(ingestor, tmp_path / "a.txt", tmp_path / "store")
    assert len(rows["described_run"]) == 1 and process_time() - before < 20


BROKEN: dict[str, tuple[bytes, list[float], set[str]]] = {
    "cut": (b'[{"case": "a", "ms": 1}, {"case": "b", "ms": 2', [], {"malformed-json"}),
    "deep": (b'[{"case": "a", "ms": 1}, {"case": "b", "ms": 1, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]", [], {"malformed-json"}),
    "twice": (b'[{"case": "a", "ms": 1, "ms": 3}]', [3.0], {"duplicate-json-key"}),
    "nan": (b'[{"case": "a", "ms": NaN}, {"case": "b", "ms": 2}]', [2.0], {"non-finite-number"}),
    "huge": (b'[{"case": "a", "ms": 1e999}, {"case": "b", "ms": 2}]', [2.0], {"non-finite-number"}),
    "long": (b'[{"case": "a", "ms": ' + b"9" * 5000 + b'}, {"case": "b", "ms": 2}]', [2.0], {"non-finite-number"}),
    "text": (b'[{"case": "a", "ms": "1.5ms"}, {"case": "b", "ms": "2"}]', [2.0], {"not-a-number"}),
    "object": (b'[{"case": "a", "ms": {"v": 1}}, {"case": "b", "ms": true}]', [], {"not-a-number"}),
    "null": (b'[{"case": "a", "ms": null}, {"case": "b", "ms": ""}]', [], set()),
    "latin": (b'[{"case": "a\xe9", "ms": 1}]', [1.0], {"invalid-utf8"}),
    "mark": (b'\xef\xbb\xbf[{"case": "a", "ms": 1}]', [1.0], set()),
    "after": (b'[{"case": "a", "ms": 1}] x', [], {"malformed-json"}),
    "line": (b'{"case": "a", "ms": 1}\n{"case": "b", "m\n{"case": "c", "ms": 3}\n', [1.0, 3.0], {"malformed-json"}),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_damaged_is_an_issue_and_never_another_value(name: str, tmp_path: Path) -> None:
    data, values, codes = BROKEN[name]
    ingestor = _described(tmp_path / "x", GOOD)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"{name}.json").write_bytes(data)
    rows = landed(ingestor, tmp_path / "in", tmp_path / "store")
    assert [row["value_number"] for row in rows["described_value"] if row["value_number"] is not None] == values
    assert {row["code"] for row in rows["evidence_issue"]} == codes


XML = """<?xml version="1.0"?>
<r a="1"><t n="x &amp; y"><d><m v="2"/></d></t><t n="z"><m v="5"/><!-- <m v="9"/> --><s>text</s></t></r>"""
BROKEN_XML: dict[str, tuple[str, str, list[tuple[str, float]], set[str]]] = {  # what is replaced, by what, the values, the issues
    "whole": ("", "", [("x/x & y", 2.0), ("x/z", 5.0)], set()),
    "cut": ("<s>text</s></t></r>", "", [], {"malformed-xml"}),
    "crossed": ("</d></t>", "</t></d>", [], {"malformed-xml"}),
    "twice": ('<m v="5"/>', '<m v="5" v="6"/>', [], {"malformed-xml"}),
    "bomb": ("<r ", '<!DOCTYPE r [<!ENTITY a "aaaa">]><r ', [], set()),  # it is not recognised
    "entity": ("text", "&a;", [], {"malformed-xml"}),
    "deep": ("<s>", "<s>" * 100_000, [], {"malformed-xml"}),
    "two roots": ("</r>", "</r><r/>", [], {"malformed-xml"}),
    "no number": ('v="5"', 'v="5x"', [("x/x & y", 2.0)], {"not-a-number"}),
    "raw": ("text", "<![CDATA[<m v='1'/>]]>", [("x/x & y", 2.0), ("x/z", 5.0)], set()),
}


@pytest.mark.parametrize("name", BROKEN_XML)
def test_xml_is_read_as_it_is_nested_and_damage_is_told(name: str, tmp_path: Path) -> None:
    old, new, values, codes = BROKEN_XML[name]
    text = GOOD.replace('["json", "json lines"]', '"xml"').replace('["[].case", "[].ms"]', '["r[].t[].n"]').replace('each = "[]"', 'each = "r[].t[].**.m[]"')
    ingestor = _described(tmp_path / "x", text.replace("{case}", "{^.n}").replace('value = "ms"', 'value = "v"'))
    (tmp_path / "a.xml").write_text(XML.replace(old, new) if old else XML)
    rows = landed(ingestor, tmp_path / "a.xml", tmp_path / "store")
    cases = {row["run_id"]: row["benchmark_case_id"] for row in rows["described_run"]}
    assert [(cases[row["run_id"]], row["value_number"]) for row in rows["described_value"] if row["value_number"] is not None] == values
    assert {row["code"] for row in rows["evidence_issue"]} == codes


def test_rows_of_sql_are_read_and_a_statement_that_breaks_is_told(tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD.replace('["json", "json lines"]', '"sql"'))
    (tmp_path / "a.sql").write_text("INSERT INTO t (case, ms) VALUES ('a''b', 1), (NULL, '2.5');\ninsert into t (\"case\", ms) values ('c', 3, 4);\nINSERT INTO t (case, ms) VALUES ('d', 4")
    rows = landed(ingestor, tmp_path / "a.sql", tmp_path / "store")
    assert [(row["benchmark_case_id"]) for row in rows["described_run"]] == ["x/a'b", "x/unstated"]
    assert [row["value_number"] for row in rows["described_value"]] == [1.0, 2.5]
    assert [(row["code"], row["line_number"]) for row in rows["evidence_issue"] if row["code"] != "no-case"] == [("malformed-sql", 2), ("malformed-sql", 3)]


@pytest.mark.parametrize("sample", ["catch2/sample.xml", "llama_bench/sample.sql", "hyperfine/sample.json", "llama_bench/sample.csv", "stream/sample.txt", "google_benchmark/sample.json"])
def test_a_changed_byte_is_an_issue_or_changes_nothing_else(sample: str, tmp_path: Path) -> None:
    """A file with some of its bytes gone or others is read, or reported; no value appears that its bytes do not state."""
    name = sample.partition("/")[0]
    whole, chance = (INGEST / sample).read_bytes(), random.Random(45)
    ingestor = described_ingestor(INGEST / name / "format.toml")
    for number in range(60):
        start = chance.randrange(len(whole))
        change = chance.choice([b"", b"0", b'"', b"}", b",", b"\xff", b"\0", b"-", b"e9", b"null", b"[" * 70])
        data = whole[:start] + change + whole[start + chance.randrange(4) :]
        path = tmp_path / f"{number}" / Path(sample).name
        path.parent.mkdir()
        path.write_bytes(data)
        rows = landed(ingestor, path, tmp_path / f"store{number}")
        for row in rows["described_value"]:
            stated = data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]]
            if row["kind"] == "result" and row["value_text"] is not None:
                assert stated.decode(errors="replace").replace(",", "").strip().strip('"') == row["value_text"].strip()


def test_a_table_without_a_header_is_told_by_what_its_cells_say(tmp_path: Path) -> None:
    from warehouse.evidence.tree import list_tree
    from warehouse.landing.described.recognition import Formats

    text = GOOD.replace('["json", "json lines"]', '"csv"').replace('["[].case", "[].ms"]', """["[].case in ('sort', 'hash')", "[].ms"]""")
    ingestor = _described(tmp_path / "x", text.replace("[run]", '[csv]\ncolumns = ["case", "ms"]\n[run]'))
    for name, data in (("a.csv", "sort,1.5\ncopy,2.5\n"), ("b.csv", "copy,2.5\n"), ("c.csv", "sort,1.5,x\n")):
        (tmp_path / name).write_text(data)
    found = Formats([ingestor.description]).of(list_tree(tmp_path))
    assert set(found) == {"a.csv"}
    assert [row["value_number"] for row in landed(ingestor, tmp_path / "a.csv", tmp_path / "store")["described_value"]] == [1.5, 2.5]


VALUES: dict[str, tuple[str, list[float]]] = {  # of {"ms": 4, "all": [1, 2, 3], "mixed": [1, "x"], "is_warm": false, "d": {"A b": 7}, "e": {"f": [{"ms": 8}], "ms": 9}}
    "all / 2": ("", [0.5, 1.0, 1.5]), "2 * all": ("", [2.0, 4.0, 6.0]), "mixed / 2": ("", []), "all * all": ("", []), "all[1] - ms": ("", [-2.0]),
    "ms": ("is_warm = false", [4.0]), "first(ms)": ("is_warm = true", []), "@value": ("plain(@key) = 'a_b'", [7.0]), "e.**.ms": ("", [9.0, 8.0]),
}


@pytest.mark.parametrize("value", VALUES)
def test_what_an_expression_says(value: str, tmp_path: Path) -> None:
    when, values = VALUES[value]
    text = GOOD.replace('value = "ms"', f'value = "{value}"' + (f'\nwhen = "{when}"' if when else "") + ('\neach = "d.*"' if value == "@value" else ""))
    ingestor = _described(tmp_path / "x", text)
    (tmp_path / "a.jsonl").write_text('{"case": "a", "ms": 4, "all": [1, 2, 3], "mixed": [1, "x"], "is_warm": false, "d": {"A b": 7}, "e": {"f": [{"ms": 8}], "ms": 9}}\n')
    rows = landed(ingestor, tmp_path / "a.jsonl", tmp_path / "store")
    assert [row["value_number"] for row in rows["described_value"] if row["value_number"] is not None] == values
    assert ("not-a-number" in {row["code"] for row in rows["evidence_issue"]}) == value.startswith("mixed")  # and never lost in silence


@pytest.mark.parametrize(("text", "moment", "is_assumed"), [
    ("2026-04-12 10:15:30 UTC", "10:15:30", False), ("2026-04-12 10:15:30 CST", "10:15:30", True), ("2026-04-12T10:15:30+02:00", "08:15:30", False),
])
def test_the_abbreviation_of_a_zone_is_no_zone(text: str, moment: str, is_assumed: bool, tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD.replace("[[metric]]", 'started_at = "t"\nduration_s = { value = "ms", unit = "ms" }\n[[metric]]'))
    (tmp_path / "a.jsonl").write_text(json.dumps({"case": "a", "ms": 1500, "t": text}) + "\n")
    (run,) = landed(ingestor, tmp_path / "a.jsonl", tmp_path / "store")["described_run"]
    assert (f"{run['started_at']:%H:%M:%S}", run["is_zone_assumed"], run["duration_s"]) == (moment, is_assumed, 1.5)


def test_a_description_that_extends_a_standard_one_states_what_is_other(tmp_path: Path) -> None:
    from warehouse.landing.registry import Source

    path = tmp_path / "oha/format.toml"
    path.parent.mkdir()
    path.write_text('[format]\nname = "oha"\nextends = "oha"\n[run]\ncase = "shop"\n[[metric]]\nname = "requests_per_s"\nvalue = "rps.mean"\nunit = "1/s"\n'
                    '[[metric]]\nname = "rps_deviation"\nvalue = "rps.stddev"\nunit = "1/s"\n')
    rows = landed(described_ingestor(path, None, INGEST), INGEST / "oha/sample.json", tmp_path / "store")
    found = {row["key"]: row["value_number"] for row in rows["described_value"]}
    document = _json(INGEST / "oha/sample.json")
    assert rows["described_run"][0]["benchmark_case_id"] == "shop" and found["response_time_p99_s"] == document["latencyPercentiles"]["p99"]
    assert (found["requests_per_s"], found["rps_deviation"]) == (document["rps"]["mean"], document["rps"]["stddev"])
    source, other = Source("project", "x", path), Source("project", "x", tmp_path / "plain/format.toml")
    other.target.parent.mkdir()  # type: ignore[union-attr]
    other.target.write_text(path.read_text().replace("extends", "about"))  # type: ignore[union-attr]
    assert source.code_digest() != other.code_digest() and source.load().name == "oha"


def test_the_runs_of_a_file_are_counted_where_it_is_read_whole(tmp_path: Path) -> None:
    from warehouse.evidence.tree import list_tree
    from warehouse.landing.contract import BundleDraft

    ingestor = _described(tmp_path / "x", GOOD)
    for name, count in (("a.jsonl", 3), ("b.jsonl", 5000)):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / name).write_text('{"case": "a", "ms": 1}\n' * count)
    drafts = [draft for draft in ingestor.bundles(list_tree(tmp_path / "in")) if isinstance(draft, BundleDraft)]
    assert [draft.runs for draft in drafts] == [("a.jsonl#1", "a.jsonl#2", "a.jsonl#3"), ()]


def test_every_faulty_description_is_told_at_once(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    for name, change in (("one", ('unit = "ms"', 'unit = "mss"')), ("two", ("[].case", "[].kase"))):
        _described(project.root / "ingest" / name, GOOD)
        path = project.root / f"ingest/{name}/format.toml"
        path.write_text(GOOD.replace('"x"', f'"{name}"').replace(*change))
        (path.parent / "sample.jsonl").write_text('{"case": "a", "ms": 1}\n')
    status, _, err = wh_on(project, "check")
    assert status != 0 and "no unit 'mss'" in err and "sample.jsonl is not recognised: it has no [].kase" in err


def test_what_a_sample_states_of_itself_is_in_the_description_made_of_it(tmp_path: Path) -> None:
    from warehouse.starting.description_text import description_text

    (tmp_path / "a.log").write_text("Total time (secs): 14.9\nIterations/Sec   : 2011.9\nseedcrc          : 0xe9f5\n")
    text = description_text("a", [tmp_path / "a.log"]).text
    assert re.findall(r'^(\w+) = "[^"]*number', text, re.MULTILINE) == ["total_time_secs", "iterations_sec"] and re.findall('unit = "(.*)"', text) == ["s", "1/s"]
    (tmp_path / "a.log").write_text("Total time:\t14.9\nIterations:\t2011\n")
    assert "form = \"text\"" in description_text("a", [tmp_path / "a.log"]).text
    (tmp_path / "b.json").write_text(json.dumps({"summary": {"requestsPerSec": 9.5, **{f"x{n}": n / 7 for n in range(9)}}, "latency": {"p50": 0.5, "p99.9": 1.5}}))
    guess = description_text("b", [tmp_path / "b.json"])
    ingestor = _described(tmp_path / "b", guess.text)
    values = {row["key"]: (row["value_number"], row["unit"]) for row in landed(ingestor, tmp_path / "b.json", tmp_path / "store")["described_value"]}
    assert values["requestsPerSec"] == (9.5, "1/s") and values["latency_p99.9"] == (1.5, None)
    assert len(guess.doubtful) == 1 and "and 4 more" in guess.doubtful[0]


GUESSES: dict[str, tuple[str, str, dict[str, list[float]], list[str]]] = {  # a sample; what its description must say, and reads; what is doubtful
    "lines.txt": (
        "version: 2.7.1\nwall time: 1:02:33\nThroughput=9414.05\nUnits=10^6bits/s\nScore: 12,345.6 points\nRatio : 1.5\n", 'ratio = "Ratio : {value:number}"',
        {"throughput": [9414.05], "score": [12345.6], "ratio": [1.5]}, ["throughput, score, ratio"],
    ),
    "absent.csv": ("Method;Mean [ns];N;status\na;1,5;10;ok\nb;NA;10;FAILED\n", "# not read: status", {"Mean_ns": [1.5]}, []),
    "cells.csv": ("Method;Mean;N\na;1.155,5 ns;10\nb;1,5 us;10\n", "stated_in", {"Mean": [1155.5, 1500]}, []),
    "units.jsonl": (
        '{"id": "a", "unit": "ns", "laps": [1, 2], "times": [3], "mean": {"estimate": 1.5, "unit": "us", "low": 1.25}}\n{}\n', 'unit_from = "mean.unit"',
        {"laps": [1, 2], "times": [3], "estimate": [1.5], "low": [1.25]}, ["laps, times, mean.low"],
    ),
    "threads.json": (
        json.dumps({
            "start_time": "Fri, 27 Nov 2026 23:39:37 +0000", "version": "2.40", "machine": "x86_64",
            "thread": {"0": {"avg": 1.5, "max": 7, "histogram": {str(n): 1 for n in range(30)}}, "1": {"avg": 2.5, "max": 9}},
        }), 'format = "%a, %d %b %Y %H:%M:%S %z"', {"avg": [1.5, 2.5], "max": [7, 9]}, ["avg, max"],
    ),
    "keys.json": ('[{"nodename": "n1", "receivedKBytesPerSec": 1.5}]', 'node = "nodename"  # guess', {"receivedKBytesPerSec": [1.5]}, []),
}


@pytest.mark.parametrize("name", GUESSES)
def test_what_is_guessed_of_a_sample_reads_it_and_nothing_is_left_out_in_silence(name: str, tmp_path: Path) -> None:
    from warehouse.landing.described.checking import description_faults
    from warehouse.starting.description_text import description_text

    text, says, values, doubtful = GUESSES[name]
    folder = tmp_path / "x"
    folder.mkdir()
    sample = folder / f"sample{Path(name).suffix}"
    sample.write_text(text)
    guess = description_text("x", [sample])
    ingestor = _described(folder, guess.text)
    assert says in guess.text and [each.partition("for ")[2].partition(": write")[0] for each in guess.doubtful] == doubtful
    assert not list(description_faults(ingestor.description, folder, "x"))
    found = defaultdict(list)
    for row in landed(ingestor, sample, tmp_path / "store")["described_value"]:
        if row["kind"] == "result" and row["value_number"] is not None:
            found[row["key"]].append(row["value_number"])
    assert found == values


def test_several_values_have_each_its_unit_and_so_have_durations_and_checks(tmp_path: Path) -> None:
    text = GOOD.replace('value = "ms"', 'value = "all[].v"\nstated_in = "all[].u"').replace("[[metric]]", 'duration_s = { value = "took", unit = "took_unit" }\n[[metric]]')
    text += '[[check]]\nstated = "took"\nof = "ms"\nstated_in = "took_unit"\nof_in = "ms"\n'
    ingestor = _described(tmp_path / "x", text)
    records = [{"case": "a", "ms": 812, "took": 0.812, "took_unit": "s", "all": [{"v": 1.5, "u": "ms"}, {"v": 2, "u": "s"}, {"v": 3, "u": "μs"}, {"v": 4, "u": "ells"}]}]
    (tmp_path / "a.json").write_text(json.dumps([*records, {"case": "b", "ms": 2, "took": 1, "took_unit": "ms", "all": [{"v": 1, "u": "ms"}]}]))
    rows = landed(ingestor, tmp_path / "a.json", tmp_path / "store")
    assert [row["value_number"] for row in rows["described_value"]] == [1.5, 2000, 0.003, 1]
    assert [row["duration_s"] for row in rows["described_run"]] == [0.812, 0.001]
    assert [row["code"] for row in rows["evidence_issue"]] == ["unknown-unit", "statement-disagrees"]


TABLES = {  # what a CSV is like, and how its description says that
    "german": ("test;ms;seconds\na;1.234,5;0,25\nb;1,5;0,75\n", ['delimiter = ";"', 'decimal = ","'], [1234.5, 0.25, 1.5, 0.75]),
    "comments": ("# by x, 2026\n# y\ntest,ms,seconds\na,1234.5,0.25\nb,1.5,0.75\n", ['comment = "#"'], [1234.5, 0.25, 1.5, 0.75]),
    "tabs": ("test\tms\tseconds\na\t1.5\t0.25\n", ['delimiter = "\\t"'], [1.5, 0.25]),
    "bars": ("test|ms|seconds\na|1.5|0.25\n", ['delimiter = "|"'], [1.5, 0.25]),
    "header": ("#test,ms,seconds\na,1.5,0.25\n", [], [1.5, 0.25]),
}


@pytest.mark.parametrize("name", TABLES)
def test_how_the_cells_of_a_table_are_written_is_in_the_description_made_of_it(name: str, tmp_path: Path) -> None:
    from warehouse.starting.description_text import description_text

    text, said, values = TABLES[name]
    (tmp_path / "a.csv").write_text(text)
    guess = description_text("a", [tmp_path / "a.csv"])
    assert re.findall(r'^(?:delimiter|comment|decimal) = .*', guess.text, re.MULTILINE) == said and not guess.doubtful
    rows = landed(_described(tmp_path / "x", guess.text), tmp_path / "a.csv", tmp_path / "store")
    assert [row["value_number"] for row in rows["described_value"] if row["kind"] == "result"] == values
    assert {(row["key"], row["unit"]) for row in rows["described_value"] if row["kind"] == "result"} == {("ms", "ms"), ("seconds", "s")}


def test_a_file_that_grows_states_its_runs_again(tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD)
    lines = [f'{{"case": "a", "ms": {value}}}\n' for value in (1, 2, 2)]
    runs = []
    for count in (2, 3):
        (tmp_path / "r.jsonl").write_text("".join(lines[:count]))
        runs.append([row["run_id"] for row in landed(ingestor, tmp_path / "r.jsonl", tmp_path / f"store{count}")["described_run"]])
    assert runs[1][:2] == runs[0] and len(set(runs[1])) == 3


def _runs(ingestor: Any, file: Path, text: str) -> list[str]:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return [row["run_id"] for row in landed(ingestor, file, file.parent / "store")["described_run"]]


def test_a_record_is_the_same_run_in_another_layout_and_in_a_longer_file(tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD.replace('case = "x/{case}"', 'case = "x/{case}"\nnode = "$.[0].host"'))
    records = [{"host": "n1", "case": "a", "ms": 0.00001}, {"case": "a", "ms": 2}, {"case": "a", "ms": 2}]
    runs = [_runs(ingestor, tmp_path / str(number) / "r.json", text) for number, text in enumerate((
        json.dumps(records), json.dumps([dict(reversed(each.items())) for each in records], indent=2).replace("1e-05", "0.00001"),
        json.dumps([*records, {"case": "b", "ms": 3}]), "\n".join(json.dumps(each, separators=(",", ":")) for each in records),
    ))]
    assert len(set(runs[0])) == 3 and runs[1] == runs[0] == runs[3] and runs[2][:3] == runs[0] and len(set(runs[2])) == 4
    # What a record takes from the document around it is what it says, too.
    assert not {*runs[0]} & {*_runs(ingestor, tmp_path / "other/r.json", json.dumps([{**records[0], "host": "n2"}, *records[1:]]))}


def test_equal_lines_of_two_executions_are_two_runs_and_a_log_that_grows_states_its_runs_again(tmp_path: Path) -> None:
    ingestor = described_ingestor(INGEST / "go_bench/format.toml")
    head, lines = "goos: linux\npkg: example.com/demo\n", ["BenchmarkOther-8 \t 1000 \t 7.5 ns/op\n", "BenchmarkAdd-8 \t 1000000000 \t 0.25 ns/op\n"]
    first = _runs(ingestor, tmp_path / "1/a.txt", head + "".join(lines))
    assert _runs(ingestor, tmp_path / "2/a.txt", (head + "".join(lines)).replace("\n", "\r\n")) == first
    assert _runs(ingestor, tmp_path / "3/a.txt", head + "".join(lines) + "BenchmarkLast-8 \t 10 \t 9 ns/op\n")[:2] == first
    assert not {*first} & {*_runs(ingestor, tmp_path / "4/a.txt", head + "".join(lines).replace("7.5", "7.6"))}


NOT_EXACT = {"9007199254740993": (9007199254740992.0, "not-exact"), "9007199254740992": (9007199254740992.0, None), "1e-400": (None, "too-small"), "0e-400": (0.0, None),
             "-0.0": (0.0, None), "1e400": (None, "non-finite-number"), "1e300": (1e300, None), "0.1": (0.1, None)}


@pytest.mark.parametrize("written", NOT_EXACT)
def test_a_number_that_a_double_cannot_hold_is_told(written: str, tmp_path: Path) -> None:
    ingestor = _described(tmp_path / "x", GOOD.replace('["json", "json lines"]', '["json", "csv"]'))
    value, code = NOT_EXACT[written]
    samples = ", ".join([written] * 9)
    for number, (name, text) in enumerate((("a.json", f'[{{"case": "a", "ms": {written}}}]'), ("b.json", f'[{{"case": "a", "ms": [{samples}]}}]'), ("c.csv", f"case,ms\na,{written}\n"))):
        (tmp_path / name).write_text(text)
        rows = landed(ingestor, tmp_path / name, tmp_path / f"store{number}")
        assert {row["value_number"] for row in rows["described_value"]} == {value}, name
        issues = [(row["code"], text.encode()[row["raw_offset"] : row["raw_offset"] + row["raw_length"]].decode()) for row in rows["evidence_issue"]]
        assert issues == ([(code, written)] * (9 if name == "b.json" else 1) if code else []), name


def test_from_an_unknown_file_to_a_trend_that_can_be_published(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    tree = tmp_path / "in"
    tree.mkdir()
    for day in range(24):
        document = {"meta": {"date": f"2026-03-{day + 1:02}T02:00:00Z", "host": "ci", "commit": f"{day:07x}"}, "cases": [
            {"name": name, "size": 10, "time_ms": {"samples": [(base + step * (day >= 12)) * (1 + (day * 7 + n) % 5 / 1000) for n in range(3)]}}
            for name, base, step in (("sort", 10.0, 3.0), ("hash", 2.0, 0.0))
        ]}
        (tree / f"{day:02}.json").write_text(json.dumps(document))
    assert "wh new ingestor NAME --from FILE" in wh_on(project, "ingest", "--dry-run", str(tree))[1]
    status, out, err = wh_on(project, "new", "ingestor", "acme", "--from", str(tree / "00.json"))
    assert (status, out) == (0, "ingest/acme/format.toml\ningest/acme/sample.json\n"), err
    shown = wh_on(project, "ingest", "--dry-run", str(tree))[1]
    assert "acme/sort  succeeded  2026-03-01 02:00:00+00:00" in shown and "result time_ms_samples = 10 ms, 10.01 ms, 10.02 ms" in shown
    description = project.root / "ingest/acme/format.toml"
    right = description.read_text()
    description.write_text(right.replace('value = "time_ms.samples"', 'value = "time_ms.sample"'))
    status, _, err = wh_on(project, "check")
    assert status != 0 and "time_ms.sample has no value in any sample" in err
    description.write_text(right)
    shutil.copy(INGEST / "nvidia_smi_csv/sample.csv", tree)
    built(tree, project)
    sql = sql_of(project)
    assert sql("select metric, unit, factor, scope, kind, sample_count, clock from staging.telemetry_place where source_metric in ('gpu_power_w', 'gpu_temperature_c') "
               "and labels = '{\"gpu\":\"0\"}' order by all") == [("gpu_power_w", "W", 1.0, "gpu", "gauge", 2, "zone assumed"), ("gpu_temperature_c", "°C", 1.0, "gpu", "gauge", 2, "zone assumed")]
    assert sql("select indicator, key, unit, better, count(*) from performance_indicator_fact where kind = 'result' group by all order by all") == [
        (f"acme/{name}", "time_ms_samples", "ms", "lower", 24) for name in ("hash", "sort")
    ]
    assert sql("select git_commit, node_name from benchmark_run_fact join run_source using (run_id) order by all limit 1") == [("0000000", "ci")]
    assert sql("select median(value) from indicator_sample where indicator = 'acme/hash'") == [(pytest.approx(2.004, rel=1e-3),)]
    changes = wh_on(project, "changes")[1]
    assert "worse  +3" in changes and "better" not in changes, changes


_GIT = """#!/bin/sh
echo "$3" > "$0.at"
"""
_PYTEST = """#!{python}
import json, sys
from pathlib import Path
commit = Path("{folder}/git.at").read_text().strip()
done = Path("{folder}/done")
done.write_text(done.read_text() + "." if done.exists() else ".")
count = len(done.read_text())
document = json.loads(Path("{sample}").read_text())
document |= {{"datetime": f"2026-02-03T04:{{count:02}}:06", "commit_info": {{"id": commit, "branch": "x", "dirty": False}}}}
for number, each in enumerate(document["benchmarks"]):
    factor = (1.3 if commit == "b1b1b1b" and not number else 1) * (1 + count * 7 % 5 / 1000)
    times = [each["stats"]["median"] * factor * (1 + place / 10000) for place in (-1, 0, 1)]
    each["stats"] |= {{"data": times, "median": times[1], "rounds": 3}}
file = next(each.partition("=")[2] for each in sys.argv if each.startswith("--benchmark-json="))
Path(file).write_text(json.dumps(document))
"""


@pytest.mark.exhaustive  # a dozen commands, each tried by a test of its own
def test_the_recipe_for_a_pull_request_fails_where_a_benchmark_got_slower(tmp_path: Path) -> None:
    recipe = (INGEST.parent / "docs/ingestors.md").read_text().partition("**In a pull request**")[2].split("```")[1].removeprefix("sh\n")
    assert len(recipe.splitlines()) <= 10
    folder = tmp_path / "bin"
    folder.mkdir()
    sample = INGEST / "pytest_benchmark/sample.json"
    for name, text in (("git", _GIT), ("pytest", _PYTEST.format(python=sys.executable, folder=folder, sample=sample))):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "wh").write_text(f'#!/bin/sh\nexec {sys.executable} -m warehouse.cli.main "$@"\n')
    (folder / "wh").chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "BASE": "a0a0a0a", "HEAD": "b1b1b1b"}
    done = subprocess.run(["bash", "-ec", recipe], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "1 suspected worse" in done.stdout and "paired: 5 pairs" in done.stdout, done.stdout + done.stderr
    again = recipe.splitlines()[-1].replace("$BASE", "$X").replace("$HEAD", "$BASE").replace("$X", "$HEAD")  # from the slow one to the fast one
    done = subprocess.run(["bash", "-ec", again], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "1 suspected better" in done.stdout, done.stdout + done.stderr


def test_a_mapping_of_columns_is_kept_as_a_description(tmp_path: Path, wh_on: WhOn) -> None:
    project = standard_project(tmp_path / "project")
    (tmp_path / "n.csv").write_text("when;test;value;unit\n2026-01-01T00:00:00Z;sort;1,5;ms\n2026-01-01T00:00:00Z;copy;2;GB/s\n2026-01-01T00:00:00Z;odd;3;furlongs\n")
    asked = ("ingest", "--as", "measurements", "--map")
    for mapping, says in (("metric=test,value=value", "lacks unit"), ("metric=test,values=value", "did you mean value?"),
                          ("metric=tests,value=value,unit=unit", "the file has no column tests")):
        status, _, err = wh_on(project, *asked, mapping, str(tmp_path / "n.csv"))
        assert status == ExitCode.USAGE and says in err
    mapping = "metric=test,value=value,unit=unit,time=when,case=test"
    assert "result sort = 1.5 ms" in wh_on(project, "ingest", "--dry-run", *asked[1:], mapping, str(tmp_path / "n.csv"))[1]
    assert not (project.root / "ingest/measurements_n").exists()
    status, _, err = wh_on(project, *asked, mapping, str(tmp_path / "n.csv"))
    assert status == 0 and "unknown-unit" in err and (project.root / "ingest/measurements_n/format.toml").is_file()
    rows = landed(described_ingestor(project.root / "ingest/measurements_n/format.toml"), tmp_path / "n.csv", tmp_path / "store")
    assert [(row["key"], row["value_number"], row["unit"]) for row in rows["described_value"]] == [("sort", 1.5, "ms"), ("copy", 2.0, "GB/s")]


LIKE = {
    "t.json": (b'{"elapsed_time": 1.0, "num_requests": 2, "requests_per_second": 2.0, "tokens_per_second": 5.0}', "like vllm_throughput, but without total_num_tokens"),
    "serve.json": (
        b'{"model_id": "m", "num_prompts": 2, "request_rate": 4.0, "output_throughput": 9.5, "mean_ttft_ms": 1.5, "mean_tpot_ms": 1.5}',
        "like vLLM bench serve, but without duration, completed, request_throughput",
    ),
    "locust.csv": (b"Type,Name,Request Count,Failure Count,Median Response Time\nGET,/,1,0,3\n", 'like locust, but without "Requests/s"'),
    "bench.jsonl": (b'{"run_name": "a", "batch_size": 1, "input_len": 2, "latency": 0.5, "output_throughput": 9}\n', "like sglang_one_batch, but without output_len"),
    "cut.txt": (b"sysbench 1.0.20 (using system LuaJIT 2.1)\n\nCPU speed:\n    total time:   10.0s\n", "like sysbench, but without events[]"),
    "tidy.csv": (b"day,test,value,unit\n2026-01-01,sort,1.5,ms\n", "wh ingest --as measurements --map metric=COLUMN,value=value,unit=unit"),
    "other.csv": (b"a,b\n1,2\n", "wh new ingestor NAME --from FILE"),
    "blob.json": (bytes(range(256)) * 9, "binary data, not text"),
    "wide.csv": ("a,b\n1,2\n".encode("utf-16"), "a text in UTF-16"),
    "rows.parquet": (b"PAR1" + bytes(99), "a Parquet file: export its rows"),
    "deep.json": (b'{"results": [{"command": "a", "mean": 1.5, "times": [1.5]}],\n "x": ' + b"[" * 5000 + b"]" * 5000 + b"}", "nested too deeply: more than 64 levels at line 2, column 71"),
    "less-deep.jsonl": (b'{"run_name": "[{", "batch_size": 1, "input_len": 2, "x": ' + b"[" * 80 + b"]" * 80 + b', "latency": 0.5, "output_len": 3}\n', "nested too deeply"),
    "comment.json": (b'// hi\n{"results": [{"command": "a", "mean": 1.5, "times": [1.5]}]}', "not valid JSON: line 1, column 1: expecting value"),
    "large.json": (b'{"elapsed_time": 1.0, "num_requests": 2, "requests_per_second": 2.0, "x": "' + b"y" * (2 << 20) + b'", "total_num_tokens": 1}', "wh new ingestor NAME --from FILE"),
}


def test_what_is_not_recognised_says_what_it_is_like_and_what_it_lacks(tmp_path: Path, wh_on: WhOn) -> None:
    (tmp_path / "in").mkdir()
    for name, (data, _) in LIKE.items():
        (tmp_path / "in" / name).write_bytes(data)
    out = wh_on(standard_project(tmp_path / "project"), "ingest", "--dry-run", str(tmp_path / "in"))[1]
    lines = {line.split()[0]: line for line in out.splitlines() if line.split()}
    assert not {name: lines[name] for name, (_, says) in LIKE.items() if says not in lines[name]}


def test_a_sample_of_a_description_is_of_no_family_in_code(tmp_path: Path) -> None:
    from warehouse.evidence.tree import list_tree
    from warehouse.landing.contract import Unclaimed
    from warehouse.landing.family import Family
    from warehouse.landing.registry import load_ingestors

    ingestors: list[object] = [*load_ingestors(standard_project(tmp_path / "project")).values()]
    families = [each for each in ingestors if isinstance(each, Family)]
    assert len(families) > 20
    for name, sample in SAMPLES:
        assert [each.name for each in families if any(not isinstance(found, Unclaimed) for found in each.bundles(list_tree(sample)))] == [], f"{name}/{sample.name}"
