"""What programs of the operating system and of drivers print about a node, a small reader each: kernel logs (dmesg, journal), `dcgmi diag -j`,
`dcgmi health`, `nvidia-smi topo -m`, `nvidia-smi nvlink`, `lspci -vvv`, the summary of `ibdiagnet`, `perf stat -x,`, `numastat`, `vmstat`,
`iostat -o JSON` and `pidstat -H`.

A file is a bundle. Most of these outputs name neither their node nor the time: then the node is the one that the file is named for
(`dmesg-gpu07.txt`), or not known, and what has no time is joined to no run. What goes wrong lands as events, what changes over time as telemetry,
and all else that a device states as entries.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema
from warehouse.landing.telemetry import TELEMETRY_TABLES

TABLES: Mapping[str, pa.Schema] = {
    **TELEMETRY_TABLES,
    "node_tool_entry": landing_schema(
        pa.field("tool", pa.string(), nullable=False),
        pa.field("node_name", pa.string()),
        pa.field("component_kind", pa.string(), nullable=False),  # gpu, link, pci, numa, fabric, event
        pa.field("component", pa.string(), nullable=False),  # GPU-1a2b…, GPU0, 0000:41:00.0, node0
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("unit", pa.string()),  # as written
        pa.field("line_number", pa.int64()),
    ),
    "node_tool_event": landing_schema(
        pa.field("tool", pa.string(), nullable=False),
        pa.field("code", pa.string(), nullable=False),
        pa.field("certainty", pa.string(), nullable=False),  # stated or inferred
        pa.field("node_name", pa.string()),
        pa.field("event_at", pa.timestamp("us", tz="UTC")),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("s_since_boot", pa.float64()),
        pa.field("gpu_uuid", pa.string()),
        pa.field("component_kind", pa.string()),
        pa.field("component", pa.string()),
        pa.field("number", pa.int64()),  # of an XID
        pa.field("message", pa.string(), nullable=False),
        pa.field("line_number", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="node_tools", version=1, tables=TABLES,
    formats=(
        "kernel logs: dmesg (also -T, -x, -J and --time-format iso), journalctl -k (short, short-iso, short-unix, json), syslog",
        "dcgmi diag -j; dcgmi health -c, as a table or with -j", "nvidia-smi topo -m; nvidia-smi nvlink -s and -e", "lspci -vvv",
        "ibdiagnet: the summary of its log", "perf stat -x,", "numastat", "vmstat", "iostat -o JSON", "pidstat -H",
    ),
)
