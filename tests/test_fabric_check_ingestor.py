"""The fabric check ingestor: recognition, every tool's format, exact byte ranges, failed tests, damaged files."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from collections import Counter
from datetime import UTC, datetime
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from samples import fabric_check as sample

from warehouse.digest import bytes_digest
from warehouse.evidence.manifest import Manifest, ManifestFile
from warehouse.evidence.tree import list_tree
from warehouse.landing.contract import ISSUE_TABLE, Bundle, BundleDraft
from warehouse.landing.readers.node_list import expanded

PACKAGE = Path(__file__).resolve().parents[1] / "ingest" / "fabric_check"
Rows = dict[str, list[dict[str, Any]]]


def _package() -> Any:
    name = "test_fabric_check_package"
    spec = importlib.util.spec_from_file_location(name, PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)])
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


INGESTOR = _package().INGESTOR
PLACE = import_module("test_fabric_check_package.place")


def drafts(path: Path) -> list[BundleDraft]:
    return list(INGESTOR.bundles(list_tree(path)))


def stored(draft: BundleDraft, folder: Path) -> Bundle:
    files = []
    for file in draft.files:
        data = file.file.source.read_bytes()
        path = folder / file.raw_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        files.append(ManifestFile(file.raw_path, len(data), bytes_digest(data), file.media_type, file.role))
    manifest = Manifest("fabric_check", tuple(files), draft.identity, draft.source)
    return Bundle(manifest.digest, manifest, lambda file: folder / file.raw_path)


def parsed(bundle: Bundle) -> Rows:
    rows: Rows = {name: [] for name in (*INGESTOR.tables, ISSUE_TABLE)}
    for table, batch in INGESTOR.parse(bundle):
        rows[table] += batch.to_pylist()
    return rows


def landed(tree: Path) -> Rows:
    """The rows of the only bundle in a tree."""
    (draft,) = drafts(tree)
    return parsed(stored(draft, tree.parent / "stored"))


def of_log(tmp_path: Path, text: str, name: str = "check.log") -> Rows:
    sample.write(tmp_path / "tree" / name, text)
    return landed(tmp_path / "tree")


def points(rows: Rows, *keys: str) -> list[tuple[Any, ...]]:
    return [tuple(row[key] for key in keys) for row in rows["fabric_check_point"]]


def outcomes(rows: Rows) -> list[tuple[Any, ...]]:
    return [(row["test"], row["status"], row["status_reason"]) for row in rows["fabric_check_test"]]


def entries(rows: Rows, test_index: int | None = None) -> dict[str, str | None]:
    return {row["key"]: row["value"] for row in rows["fabric_check_entry"] if row["test_index"] == test_index}


def codes(rows: Rows) -> Counter[str]:
    return Counter(row["code"] for row in rows[ISSUE_TABLE])


class TestNccl:
    def test_rccl_report_in_json_and_csv(self, tmp_path: Path) -> None:
        left, right = '"AllReduce",2,16,8,1,', [('1024,"float","sum",0,12.500000,0.081920,0.153600,"0"'), ('1024,"float","sum",1,12.250000,0.083500,0.156500,"N/A"')]
        new = "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
        old = "collective, ranks, rankspernode, gpusperrank, size, type, redop, inplace, time, algbw, busbw, #wrong\n"  # without the nodes
        reports = {
            "report.json": sample.RCCL_REPORT, "lines.json": sample.RCCL_REPORT.replace("[\n", "").replace("]\n", "").replace("},", "}").replace('"numCycle":0, ', ""),
            "report.csv": new + "".join(f"0,{left}{row}\n" for row in right), "old.csv": old + "".join(f"{left}{row}\n".replace(",", ", ") for row in right),
        }
        for name, text in reports.items():
            rows = of_log(tmp_path / name, text, name)
            assert codes(rows) == {} and outcomes(rows) == [("all_reduce_perf", "measured", None)]
            assert points(rows, "placement", "message_bytes", "element_type", "redop", "time_us", "alg_bandwidth_gb_per_s", "bus_bandwidth_gb_per_s", "wrong_count") == [
                ("out_of_place", 1024, "float", "sum", 12.5, 0.08192, 0.1536, 0), ("in_place", 1024, "float", "sum", 12.25, 0.0835, 0.1565, None),
            ]
            (run,) = rows["fabric_check_run"]
            assert (run["tool"], run["rank_count"], run["node_count"]) == ("rccl-tests", 16, 2)
        bad = sample.RCCL_REPORT.replace('"wrong":"0"', '"wrong":"7"')
        assert outcomes(of_log(tmp_path / "bad", bad, "x.json")) == [("all_reduce_perf", "failed", "1 rows with wrong values")]
        cut = sample.RCCL_REPORT[: sample.RCCL_REPORT.index('"busBw":0.1565')]
        rows = of_log(tmp_path / "cut", cut, "x.json")
        assert len(points(rows, "time_us")) == 1 and codes(rows)["malformed-row"] == 1

    def test_rccl_in_place_alone_and_more_than_one_cycle(self, tmp_path: Path) -> None:
        text = (
            "# nThread 1 nGpus 8 minBytes 1024 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n"
            "rccl-tests: Version develop:448c4c7\n# Using devices\n"
            + "".join(f"#   Rank  {rank} Pid    100 on      gpu01 device  {rank} [0000:0{rank}:00.0] AMD Instinct MI900X\n" for rank in range(8))
            + "#\n"
            "#                                                     in-place          \n"
            "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       \n"
            "        1024           256     float     sum      -1    12.50    0.08    0.14      0\n# Testing 2 cycle.\n"
            "        1024           256     float     sum      -1    12.00    0.09    0.15      0\n"
            "# Errors with asterisks indicate errors that have exceeded the maximum threshold.\n"
            "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.145 \n#\n"
        )
        rows = of_log(tmp_path, text, "all_reduce.log")
        assert points(rows, "placement", "time_us", "bus_bandwidth_gb_per_s", "wrong_count") == [("in_place", 12.5, 0.14, 0), ("in_place", 12.0, 0.15, 0)]
        assert codes(rows) == {"test-from-file-name": 1} and outcomes(rows) == [("all_reduce_perf", "measured", None)]

    def test_a_log_of_two_tests_is_two_runs(self, tmp_path: Path) -> None:
        text = sample.nccl_section(average="8.15 ") + sample.nccl_section("sendrecv_perf", average="7.5 ", reduced_to=3000000, rows=sample.even("7.5", 1))
        rows = of_log(tmp_path, text)
        assert [(run["test"], run["status"], run["nodes"], run["rank_count"], run["tool_version"]) for run in rows["fabric_check_run"]] == [
            ("alltoall_perf", "succeeded", "gpu01,gpu02", 2, "2.17.8"), ("sendrecv_perf", "succeeded", "gpu01,gpu02", 2, "2.17.8"),
        ]
        assert [status for _, status, _ in outcomes(rows)] == ["measured", "reduced"]
        averages = [(row["value_number"], row["run_id"].rpartition("/")[2]) for row in rows["fabric_check_entry"] if row["key"] == "Avg bus bandwidth"]
        assert averages == [(8.15, "1-alltoall_perf"), (7.5, "2-sendrecv_perf")]
        assert not rows[ISSUE_TABLE]

    def test_points_in_both_placements_and_na_is_null(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.nccl_section())
        assert points(rows, "point_index", "placement", "message_bytes", "time_us", "bus_bandwidth_gb_per_s", "wrong_count", "redop", "root") == [
            (1, "out_of_place", 1048576, 50.27, 10.43, 0, "sum", None), (1, "in_place", 1048576, 45.0, 11.65, None, "sum", None),
            (2, "out_of_place", 2097152, 99.91, 10.5, 0, "sum", None), (2, "in_place", 2097152, 5.2e4, 0.02, None, "sum", None),
        ]

    def test_ranks_name_node_device_bus_and_model(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.nccl_section(gpus=2))
        assert [(row["number"], row["node_name"], row["device"], row["bus_id"], row["model"]) for row in rows["fabric_check_endpoint"]] == [
            (0, "gpu01", 0, "0000:1b:00", "NVIDIA H900 80GB"), (1, "gpu01", 1, "0000:1c:00", "NVIDIA H900 80GB"),
            (2, "gpu02", 0, "0000:1b:00", "NVIDIA H900 80GB"), (3, "gpu02", 1, "0000:1c:00", "NVIDIA H900 80GB"),
        ]
        (run,) = rows["fabric_check_run"]
        assert (run["node_count"], run["gpu_count"], run["gpu_bus_ids"]) == (2, 4, "0000:1b:00 0000:1c:00")

    def test_a_test_that_died_is_a_failed_row_with_the_tools_words(self, tmp_path: Path) -> None:
        error = "gpu02: Test NCCL failure common.cu:958 'unhandled system error'"
        rows = of_log(tmp_path, sample.nccl_section(average=None, error=error) + sample.nccl_section("sendrecv_perf", rows=sample.ONE_BY_ONE))
        assert [(run["test"], run["status"], run["status_reason"]) for run in rows["fabric_check_run"]] == [
            ("alltoall_perf", "failed", error), ("sendrecv_perf", "succeeded", None),
        ]
        assert outcomes(rows)[0] == ("alltoall_perf", "failed", error)

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"bounds": "7 FAILED"}, "Out of bounds values : 7 FAILED"), ({"average": "8.15 FAILED"}, "Avg bus bandwidth    : 8.15 FAILED"),
            ({"average": "-nan "}, "the average bus bandwidth is -nan"), ({"average": None}, "the log has no average bus bandwidth"),
        ],
    )
    def test_every_way_to_fail(self, tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
        assert outcomes(of_log(tmp_path, sample.nccl_section(**changes))) == [("alltoall_perf", "failed", reason)]

    def test_old_format_takes_its_test_from_the_file_name_and_errors_are_no_counts(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.OLD_ALL_GATHER, "nccl_allgather.log")
        assert outcomes(rows) == [("all_gather_perf", "measured", None)]
        assert [(row["code"], row["severity"], row["message"]) for row in rows[ISSUE_TABLE]] == [
            ("test-from-file-name", "note", "the log does not name its test: all_gather_perf is from the file's name")
        ]
        assert points(rows, "point_index", "message_bytes", "max_error", "wrong_count", "redop")[-2:] == [(3, 32, 1e-07, None, None), (3, 32, 2e-07, None, None)]
        assert [row[0] for row in points(rows, "point_index")] == [1, 1, 2, 2, 3, 3]  # a size that stands twice is two points

    def test_rccl_takes_its_test_from_the_command_and_wrong_values_fail(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.OLD_RCCL)
        (run,) = rows["fabric_check_run"]
        assert (run["tool"], run["tool_version"], run["test"], run["status"]) == ("rccl-tests", "develop:abc1234", "reduce_perf", "failed")
        assert points(rows, "placement", "status", "wrong_count", "root") == [("out_of_place", "measured", 0, 0), ("in_place", "failed", 3, 0)]
        assert entries(rows)["ROCm version"] == "7.0.1.0-42-9428210"

    @pytest.mark.parametrize("prefix", ["[1,0]<stdout>:", "[1,0]<stdout>: ", "0: ", " 0: ", "2026-01-28T01:07:02.123Z ", "[host@1,0]<stdout>: "])
    def test_launchers_prefixes(self, tmp_path: Path, prefix: str) -> None:
        plain = of_log(tmp_path / "plain", sample.nccl_section())
        lines = sample.nccl_section().splitlines()
        noise = ["[1,1]<stdout>:gpu02:1:2 [0] NCCL INFO Bootstrap : Using eth0", "1: gpu02:1:2 [0] NCCL INFO cudaDriverVersion 12040"]
        rows = of_log(tmp_path, "\n".join([*noise, *(prefix + line for line in lines)]) + "\n")
        columns = ("placement", "message_bytes", "time_us", "wrong_count")
        assert points(rows, *columns) == points(plain, *columns) and outcomes(rows) == outcomes(plain)

    def test_processes_that_write_at_the_same_time_stay_apart(self, tmp_path: Path) -> None:
        first, second = (sample.nccl_section(nodes=(node,), gpus=2, average=average, rows=sample.even(average.strip())).splitlines() for node, average in (("gpu01", "1.5 "), ("gpu02", "2.5 ")))
        mixed = [line for a, b in zip(first, second, strict=True) for line in (f"[1,0]<stdout>:{a}", f"[1,1]<stdout>:{b}")]
        rows = of_log(tmp_path, "\n".join(mixed))
        found = {run["nodes"]: run["run_id"] for run in rows["fabric_check_run"]}
        averages = {row["run_id"]: row["value_number"] for row in rows["fabric_check_entry"] if row["key"] == "Avg bus bandwidth"}
        assert {node: averages[run] for node, run in found.items()} == {"gpu01": 1.5, "gpu02": 2.5}
        assert len(rows["fabric_check_point"]) == 8

    def test_per_iteration_columns_and_timestamps(self, tmp_path: Path) -> None:
        text = sample.nccl_section().replace("busbw  #wrong     time", "busbw  #wrong  i_min i_max i_p99 i_cv%  time").replace(
            "#wrong\n", "#wrong i_min i_max i_p99 i_cv%  timestamp\n"
        )
        lines = []
        for line in text.splitlines():
            words = line.split()
            if words and words[0].isdigit():
                cells = [*words[:9], "99.5", "110.0", "109.0", "2.5", *words[9:], "1.0", "2.0", "1.9", "3.5", "2026-01-28", "01:07:02"]
                line = "  ".join(cells)
            lines.append(line)
        rows = of_log(tmp_path, "\n".join(lines))
        assert points(rows, "time_us", "latency_min", "latency_p99", "latency_unit")[:2] == [(50.27, 99.5, 109.0, "us"), (45.0, 1.0, 1.9, "us")]
        (run,) = rows["fabric_check_run"]
        assert run["started_at"] == datetime(2026, 1, 28, 1, 7, 2, tzinfo=UTC) and run["is_zone_assumed"] is True

    def test_a_row_cut_in_its_middle_keeps_the_whole_half(self, tmp_path: Path) -> None:
        lines = sample.nccl_section().splitlines()
        last = next(index for index, line in enumerate(lines) if line.startswith("     2097152"))
        cut = lines[last][: lines[last].index("5.2e+04")]
        rows = of_log(tmp_path, "\n".join([*lines[:last], cut]))
        assert points(rows, "placement", "time_us")[2:] == [("out_of_place", 99.91)]
        assert codes(rows) == {"truncated-row": 1, "unfinished-line": 1} and outcomes(rows)[0][1] == "failed"

    @pytest.mark.parametrize("words", range(5, 13))
    def test_a_cut_row_puts_nothing_into_another_column(self, tmp_path: Path, words: int) -> None:
        row = ["    33554432", "    8388608", "   float", "   sum", "    -1", "  900.5", "   37.26", "   65.21", "      0", "  910.5", "   36.85", "   64.49", "      0"]
        lines = [*sample.nccl_section().partition("# Out of bounds")[0].splitlines(), "".join(row[:words]), "slurmstepd: error: *** STEP 1.0 CANCELLED DUE TO TIME LIMIT ***", ""]
        rows = of_log(tmp_path, "\n".join(lines))
        told = "malformed-row" if words < 9 else "truncated-row"
        kept = [("out_of_place", 33554432, 900.5, 37.26, 65.21, 0)] if words >= 9 else []
        assert points(rows, "placement", "message_bytes", "time_us", "alg_bandwidth_gb_per_s", "bus_bandwidth_gb_per_s", "wrong_count")[4:] == kept
        assert codes(rows)[told] == 1 and outcomes(rows)[0][1] == "failed"

    def test_the_number_in_which_a_file_ends_is_not_known(self, tmp_path: Path) -> None:
        text = sample.nccl_section()
        cut = text[: text.index("# Avg bus bandwidth")] + "# Avg bus bandwidth    : 8"
        rows = of_log(tmp_path, cut)
        assert outcomes(rows)[0][1] == "failed" and entries(rows, 1)["Avg bus bandwidth"] is None
        whole = of_log(tmp_path / "whole", cut + "\n")
        assert outcomes(whole)[0][1] == "measured" and entries(whole, 1)["Avg bus bandwidth"] == "8"

    def test_processes_that_are_all_rank_0_are_no_measurement(self, tmp_path: Path) -> None:
        ranks = [f"#  Rank  {rank} Group  0 Pid {pid} on {host} device  {rank} [0x0{rank}] NVIDIA H800" for pid, host in ((798, "hw14"), (812, "hw15")) for rank in (0, 1)]
        lines = [line for line in sample.nccl_section().splitlines() if not line.startswith("#  Rank")]
        place = next(index for index, line in enumerate(lines) if line.startswith("# Using devices")) + 1
        rows = of_log(tmp_path, "\n".join([*lines[:place], *ranks, *lines[place:], ""]))
        assert [(row["number"], row["node_name"]) for row in rows["fabric_check_endpoint"]] == [(0, "hw14"), (1, "hw14")]
        assert outcomes(rows)[0][1:] == ("failed", "several processes are rank 0") and codes(rows) == {"repeated-rank": 2}

    def test_a_host_that_begins_with_a_digit_is_no_row(self, tmp_path: Path) -> None:
        warning = "10.0.0.1:77:88 [0] misc/socket.cc:48 NCCL WARN socketStartConnect: Connect to 10.0.0.2 failed"
        rows = of_log(tmp_path, sample.nccl_section(average=None, error=warning))
        assert outcomes(rows) == [("alltoall_perf", "failed", warning)] and codes(rows) == {}

    def test_a_unit_that_is_not_known_is_told_and_gives_no_value(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.nccl_section().replace("(us)", "(ticks)"))
        assert {row[0] for row in points(rows, "time_us")} == {None} and codes(rows) == {"unknown-unit": 1}

    def test_what_is_no_number_is_told_with_its_place_and_null(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.nccl_section().replace("   99.91", "     inf").replace("10.50", "1O.50"))
        assert points(rows, "time_us", "bus_bandwidth_gb_per_s")[2] == (None, None)
        assert codes(rows) == {"non-finite-number": 1, "not-a-number": 1}
        assert all(row["line_number"] == 13 and row["raw_length"] > 0 for row in rows[ISSUE_TABLE])

    def test_places_lead_to_the_very_bytes(self, tmp_path: Path) -> None:
        text = "noise é\r\n" + sample.nccl_section().replace("\n", "\r\n")
        rows = of_log(tmp_path, text)
        data = text.encode()
        for row in rows["fabric_check_point"]:
            assert data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]].split()[0] == str(row["message_bytes"]).encode()
        (average,) = [row for row in rows["fabric_check_entry"] if row["key"] == "Avg bus bandwidth"]
        assert data[average["raw_offset"] : average["raw_offset"] + average["raw_length"]].strip() == b"# Avg bus bandwidth    : 8.15"

    def test_json_has_times_and_no_environment(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.NCCL_JSON, "x.json")
        (run,) = rows["fabric_check_run"]
        assert (run["test"], run["nodes"], run["duration_s"], run["is_zone_assumed"]) == ("all_reduce_perf", "gpu01,gpu02", 10.0, True)
        assert points(rows, "placement", "message_bytes", "time_us", "bus_bandwidth_gb_per_s", "wrong_count") == [
            ("out_of_place", 1024, 12.5, 0.08, 0), ("in_place", 1024, 12.0, 0.09, None),
        ]
        assert entries(rows, 1)["Avg bus bandwidth"] == "0.085" and "hunter2" not in json.dumps(rows, default=str)

    def test_text_and_json_of_one_workload_have_one_digest(self, tmp_path: Path) -> None:
        document = json.loads(sample.NCCL_JSON)
        document["args"][0] = "alltoall_perf"
        document["config"] |= {"minimum_bytes": 1048576, "maximum_bytes": 4194304, "warmup_iters": 5}
        of_json = of_log(tmp_path / "json", json.dumps(document, separators=(",", ":")), "x.json")
        of_text = of_log(tmp_path / "text", sample.nccl_section())
        assert of_json["fabric_check_run"][0]["workload_document"] == of_text["fabric_check_run"][0]["workload_document"]


class TestCampaign:
    def test_a_campaign_is_one_bundle_named_by_its_path_wherever_it_lies(self, tmp_path: Path) -> None:
        sample.write_campaign(tmp_path / "here")
        shutil.copytree(tmp_path / "here", tmp_path / "there" / "deeper")
        inside = tmp_path / "here/benchmarks/cluster-x/nccl-benchmark-results/pairwise/runs"
        found = [drafts(path) for path in (tmp_path / "here", tmp_path / "there", inside)]
        assert [len(some) for some in found] == [1, 1, 1]
        told = [(some[0].identity, some[0].runs, [(f.raw_path, f.role) for f in some[0].files]) for some in found]
        assert told[0] == told[1] == told[2]
        assert told[0][0] == {"cluster": "cluster-x", "is_named_by_path": True}
        name = "fabric-check/cluster-x/nccl-benchmark-results/pairwise/runs/20260128-010702/without-debug/logs/nccl_N2_G1_gpu01_gpu02.log"
        assert told[0][1][:2] == (f"{name}/1-alltoall_perf", f"{name}/2-sendrecv_perf") and len(told[0][1]) == 10

    def test_the_summary_agrees_and_its_blank_is_the_failed_test(self, tmp_path: Path) -> None:
        sample.write_campaign(tmp_path / "tree")
        rows = landed(tmp_path / "tree")
        assert codes(rows) == {}
        stated = {(row["run_id"], row["key"]): row["value_number"] for row in rows["fabric_check_entry"] if row["source"] == "summary"}
        failed = [run["run_id"] for run in rows["fabric_check_run"] if run["status"] == "failed"]
        assert [run for (run, key), value in stated.items() if key == "avg_bus_bw_GBs" and value is None] == failed and len(failed) == 1

    def test_a_summary_that_disagrees_is_told_where_it_says_so(self, tmp_path: Path) -> None:
        sample.write_campaign(tmp_path / "tree", **{"nccl_N2_G1_gpu01_gpu04.log": "13.760000"})
        rows = landed(tmp_path / "tree")
        (issue,) = rows[ISSUE_TABLE]
        assert issue["code"] == "summary-disagrees" and issue["raw_path"].endswith("summary.csv") and issue["line_number"] == 6
        assert issue["message"] == "avg_bus_bw_GBs: the summary says 13.760000, the log 5.76: a factor of 2.39 apart"
        assert issue["severity"] == "error"

    def test_a_log_without_a_word_is_a_failed_run_on_the_nodes_of_its_name(self, tmp_path: Path) -> None:
        sample.write_campaign(tmp_path / "tree")
        (log,) = (tmp_path / "tree").rglob("nccl_N2_G1_gpu01_gpu02.log")
        sample.write(log.with_name("nccl_N2_G1_gpu03_gpu04.log"), "srun: error: gpu04: task 1: Exited with exit code 1\n")
        sample.write(log.with_name("nccl_N2_G1_gpu05_gpu06.log"), "")
        rows = landed(tmp_path / "tree")
        silent = [(run["nodes"], run["status"], run["status_reason"]) for run in rows["fabric_check_run"] if run["test"] is None]
        assert silent == [
            ("gpu03,gpu04", "failed", "srun: error: gpu04: task 1: Exited with exit code 1"), ("gpu05,gpu06", "failed", "the log is empty"),
        ]

    def test_nodes_that_the_name_says_otherwise_are_told(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.nccl_section(), "nccl_N2_G1_gpu01_gpu09.log")
        assert codes(rows) == {"nodes-mismatch": 1} and rows["fabric_check_run"][0]["nodes"] == "gpu01,gpu02"

    def test_a_summary_of_logs_that_are_not_here(self, tmp_path: Path) -> None:
        sample.write_campaign(tmp_path / "tree")
        for log in (tmp_path / "tree").rglob("nccl_N2_G1_gpu01_*.log"):
            log.unlink()
        rows = landed(tmp_path / "tree")
        assert codes(rows) == {"summary-without-log": 6} and len(rows["fabric_check_run"]) == 4

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("cnode2-[001,003]", ["cnode2-001", "cnode2-003"]), ("a[08-10],b1", ["a08", "a09", "a10", "b1"]), ("login", ["login"]),
            ("r[1-2]n[1,2]x", ["r1n1x", "r1n2x", "r2n1x", "r2n2x"]), ("", []), ("a,b", ["a", "b"]),
            ("a[1-", None), ("a[x]", None), ("a[3-1]", None), ("a[1-999999999]", None),
        ],
    )
    def test_node_lists(self, text: str, names: list[str] | None) -> None:
        assert expanded(text) == names

    @pytest.mark.parametrize(
        ("path", "kept", "cluster"),
        [
            ("x/benchmarks/c1/nccl-benchmarks-results/pairwise/with-debug/logs/a.log", "c1/nccl-benchmarks-results/pairwise/with-debug/logs/a.log", "c1"),
            ("x/benchmarks/c2/pairwise/runs/20260128-010702/logs/a.log", "c2/pairwise/runs/20260128-010702/logs/a.log", "c2"),
            ("tmp/somewhere/pairwise/runs/77/logs/a.log", "pairwise/runs/77/logs/a.log", None),
            ("home/me/2024-11-08-21-24-51/gpu-07/a.log", "2024-11-08-21-24-51/gpu-07/a.log", None),
            ("home/me/data/a.log", "a.log", None), ("home/user1/a.log", "a.log", None), ("tmp/tmpabcd12/a.log", "a.log", None),
        ],
    )
    def test_only_telling_folders_are_kept(self, path: str, kept: str, cluster: str | None) -> None:
        place = PLACE.place_of(path.split("/"))
        assert (place.raw_path, place.cluster) == (kept, cluster)


def together(*logs: str) -> str:
    """Logs of several tasks, line by line, as `srun --label` writes them."""
    lines = [[f"{task}: {line}" for line in log.splitlines()] for task, log in enumerate(logs)]
    return "".join(f"{line}\n" for several in zip_longest(*lines) for line in several if line is not None)


class TestTasksInOneLog:
    """What a launcher tells apart is told apart, with every tool."""

    def test_nvbandwidth(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, together(sample.NVBANDWIDTH.replace("\nDevice 0", "\nhost-a\nDevice 0"), sample.NVBANDWIDTH.replace("55.50", "11.50").replace("\nDevice 0", "\nhost-b\nDevice 0")))
        assert [run["nodes"] for run in rows["fabric_check_run"]] == ["host-a", "host-b"] and codes(rows) == {}
        first = [(row["run_id"], row["bandwidth"]) for row in rows["fabric_check_point"] if row["test_index"] == 1 and row["target"] == "GPU 0"]
        assert first == [(run["run_id"], rate) for run, rate in zip(rows["fabric_check_run"], (55.5, 11.5), strict=True)]

    def test_perftest(self, tmp_path: Path) -> None:
        fast, slow = sample.WRITE_BW.format(unit="Gb/sec", peak="110.5"), sample.WRITE_BW.format(unit="Gb/sec", peak="50.5").replace("100.00", "50.00")
        rows = of_log(tmp_path, together(fast, slow))
        assert outcomes(rows) == [("ib_write_bw", "measured", None)] * 2 and codes(rows) == {}
        assert points(rows, "bandwidth", "bandwidth_peak") == [(100.0, 110.5), (50.0, 50.5)]

    def test_gpu_burn(self, tmp_path: Path) -> None:
        good = sample.GPU_BURN.replace("FAULTY", "OK").replace("7  (WARNING!)", "0").replace("aaaa", "cccc").replace("\r", "\n")
        rows = of_log(tmp_path, "a script's word\n" + together(sample.GPU_BURN.replace("\r", "\n"), good))
        assert outcomes(rows) == [("gpu_burn", "failed", "GPU 1: FAULTY"), ("gpu_burn", "measured", None)]
        assert len({row["run_id"] for row in rows["fabric_check_point"]}) == 2 and len(rows["fabric_check_point"]) == 4

    @pytest.mark.parametrize("again", [sample.GPU_BURN, "Burning for 60 seconds.\n" + sample.GPU_BURN, "GPU 0: OK"])
    def test_gpu_burn_one_run_after_another(self, tmp_path: Path, again: str) -> None:
        rows = of_log(tmp_path, "Burning for 60 seconds.\n" + sample.GPU_BURN + again)
        assert len(rows["fabric_check_run"]) == (1 if again == "GPU 0: OK" else 2)
        assert len(rows["fabric_check_point"]) == 2 * len(rows["fabric_check_run"])

    def test_a_run_that_was_stopped_is_over_with_the_next(self, tmp_path: Path) -> None:
        burning = "Burning for 60 seconds.\n"
        rows = of_log(tmp_path, burning + sample.GPU_BURN.partition("Killing")[0].replace("7  (WARNING!)", "0") + burning + sample.GPU_BURN)
        assert [reason for _, _, reason in outcomes(rows)] == ["the log ends before the verdict", "GPU 1: FAULTY"]


class TestOtherTools:
    def test_perftest_that_breaks_off_in_its_table_has_failed(self, tmp_path: Path) -> None:
        error = "Failed status 12: wr_id 0 syndrom 0x81"
        text = sample.WRITE_BW.format(unit="Gb/sec", peak="110.5").rstrip().rstrip("-").rstrip()
        rows = of_log(tmp_path, f"{text}\n Completion with error at client\n {error}\nscnt=128, ccnt=0\n")
        assert outcomes(rows) == [("ib_write_bw", "failed", "Completion with error at client")]
        assert points(rows, "message_bytes", "bandwidth", "status") == [(65536, 100.0, "measured")]

    def test_perftest_a_number_in_which_the_file_ends_is_not_known(self, tmp_path: Path) -> None:
        text = sample.WRITE_BW.format(unit="Gb/sec", peak="110.5")
        rows = of_log(tmp_path, text[: text.index("100.00") + 2])
        assert points(rows, "bandwidth", "bandwidth_peak") == [(None, 110.5)] and codes(rows) == {"truncated-row": 1, "unfinished-line": 1}

    @pytest.mark.parametrize("unit", ["MB/sec", "MiB/sec", "Gb/sec"])
    def test_perftest_lands_the_unit_of_the_header(self, tmp_path: Path, unit: str) -> None:
        rows = of_log(tmp_path, sample.WRITE_BW.format(unit=unit, peak="0.00"))
        assert outcomes(rows) == [("ib_write_bw", "measured", None)]
        assert points(rows, "message_bytes", "iterations", "bandwidth", "bandwidth_peak", "bandwidth_unit", "message_rate_mpps") == [
            (65536, 5000, 100.0, None, unit, 0.190735)  # a peak of 0.00 was not measured
        ]
        assert entries(rows)["Device"] == "mlx5_9" and entries(rows)["Number of qps"] == "4"

    def test_perftest_latencies(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.READ_LAT)
        assert outcomes(rows) == [("ib_read_lat", "measured", None)]
        names = ("min", "max", "p50", "mean", "stdev", "p99", "p999", "unit")
        assert points(rows, *(f"latency_{name}" for name in names)) == [(0.87, 4.7, 0.89, 0.9, 0.08, 0.95, 1.25, "usec")]

    def test_perftest_bandwidth_of_a_unit_that_is_not_known_is_told(self, tmp_path: Path) -> None:
        assert codes(of_log(tmp_path, sample.WRITE_BW.format(unit="GB/sec", peak="1.5"))) == {"unknown-unit": 2}

    def test_perftest_latency_of_a_test_that_ran_for_a_time(self, tmp_path: Path) -> None:
        head = sample.READ_LAT.partition(" #bytes")[0]
        table = " #bytes        #iterations       t_avg[usec]    tps average\n 2             4964221          1.01           495867.18\n"
        rows = of_log(tmp_path, head + table)
        assert outcomes(rows) == [("ib_read_lat", "measured", None)] and codes(rows) == {}
        assert points(rows, "message_bytes", "iterations", "latency_mean", "latency_unit") == [(2, 4964221, 1.01, "usec")]
        assert entries(rows, 1) == {"tps average": "495867.18"}

    def test_perftest_both_sides_of_a_bidirectional_test_stand_beside_their_sum(self, tmp_path: Path) -> None:
        head, columns, rest = sample.WRITE_BW.format(unit="Gb/sec", peak="0.00").partition(" #bytes")
        table, rule = columns + rest, "-" * 88
        row = " 65536      5000             0.00               {}\t\t   0.190735\n"
        text = head.replace("RDMA_Write BW", "RDMA_Write Bidirectional BW") + table
        for side, rate in (("Local", "60.00"), ("Remote", "40.00")):
            text += f"\n {side} results: \n{rule}\n{table.splitlines()[0]}\n{row.format(rate)}{rule}\n"
        rows = of_log(tmp_path, text)
        assert points(rows, "scope_name", "message_bytes", "bandwidth") == [(None, 65536, 100.0), ("local", 65536, 60.0), ("remote", 65536, 40.0)]
        assert codes(rows) == {} and outcomes(rows) == [("ib_write_bw", "measured", None)]

    def test_perftest_service_levels_and_cycles(self, tmp_path: Path) -> None:
        text = sample.WRITE_BW.format(unit="Gb/sec", peak="1.00").replace(" #bytes     #iterations", " #bytes    #sl      #iterations").replace(" 65536      5000", " 65536      3   5000")
        assert points(of_log(tmp_path / "qos", text), "scope_name", "iterations", "bandwidth") == [("service level 3", 5000, 100.0)]
        assert codes(of_log(tmp_path / "cycles", sample.READ_LAT.replace("usec", "cycles"))) == {"unknown-unit": 1}

    def test_perftest_several_tests_in_a_log_and_one_that_failed(self, tmp_path: Path) -> None:
        head = sample.WRITE_BW.partition(" #bytes")[0]
        rows = of_log(tmp_path, sample.WRITE_BW.format(unit="Gb/sec", peak="110.5") + sample.READ_LAT + head + "Couldn't connect to 10.0.0.9:18515\n")
        assert outcomes(rows) == [("ib_write_bw", "measured", None), ("ib_read_lat", "measured", None), ("ib_write_bw", "failed", "Couldn't connect to 10.0.0.9:18515")]

    def test_perftest_the_side_that_waited_states_no_results(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, "* Waiting for client to connect... *\n" + sample.WRITE_BW.partition(" #bytes")[0])
        assert outcomes(rows) == [("ib_write_bw", "unknown", "the side that waited printed no results")]

    def test_nvbandwidth_pairs_sums_waived_and_failed(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.NVBANDWIDTH)
        assert outcomes(rows) == [
            ("host_to_device_memcpy_ce", "measured", None), (None, "waived", "no such thing here"), ("device_to_device_memcpy_read_ce", "measured", None),
            ("host_device_latency_sm", "measured", None), ("multinode_thing", "waived", "needs more nodes"),
            ("device_local_copy", "failed", "[CUDA_ERROR_LAUNCH_FAILED] unspecified launch failure in expression cuStreamSynchronize(stream) in main() : memcpy.cpp:1"),
        ]
        assert points(rows, "test_index", "source", "target", "bandwidth", "latency_mean") == [
            (1, "CPU 0", "GPU 0", 55.5, None), (1, "CPU 0", "GPU 1", 44.25, None), (3, "GPU 1", "GPU 0", 276.07, None),
            (3, "GPU 0", "GPU 1", 276.19, None), (4, "CPU 0", "GPU 0", None, 772.5), (4, "CPU 0", "GPU 1", None, 800.0),
        ]
        assert entries(rows, 3)["SUM"] == "552.26" and rows["fabric_check_run"][0]["status"] == "failed"

    def test_nvbandwidth_copies_within_a_device_are_of_it_and_itself(self, tmp_path: Path) -> None:
        title, head = "memcpy local GPU(column) bandwidth (GB/s)", sample.NVBANDWIDTH.partition("Running")[0]
        text = f"{head}Running device_local_copy.\n{title}\n           0         1\n 0   1519.07   1518.25\n\nSUM device_local_copy 3037.32\n"
        case = {"name": "device_local_copy", "status": "Passed", "bandwidth_description": title, "bandwidth_matrix": [["1519.07", "1518.25"]], "sum": 3037.32}
        document = json.dumps({"nvbandwidth": {"version": "v0.8", "testcases": [case]}})
        for name, data in (("nv.log", text), ("nv.json", document)):
            rows = of_log(tmp_path / name, data, name)
            assert codes(rows) == {} and outcomes(rows) == [("device_local_copy", "measured", None)]
            assert points(rows, "scope_name", "source", "target", "bandwidth") == [
                ("GPU 0 -> GPU 0", "GPU 0", "GPU 0", 1519.07), ("GPU 1 -> GPU 1", "GPU 1", "GPU 1", 1518.25),
            ]

    def test_nvbandwidth_a_bidirectional_test_has_a_matrix_a_stream_and_one_of_both(self, tmp_path: Path) -> None:
        name, title = "device_to_device_bidirectional_memcpy_write_ce", "memcpy CE GPU(row) <-> GPU(column) {} bandwidth (GB/s)"
        matrices = {"Write1": [["N/A", "40.25"], ["41.5", "N/A"]], "Write2": [["N/A", "39.75"], ["42.25", "N/A"]], "Total": [["N/A", "80"], ["83.75", "N/A"]]}
        text = sample.NVBANDWIDTH.partition("Device 0")[0] + f"gpu-host-07\nDevice 0: NVIDIA H900 (00000000:1b:00)\n\nRunning {name}.\n"
        for part, (first, second) in matrices.items():
            text += f"{title.format(part)}\n           0         1\n 0 {'    '.join(first)}\n 1 {'    '.join(second)}\n\nSUM {name}_{part.lower()} {len(part)}.5\n\n"
        # As addTestcaseResults does it: rows are appended, the title is overwritten.
        case = {
            "name": name, "status": "Passed", "bandwidth_description": title.format("Total"),
            "bandwidth_matrix": [row for matrix in matrices.values() for row in matrix], "sum": 5.5,
        }
        device = "0: NVIDIA H900 (00000000:1b:00): (gpu-host-07)"
        document = json.dumps({"nvbandwidth": {"version": "v0.8", "GPU Device list": [device], "testcases": [case]}})
        for file_name, data in (("nv.log", text), ("nv.json", document)):
            rows = of_log(tmp_path / file_name, data, file_name)
            assert codes(rows) == {} and outcomes(rows) == [(name, "measured", None)]
            assert points(rows, "scope_name", "source", "target", "direction", "bandwidth") == [
                ("GPU 0 <-> GPU 1 Write1", "GPU 0", "GPU 1", "bidirectional", 40.25), ("GPU 1 <-> GPU 0 Write1", "GPU 1", "GPU 0", "bidirectional", 41.5),
                ("GPU 0 <-> GPU 1 Write2", "GPU 0", "GPU 1", "bidirectional", 39.75), ("GPU 1 <-> GPU 0 Write2", "GPU 1", "GPU 0", "bidirectional", 42.25),
                ("GPU 0 <-> GPU 1 Total", "GPU 0", "GPU 1", "bidirectional", 80.0), ("GPU 1 <-> GPU 0 Total", "GPU 1", "GPU 0", "bidirectional", 83.75),
            ]
            assert entries(rows, 1)["SUM"] == "5.5"
            (run,) = rows["fabric_check_run"]
            assert (run["gpu_model"], run["nodes"], run["gpu_bus_ids"]) == ("NVIDIA H900", "gpu-host-07", "00000000:1b:00")
        assert entries(of_log(tmp_path / "again", text), 1) == {"SUM write1": "6.5", "SUM write2": "6.5", "SUM": "5.5"}

    @pytest.mark.parametrize(("name", "title", "ends"), [
        ("all_to_one_write_ce", "memcpy CE All Gpus -> GPU(column) total", [("all GPUs", "GPU 0"), ("all GPUs", "GPU 1")]),
        ("one_to_all_read_sm", "memcpy SM GPU(column) <- All GPUs total", [("all GPUs", "GPU 0"), ("all GPUs", "GPU 1")]),
        ("all_to_one_read_ce", "memcpy CE GPU(row) -> GPU(column)", [("all GPUs", "GPU 0"), ("all GPUs", "GPU 1")]),
        ("multinode_device_to_device_memcpy_write_sm", "memcpy SM CPU(row) -> GPU(column)", [("GPU 0", "GPU 0"), ("GPU 0", "GPU 1")]),
        ("all_to_host_memcpy_ce", "memcpy CE CPU(row) <- GPU(column)", [("GPU 0", "CPU 0"), ("GPU 1", "CPU 0")]),
    ])
    def test_nvbandwidth_one_against_all_is_no_pair_of_gpus(
        self, tmp_path: Path, name: str, title: str, ends: list[tuple[str, str]]
    ) -> None:
        head = sample.NVBANDWIDTH.partition("Running")[0]
        text = f"{head}Running {name}.\n{title} bandwidth (GB/s)\n           0         1\n 0    177.69    177.63\n\nSUM {name} 355.32\n"
        rows = of_log(tmp_path, text)
        assert codes(rows) == {} and outcomes(rows) == [(name, "measured", None)]
        assert points(rows, "source", "target", "bandwidth") == [(*pair, rate) for pair, rate in zip(ends, (177.69, 177.63), strict=True)]

    def test_nvbandwidth_a_sum_says_that_a_test_has_ended_well_even_where_its_matrix_cannot_be_read(self, tmp_path: Path) -> None:
        head = sample.NVBANDWIDTH.partition("Running")[0]
        text = f"{head}Running multinode_bisect_write_ce.\nBisect benchmarking, simultaneous write CE BW\n             0\n0->1    177.69\n1->0    177.63\n\nSUM multinode_bisect_write_ce 355.32\n"
        rows = of_log(tmp_path, text)
        assert outcomes(rows) == [("multinode_bisect_write_ce", "measured", None)]
        assert points(rows, "bandwidth") == [] and codes(rows)["unknown-line"] == 3 and entries(rows, 1) == {"SUM": "355.32"}

    def test_nvbandwidth_json_says_what_the_text_says(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.NVBANDWIDTH_JSON, "nv.json")
        assert outcomes(rows) == [("device_to_device_memcpy_read_ce", "measured", None), ("multinode_thing", "waived", None)]
        assert points(rows, "source", "target", "bandwidth", "bandwidth_unit") == [("GPU 1", "GPU 0", 276.07, "GB/s"), ("GPU 0", "GPU 1", 276.19, "GB/s")]
        data = sample.NVBANDWIDTH_JSON.encode()
        assert [data[row["raw_offset"] : row["raw_offset"] + row["raw_length"]] for row in rows["fabric_check_point"]] == [b'"276.07"', b'"276.19"']

    def test_gpcnet_tables_units_and_impact(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.GPCNET_LOAD)
        assert [(test, status) for test, status, _ in outcomes(rows)] == [
            ("Isolated Network Tests: RR Two-sided Lat (8 B)", "measured"), ("Isolated Network Tests: RR Two-sided BW+Sync (131072 B)", "measured"),
            ("Network Tests running with Congestion Tests - Key Results: RR Two-sided Lat (8 B)", "measured"),
        ]
        assert points(rows, "message_bytes", "latency_mean", "latency_p99", "bandwidth", "bandwidth_unit") == [
            (8, 2.9, 4.3, None, None), (131072, None, None, 4000.0, "MiB/s/rank"),
        ]
        assert entries(rows, 3) == {"Avg": "1.5", "99%": "2.0"}
        (run,) = rows["fabric_check_run"]
        assert (run["test"], run["node_count"], run["rank_count"]) == ("network_load_test", 64, 2048)

    def test_gpcnet_that_would_not_run_is_a_failed_row(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, "ERROR: this application must be run on at least 2 nodes\n")
        assert outcomes(rows) == [(None, "failed", "ERROR: this application must be run on at least 2 nodes")]

    def test_gpu_burn_last_progress_most_errors_and_verdicts(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.GPU_BURN)
        assert points(rows, "gpu_number", "status", "gflop_per_s", "error_count", "temperature_c") == [
            (0, "measured", 16500.0, 0, 62.0), (1, "failed", 15500.0, 7, 63.0),
        ]
        assert outcomes(rows) == [("gpu_burn", "failed", "GPU 1: FAULTY")]
        assert [row["uuid"] for row in rows["fabric_check_endpoint"]] == ["GPU-aaaa", "GPU-bbbb"]
        whole = sample.GPU_BURN.encode()
        place = rows["fabric_check_point"][0]
        assert whole[place["raw_offset"] : place["raw_offset"] + place["raw_length"]].startswith(b"100.0%  proc'd: 6783")

    def test_gpu_burn_without_a_verdict_has_not_passed(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.GPU_BURN.partition("Killing")[0].replace("7  (WARNING!)", "0"))
        assert outcomes(rows) == [("gpu_burn", "failed", "the log ends before the verdict")]

    def test_fio_text(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.FIO_TEXT)
        assert outcomes(rows) == [("randread", "measured", None)]
        assert points(rows, "direction", "bandwidth", "bandwidth_unit", "io_per_s", "latency_kind", "latency_mean", "latency_p99", "latency_unit") == [
            ("read", 263.0, "MiB/s", 67400.0, "clat", 144900.0, 742000.0, "ns")
        ]

    def test_fio_2_json_counts_in_kib_and_microseconds_and_a_direction_without_io_is_no_zero(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, "fio: notice\n" + sample.FIO_JSON, "fio.log")
        assert points(rows, "direction", "bandwidth", "bandwidth_unit", "io_per_s", "latency_mean", "latency_p50", "latency_p90", "latency_unit") == [
            ("read", 2048.0, "KiB/s", 512.5, 20.5, 19.0, None, "us")
        ]
        (run,) = rows["fabric_check_run"]
        assert run["ended_at"] == datetime(2021, 7, 20, 6, 41, 18, tzinfo=UTC) and run["started_at"] is None
        assert json.loads(run["workload_document"])["jobs"] == [{"rw": "read", "bs": "1M", "job": "seq"}]

    def test_gpu_burn_errors_of_a_gpu_that_died_are_no_count(self, tmp_path: Path) -> None:
        text = (
            "GPU 0: NVIDIA H900 (UUID: GPU-a)\n10.0%  proc'd: 100 (6000 Gflop/s)   errors: 0   temps: 50 C \n"
            "20.0%  proc'd: -1 (0 Gflop/s)   errors: -1  (DIED!)  temps: 50 C \nNo clients are alive!  Aborting\n"
        )
        rows = of_log(tmp_path, text)
        assert outcomes(rows) == [("gpu_burn", "failed", "GPU 0: DIED")]
        assert points(rows, "status", "gflop_per_s", "error_count") == [("failed", None, None)]

    def test_iperf3(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.IPERF3, "iperf.json")
        assert points(rows, "scope", "scope_name", "direction", "bandwidth", "retransmit_count", "latency_mean") == [
            ("pair", "10.0.0.1 -> 10.0.0.2", "sent", 8e9, 3, None), ("pair", "10.0.0.1 -> 10.0.0.2", "received", 7.2e9, None, None),
            ("stream", "stream 5", "sent", 8e9, 3, 250.0), ("stream", "stream 5", "received", 7.2e9, None, None),
        ]
        assert rows["fabric_check_run"][0]["started_at"] == datetime(2021, 7, 20, 6, 41, 18, tzinfo=UTC)

    @pytest.mark.parametrize(("text", "name"), [(sample.IPERF3, "iperf.json"), (sample.FIO_JSON, "fio.json"), (sample.NVBANDWIDTH_JSON, "nv.json")])
    def test_documents_that_a_tool_appends_are_a_run_each(self, tmp_path: Path, text: str, name: str) -> None:
        document = json.dumps(json.loads(text), indent=2) + "\n"
        one, three = of_log(tmp_path / "one", document, name), of_log(tmp_path / "three", document + "a notice\n" + document + document, name)
        assert len(three["fabric_check_run"]) == 3 * len(one["fabric_check_run"]) == 3 and codes(three) == Counter({code: 3 * count for code, count in codes(one).items()})
        offsets = [row["raw_offset"] for row in three["fabric_check_run"]]
        assert offsets == [0, len(document) + 9, 2 * len(document) + 9]
        several = [(row["raw_offset"], row["bandwidth"]) for row in three["fabric_check_point"]]
        assert several == [(row["raw_offset"] + offset, row["bandwidth"]) for offset in offsets for row in one["fabric_check_point"]]

    def test_iperf3_as_a_stream_of_events_is_the_same_test(self, tmp_path: Path) -> None:
        document = json.loads(sample.IPERF3)
        events = [("start", document["start"]), ("interval", {"sum": {"bits_per_second": 1.0}}), ("end", document["end"])]
        text = "".join(json.dumps({"event": name, "data": data}) + "\n" for name, data in events)
        rows = of_log(tmp_path, text, "stream.json")
        assert codes(rows) == {} and outcomes(rows) == [("iperf3", "measured", None)]
        assert points(rows, "scope", "bandwidth", "retransmit_count", "line_number") == [
            ("pair", 8e9, 3, 3), ("pair", 7.2e9, None, 3), ("stream", 8e9, 3, 3), ("stream", 7.2e9, None, 3),
        ]
        point = rows["fabric_check_point"][0]
        stated = text.encode()[point["raw_offset"] : point["raw_offset"] + point["raw_length"]]
        assert json.loads(b"{" + stated + b"}") == {"sum_sent": document["end"]["sum_sent"]}
        text = '{"event":"start","data":{"version":"iperf 3.17"}}\n{"event":"error","data":"refused"}\n{"event":"end","data":{}}\n'
        assert outcomes(of_log(tmp_path / "error", text, "stream.json")) == [("iperf3", "failed", "refused")]

    def test_iperf3_udp_has_what_each_side_measured_where_it_is_stated(self, tmp_path: Path) -> None:
        document = json.loads(sample.IPERF3)
        document["start"]["test_start"]["protocol"] = "UDP"
        loss = {"jitter_ms": 0.02, "packets": 1000, "lost_packets": 400, "lost_percent": 40.0}
        total = {"bits_per_second": 1e9, **loss}
        sides = {"sum_sent": {"bits_per_second": 1e9, "jitter_ms": 0.0, "lost_percent": 0.0}, "sum_received": {"bits_per_second": 0.6e9, **loss}}
        cases: dict[str, tuple[dict[str, Any], list[tuple[Any, ...]]]] = {
            "old": ({"sum": total}, [("pair", None, 1e9, 0.02, 40.0)]),
            "new": ({"sum": total, **sides}, [("pair", "sent", 1e9, None, None), ("pair", "received", 0.6e9, 0.02, 40.0)]),
        }
        for name, (sums, expected) in cases.items():
            document["end"] = {"streams": [{"udp": {"socket": 5, **total}}], **sums, "cpu_utilization_percent": {}}
            rows = of_log(tmp_path / name, json.dumps(document), "iperf.json")
            assert points(rows, "scope", "direction", "bandwidth", "jitter_ms", "lost_pct") == [*expected, ("stream", None, 1e9, 0.02, 40.0)]

    def test_iperf3_a_server_does_not_know_what_the_client_sent_and_data_comes_to_it(self, tmp_path: Path) -> None:
        document = json.loads(sample.IPERF3)
        document["start"]["accepted_connection"] = {"host": "10.0.0.2", "port": 40000}
        document["end"]["sum_sent"] = {"bytes": 0, "bits_per_second": 0}
        document["end"]["streams"][0]["sender"] = {"socket": 5, "bytes": 0, "bits_per_second": 0}
        rows = of_log(tmp_path / "tcp", json.dumps(document), "iperf.json")
        expected = [("received", "10.0.0.2", "10.0.0.1", 7.2e9), ("received", "10.0.0.2", "10.0.0.1", 7.2e9)]
        assert points(rows, "direction", "source", "target", "bandwidth") == expected and codes(rows) == {}
        document["start"]["test_start"]["protocol"] = "UDP"
        lost = {"bytes": 0, "bits_per_second": 0, "packets": 10, "jitter_ms": 0.5, "lost_percent": 20.0}
        document["end"] = {"streams": [], "sum": lost, "cpu_utilization_percent": {}}
        assert points(of_log(tmp_path / "udp", json.dumps(document), "iperf.json"), "bandwidth", "lost_pct") == [(None, 20.0)]

    def test_iperf3_both_ways_at_once(self, tmp_path: Path) -> None:
        document = json.loads(sample.IPERF3)
        document["start"]["test_start"]["bidir"] = 1
        stream = document["end"]["streams"][0]
        document["end"]["streams"] = [{side: {**of_side, "sender": is_sender} for side, of_side in stream.items()} for is_sender in (True, False)]
        document["end"] |= {"sum_sent_bidir_reverse": {"bits_per_second": 6e9}, "sum_received_bidir_reverse": {"bits_per_second": 5e9}}
        here, there = "10.0.0.1", "10.0.0.2"
        assert points(of_log(tmp_path, json.dumps(document), "iperf.json"), "direction", "source", "target", "bandwidth") == [
            ("sent", here, there, 8e9), ("received", here, there, 7.2e9), ("sent_reverse", there, here, 6e9), ("received_reverse", there, here, 5e9),
            ("sent", here, there, 8e9), ("received", here, there, 7.2e9), ("sent", there, here, 8e9), ("received", there, here, 7.2e9),
        ]

    def test_iperf3_text_has_its_end_report(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path / "many", sample.IPERF3_TEXT)
        assert points(rows, "scope", "scope_name", "direction", "bandwidth", "bandwidth_unit", "retransmit_count") == [
            ("stream", "stream 5", "sent", 940.0, "Mbits/sec", 2), ("stream", "stream 5", "received", 930.0, "Mbits/sec", None),
            ("stream", "stream 7", "sent", 938.0, "Mbits/sec", 1), ("stream", "stream 7", "received", 928.0, "Mbits/sec", None),
            ("pair", "10.0.0.1 -> 10.0.0.2", "sent", 1.88, "Gbits/sec", 3), ("pair", "10.0.0.1 -> 10.0.0.2", "received", 1.86, "Gbits/sec", None),
        ]
        assert codes(rows) == {} and outcomes(rows) == [("iperf3", "measured", None)]
        assert rows["fabric_check_run"][0]["nodes"] == "10.0.0.1,10.0.0.2"

    def test_iperf3_text_udp_reverse_bidirectional_and_of_a_server(self, tmp_path: Path) -> None:
        head = "{}\n[  5] local 10.0.0.1 port 40100 connected to 10.0.0.2 port 5201\n"
        client, here, there = head.format("Connecting to host 10.0.0.2, port 5201"), "10.0.0.1", "10.0.0.2"
        udp = (
            "[  5]   0.00-10.00  sec  1.16 GBytes  1000 Mbits/sec  0.000 ms  0/863172 (0%)  sender\n"
            "[  5]   0.00-10.04  sec   714 MBytes   597 Mbits/sec  0.013 ms  345268/863172 (40%)  receiver\n"
        )
        rows = of_log(tmp_path / "udp", client + udp)
        assert points(rows, "scope", "direction", "source", "bandwidth", "jitter_ms", "lost_pct") == [
            ("pair", "sent", here, 1000.0, None, None), ("pair", "received", here, 597.0, 0.013, 40.0),
        ]
        received = "[  5]   0.00-10.04  sec  1.08 GBytes   110 MBytes/sec                  receiver\n"
        rows = of_log(tmp_path / "reverse", client.replace("[  5] local", "Reverse mode, remote host 10.0.0.2 is sending\n[  5] local") + received)
        assert points(rows, "source", "target", "bandwidth", "bandwidth_unit") == [(there, here, 110.0, "MBytes/sec")]
        server = head.format("Server listening on 5201\nAccepted connection from 10.0.0.2, port 40000")
        zero = "[  5]   0.00-10.04  sec  0.00 Bytes  0.00 bits/sec                  sender\n"
        rows = of_log(tmp_path / "server", (server + zero + received) * 2)
        assert points(rows, "direction", "source", "bandwidth") == [("received", there, 110.0)] * 2 and len(outcomes(rows)) == 2
        both = "[  5][TX-C]   0.00-10.00  sec  1.00 GBytes   859 Mbits/sec    0             sender\n[  7][RX-C]   0.00-10.00  sec  1.00 GBytes   800 Mbits/sec                  receiver\n"
        rows = of_log(tmp_path / "bidir", client + both)
        assert points(rows, "scope", "direction", "source", "bandwidth") == [("stream", "sent", here, 859.0), ("stream", "received_reverse", there, 800.0)]
        refused = "iperf3: error - unable to connect to server: Connection refused"
        assert outcomes(of_log(tmp_path / "refused", refused + "\n")) == [("iperf3", "failed", refused)]
        assert outcomes(of_log(tmp_path / "cut", sample.IPERF3_TEXT.partition("- - -")[0])) == [("iperf3", "failed", "the log has no end report")]

    def test_iperf3_that_could_not_connect(self, tmp_path: Path) -> None:
        document = json.dumps({"start": {"connected": [], "version": "iperf 3.9"}, "intervals": [], "end": {}, "error": "error - unable to connect to server"})
        assert outcomes(of_log(tmp_path, document, "iperf.json")) == [("iperf3", "failed", "error - unable to connect to server")]


class TestRecognition:
    def test_others_files_stay_unclaimed(self, tmp_path: Path) -> None:
        sample.write(tmp_path / "README.md", sample.nccl_section())
        sample.write(tmp_path / "summary.csv", "file,test\na,b\n")
        sample.write(tmp_path / "train.log", "step 1 loss 2.0\n")
        sample.write(tmp_path / "nccl_N2_G1_a_b.log", "nothing, and no campaign near\n")
        sample.write(tmp_path / "recording/recording.json", "{}")
        sample.write(tmp_path / "recording/run-01/stdout.txt", sample.nccl_section())
        assert drafts(tmp_path) == []

    def test_a_log_alone_is_a_bundle_and_so_is_each_of_two(self, tmp_path: Path) -> None:
        for name in ("gpu-01/check.log", "gpu-02/check.log"):
            sample.write(tmp_path / name, sample.nccl_section())
        found = drafts(tmp_path)
        assert [[file.raw_path for file in draft.files] for draft in found] == [["gpu-01/check.log"], ["gpu-02/check.log"]]
        first, second = (parsed(stored(draft, tmp_path / str(n)))["fabric_check_run"][0]["run_id"] for n, draft in enumerate(found))
        assert first != second and first.endswith("/gpu-01/check.log/1-alltoall_perf")

    def test_a_log_of_two_tools_holds_both(self, tmp_path: Path) -> None:
        rows = of_log(tmp_path, sample.NVBANDWIDTH + sample.nccl_section())
        assert [run["tool"] for run in rows["fabric_check_run"]] == ["nvbandwidth", "nccl-tests"]
        assert len({run["run_id"] for run in rows["fabric_check_run"]}) == 2

    def test_a_single_file(self, tmp_path: Path) -> None:
        (draft,) = drafts(sample.write(tmp_path / "one.log", sample.nccl_section()))
        assert [file.raw_path for file in draft.files] == ["one.log"]


def test_a_line_without_an_end_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    rows = of_log(tmp_path, "# nccl-tests version 2.17.8\n" + "x" * (20 << 20) + "\n" + sample.nccl_section())
    assert codes(rows) == {"line-too-long": 1} and outcomes(rows)[-1] == ("alltoall_perf", "measured", None)


class TestWhatOneByteTakesAway:
    """A result that a damaged byte hides is told of, and no test has passed for lack of it."""

    @pytest.mark.parametrize(
        ("text", "before", "after", "code"),
        [
            (sample.IPERF3_TEXT, "sec    2             sender", "sec    2             zender", "malformed-row"),
            (sample.IPERF3_TEXT, "[SUM]   0.00-10.04  sec  2.16 GBytes  1.86 Gbits/sec                  receiver", "[SUM]   0.00-10.04  sec  2.16 GBytes  1.86 Gbits/sec                  receives", "malformed-row"),
            (sample.FIO_JSON, '"jobs"', '"jIbs"', "missing-key"),
            (sample.NVBANDWIDTH_JSON, '"testcases"', '"tes1cases"', "missing-key"),
            (sample.NVBANDWIDTH_JSON, '"nvbandwidth"', '"nvbanpwidth"', "missing-key"),
            (sample.NVBANDWIDTH, "Waived: ", "WBived: ", "unknown-line"),
            (sample.GPU_BURN, "GPU 0: NVIDIA", "GP\f 0: NVIDIA", "unknown-line"),
            (sample.GPU_BURN, "(UUID: GPU-aaaa)\n", "(UUID: GPU-aaaa)+", "unknown-line"),
            (sample.RCCL_REPORT, '"wrong":"N/A"}\n]\n', '"wrong":"N/A"}\n', "truncated-document"),
            (sample.RCCL_REPORT, sample.RCCL_REPORT, "[\n", "truncated-document"),
            (sample.RCCL_REPORT, '"wrong":"0"', '"wrong":"NaN"', "non-finite-number"),
            (sample.READ_LAT, "99.9% percentile[usec]\n", "99.9% percentile[usec];", "malformed-row"),
        ],
    )
    def test_it_is_told(self, tmp_path: Path, text: str, before: str, after: str, code: str) -> None:
        assert before in text and not codes(of_log(tmp_path, text))
        (draft,) = drafts(tmp_path / "tree")
        sample.write(tmp_path / "tree" / "check.log", text.replace(before, after, 1))
        assert codes(parsed(stored(draft, tmp_path / "damaged")))[code] >= 1

    def test_a_verdict_that_cannot_be_read_is_no_success(self, tmp_path: Path) -> None:
        text = sample.GPU_BURN.replace("7  (WARNING!)", "0")
        rows = of_log(tmp_path / "faulty", text)
        assert outcomes(rows) == [("gpu_burn", "failed", "GPU 1: FAULTY")]
        rows = of_log(tmp_path / "hidden", text.replace("\tGPU 1: FAULTY", "\thPU 1: FAULTY"))
        assert outcomes(rows) == [("gpu_burn", "failed", "the log has verdicts of 1 of 2 GPUs")]
        assert codes(rows) == {"unknown-line": 1}

    def test_wrong_values_have_failed_whatever_stands_behind_the_word(self, tmp_path: Path) -> None:
        text = sample.OLD_RCCL.replace("# Out of bounds values : 0 OK", "# Out of bounds values : 3 FAILED")
        assert "3 FAILED" in text
        rows = of_log(tmp_path, text.replace("3 FAILED\n", "3 FAILED."))
        assert outcomes(rows)[0][1] == "failed" and "Out of bounds values : 3 FAILED" in outcomes(rows)[0][2]
        assert codes(rows)["unknown-line"] == 1

    def test_a_row_of_which_only_a_cut_number_is_left(self, tmp_path: Path) -> None:
        place = sample.NVBANDWIDTH.index("\n", sample.NVBANDWIDTH.index("(row)")) + 1
        row = sample.NVBANDWIDTH.index("\n 0 ", place) + 3
        rows = of_log(tmp_path, sample.NVBANDWIDTH[:row])
        assert codes(rows)["unfinished-line"] == 1 and outcomes(rows)[-1][1] == "failed"

    def test_gpus_of_one_number_are_no_measurement(self, tmp_path: Path) -> None:
        other = "GPU 0: NVIDIA H900 (UUID: GPU-cccc)\n"
        rows = of_log(tmp_path, other + sample.GPU_BURN)
        assert outcomes(rows) == [("gpu_burn", "failed", "several processes have a GPU 0")]
        assert codes(rows) == {"repeated-gpu": 1}
        assert [row["number"] for row in rows["fabric_check_endpoint"]] == [0, 1]


def test_an_iperf3_report_with_numbers_of_c_is_read_and_an_error_below_it_is_an_issue(tmp_path: Path) -> None:
    text = sample.IPERF3.replace("8000000000.0", "8e 09", 1) + "\niperf3: error - unable to send control message: Broken pipe\n"
    rows = of_log(tmp_path, text)
    assert [run["status"] for run in rows["fabric_check_run"]] == ["succeeded"] and codes(rows)["text-after-document"] == 1
    assert codes(rows)["not-a-json-number"] == 1 and {row["bandwidth"] for row in rows["fabric_check_point"]} == {8e9, 7.2e9}


def test_events_of_iperf3_and_the_document_below_them_are_one_run(tmp_path: Path) -> None:
    document = json.loads(sample.IPERF3)
    document["start"]["cookie"] = "ihm3hvp6jjv3k7ttzvlbl4pq3ey5z5wwqn2b"
    events = "".join(json.dumps({"event": key, "data": document[key]}) + "\n" for key in ("start", "end"))
    rows = of_log(tmp_path, events + json.dumps(document, indent="\t") + "\n")
    assert len(rows["fabric_check_run"]) == 1 and len(rows["fabric_check_point"]) == 4 and not codes(rows)


def fio(second: int, elapsed: int, operations: int) -> str:
    document = json.loads(sample.FIO_JSON)
    document["timestamp"] += second
    document["jobs"][0] |= {"elapsed": elapsed, "read": document["jobs"][0]["read"] | {"total_ios": operations}}
    return json.dumps(document, indent=2) + "\n"


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (fio(1, 1, 100) + fio(6, 6, 600) + fio(11, 11, 1100), 1),  # --status-interval=5
        (fio(1, 1, 100) + fio(2, 1, 100) + fio(4, 2, 100), 3),  # the same job again and again
    ],
)
def test_documents_in_which_fio_states_its_progress_are_one_run(tmp_path: Path, text: str, runs: int) -> None:
    rows = of_log(tmp_path, text)
    assert len(rows["fabric_check_run"]) == runs and not codes(rows)


def test_jobs_whose_progress_fio_prints_are_jobs_once(tmp_path: Path) -> None:
    head, job, tail = re.split(r"(?=^randread: \(groupid)|(?=^Run status)", sample.FIO_TEXT, flags=re.MULTILINE)
    rows = of_log(tmp_path, head + job.replace("67.4k", "60.0k") + job + tail)
    assert [row["io_per_s"] for row in rows["fabric_check_point"]] == [67400.0] and len(rows["fabric_check_test"]) == 1
    assert len(of_log(tmp_path / "other", head + job + job.replace("pid=5178", "pid=5179") + tail)["fabric_check_test"]) == 2


def test_a_version_alone_is_no_run_of_fio(tmp_path: Path) -> None:
    sample.write(tmp_path / "tree/node1_fio_version.txt", "fio-3.36\n")
    assert drafts(tmp_path / "tree") == []
    rows = of_log(tmp_path / "failed", "fio-3.36\nStarting 4 processes\n")
    assert [run["status"] for run in rows["fabric_check_run"]] == ["failed"]


def test_a_sentinel_is_no_value(tmp_path: Path) -> None:
    document = json.loads(sample.IPERF3)
    document["end"]["sum_sent"]["retransmits"] = -1  # where the system does not count them
    rows = of_log(tmp_path, json.dumps(document, indent="\t"))
    assert [row["retransmit_count"] for row in rows["fabric_check_point"]] == [None, None, 3, None]
