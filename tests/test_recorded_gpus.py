"""GPUs while a command runs: what the recorder writes of them, with the driver's library (NVML) replaced because a test has no GPU; and what
becomes of recordings of an H200 and an H100 (tests/recordings)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from math import log
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest
from exhaustive import few
from once import once
from standard import standard_project

from warehouse.analysis.explain.explanation import explain
from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.record import gpu, nvml
from warehouse.record.again import recorded
from warehouse.record.command import record
from warehouse.record.gpu_processes import GpuProcesses
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import read_query

UUIDS = ("GPU-1a", "GPU-2b")
_BEYOND_PIDS = 1 << 22  # a process of a host whose numbers are not those of our container


class Driver:
    """NVML of two GPUs, of which the second knows little."""

    def __init__(self) -> None:
        self.power_cap_ns = 5_000

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvmlDeviceGet"):
            return getattr(pynvml, name)

        def unknown(*_: object) -> None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

        return unknown

    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.95"

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return 13020

    def nvmlDeviceGetCount(self) -> int:
        return len(UUIDS)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    nvmlDeviceGetIndex = nvmlDeviceGetHandleByIndex

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return UUIDS[handle]

    def nvmlDeviceGetName(self, handle: int) -> str:
        return "NVIDIA H200"

    def nvmlDeviceGetClockInfo(self, handle: int, which: int) -> int:
        if handle:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 3201}[which]

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(gpu=100, memory=40)

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=1 << 30) for pid in (os.getpid(), _BEYOND_PIDS)] if handle == 0 else []

    def nvmlDeviceGetProcessUtilization(self, handle: int, since_us: int) -> list[SimpleNamespace]:
        samples = [(1, 20, 10), (2, 40, 30)] if handle == 0 else []
        return [SimpleNamespace(pid=os.getpid(), timeStamp=time, smUtil=sm, memUtil=memory) for time, sm, memory in samples]

    def nvmlDeviceGetFieldValues(self, handle: int, fields: list[int | tuple[int, int]]) -> list[Any]:
        self.power_cap_ns += 1_000
        found = (pynvml.c_nvmlFieldValue_t * len(fields))()
        for value, asked in zip(found, fields, strict=True):
            field = asked if isinstance(asked, int) else asked[0]  # with a scope, such as all links
            value.fieldId, value.nvmlReturn = field, pynvml.NVML_ERROR_NOT_SUPPORTED
            if field == pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP:
                value.nvmlReturn, value.valueType = pynvml.NVML_SUCCESS, pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG
                value.value.ullVal = self.power_cap_ns
        return list(found)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    found = Driver()
    monkeypatch.setattr(nvml, "_library", lambda: found)
    yield found


@pytest.mark.usefixtures("driver")
def test_gpus_are_described() -> None:
    found = gpu.gpus()
    assert [(each["name"], each["uuid"], each["driver_version"], each["memory_bytes"]) for each in found] == [
        ("NVIDIA H200", uuid, "580.95", None) for uuid in UUIDS
    ]
    assert gpu.cuda_version() == "13.2"


def test_without_a_driver_nobody_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nvml, "_library", lambda: None)
    assert (gpu.gpus(), gpu.cuda_version(), gpu.GpuReadings()()) == (None, None, [])
    [run] = record(["true"], tmp_path).runs
    assert not (run.folder / "gpu.jsonl").exists()
    assert "gpu_sampling_error" not in json.loads((run.folder / "run.json").read_text())


@pytest.mark.usefixtures("driver")
def test_a_sample_has_what_the_gpu_knows_and_no_more(tmp_path: Path) -> None:
    [run] = record(["sleep", "0.3"], tmp_path, sample_interval_s=0.1).runs
    rows = [json.loads(line) for line in (run.folder / "gpu.jsonl").read_text().splitlines()]
    first, second = ([row for row in rows if row["gpu_uuid"] == uuid] for uuid in UUIDS)
    assert len(first) == len(second) >= 4  # at the start, every 0.1 s, and at the end
    assert first[0].keys() == {
        "sampled_at", "gpu_index", "gpu_uuid", "sm_clock_mhz", "memory_clock_mhz", "util_pct", "memory_copy_util_pct", "throttle_power_cap_ns",
    }
    assert first[0].keys() - second[0].keys() == {"sm_clock_mhz", "memory_clock_mhz"}
    assert (first[0]["sm_clock_mhz"], first[0]["memory_clock_mhz"], first[0]["util_pct"]) == (1980, 3201, 100)
    assert [row["throttle_power_cap_ns"] for row in rows] == [6_000 + 1_000 * number for number in range(len(rows))]
    timing = json.loads((run.folder / "run.json").read_text())
    assert first[0]["sampled_at"] <= timing["started_at"] and first[-1]["sampled_at"] >= timing["ended_at"]


@pytest.mark.usefixtures("driver")
def test_processes_on_a_gpu_are_the_commands_own_others_or_not_known() -> None:
    processes = GpuProcesses(lambda: frozenset({os.getpid()}))
    ours, beyond = processes()
    assert (ours["pid"], ours["is_own"], ours["sm_util_pct"], ours["memory_copy_util_pct"]) == (os.getpid(), True, 30, 20)
    assert beyond["pid"] == _BEYOND_PIDS and beyond["memory_used_bytes"] == 1 << 30 and not {"is_own", "sm_util_pct"} & beyond.keys()
    again, _ = processes()
    assert "sm_util_pct" not in again  # the driver has no newer sample
    assert GpuProcesses(frozenset)()[0]["is_own"] is False


def test_a_driver_that_fails_is_told(driver: Driver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fails(*_: object) -> None:
        raise OSError("the GPU fell off the bus")

    monkeypatch.setattr(driver, "nvmlDeviceGetFieldValues", fails, raising=False)
    [run] = record(["true"], tmp_path).runs
    assert (run.status, json.loads((run.folder / "run.json").read_text())["gpu_sampling_error"]) == ("succeeded", "OSError: the GPU fell off the bus")


RECORDINGS = Path(__file__).parent / "recordings/gemm_h200"
ZEROS, RANDOM = ("recorded_run/01M8CCW4P0FS8MM8K05ENW8D6F", "recorded_run/01M8CCY0EHP12VT33SBQFM03CF")  # three runs each
RUNS = ("run-01", "run-02", "run-03")


def samples(run_id: str, key: str) -> list[tuple[float, float]]:
    """Time in seconds and value of each sample of a run, from its file."""
    folder = RECORDINGS / ("zeros" if run_id.startswith(ZEROS) else "random") / run_id[-6:]
    rows = map(json.loads, (folder / "gpu.jsonl").read_text().splitlines())
    return [(datetime.fromisoformat(row["sampled_at"]).timestamp(), row[key]) for row in rows]


@cache
def recordings() -> Project:
    """A build of the recordings."""

    def make(folder: Path) -> None:
        project = standard_project(folder / "project")
        assert main(["--quiet", "--project", str(project.root), "ingest", str(RECORDINGS.parent)]) == 0
        assert main(["--quiet", "--project", str(project.root), "build"]) == 0

    return read_project(once("recordings", make) / "project")


def test_the_gpu_of_a_recording_is_joined_to_its_run_by_its_uuid() -> None:
    with read_query(current_build(recordings()).path, """
        select run_id, metric, value_p50, value_max, value_delta, counted_s, unit, join_method, raw_path
        from telemetry_slice_fact where window_kind = 'run' and scope = 'gpu' and gpu_uuid like 'GPU-7%' and not is_ambiguous and is_supported
    """) as result:
        found = {(run_id, metric): row for run_id, metric, *row in result.fetchall()}
    assert len(found) == 6 * 24 and {row[5:] == ["gpu_uuid", f"{run_id[-6:]}/gpu.jsonl"] for (run_id, _), row in found.items()} == {True}
    for run_id in (f"{recording}/{run}" for recording in (ZEROS, RANDOM) for run in RUNS):
        own = {name: [value for _, value in samples(run_id, name)][1:-1] for name in ("sm_clock_mhz", "power_mw")}  # the edges are outside the run
        p50, greatest, *_, unit, _, _ = found[run_id, "gpu_sm_clock_mhz"]
        assert (p50, greatest, unit) == (median(own["sm_clock_mhz"]), max(own["sm_clock_mhz"]), "MHz")
        p50, greatest, *_, unit, _, _ = found[run_id, "gpu_power_w"]
        assert (p50, greatest, unit) == (pytest.approx(median(own["power_mw"]) / 1000), pytest.approx(max(own["power_mw"]) / 1000), "W")
        held = samples(run_id, "throttle_power_cap_ns")[1:-1]
        assert found[run_id, "gpu_throttle_power_cap_s"][2:5] == [
            pytest.approx((held[-1][1] - held[0][1]) / 1e9), pytest.approx(held[-1][0] - held[0][0]), "s"
        ]


@pytest.mark.parametrize("run", few(RUNS, 1))
def test_a_gpu_that_its_power_limit_holds_back_is_named_first(run: str) -> None:
    found = explain(recordings(), f"{RANDOM}/{run}", [f"{ZEROS}/{each}" for each in RUNS])
    assert found.is_suspected("slow_gpus") and [each.check.name for each in found.causes()] == ["gpu_throttling"]
    finding = found.causes()[0].findings[0]
    # Held back at 400 W, too, where the matrices are zeros. How low the clocks are is what differs.
    assert (finding.observed, finding.expected) == (median(value for _, value in samples(f"{RANDOM}/{run}", "sm_clock_mhz")[1:-1]), 1755)
    assert "; held back: power cap for 8" in finding.statement and finding.raw_path == f"{run}/gpu.jsonl"


@pytest.mark.parametrize("run", few(RUNS, 1))
def test_a_run_that_was_idle_for_longer_at_its_start_is_not_blamed(run: str) -> None:
    found = explain(recordings(), f"{ZEROS}/{run}", [f"{ZEROS}/{each}" for each in RUNS if each != run])
    assert (found.causes(), found.suspicion("slow_gpus")) == ([], "not suspected")


TRAINING = RECORDINGS.parent / "train_h100"
CAUSES = {
    "own_process_input": "own_process_input", "disk_input": "storage_throughput", "gpu_neighbour": "gpu_neighbour",
    "cpu_neighbours": "cpu_throttling_or_saturation", "healthy_2": None,
}


def training(situation: str) -> list[str]:
    recording = json.loads((TRAINING / situation / "recording.json").read_text())["recording_id"]
    return [f"recorded_run/{recording}/{run}" for run in RUNS]


@pytest.mark.parametrize("number", few(range(len(RUNS)), 1))
@pytest.mark.parametrize("situation", CAUSES)
def test_the_cause_of_a_slow_training_is_named_first_and_can_explain_it(situation: str, number: int) -> None:
    found = explain(recordings(), training(situation)[number], training("healthy_1"))
    first = next(iter(found.causes()), None)
    assert (first.check.name if first else None) == CAUSES[situation]
    if first:
        assert found.has_suspected_cause() and found.effect > 1.9 and first.score > 0.75


def test_a_cause_that_cannot_explain_the_effect_comes_later_and_leaves_something_over() -> None:
    found = explain(recordings(), training("gpu_neighbour")[1], training("healthy_1"))
    assert [each.check.name for each in found.causes()] == ["gpu_neighbour", "gpu_throttling"]
    neighbour, clocks = found.causes()
    assert clocks.findings[0].slowdown == pytest.approx(1980 / 1425) and clocks.score == pytest.approx(log(1980 / 1425) / log(found.effect))
    without = replace(found, answers=tuple(each for each in found.answers if each.check.name != neighbour.check.name))
    assert without.left_over() == pytest.approx(found.effect / (1980 / 1425))


def test_a_run_can_be_recorded_again_as_it_was_asked_for() -> None:
    [run, *_] = training("disk_input")
    again = recorded(recordings(), run)
    assert again.recording_id == run.split("/")[1] and (again.repeats, again.sample_interval_s, again.working_folder) == (3, 1.0, "/bench")
    assert again.argv == ["python3", "/bench/train.py", "--seconds", "8.0", "--folder", "/data"]
    settings = json.loads((TRAINING / "disk_input/recording.json").read_text())["environment"]
    assert again.settings == {name: value for name, value in settings.items() if name != "PMIX_MCA_gds"}  # of a launcher: another one has its own
    machine = json.loads((TRAINING / "disk_input/machine.json").read_text())
    assert again.limits == {name: machine.get(name) for name in ("cgroup_cpu_limit_cores", "allowed_cores", "niceness")}
    with pytest.raises(WarehouseError) as refused:
        recorded(recordings(), run[:-1])
    assert refused.value.code == "WH502" and str(refused.value.hint).startswith("did you mean")


def test_damaged_samples_are_issues_and_the_others_stay(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "random", tmp_path / "random")
    path = tmp_path / "random/run-01/gpu.jsonl"
    lines = path.read_text().splitlines()
    row = json.loads(lines[5])
    lines[5] = json.dumps(row | {"power_mw": "692", "sampled_at": "2026-11-26T17:02:34", "k" * 5000: 1})
    lines[6] = lines[6][:100]
    lines[7] = json.dumps({name: value for name, value in json.loads(lines[7]).items() if name != "sampled_at"})
    xid = {name: row[name] for name in ("sampled_at", "gpu_index", "gpu_uuid")} | {"xid": 79}
    path.write_text("\n".join([*lines, json.dumps(xid)]) + "\n")
    project = standard_project(tmp_path / "project")
    assert main(["--quiet", "--project", str(project.root), "ingest", str(tmp_path / "random")]) == 0
    assert main(["--quiet", "--project", str(project.root), "build"]) == 0
    with read_query(current_build(project).path, "select code, raw_path, line_number from ingest_issue where severity <> 'note' order by all") as result:
        assert [(code, line_number) for code, raw_path, line_number in result.fetchall() if raw_path == "run-01/gpu.jsonl"] == [
            ("missing-key", 8), ("not-json", 7), ("wrong-type", 6), ("wrong-type", 6), ("wrong-type", 6),
        ]
    with read_query(current_build(project).path, """
        select distinct sample_count from staging.telemetry_place where raw_path = 'run-01/gpu.jsonl' and metric <> 'gpu_xid'
    """) as result:
        assert result.fetchall() == [(len(lines) - 3,)]  # of every metric: two lines have no time, one is lost
    # The recorder writes an XID when the driver reports it, so that the first one is of the run, too.
    with read_query(current_build(project).path, "select code, certainty from mart.gpu_xid_event") as result:
        assert result.fetchall() == [(79, "in run")]
