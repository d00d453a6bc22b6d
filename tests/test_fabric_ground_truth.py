"""Fabric checks end to end: every value of the real campaigns' summaries is the log's, a published number leads to its line
and is replayed, and a slow pair is found by SQL.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest
from built import built, sql_of
from conftest import WhOn
from samples import fabric_check as sample
from standard import standard_project

from warehouse.project.project import Project

_SECTION = re.compile(r"^# Collective test starting: (\S+)$", re.MULTILINE)
_AVERAGE = re.compile(r"^# Avg bus bandwidth    : (\S+)", re.MULTILINE)


def sections(log: Path) -> dict[str, str]:
    """The text of each test of a log, cut without the parser."""
    name, *rest = _SECTION.split(log.read_text())[1:]
    parts = [name, *rest]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def real(fabric_evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return built(fabric_evidence, standard_project(tmp_path_factory.mktemp("real")))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Project:
    top = tmp_path_factory.mktemp("campaign")
    sample.write_campaign(top / "tree")
    sample.write(top / "tree/timed/x.json", sample.NCCL_JSON)
    return built(top / "tree", standard_project(top / "project"))


class TestRealEvidence:
    def test_every_summary_value_is_the_logs_and_a_blank_is_a_failed_test(self, fabric_evidence: Path, real: Project) -> None:
        facts = {
            (Path(path).name, test): (average, peak, status)
            for path, test, average, peak, status in sql_of(real)(
                "select run.raw_folder, test, avg_bus_bandwidth_gb_per_s, peak_bus_bandwidth_gb_per_s, outcome.status "
                "from fabric_outcome_fact as outcome inner join benchmark_run_fact as run on run.run_id = outcome.run_id "
                "where scope = 'test' and tool = 'nccl-tests' and node_count is not null and run.raw_folder like '%/logs/%'"
            )
        }
        count = 0
        for summary in sorted(fabric_evidence.rglob("summary.csv")):
            for line in csv.DictReader(summary.read_text().splitlines()):
                average, peak, status = facts[line["file"], line["test"]]
                stated = _AVERAGE.search(sections(summary.parent / "logs" / line["file"])[line["test"]])
                if line["avg_bus_bw_GBs"]:
                    count += 1
                    assert f"{average:.6f}" == line["avg_bus_bw_GBs"] and f"{peak:.6f}" == line["peak_busbw_GBs"]
                    assert stated and average == float(stated[1]) and status in ("measured", "reduced")
                else:
                    assert stated is None and average is None and status == "failed"
        assert count == sum(
            bool(line["avg_bus_bw_GBs"]) for path in fabric_evidence.rglob("summary.csv") for line in csv.DictReader(path.read_text().splitlines())
        )
        assert count > 0

    def test_no_issue_and_every_recognisable_log_is_claimed(self, fabric_evidence: Path, real: Project) -> None:
        sql = sql_of(real)
        # Logs of the first versions do not name their test, and logs that broke off before any line name no nodes.
        assert sql("select distinct code from ingest_issue where code not in ('test-from-file-name', 'nodes-from-file-name') or severity <> 'note'") == []
        left = {path for (path,) in sql("select raw_path from raw_artifact where family = 'unrecognised'")}
        marked = re.compile(r"Avg bus bandwidth|RDMA_Write BW|nvbandwidth Version|Gflop/s|fio version|Network Tests v")
        assert [path for path in left if path.endswith(".log") and marked.search((fabric_evidence / path).read_text(errors="replace"))] == []

    def test_three_spot_values_a_tool(self, fabric_evidence: Path, real: Project) -> None:
        def one(columns: str, where: str) -> tuple:
            (row,) = sql_of(real)(f"select {columns} from fabric_outcome_fact where {where}")
            return row

        # Read from the files by eye: `131072     2000             22750.35            21443.14  0.171545` MB/sec
        mega = Decimal(1048576) / Decimal(10) ** 9
        bandwidth = one("bandwidth_gb_per_s, peak_bandwidth_gb_per_s, message_rate_per_s", "tool = 'perftest' and message_bytes = 131072")
        assert bandwidth == pytest.approx((float(Decimal("21443.14") * mega), float(Decimal("22750.35") * mega), 171545.0))
        pair = "tool = 'nvbandwidth' and scope = 'pair' and test = 'host_to_device_memcpy_ce' and scope_name = 'CPU 1 -> GPU 2'"
        assert one("bandwidth_gb_per_s, source, target", pair) == (312.11, "CPU 1", "GPU 2")
        assert one("latency_mean_us", "test = 'host_device_latency_sm' and scope = 'pair'")[0] == pytest.approx(0.77258)
        disk = one("bandwidth_gb_per_s, io_per_s, latency_p99_us", "tool = 'fio' and direction = 'write'")
        assert disk == pytest.approx((0.348450387, 85066.128925, 2072.576))
        assert one("gflop_per_s, error_count, temperature_c", "tool = 'gpu_burn' and gpu_number = 7") == (16926.0, 0, 61.0)
        assert one("latency_mean_us", "tool = 'gpcnet' and test like '%Multiple Allreduce%' and scope = 'point'") == (10000.0,)
        assert one("count(*)", "tool = 'gpcnet' and scope = 'test' and status = 'failed'") == (1,)
        waived = (fabric_evidence / "microsoft__superbenchmark/tests/data/nvbandwidth_results.log").read_text().count("Waived:")
        assert one("count(*)", "tool = 'nvbandwidth' and status = 'waived'") == (waived,)

    def test_dimensions(self, real: Project) -> None:
        sql = sql_of(real)
        assert sql("select cluster from cluster_region_dim") == [("example-cluster01",)]
        assert ("2.29.2",) in sql("select distinct nccl_version from software_version_dim")
        assert ("12.4",) in sql("select distinct cuda_version from software_version_dim")
        (hardware,) = sql(
            "select node_count, gpu_model, gpu_count, gpus_per_node from benchmark_run_fact inner join hardware_topology_dim using (hardware_topology_key) "
            "where run_id like '%nccl_N10_G4.log/1-%'"
        )
        assert hardware == (10, "NVIDIA H100 80GB HBM3", 40, 4)
        assert sql("select count(*) from artifact_lineage_dim where is_shared_evidence") == [(0,)]


class TestCampaign:
    def test_the_slow_pair_is_found_by_sql(self, campaign: Project) -> None:
        found = sql_of(campaign)(
            "select nodes, avg_bus_bandwidth_gb_per_s, peer_median_gb_per_s, peer_count from mart.fabric_peer_comparison "
            "where test = 'alltoall_perf' and node_count = 2 and ratio_to_median < 0.8"
        )
        assert found == [("gpu01,gpu04", 5.76, 13.5, 5)]  # the median of 5.76, 13.4, 13.5, 13.55, 13.6

    def test_rank_rows_name_the_gpu_that_a_slow_test_ran_on(self, campaign: Project) -> None:
        found = sql_of(campaign)(
            "select node_name, rank_id, gpu_bus_id from fabric_outcome_fact where scope = 'rank' and avg_bus_bandwidth_gb_per_s = 5.76 order by rank_id"
        )
        assert found == [("gpu01", 0, "0000:1b:00"), ("gpu04", 1, "0000:1b:00")]

    def test_a_failed_test_is_a_row_of_the_rollup_without_a_value(self, campaign: Project) -> None:
        failed = sql_of(campaign)(
            "select test, nodes, avg_bus_bandwidth_gb_per_s, status_reason from rollup.fabric_results where status = 'failed'"
        )
        assert failed == [("sendrecv_perf", "gpu02,gpu03", None, "gpu03: Test NCCL failure common.cu:958 'unhandled system error'")]

    def test_only_a_log_that_states_its_time_has_slices(self, campaign: Project) -> None:
        found = sql_of(campaign)(
            "select scope, scope_name, value_mean, duration_s from telemetry_slice_fact where metric = 'network_bus_bandwidth_gb_per_s' "
            "order by scope, scope_name"
        )
        assert found == [("pair", "gpu01,gpu02", 0.085, 10.0), ("rank", "rank 0", 0.085, 10.0), ("rank", "rank 1", 0.085, 10.0)]

    def test_a_published_number_leads_to_its_line_and_is_replayed(self, campaign: Project, wh_on: WhOn) -> None:
        assert wh_on(campaign, "publish", "fabric_results")[0] == 0
        (number,) = sql_of(campaign)(
            "select number_ids.avg_bus_bandwidth_gb_per_s from rollup.fabric_results where avg_bus_bandwidth_gb_per_s = 5.76"
        )[0]
        status, lineage, _ = wh_on(campaign, "lineage", number)
        assert status == 0 and "nccl_N2_G1_gpu01_gpu04.log" in lineage and "# Avg bus bandwidth : 5.76" in lineage
        status, verdict, err = wh_on(campaign, "verify", number)
        assert status == 0 and "verified" in verdict + err
