"""Tables of Nsight Compute and Nsight Systems: kernels by time, units, thousands, damaged rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from landed import Subject, codes, landed, place
from samples import nsight as sample
from standard import standard_project

from warehouse.api import Warehouse
from warehouse.evidence.objects.location import open_store
from warehouse.landing.ingest import ingest, plan_ingest
from warehouse.landing.registry import load_ingestors
from warehouse.transform.build.build import build

NSIGHT = Subject("nsight")


def of_text(tmp_path: Path, text: str, name: str = "profile.csv") -> tuple[list[dict[str, Any]], dict[str, int]]:
    (tmp_path / "tree").mkdir(exist_ok=True)
    (tmp_path / "tree" / name).write_text(text)
    rows = NSIGHT.rows(tmp_path / "tree", tmp_path / "stored")
    return rows["nsight_kernel"], dict(codes(rows))


def test_kernels_of_ncu_by_time(tmp_path: Path) -> None:
    (gemm, norm), issues = of_text(tmp_path, sample.details(), "gemm.log")
    assert issues == {}
    assert (gemm["kernel"], gemm["launch_count"], gemm["position"], gemm["kind"]) == (sample.GEMM, 2, 1, "compute")
    assert gemm["total_s"] == pytest.approx((1200.5 + 600.5) * 1e-6) and gemm["longest_s"] == pytest.approx(1200.5e-6)
    assert gemm["sm_throughput_pct"] == pytest.approx((80 * 1200.5 + 83 * 600.5) / 1801)
    # Two sections have a Memory Throughput; that of the second is in bytes per second.
    assert gemm["memory_throughput_pct"] == pytest.approx((41.5 * 1200.5 + 44.5 * 600.5) / 1801)
    assert (norm["dram_throughput_pct"], norm["achieved_occupancy_pct"]) == (65, 60)


def test_the_raw_page_has_units_in_a_row(tmp_path: Path) -> None:
    (kernel,), issues = of_text(tmp_path, sample.RAW)
    assert (kernel["total_s"], kernel["sm_throughput_pct"], kernel["achieved_occupancy_pct"], issues) == (pytest.approx(406_240e-9), 23.5, None, {})
    lines = sample.RAW.splitlines()
    assert of_text(tmp_path, "\n".join([lines[0], lines[2]]))[1] == {"missing-units": 1, "no-kernels": 1}


def test_kernels_of_nsys(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/report1_cuda_gpu_kern_sum.csv").write_text(sample.KERNELS)
    rows = NSIGHT.rows(tmp_path / "tree", tmp_path / "stored")
    first, second, _ = rows["nsight_kernel"]
    assert (first["kernel"], first["launch_count"], first["total_s"], first["longest_s"]) == (sample.GEMM, 300, pytest.approx(6.15e-3), pytest.approx(31e-6))
    assert second["kind"] == "communication" and place(second, tmp_path / "stored").startswith(b"28.5,2850000,15,")


def test_a_kernel_with_several_grids_is_one(tmp_path: Path) -> None:
    """cuda_gpu_kern_gb_sum, and gpukernsum of 2022, have a row for each grid and block of a kernel."""
    text = (
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n"
        "60.0,6000,3,2000,2000,1000,3000,1,  64    1    1, 128    1    1,gemm\n30.0,3000,1,3000,3000,3000,3000,0,1 1 1,32 1 1,norm\n"
        "10.0,1000,2,500,500,400,600,1,   8    1    1, 128    1    1,gemm\n"
    )
    kernels, issues = of_text(tmp_path, text)
    assert [(row["kernel"], row["launch_count"], row["total_s"], row["longest_s"]) for row in kernels] == [
        ("gemm", 5, pytest.approx(7e-6), pytest.approx(3e-6)), ("norm", 1, pytest.approx(3e-6), pytest.approx(3e-6)),
    ]
    stated = place(kernels[0], tmp_path / "stored")
    assert stated.startswith(b"60.0,6000,") and stated.endswith(b"128    1    1,gemm") and issues == {}


def test_what_is_no_kernel_is_left_out(tmp_path: Path) -> None:
    """cuda_api_gpu_sum lists calls of the API, too; mpi_event_sum has the columns of a summary of kernels, and Source."""
    summary = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),"
    mixed = (
        f"{summary}Category,Operation\n50.0,5000,1,5000,5000,5000,5000,0,CUDA_API,cudaLaunchKernel\n"
        "30.0,3000,1,3000,3000,3000,3000,0,CUDA_KERNEL,gemm\n20.0,2000,1,2000,2000,2000,2000,0,MEMORY_OPER,[CUDA memcpy Host-to-Device]\n\n"
    )
    mpi = f"{summary}Source,Name\n100.0,9000,4,2250,2250,2250,2250,0,MPI_COLLECTIVES_EVENTS,MPI_Allreduce\n"
    kernels, issues = of_text(tmp_path, mixed + mpi)
    assert [(row["kernel"], row["kind"]) for row in kernels] == [("gemm", "compute"), ("[CUDA memcpy Host-to-Device]", "memory")] and issues == {}
    (tmp_path / "tree/profile.csv").write_text(mpi)
    assert NSIGHT.drafts(tmp_path / "tree") == []


def test_single_metrics_of_ncu_have_their_own_names(tmp_path: Path) -> None:
    """`ncu --metrics gpu__time_duration.sum --csv` prints the details page with the section Command line profiler metrics."""
    header = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value"'
    row = '"{}","7","app","127.0.0.1","gemm","1","7","Command line profiler metrics","gpu__time_duration.sum","nsecond","{}"'
    (kernel,), issues = of_text(tmp_path, "\n".join([header, row.format(0, "1,200"), row.format(1, "800"), ""]))
    assert (kernel["launch_count"], kernel["total_s"], issues) == (2, pytest.approx(2e-6), {})


@pytest.mark.parametrize(("unit", "total"), [("ns", 6.15e-3), ("us", 6.15), ("ms", 6150), ("fortnights", None)])
def test_times_of_nsys_are_in_the_header_s_unit(tmp_path: Path, unit: str, total: float | None) -> None:
    kernels, issues = of_text(tmp_path, sample.KERNELS.replace("(ns)", f"({unit})"))
    assert [kernel["total_s"] for kernel in kernels][:1] == ([pytest.approx(total)] if total else [])
    assert issues == ({} if total else {"unknown-unit": 3, "no-kernels": 1})


def test_old_summaries_have_thousands_and_no_unit(tmp_path: Path) -> None:
    kernels, issues = of_text(tmp_path, sample.OLD)
    assert [(kernel["kernel"], kernel["total_s"], kernel["launch_count"]) for kernel in kernels] == [
        ("sgemm_128x128", pytest.approx(1.41e-3), 7), ("axpy", pytest.approx(0.59e-3), 59),
    ]
    assert issues == {}


def test_a_launch_without_duration_leaves_the_time_of_its_kernel_unknown(tmp_path: Path) -> None:
    text = "\n".join(line for line in sample.details().splitlines() if not (line.startswith('"2"') and "Duration" in line))
    by_name = {kernel["kernel"]: kernel for kernel in of_text(tmp_path, text)[0]}
    assert (by_name[sample.GEMM]["total_s"], by_name[sample.GEMM]["sm_throughput_pct"], by_name[sample.GEMM]["launch_count"]) == (None, None, 2)
    assert by_name[sample.NORM]["total_s"] == pytest.approx(90.25e-6)


def test_damaged_cells_are_reported(tmp_path: Path) -> None:
    text = sample.details().replace('"1,200.5"', '"1,20.5"').replace('"Duration","us","90.25"', '"Duration","furlong","90.25"')
    kernels, issues = of_text(tmp_path, text)
    assert issues == {"not-a-number": 1, "unknown-unit": 1} and {kernel["total_s"] for kernel in kernels} == {None}
    assert of_text(tmp_path, sample.KERNELS.replace(",Name", ",Other"), "other.csv")[0]  # the first profile; the other is none


def test_a_profile_becomes_a_run(tmp_path: Path) -> None:
    sample.write_all(tmp_path / "tree")
    (tmp_path / "tree/failed.log").write_text("==ERROR== The user does not have permission.\n" + sample.details().replace("371", "372"))
    warehouse = Warehouse(standard_project(tmp_path / "project"))
    ingest(plan_ingest(tmp_path / "tree", load_ingestors(warehouse.project).values()), open_store(warehouse.project), "evidence")
    assert not build(warehouse.project).damaged
    runs = warehouse.sql("select benchmark_case_id, status, status_reason from benchmark_run_fact order by benchmark_case_id").to_pylist()
    assert [(run["benchmark_case_id"], run["status"], run["status_reason"]) for run in runs] == [
        ("nsight/failed", "failed", "The user does not have permission."), ("nsight/gemm_ncu", "succeeded", None),
        ("nsight/old_gpukernsum", "succeeded", None), ("nsight/raw", "succeeded", None), ("nsight/report1_cuda_gpu_kern_sum", "succeeded", None),
    ]
    (count,) = warehouse.sql("select count(*) as n from kernel_time_fact").to_pylist()
    assert count["n"] == 2 + 2 + 2 + 1 + 3


def test_a_real_profile(fabric_evidence: Path, tmp_path: Path) -> None:
    rows = landed(NSIGHT.ingestor, fabric_evidence, tmp_path)
    (kernel,) = rows["nsight_kernel"]
    assert codes(rows) == {} and kernel["kernel"].startswith("cutlass3x_sm100_tensorop")
    # Read from the file by eye.
    assert (kernel["total_s"], kernel["sm_throughput_pct"], kernel["memory_throughput_pct"], kernel["dram_throughput_pct"], kernel["achieved_occupancy_pct"]) == (
        pytest.approx(406_240e-9), pytest.approx(23.59), pytest.approx(21.68), pytest.approx(0.74), pytest.approx(15.53)
    )
