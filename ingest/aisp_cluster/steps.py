"""The steps of a suite, and which of them ran a test.

A step is named after its test, or the run id in its command is the one that the test's document states. A step that only plots, checks or
lists files ran none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from warehouse.landing.contract import Bundle
from warehouse.landing.readers.entries import document
from warehouse.landing.readers.json_text import json_elements
from warehouse.landing.readers.records import Record, shown
from warehouse.landing.readers.text import Report
from warehouse.landing.rows import RowBuffer

from .times import moment

_NO_TEST = re.compile(r"(?:plot|validate|manifest|analyze|build|render|promote)_")
_RUN_ID = re.compile(r"--run-id[ =]'?([^\s']+)")
_ALL_NODES = "_all_nodes"
# What `run_cluster_eval_suite.sh` calls the step of a test, where that is not the test's own name.
_STEP_OF = (
    (re.compile(r"nccl_env_\w+"), "nccl_env_sensitivity"), (re.compile(r"nccl_algo_\w+"), "nccl_algo_comparison"),
    (re.compile(r"vllm_multinode_serve"), "vllm_serve_multinode"), (re.compile(r"gemm_gpu_sanity"), "gemm_sanity"),
    (re.compile(r"cluster_perf_\w+|fp4_\w+"), "fp4_checks"), (re.compile(r"mamf"), "mamf_finder"),
    (re.compile(r"single_node_torchrun_train_step"), "train_step_single_node"),
    (re.compile(r"multinode_torchrun_train_step"), "train_step_multi_node"),
    (re.compile(r"torchrun_connectivity_probe"), "connectivity_probe"),
)


@dataclass(frozen=True)
class Step:
    """A step of a suite; `index` is its place, from 1."""

    index: int
    name: str
    started_at: datetime | None
    ended_at: datetime | None
    run_id: str | None  # that it was given


def land_steps(bundle: Bundle, buffer: RowBuffer, raw_path: str, cluster_run_id: str) -> list[Step]:
    """Add the rows of the steps."""
    report = Report(buffer, raw_path, None)
    data = document(bundle, raw_path, report)
    found = []
    for index, element in enumerate(json_elements(data, report) if data.strip() else (), 1):
        if not isinstance(element.value, dict):
            report.at("not-an-object", shown(element.value), element, "error")
            continue
        record = Record(element.value, report.flag(element))
        name, command = record.text("name"), record.text("command")
        started, ended = moment(record, "start_time"), moment(record, "end_time")
        if started and ended and ended < started:
            report.at("impossible-duration", f"{name}: it ends before it starts"[:200], element, "error")
        buffer.add(
            "aisp_suite_step", raw_path, element.offset, element.length, cluster_run_id=cluster_run_id, step_index=index, name=name,
            started_at=started, ended_at=ended, started_text=record.text("start_time"), ended_text=record.text("end_time"),
            exit_code=record.count("exit_code"), log_path=record.text("log_path"), command=command,
        )
        run = _RUN_ID.search(command or "")
        found.append(Step(index, name or "", started, ended, run[1] if run else None))
    return found


def step_of(test: str, stated_run_id: str | None, cluster_run_id: str, stated_at: datetime | None, steps: Sequence[Step]) -> Step | None:
    """The step that ran a test, the last of several attempts. None where none or two do, or where the test's document is of another time."""
    tests = [step for step in steps if not _NO_TEST.match(step.name)]
    found: list[Step] = []
    if stated_run_id not in (None, cluster_run_id):
        found = [step for step in tests if step.run_id == stated_run_id]
    if not found:
        name = next((name for pattern, name in _STEP_OF if pattern.fullmatch(test)), test)
        found = [step for step in tests if re.fullmatch(rf"{re.escape(name)}(?:{_ALL_NODES}|_c\d+)?", step.name)]
    if not found or len({step.name for step in found}) > 1:
        return None
    step = found[-1]
    ends = step.ended_at and step.ended_at + timedelta(seconds=1)  # steps are timed to the second
    is_apart = stated_at and step.started_at and ends and not step.started_at <= stated_at <= ends
    return None if is_apart else step
