"""The landing tables of recordings. Columns that the recorder's files hold under the same name are listed by file."""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.rows import RUN_ID, landing_schema
from warehouse.landing.telemetry import TELEMETRY_TABLES

from .counters import COUNTER_FIELDS

_TIME = pa.timestamp("us", tz="UTC")
RUN_FIELDS = (
    ("repeat_index", pa.int64()), ("status", pa.string()), ("exit_code", pa.int64()), ("signal", pa.int64()),
    ("started_at", _TIME), ("ended_at", _TIME), ("wall_s", pa.float64()),
    ("user_cpu_s", pa.float64()), ("system_cpu_s", pa.float64()),
    ("voluntary_context_switches", pa.int64()), ("involuntary_context_switches", pa.int64()),
    ("max_rss_bytes", pa.int64()), ("minor_page_faults", pa.int64()), ("major_page_faults", pa.int64()),
    ("indicator_breach", pa.string()),  # how what was printed breaks the contract of the indicator that was asked for
    ("failure", pa.string()),  # why it failed, where neither an exit code nor a signal says it: it could not be started, nodes are missing
)
SLOT_FIELDS = (
    ("campaign", pa.string()), ("slot", pa.string()), ("session", pa.int64()), ("number", pa.int64()), ("is_warmup", pa.bool_()),
    ("cell", pa.string()), ("attempt", pa.int64()), ("stack_digest", pa.string()),
)
RECORDING_FIELDS = (("script_sha256", pa.string()), ("attempted_at", _TIME))
GIT_FIELDS = (("commit", pa.string()), ("branch", pa.string()), ("is_dirty", pa.bool_()), ("remote", pa.string()))
MACHINE_FIELDS = (
    ("hostname", pa.string()), ("cpu_model", pa.string()), ("cpu_vendor", pa.string()),
    ("physical_cores", pa.int64()), ("logical_cores", pa.int64()), ("memory_bytes", pa.int64()), ("cgroup_cpu_limit_cores", pa.float64()),
    ("allowed_cores", pa.int64()), ("niceness", pa.int64()),
)
SOFTWARE_FIELDS = (
    ("os_name", pa.string()), ("os_version", pa.string()), ("kernel_version", pa.string()),
    ("cuda_version", pa.string()),
)
HOST_FIELDS = (
    ("window_start", _TIME), ("window_end", _TIME), ("duration_s", pa.float64()),
    ("cpu_mean_pct", pa.float64()), ("cpu_min_pct", pa.float64()), ("cpu_max_pct", pa.float64()),
    ("memory_used_bytes", pa.int64()), ("memory_available_bytes", pa.int64()),
    ("disk_read_bytes", pa.int64()), ("disk_write_bytes", pa.int64()),
    ("net_external_sent_bytes", pa.int64()), ("net_external_recv_bytes", pa.int64()),
    ("net_loopback_sent_bytes", pa.int64()), ("net_loopback_recv_bytes", pa.int64()),
)
# What each GPU was set to, and the most that it could do, before the first run.
GPU_FIELDS = (("max_sm_clock_mhz", pa.int64()), ("application_sm_clock_mhz", pa.int64()), ("default_power_limit_mw", pa.int64()))
_COLUMNS = (
    RUN_ID,
    *(pa.field(*column) for column in RUN_FIELDS),
    *(pa.field(name, pa.string()) for name in ("command", "program")),
    *(pa.field(*column) for column in RECORDING_FIELDS),
    *(pa.field(name, pa.string()) for name in ("indicator_name", "component")),
    pa.field("overall_score", pa.float64()),
    *(pa.field(name, pa.string()) for name in ("workload_document", "workload_spec_digest")),
    *(pa.field(*column) for column in MACHINE_FIELDS),
    pa.field("numa_nodes", pa.int64()),
    pa.field("numa_layout", pa.string()),
    pa.field("gpu_model", pa.string()),
    pa.field("gpu_count", pa.int64()),
    pa.field("gpu_driver_version", pa.string()),
    *(pa.field(*column) for column in SOFTWARE_FIELDS),
    pa.field("python_version", pa.string()),
    pa.field("packages", pa.string()),
    pa.field("missing_repeats", pa.int64()),  # asked for, and not in the bundle; NULL: the recording does not say how many it was to have
    *(pa.field(f"git_{name}", type_) for name, type_ in GIT_FIELDS),
    *(pa.field(name, pa.string()) for name in ("command_options", "environment_settings")),  # JSON objects, without what each run has of its own
    pa.field("unread", pa.string()),  # a JSON object: what the recorder could not read, with the reason; NULL: an earlier one did not say
    pa.field("visible_gpu_count", pa.int64()),
    pa.field("is_server_on_host", pa.bool_()),  # whether the command was told to talk to its own host, or did
    *(pa.field(*column) for column in COUNTER_FIELDS),
)
TABLES = {
    **TELEMETRY_TABLES,  # of GPUs
    "recorded_run": landing_schema(
        *_COLUMNS,
        pa.field("launched_nodes", pa.int64()),  # on how many nodes a launcher started the command; each has a row in recorded_node_run
    ),
    # The recording of one node, with the run that it is a part of.
    "recorded_node_run": landing_schema(*_COLUMNS, pa.field("node_rank", pa.int64()), pa.field("ended_by_limit", pa.string())),
    "recorded_indicator_value": landing_schema(
        RUN_ID,
        *(pa.field(name, pa.string()) for name in ("indicator_name", "component", "kind", "key", "value_type")),
        pa.field("value_text", pa.string()),
        pa.field("value_number", pa.float64()),
    ),
    "recorded_slot": landing_schema(  # of a campaign: which of its runs this is
        RUN_ID,
        *(pa.field(*column) for column in SLOT_FIELDS),
        pa.field("factors", pa.string()),  # JSON: the cell's values by factor
        pa.field("ended_by_limit", pa.string()),
        pa.field("refused_processes", pa.int64()),  # that a control group did not let it start
        *(pa.field(name, pa.string()) for name in ("limits", "limit_mechanisms")),  # JSON
    ),
    "recorded_gpu": landing_schema(  # of the machine, each once
        RUN_ID, pa.field("gpu_uuid", pa.string(), nullable=False), *(pa.field(*column) for column in GPU_FIELDS),
    ),
    # What a server or an engine said: what it was given, and, where `is_effective`, what it made of that.
    "recorded_setting_stated": landing_schema(
        RUN_ID, pa.field("is_effective", pa.bool_(), nullable=False), pa.field("name", pa.string(), nullable=False), pa.field("value", pa.string()),
    ),
    "recorded_host_sample": landing_schema(RUN_ID, *(pa.field(*column) for column in HOST_FIELDS)),
}
