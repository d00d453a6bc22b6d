"""Slurm: what its accounting and its controller say of jobs, nodes and partitions.

`sacct -P` (any columns and delimiter; https://slurm.schedmd.com/sacct.html), `scontrol show job|node|partition`, on one line or on many
(https://slurm.schedmd.com/scontrol.html), `squeue`, `sacct`, `sinfo`, `scontrol` and `sdiag` with `--json` (data_parser v0.0.37 to v0.0.43: numbers
may be {set, infinite, number}, states may be lists), and `sinfo` as a table with a header.

Times in text are local times of the machine: they are taken as UTC, and `is_zone_assumed` says so. Those in JSON are seconds of the Unix
epoch, 0 is not set. The start of a pending job and the end of a running one are estimates; they land as written, the models leave them out.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema

_TIME = pa.timestamp("us", tz="UTC")
_TIMES = [
    field
    for name in ("submitted", "eligible", "started", "ended")
    for field in (pa.field(f"{name}_at", _TIME), pa.field(f"{name}_text", pa.string()))  # as written; NULL in JSON, where it is a number
]

TABLES: Mapping[str, pa.Schema] = {
    "slurm_job": landing_schema(
        pa.field("source", pa.string(), nullable=False),  # sacct, scontrol, squeue
        pa.field("cluster", pa.string()),
        pa.field("job_id", pa.string(), nullable=False),  # the number that Slurm knows it by (SLURM_JOB_ID), where stated
        pa.field("displayed_id", pa.string(), nullable=False),  # of a task of an array: ARRAY_TASK
        pa.field("step", pa.string()),  # batch, extern, 0; NULL: the job itself
        pa.field("job_name", pa.string()),
        pa.field("user_name", pa.string()),
        pa.field("account", pa.string()),
        pa.field("partition", pa.string()),
        pa.field("qos", pa.string()),
        pa.field("state", pa.string()),
        pa.field("cancelled_by", pa.string()),
        pa.field("state_reason", pa.string()),
        *_TIMES,
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("elapsed_s", pa.float64()),  # as Slurm counts it: without the time suspended
        pa.field("suspended_s", pa.float64()),
        pa.field("node_count", pa.int64()),
        pa.field("nodes", pa.string()),  # as Slurm compresses them
        pa.field("cpu_count", pa.int64()),
        pa.field("gpu_count", pa.int64()),
        pa.field("exit_code", pa.int64()),
        pa.field("exit_signal", pa.int64()),
        pa.field("restarts", pa.int64()),
        pa.field("line_number", pa.int64()),
    ),
    "slurm_allocation_entry": landing_schema(  # one row a node of a job or step
        pa.field("source", pa.string(), nullable=False),
        pa.field("job_id", pa.string(), nullable=False),
        pa.field("step", pa.string()),
        pa.field("node_name", pa.string(), nullable=False),
        pa.field("gpu_indexes", pa.string()),  # on the node: 0-3
    ),
    "slurm_node": landing_schema(
        pa.field("source", pa.string(), nullable=False),  # sinfo, scontrol
        pa.field("listing", pa.int64(), nullable=False),  # of the file, from 0: a command that was called again lists all nodes again
        pa.field("node_name", pa.string(), nullable=False),
        pa.field("partitions", pa.string()),  # with commas
        pa.field("state", pa.string()),  # IDLE, ALLOCATED, MIXED+DRAIN
        pa.field("reason", pa.string()),
        pa.field("reason_at", _TIME),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("cpu_count", pa.int64()),
        pa.field("allocated_cpu_count", pa.int64()),
        pa.field("gpu_type", pa.string()),
        pa.field("gpu_count", pa.int64()),
        pa.field("allocated_gpu_count", pa.int64()),
        pa.field("line_number", pa.int64()),
    ),
    "slurm_partition_entry": landing_schema(  # one row a partition and state of nodes, or a partition
        pa.field("source", pa.string(), nullable=False),
        pa.field("listing", pa.int64(), nullable=False),  # as of slurm_node
        pa.field("partition", pa.string(), nullable=False),
        pa.field("availability", pa.string()),  # up, down
        pa.field("node_state", pa.string()),  # NULL: all nodes
        pa.field("node_count", pa.int64()),
        pa.field("gpu_count", pa.int64()),
        pa.field("nodes", pa.string()),
        pa.field("line_number", pa.int64()),
    ),
    "slurm_diagnostic_entry": landing_schema(  # one row a statistic of the controller (sdiag), or when it was asked (last_update)
        pa.field("key", pa.string(), nullable=False),
        pa.field("value_number", pa.float64()),
        pa.field("value_at", _TIME),  # of a key that states a moment
        pa.field("line_number", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="slurm", version=2, tables=TABLES,
    formats=(
        "Slurm 20.11 to 25.05: sacct -P, any columns and delimiter",
        "Slurm: scontrol show job, node or partition, on one line or on several",
        "Slurm 21.08 to 25.05: squeue, sacct (jobs without their steps), sinfo, scontrol and sdiag with --json",
        "Slurm: sinfo as a table with its header",
    ),
)
