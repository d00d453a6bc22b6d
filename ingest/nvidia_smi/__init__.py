"""nvidia-smi -q -x: everything that the driver says of each GPU, as XML, a row a value.

Values are text with their unit ("36.20 W"); `N/A` has no number. One file may hold several logs (`-l`). The lists of supported clocks are
left out. The timestamp is the machine's local time without a zone, and the log does not name the machine. Document types and entities are
not read: an XML file from a stranger cannot make the reader fetch or unfold anything.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema
from warehouse.landing.telemetry import TELEMETRY_TABLES

TABLES: Mapping[str, pa.Schema] = {
    **TELEMETRY_TABLES,  # what changes of each GPU, at its log's timestamp
    "nvidia_smi_entry": landing_schema(
        pa.field("log_index", pa.int64(), nullable=False),  # of the file, from 0
        pa.field("gpu_index", pa.int64()),  # in the log, from 0; NULL: of the log itself
        pa.field("gpu_id", pa.string()),  # its address on the PCI bus
        pa.field("gpu_uuid", pa.string()),
        pa.field("key", pa.string(), nullable=False),  # the path of elements below the GPU: clocks/sm_clock, mig_devices/mig_device[1]/index
        pa.field("value", pa.string()),
        pa.field("value_number", pa.float64()),
        pa.field("unit", pa.string()),  # as written
        pa.field("line_number", pa.int64()),
    ),
}

INGESTOR = Family(
    package=__name__, name="nvidia_smi", version=3, tables=TABLES,
    formats=("nvidia-smi -q -x: XML of drivers 390 to 580, one log or several",),
)
