"""Which command lines and environments make another configuration, and which only another run of the same."""

from __future__ import annotations

import pytest

from warehouse.analysis.conditions import differences
from warehouse.landing.readers.settings import names_this_host, options, settings, visible_gpus

SAME = [
    ("python bench.py --seed 1", "/opt/venv/bin/python3.11 bench.py --seed 2"),
    ("bench --port 8000 --host 127.0.0.1 --base-url http://a:8000/v1", "bench --port 8001 --host localhost --base-url http://a:8001/v1"),
    ("bench --host 0.0.0.0 --url http://node-1:8000/v1", "bench --host localhost --url http://localhost:8000/v1"),  # the machine is node-1
    ("bench --server gpu17:8000 --endpoint n:80", "bench --server gpu17:8123 --endpoint n:9000"),
    ("bench --output-dir /scratch/1 --result-filename a.json -o x/1", "bench --output-dir /scratch/2 --result-filename b.json -o y.json"),
    ("bench --benchmark-json r1.json --save-to r1 --summary-file r1", "bench --benchmark-json r2.json --save-to r2 --summary-file r2"),
    ("bench --json r1.json --pidfile /run/x1.pid", "bench --json r2.json --pidfile /run/x2.pid"),
    ("bench --random-state 1 --trial 1", "bench --random-state 2 --trial 2"),
    ("bench --since 20261101 --until 2026-11-02", "bench --since 20261102 --until 2026-11-03"),
    ("bench --suffix run_20261101_080000", "bench --suffix run_20261102_080000"),
    ("bench --data-dir /tmp/tmp.AbCd12 --config /tmp/tmpab12cd.json", "bench --data-dir /tmp/tmp.XyZw98 --config /tmp/tmpzz98xy.json"),
    ("bench --data /tmp/bench-k3j_9x2a --socket /tmp/x-1.sock", "bench --data /tmp/bench-p0q_7y4b --socket /tmp/x-2.sock"),
    ("bench --data /scratch/job.1234/w", "bench --data /scratch/job.2234/w"),
    ("bench --data /home/runner/_temp/123/x", "bench --data /home/runner/_temp/456/x"),
    ("python /builds/r-x1/bench.py", "python bench.py"),
    ("bench --device cuda:0 --gpu-id 0 --local-rank 0", "bench --device cuda:1 --gpu-id 1 --local-rank 1"),
    ("bench --gpu-ids 0,1 --rdma-device mlx5_0", "bench --gpu-ids 2,3 --rdma-device mlx5_1"),
    ("docker run --name b1 --gpus device=0 img bench", "docker run --name b2 --gpus device=1 img bench"),
    ("bench --verbose 1 small.cfg", "bench --verbose small.cfg"),
    ("bench /tmp/pytest-1/in.json", "bench /tmp/pytest-2/in.json"),
    ("bench --run-name night-1 --job-id 5", "bench --run-name night-2 --job-id 6"),
    ("bench results/2026-11-26/x", "bench results/2026-11-27/x"),
    ("bench out-20261126T120000.json", "bench out-20261127T130501.json"),
    ("torchrun --rdzv-id 1 --master-addr 10.0.0.1 --master-port 29500 train.py", "torchrun --rdzv-id 2 --master-addr 10.0.0.2 --master-port 29501 train.py"),
    ("train.py seed=1 output_dir=a", "train.py seed=2 output_dir=b"),
    ("SH SEED=1 bench --seed=1 --model a", "SH SEED=2 bench --seed=2 --model a"),
]
OTHER = [
    ("bench --model a", "bench --model b"),
    ("bench --model=a", "bench"),
    ("bench --output-len 128", "bench --output-len 256"),
    ("bench --kv-cache-dtype fp8", "bench --kv-cache-dtype auto"),
    ("bench --num-hosts 1", "bench --num-hosts 2"),
    ("bench --model-path /models/a", "bench --model-path /models/b"),
    ("bench --bytes 1073741824", "bench --bytes 1610612736"),
    ("bench --dataset sharegpt.json", "bench --dataset sonnet.txt"),
    ("bench --host a --enforce-eager", "bench --host a"),
    ("bench --model gpt-4o-2024-05-13", "bench --model gpt-4o-2024-08-06"),
    ("bench --dataset x-20240101", "bench --dataset x-20250101"),
    ("bench --model /dev/shm/llama-8b/", "bench --model /dev/shm/llama-70b/"),
    ("bench --model /tmp/llama-bfloat16", "bench --model /tmp/llama-float32"),
    ("bench --model hf://a/x", "bench --model hf://b/x"),
    ("bench --task_name mrpc", "bench --task_name mnli"),
    ("bench --instance-number 1", "bench --instance-number 8"),
    ("bench --session-number 1", "bench --session-number 64"),
    ("bench --random-output 128", "bench --random-output 2048"),
    ("bench --expected-output 128", "bench --expected-output 4096"),
    ("bench --hosts 1", "bench --hosts 16"),
    ("bench --cache-level 1", "bench --cache-level 3"),
    ("bench --tags fp8", "bench --tags fp16"),
    ("bench --trace-file chat.csv", "bench --trace-file code.csv"),
    ("bench --verbose small.cfg", "bench --verbose huge.cfg"),
    ("bench --save-results small.cfg", "bench --save-results huge.cfg"),
    ("bash run.sh -o O3 x", "bash run.sh -o O0 x"),
    ("bench --host a100-box", "bench --host h100-box"),
    ("bench --host localhost", "bench --host h100-box"),
    ("bench --base-url http://vllm-a100:8000", "bench --base-url http://sglang-h100:8000"),
    ("mpirun --host a:4 bench", "mpirun --host a:8 bench"),
    ("bench --gpu-ids 0,1", "bench --gpu-ids 0"),
    ("bench --gpus 1", "bench --gpus 8"),
    ("docker run --gpus device=0,1 img", "docker run --gpus device=0 img"),
    ("bench --device cuda:0", "bench --device cpu"),
    ("bench --shape rows:1000", "bench --shape rows:2000"),
    ("numactl --cpunodebind=0 bench", "numactl --cpunodebind=1 bench"),
    ("train.py lr=1", "train.py lr=2"),
    ("SH OMP_NUM_THREADS=1 bench", "SH OMP_NUM_THREADS=2 bench"),
]


def argv(line: str) -> list[str]:
    return ["/bin/bash", "-c", line.removeprefix("SH ")] if line.startswith("SH ") else line.split()


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_each_run_has_of_its_own_is_no_option(one: str, other: str) -> None:
    assert options(argv(one), "/builds/r-x1/bench.py", "node-1") == options(argv(other), "bench.py", "node-1")


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_options_that_differ(one: str, other: str) -> None:
    assert options(argv(one)) != options(argv(other))


def test_settings_of_an_environment() -> None:
    harmless = {"HOSTNAME": "a", "SLURM_JOB_ID": "5", "VLLM_PORT": "8000", "NCCL_DEBUG": "INFO", "TRITON_CACHE_DIR": "/x", "CUDA_VISIBLE_DEVICES": "3"}
    places = {"CUDA_HOME": "/usr/local/cuda-12", "CUDA_MPS_PIPE_DIRECTORY": "/x", "CUDA_MPS_LOG_DIRECTORY": "/x", "TF_CPP_MIN_LOG_LEVEL": "2", "VLLM_HOST_IP": "10.0.0.1"}
    set_speed = {"OMP_NUM_THREADS": "8", "NCCL_ALGO": "Ring", "GOMAXPROCS": "2", "RAYON_NUM_THREADS": "2", "TF_ENABLE_ONEDNN_OPTS": "0", "HSA_XNACK": "1"}
    assert settings({**harmless, **places, **set_speed}) == set_speed


@pytest.mark.parametrize(
    ("listed", "of_machine", "count"),
    [
        ("0", 8, 1), ("3", 8, 1), ("GPU-1,GPU-2", 8, 2), ("0,1,-1,2", 8, 2), ("", 8, 0), ("all", 8, 8), (None, 8, 8), ("0,1", None, 2), (None, None, None),
    ],
)
def test_visible_gpus_are_counted(listed: str | None, of_machine: int | None, count: int | None) -> None:
    assert visible_gpus({} if listed is None else {"CUDA_VISIBLE_DEVICES": listed}, of_machine) == count


def test_an_option_that_set_a_parameter_differs_once() -> None:
    sides = [[{("parameter", "rows"): (rows, None), ("option", "--rows"): (rows, None), ("option", "--model"): (rows + "b", None)}] for rows in ("1", "2")]
    assert [(each.kind, each.name) for each in differences(*sides)] == [("parameter", "rows"), ("option", "--model")]


def test_a_command_that_names_its_own_host() -> None:
    assert all(names_this_host(argv(f"bench {said}")) for said in ("--host localhost", "--url http://127.0.0.1:8000/v1", "--url=http://[::1]:80", "unix:///run/x"))
    assert not any(names_this_host(argv(f"bench {said}")) for said in ("--host 10.0.0.1", "--url http://127.0.0.1.example.org/", "--n 127"))
