"""A file with two kinds of evidence: a training log that begins with an nccl-tests run is read as both, by both families."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from built import built, sql_of
from conftest import WhOn
from exhaustive import few
from samples import fabric_check, mlperf_training
from standard import standard_project

from warehouse.project.project import Project, read_project

SCRIPT = """\
+ srun --mpi=pmix --ntasks=2 all_reduce_perf_mpi -b 1048576 -e 4194304 -d half -G 1 -f 2
[gpu01:1949017] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 168
[gpu02:1949011] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 168
"""
# What trainers print: tables of numbers, comments, errors that stopped nothing.
NOISE = """\
++ date +%s
# loading 8 shards
[gpu01:509056] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 168
Epoch 0:  12 400 0.125 0.0250 1.5e-3 8.0 312.5 0
#### ERROR: 1 of 3 mirrors is not there, using 2
Sanity Checking: 0.1 0.2 0.3 0.4 0.5 0.6 0.7 CANCELLED
"""


def training_log(run: mlperf_training.Run) -> str:
    nccl = fabric_check.nccl_section(average="8.151 ", has_version=False, rows=fabric_check.ONE_BY_ONE).replace("# Collective test starting: alltoall_perf\n", "")
    nccl = nccl.replace("# Collective test concluded: alltoall_perf\n", "")
    return SCRIPT + nccl + NOISE + mlperf_training.result_log(run) + NOISE


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    top = tmp_path_factory.mktemp("mixed")
    runs = [mlperf_training.Run(minutes=10), mlperf_training.Run(minutes=12, prefix="0: ")]
    folder = mlperf_training.write_set(top / "tree", runs)
    for number, run in enumerate(runs):
        mlperf_training.write(folder / f"result_{number}.txt", training_log(run))
    return built(top / "tree", standard_project(top / "project"))


def test_both_families_read_a_training_log_that_begins_with_nccl_tests(mixed: Project) -> None:
    sql = sql_of(mixed)
    assert sql("select family, count(*) from benchmark_run_fact group by all order by all") == [("fabric_check", 2), ("mlperf_training", 2)]
    assert sql("select time_to_train_s from training_outcome_fact where phase = 'train' order by all") == [(600.0,), (720.0,)]
    assert sql("""
        select distinct test, status, avg_bus_bandwidth_gb_per_s from fabric_outcome_fact where scope = 'test'
    """) == [("all_reduce_perf", "measured", 8.151)]
    assert sql("select placement, message_bytes, time_us, bus_bandwidth_gb_per_s from fabric_outcome_fact where scope = 'point' "
               "group by all having count(*) = 2 order by message_bytes, placement desc") == [
        ("out_of_place", 1048576, 100.5, 10.43), ("in_place", 1048576, 90.0, 11.65),
        ("out_of_place", 2097152, 199.7, 10.5), ("in_place", 2097152, 1e5, 0.02),
    ]


def test_the_shared_bytes_are_flagged_for_both_runs(mixed: Project) -> None:
    sql = sql_of(mixed)
    assert sql("select distinct is_shared_evidence, has_conflict, state from artifact_lineage_dim inner join benchmark_run_fact using (run_id)") == [
        (True, False, "admitted")
    ]
    assert sql("select family, copies, is_recognised, count(*) from raw_artifact where raw_path like '%result_%' group by all order by all") == [
        ("fabric_check", 2, True, 2), ("mlperf_training", 2, True, 2)
    ]


def test_what_the_trainer_prints_is_not_taken_for_the_checks(mixed: Project) -> None:
    """One line that looks like an error before the test and one after it are worth a look, the others are not; and no byte of
    the training is the check's."""
    sql = sql_of(mixed)
    assert sql("select code, count(*) from ingest_issue where family = 'fabric_check' group by all") == [("error-outside-of-a-test", 4)]
    log = training_log(mlperf_training.Run(minutes=10))
    start, stop = log.index("# nThread 1"), log.index("++ date")
    (section,) = sql("select raw_section from benchmark_run_fact where family = 'fabric_check' and raw_folder = 'result_0.txt'")[0]
    offset, length = map(int, section.split("+"))
    assert offset == start and offset + length <= stop


@pytest.mark.exhaustive
def test_both_are_published_and_verified(mixed: Project, wh_on: WhOn, tmp_path: Path) -> None:
    shutil.copytree(mixed.root, tmp_path / "copy", symlinks=True)
    project = read_project(tmp_path / "copy")
    for query in ("fabric_results", "mlperf_training_results"):
        status, _, err = wh_on(project, "publish", query, "--as", "provisional")
        assert status == 0, err
    assert wh_on(project, "verify", "--all")[0] == 0
    assert wh_on(project, "fsck")[0] == 0 and wh_on(project, "gc")[0] == 0


@pytest.mark.parametrize(
    "name, text",
    few([
        ("prompts.json", '{"prompts": ["# nThread 1 nGpus 8 minBytes 8", "                    RDMA_Write BW Test", "nvbandwidth Version: v0.4"]}'),
        ("notes.txt", "We compared `nvbandwidth Version: v0.4` with the RDMA_Write BW Test of perftest; see # nThread 1 nGpus 8.\n"),
        ("llama_N2_G8.log", mlperf_training.result_log(mlperf_training.Run())),
    ], 1),
)
def test_a_file_that_only_mentions_a_tool_is_no_check(tmp_path: Path, name: str, text: str) -> None:
    """Not even beside logs of checks, whose campaign names its logs otherwise."""
    fabric_check.write(tmp_path / "tree" / name, text)
    fabric_check.write(tmp_path / "tree/nccl_N2_G1_gpu01_gpu02.log", fabric_check.nccl_section())
    project = built(tmp_path / "tree", standard_project(tmp_path / "project"))
    assert sql_of(project)("select raw_path from raw_artifact where family = 'fabric_check'") == [("nccl_N2_G1_gpu01_gpu02.log",)]


@pytest.mark.exhaustive
def test_training_and_fabric_figures_are_those_of_the_real_logs(missed_evidence: Path, tmp_path: Path) -> None:
    sql = sql_of(built(missed_evidence / "mlcommons__training_results_v5.0", standard_project(tmp_path / "project")))
    # By eye: `# Avg bus bandwidth    : 467.381`, and run_stop 1745984044298 - run_start 1745982360980 of result_0.txt.
    assert sql("select avg_bus_bandwidth_gb_per_s from fabric_outcome_fact where scope = 'test' order by all") == [(466.173,), (467.381,)]
    assert sql("select time_to_train_s from training_outcome_fact where phase = 'train' order by all") == [(1486.983,), (1683.318,)]
    assert sql("select distinct is_shared_evidence from artifact_lineage_dim") == [(True,)]
    assert sql("select distinct test, node_count, rank_count from fabric_outcome_fact where scope = 'test'") == [("all_reduce_perf", 1, 8)]
