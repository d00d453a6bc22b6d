"""The evidence of the projects in which commands are measured, made from the samples of the tests."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from samples.bench_serving import requests, vllm_record
from samples.mlperf_training import Run, write_set
from samples.recording import write_recording

SETS = 67  # repeat sets of MLPerf Training: 18 numbers each
POINTS, RUNS_OF_A_RECORDING = 1_063, 50  # rows of indicator_results
SERVED_NUMBERS = 38  # of a row of serving_results


def small(folder: Path, number: int = 0) -> Path:
    """One recording of four runs of an indicator."""
    return write_recording(folder, f"01KG8Q3V5T2M4N6P8R0S1W3X{number:02}")


def serving(folder: Path, first: int, count: int, loads: Sequence[int], machines: int) -> Path:
    """Records of `vllm bench serve`, a file a run, on machines that share their software and the load points."""
    chance = random.Random(first)
    for number in range(first, first + count):
        load = loads[number % len(loads)]
        record = vllm_record(
            requests(8, seed=number), detailed=False, max_concurrency=load, num_prompts=8,
            date=f"2026{1 + number // 600 % 12:02}{1 + number // 24 % 28:02}-{number % 24:02}{chance.randrange(60):02}{number % 60:02}",
        )
        path = folder / f"runpod_h100sxm_{number // len(loads) % machines}" / f"TP8_DP1_c{load}_{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
    return folder


def indicators(folder: Path) -> Path:
    """Recordings of an indicator, each run with another value of its parameter."""
    chance = random.Random(0)
    for number, first in enumerate(range(0, POINTS, RUNS_OF_A_RECORDING)):
        seconds = tuple(chance.uniform(1, 2) for _ in range(min(RUNS_OF_A_RECORDING, POINTS - first)))
        recording = write_recording(folder / f"recording-{number:02}", f"01KG8Q3V5T2M4N6P8R0S1W3X{number:02}", seconds)
        for point, path in enumerate(sorted(recording.glob("run-*/stdout.txt")), first):
            path.write_text(json.dumps({**json.loads(path.read_text()), "@parameters": {"rows": 1000 * point}}) + "\n")
    return folder


def training(folder: Path) -> Path:
    """Repeat sets of MLPerf Training of ten runs each, by one submitter on as many platforms."""
    for number in range(SETS):
        runs = [replace(Run(), minutes=10 + number + repeat / 10, seed=100 * number + repeat) for repeat in range(10)]
        write_set(folder, runs, platform=f"box_n{number + 1}", nodes=number + 1, scaling_factor=1.0)
    return folder
