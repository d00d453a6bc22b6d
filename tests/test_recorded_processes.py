"""What the recorder samples of the command's own processes, of the node and of what the command belongs to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warehouse.record.command import record
from warehouse.record.kernel import Cgroup, disk_counters, interface_counters, kernel_counters, kernel_states, port_counters
from warehouse.record.membership import describe_membership
from warehouse.record.processes.numa_placement import NumaPlacement
from warehouse.record.processes.process_tree import ProcessTree
from warehouse.record.unread import unread

# A parent that computes, and children that compute one after another and are waited for: their use moves to the parent when they end.
FAMILY = """
import os, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
for _ in range(3):
    child = os.fork()
    if child == 0:
        burn(0.3)
        os._exit(0)
    os.waitpid(child, 0)
    burn(0.1)
with open("written", "wb") as stream:
    stream.write(bytes(5 << 20))
"""


SERVER = """
import http.server, threading, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        end = time.thread_time() + 0.02
        while time.thread_time() < end: pass
        self.send_response(204)
        self.end_headers()
    def log_message(self, *said): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
CLIENT = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
for _ in range(40):
    connection.request("GET", "/")
    connection.getresponse().read()
"""


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_tree_has_used_what_the_system_says_of_it_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [run] = record([sys.executable, "-c", FAMILY], tmp_path / "recording", sample_interval_s=0.05).runs
    seen, document = rows(run.folder / "processes.jsonl"), json.loads((run.folder / "run.json").read_text())
    last = seen[-1]
    cpu_s = document["user_cpu_s"] + document["system_cpu_s"]
    assert 1.2 <= last["user_cpu_s"] + last["system_cpu_s"] == pytest.approx(cpu_s, abs=0.05)  # of /proc, in hundredths
    assert max(row["processes"] for row in seen) == 2 and {row["command"] for row in seen} == {Path(sys.executable).name[:15]}
    for name in ("user_cpu_s", "runqueue_wait_s", "write_call_bytes", "minor_page_faults"):
        assert [row[name] for row in seen] == sorted(row[name] for row in seen), name  # what moves to a parent is not there twice
    assert last["write_call_bytes"] >= 5 << 20
    assert document["process_sampling_error"] is None and document["node_sampling_error"] is None
    node = [row for row in rows(run.folder / "node.jsonl") if "device" not in row]
    assert node[0]["sampled_at"] <= document["started_at"] and node[-1]["sampled_at"] >= document["ended_at"]
    assert node[-1]["context_switches"] > node[0]["context_switches"]


def test_the_server_that_a_command_talks_to_is_known(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True, start_new_session=True) as server:
        try:
            assert server.stdout
            port = server.stdout.readline().strip()
            [run] = record([sys.executable, "-c", CLIENT, port], tmp_path / "recording", sample_interval_s=0.05).runs
            [alone] = record([sys.executable, "-c", "import time; time.sleep(0.2)"], tmp_path / "alone", sample_interval_s=0.05).runs  # several samples
        finally:
            server.kill()
    seen = rows(run.folder / "servers.jsonl")
    assert {row["port"] for row in seen} == {int(port)}
    assert seen[-1]["user_cpu_s"] + seen[-1]["system_cpu_s"] >= 0.6  # of 40 requests of 20 ms
    assert not (alone.folder / "servers.jsonl").exists()


def test_a_child_that_is_not_waited_for_counts(tmp_path: Path) -> None:
    script = 'sh -c "while :; do :; done" & child=$!; sleep 1; kill $child'
    [run] = record(["sh", "-c", script], tmp_path / "recording", sample_interval_s=0.1).runs
    assert json.loads((run.folder / "run.json").read_text())["user_cpu_s"] > 0.1


def test_a_process_whose_parent_ended_still_belongs_to_the_command() -> None:
    script = 'sh -c "sleep 30 & echo started" ; sleep 30'
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    try:
        tree = ProcessTree(process.pid)
        assert process.stdout and process.stdout.readline() == b"started\n"
        tree()
        middle = tree.pids
        time.sleep(0.3)  # the inner shell ends, and its sleep is another's child
        deadline = time.monotonic() + 10
        while len(tree.pids) >= len(middle) > 2 and time.monotonic() < deadline:
            time.sleep(0.1)  # between looks, until the deadline
            tree()
        assert {process.pid} < tree.pids
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def test_a_reading_that_costs_much_is_not_made_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 0.02))  # 20 ms of CPU time for a reading
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    tree = ProcessTree(os.getpid())
    assert tree() and tree() == []  # the next one 5 s later: 0.4 % of a core


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A host's /proc and /sys, with the files that are read."""
    files = {
        "proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
        "proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
        "proc/stat": "cpu  100 0 200 5000 300 0 0 40 0 0\ncpu0 100 0 200 5000 300 0 0 40 0 0\nctxt 12345\nprocs_running 3\nprocs_blocked 1\n",
        "proc/vmstat": "pgmajfault 7\npswpin 0\noom_kill 1\nnuma_miss 9\n",
        "proc/diskstats": "259 0 nvme0n1 10 0 2048 500 20 0 4096 700 0 900 1200 0 0 0 0 0 0\n259 1 nvme0n1p1 10 0 2048 500 20 0 4096 700 0 900 1200\n",
        "proc/self/cgroup": "0::/job.slice/run\n",
        "sys/block/nvme0n1/device/model": "x",
        "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data": "1000\n",
        "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence": "3\n",
        "sys/class/infiniband/mlx5_1/ports/1/counters/port_rcv_data": "24\n",
        "sys/class/net/eth0/device/vendor": "0x1af4\n",
        "sys/class/net/eth0/statistics/rx_bytes": "800\n",
        "sys/class/net/eth0/statistics/rx_dropped": "2\n",
        "sys/class/net/br0/bridge/priority": "1\n",
        "sys/class/net/br0/statistics/rx_bytes": "800\n",
        "proc/net/snmp": "Tcp: RtoAlgorithm RetransSegs InErrs\nTcp: 1 6 0\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2000000\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "3000000\n",
        "sys/fs/cgroup/job.slice/run/cpu.stat": "usage_usec 1\nnr_periods 50\nnr_throttled 20\nthrottled_usec 2500000\n",
        "sys/fs/cgroup/job.slice/run/memory.stat": "anon 1\nworkingset_refault_anon 2\nworkingset_refault_file 30\n",
        "sys/fs/cgroup/job.slice/run/memory.current": "1048576\n",
        "sys/fs/cgroup/job.slice/run/memory.max": "max\n",
        "sys/fs/cgroup/job.slice/run/memory.events": "low 0\nhigh 0\nmax 4\noom 0\noom_kill 1\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path


def test_counters_of_the_kernel_have_the_units_that_their_names_state(host: Path) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    assert kernel_counters(host / "proc") == {
        "cpu_pressure_some_s": 1.5, "io_pressure_some_s": 2, "io_pressure_full_s": 0.5, "context_switches": 12345, "cpu_io_wait_s": 300 / ticks,
        "cpu_steal_s": 40 / ticks, "major_page_faults": 7, "swapped_in_pages": 0, "out_of_memory_kills": 1, "numa_missed_pages": 9,
        "tcp_retransmitted_segments": 6,
    }
    assert port_counters(host / "sys") == {  # in words of four bytes
        "mlx5_0/1": {"infiniband_recv_bytes": 4000, "infiniband_out_of_sequence": 3}, "mlx5_1/1": {"infiniband_recv_bytes": 96},
    }
    assert interface_counters(host / "sys") == {"eth0": {"network_recv_bytes": 800, "network_recv_drops": 2}}  # packets of the bridge are the same ones
    assert kernel_states(host / "proc", host / "sys") == {
        "tasks_running": 3, "tasks_blocked": 1, "cpu_clock_mean_mhz": 2500, "cpu_clock_min_mhz": 2000,
    }
    assert disk_counters(host / "proc", host / "sys") == {"nvme0n1": {  # the partition counts the same requests
        "disk_read_requests": 10, "disk_read_bytes": 2048 * 512, "disk_read_s": 0.5, "disk_write_requests": 20, "disk_write_bytes": 4096 * 512,
        "disk_write_s": 0.7, "disk_busy_s": 0.9, "disk_queue_s": 1.2,
    }}
    assert not {"pressure", "cpu_clock", "cgroup", "infiniband"} & unread(host / "proc", host / "sys").keys()


def test_memory_of_a_process_is_remote_where_no_thread_of_it_runs(tmp_path: Path) -> None:
    stat = "7 (a worker) S " + " ".join(["0"] * 35) + " {cpu} 0 0"
    for name, content in {
        "sys/devices/system/node/node0/cpulist": "0-1,4\n", "sys/devices/system/node/node1/cpulist": "2-3\n",
        "proc/7/comm": "worker\n", "proc/7/task/7/stat": stat.format(cpu=1), "proc/7/task/8/stat": stat.format(cpu=4),
        "proc/7/numa_maps": "5500 default file=/bin/x mapped=3 N0=2 N1=1 kernelpagesize_kB=4\n7f00 default anon=1 N1=1 kernelpagesize_kB=2048\n"
        "7fff default\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    [row] = NumaPlacement(lambda: frozenset({7, 9}), tmp_path / "proc", tmp_path / "sys")()
    del row["sampled_at"]
    assert row == {"pid": 7, "process_name": "worker", "local_bytes": 8192, "remote_bytes": 4096 + (2 << 20)}


def test_limits_of_a_cgroup_of_both_versions(host: Path) -> None:
    group = Cgroup(host / "proc", host / "sys")
    assert group.counters() == {
        "cgroup_cpu_periods": 50, "cgroup_throttled_periods": 20, "cgroup_throttled_s": 2.5, "cgroup_memory_limit_hits": 4,
        "cgroup_out_of_memory_kills": 1, "cgroup_refaulted_pages": 32,
    }
    assert group.states() == {"cgroup_memory_used_bytes": 1 << 20}  # without a limit
    (host / "proc/self/cgroup").write_text("4:memory:/run\n2:cpu,cpuacct:/\n")
    for name, content in {
        "memory/run/memory.usage_in_bytes": "4096", "memory/run/memory.limit_in_bytes": "8192", "memory/run/memory.failcnt": "3",
        "cpu,cpuacct/cpu.stat": "nr_periods 5\nnr_throttled 2\nthrottled_time 1500000000\n",
    }.items():
        path = host / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    group = Cgroup(host / "proc", host / "sys")
    assert group.counters() == {
        "cgroup_cpu_periods": 5, "cgroup_throttled_periods": 2, "cgroup_throttled_s": 1.5, "cgroup_memory_limit_hits": 3,
    }
    assert group.states() == {"cgroup_memory_used_bytes": 4096, "cgroup_memory_limit_bytes": 8192}


def test_what_a_host_does_not_have_is_left_out_and_named(tmp_path: Path) -> None:
    proc, sys_folder = tmp_path / "proc", tmp_path / "sys"
    assert (kernel_counters(proc), kernel_states(proc, sys_folder), disk_counters(proc, sys_folder)) == ({}, {}, {})
    assert (port_counters(sys_folder), interface_counters(sys_folder)) == ({}, {})
    group = Cgroup(proc, sys_folder)
    assert (group.counters(), group.states()) == ({}, {})
    assert unread(proc, sys_folder).keys() >= {
        "pressure", "cpu_clock", "cgroup", "process_io", "runqueue_wait", "infiniband", "numa_placement", "memory_bandwidth",
    }


def test_a_command_is_of_its_job_pod_and_container_and_no_secret_is_kept(tmp_path: Path) -> None:
    pod, container = "0a1b2c3d-0000-4000-8000-0123456789ab", "c" * 64
    files = {
        "proc/self/cgroup": f"0::/kubepods.slice/kubepods-pod{pod.replace('-', '_')}.slice/cri-containerd-{container}.scope\n",
        "run/.containerenv": 'engine="podman-5.2.0"\nimage="registry.example/bench:1"\nimageid="sha256:12ab"\n',
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    environment = {
        "SLURM_JOB_ID": "77", "RANK": "3", "NCCL_DEBUG": "INFO", "OMP_NUM_THREADS": "8", "HOME": "/root", "SLURM_JWT": "eyJhbGciOi",
        "VLLM_API_KEY": "abc123", "RAY_REDIS_PASSWORD": "hunter22", "NVIDIA_VISIBLE_DEVICES": "0",
    }
    found = describe_membership((), environment, tmp_path)
    assert found == {
        "environment": {"NCCL_DEBUG": "INFO", "NVIDIA_VISIBLE_DEVICES": "0", "OMP_NUM_THREADS": "8", "RANK": "3", "SLURM_JOB_ID": "77"},
        "pod_uid": pod, "container_id": container, "image": "registry.example/bench:1", "image_id": "sha256:12ab",
    }
    nowhere = describe_membership((), {}, tmp_path / "bare")
    assert nowhere == {"environment": {}, "pod_uid": None, "container_id": None, "image": None, "image_id": None}
