"""Cluster runs as ai-performance-engineering writes them, in its two layouts. All figures are made up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

RUN, NODES, HOME = "2031-05-06_suite", ("alpha", "beta"), "/home/bench/code/cluster"
GPU_UUIDS = {"alpha": ("GPU-a0", "GPU-a1"), "beta": ("GPU-b0", "GPU-b1")}


def clocks(rank: int) -> dict[str, Any]:
    return {
        "clocks": {"applications_mem_mhz": 3996, "applications_sm_mhz": 2062, "current_mem_mhz": 3996, "current_sm_mhz": 1950 + rank},
        "global_rank": rank, "local_rank": rank % 2, "lock": {"locked": True, "theoretical_mem_gbps": 7928.064}, "node": NODES[rank // 2],
        "physical_gpu": rank % 2,
    }


def collective(run_id: str, program: str = "all_reduce_perf", rates: tuple[float, ...] = (120.5, 411.25), **changes: Any) -> dict[str, Any]:
    """Rows of nccl-tests; the size of the first is 1 MiB, and each next one has twice that."""
    sizes = [(1 << 20) << index for index in range(len(rates))]
    return {
        "app_clocks": [clocks(rank) for rank in range(4)],
        "command": f"mpirun -np 4 -x NCCL_CROSS_NIC=1 /opt/nccl-tests/build/{program} -b 1M -e {sizes[-1]} -f 2 -g 1 -w 5 -n 20",
        "gpus_per_node": 2, "hosts": list(NODES), "raw_log": f"{HOME}/results/raw/{run_id}_nccl.log",
        "results": [
            {
                "algbw_gbps": round(rate / 1.5, 2), "busbw_gbps": rate, "count": size // 4, "dtype": "float", "redop": "sum", "root": -1,
                "size_bytes": size, "time_us": round(size / (rate / 1.5) / 1e3, 2),
            }
            for size, rate in zip(sizes, rates, strict=True)
        ],
        "run_id": run_id, "total_ranks": 4, **changes,
    }


def point(load: int, **changes: Any) -> dict[str, Any]:
    return {
        "completed": load * 10, "concurrency": load, "failed": 1,
        "gpu_telemetry": {"mem_used_max_mib": 1700.5, "mem_used_mean_mib": 1699.25, "util_gpu_mean_pct": 81.5, "util_gpu_p95_pct": 99.0},
        "isl": 512, "mean_tpot_ms": 4.5, "mean_ttft_ms": 200.25 + load, "median_tpot_ms": 4.25, "median_ttft_ms": 199.5, "model": "acme/lm-7b",
        "num_prompts": load * 10 + 1, "osl": 128, "output_throughput": load * 100.5, "p99_tpot_ms": 6.5, "p99_ttft_ms": 480.5 + load,
        "request_throughput": load * 0.75, "result_json": f"/results/conc{load}.json", "total_token_throughput": load * 502.5, "tp": 2, **changes,
    }


RATES = (
    "model,tp,isl,osl,request_rate,max_concurrency,num_prompts,request_throughput,output_throughput,total_token_throughput,mean_ttft_ms,"
    "median_ttft_ms,p99_ttft_ms,mean_tpot_ms,median_tpot_ms,p99_tpot_ms,gpu_util_mean_pct,gpu_util_p95_pct,mem_used_mean_mb,mem_used_max_mb,"
    "gpu_power_mean_w,gpu_power_p95_w,completed,failed\n"
    "acme/lm-7b,2,512,128,2.5,64,100,2.45,313.600,1568.000,91.500,90.250,133.125,5.5,5.25,7.75,41.500,60.000,1699.250,1700.500,611.5,702.25,99,1\n"
    "acme/lm-7b,2,512,128,5,64,100,4.875,624.000,3120.000,101.500,99.250,163.125,5.75,5.5,8.25,61.500,80.000,1699.250,1700.500,711.5,802.25,98,2\n"
)
GEMM = (
    "label,m,n,k,dtype,iters,avg_ms,p50_ms,p99_ms,avg_tflops,p50_tflops,p99_tflops,physical_gpu,app_sm_mhz,app_mem_mhz,cur_sm_mhz,cur_mem_mhz\n"
    "alpha_gpu0,4096,4096,4096,bf16,50,0.125,0.12,0.15,1099.5,1145.25,916.25,0,2062,3996,1950,3996\n"
    "alpha_gpu1,4096,4096,4096,bf16,50,0.135,0.13,0.16,1018.5,1057.25,859.25,1,2062,3996,1950,3996\n"
)
MAMF = (
    "label,m,n,k,dtype,max_tflops,mean_tflops,median_tflops,min_ms,mean_ms,median_ms,gpu_name,app_sm_mhz,app_mem_mhz,cur_sm_mhz,cur_mem_mhz\n"
    "alpha_gpu0,256,4096,4096,bf16,223.88,194.65,204.45,0.0384,0.0451,0.0420,Acme X1,2062,3996,1950,3996\n"
    "alpha_gpu0,2304,4096,4096,bf16,918.60,880.75,887.55,0.0842,0.0879,0.0871,Acme X1,2062,3996,1950,3996\n"
)


def step(name: str, start: int, seconds: int, command: str, exit_code: int = 0) -> dict[str, Any]:
    def at(second: int) -> str:
        return f"2031-05-06T07:{second // 60:02}:{second % 60:02}+00:00"

    return {
        "name": name, "start_time": at(start), "end_time": at(start + seconds), "exit_code": exit_code,
        "log_path": f"{HOME}/results/raw/{RUN}_suite/{name}.log", "command": f"{HOME}/scripts/{command}",
    }


STEPS = [
    step("nccl_single_node", 60, 12, f"run_nccl_all_reduce.sh --run-id {RUN}_alpha --hosts localhost --label alpha"),
    step("nccl_multi_node", 72, 16, f"run_nccl_all_reduce.sh --run-id {RUN}_2nodes --hosts alpha\\,beta"),
    step("health_suite_extended", 90, 60, f"run_cluster_health_suite.sh --run-id {RUN}_health_suite_extended --extended"),
    step("vllm_serve_sweep", 150, 120, f"repro/run_vllm_serve_sweep_container.sh --run-id {RUN} --label alpha"),
    step("vllm_serve_multinode_c16", 270, 60, f"repro/run_vllm_serve_multinode_container.sh --run-id {RUN}"),
    step("gemm_sanity", 330, 20, f"run_gemm_sanity_all_nodes.sh --run-id {RUN}", 1),
    step("fio_all_nodes", 350, 40, f"run_fio_all_nodes.sh --run-id {RUN}"),
    step("train_step_multi_node", 390, 40, f"run_torchrun_transformer_train_step.sh --run-id {RUN}"),
    step("allreduce_stability", 430, 20, f"run_allreduce_stability.sh --run-id {RUN}"),
    step("plot_gemm_sanity", 450, 1, f"plot_gemm_bar.py --inputs {HOME}/results/structured/{RUN}_alpha_gemm_gpu_sanity.csv"),
]


def meta(node: str) -> dict[str, Any]:
    def printed(command: str, text: str, code: int = 0) -> dict[str, Any]:
        return {"cmd": command, "rc": code, "stderr": "", "stdout": text}

    gpus = "".join(f"GPU {index}: Acme X1 (UUID: {uuid})\n" for index, uuid in enumerate(GPU_UUIDS[node]))
    return {
        "commands": {
            "nvidia_smi_l": printed("nvidia-smi -L", gpus),
            "nvidia_smi": printed("nvidia-smi", "| NVIDIA-SMI 580.105.08    Driver Version: 580.105.08     CUDA Version: 13.0     |"),
            "nvidia_smi_topo": printed("nvidia-smi topo -m", "\tGPU0\tGPU1\nGPU0\t X \tNV18\nGPU1\tNV18\t X \n\nLegend:\n  NV#  = a bonded set\n"),
            "lscpu": printed("lscpu", "CPU(s):      144\nModel name:      Acme-V2\nCore(s) per socket:      72\nSocket(s):      2\nNUMA node(s):     34\n"),
            "free": printed("free -h", "     total\nMem:           1.7Ti        99Gi\n"),
            "ibstat": printed("ibstat", "CA 'mlx5_0'\n\tRate: 400\n\tLink layer: InfiniBand\n"),
            "uname": printed("uname -a", f"Linux {node} 6.14.0-1015 #15 SMP aarch64"), "os_release": printed("cat", 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\n'),
            "sinfo": printed("sinfo", "", 127),
        },
        "env": {"HF_TOKEN": "hf_secret"}, "label": node, "platform": "Linux", "timestamp": "2031-05-06T07:00:10+0000",
    }


def lock(label: str, command: str, gpus: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    return {
        "cmd": command, "command_start_ts": "2031-05-06T07:05:31+0000", "command_end_ts": "2031-05-06T07:05:36+0000", "devices": list(gpus),
        "label": label, "locks": [
            {"device": gpu, "physical_gpu": gpu, "lock": {"locked": True}, "clocks": clocks(gpu)["clocks"]} for gpu in gpus
        ],
        "require_clock_lock": True, "returncode": 0, "run_id": RUN, "timestamp": "2031-05-06T07:05:30+0000",
    }


def stability() -> dict[str, Any]:
    return {
        "test": "allreduce_stability", "payload_bytes": 2147483648, "world_size": 4, "measurement_iters": 3, "hostname": "alpha",
        "app_clocks": [{"rank": 0, "hostname": "alpha", "physical_device": 0, "app_sm_mhz": 2062, "app_mem_mhz": 3996, "cur_sm_mhz": 1950, "cur_mem_mhz": 3996}],
        "summary": {"busbw_median_gbps": 811.25, "busbw_cv_pct": 2.189, "jitter_assessment": "moderate_jitter"},
        "per_iteration": {"busbw_gbps": [806.5, 811.25, 815.75]}, "software": {"torch_version": "2.10.0", "cuda_version": "13.1", "nccl_version": "2.29.2"},
    }


def documents() -> dict[str, Any]:
    """The structured files by what follows the run id: JSON documents, or text."""
    train = {
        "app_clocks": [clocks(0)], "config": {"batch_size_per_rank": 2, "hidden": 4096, "seq_len": 2048, "steps": 3}, "hosts": list(NODES),
        "label": "alpha_multinode", "precision": "bf16", "run_id": RUN, "timestamp": "2031-05-06T07:07:05+0000", "world_size": 4,
        "results": {"avg_step_s": 0.156, "p50_step_s": 0.155, "p99_step_s": 0.16, "step_times_s": [0.154, 0.155, 0.159], "tokens_per_s": 210111.5},
        "versions": {"cuda": "13.1", "torch": "2.10.0"},
    }
    serve = {
        "concurrency": 16, "failure_reason": None, "hosts": {"leader": "alpha", "worker": "beta"}, "image": {"digest": "sha256:23ab", "pinned": "acme/vllm@sha256:23ab"},
        "isl": 512, "osl": 128, "model": "acme/lm-7b", "num_prompts": 160, "run_id": RUN, "status": "ok", "tp": 4,
        "metrics": {"completed": 160, "failed": 0, "mean_ttft_ms": 257.5, "p99_ttft_ms": 1260.25, "p99_tpot_ms": 7.5, "total_token_throughput": 16679.5},
    }
    nvbandwidth = {
        "gpu_inventory": {"0": "Acme X1 (00000008:01:00)"}, "key_sum_gbps": {"host_to_device_memcpy_ce": 845.5}, "label": "alpha", "peak_sum_gbps": 845.5,
        "run_id": RUN, "status": "ok", "sum_count": 2,
        "sum_entries": [{"test": "host_to_device_memcpy_ce", "sum_gbps": 845.5}, {"test": "host_device_latency_sm", "sum_gbps": 772.5}],
    }
    fio = {
        "bs_seq": "1M", "label": "alpha", "numjobs": 4, "run_id": RUN, "runtime_s": 30,
        "results": {
            "rand_read": {"bw_mb_s": 169.25, "iops": 43328.5, "p99_lat_ms": None}, "seq_write": {"bw_mb_s": 714.5, "iops": 714.5, "p99_lat_ms": 2.5},
        },
    }
    c2c = {
        "run_id": RUN, "label": "alpha", "device": 0, "records": [
            {"test": "bw", "direction": "h2d", "host_mem": "pinned", "size_bytes": 4194304, "iters": 20, "bw_gbps": 115.5},
            {"test": "lat", "direction": "h2d", "host_mem": "pinned", "size_bytes": 4, "iters": 20000, "lat_us": 2.25},
        ],
    }
    parity = {"nodes": [{"label": "alpha", "fio_seq_read_mb_s": 1389.5, "numa_local_bw_gbps": 136.5}], "run_id": RUN}
    return {
        "alpha_nccl.json": collective(f"{RUN}_alpha", rates=(620.25,), hosts=["localhost"]), "2nodes_nccl.json": collective(f"{RUN}_2nodes"),
        "health_suite_extended_alphabeta_nccl_all_reduce_perf.json": collective(f"{RUN}_health_suite_extended", rates=(101.5, 805.25, 839.25)),
        "alpha_vllm_serve_sweep.jsonl": "".join(json.dumps(point(load)) + "\n" for load in (4, 8)),
        "alpha_vllm_serve_request_rate_sweep.csv": RATES, "alpha_gemm_gpu_sanity.csv": GEMM, "alpha_gpu0_mamf.csv": MAMF,
        "alpha_gpu0_mamf_summary.json": {"label": "alpha_gpu0", "dtype": "bf16", "mamf_tflops": 918.6, "best_shape": {"m": 2304, "n": 4096, "k": 4096}},
        "alpha_gpu0_clock_lock.json": lock(
            "alpha_gpu0", f"python torch_gemm_bench.py --output-csv results/structured/{RUN}_alpha_gemm_gpu_sanity.csv", (0,)),
        "alpha_vllm_serve_sweep_clock_lock.json": lock("alpha", "run_vllm_serve_sweep_container.sh"),
        "alpha_vllm_multinode_serve.json": serve, "beta_vllm_multinode_worker_clock_lock.json": lock("", "worker.sh"),
        "alpha_multinode_torchrun_train_step.json": train, "alpha_fio.json": fio, "alpha_nvbandwidth.json": nvbandwidth,
        "iperf3_oob_tcp.json": {"hosts": list(NODES), "iperf3": {"fwd_gbps": 7.64, "rev_gbps": 7.44}, "run_id": f"{RUN}_health_suite_extended"},
        "alpha_c2c_memcpy.json": c2c, "allreduce_stability.json": stability(), "node_parity_summary.json": parity,
        "alpha_meta.json": meta("alpha"), "beta_meta.json": meta("beta"), "suite_steps.json": STEPS,
    }


def text_of(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps(document, indent=2)


def write(folder: Path, documents: dict[str, Any], *, flat: bool = False, run: str = RUN) -> Path:
    """The cluster run, in a folder of its own or `results/structured`. The folder that holds the structured files."""
    structured = folder / ("results/structured" if flat else f"runs/{run}/structured")
    structured.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        (structured / f"{run}_{name}").write_text(text_of(document))
    prefix = "results/structured" if flat else "structured"
    listed = {f"{prefix}/{run}_{name}": hashlib.sha256(text_of(document).encode()).hexdigest() for name, document in documents.items()}
    listed |= {f"{'results/' if flat else ''}raw/{run}_nccl.log": "0" * 64}
    manifest: dict[str, Any] = {"files": sorted(listed), "nodes": [{"label": node, "host": node} for node in NODES], "run_id": run}
    if flat:
        listed[f"{prefix}/{run}_manifest.json"] = "1" * 64
        manifest |= {"files": sorted(listed), "manifest_version": 1}
    else:
        manifest |= {
            "manifest_version": 2, "artifact_root": f"runs/{run}", "manifest_mode": "run_dir", "finalized": True, "status": "failed",
            "suite_status": "failed", "success": False, "completeness": None, "issues": ["1 suite step(s) failed"],
            "git": {"commit": "c" * 40, "dirty": True, "probe_ok": True, "errors": []},
        }
    manifest |= {"summary": {"file_count": len(listed), "sha256": listed}, "timestamp_utc": "2031-05-06T07:41:20.145037+00:00"}
    path = structured / f"{run}_manifest.json" if flat else structured.parent / "manifest.json"
    path.write_text(json.dumps(manifest, indent=2))
    return structured


def write_all(folder: Path) -> None:
    write(folder, documents())
