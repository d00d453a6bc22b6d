"""The landing tables of Thoth's evidence."""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.rows import RUN_ID, WORKLOAD_FIELDS, landing_schema

_TIME = pa.timestamp("us", tz="UTC")
_TEXT, _COUNT, _NUMBER = pa.string(), pa.int64(), pa.float64()


def _texts(*names: str) -> list[pa.Field]:
    return [pa.field(name, _TEXT) for name in names]


def _counts(*names: str) -> list[pa.Field]:
    return [pa.field(name, _COUNT) for name in names]


TABLES = {
    "thoth_inspection": landing_schema(
        pa.field("inspection_id", _TEXT, nullable=False),
        *_texts("identifier", "base_image", "package_manager", "script"),
        *_counts("requested_batch_size", "result_count"),  # asked for, and stored
        *_texts("build_cpu", "build_memory", "run_cpu", "run_memory"),  # requests, as written
        pa.field("created_at", _TIME),
        *_texts("lock_sha256", "packages_digest"),
    ),
    "thoth_build": landing_schema(
        pa.field("inspection_id", _TEXT, nullable=False),
        pa.field("state", _TEXT, nullable=False),  # succeeded, failed, unknown
        *_texts("reason", "image_digest"),
    ),
    "thoth_run": landing_schema(
        RUN_ID,
        pa.field("inspection_id", _TEXT, nullable=False),
        pa.field("result_number", _COUNT),  # NULL: the build failed, so nothing ran
        pa.field("status", _TEXT, nullable=False),
        *_texts("status_reason"),
        pa.field("exit_code", _COUNT),
        pa.field("started_at", _TIME),
        pa.field("ended_at", _TIME),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("user_cpu_s", _NUMBER),
        pa.field("system_cpu_s", _NUMBER),
        *_counts("max_rss_kib", "minor_page_faults", "major_page_faults", "voluntary_context_switches", "involuntary_context_switches"),
        *_texts("hostname", "script_sha256", "indicator_name", "component"),
        *_texts("cpu_model", "cpu_flags_digest"),
        *_counts("cpu_count", "cpu_hz_actual", "cpu_hz_advertised", "cpu_flag_count"),
        *_counts("l1_data_cache_bytes", "l1_instruction_cache_bytes", "l2_cache_bytes", "l3_cache_bytes"),
        *_texts("kernel_version", "os_name", "os_version", "python_version", "cuda_version"),
        *(field.with_nullable(True) for field in WORKLOAD_FIELDS),
    ),
    "thoth_indicator_entry": landing_schema(
        RUN_ID,
        *_texts("indicator_name", "component"),
        pa.field("kind", _TEXT, nullable=False),  # parameter, result, score, other
        pa.field("key", _TEXT, nullable=False),  # its path, joined with __
        pa.field("value_type", _TEXT, nullable=False),
        pa.field("value_text", _TEXT),
        pa.field("value_number", _NUMBER),
    ),
    "thoth_package": landing_schema(
        pa.field("stated_by", _TEXT, nullable=False),  # an inspection, a stack or a document
        pa.field("source", _TEXT, nullable=False),  # which list: lock, tree, rpm, python, pip3, ...
        pa.field("name", _TEXT, nullable=False),
        *_texts("version", "index_url", "hashes"),  # hashes: a JSON array
    ),
    "thoth_document": landing_schema(
        pa.field("document_key", _TEXT, nullable=False),
        pa.field("kind", _TEXT, nullable=False),  # adviser, dependency_monkey, solver, package_extract
        *_texts("document_id", "analyzer_version", "deployment"),
        pa.field("ended_at", _TIME),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("duration_s", _NUMBER),
        pa.field("state", _TEXT, nullable=False),  # succeeded, failed, unknown
        *_texts("state_reason", "parameters", "subject"),
    ),
    "thoth_stack": landing_schema(  # that an adviser advised, or Dependency Monkey made
        pa.field("stack_key", _TEXT, nullable=False),
        pa.field("document_key", _TEXT, nullable=False),
        pa.field("stack_number", _COUNT, nullable=False),  # from 1
        pa.field("score", _NUMBER),
        *_texts("justification", "python_version", "os_name", "os_version", "cuda_version", "packages_digest"),
    ),
    "thoth_campaign": landing_schema(
        pa.field("campaign_key", _TEXT, nullable=False),
        pa.field("kind", _TEXT, nullable=False),  # dependency_monkey; amun: specifications that were sent by hand
        *_texts("name", "tool_version", "parameters", "seed"),
        pa.field("requested_count", _COUNT),
        pa.field("skipped_count", _COUNT),
        pa.field("ended_at", _TIME),
        pa.field("is_zone_assumed", pa.bool_()),
        pa.field("duration_s", _NUMBER),
        pa.field("state", _TEXT, nullable=False),  # succeeded, failed, unknown
        *_texts("state_reason"),
    ),
    "thoth_campaign_member": landing_schema(
        pa.field("campaign_key", _TEXT, nullable=False),
        pa.field("member", _TEXT, nullable=False),  # as written
        pa.field("inspection_id", _TEXT),  # the name without a pod's suffix; NULL where none is in it
        pa.field("stated_in", _TEXT, nullable=False),  # report, scheduled, specification
        *_texts("stack_key", "packages_digest"),
        pa.field("score", _NUMBER),
    ),
}
