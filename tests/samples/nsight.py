"""Tables of Nsight Compute 2025 and Nsight Systems 2025, and of older versions of each, as the tools print them. All figures are made up."""

from __future__ import annotations

from pathlib import Path

_HEAD = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
GEMM, NORM = "void cutlass::gemm_kernel<128, 256>(Params)", "triton_red_fused_norm_0"
_METRICS = (
    ("GPU Speed Of Light Throughput", "DRAM Frequency", "hz"), ("GPU Speed Of Light Throughput", "Duration", "us"),
    ("GPU Speed Of Light Throughput", "Memory Throughput", "%"), ("GPU Speed Of Light Throughput", "DRAM Throughput", "%"),
    ("GPU Speed Of Light Throughput", "Compute (SM) Throughput", "%"), ("Launch Statistics", "Registers Per Thread", "register/thread"),
    ("Memory Workload Analysis", "Memory Throughput", "byte/second"), ("Occupancy", "Achieved Occupancy", "%"),
)
# Kernel, and a value of each metric.
LAUNCHES = (
    (GEMM, ("3,995,313,115.40", "1,200.5", "41.5", "30.25", "80", "168", "1.5e12", "15.5")),
    (NORM, ("3,995,313,115.40", "90.25", "70", "65", "12.5", "32", "9e11", "60")),
    (GEMM, ("3,995,313,115.40", "600.5", "44.5", "33.25", "83", "168", "1.5e12", "18.5")),
)
RAW = (
    f'{_HEAD},"gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed"\n'
    '"","","","","","","","","","","","ns","%"\n'
    f'"0","371","gemm","gpu01","{GEMM}","1","7","(384, 1, 1)","(9, 32, 1)","0","10.0","406,240","23.5"\n'
)
KERNELS = f"""\
Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
61.5,6150000,300,20500.0,20400.0,19000,31000,510.5,"{GEMM}"
28.5,2850000,15,190000.0,189000.0,150000,240000,12000.0,"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
10.0,1000000,100,10000.0,9900.0,9000,15000,800.0,{NORM}
"""
OLD = """\
"Time(%)","Total Time","Instances","Average","Minimum","Maximum","Name"
"70.5","1,410,000","7","201,428.6","190,000","220,000","sgemm_128x128"
"29.5","590,000","59","10,000.0","9,000","12,000","axpy"
"""


def details() -> str:
    """What `ncu --csv` prints around the output of the program."""
    lines = ["==PROF== Connected to process 371 (/opt/bench/gemm)", "2208    2048    5608    0       358.154755      141.598150",
             "==PROF== Disconnected from process 371", f'{_HEAD},"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"']
    for number, (kernel, values) in enumerate(LAUNCHES):
        start = f'"{number}","371","gemm","gpu01","{kernel}","1","7","(384, 1, 1)","(9, 32, 1)","0","10.0"'
        lines += [f'{start},"{section}","{name}","{unit}","{value}",' for (section, name, unit), value in zip(_METRICS, values, strict=True)]
        lines.append(f'{start},"SpeedOfLight","","","","SOLBottleneck","OPT","Low utilisation, below 60.0% of peak."')
    return "\n".join(lines) + "\n"


def write_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gemm_ncu.log").write_text(details())
    (folder / "raw.csv").write_text(RAW)
    (folder / "report1_cuda_gpu_kern_sum.csv").write_text(KERNELS)
    (folder / "old_gpukernsum.csv").write_text(OLD)
