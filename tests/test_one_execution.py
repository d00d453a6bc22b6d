"""One measurement is one run: reports of one execution, wherever they lie, are its evidence; what is not proven stays two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from built import built, sql_of
from samples import fabric_check as sample
from standard import standard_project
from test_fabric_check_ingestor import codes, drafts, of_log, parsed, stored

ENDS = ("LID 0xd06 QPN 0x095f PSN 0x3c9e82", "LID 0xd06 QPN 0x095e PSN 0xbd024b")
TABLE = """\
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 4194304    20000            24056.74            {average}		   0.006014
 8388608    20000            24056.74            24056.72		   0.003007
---------------------------------------------------------------------------------------
"""


def perftest(local: int, average: str = "24056.72", ends: tuple[str, str] = ENDS, table: str = TABLE, title: str = "RDMA_Write BW") -> str:
    """One end's log; the server says that it waits."""
    line = "-" * 87 + "\n"
    waits = "************************************\n* Waiting for client to connect... *\n************************************\n" if local else ""
    return (
        f"{waits}{line}                    {title} Test\n Dual-port       : OFF\t\tDevice         : ib{local}\n"
        f" Connection type : RC\t\tUsing SRQ      : OFF\n{line}"
        f" local address: {ends[local]} RKey 0x0803{local} VAddr 0x007f9fc479{local}000\n"
        f" remote address: {ends[1 - local]} RKey 0x0803{1 - local} VAddr 0x007f9fc479{1 - local}000\n{line}{table.format(average=average)}"
    )


def landed(tree: Path) -> list[dict[str, list[dict[str, Any]]]]:
    return [parsed(stored(draft, tree.parent / f"stored-{index}")) for index, draft in enumerate(drafts(tree))]


def both(tree: Path, client: str, server: str) -> None:
    sample.write(tree / "client/perf.log", client)
    sample.write(tree / "server/perf.log", server)


def test_client_and_server_logs_of_a_perftest_are_one_run(tmp_path: Path) -> None:
    both(tmp_path / "tree", perftest(0), perftest(1))
    (draft,) = drafts(tmp_path / "tree")
    assert sorted(file.raw_path for file in draft.files) == ["client/perf.log", "server/perf.log"] and len(draft.runs) == 1
    (rows,) = landed(tmp_path / "tree")
    assert len(rows["fabric_check_run"]) == 1 and len(rows["fabric_check_point"]) == 2 and codes(rows) == {}


def test_client_and_server_in_one_log_one_after_the_other_are_one_run(tmp_path: Path) -> None:
    rows = of_log(tmp_path, perftest(0) + perftest(1))
    assert len(rows["fabric_check_run"]) == 1 and len(rows["fabric_check_point"]) == 2 and codes(rows) == {}


def test_a_server_that_printed_no_results_is_no_run_beside_its_client(tmp_path: Path) -> None:
    both(tmp_path / "tree", perftest(0), perftest(1, table=""))
    (rows,) = landed(tmp_path / "tree")
    assert [run["status"] for run in rows["fabric_check_run"]] == ["succeeded"]


@pytest.mark.parametrize(
    "server",
    [
        perftest(1, ends=("LID 0xd06 QPN 0x095f PSN 0x3c9e83", ENDS[1])),  # of another connection
        perftest(1, title="RDMA_Read BW"),
        perftest(0, average="24056.70"),  # the same end, run again
    ],
)
def test_what_is_not_proven_to_be_one_execution_stays_two_runs(tmp_path: Path, server: str) -> None:
    both(tmp_path / "tree", perftest(0), server)
    found = landed(tmp_path / "tree")
    assert sum(len(rows["fabric_check_run"]) for rows in found) == 2 and all(codes(rows) == {} for rows in found)


def test_two_ends_that_measured_otherwise_are_two_runs_and_told(tmp_path: Path) -> None:
    rows = of_log(tmp_path, perftest(0) + perftest(1, average="24001.00"))
    assert len(rows["fabric_check_run"]) == 2 and codes(rows) == {"same-execution": 1}


def test_client_and_server_of_an_iperf3_test_are_one_run(tmp_path: Path) -> None:
    client = json.loads(sample.IPERF3)
    client["start"]["cookie"] = "ihm3hvp6jjv3k7ttzvlbl4pq3ey5z5wwqn2b"
    client["end"]["sum_received"]["bytes"] = 1000
    server = json.loads(json.dumps(client))
    server["start"] = {key: value for key, value in server["start"].items() if key != "connecting_to"} | {"accepted_connection": {"host": "10.0.0.1", "port": 5}}
    server["end"]["sum_received"]["bits_per_second"] -= 1e6  # its clock
    sample.write(tmp_path / "tree/a.json", json.dumps(server, indent="\t"))
    sample.write(tmp_path / "tree/b.json", json.dumps(client, indent="\t"))
    (rows,) = landed(tmp_path / "tree")
    assert len(rows["fabric_check_run"]) == 1
    server["end"]["sum_received"]["bytes"] = 999
    sample.write(tmp_path / "tree/a.json", json.dumps(server, indent="\t"))
    assert sum(len(rows["fabric_check_run"]) for rows in landed(tmp_path / "tree")) == 2


def nccl(faster: float = 0.0, pid: int = 7000) -> str:
    """A test of eight sizes, out of place `faster` by so many GB/s."""
    head, rows, tail = sample.nccl_section(average="5.25 ").partition("     1048576")
    rows, bounds, tail = (rows + tail).partition("# Out of bounds")
    body = "".join(
        f"{size:12}  {size // 4:12}     float     sum      -1  {round(size / out / 2e3, 2):9}  {2 * out:6.2f}  {out:6.2f}       0"
        f"  {round(size / (out + 1) / 2e3, 2):9}  {2 * out + 2:6.2f}  {power + 2:3}.25       0\n"
        for power in range(8) for out in [power + 1.25 + faster] for size in [1048576 << power]
    )
    return head.replace("Pid 7000", f"Pid {pid}") + body + bounds + tail


def test_a_launchers_log_that_repeats_a_ranks_log_is_no_second_run(tmp_path: Path) -> None:
    launcher = "+ mpirun -np 2 alltoall_perf -b 1024\n" + "".join(f"[1,0]<stdout>:{line}\n" for line in nccl().splitlines())
    sample.write(tmp_path / "tree/job.out", launcher)
    sample.write(tmp_path / "tree/ranks/rank.0/stdout", nccl())
    (rows,) = landed(tmp_path / "tree")
    assert len(rows["fabric_check_run"]) == 1 and len(rows["fabric_check_point"]) == 16 and codes(rows) == {}


@pytest.mark.parametrize("other", [nccl(pid=7100), nccl(faster=0.01)])
def test_the_next_execution_of_the_same_test_is_a_run_of_its_own(tmp_path: Path, other: str) -> None:
    sample.write(tmp_path / "tree/a.log", nccl())
    sample.write(tmp_path / "tree/b.log", other)
    assert len(landed(tmp_path / "tree")) == 2


def test_the_same_log_under_two_names_is_one_run(tmp_path: Path) -> None:
    for suffix in ("log", "out"):
        sample.write(tmp_path / f"tree/burn.{suffix}", sample.GPU_BURN)
    sample.write(tmp_path / "tree/another/burn.log", sample.GPU_BURN)
    found = landed(tmp_path / "tree")
    assert sorted(len(rows["fabric_check_run"]) for rows in found) == [1, 1]  # one file each of two places: shared evidence


def test_the_rollup_shows_what_may_be_one_measurement(tmp_path: Path) -> None:
    """The report of rccl-tests states no process: nothing proves whose it is."""
    sample.write(tmp_path / "tree/a.log", nccl())
    sample.write(tmp_path / "tree/b.log", nccl(pid=7100))
    sample.write(tmp_path / "tree/c.log", nccl(faster=0.01))
    project = built(tmp_path / "tree", standard_project(tmp_path / "project"))
    sql = sql_of(project)
    assert sql("select same_figures_count, count(*) from fabric_results group by all order by all") == [(0, 1), (1, 2)]


def test_a_merged_run_has_all_of_its_files_as_evidence(tmp_path: Path) -> None:
    both(tmp_path / "tree", perftest(0), perftest(1))
    sql = sql_of(built(tmp_path / "tree", standard_project(tmp_path / "project")))
    assert sql("select count(*) from benchmark_run_fact") == [(1,)]
    assert sql("select file_count from artifact_lineage_dim") == [(2,)]
    assert sql("select raw_path, is_recognised from raw_artifact order by all") == [("client/perf.log", True), ("server/perf.log", True)]


@pytest.mark.exhaustive
def test_the_real_loopback_is_one_run(missed_evidence: Path, tmp_path: Path) -> None:
    log = missed_evidence / "microsoft__superbenchmark/tests/data/ib_loopback_8M_size.log"
    sql = sql_of(built(log, standard_project(tmp_path / "project")))
    assert sql("select message_bytes, bandwidth_gb_per_s from fabric_outcome_fact where scope = 'point'") == [(8388608, pytest.approx(24056.72 * 1048576 / 1e9))]
    assert sql("select * from ingest_issue") == []


@pytest.mark.parametrize(
    ("stated", "otherwise", "statuses"),
    [
        ("Out of bounds values : 0 OK", "Out of bounds values : 3 FAILED", ["failed", "succeeded"]),
        ("# Avg bus bandwidth    : 5.25", "# Avg bus bandwidth    : 5.253", ["succeeded", "succeeded"]),
        ("# Avg bus bandwidth    : ", "# Avg bus bandwidth is lost: ", ["failed", "succeeded"]),
    ],
)
@pytest.mark.parametrize("first", ["a", "b"])
def test_reports_of_the_same_rates_that_contradict_each_other_are_two_runs(
    tmp_path: Path, stated: str, otherwise: str, statuses: list[str], first: str
) -> None:
    second = "b" if first == "a" else "a"
    text = nccl()
    assert stated in text
    sample.write(tmp_path / f"tree/{first}/x.log", text)
    sample.write(tmp_path / f"tree/{second}/x.log", text.replace(stated, otherwise))
    (rows,) = landed(tmp_path / "tree")
    assert sorted(run["status"] for run in rows["fabric_check_run"]) == statuses
    assert codes(rows)["same-execution"] == 1
