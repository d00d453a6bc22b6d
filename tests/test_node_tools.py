"""Outputs of tools of the operating system and of drivers: what lands of each, and what they are not taken for."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from landed import Subject, codes, place
from samples import node_tools as sample

TOOLS = Subject("node_tools")


def of_text(tmp_path: Path, name: str, text: str) -> dict[str, list[dict[str, Any]]]:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / name).write_text(text)
    return TOOLS.rows(tmp_path / "tree", tmp_path / "stored")


def of_file(tmp_path: Path, name: str) -> dict[str, list[dict[str, Any]]]:
    return of_text(tmp_path, name, sample.FILES[name])


def entries(rows: dict[str, list[dict[str, Any]]]) -> dict[tuple[str, str], str]:
    return {(row["component"], row["key"]): row["value"] for row in rows["node_tool_entry"]}


def events(rows: dict[str, list[dict[str, Any]]]) -> list[tuple[str, str]]:
    return [(row["code"], row["component"]) for row in rows["node_tool_event"]]


def samples(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[tuple[datetime | None, float]]]:
    names = {row["series_number"]: row["metric"] for row in rows["telemetry_series"]}
    found: dict[str, list[tuple[datetime | None, float]]] = {}
    for row in rows["telemetry_sample"]:
        found.setdefault(names[row["series_number"]], []).append((row["sampled_at"], row["value"]))
    return found


def at(second: int) -> datetime:
    return datetime(2026, 3, 2, 10, 0, second, tzinfo=UTC)


@pytest.mark.parametrize("name", sample.kernel_logs())
def test_faults_of_a_kernel_log_in_each_form(tmp_path: Path, name: str) -> None:
    rows = of_text(tmp_path, name, sample.kernel_logs()[name])
    assert codes(rows) == {}
    assert [row["code"] for row in rows["node_tool_event"]] == [code for code in sample.MESSAGES.values() if code]
    xid, other = (row for row in rows["node_tool_event"] if row["code"] == "xid")
    assert (xid["number"], xid["component"], xid["gpu_uuid"], xid["message"]) == (79, "0000:41:00", sample.UUID, sample.XID_79)
    assert (other["number"], other["gpu_uuid"]) == (31, None)
    assert b"79, pid=" in place(xid, tmp_path / "stored")
    has_time, has_host = "iso" in name or name.startswith(("journal-unix", "journal.json")), name.startswith(("journal", "dmesg-gpu07"))
    assert xid["event_at"] == (at(2) if has_time or name == "dmesg-T.txt" else None)  # a time without a year is none, nor is one since boot
    assert xid["is_zone_assumed"] is (True if name == "dmesg-T.txt" else None)
    assert xid["node_name"] == ("gpu07" if has_host else None)
    assert entries(rows)["kernel", "lines"] == str(len(sample.MESSAGES))


def test_a_log_of_another_program_is_no_kernel_log(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text("2026-03-02T10:00:00+00:00 INFO server started\n" * 9)
    (tmp_path / "app.log").write_text("Mar 02 10:00:00 gpu07 sshd[1]: Accepted publickey\n" * 9)
    (tmp_path / "steps.txt").write_text("[12.5] step 1\n" * 9)
    (tmp_path / "values.csv").write_text("12,,context,7\n1,2,3,4\n")
    (tmp_path / "notes.txt").write_text("-I- see ibdiag\nGPU 0: fine\n")
    assert TOOLS.drafts(tmp_path) == []


@pytest.mark.parametrize(("name", "failed"), [
    ("diag-3.json", ("diag-failed", "gpu 1 PCIe")), ("diag-4.json", ("diag-warned", "gpu 1 memory")),
])
def test_results_of_a_diagnosis_of_both_forms(tmp_path: Path, name: str, failed: tuple[str, str]) -> None:
    rows = of_file(tmp_path, name)
    assert events(rows) == [failed] and codes(rows) == {}
    test = failed[1].rpartition(" ")[2]
    assert entries(rows)["gpu 0", f"diag/{test}"] == "Pass"
    said = rows["node_tool_event"][0]["message"]
    assert "link width 8X" in said or "row remapping is pending" in said


@pytest.mark.parametrize("name", ["health.txt", "health-1.txt", "health.json"])
def test_health_of_gpus_in_each_form(tmp_path: Path, name: str) -> None:
    rows = of_file(tmp_path, name)
    assert events(rows) == [("health-warning", "gpu 1 PCIe system")] and codes(rows) == {}
    assert entries(rows)["node", "overall health"] == "Warning" and entries(rows)["gpu 1", "health"] == "Warning"
    assert "PCIe replays per minute" in rows["node_tool_event"][0]["message"].replace("PCIe        ", "PCIe ")


def test_topology_of_gpus(tmp_path: Path) -> None:
    rows = of_file(tmp_path, "topo-gpu07.txt")
    found = entries(rows)
    assert (found["GPU0 GPU1", "path"], found["GPU1 NIC0", "path"], found["NIC0", "name"]) == ("NV18", "SYS", "mlx5_0")
    assert (found["GPU0", "cpu_affinity"], found["GPU1", "numa_affinity"]) == ("0-31,64-95", "1")
    assert {row["node_name"] for row in rows["node_tool_entry"]} == {"gpu07"} and codes(rows) == {}


def test_an_inactive_link_beside_active_ones_and_recoveries(tmp_path: Path) -> None:
    rows = of_file(tmp_path, "nvlink-s.txt")
    assert events(rows) == [("nvlink-inactive", f"{sample.UUID} link 1")]
    assert entries(rows)[f"{sample.UUID} link 0", "speed"] == "26.562"
    (tmp_path / "b").mkdir()
    rows = of_file(tmp_path / "b", "nvlink-e.txt")
    assert events(rows) == [("nvlink-recoveries", f"{sample.UUID} link 0")]  # replays are in healthy machines, too


def test_links_of_devices_that_are_narrower_or_slower_than_they_can_be(tmp_path: Path) -> None:
    rows = of_file(tmp_path, "lspci-vvv-gpu07.txt")
    assert events(rows) == [("pcie-width", "0000:41:00.0"), ("pcie-uncorrected", "0000:41:00.0"), ("pcie-speed", "0000:5e:00.0")]
    found = entries(rows)
    assert (found["0000:41:00.0", "current_link_width"], found["0000:41:00.0", "numa_node"]) == ("8", "1")
    assert rows["node_tool_event"][1]["message"].endswith(": CmpltTO, UnsupReq")


def test_summary_of_a_fabric(tmp_path: Path) -> None:
    rows = of_file(tmp_path, "ibdiagnet2.log")
    assert [code for code, _ in events(rows)] == ["fabric-error", "fabric-errors", "fabric-warnings"]
    assert entries(rows)["Discovery", "errors"] == "0" and entries(rows)["Port Counters", "warnings"] == "4"


def test_counts_of_perf(tmp_path: Path) -> None:
    rows = of_file(tmp_path, "perf.csv")
    cycles = next(row for row in rows["node_tool_entry"] if row["component"] == "cycles")
    assert (cycles["value"], cycles["value_number"]) == ("<not supported>", None)
    clock = next(row for row in rows["node_tool_entry"] if row["component"] == "task-clock")
    assert (clock["value_number"], clock["unit"]) == (8012.5, "msec")
    (tmp_path / "b").mkdir()
    rows = of_file(tmp_path / "b", "perf-I.csv")
    (found,) = samples(rows).values()
    assert [value for _, value in found] == [1024.5, 2048] and found[0][0] == at(1).replace(microsecond=123)


def test_memory_by_numa_node(tmp_path: Path) -> None:
    found = entries(of_file(tmp_path, "numastat.txt"))
    assert (found["node1", "numa_miss"], found["node0", "other_node"]) == ("17", "3")
    (tmp_path / "b").mkdir()
    rows = of_file(tmp_path / "b", "numastat-p.txt")
    assert entries(rows)["node1", "4242 (python3)"] == "310.25" and {row["unit"] for row in rows["node_tool_entry"]} == {"MBs"}


def test_the_mean_since_boot_is_no_sample(tmp_path: Path) -> None:
    found = samples(of_file(tmp_path, "vmstat-gpu07.txt"))
    assert (found["wa"], found["r"]) == ([(at(1), 10)], [(at(1), 6)])
    (tmp_path / "b").mkdir()
    rows = of_file(tmp_path / "b", "iostat.json")
    found = samples(rows)
    assert found["disk/util"] == [(at(1), 40), (at(2), 60)] and found["avg-cpu/iowait"] == [(at(1), 40), (at(2), 60)]
    assert {row["labels"] for row in rows["telemetry_series"] if row["metric"] == "disk/util"} == {'{"Hostname":"gpu07","device":"nvme0n1"}'}


def test_use_of_processes(tmp_path: Path) -> None:
    rows = of_file(tmp_path, "pidstat.txt")
    found = samples(rows)
    assert found["%CPU"] == [(at(1), 100)] and found["RSS"] == [(at(1), 204800)] and "kB_wr/s" not in found  # -1: it may not be read
    assert rows["telemetry_series"][0]["labels"] == '{"Hostname":"gpu07","command":"python3 train.py","pid":"4242"}'
