"""Telemetry of runs: windows with coverage, counters that begin anew, histograms, and how series are joined to runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from samples import nvidia_smi
from samples import prometheus as sample
from samples.recording import write_recording
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

RUN = """\
/*
description: Runs beside the metrics, as a family would state them.
grain: [run_id, artifact_manifest_digest]
feeds: benchmark_run
*/
select
    stated.run_id,
    'case' as benchmark_case_id,
    bundle.artifact_manifest_digest,
    '' as raw_folder,
    'made' as family,
    'performance' as mode,
    'succeeded' as status,
    stated.started_at::timestamptz as started_at,
    stated.ended_at::timestamptz as ended_at,
    stated.node_name::varchar as node_name,
    stated.gpu_uuid::varchar as gpu_uuid,
    stated.scheduler_run_id::varchar as scheduler_run_id
from (values {}) as stated (run_id, started_at, ended_at, node_name, gpu_uuid, scheduler_run_id)
cross join (select min(artifact_manifest_digest) as artifact_manifest_digest from evidence_bundle) as bundle
"""
Run = tuple[str, int, int, str | None, str | None, str | None]  # seconds after the sample's start


def built(tmp_path: Path, scrapes: Iterable[tuple[str, int, str]], *runs: Run) -> Warehouse:
    """A build of runs and scrapes: target, second, text."""
    project = standard_project(tmp_path / "project")
    for target, second, text in scrapes:
        (tmp_path / "tree").mkdir(exist_ok=True)
        (tmp_path / "tree" / f"{target}-{sample.stamp(second)}.prom").write_text(text)

    def quoted(text: str | None) -> str:
        return "null" if text is None else f"'{text}'"

    rows = (
        f"('{name}', '{sample.START + timedelta(seconds=start)}', '{sample.START + timedelta(seconds=end)}', {', '.join(map(quoted, place))})"
        for name, start, end, *place in runs
    )
    (project.root / "models").mkdir(exist_ok=True)
    (project.root / "models/made_run.sql").write_text(RUN.format(", ".join(rows)))
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged
    return Warehouse(project)


class Scene:
    """Runs and scrapes of one test, and the text of `sacct`. All scenes are built at once, each with nodes, GPUs and jobs of its own:
    in the build their names and those of the runs have the number of the scene, in the test they have not."""

    ALL: list[Scene] = []

    def __init__(self, scrapes: Iterable[tuple[str, int, str]], *runs: Run, jobs: str = "", logs: str = "") -> None:
        self.number = len(self.ALL)
        self.scrapes = [(self._own(target), second, self._own(text)) for target, second, text in scrapes]
        self.runs = [(f"{self.number}/{name}", start, end, *(text and self._own_job(self._own(text)) for text in place)) for name, start, end, *place in runs]
        self.jobs, self.logs = self._own_job(self._own(jobs)), self._own(logs)
        self.ALL.append(self)

    def rows(self, store: Warehouse, table: str, order: str = "run_id") -> list[dict[str, Any]]:
        """The rows of its runs in a table."""
        found = store.sql(f"from {table} where starts_with(run_id, '{self.number}/') order by {order}").to_pylist()
        return [{key: self._told(value) if isinstance(value, str) else value for key, value in row.items()} for row in found]

    def slices(self, store: Warehouse) -> list[dict[str, Any]]:
        return self.rows(store, "telemetry_slice_fact", "run_id, metric, scope_name, window_kind, window_start")

    def _own(self, text: str) -> str:
        return text.replace("gpu0", f"gpu{self.number}x0").replace("GPU-", f"GPU-{self.number}-")

    def _own_job(self, text: str) -> str:
        return re.sub(r"\b4[78]\d\d(?=[|_]|$)", rf"{self.number}\g<0>", text, flags=re.MULTILINE)

    def _told(self, text: str) -> str:
        return text.removeprefix(f"{self.number}/").replace(f"gpu{self.number}x0", "gpu0").replace(f"GPU-{self.number}-", "GPU-")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The build of all scenes."""
    top = tmp_path_factory.mktemp("scenes")
    (top / "tree").mkdir()
    for scene in Scene.ALL:
        if scene.jobs:
            (top / f"tree/sacct{scene.number}.txt").write_text(scene.jobs)
        if scene.logs:
            (top / f"tree/smi{scene.number}.xml").write_text(scene.logs)
    return built(top, [scrape for scene in Scene.ALL for scrape in scene.scrapes], *(run for scene in Scene.ALL for run in scene.runs))


def of(rows: list[dict[str, Any]], metric: str, kind: str = "run", **more: Any) -> list[dict[str, Any]]:
    return [row for row in rows if (row["metric"], row["window_kind"]) == (metric, kind) and all(row[key] == value for key, value in more.items())]


GPU_SCRAPES = [("gpu01", second, sample.gpus(second)) for second in range(0, 121, 15)]


ONE = Scene(GPU_SCRAPES, ("r", 0, 120, "gpu01", None, None))


def test_a_run_on_a_node_has_the_metrics_of_its_gpus(store: Warehouse) -> None:
    rows = ONE.slices(store)
    power = of(rows, "gpu_power_w", gpu_uuid=sample.GPUS[0])[0]
    assert (power["value_mean"], power["value_p95"], power["value_integral"], power["unit"]) == (400, 400, 48_000, "W")
    assert (power["sample_count"], power["coverage_pct"], power["sampling_interval_s"], power["largest_gap_s"]) == (9, 100, 15, 15)
    assert (power["join_method"], power["join_confidence"], power["is_ambiguous"], power["clock"]) == (
        "node", "place", False, "times of samples: file name"
    )
    # Energy by the counter and by integration agree. DCGM documents a ratio, whatever HELP says. Violations are in the unit that HELP states.
    assert of(rows, "gpu_energy_j", gpu_uuid=sample.GPUS[0])[0]["value_delta"] == pytest.approx(48_000)
    assert of(rows, "gpu_sm_active_pct", gpu_uuid=sample.GPUS[0])[0]["value_mean"] == 50
    assert of(rows, "gpu_throttle_power_s", gpu_uuid=sample.GPUS[0])[0]["value_delta"] == pytest.approx(12)
    xid = of(rows, "gpu_xid", gpu_uuid=sample.GPUS[1])[0]
    assert (xid["value_min"], xid["value_last"], xid["value_mean"]) == (0, 79, None)
    # A value that the GPU lacks is in no slice of its values.
    assert of(rows, "gpu_memory_temperature_c", gpu_uuid=sample.GPUS[1])[0]["value_mean"] is None
    intervals = of(rows, "gpu_power_w", "interval", gpu_uuid=sample.GPUS[0])
    assert [(row["window_name"], row["duration_s"], row["sample_count"]) for row in intervals] == [("001", 60, 4), ("002", 60, 5)]


EDGE = Scene(GPU_SCRAPES, ("r", 20, 70, "gpu01", None, None))


def test_an_edge_of_the_window_cuts_an_interval(store: Warehouse) -> None:
    rows = EDGE.slices(store)
    energy = of(rows, "gpu_energy_j", gpu_uuid=sample.GPUS[0])[0]
    # Samples at 30, 45 and 60 are in the run; those at 15 and 75 are not.
    assert energy["value_delta"] == pytest.approx(400 * 30) and energy["value_edge_delta"] == pytest.approx(400 * 30)
    power = of(rows, "gpu_power_w", gpu_uuid=sample.GPUS[0])[0]
    assert (power["sample_count"], power["coverage_pct"], power["value_integral"]) == (3, 100, 400 * 50)


ANEW = Scene(
    [("gpu01", second, sample.gpus(0, energy_mj=energy)) for second, energy in ((0, 100_000), (15, 150_000), (30, 20_000), (45, 60_000))],
    ("r", 0, 45, "gpu01", None, None),
)


def test_a_counter_that_begins_anew_is_not_negative(store: Warehouse) -> None:
    (energy,) = of(ANEW.slices(store), "gpu_energy_j", gpu_uuid=sample.GPUS[0])
    assert (energy["value_delta"], energy["counter_reset_count"]) == (pytest.approx(50 + 20 + 40), 1)


GAP = Scene(
    [("gpu01", second, sample.gpus(second, power=100 if second < 60 else 500)) for second in (0, 15, 30, 45, 165, 180, 195, 210)],
    ("r", 0, 210, "gpu01", None, None),
)


def test_a_gap_is_not_covered_and_not_supported(store: Warehouse) -> None:
    rows = GAP.slices(store)
    (power,) = of(rows, "gpu_power_w", gpu_uuid=sample.GPUS[0])
    assert (power["value_mean"], power["largest_gap_s"], power["is_supported"]) == (300, 120, False)
    assert power["coverage_pct"] == pytest.approx(100 * 90 / 210)
    assert [row["is_supported"] for row in of(rows, "gpu_power_w", "interval", gpu_uuid=sample.GPUS[0])] == [False, False, False, True]


HISTOGRAM = Scene(
    [("vllm", 15 * scrape, sample.server(scrape).replace('engine="0"', f'engine="0",run_id="{len(Scene.ALL)}/r"')) for scrape in range(5)],
    ("r", 0, 60, None, None, None),
)


def test_the_latencies_of_a_server_come_from_its_histogram(store: Warehouse) -> None:
    rows = HISTOGRAM.slices(store)
    (latency,) = of(rows, "e2e_ms")
    assert (latency["value_mean"], latency["value_delta"], latency["unit"], latency["join_method"]) == (750, 40, "ms", "run_id")
    # 20 of 40 observations: the last of the first bucket. 38: half way between 36 and 40 in the bucket from 1 to 2 s.
    assert (latency["value_p50"], latency["value_p95"]) == (pytest.approx(500), pytest.approx(1500))
    (waiting,) = of(rows, "requests_waiting")
    assert (waiting["value_mean"], waiting["value_sample_mean"], waiting["value_last"]) == (1.5, 2, 4)


UNEVEN = Scene(
    [
        (
            "vllm2", 15 * scrape,
            "".join(
                line for line in sample.server(scrape).replace('engine="0"', f'engine="0",run_id="{len(Scene.ALL)}/r"').splitlines(keepends=True)
                if scrape < 4 or 'le="0.5"' not in line and 'le="2.0"' not in line
            ),
        )
        for scrape in range(5)
    ],
    ("r", 0, 60, None, None, None),
)


def test_buckets_that_lack_a_sample_are_compared_over_the_same_time(store: Warehouse) -> None:
    (latency,) = of(UNEVEN.slices(store), "e2e_ms")
    assert (latency["value_p50"], latency["value_p95"], latency["value_mean"]) == (pytest.approx(500), pytest.approx(1500), 750)


AT_ONCE = Scene(
    GPU_SCRAPES, ("a", 0, 120, "gpu01", None, None), ("b", 60, 120, "gpu01.cluster.example", None, None), ("c", 60, 120, None, sample.GPUS[1], None),
)


def test_two_runs_on_one_node_at_once_are_ambiguous_unless_their_gpus_tell_them_apart(store: Warehouse) -> None:
    rows = AT_ONCE.slices(store)
    found = {(row["run_id"], row["gpu_uuid"][-1]): (row["join_method"], row["is_ambiguous"]) for row in of(rows, "gpu_power_w")}
    assert found == {
        ("a", "0"): ("node", True), ("b", "0"): ("short_node_name", True), ("c", "1"): ("gpu_uuid", True),
        ("a", "1"): ("node", True), ("b", "1"): ("short_node_name", True),
    }


ELSEWHERE = Scene(
    GPU_SCRAPES, ("late", 600, 700, "gpu01", None, None), ("away", 0, 120, "gpu02", None, None), ("here", 0, 120, "gpu01", sample.GPUS[0], None),
)


def test_a_run_at_another_time_or_place_has_no_metrics(store: Warehouse) -> None:
    rows = ELSEWHERE.slices(store)
    assert {row["run_id"] for row in rows} == {"here"} and {row["gpu_uuid"] for row in rows} == {sample.GPUS[0]}


XID = Scene(
    [*GPU_SCRAPES, *(("gpu02", second, sample.gpus(second, node="gpu02")) for second in range(60, 121, 15))],
    ("first", 0, 70, "gpu01", None, None), ("second", 72, 120, "gpu01", None, None), ("other", 50, 120, "gpu02", None, None),
)


def test_an_xid_is_of_the_run_in_which_it_appeared(store: Warehouse) -> None:
    rows = XID.rows(store, "gpu_xid_event", "first_seen_at, run_id")
    at = {second: sample.START + timedelta(seconds=second) for second in range(0, 121, 15)}
    assert [(row["run_id"], row["code"], row["certainty"], row["first_seen_at"], row["not_before_at"], row["last_seen_at"]) for row in rows] == [
        ("first", 79, "in run", at[60], at[45], at[60]),
        ("other", 79, "unknown", at[60], None, at[120]),
        ("second", 79, "pre-existing", at[75], None, at[120]),
    ]
    assert {(row["gpu_uuid"], row["name"], row["xid_class"]) for row in rows} == {(sample.GPUS[1], "GPU has fallen off the bus", "hardware")}


_SHOWN = {"lost": [(-20, 79), (-10, "NaN"), (10, 79)], "across": [(-10, 0), (5, 31)], "back": [(-10, 79), (5, 79), (10, 31), (20, 79)]}
XID_BEFORE = Scene(
    [
        (target, second, f"# TYPE DCGM_FI_DEV_XID_ERRORS gauge\nDCGM_FI_DEV_XID_ERRORS{{gpu=\"0\",UUID=\"GPU-{target}\",Hostname=\"{target}\"}} {value}\n")
        for target, samples in _SHOWN.items() for second, value in samples
    ],
    *((target, 0, 60, target, None, None) for target in _SHOWN),
)


def test_an_xid_is_told_apart_from_one_that_was_there(store: Warehouse) -> None:
    """A lost sample hides nothing; a code that came across the run's start may be of either side; one that comes back is new."""
    rows = XID_BEFORE.rows(store, "gpu_xid_event", "run_id, code")
    at = {second: sample.START + timedelta(seconds=second) for second in (5, 10, 20)}
    assert [(row["run_id"], row["code"], row["certainty"], row["first_seen_at"], row["not_before_at"]) for row in rows] == [
        ("across", 31, "unknown", at[5], None), ("back", 31, "in run", at[10], at[5]), ("back", 79, "in run", at[20], at[10]),
        ("lost", 79, "pre-existing", at[10], None),
    ]


_LABELS = 'gpu="0",UUID="GPU-a",Hostname="gpu01"'
LOST = Scene(
    [
        ("gpu01", second, f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{_LABELS}}} {'NaN' if second == 60 else second * 400_000}\n"
         f"DCGM_FI_DEV_POWER_USAGE{{{_LABELS}}} {'NaN' if 60 <= second <= 100 else 400}\n")
        for second in range(0, 121, 10)
    ],
    ("r", 0, 120, "gpu01", None, None),
)


def test_a_sample_without_a_value_loses_no_increase_and_covers_nothing(store: Warehouse) -> None:
    """400 W for 120 s are 48 kJ, whether or not a sample of the counter is lost. Samples of power that are lost for 60 s leave 60 s covered."""
    rows = LOST.slices(store)
    (energy,), (power,) = of(rows, "gpu_energy_j"), of(rows, "gpu_power_w")
    assert (energy["value_delta"], energy["coverage_pct"], energy["largest_gap_s"], energy["is_supported"]) == (pytest.approx(48_000), 100, 20, True)
    assert (power["value_mean"], power["value_integral"], power["coverage_pct"]) == (400, pytest.approx(24_000), pytest.approx(50))
    assert (power["largest_gap_s"], power["sampling_interval_s"], power["is_supported"]) == (60, 10, False)


def test_energy_throttling_and_hours_of_a_runs_gpus(store: Warehouse) -> None:
    (energy,) = ONE.rows(store, "run_energy")
    assert (energy["boundary"], energy["sampled_gpu_count"], energy["gpu_count"], energy["is_complete"]) == ("gpu boards", 2, None, None)
    assert (energy["gpu_power_w"], energy["energy_by_integration_j"]) == (600, 72_000)
    assert energy["energy_by_counter_j"] == pytest.approx(72_000) and energy["counter_to_integration_ratio"] == pytest.approx(1)
    throttled = {row["gpu_uuid"]: row for row in ONE.rows(store, "gpu_throttling")}
    first = throttled[sample.GPUS[0]]
    assert (first["reason"], first["throttled_s"], first["share_pct"]) == ("power", pytest.approx(12), pytest.approx(10))
    assert throttled[sample.GPUS[1]]["throttled_s"] == 0
    (hours,) = ONE.rows(store, "gpu_hours")
    assert hours == {  # no utilisation was sampled, so the number of GPUs is not known but by their power
        "run_id": "r", "gpu_count": 2, "allocated_gpu_hours": pytest.approx(2 * 120 / 3600), "failed_gpu_hours": 0, "sampled_gpu_hours": None,
        "idle_gpu_hours": None, "throttled_gpu_hours": pytest.approx(12 / 3600), "waiting_gpu_hours": None,
    }


def test_a_recorded_run_has_the_metrics_of_the_gpus_that_were_recorded_with_it(tmp_path: Path) -> None:
    project = standard_project(tmp_path / "project")
    folder = write_recording(tmp_path / "tree/recording", "01JZ00000000000000000000AA", (1.0,))
    machine, run = folder / "machine.json", folder / "run-01/run.json"
    machine.write_text(json.dumps(json.loads(machine.read_text()) | {"gpus": [{"name": "NVIDIA H100", "uuid": "GPU-00000000-1"}]}))
    times = {"started_at": "2026-03-02T08:20:00.000000Z", "ended_at": "2026-03-02T08:21:00.000000Z"}
    run.write_text(json.dumps(json.loads(run.read_text()) | times))
    # The log does not name its node. The second GPU is not of the run.
    (tmp_path / "tree/smi.xml").write_text(
        nvidia_smi.log(nvidia_smi.gpu(1, is_active="Not Active", capped_us=1_000_000), nvidia_smi.gpu(2))
        + nvidia_smi.log(nvidia_smi.gpu(1, is_active="Active", capped_us=6_000_000), nvidia_smi.gpu(2), at="Mon Mar  2 08:20:15 2026")
    )
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged
    found = Warehouse(project)
    rows = found.sql("from telemetry_slice_fact where join_method is not null").to_pylist()
    assert {(row["gpu_uuid"], row["join_method"], row["join_confidence"], row["clock"]) for row in rows} == {
        ("GPU-00000000-1", "gpu_uuid", "unique", "times of samples: zone assumed")
    }
    (active,) = of(rows, "gpu_throttle_power_cap_active")
    assert (active["kind"], active["value_min"], active["value_max"], active["value_last"]) == ("state", 0, 1, 1)
    throttled = {row["reason"]: row["throttled_s"] for row in found.sql("from gpu_throttling").to_pylist()}
    assert throttled == {"power_cap": pytest.approx(5), "power_brake": 0}


SACCT = """\
JobID|JobName|Partition|State|Submit|Start|End|NodeList|AllocTRES
4711|train|gpu|COMPLETED|2026-11-20T09:50:00|2026-11-20T09:59:00|2026-11-20T10:01:30|gpu01|gres/gpu=2
"""


SCHEDULED = Scene(
    GPU_SCRAPES, ("r", 0, 60, None, None, "4711"), ("later", 100, 120, None, None, "4711"), ("other", 0, 60, None, None, "4712"), jobs=SACCT,
)


def test_a_run_is_where_its_scheduler_put_its_job(store: Warehouse) -> None:
    rows = SCHEDULED.slices(store)
    assert {(row["run_id"], row["join_method"], row["join_confidence"]) for row in rows} == {("r", "allocation", "place")}
    assert {row["gpu_uuid"] for row in of(rows, "gpu_power_w")} == set(sample.GPUS)


_BESIDE = """\
4712|other|gpu|COMPLETED|2026-11-20T09:50:00|2026-11-20T09:59:00|2026-11-20T10:01:30|gpu01|{}
4700|before|gpu|COMPLETED|2026-11-20T09:00:00|2026-11-20T09:00:00|2026-11-20T09:58:00|gpu01|gres/gpu=1
"""
SHARED, ALONE = (Scene(GPU_SCRAPES, ("r", 0, 60, None, None, "4711"), jobs=SACCT + _BESIDE.format(tres)) for tres in ("gres/gpu=1", "cpu=8"))


@pytest.mark.parametrize(("scene", "is_shared"), [(SHARED, True), (ALONE, False)], ids=["a GPU", "no GPU"])
def test_gpus_of_a_node_with_two_jobs_cannot_be_told_apart(store: Warehouse, scene: Scene, is_shared: bool) -> None:
    """Each job has one of the node's two GPUs, and nothing says which. A job without GPUs takes none of their power."""
    rows = scene.slices(store)
    assert [row["is_ambiguous"] for row in of(rows, "gpu_power_w")] == [is_shared] * 2


_LOGS = "".join(nvidia_smi.log(nvidia_smi.gpu(1, capped_us=power_cap), at=at) for power_cap, at in ((5_000_000, "10:00:05"), (8_000_000, "10:00:15")))
DRIVER = Scene(
    [], ("r", 5, 15, None, "GPU-00000000-1", None),
    logs=_LOGS.replace("10:00", "Fri Nov 20 10:00").replace(":05<", ":05 2026<").replace(":15<", ":15 2026<"),
)


def test_throttling_by_the_driver_s_own_counters(store: Warehouse) -> None:
    """Since driver 570 nvidia-smi counts microseconds by reason: 3 s within 10 s are 30 %."""
    (row,) = (row for row in DRIVER.rows(store, "gpu_throttling") if row["reason"] == "power_cap")
    assert (row["reason"], row["throttled_s"], row["share_pct"], row["gpu_uuid"]) == ("power_cap", pytest.approx(3), pytest.approx(30), "GPU-00000000-1")


def _labelled(second: int) -> str:
    labels = _LABELS + (',pod="train-0"' if second >= 20 else "")
    return f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} {90 if second >= 70 else 0}\nDCGM_FI_DEV_POWER_USAGE{{{labels}}} 400\n"


LABELLED = Scene([("gpu01", second, _labelled(second)) for second in range(0, 121, 10)], ("r", 0, 120, "gpu01", None, None))


def test_a_gpu_whose_series_changes_its_labels_is_one_gpu(store: Warehouse) -> None:
    """dcgm-exporter names the pod on a GPU: the series without a pod ends when one comes. One GPU for 120 s is 120 GPU-seconds, idle for 60."""
    (hours,) = LABELLED.rows(store, "gpu_hours")
    assert (hours["gpu_count"], hours["sampled_gpu_hours"], hours["idle_gpu_hours"]) == (1, pytest.approx(120 / 3600), pytest.approx(60 / 3600))
    (energy,) = LABELLED.rows(store, "run_energy")
    assert (energy["sampled_gpu_count"], energy["gpu_power_w"], energy["energy_by_integration_j"]) == (1, 400, pytest.approx(40_000))


_HEADER, _JOB = SACCT.strip().replace("AllocTRES", "AllocTRES|JobIDRaw|Cluster").splitlines()
CLUSTERS = Scene(
    [*GPU_SCRAPES, *(("gpu02", second, sample.gpus(second, node="gpu02")) for second in range(0, 61, 15))],
    ("r", 0, 60, None, None, "4711"), ("task", 0, 60, None, None, "4800_3"),
    jobs=f"{_HEADER}\n{_JOB}|4711|a\n{_JOB.replace('gpu01', 'gpu02')}|4711|b\n{_JOB.replace('4711', '4800_3').replace('gpu01', 'gpu02')}|4803|a\n",
)


def test_a_job_number_of_two_clusters_is_no_place(store: Warehouse) -> None:
    """Job 4711 ran on gpu01 of one cluster and on gpu02 of another, at the same time. The task of an array is known by its own name."""
    rows = CLUSTERS.slices(store)
    assert {(row["run_id"], row["node_name"]) for row in rows} == {("task", "gpu02")}


def _counted(second: int) -> str:
    """A GPU whose XIDs are counted in a window, and one whose profiling metrics were blocked, behind an exporter in a pod."""
    labels = 'gpu="{}",UUID="GPU-{}",Hostname="nvidia-dcgm-exporter-xpn6b",node="gpu01"'
    return (
        f'DCGM_EXP_XID_ERRORS_COUNT{{{labels.format(0, "c")},window_size_in_ms="300000",xid="79"}} {int(second >= 60)}\n'
        f'DCGM_FI_DEV_GPU_UTIL{{{labels.format(1, "d")}}} 100\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels.format(1, "d")}}} 0\n'
        f'DCGM_FI_DEV_GPU_UTIL{{{labels.format(0, "c")}}} 100\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels.format(0, "c")}}} 0.98\n'
    )


COUNTED = Scene([("dcgm-a", second, _counted(second)) for second in range(0, 121, 15)], ("r", 0, 120, "gpu01", None, None))


def test_an_xid_that_is_counted_is_an_event_of_the_run(store: Warehouse) -> None:
    (event,) = COUNTED.rows(store, "gpu_xid_event")
    assert (event["code"], event["certainty"], event["first_seen_at"]) == (79, "in run", sample.START + timedelta(seconds=60))
    assert {row["node_name"] for row in COUNTED.slices(store)} == {"gpu01"}  # the exporter's pod is no node


def test_a_metric_that_contradicts_its_twin_is_an_issue(store: Warehouse) -> None:
    found = store.sql("select message from ingest_issue where code = 'metric-contradicted'").to_pylist()
    assert [re.sub(r"GPU-\d+-", "GPU-", row["message"]) for row in found] == [
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE of GPU-d is 0 in all 9 samples, but DCGM_FI_DEV_GPU_UTIL is 100.0 % on average: one of them was not measured"
    ]


NAMED = Scene(
    [
        *(("gpu01", second, f'DCGM_FI_DEV_POWER_USAGE{{gpu="0",UUID="GPU-n"}} 400\nnode_load1{{node="0"}} {second}\n') for second in range(0, 121, 15)),
        *(("metrics", second, "".join(f'DCGM_FI_DEV_POWER_USAGE{{gpu="{gpu}",UUID="GPU-m{gpu}"}} 400\n' for gpu in "01")) for second in range(0, 121, 15)),
    ],
    ("r", 0, 120, "gpu01", None, None),
)


def test_a_scrape_that_names_no_node_is_of_the_host_that_its_file_is_named_for(store: Warehouse) -> None:
    """A NUMA node is no node, and a file that is named for what it holds names none."""
    assert {(row["gpu_uuid"], row["node_name"]) for row in NAMED.slices(store) if row["metric"] == "gpu_power_w"} == {("GPU-n", "gpu01")}
    numa = store.sql("select distinct node_name from telemetry_place where source_metric = 'node_load1' and labels = '{\"node\":\"0\"}'").to_pylist()
    assert [row["node_name"] for row in numa] == [f"gpu{NAMED.number}x01"]


def test_telemetry_that_belongs_to_no_run_is_said_so(store: Warehouse) -> None:
    ((note,),) = (row.values() for row in store.sql("select message from ingest_issue where code = 'telemetry-not-joined'").to_pylist())
    assert re.search(r"^\d+ series were sampled while runs ran and belong to none: no run names the node \S+( or \d+ more)?; 2 state no node$", note)
