"""Small logs of fabric and node checks in the tools' own formats, made here: no line is taken from anybody's run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

Cells = Sequence[tuple[str, str, str, str]]  # time, algbw, busbw, #wrong

_HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  {wrong}     time   algbw   busbw  {wrong}
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""
SIZES = (1048576, 2097152)  # bytes; the algorithm bandwidth is the size / the time
ROWS: Cells = (("50.27", "20.86", "10.43", "0"), ("99.91", "20.99", "10.50", "0"), ("45.00", "23.30", "11.65", "N/A"), ("5.2e+04", "0.04", "0.02", "N/A"))
# Of a test whose bus bandwidth is the algorithm's.
ONE_BY_ONE: Cells = tuple((time, bus, bus, wrong) for time, (_, _, bus, wrong) in zip(("100.5", "199.7", "90.00", "1.0e+05"), ROWS, strict=True))


def even(bus: str, factor: float = 0.5) -> Cells:
    """Rows with one bus bandwidth, which is the average too."""
    alg = round(float(bus) / factor, 2)
    return [(f"{size / alg / 1e3 if alg else 0:.2f}", f"{alg:.2f}", f"{float(bus):.2f}", "0") for size in SIZES * 2]


def nccl_section(
    test: str = "alltoall_perf", nodes: Sequence[str] = ("gpu01", "gpu02"), gpus: int = 1, average: str | None = "8.15 ",
    *, has_version: bool = True, reduced_to: int | None = None, bounds: str = "0 OK", rows: Cells = ROWS, error: str = "",
    wrong: str = "#wrong",
) -> str:
    """A test of nccl-tests 2.17, an all-to-all of two ranks if nothing else is asked for: two sizes, out of place and in place (`rows`: two and two). `average` None: it died."""
    lines = ["# nccl-tests version 2.17.8 nccl-headers=22902 nccl-library=22902"] if has_version else []
    lines += [
        f"# Collective test starting: {test}",
        "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
        "#", "# Using devices",
    ]
    rank = 0
    for node in nodes:
        for device in range(gpus):
            lines.append(f"#  Rank {rank:2} Group  0 Pid {7000 + rank} on {node:>10} device {device:2} [0000:{device + 27:02x}:00] NVIDIA H900 80GB")
            rank += 1
    if reduced_to is not None:
        lines += ["#", f"# Reducing maxBytes to {reduced_to} due to memory limitation"]
    lines += ["#", *_HEADER.format(wrong=wrong).splitlines()]
    if error:
        lines.append(error)
    if average is not None:
        for size, out, inside in zip(SIZES, rows[:2], rows[2:], strict=True):
            cells = "   ".join("{:>7}  {:>6}  {:>6}  {:>6}".format(*half) for half in (out, inside))
            lines.append(f"{size:12}  {size // 4:12}     float     sum      -1  {cells}")
        lines += [f"# Out of bounds values : {bounds}", f"# Avg bus bandwidth    : {average}", "#", f"# Collective test concluded: {test}", "#", ""]
    return "\n".join(lines) + "\n"


OLD_ALL_GATHER = """\
# nThread 1 nGpus 2 minBytes 1 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 0
#
# Using devices
#   Rank  0 Pid   4242 on old-host device  0 [0x07] Tesla V900
#   Rank  1 Pid   4242 on old-host device  1 [0x0f] Tesla V900
#
#                                             out-of-place                       in-place
#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
old-host:4242:4242 [0] NCCL INFO Launch mode Parallel
           0             0   float    34.27    0.00    0.00    N/A    33.57    0.00    0.00    N/A
           0             0   float    33.41    0.00    0.00    N/A    33.62    0.00    0.00    N/A
          32             4   float     3.20    0.01    0.01  1e-07     1.07    0.03    0.02  2e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.005
#
"""

OLD_RCCL = """\
build/reduce_perf -g 1 -b 1024 -e 2048 -f 2
# nThreads: 1 nGpus: 1 nRanks: 2 minBytes: 1024 maxBytes: 2048 step: 2(factor) warmupIters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
rccl-tests: Version develop:abc1234
# Using devices
#   Rank  0 Pid   4791 on    node-a device  0 [0000:03:00.0] AMD Instinct MI900
#   Rank  1 Pid   5418 on    node-b device  0 [0000:03:00.0] AMD Instinct MI900
RCCL version : 2.27.7-develop:29e1567
HIP version  : 7.0.51831-a3e329ad8
ROCm version : 7.0.1.0-42-9428210
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum       0    47.35    0.02    0.02      0    45.17    0.02    0.02      3
# Out of bounds values : 3 FAILED
# Avg bus bandwidth    : 0.02
#
"""

WRITE_BW = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_9
 Number of qps   : 4\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : IB
---------------------------------------------------------------------------------------
 local address: LID 0x40 QPN 0x038e PSN 0x85d384 RKey 0x1812d1 VAddr 0x007a176aa8c000
 remote address: LID 0x6e QPN 0x0562 PSN 0xef405d RKey 0x1832f1 VAddr 0x0073636820b000
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 3393.700000 != 1500.000000. CPU Frequency is not max.
 65536      5000             {peak}              100.00\t\t   0.190735
---------------------------------------------------------------------------------------
"""

READ_LAT = """\
                    RDMA_Read Latency Test
 Dual-port       : OFF          Device         : mlx5_9
---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]
 2       1000          0.87           4.70         0.89              0.90         0.08           0.95        1.25
"""

NVBANDWIDTH = """\
nvbandwidth Version: v0.8
Built from Git version: v0.8

CUDA Runtime Version: 12040
CUDA Driver Version: 12040
Driver Version: 550.54.15

Device 0: NVIDIA H900 (00000000:1b:00)
Device 1: NVIDIA H900 (00000000:43:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.50     44.25

SUM host_to_device_memcpy_ce 99.75

Waived: no such thing here
Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    276.07
 1    276.19       N/A

SUM device_to_device_memcpy_read_ce 552.26

Running host_device_latency_sm.
memory latency SM CPU(row) <-> GPU(column) (ns)
           0         1
 0    772.50    800.00

SUM host_device_latency_sm 1572.50

Running multinode_thing.
Waived: needs more nodes
Running device_local_copy.
[CUDA_ERROR_LAUNCH_FAILED] unspecified launch failure in expression cuStreamSynchronize(stream) in main() : memcpy.cpp:1
"""

NVBANDWIDTH_JSON = json.dumps({"nvbandwidth": {
    "CUDA Runtime Version": 12080, "Driver Version": "570.1", "version": "v0.9", "GPU Device list": ["0: NVIDIA H900 (00000000:1b:00)"],
    "testcases": [
        {"name": "device_to_device_memcpy_read_ce", "status": "Passed", "sum": 552.26,
         "bandwidth_description": "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)", "bandwidth_matrix": [["N/A", "276.07"], ["276.19", "N/A"]]},
        {"name": "multinode_thing", "status": "Waived"},
    ],
}}, indent=2) + "\n"

IPERF3_TEXT = """\
Connecting to host 10.0.0.2, port 5201
[  5] local 10.0.0.1 port 40100 connected to 10.0.0.2 port 5201
[  7] local 10.0.0.1 port 40102 connected to 10.0.0.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   113 MBytes   951 Mbits/sec    0    434 KBytes
[  7]   0.00-1.00   sec   113 MBytes   949 Mbits/sec    0    434 KBytes
[SUM]   0.00-1.00   sec   226 MBytes  1.90 Gbits/sec    0
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec    2             sender
[  5]   0.00-10.04  sec  1.08 GBytes   930 Mbits/sec                  receiver
[  7]   0.00-10.00  sec  1.09 GBytes   938 Mbits/sec    1             sender
[  7]   0.00-10.04  sec  1.08 GBytes   928 Mbits/sec                  receiver
[SUM]   0.00-10.00  sec  2.18 GBytes  1.88 Gbits/sec    3             sender
[SUM]   0.00-10.04  sec  2.16 GBytes  1.86 Gbits/sec                  receiver

iperf Done.
"""

RCCL_REPORT = """\
[
{"numCycle":0, "name":"AllReduce", "nodes":2, "ranks":16, "ranksPerNode":8, "gpusPerRank":1, "size":1024, "type":"float", "redop":"sum", "inPlace":0, "time":12.500000, "algBw":0.081920, "busBw":0.153600, "wrong":"0"},
{"numCycle":0, "name":"AllReduce", "nodes":2, "ranks":16, "ranksPerNode":8, "gpusPerRank":1, "size":1024, "type":"float", "redop":"sum", "inPlace":1, "time":12.250000, "algBw":0.083500, "busBw":0.156500, "wrong":"N/A"}
]
"""

GPCNET_LOAD = """\
NetworkLoad Tests v1.3
  Test with 2048 MPI ranks (64 nodes)
+------------------------------------------------------------------------------+
|                            Isolated Network Tests                            |
+---------------------------------+--------------+--------------+--------------+
|                            Name |          Avg |          99% |        Units |
+---------------------------------+--------------+--------------+--------------+
|          RR Two-sided Lat (8 B) |          2.9 |          4.3 |         usec |
+---------------------------------+--------------+--------------+--------------+
| RR Two-sided BW+Sync (131072 B) |       4000.0 |       2829.5 |   MiB/s/rank |
+---------------------------------+--------------+--------------+--------------+
|          Network Tests running with Congestion Tests - Key Results           |
+---------------------------------+--------------------------------------------+
|                            Name |                   Congestion Impact Factor |
+---------------------------------+----------------------+---------------------+
|                                 |                  Avg |                 99% |
+---------------------------------+----------------------+---------------------+
|          RR Two-sided Lat (8 B) |                 1.5X |                2.0X |
+---------------------------------+----------------------+---------------------+
"""

GPU_BURN = (
    "GPU 0: NVIDIA H900 (UUID: GPU-aaaa)\nGPU 1: NVIDIA H900 (UUID: GPU-bbbb)\n"
    "Initialized device 0 with 81251 MB of memory (80493 MB available, using 72443 MB of it), using FLOATS\n"
    "\r10.0%  proc'd: 2261 (7150 Gflop/s) - 0 (0 Gflop/s)   errors: 0 - 0   temps: 38 C - -- "
    "\r60.0%  proc'd: 4522 (16000 Gflop/s) - 2261 (15000 Gflop/s)   errors: 0 - 7  (WARNING!)  temps: 60 C - 61 C "
    "\r100.0%  proc'd: 6783 (16500 Gflop/s) - 4522 (15500 Gflop/s)   errors: 0 - 0   temps: 62 C - 63 C \n"
    "Killing processes.. done\n\nTested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: FAULTY\n"
)

FIO_TEXT = """\
randread: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64
...
fio-3.35
Starting 4 processes

randread: (groupid=0, jobs=4): err= 0: pid=5178: Wed May 12 11:01:45 2021
  read: IOPS=67.4k, BW=263MiB/s (276MB/s)(100GiB/97218msec)
    slat (nsec): min=49, max=21670, avg=183.82, stdev=223.87
    clat (usec): min=16, max=12159, avg=144.90, stdev=161.22
     lat (usec): min=17, max=12159, avg=145.05, stdev=161.23
    clat percentiles (usec):
     |  1.00th=[   38], 50.00th=[   96], 90.00th=[  400], 95.00th=[  545],
     | 99.00th=[  742], 99.90th=[ 1237], 99.99th=[ 2147]
   bw (  MiB/s): min=  746, max= 1398, per=100.00%, avg=1067.44, stdev= 9.28, samples=1908

Run status group 0 (all jobs):
   READ: bw=263MiB/s (276MB/s), 263MiB/s-263MiB/s (276MB/s-276MB/s), io=100GiB (107GB), run=97218-97218msec
"""

FIO_JSON = json.dumps({
    "fio version": "fio-2.2.10", "timestamp": 1626763278, "time": "Tue Jul 20 06:41:18 2021",
    "jobs": [{
        "jobname": "seq", "error": 0, "job options": {"rw": "read", "bs": "1M", "filename": "/dev/nvme9n1"},
        "read": {"io_bytes": 1024, "bw": 2048, "iops": 512.5, "runtime": 30002, "clat": {"min": 10, "max": 90, "mean": 20.5, "stddev": 1.5, "percentile": {"50.000000": 19, "99.000000": 80}}},
        "write": {"io_bytes": 0, "bw": 0, "iops": 0.0, "clat": {"mean": 0.0}},
    }],
}, indent=2)

IPERF3 = json.dumps({
    "start": {
        "connected": [{"socket": 5, "local_host": "10.0.0.1", "remote_host": "10.0.0.2"}], "version": "iperf 3.9",
        "timestamp": {"time": "Tue, 20 Jul 2021 06:41:18 GMT", "timesecs": 1626763278},
        "test_start": {"protocol": "TCP", "num_streams": 1, "duration": 10, "reverse": 0},
    },
    "intervals": [],
    "end": {
        "streams": [{
            "sender": {"socket": 5, "seconds": 10, "bits_per_second": 8e9, "retransmits": 3, "min_rtt": 100, "max_rtt": 400, "mean_rtt": 250},
            "receiver": {"socket": 5, "seconds": 10, "bits_per_second": 7.2e9},
        }],
        "sum_sent": {"bits_per_second": 8e9, "retransmits": 3}, "sum_received": {"bits_per_second": 7.2e9},
        "cpu_utilization_percent": {"host_total": 12.5},
    },
}, indent="\t")

NCCL_JSON = json.dumps({
    "version": 2, "start_time": "2026-01-28 01:07:02", "args": ["./build/all_reduce_perf", "-J", "x.json"], "env": ["SECRET=hunter2"], "nccl_version": 22902,
    "config": {
        "nthreads": 1, "ngpus": 1, "minimum_bytes": 1024, "maximum_bytes": 1024, "step_factor": 2, "warmup_iters": 1, "iterations": 20,
        "aggregated_iterations": 1, "validation": 1, "graph": 0,
        "devices": [
            {"rank": rank, "group": 0, "pid": 1, "hostname": f"gpu0{rank + 1}", "device": 0, "device_hex": "0000:1b:00", "device_info": "NVIDIA H900"}
            for rank in range(2)
        ],
    },
    "results": [{
        "size": 1024, "count": 256, "type": "float", "redop": "sum", "root": "    -1",
        "out_of_place": {"time": 12.5, "alg_bw": 0.08, "bus_bw": 0.08, "nwrong": 0.0}, "in_place": {"time": 12.0, "alg_bw": 0.09, "bus_bw": 0.09, "nwrong": None},
        "actual_iterations": 20, "experiment_name": "",
    }],
    "out_of_bounds": {"count": 0, "okay": "true"}, "average_bus_bandwidth": {"bandwidth": 0.085, "okay": "unchecked"}, "errors": [], "end_time": "2026-01-28 01:07:12",
}, separators=(",", ":"))

# Pairs of one campaign, GB/s; one pair is slow.
PAIRS = {("gpu01", "gpu02"): "13.5", ("gpu01", "gpu03"): "13.4", ("gpu01", "gpu04"): "5.76", ("gpu02", "gpu03"): "13.6", ("gpu02", "gpu04"): "13.55"}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_logs(top: Path) -> None:
    """A file of every tool's every format, and a campaign."""
    logs = {
        "old_all_gather": OLD_ALL_GATHER, "rccl": OLD_RCCL,
        "write_bw": WRITE_BW.format(unit="Gb/sec", peak="1.5"), "read_lat": READ_LAT, "nvbandwidth": NVBANDWIDTH,
        "gpcnet": GPCNET_LOAD, "gpu_burn": GPU_BURN, "fio": FIO_TEXT, "iperf3": IPERF3_TEXT,
    }
    documents = {"nccl": NCCL_JSON, "rccl": RCCL_REPORT, "nvbandwidth": NVBANDWIDTH_JSON, "fio": FIO_JSON, "iperf3": IPERF3}
    for name, text in logs.items():
        write(top / "logs" / f"{name}.log", text)
    for name, text in documents.items():
        write(top / "documents" / f"{name}.json", text)
    write_campaign(top / "campaigns", pairs=1)


def write_campaign(top: Path, cluster: str = "cluster-x", pairs: int = len(PAIRS), **summary_changes: str) -> Path:
    """A pairwise campaign of the first `pairs` as nccl-tests-cluster lays it out: a log a pair, a test that died, and the summary of all."""
    folder = top / "benchmarks" / cluster / "nccl-benchmark-results" / "pairwise" / "runs" / "20260128-010702" / "without-debug"
    lines = ["file,test,N,G,nodes,minBytes,maxBytes,avg_bus_bw_GBs,peak_busbw_GBs"]
    for (a, b), average in list(PAIRS.items())[:pairs]:
        name = f"nccl_N2_G1_{a}_{b}.log"
        died = (a, b) == ("gpu02", "gpu03")
        text = nccl_section(nodes=(a, b), average=average, rows=even(average))
        text += nccl_section("sendrecv_perf", (a, b), average=None if died else "9.5", rows=even("9.5", 1), error="gpu03: Test NCCL failure common.cu:958 'unhandled system error'" if died else "")
        write(folder / "logs" / name, text)
        both = f'"gpu[{a[-2:]},{b[-2:]}]"'
        lines.append(f"{name},alltoall_perf,2,1,{both},1048576,4194304,{summary_changes.get(name, f'{float(average):.6f}')},{float(average):.6f}")
        lines.append(f"{name},sendrecv_perf,2,1,{both},1048576,4194304,{',' if died else '9.500000,9.500000'}")
    write(folder / "summary.csv", "\n".join(lines) + "\n")
    write(folder / "summary.md", "| file |\n")
    return top
