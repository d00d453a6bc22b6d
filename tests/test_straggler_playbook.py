"""The playbook of the distributed straggler: on evidence with one seeded cause, that cause is named first; without its family, the check says so.

A job of eight ranks, one a node, is traced at some hours of a day; rank 5 is 10 % slower in all but the first hour. Each hour the nodes are
scraped while it runs, and in each hour another thing is wrong with the node of rank 5.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from exhaustive import few
from samples import fabric_check, kineto
from standard import standard_project

from warehouse.analysis.explain.explanation import FOUND, MISSING, NOT_FOUND, Answer, Explanation, explain
from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.project.project import Project
from warehouse.transform.build.build import build

PLAYBOOK = "distributed_straggler"
DAY = datetime(2026, 11, 20, 10, tzinfo=UTC)
RANKS, SLOW, STEPS = 8, 5, 12
# What the exporters document: name, type, help, its value on a healthy node (`second` counts in the hour).
METRICS = {
    "DCGM_FI_DEV_PCIE_LINK_WIDTH": ("gauge", "PCIe Current Link Width", 16.0),
    "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH": ("gauge", "PCIe Max Link Width", 16.0),
    "DCGM_FI_DEV_PCIE_LINK_GEN": ("gauge", "PCIe Current Link Generation", 5.0),
    "DCGM_FI_DEV_PCIE_MAX_LINK_GEN": ("gauge", "PCIe Max Link Generation", 5.0),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("counter", "Total number of PCIe retries.", 3.0),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": ("counter", "Total number of NVLink recovery errors.", 0.0),
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": ("counter", "Total number of NVLink flow-control CRC errors.", 2.0),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "GPU temperature (in C).", 62.0),
    "DCGM_FI_DEV_SM_CLOCK": ("gauge", "SM clock frequency (in MHz).", 1980.0),
    "DCGM_FI_DEV_THERMAL_VIOLATION": ("counter", "Throttling duration due to thermal constraints (in ns).", 0.0),
    "DCGM_FI_DEV_XID_ERRORS": ("gauge", "Value of the last XID error encountered.", 0.0),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("counter", "Total number of double-bit volatile ECC errors.", 0.0),
    "node_infiniband_symbol_error_total": ("counter", "Number of minor link errors detected on one or more physical lanes.", 7.0),
    "ping_loss_ratio": ("gauge", "Packet loss", 0.0),
}
# The check that is right, and what is wrong on the slow node: a rate by second for a counter, a value for a gauge.
CAUSES: dict[str, Mapping[str, float]] = {
    "pcie_link": {"DCGM_FI_DEV_PCIE_LINK_WIDTH": 4},
    "nvlink_health": {"DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": 0.2},
    "thermal": {"DCGM_FI_DEV_GPU_TEMP": 88, "DCGM_FI_DEV_SM_CLOCK": 1410, "DCGM_FI_DEV_THERMAL_VIOLATION": 0.8e9},
    "nic_errors": {"node_infiniband_symbol_error_total": 40},
    "gpu_faults": {"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": 0.2, "DCGM_FI_DEV_XID_ERRORS": 48},
}
PREFIXES = {
    "pcie_link": "DCGM_FI_DEV_PCIE", "nvlink_health": "DCGM_FI_DEV_NVLINK", "thermal": ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_THERMAL"),
    "nic_errors": ("node_infiniband", "ping"), "gpu_faults": ("DCGM_FI_DEV_XID", "DCGM_FI_DEV_ECC"),
}
HEALTHY = "healthy"
HOURS = (HEALTHY, *CAUSES, *(f"without {name}" for name in CAUSES), "elsewhere")


def node(rank: int, hour: str) -> str:
    """The nodes of the job; in the last hour another one takes the place of the slow one."""
    return f"node{rank}" if (rank, hour) != (SLOW, "elsewhere") else "node9"


def scrape(second: int, hour: str, faults: Mapping[str, float], without: str | tuple[str, ...] = ()) -> str:
    """What all nodes answer."""
    lines = []
    for name, (kind, text, usual) in METRICS.items():
        if not name.startswith(without or "none"):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            for rank in range(RANKS):
                value = usual
                if rank == SLOW and name in faults:
                    value = usual + faults[name] * second if kind == "counter" else faults[name]
                    value = usual if "XID" in name and second < 30 else value  # it appears while the run runs
                label = "device" if name.startswith("node_") else "target"
                own = f'UUID="GPU-{node(rank, hour)}",gpu="0",Hostname="{node(rank, hour)}"' if name.startswith("DCGM") else f'node="{node(rank, hour)}",{label}="ib0"'
                lines.append(f"{name}{{{own}}} {value!r}")
    return "\n".join(lines) + "\n"


def write_hour(tree: Path, number: int, hour: str) -> None:
    """Traces of all ranks, and scrapes every 15 seconds while they run."""
    chance, start = random.Random(number), DAY + timedelta(hours=number)
    is_slow = hour not in (HEALTHY, "elsewhere")
    works = [
        [round(5e6 * (1 + chance.gauss(0, 0.01)) * (1.10 if rank == SLOW and is_slow else 1)) for rank in range(RANKS)] for _ in range(STEPS)
    ]
    for rank in range(RANKS):
        base = kineto.BASE_NS + number * 3_600_000_000_000
        document = kineto.trace(rank, works, top={"hostname": node(rank, hour)}) | {"baseTimeNanoseconds": base}
        kineto.write(tree / f"{number:02}/job/rank-{rank}.json.gz", document)
    cause = hour.removeprefix("without ")
    for second in range(0, 91, 15):
        path = tree / f"{number:02}/metrics/cluster-{start + timedelta(seconds=second):%Y%m%dT%H%M%SZ}.prom"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(scrape(second, hour, CAUSES.get(cause, {}), PREFIXES[cause] if cause != hour else ()))


def built(tree: Path, root: Path) -> Project:
    project = standard_project(root)
    ingest(plan_ingest(tree, load_ingestors(project).values()), open_store(project), "evidence")
    assert not build(project).damaged
    return project


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, str]]:
    """The project, and the run of each hour."""
    top = tmp_path_factory.mktemp("straggler")
    for number, hour in enumerate(HOURS):
        write_hour(top / "tree", number, hour)
    project = built(top / "tree", top / "project")
    runs = Warehouse(project).sql("select run_id from benchmark_run_fact where family = 'kineto' order by started_at").to_pylist()
    assert len(runs) == len(HOURS)
    return project, dict(zip(HOURS, (row["run_id"] for row in runs), strict=True))


def explained(jobs: tuple[Project, dict[str, str]], hour: str, *baseline: str) -> Explanation:
    project, runs = jobs
    found = explain(project, runs[hour], [runs[each] for each in baseline or (HEALTHY,)], PLAYBOOK)
    assert [answer.fault for answer in found.answers if answer.fault] == []
    return found


def answer_of(found: Explanation, check: str) -> Answer:
    return next(answer for answer in found.answers if answer.check.name == check)


@pytest.mark.parametrize("cause", CAUSES)
def test_the_seeded_cause_is_named_first(jobs: tuple[Project, dict[str, str]], cause: str) -> None:
    found = explained(jobs, cause)
    assert found.is_suspected(PLAYBOOK)
    first, *others = found.causes()
    assert first.check.name == cause and {answer.check.name for answer in others} <= {"rank_collectives"}
    worst = first.findings[0]
    assert worst.is_found and f"node{SLOW}" in worst.subject
    assert all(f"node{SLOW}" in finding.subject for finding in first.findings if finding.is_found)
    assert worst.artifact_manifest_digest and worst.raw_path and worst.raw_path.endswith(".prom")
    # Which rank it is stands beside why, in the trace of that rank.
    (rank,) = [finding for finding in answer_of(found, "rank_collectives").findings if finding.is_found]
    assert (rank.subject, rank.raw_path) == (f"rank {SLOW} on node{SLOW}", f"rank-{SLOW}.json.gz")


@pytest.mark.parametrize("cause", few(CAUSES, 2))
def test_without_its_family_the_evidence_is_missing(jobs: tuple[Project, dict[str, str]], cause: str) -> None:
    found = explained(jobs, f"without {cause}")
    assert answer_of(found, cause).state == MISSING
    assert [answer.check.name for answer in found.causes()] == ["rank_collectives"]
    assert {answer.state for answer in found.answers if answer.check.name in CAUSES} == {MISSING, NOT_FOUND}


def test_a_healthy_run_has_no_cause(jobs: tuple[Project, dict[str, str]]) -> None:
    found = explained(jobs, HEALTHY, "elsewhere")
    assert found.causes() == [] and found.suspicion(PLAYBOOK) == "not suspected"
    assert {answer.state for answer in found.answers if answer.check.name in CAUSES} == {NOT_FOUND}


def test_runs_without_the_node_are_as_fast_as_usual(jobs: tuple[Project, dict[str, str]]) -> None:
    with_it = explained(jobs, "without thermal", "without pcie_link", "without nic_errors", "elsewhere")
    assert answer_of(with_it, "without_suspect").state == FOUND
    (finding,) = answer_of(with_it, "without_suspect").findings
    assert finding.subject == f"node{SLOW}" and finding.expected == pytest.approx(5.06, abs=0.1)
    # Where no run of the baseline is without the node, nobody knows.
    assert answer_of(explained(jobs, "thermal", HEALTHY), "without_suspect").state == MISSING


def test_the_slow_pair_of_a_campaign(tmp_path: Path) -> None:
    """5.76 GB/s where other pairs reach 13.5: the pair is named, and its nodes are not at fault with others."""
    fabric_check.write_campaign(tmp_path / "tree")
    project = built(tmp_path / "tree", tmp_path / "project")
    (slow,) = Warehouse(project).sql("select run_id from fabric_peer_comparison where ratio_to_median < 0.8").to_pylist()
    found = explain(project, slow["run_id"], playbook=PLAYBOOK)
    assert [answer.fault for answer in found.answers if answer.fault] == [] and found.is_suspected(PLAYBOOK)
    (first,) = found.causes()
    assert (first.check.name, first.findings[0].subject) == ("rank_collectives", "alltoall_perf among gpu01,gpu04")
    assert (first.findings[0].observed, first.findings[0].expected) == (5.76, 13.5)
    suspects = answer_of(found, "without_suspect")
    assert suspects.state == NOT_FOUND and {finding.subject for finding in suspects.findings} == {"gpu01", "gpu04"}
    missing = {answer.check.name for answer in found.answers if answer.state == MISSING}
    assert missing == {*CAUSES, "node_faults", "step_time_spread"}


def test_an_xid_is_named_with_its_certainty(jobs: tuple[Project, dict[str, str]]) -> None:
    findings = answer_of(explained(jobs, "gpu_faults"), "gpu_faults").findings
    assert {finding.statement for finding in findings if finding.is_found} == {
        "XID 48 (double bit ECC error) appeared during the run", "gpu_ecc_uncorrected_count rose by 9, in the median of the peers by 0",
    }


def test_one_rank_alone_is_no_straggler_and_a_first_step_that_compiles_no_spread(tmp_path: Path) -> None:
    """One rank has no others to compare it with, and four steps are no sample of steps. Of twelve steps the first takes five times as long."""
    kineto.write(tmp_path / "tree/job/rank-0.json.gz", kineto.trace(0, [[1000, 1100]] * 4))
    warm = kineto.trace(0, [[5_000_000 if step == 0 else 1_000_000, 1_000_000] for step in range(12)])
    kineto.write(tmp_path / "tree/warm/rank-0.json.gz", warm | {"baseTimeNanoseconds": kineto.BASE_NS + 3_600_000_000_000})
    project = built(tmp_path / "tree", tmp_path / "project")
    alone, first = Warehouse(project).sql("select run_id from benchmark_run_fact order by started_at").to_pylist()
    found = explain(project, alone["run_id"], playbook=PLAYBOOK)
    assert {answer.state for answer in found.answers} == {MISSING} and found.suspicion(PLAYBOOK) == "not known"
    assert answer_of(explain(project, first["run_id"], playbook=PLAYBOOK), "step_time_spread").state == NOT_FOUND
