"""Traces of the PyTorch profiler (Kineto), of all ranks of a job. Events stay in the raw files: what lands is a few figures of each trace and
of each of its steps, and the kernels that took most of its time.

A run is the traces of one job: those of one folder that state a rank and the same world size. A trace without a rank is a run of its own.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")

INGESTOR = Family(
    __name__,
    name="kineto",
    version=1,
    formats=("Chrome traces of the PyTorch profiler (Kineto): .json and .json.gz; CUDA, ROCm, MTIA and CPU only",),
    tables={
        "kineto_trace": landing_schema(
            RUN_ID,
            pa.field("job", pa.string(), nullable=False),  # the folder's name, or the file's
            pa.field("rank", pa.int64()),
            pa.field("stated_rank", pa.int64()),  # by the trace; rank is by its path, if that names it
            pa.field("world_size", pa.int64()),
            pa.field("backend", pa.string()),
            pa.field("node_name", pa.string()),  # as the file's name has it
            pa.field("gpu_model", pa.string()),
            pa.field("device_count", pa.int64()),  # that have events
            pa.field("is_whole", pa.bool_(), nullable=False),  # false: the document breaks, and nothing is computed from it
            pa.field("started_at", _TIME),  # of the first event
            pa.field("ended_at", _TIME),
            *WORKLOAD_FIELDS,
        ),
        "kineto_window": landing_schema(
            RUN_ID,
            pa.field("rank", pa.int64()),
            pa.field("step", pa.int64()),  # NULL: the whole trace
            pa.field("started_at", _TIME),
            pa.field("window_s", pa.float64()),
            pa.field("compute_s", pa.float64()),  # this and all below: unions of intervals, over all streams and devices
            pa.field("communication_s", pa.float64()),
            pa.field("overlap_s", pa.float64()),  # of both
            pa.field("memcpy_s", pa.float64()),
            pa.field("idle_s", pa.float64()),
            pa.field("kernel_count", pa.int64()),  # that began in the window
            pa.field("dataloader_s", pa.float64()),  # on the host; NULL: the trace does not name it
        ),
        "kineto_kernel": landing_schema(
            RUN_ID,
            pa.field("rank", pa.int64()),
            pa.field("position", pa.int64(), nullable=False),  # by time, from 1
            pa.field("kernel", pa.string(), nullable=False),
            pa.field("kind", pa.string(), nullable=False),  # compute, communication, memory
            pa.field("launch_count", pa.int64(), nullable=False),
            pa.field("total_s", pa.float64(), nullable=False),
            pa.field("longest_s", pa.float64(), nullable=False),
        ),
    },
)
