"""wh explain on evidence that invites a wrong answer: trouble outside of the run, of another run, of an idle neighbour, at the run's edges, with
gaps, of other hardware or another load. Each run is on a node of its own; all figures are made up, and each expectation is arithmetic on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from math import log
from pathlib import Path

import pytest
from conftest import WhOn
from once import once
from standard import standard_project

from warehouse.analysis.explain.explanation import FOUND, MISSING, NOT_FOUND, Answer, Change, Explanation, explain
from warehouse.cli.main import main
from warehouse.errors import WarehouseError
from warehouse.project.project import Project, read_project
from warehouse.transform.finished.builds import current_build
from warehouse.transform.finished.query import read_query

START = datetime(2026, 11, 2, 10, 0, tzinfo=UTC)
POWER_CAP = "DCGM_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS"  # counts nanoseconds
Value = Callable[[float], float]


@dataclass(frozen=True)
class Series:
    """A series sampled every `step` seconds from `first` to `last`, counted from START."""

    name: str
    labels: dict[str, str]
    value: Value
    first: int = -60
    last: int = 180
    step: int = 15

    def document(self) -> dict[str, object]:
        seconds = range(self.first, self.last + 1, self.step)
        values = [[START.timestamp() + second, repr(float(self.value(second)))] for second in seconds]
        return {"metric": {"__name__": self.name, **self.labels}, "values": values}


@dataclass(frozen=True)
class Run:
    """A run from `start` to `end`, in seconds after START; without an `end` its times are not known."""

    name: str
    node: str | None
    start: int = 0
    end: int | None = 120
    throughput: float = 1000
    p99_ms: float = 400
    case: str = "case"
    point: str = "chat"
    workload: str = "plain"
    pool: str | None = None
    gpu_model: str | None = None


def gpu(node: str, number: int = 0) -> dict[str, str]:
    return {"UUID": f"GPU-{node}-{number}", "Hostname": node, "gpu": str(number)}


def level(value: float) -> Value:
    return lambda _: value


def step_at(second: float, after: float, before: float = 0) -> Value:
    return lambda now: after if now >= second else before


def rising(per_s: float, first: float = -1e9, last: float = 1e9) -> Value:
    """A counter that rises between two seconds only."""
    return lambda now: 1e12 + per_s * (min(max(now, first), last) - first if first > -1e9 else now)


def server(node: str) -> dict[str, str]:
    return {"node": node, "model_name": "acme/7b", "engine": "0"}


RUNS = (
    Run("fine", "fine"),
    Run("outside", "outside", start=7, end=127),
    Run("shared-a", "shared"), Run("shared-b", "shared", start=30, end=150),
    Run("short", "short", start=20, end=80),
    Run("sparse", "sparse"),
    Run("reset", "reset"),
    Run("xid", "xid", start=7, end=127),
    Run("restart", "restart", start=7, end=127), Run("replaced", "replaced"),
    Run("neighbours", "neighbours", throughput=800),
    Run("lone", "lone"),
    Run("queue", "queue", p99_ms=2000),
    Run("partial", "partial"),
    Run("twice", "twice", throughput=600),
    Run("two-causes", "two-causes", throughput=600), Run("two-causes-before", "two-causes", start=-60, end=0, throughput=600),
    Run("untimed", "untimed", end=None), Run("nowhere", None),
    Run("pool-base", None, case="pool", p99_ms=400, pool="shared", gpu_model="NVIDIA H100"),
    Run("pool-slow", None, case="pool", p99_ms=2000, pool="shared", gpu_model="NVIDIA H100"),
    Run("pool-other", None, case="pool", p99_ms=400, pool="dedicated", gpu_model="NVIDIA B200"),
    Run("cached-base", None, case="cached", throughput=1000), Run("cached-slow", None, case="cached", throughput=700),
    Run("cached-other", None, case="cached", throughput=9000, point="batch", workload="cached"),
)


def evidence() -> Iterable[Series]:
    yield Series("DCGM_FI_DEV_SM_CLOCK", gpu("fine"), level(1980))
    yield Series("vllm:num_preemptions_total", server("fine"), level(0))
    # Held back until 7 s before the first sample in the run, and again after its last one.
    yield Series(POWER_CAP, gpu("outside"), lambda now: 1e9 * (min(now, 0) + max(now - 135, 0)) + 1e12)
    yield Series(POWER_CAP, gpu("shared"), rising(1e9))
    yield Series("node_pressure_cpu_waiting_seconds_total", {"node": "shared"}, rising(0.5))
    # In a run from 20 to 80 s only the samples at 30 and 60 s lie: 30 s in which it was held back, of 30 s.
    yield Series(POWER_CAP, gpu("short"), rising(1e9), step=30)
    yield Series("DCGM_FI_DEV_POWER_USAGE", gpu("short"), level(400), step=30)
    yield Series("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", gpu("short"), rising(400_000), step=30)
    # 5 samples of a series with one each 15 s: 60 of 120 s.
    yield Series(POWER_CAP, gpu("sparse"), rising(1e9), last=60)
    # The exporter starts again at 60 s; since then 0.6 s of 120 were held back.
    yield Series(POWER_CAP, gpu("reset"), lambda now: 5e14 if now < 60 else 1e7 * (now - 60))
    yield Series("DCGM_FI_DEV_XID_ERRORS", gpu("xid"), step_at(15, 79))
    yield Series("kube_pod_container_status_restarts_total", {"node": "restart", "pod": "web-0"}, step_at(15, 4, 3))
    yield Series("kube_pod_container_status_restarts_total", {"node": "replaced", "pod": "web-0"}, step_at(60, 0, 5))
    for number in range(4):  # one of four GPUs works
        of, works = gpu("neighbours", number), number == 2
        yield Series("DCGM_FI_DEV_GPU_UTIL", of, level(95 if works else 0))
        yield Series("DCGM_FI_DEV_GPU_TEMP", of, level(72 if works else 33))
        yield Series("DCGM_FI_DEV_SM_CLOCK", of, level(1980 if works else 345))
        yield Series("DCGM_FI_DEV_PCIE_LINK_GEN", of, level(5 if works else 1))
        yield Series("DCGM_FI_DEV_PCIE_MAX_LINK_GEN", of, level(5))
    yield Series("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", gpu("lone"), rising(0.5))
    yield Series("vllm:num_requests_waiting", server("queue"), level(40))
    yield Series(POWER_CAP, gpu("partial", 0), level(1e12))
    yield Series(POWER_CAP, gpu("partial", 1), rising(1e9), last=60)
    for replica in "ab":  # two Prometheus servers scrape one node
        of = {"node": "twice", "device": "nvme0n1", "prometheus_replica": replica}
        yield Series("node_disk_io_time_seconds_total", of, rising(0.45))
        nic = {"node": "twice", "device": "mlx5_0", "port": "1", "prometheus_replica": replica}
        yield Series("node_infiniband_link_downed_total", nic, step_at(60, 1))
        yield Series("DCGM_FI_DEV_GPU_UTIL", gpu("twice") | {"prometheus_replica": replica}, level(50))
    yield Series("node_disk_io_time_seconds_total", {"node": "two-causes", "device": "nvme0n1"}, rising(0.9))
    yield Series("node_pressure_cpu_waiting_seconds_total", {"node": "two-causes"}, rising(0.2))
    yield Series(POWER_CAP, gpu("untimed"), rising(1e9))


def feeds() -> dict[str, str]:
    return {
        "benchmark_run": "case_id as benchmark_case_id, run_id || '/' as raw_folder, 'made' as family, 'performance' as mode, 'succeeded' as status,"
        " started_at, ended_at, node_name",
        "serving_outcome": "point as workload_point, 400::double as ttft_p50_ms, p99_ms as ttft_p99_ms, throughput as output_token_throughput_per_s",
        "cluster_region": "'c1' as cluster, node_pool",
        "hardware_topology": "gpu_model",
        "workload": "sha256(workload) as workload_spec_digest, if(workload = 'cached', '{\"dataloader\":\"cached\"}', '{\"dataloader\":\"disk\"}')"
        " as workload_document",
    }


def _text(value: object) -> str:
    return "null" if value is None else f"'{value}'"


def _make(folder: Path) -> None:
    project = standard_project(folder / "project")
    rows = ", ".join(
        f"({_text(run.name)}, {_text(run.case)}, {_text(START + timedelta(seconds=run.start) if run.end is not None else None)}::timestamptz,"
        f" {_text(START + timedelta(seconds=run.end) if run.end is not None else None)}::timestamptz, {_text(run.node)}::varchar, {run.p99_ms}::double,"
        f" {run.throughput}::double, {_text(run.point)}, {_text(run.workload)}, {_text(run.pool)}::varchar, {_text(run.gpu_model)}::varchar)"
        for run in RUNS
    )
    made = (
        f"from (values {rows}) as made (run_id, case_id, started_at, ended_at, node_name, p99_ms, throughput, point, workload, node_pool, gpu_model)\n"
        "cross join (select min(artifact_manifest_digest) as artifact_manifest_digest from evidence_bundle) as bundle\n"
    )
    (project.root / "models").mkdir(exist_ok=True)
    for feed, columns in feeds().items():
        text = f"/*\ndescription: Runs as a family would state them.\ngrain: [run_id, artifact_manifest_digest]\nfeeds: {feed}\n*/\n"
        select = f"select run_id, bundle.artifact_manifest_digest, {columns}\n{made}"
        (project.root / f"models/made_{feed}.sql").write_text(text + select + ("where gpu_model is not null\n" if feed == "hardware_topology" else ""))
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [each.document() for each in evidence()]}}
    (folder / "evidence").mkdir()
    (folder / "evidence/answer.json").write_text(json.dumps(answer))
    for line in (["ingest", str(folder / "evidence")], ["build"]):
        assert main(["--project", str(project.root), *line]) == 0, line


def project() -> Project:
    return read_project(once("explain_sceptic", _make) / "project")


@cache
def explained(run: str, baseline: str = "fine") -> Explanation:
    found = explain(project(), run, [baseline])
    assert [each.fault for each in found.answers if each.fault] == []
    assert "None" not in {each.statement for answer in found.answers for each in answer.findings}
    return found


def answer(run: str, check: str, baseline: str = "fine") -> Answer:
    found, *_ = [each for each in explained(run, baseline).answers if each.check.name == check]
    return found


def causes(run: str, baseline: str = "fine") -> list[str]:
    return [each.check.name for each in explained(run, baseline).causes()]


def test_throttling_before_and_after_the_run_is_not_of_the_run() -> None:
    found = answer("outside", "gpu_throttling")
    assert (found.state, found.findings[0].observed) == (NOT_FOUND, 0)
    assert causes("outside") == []


@pytest.mark.parametrize("run", ["shared-a", "shared-b"])
def test_a_gpu_that_two_runs_shared_blames_neither_but_their_node_is_of_both(run: str) -> None:
    found = answer(run, "gpu_throttling")
    assert found.state == MISSING
    assert found.findings[0].statement.endswith("; another run was there at the same time, and it may be of that run")
    of_node = answer(run, "cpu_throttling_or_saturation")
    assert of_node.state == FOUND and of_node.findings[0].statement.endswith("; another run was there at the same time")
    assert causes(run) == ["cpu_throttling_or_saturation"]


def test_trouble_without_a_symptom_is_called_no_cause(wh_on: WhOn) -> None:
    assert not explained("shared-a").is_suspected("low_gpu_utilization")  # it is as fast as its baseline
    _, out, _ = wh_on(project(), "explain", "shared-a", "--baseline", "fine")
    assert "likeliest" not in out and "what checks found, although no symptom of their playbooks is found:\n1. The host's CPUs" in out


def test_a_rate_is_of_the_time_between_the_samples_that_it_was_counted_between() -> None:
    worst = answer("short", "gpu_throttling").findings[0]
    assert worst.observed == pytest.approx(100) and worst.statement.startswith("its clocks were held back for 100 % of the time (power cap)")


def test_energy_by_counter_and_by_power_agree_however_the_samples_lie() -> None:
    columns = "energy_by_counter_j, energy_by_integration_j, counter_to_integration_ratio"
    with read_query(current_build(project()).path, f"select {columns} from run_energy where run_id = 'short'") as result:
        (energy,) = result.fetchall()
    # 400 W: 30 s between the samples in the run, and 60 s of the run.
    assert energy == pytest.approx((12_000, 24_000, 1))


def test_samples_of_half_the_run_answer_nothing_and_say_so() -> None:
    found = answer("sparse", "gpu_throttling")
    assert found.state == MISSING and found.findings[0].statement.endswith("; the samples cover only 50 % of the run")


def test_a_counter_that_begins_anew_has_not_run_backwards_or_away() -> None:
    found = answer("reset", "gpu_throttling")
    assert found.state == NOT_FOUND and found.findings[0].observed == pytest.approx(0.5)  # 0.6 of 120 s
    assert answer("replaced", "autoscaling_or_restart").state == NOT_FOUND


def test_what_came_between_the_last_sample_before_the_run_and_its_first_is_not_known_to_be_of_the_run() -> None:
    xid = answer("xid", "gpu_faults")
    assert (xid.state, [each.statement for each in xid.findings]) == (
        MISSING, ["XID 79 (GPU has fallen off the bus) was there at the first sample of the run, and may be from before it"]
    )
    restart = answer("restart", "autoscaling_or_restart")
    assert restart.state == MISSING and "at the start or end of the run" in restart.findings[0].statement


def test_idle_neighbours_of_a_gpu_are_no_peers_of_it() -> None:
    assert causes("neighbours") == []
    busy = answer("neighbours", "waiting_gpus")
    assert (busy.state, busy.findings[0].observed) == (NOT_FOUND, 95)
    thermal = answer("neighbours", "thermal")
    assert thermal.state == MISSING and {each.subject[-1] for each in thermal.findings} == set("0123")
    (own,) = [each for each in thermal.findings if each.subject.endswith("GPU-neighbours-2") and "clock" in each.statement]
    assert own.statement == "gpu_sm_clock_mhz is 1980 MHz, with nothing to compare it with"
    assert answer("neighbours", "pcie_link").findings[0].is_found is False


def test_a_gpu_without_peers_is_judged_by_its_own_errors() -> None:
    found = answer("lone", "nvlink_health")  # 60 recoveries in 120 s
    assert (found.state, found.findings[0].observed) == (FOUND, 60)


def test_a_figure_that_the_baseline_lacks_is_evidence_that_does_not_answer() -> None:
    found = answer("queue", "request_queue_time")
    assert (found.state, found.said) == (MISSING, "requests_waiting: 40 requests waited at the server (p95); the baseline has no such figure")


def test_what_could_not_be_judged_is_not_counted_as_not_found(wh_on: WhOn) -> None:
    found = answer("partial", "gpu_throttling")
    assert (found.state, len(found.findings), found.unanswered) == (NOT_FOUND, 2, 1)
    assert [each.is_found for each in found.findings] == [False, None]
    _, out, _ = wh_on(project(), "--verbose", "explain", "partial", "--baseline", "fine")
    assert "gpu_throttling in 1 place, 1 more with too little evidence; the worst: GPU partial GPU-partial-0: its clocks" in out


def test_what_two_servers_scrape_is_there_once() -> None:
    found = answer("twice", "storage_throughput")
    assert found.state == NOT_FOUND and found.findings[0].observed == pytest.approx(45)
    assert answer("twice", "network_stalls").findings[0].observed == 1
    assert answer("twice", "waiting_gpus").said.startswith("gpu_util_pct: mean of 1 GPU: 50 %")
    with read_query(current_build(project()).path, "select gpu_count, sampled_gpu_hours, idle_gpu_hours from gpu_hours where run_id = 'twice'") as result:
        assert result.fetchall() == [(1, pytest.approx(120 / 3600), 0)]


def test_of_two_causes_the_one_that_explains_more_comes_first() -> None:
    # A run is slower by 1 / 0.6. A disk that is busy for 90 % explains all of it, and waiting for a CPU for 20 % a factor of 1 / 0.8.
    assert causes("two-causes") == ["storage_throughput", "cpu_throttling_or_saturation"]
    assert answer("two-causes", "cpu_throttling_or_saturation").score == pytest.approx(log(1 / 0.8) / log(1 / 0.6))
    # Beside a baseline that was as slow for the same reasons, nothing is new.
    assert causes("two-causes", "two-causes-before") == []


def test_a_run_without_times_or_a_place_says_what_that_hides(wh_on: WhOn) -> None:
    assert explained("untimed").notes == ("the start and end of the run are not known, so only evidence that names the run or its job was looked at",)
    # The node of the run without times was sampled while this run ran.
    assert explained("nowhere").notes == (
        "nothing states where the run ran (its nodes, GPUs, pods or job), so only evidence that names the run was looked at",
        "1 series of prometheus (node untimed) is here and joined to no run: a model that feeds run_node maps them to the run (docs/telemetry.md)",
    )
    assert answer("nowhere", "gpu_throttling").said == explained("nowhere").notes[1] and answer("nowhere", "gpu_faults").unjoined is None
    assert {each.state for each in explained("untimed").answers if not each.check.is_symptom} == {MISSING}
    _, out, err = wh_on(project(), "explain", "untimed", "--baseline", "fine")
    assert f"note: {explained('untimed').notes[0]}" in out
    assert "no check found a cause" in out and "-v lists every check with what it looked at, also 4" in err
    document = json.loads(wh_on(project(), "explain", "untimed", "--baseline", "fine", "--json")[1])
    assert document["notes"] == list(explained("untimed").notes)
    assert {"host"} == {each["name"] for each in document["differences"]}


def test_how_the_baseline_was_chosen_claims_no_more_than_is_known() -> None:
    assert explain(project(), "untimed").chosen_by.startswith("the same case and workload, its time is not known; its machine is not stated; ")
    assert explain(project(), "pool-slow").chosen_by.startswith("the same case, workload, machine and place, nearest in time; ")
    with pytest.raises(WarehouseError) as caught:
        explain(project(), "fine", ["fine"])
    assert caught.value.code == "WH502" and "itself" in str(caught.value)


def test_a_shorter_tail_on_faster_hardware_is_no_merit_of_the_pool() -> None:
    assert answer("pool-slow", "dedicated_node_pool", "pool-base").state == MISSING
    other = explained("pool-slow", "pool-other")
    assert ("hardware", "gpu_model", ("NVIDIA B200",), ("NVIDIA H100",)) in {(each.kind, each.name, each.base, each.head) for each in other.differences}


def test_a_cached_run_at_another_load_shows_nothing() -> None:
    assert answer("cached-slow", "cached_input_rerun", "cached-base").state == MISSING


@pytest.mark.parametrize(
    ("better", "observed", "expected", "worse_by"),
    [
        ("higher", 50, 100, 2), ("higher", 0, 100, float("inf")), ("lower", 5, 0, float("inf")), ("lower", 0, 5, 0), ("lower", 0, 0, 1),
        ("higher", 100, 0, 0), ("", 7, 1, 1), ("lower", -1, 2, 1),
    ],
)
def test_a_throughput_of_nothing_is_the_worst_that_can_be(better: str, observed: float, expected: float, worse_by: float) -> None:
    assert Change("serving", "m", "", None, better, observed, expected).worse_by == worse_by
