"""Tables of NVIDIA's Nsight profilers: CSV of Nsight Compute (`ncu --csv`) and kernel summaries of Nsight Systems (`nsys stats`). The kernels that
took most of the time land; metrics of single launches stay in the raw file.

A run is a file: one profile. Neither tool states when it ran.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

INGESTOR = Family(
    __name__,
    name="nsight",
    version=1,
    formats=(
        "Nsight Compute: ncu --csv, pages details and raw, also within the output of the program",
        "Nsight Systems: nsys stats --format csv, reports cuda_gpu_kern_sum, cuda_gpu_sum and gpukernsum",
    ),
    tables={
        "nsight_profile": landing_schema(
            RUN_ID,
            pa.field("tool", pa.string(), nullable=False),  # ncu or nsys
            pa.field("program", pa.string()),  # as ncu names the process
            pa.field("host_name", pa.string()),
            pa.field("error", pa.string()),  # the tool's first message of an error
            *WORKLOAD_FIELDS,
        ),
        "nsight_kernel": landing_schema(
            RUN_ID,
            pa.field("position", pa.int64(), nullable=False),  # by time, from 1
            pa.field("kernel", pa.string(), nullable=False),
            pa.field("kind", pa.string(), nullable=False),
            pa.field("launch_count", pa.int64()),
            pa.field("total_s", pa.float64()),  # NULL: not all launches have a duration
            pa.field("longest_s", pa.float64()),
            # Of ncu, means over launches weighted by their duration; NULL: not all launches have it.
            pa.field("sm_throughput_pct", pa.float64()),
            pa.field("memory_throughput_pct", pa.float64()),
            pa.field("dram_throughput_pct", pa.float64()),
            pa.field("achieved_occupancy_pct", pa.float64()),
        ),
    },
)
