"""Small outputs of tools of the operating system and of drivers, in their formats. All machines and figures are made up."""

from __future__ import annotations

import json
from pathlib import Path

UUID = "GPU-5e1b6f0a-93c1-4c7d-8a11-2f00c1d2e3f4"
XID_79 = "NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
# What each message is an event of.
MESSAGES = {
    "Linux version 6.8.0-49-generic (buildd@lcy02) (gcc 13.2.0) #49-Ubuntu SMP": None,
    f"NVRM: GPU at PCI:0000:41:00: {UUID}": None,
    XID_79: "xid",
    "NVRM: Xid (PCI:0000:c1:00): 31, pid=4242, name=python3, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS": "xid",
    "nvidia-nvswitch3: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)": "sxid",
    "nvidia-nvswitch1: SXid (PCI:0000:83:00.0): 20034, Fatal, Link 30 LTSSM Fault Up": "sxid-fatal",
    "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 7: 8c00004000010090": "machine-check",
    "EDAC MC1: 1 CE memory read error on CPU_SrcID#0_MC#1_Chan#0_DIMM#0 (channel:0 slot:0 page:0x1f2 offset:0x0)": "memory-corrected",
    "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#1 (channel:1 slot:1)": "memory-uncorrected",
    "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:9000kB, anon-rss:8000kB": "oom-cgroup",
    "Out of memory: Killed process 4243 (vllm) total-vm:9000kB, anon-rss:8000kB": "oom",
    "pcieport 0000:40:01.0: AER: Corrected error received: 0000:41:00.0": "pcie-corrected",
    "pcieport 0000:40:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:41:00.0": "pcie-uncorrected",
    "mlx5_core 0000:5e:00.0 ens1f0np0: Link down": "link-down",
    "mlx5_core 0000:5e:00.0 ens1f0np0: Link up": None,
    "blk_update_request: I/O error, dev sdb, sector 2048 op 0x0:(READ) flags 0x0": "io-error",
    "nvme nvme0: I/O 12 QID 3 timeout, aborting": "io-timeout",
    "EXT4-fs (sda1): mounted filesystem with ordered data mode": None,
    "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0": "filesystem-error",
    "nfs: server store1 not responding, still trying": "storage-server",
    "mce: CPU12: Core temperature above threshold, cpu clock throttled (total events = 1)": "cpu-throttled",
    "watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [python3:4242]": "cpu-stalled",
    "INFO: task python3:4242 blocked for more than 120 seconds.": "task-blocked",
}


def kernel_logs() -> dict[str, str]:
    """The messages as each program writes them, a second apart, from 10:00:00 UTC on; by file name."""
    said = list(enumerate(MESSAGES))
    day, clock = "2026-03-02", [f"10:00:{second:02}" for second, _ in said]
    return {
        "dmesg-gpu07.txt": "".join(f"[{second:5}.000000] {message}\n" for second, message in said),
        "dmesg-x.txt": "".join(f"kern  :warn  : [{second:5}.000000] {message}\n" for second, message in said),
        "dmesg-T.txt": "".join(f"[Mon Mar  2 {clock[second]} 2026] {message}\n" for second, message in said),
        "dmesg-iso.txt": "".join(f"{day}T{clock[second]},000000+00:00 {message}\n" for second, message in said),
        "journal-iso.log": "-- Boot 8a1b --\n" + "".join(f"{day}T{clock[second].replace('10:', '12:', 1)}+0200 gpu07 kernel: {message}\n" for second, message in said),
        "journal-short.log": "".join(f"Mar 02 {clock[second]} gpu07 kernel: {message}\n" for second, message in said),
        "journal-unix.log": "".join(f"{1772445600 + second}.000000 gpu07 kernel: {message}\n" for second, message in said),
        "journal.json": "".join(
            json.dumps({"__REALTIME_TIMESTAMP": f"{1772445600 + second}000000", "_HOSTNAME": "gpu07", "_TRANSPORT": "kernel", "MESSAGE": message}) + "\n"
            for second, message in said
        ),
        "dmesg.json": json.dumps({"dmesg": [{"pri": 4, "time": float(second), "msg": message} for second, message in said]}, indent=3) + "\n",
    }


DIAG_3 = {
    "DCGM GPU Diagnostic": {
        "Driver Version Detected": "550.54.15", "GPU Device IDs": ["2330", "2330"], "version": "3.3.5",
        "test_categories": [
            {"category": "Deployment", "tests": [{"name": "Denylist", "results": [{"gpu_ids": "0,1", "status": "Pass"}]}]},
            {"category": "Integration", "tests": [{"name": "PCIe", "results": [
                {"gpu_id": "0", "info": "GPU to Host bandwidth: 24.9 GB/s", "status": "Pass"},
                {"gpu_id": "1", "status": "Fail", "warnings": "GPU 1 is running at PCI link width 8X, below the minimum 16X"},
            ]}]},
        ],
    },
}
DIAG_4 = {
    "DCGM Diagnostic": {
        "metadata": {"version": "4.2.3", "Driver Version Detected": "570.124.06"},
        "entity_groups": [{"entity_group": "GPU", "entity_group_id": 1, "entities": [{"entity_id": 0}, {"entity_id": 1}]}],
        "test_categories": [{"category": "Hardware", "tests": [{"name": "memory", "results": [
            {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 0, "status": "Pass"},
            {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 1, "status": "Warn", "warnings": [
                {"warning": "A row remapping is pending", "error_id": 83, "error_category": 7, "error_severity": 2},
            ]},
            {"entity_group": "GPU", "entity_group_id": 1, "entity_id": 2, "status": "Skip"},
        ], "test_summary": {"status": "Warn"}}]}],
    },
}
HEALTH = """\
+---------------------------+----------------------------------------------------------+
| Health Monitor Report                                                                |
+===========================+==========================================================+
| Overall Health            | Warning                                                  |
| GPU                       |                                                          |
| -> 0                      | Healthy                                                  |
| -> 1                      | Warning                                                  |
|    -> Errors              |                                                          |
|       -> PCIe system      | Warning                                                  |
|                           | Detected 13 PCIe replays per minute                      |
|                           | for GPU 1.                                               |
+---------------------------+----------------------------------------------------------+
"""
HEALTH_OF_DCGM_1 = """\
+------------------+---------------------------------------------------------+
| Health Monitor Report                                                      |
| Overall Health: Warning                                                    |
+==================+=========================================================+
| GPU ID: 1        | Warning                                                 |
|                  | PCIe system: Warning - Detected more than 8 PCIe        |
|                  | replays per minute for GPU 1: 13                        |
+------------------+---------------------------------------------------------+
"""
HEALTH_JSON = {
    "body": {
        "GPU": {"children": {"1": {"value": "Warning", "children": {"Errors": {"children": {"PCIe system": {
            "value": "Warning", "children": {"Error": {"value": "Detected 13 PCIe replays per minute"}},
        }}}}}}},
        "Overall Health": {"value": "Warning"},
    },
    "header": ["Health Monitor Report"],
}
TOPOLOGY = (
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPIX\t0-31,64-95\t0\t\tN/A\nGPU1\tNV18\t X \tSYS\t32-63\t1\t\tN/A\nNIC0\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)\n"
    "\nNIC Legend:\n\n  NIC0: mlx5_0\n"
)
NVLINK_SPEEDS = f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUID})\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n\t Link 2: 26.562 GB/s\n"
NVLINK_ERRORS = (
    f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUID})\n\t Link 0: Replay Errors: 4\n\t Link 0: Recovery Errors: 2\n\t Link 0: CRC Errors: 0\n"
    "\t Link 1: Replay Errors: 0\n\t Link 1: Recovery Errors: 0\n\t Link 1: CRC Errors: 0\n"
)
LSPCI = """\
00:01.0 PCI bridge: Intel Corporation Device 352a (rev 04) (prog-if 00 [Normal decode])
	Control: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
	NUMA node: 0
	Capabilities: [40] Express (v2) Root Port (Slot+), MSI 00
		LnkCap:	Port #1, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <16us
		LnkSta:	Speed 8GT/s (downgraded), Width x8 (downgraded)

41:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
	Subsystem: NVIDIA Corporation Device 16c1
	NUMA node: 1
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevSta:	CorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 2.5GT/s (downgraded), Width x8 (downgraded)
	Capabilities: [100 v2] Advanced Error Reporting
		UESta:	DLP- SDES- TLP- FCP- CmpltTO+ CmpltAbrt- UnxCmplt- RxOF- MalfTLP- ECRC- UnsupReq+ ACSViol-

5e:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]
	Subsystem: Mellanox Technologies Device 0041
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 16GT/s (downgraded), Width x16
"""
IBDIAGNET = """\
Running version:   "IBDIAGNET 2.9.0","IBDIAG 2.1.1.b5f7c3c"
Discovery
-I- Discovering ... 25 nodes (5 Switches & 20 CA-s) discovered.
-I- Fabric Discover finished successfully
Links Check
-E- Link: S0c42a10300f31bdc/U1/P13<-->host12/mlx5_0/P1 - Unexpected actual link speed 25 (enable_speed2 "2.5 or 5 or 10 or 14 or 25 or 50")
---------------------------------------------
Summary
-I- Stage                     Warnings   Errors     Comment
-I- Discovery                 0          0
-I- Links Check               0          1          Some links are slow
-I- Port Counters             4          0
-I- You can find detailed errors/warnings in: /var/tmp/ibdiagnet2/ibdiagnet2.log
"""
PERF = (
    "# started on Mon Mar  2 10:00:00 2026\n\n8012.50,msec,task-clock,8012500000,100.00,0.998,CPUs utilized\n12,,context-switches,8012500000,100.00,1.498,/sec\n"
    "<not supported>,,cycles,0,100.00,,\n"
)
PERF_IN_INTERVALS = (
    "# started on Mon Mar  2 10:00:00 2026\n\n     1.000123456,S0,1,1024.50,MiB,uncore_imc/cas_count_read/,1000123456,100.00,,\n"
    "     2.000234567,S0,1,2048.00,MiB,uncore_imc/cas_count_read/,1000111111,100.00,,\n"
)
NUMASTAT = (
    "                           node0           node1\nnuma_hit                 1299890         2299890\nnuma_miss                      0              17\n"
    "other_node                     3              20\n"
)
NUMASTAT_OF_PROCESSES = (
    "\nPer-node process memory usage (in MBs)\nPID              Node 0          Node 1           Total\n---------------  --------------- --------------- ---------------\n"
    "4242 (python3)          1204.50          310.25         1514.75\n---------------  --------------- --------------- ---------------\n"
    "Total                   1204.50          310.25         1514.75\n"
)
VMSTAT = (
    "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n"
    " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n"
    " 1  0      0 129170 28172 247962    0    0 37409   399 1494    0  2  1 97  0  0 2026-03-02 10:00:00\n"
    " 6  2      0 129171 28172 247988    0    0     0     0  204  116 60 10 20 10  0 2026-03-02 10:00:01\n"
)
IOSTAT = {"sysstat": {"hosts": [{
    "nodename": "gpu07", "sysname": "Linux", "release": "6.8.0", "machine": "x86_64", "number-of-cpus": 64, "date": "2026-03-02",
    "statistics": [
        {"timestamp": f"2026-03-02T10:00:0{second}+0000", "avg-cpu": {"user": 3.5, "nice": 0.0, "system": 1.0, "iowait": wait, "steal": 0.0, "idle": 90.0},
         "disk": [{"disk_device": "nvme0n1", "r/s": 120.0, "rkB/s": 2048.0, "r_await": 0.4, "aqu-sz": 1.5, "util": wait}]}
        for second, wait in enumerate((0.1, 40.0, 60.0))
    ],
}]}}
PIDSTAT = (
    "Linux 6.8.0-49-generic (gpu07) \t03/02/2026 \t_x86_64_\t(64 CPU)\n\n"
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
    "1772445601      0      4242   95.00    5.00    0.00   30.00  100.00     3    120.00      2.00 9000000  204800   0.71   1024.00     -1.00      0.00       0  python3 train.py\n"
    "Average:        0      4242   95.00    5.00    0.00   30.00  100.00     -    120.00      2.00 9000000  204800   0.71   1024.00     -1.00      0.00       0  python3 train.py\n"
)
FILES = {
    "diag-3.json": json.dumps(DIAG_3, indent=2), "diag-4.json": json.dumps(DIAG_4), "health.txt": HEALTH, "health-1.txt": HEALTH_OF_DCGM_1,
    "health.json": json.dumps(HEALTH_JSON), "topo-gpu07.txt": TOPOLOGY, "nvlink-s.txt": NVLINK_SPEEDS, "nvlink-e.txt": NVLINK_ERRORS,
    "lspci-vvv-gpu07.txt": LSPCI, "ibdiagnet2.log": IBDIAGNET, "perf.csv": PERF, "perf-I.csv": PERF_IN_INTERVALS, "numastat.txt": NUMASTAT,
    "numastat-p.txt": NUMASTAT_OF_PROCESSES, "vmstat-gpu07.txt": VMSTAT, "iostat.json": json.dumps(IOSTAT), "pidstat.txt": PIDSTAT,
}


def write_all(folder: Path) -> None:
    for name, text in (kernel_logs() | FILES).items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
