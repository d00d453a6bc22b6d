"""JSON around a tool's output: its text, its own JSON, or records that a script made of it; each value leads to its bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from built import built, sql_of
from samples import fabric_check as sample
from standard import standard_project
from test_fabric_check_ingestor import codes, drafts, of_log
from test_one_execution import nccl

WRITE_BW = sample.WRITE_BW.format(unit="Gb/sec", peak="110.5")


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"ensure_ascii": False}])
def test_a_tools_text_in_a_string_is_read_and_leads_to_its_bytes(tmp_path: Path, layout: dict[str, Any]) -> None:
    document = {"host": "gpü01", "steps": [{"cmd": "all_reduce_perf", "stdout": "é\t😀\n" + nccl() + WRITE_BW, "rc": 0}]}
    text = json.dumps(document, **layout)
    rows = of_log(tmp_path, text, "steps.json")
    assert codes(rows) == {}
    assert [(run["tool"], run["status"]) for run in rows["fabric_check_run"]] == [("nccl-tests", "succeeded"), ("perftest", "succeeded")]
    assert len(rows["fabric_check_point"]) == 17
    line = text[: text.index("é" if layout.get("ensure_ascii") is False else "\\u00e9")].count("\n") + 1
    for point in rows["fabric_check_point"]:
        stated = text.encode()[point["raw_offset"] : point["raw_offset"] + point["raw_length"]].decode().replace("\\t", "\t").split()
        assert stated[0] == str(point["message_bytes"]) and point["line_number"] == line
        if point["time_us"] is not None:
            assert str(point["time_us"]) in stated


def test_a_tools_own_json_within_another_is_read(tmp_path: Path) -> None:
    documents = {"fio": sample.FIO_JSON, "iperf3": sample.IPERF3, "nvbandwidth": sample.NVBANDWIDTH_JSON, "nccl-tests": sample.NCCL_JSON}
    text = json.dumps({"node1": {name: {"result": json.loads(document)} for name, document in documents.items()}}, indent=1)
    rows = of_log(tmp_path, text, "node.json")
    assert {run["tool"] for run in rows["fabric_check_run"]} == set(documents) and len(rows["fabric_check_run"]) == 4
    alone = [len(of_log(tmp_path / name, document, f"{name}.json")["fabric_check_point"]) for name, document in documents.items()]
    assert len(rows["fabric_check_point"]) == sum(alone)
    (rate,) = [row for row in rows["fabric_check_point"] if row["direction"] == "read"]
    assert text[rate["raw_offset"] :].startswith('"read"') and text[: rate["raw_offset"]].count("\n") + 1 == rate["line_number"]


def test_a_list_of_documents_is_a_run_each(tmp_path: Path) -> None:
    text = json.dumps([json.loads(sample.FIO_JSON)] * 2, indent=1)
    assert len(of_log(tmp_path, text, "fio.json")["fabric_check_run"]) == 2


def nccl_records(factor: float = 1, algorithm: str = "RING") -> str:
    rows = [
        {"algbw_gbps": round(size / time / 1e3 * factor, 2), "busbw_gbps": round(size / time / 1e3 * 1.75 * factor, 2), "count": size // 4, "dtype": "float",
         "redop": "sum", "root": -1, "size_bytes": size, "time_us": time}
        for size, time in ((1 << 20, 40.65), (1 << 25, 149.6), (1 << 34, 43047.0))
    ]
    command = f"mpirun -np 8 -x NCCL_ALGO={algorithm} -x NCCL_DEBUG=INFO /opt/nccl-tests/build/all_reduce_perf -b 1M -e 16G -f 2 -g 1 "
    return json.dumps({"command": command, "hosts": ["node1", "node2"], "results": rows, "run_id": "suite", "total_ranks": 8}, indent=2)


@pytest.mark.parametrize(("factor", "found"), [(1, 399.1), (8, 399.1), (3, None)])
def test_rows_of_nccl_tests_made_json_take_their_unit_from_bytes_and_time(tmp_path: Path, factor: float, found: float | None) -> None:
    rows = of_log(tmp_path, nccl_records(factor), "x.json")
    (run,) = rows["fabric_check_run"]
    assert (run["tool"], run["test"], run["nodes"], run["rank_count"]) == ("nccl-tests", "all_reduce_perf", "node1,node2", 8)
    assert rows["fabric_check_point"][2]["alg_bandwidth_gb_per_s"] == (None if found is None else pytest.approx(found, abs=0.006))
    assert codes(rows) == ({} if found else {"unknown-unit": 3})


def test_several_all_reduce_figures_of_one_run_are_told_apart(tmp_path: Path) -> None:
    for algorithm in ("RING", "TREE"):
        sample.write(tmp_path / f"tree/{algorithm}.json", nccl_records(algorithm=algorithm))
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select count(*), count(distinct workload_spec_digest), min(same_figures_count) from fabric_results") == [(2, 2, 1)]
    assert sql("select workload_document->>'$.environment.NCCL_ALGO' from workload_dim order by all") == [("RING",), ("TREE",)]


def test_sums_of_nvbandwidth_jobs_of_fio_and_rates_of_iperf3(tmp_path: Path) -> None:
    sums = {
        "gpu_inventory": {"0": "NVIDIA GB900 (00000008:01:00)"}, "label": "node1",
        "sum_entries": [{"sum_gbps": 845.65, "test": "host_to_device_memcpy_ce"}, {"sum_gbps": 2363.65, "test": "host_device_latency_sm"}],
    }
    jobs = {
        "bs_rand": "4K", "bs_seq": "1M", "label": "node1", "results": {
            "rand_read": {"bw_mb_s": 169.2069549560547, "iops": 43316.980503, "p99_lat_ms": None},
            "seq_write": {"bw_mb_s": 714.9475, "iops": 600.0, "p99_lat_ms": 2.5},
        },
    }
    rates = {"hosts": ["node1", "node2"], "iperf3": {"fwd_gbps": 7.66, "rev_gbps": 7.45}}
    for name, document in (("nv", sums), ("fio", jobs), ("iperf", rates)):
        sample.write(tmp_path / f"tree/{name}.json", json.dumps(document, indent=2))
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select test, bandwidth_gb_per_s, io_per_s, latency_p99_us from fabric_outcome_fact where scope = 'point' order by all") == [
        ("host_to_device_memcpy_ce", 845.65, None, None), ("rand_read", pytest.approx(169.2069549560547 * 1048576 / 1e9), 43316.980503, None),
        ("seq_write", None, 600.0, 2500.0),
    ]
    assert sql("select scope_name, bandwidth_gb_per_s from fabric_outcome_fact where scope = 'pair' order by all") == [
        ("node1 -> node2", 0.9575), ("node2 -> node1", 0.93125),
    ]
    assert sql("select code from ingest_issue order by all") == [("unit-contradicted",), ("unknown-unit",)]


def test_a_list_of_prompts_about_a_tool_is_no_check(tmp_path: Path) -> None:
    prompts = ["# nThread 1 nGpus 8: what does this line of nccl-tests mean?\nSay it shortly.", "What is RDMA_Write BW Test?\n", "fio version"]
    sample.write(tmp_path / "tree/prompts.json", json.dumps({"prompts": prompts}))
    assert drafts(tmp_path / "tree") == []


@pytest.mark.exhaustive
def test_the_real_cluster_suite_has_the_peaks_of_its_own_comparison(aisp_evidence: Path, tmp_path: Path) -> None:
    """Without its manifest and steps, which would make them tests of a cluster run."""
    folder = next(aisp_evidence.rglob("*_nccl_algo_comparison.json")).parent
    for path in folder.glob("*_nccl_*.json"):
        sample.write(tmp_path / "tree" / path.name, path.read_text())
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    compared = json.loads(next(folder.glob("*_nccl_algo_comparison.json")).read_text())["algorithms_tested"]
    profiles = json.loads(next(folder.glob("*_nccl_env_sensitivity.json")).read_text())["profiles"]
    stated = {Path(row.get("output") or row["output_json"]).name: row["peak_busbw_gbps"] for row in [*compared, *profiles]}
    found = dict(sql("select run.raw_folder, peak_bus_bandwidth_gb_per_s from fabric_results inner join benchmark_run_fact as run using (run_id)"))
    assert len(stated) == 10 and stated.items() <= found.items()
