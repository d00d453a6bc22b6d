"""Campaigns of `wh matrix`: what was asked for, and what became of each stack. Their runs are recordings (`recorded_run`).

A stack that could not be resolved or built is a row with uv's own words, and the cells that need it have no run.
"""

from __future__ import annotations

import pyarrow as pa

from warehouse.landing.family import Family
from warehouse.landing.rows import landing_schema

_CAMPAIGN = pa.field("campaign_id", pa.string(), nullable=False)

INGESTOR = Family(
    __name__,
    name="campaign",
    version=2,
    formats=("campaigns of wh matrix: campaign.json, choice.json; stacks resolved by uv: stack.json, pylock.toml (PEP 751)",),
    tables={
        "matrix_campaign": landing_schema(
            _CAMPAIGN,
            pa.field("name", pa.string()),
            pa.field("spec", pa.string()),  # JSON
            *(pa.field(name, pa.int64()) for name in ("sessions", "whole_sessions", "confirmation_sessions", "repeats", "warmups", "seed")),
            pa.field("session_gap_s", pa.float64()),
        ),
        "matrix_cell": landing_schema(
            _CAMPAIGN,
            pa.field("cell", pa.string(), nullable=False),
            pa.field("factors", pa.string()),  # JSON: the values by factor
            pa.field("is_baseline", pa.bool_()),
            pa.field("stack", pa.string()),
        ),
        "matrix_stack": landing_schema(
            _CAMPAIGN,
            pa.field("stack", pa.string(), nullable=False),
            *(pa.field(name, pa.string()) for name in ("status", "reason", "stack_digest", "python", "requirements", "resolving", "tool_version")),
        ),
        "matrix_choice": landing_schema(  # the cells of a session; session NULL: of the sessions that confirm
            _CAMPAIGN,
            pa.field("session", pa.int64()),
            pa.field("method", pa.string()),
            pa.field("cell", pa.string(), nullable=False),
            pa.field("value", pa.float64()),
        ),
        "matrix_locked_package": landing_schema(
            _CAMPAIGN,
            pa.field("stack", pa.string(), nullable=False),
            *(pa.field(name, pa.string()) for name in ("package", "version", "sha256s")),
        ),
    },
)
