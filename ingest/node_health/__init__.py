"""Node health as GCM's checks capture it (facebookresearch/gcm, check_ethlink and check_pci): what a node has, and what it should have.

Three JSON documents: network interfaces as the kernel reports them, with their speeds, hardware addresses and configuration; files of /sys
by their paths, with PCIe links and InfiniBand ports; and the manifest of a kind of node (`/etc/manifest.json`), which names its devices and
how fast each should be. They state neither the node nor the time. The documents of a folder are a bundle: the models compare its captures
with its manifests. A capture has no verdict of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema

TABLES: Mapping[str, pa.Schema] = {
    "node_health_entry": landing_schema(
        pa.field("is_manifest", pa.bool_(), nullable=False),  # what should be; false: what is
        pa.field("component_kind", pa.string(), nullable=False),  # interface, pci, infiniband
        pa.field("component", pa.string(), nullable=False),  # enp97s0f0, 0000:41:00.0, mlx5_0
        pa.field("key", pa.string(), nullable=False),
        pa.field("value", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("line_number", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="node_health", version=1, tables=TABLES,
    formats=(
        "GCM health checks: captures of interfaces (check_ethlink) and of /sys (check_pci), JSON",
        "GCM health checks: the manifest of a kind of node, JSON",
    ),
)
