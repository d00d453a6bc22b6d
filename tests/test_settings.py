"""Which command lines and environments make another configuration, and which only another run of the same."""

from __future__ import annotations

import pytest

from warehouse.analysis.conditions import differences
from warehouse.landing.readers.settings import names_this_host, options, settings, visible_gpus

SAME = [
    ("python bench.py --seed 1", "/opt/venv/bin/python3.11 bench.py --seed 2"),
    ("bench --port 8000 --host a --base-url http://a:8000/v1", "bench --port 8001 --host b --base-url http://b:8001/v1"),
    ("bench --output-dir /scratch/1 --result-filename a.json -o x", "bench --output-dir /scratch/2 --result-filename b.json -o y"),
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
    ("numactl --cpunodebind=0 bench", "numactl --cpunodebind=1 bench"),
    ("train.py lr=1", "train.py lr=2"),
    ("SH OMP_NUM_THREADS=1 bench", "SH OMP_NUM_THREADS=2 bench"),
]


def argv(line: str) -> list[str]:
    return ["/bin/bash", "-c", line.removeprefix("SH ")] if line.startswith("SH ") else line.split()


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_each_run_has_of_its_own_is_no_option(one: str, other: str) -> None:
    assert options(argv(one)) == options(argv(other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_options_that_differ(one: str, other: str) -> None:
    assert options(argv(one)) != options(argv(other))


def test_settings_of_an_environment() -> None:
    harmless = {"HOSTNAME": "a", "SLURM_JOB_ID": "5", "VLLM_PORT": "8000", "NCCL_DEBUG": "INFO", "TRITON_CACHE_DIR": "/x", "CUDA_VISIBLE_DEVICES": "3"}
    assert settings({**harmless, "OMP_NUM_THREADS": "8", "NCCL_ALGO": "Ring"}) == {"NCCL_ALGO": "Ring", "OMP_NUM_THREADS": "8"}


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
